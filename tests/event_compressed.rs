//! Compressed events: the same events in fewer bytes, and nothing hostile in their place is believed.
#![cfg(feature = "zstd")]
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

use std::path::Path;

use seslog::event::*;
use seslog::log::{Durability, LogError, LogOptions};
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionError, SessionOptions, SessionReader, Store};

fn event(text: &str) -> Event {
    Event {
        id: Uuid::from_u128(5),
        parent: None,
        hung_on: HungOn::Named,
        at: 7,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(Message::user(text))),
        extra: Fields::new(),
    }
}

fn prose(len: usize) -> String {
    (0..len / 24).map(|n| format!("line {n:06}: so it goes. ")).collect()
}

/// Bytes that no compressor makes smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..len).map(|_| next()).collect()
}

fn compressed(event: &Event) -> Vec<u8> {
    let mut bytes = b"before".to_vec();
    encode_into(event, &mut bytes).unwrap();
    Compressor::new().unwrap().shrink(&mut bytes, 6);
    assert_eq!(&bytes[..6], b"before");
    bytes.split_off(6)
}

#[test]
fn a_large_event_comes_back_from_fewer_bytes() {
    for len in [5_000, 60_000, 3_000_000] {
        let event = event(&prose(len));
        let bytes = compressed(&event);
        assert!(bytes.len() < len / 3, "{} of {len}", bytes.len());
        assert_eq!(decode(&bytes).unwrap(), event);
    }
}

#[test]
fn what_is_small_or_does_not_shrink_or_shrinks_too_much_stays_as_it_is() {
    let mut picture = event("a picture");
    let Body::Message(message) = &mut picture.body else { panic!("a message") };
    message.extra.push(("blob".to_owned(), Value::Bytes(noise(50_000))));
    for event in [event(&prose(2_000)), picture, event(&"a".repeat(5_000_000))] {
        assert_eq!(compressed(&event), encode(&event).unwrap());
    }
}

#[test]
fn one_compressor_serves_events_of_all_sizes_in_turn() {
    let mut compressor = Compressor::new().unwrap();
    for len in [9_000, 4_000_000, 5_000, 100, 2_000_000, 6_000] {
        let event = event(&prose(len));
        let mut bytes = encode(&event).unwrap();
        compressor.shrink(&mut bytes, 0);
        assert_eq!(decode(&bytes).unwrap(), event, "{len}");
    }
}

#[test]
fn a_cut_or_bent_compressed_event_is_an_error_or_an_event_and_never_a_panic() {
    let bytes = compressed(&event(&prose(5_000)));
    for len in 0..bytes.len() {
        assert!(decode(&bytes[..len]).is_err(), "cut at {len}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut bent = bytes.clone();
            bent[at] ^= 1 << bit;
            let _ = decode(&bent);
        }
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(matches!(decode(&longer), Err(EventError::Trailing { left: 1, .. })), "{:?}", decode(&longer));
}

/// An ext value of type 2 around these bytes.
fn ext(data: &[u8]) -> Vec<u8> {
    [&[0xC9][..], &u32::try_from(data.len()).unwrap().to_be_bytes(), &[2], data].concat()
}

/// A zstd frame that names a content of this length and holds one block of that many equal bytes.
fn bomb(len: u32) -> Vec<u8> {
    let block = |len: u32, last: u32| (len << 3 | 1 << 1 | last).to_le_bytes()[..3].to_vec();
    let mut frame = [&[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..], &len.to_le_bytes()].concat();
    let mut left = len;
    while left > 0 {
        let part = left.min(128 << 10);
        left -= part;
        frame.extend(block(part, u32::from(left == 0)));
        frame.push(0xC0);
    }
    frame
}

#[test]
fn no_small_event_asks_for_much_memory_and_only_one_whole_frame_is_taken() {
    let text = |bytes: &[u8]| decode(bytes).unwrap_err().to_string();
    let said = text(&ext(&bomb(200 << 20)));
    assert!(said.contains("at most 128 times its size and 256 MiB at byte 6, found one of 209715200 bytes"), "{said}");
    let whole = zstd_of(&encode(&event("short")).unwrap());
    assert_eq!(decode(&ext(&whole)).unwrap(), event("short"), "a reader takes what a writer would not make");
    let twice = [&whole[..], &whole].concat();
    assert!(text(&ext(&twice)).contains("a zstd frame"), "{}", text(&ext(&twice)));
    let nested = ext(&zstd_of(&ext(&whole)));
    assert!(text(&nested).contains("ext type 1"), "{}", text(&nested));
    for wrong in [&b""[..], b"\x28\xB5\x2F\xFD", b"text", &bomb(1000)] {
        assert!(decode(&ext(wrong)).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_compressed_event_of_more_values_than_its_bytes_allow_is_refused_and_never_made() {
    let many = Value::List((0..40_000).map(|n| Value::Int(n % 7)).collect());
    let mut event = event("many");
    let Body::Message(message) = &mut event.body else { panic!("a message") };
    message.extra.push(("list".to_owned(), many));
    assert!(compressed(&event) == encode(&event).unwrap(), "no writer makes what a reader refuses");
    let plain = encode(&event).unwrap();
    let frame = zstd_of(&plain);
    assert!(decode(&ext(&frame)).unwrap() == event, "each byte allows a value");
    // A list of equal values in one block that says how often its byte comes, beside bytes that nothing makes shorter.
    let list = [&[0x82, 0xA1, b'x', 0xDD][..], &60_000_u32.to_be_bytes()].concat();
    let rest = [&[0xA1, b'y', 0xC5][..], &1_000_u16.to_be_bytes(), &noise(1_000)].concat();
    let block = |len: usize, kind: u32, last: u32| ((len as u32) << 3 | kind << 1 | last).to_le_bytes()[..3].to_vec();
    let len = (list.len() + 60_000 + rest.len()) as u32;
    let frame = [
        &[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..],
        &len.to_le_bytes(),
        &block(list.len(), 0, 0),
        &list,
        &block(60_000, 1, 0),
        &[0],
        &block(rest.len(), 0, 1),
        &rest,
    ]
    .concat();
    let said = decode(&ext(&frame)).unwrap_err().to_string();
    assert!(said.contains("no more values than 4,096 and one for each of its bytes"), "{said}");
}

/// A frame of one block that is stored as it is.
fn zstd_of(content: &[u8]) -> Vec<u8> {
    let len = u32::try_from(content.len()).unwrap();
    let block = (len << 3 | 1).to_le_bytes();
    [&[0x28, 0xB5, 0x2F, 0xFD, 0xA0][..], &len.to_le_bytes(), &block[..3], content].concat()
}

fn options(compress: bool) -> SessionOptions {
    SessionOptions { log: LogOptions::default().compress(compress), ..SessionOptions::default() }
}

fn fill(session: &Session) {
    for n in 0..20 {
        let _ = session.append(Message::user(format!("question {n}")), Durability::Os).unwrap();
        let _ = session.append(Message::assistant(prose(20_000)), Durability::Os).unwrap();
    }
}

fn texts(path: &Path) -> Vec<String> {
    let reader = SessionReader::open(path, SessionOptions::default().fs).unwrap();
    let view = project(reader.state(), View::Model, &Options::default());
    view.messages.iter().map(|message| format!("{:?}", message.content)).collect()
}

#[test]
fn a_compressed_session_is_read_as_any_other_and_stays_compressed_whoever_writes_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let (small, plain) = (dir.path().join("small.seslog"), dir.path().join("plain.seslog"));
    for (path, compress) in [(&small, true), (&plain, false)] {
        let session = Session::create(path, options(compress)).unwrap();
        assert_eq!(session.info().is_compressed(), compress);
        fill(&session);
        session.close().unwrap();
        // Whoever opens it later: the header decides.
        let session = Session::open(path, options(!compress)).unwrap();
        fill(&session);
        session.close().unwrap();
    }
    let len = |path| std::fs::metadata(path).unwrap().len();
    assert!(len(&small) * 3 < len(&plain), "{} of {}", len(&small), len(&plain));
    assert_eq!(texts(&small), texts(&plain));
}

#[test]
fn what_would_not_fit_uncompressed_is_refused_alone_and_in_a_batch() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::create(&dir.path().join("a.seslog"), options(true)).unwrap();
    // The limit is 64 MiB; these shrink to less than a third.
    let too_large = session.append(Message::user(prose(70 << 20)), Durability::Os).map(drop);
    assert!(
        matches!(too_large, Err(SessionError::Log(LogError::RecordTooLarge { .. }))),
        "{:?}",
        too_large.map_err(|error| error.to_string())
    );
    let batch = (0..3).map(|_| Message::user(prose(30 << 20)).into()).collect();
    assert!(session.append_batch(batch, Durability::Os).map(drop).is_err());
    let _ = session.append(Message::user("it goes on"), Durability::Sync).unwrap();
}

#[test]
fn a_salvage_and_a_fork_of_a_compressed_session_are_compressed_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path(), options(true));
    let session = store.create().unwrap();
    fill(&session);
    let (id, path) = (session.id(), session.path().to_owned());
    let leaf = session.with_state(|state| state.leaf().unwrap().event.id).unwrap();
    session.close().unwrap();
    let fork = Store::at(dir.path(), options(false)).fork(&id.to_string(), leaf).unwrap();
    assert!(fork.info().is_compressed());
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 300;
    bytes[last] ^= 1;
    let (broken, whole) = (dir.path().join("broken.seslog"), dir.path().join("whole.seslog"));
    std::fs::write(&broken, bytes).unwrap();
    let report = Session::salvage(&broken, &whole, &options(false)).unwrap();
    assert!(report.kept >= 38 && report.unreadable.is_empty(), "{report:?}");
    let reader = SessionReader::open(&whole, SessionOptions::default().fs).unwrap();
    assert!(reader.info().is_compressed());
}
