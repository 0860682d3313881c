//! What a hostile file can make its reader hold, and what a resume holds.
//!
//! Counted is what the thread that calls allocates. The bound is `2 * max_record + SPARE`: a frame's bytes are read into one
//! buffer and put into a shared one, and beside that stand read-ahead buffers and tables of a fixed size. A file that is
//! smaller than its records claim to be costs its own size.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once")]

#[path = "../common/counting.rs"]
mod counting;
#[path = "../log_support/mod.rs"]
mod log_support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use counting::peak_of;
use log_support::{Disk, crc32, create_with, event, leaf, path, reseal, reseal_chain, reseal_header};
use seslog::event::Message;
use seslog::log::{Durability, LogOptions, LogReader, LogWriter, NewLog, survey};
use seslog::session::{Compaction, Session, SessionOptions, SessionReader, Store};

/// What is held beside a frame, in bytes: read-ahead, the page, tables, the report, what a session is made of.
const SPARE: usize = 3 << 20;

fn options(disk: &Disk) -> SessionOptions {
    SessionOptions { fs: disk.fs(), log: LogOptions::default().index_records(16), ..SessionOptions::default() }
}

/// The most that any way to open this file holds, in bytes; none of them may take long.
fn peak(bytes: &[u8], what: &str) -> usize {
    let disk = Disk::new();
    disk.put(&path(), bytes);
    let target = PathBuf::from("/sessions/new.seslog");
    let mut most = (0, "nothing");
    let mut measure = |name: &'static str, run: &dyn Fn()| {
        let (start, peak) = (Instant::now(), peak_of(run));
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {name} took {:?}", start.elapsed());
        most = most.max((peak, name));
    };
    measure("reader", &|| {
        if let Ok((log, _)) = LogReader::open(disk.fs(), &path()) {
            log.frames(0).for_each(drop);
            drop(log.find(log_support::id(12_345)));
            drop(log.note());
            drop(log.last_record());
        }
    });
    measure("survey", &|| {
        if let Ok(found) = survey(disk.fs(), &path()) {
            drop(found.lost_records());
        }
    });
    measure("session reader", &|| drop(SessionReader::open(&path(), disk.fs())));
    // What a salvage writes stays on the disk in memory: twice, and once more while it grows.
    let kept = |peak: usize| peak.saturating_sub(4 * bytes.len());
    let salvage = peak_of(|| drop(Session::salvage(&path(), &target, &options(&disk))));
    let writer = peak_of(|| drop(LogWriter::open(disk.fs(), &path(), LogOptions::default())));
    let resume = peak_of(|| drop(Session::open(&path(), options(&disk))));
    let most = most.max((kept(salvage), "salvage")).max((kept(writer), "writer")).max((kept(resume), "resume"));
    println!("{what}: {} bytes in the {}, of a file of {}", most.0, most.1, bytes.len());
    most.0
}

/// A log with records of these payloads, each synced.
fn log_with(max_record: u32, payloads: &[&[u8]]) -> Vec<u8> {
    let disk = Disk::new();
    let new = NewLog::new(log_support::id(5), 1).max_record(max_record);
    let options = LogOptions::default().index_records(16);
    let log = LogWriter::create(disk.fs(), &path(), new, options).unwrap();
    for (number, payload) in (1..).zip(payloads) {
        let _ = log.append(&[event(number, payload)], leaf(0), Durability::Sync).unwrap();
    }
    log.close().unwrap();
    disk.bytes(&path())
}

/// Where the frames stand whose type this is.
fn frames_of(bytes: &[u8], frame_type: u8) -> Vec<usize> {
    let is_frame = |at: &usize| bytes[*at..].starts_with(&[0xC1, b'S', b'L', b'F']) && bytes[at + 12] == frame_type;
    (4096..bytes.len() - 72).step_by(8).filter(is_frame).collect()
}

fn with_limit(bytes: &[u8], max_record: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for copy in [0, 2048] {
        bytes[copy + 88..copy + 92].copy_from_slice(&max_record.to_le_bytes());
        reseal_header(&mut bytes, copy);
    }
    let sum: [u8; 4] = bytes[112..116].try_into().unwrap();
    bytes[4120..4124].copy_from_slice(&sum);
    reseal_chain(&mut bytes, 4096);
    bytes
}

/// Makes the header's checksum right, whatever stands behind it.
fn reseal_head(bytes: &mut [u8], at: usize) {
    let sum = crc32(&[&(at as u64).to_le_bytes(), &bytes[at + 8..at + 64]]);
    bytes[at + 4..at + 8].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_length_that_the_file_does_not_have_is_never_allocated() {
    const CAP: u32 = 256 << 20;
    let texts: Vec<Vec<u8>> = (0..40).map(|n| vec![n; 100]).collect();
    let payloads: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let good = with_limit(&log_with(64 << 20, &payloads), CAP);
    for frame_type in [1, 16, 17, 18] {
        let frames = frames_of(&good, frame_type);
        for at in [frames[0], frames[frames.len() / 2], frames[frames.len() - 1]] {
            for len in [CAP, CAP - 8, CAP + 1, u32::MAX, good.len() as u32, 1 << 20] {
                let mut bytes = good.clone();
                bytes[at + 8..at + 12].copy_from_slice(&len.to_le_bytes());
                reseal_head(&mut bytes, at);
                let peak = peak(&bytes, &format!("type {frame_type} at {at} of {len} bytes"));
                assert!(peak < SPARE, "{peak}");
            }
        }
    }
}

#[test]
fn an_index_that_counts_more_than_it_has_is_never_allocated() {
    let texts: Vec<Vec<u8>> = (0..300).map(|n| vec![n as u8; 30]).collect();
    let payloads: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
    let good = with_limit(&log_with(64 << 20, &payloads), 256 << 20);
    for at in frames_of(&good, 18) {
        let head = at + 64;
        for (rows, targets, blocks) in [
            (u32::MAX, 0, 1),
            (0, u32::MAX, 1),
            (0, 0, u32::MAX),
            (10_000_000, 0, 1),
            (u32::MAX, u32::MAX, u32::MAX),
            (5_000_000, 5_000_000, 2_000),
        ] {
            for len in [None, Some(256_u32 << 20)] {
                let mut bytes = good.clone();
                for (place, value) in [(92, rows), (96, targets), (100, blocks)] {
                    bytes[head + place..head + place + 4].copy_from_slice(&value.to_le_bytes());
                }
                let sum = crc32(&[&(head as u64).to_le_bytes(), &bytes[head..head + 136]]);
                bytes[head + 136..head + 140].copy_from_slice(&sum.to_le_bytes());
                match len {
                    None => reseal_chain(&mut bytes, at),
                    Some(len) => {
                        bytes[at + 8..at + 12].copy_from_slice(&len.to_le_bytes());
                        reseal_head(&mut bytes, at);
                    }
                }
                let peak = peak(&bytes, &format!("INDEX at {at}: {rows} {targets} {blocks}, {len:?}"));
                assert!(peak < SPARE, "{peak}");
            }
        }
    }
}

/// MessagePack that claims lengths and depths.
/// A story makes room for the records that the log's last frame counts.
#[test]
fn a_count_of_records_that_the_file_has_no_room_for_is_never_allocated() {
    let disk = Disk::new();
    let session = Session::create(&path(), options(&disk)).unwrap();
    for number in 0..20 {
        let _ = session.append(Message::user(format!("message {number}")), Durability::Os).unwrap();
    }
    session.close().unwrap();
    let good = disk.bytes(&path());
    let mark = frames_of(&good, 17)[0];
    for count in [20_000_000_u64, 1 << 40, u64::MAX] {
        let mut bytes = good.clone();
        bytes[mark + 96..mark + 104].copy_from_slice(&count.to_le_bytes());
        reseal_chain(&mut bytes, mark);
        disk.put(&path(), &bytes);
        let reader = SessionReader::open(&path(), disk.fs()).unwrap();
        assert_eq!(reader.log().record_count().unwrap(), count, "it is believed elsewhere");
        let peak = peak_of(|| {
            let story = Store::at("/sessions", options(&disk)).story(reader.log()).unwrap();
            assert_eq!(story.counts().0, 20);
        });
        assert!(peak < SPARE, "{peak}");
    }
}

fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let long = |head: u8, rest: &[u8]| [&[0x81, 0xA1, b'x', head][..], rest].concat();
    vec![
        ("an array of 2^32 - 1", long(0xDD, &[0xFF; 4])),
        ("a map of 2^32 - 1", long(0xDF, &[0xFF; 4])),
        ("the outer map of 2^32 - 1", vec![0xDF, 0xFF, 0xFF, 0xFF, 0xFF]),
        ("a text of 2^32 - 1", long(0xDB, &[0xFF; 4])),
        ("bytes of 2^32 - 1", long(0xC6, &[0xFF; 4])),
        ("an ext of 2^32 - 1", long(0xC9, &[0xFF, 0xFF, 0xFF, 0xFF, 1])),
        ("arrays, 200,000 deep", long(0x91, &[0x91; 200_000])),
        ("maps, 100,000 deep", long(0x81, &[0xA1, b'x', 0x81].repeat(100_000))),
        ("arrays of 65,535, 60,000 deep", long(0xDC, &[0xFF, 0xFF, 0xDC].repeat(60_000))),
        ("arrays of 2^32 - 1, 40,000 deep", long(0xDD, &[0xFF, 0xFF, 0xFF, 0xFF, 0xDD].repeat(40_000))),
        (
            "half a million nils in an array",
            [&[0x81, 0xA1, b'x', 0xDD, 0, 7, 0xA1, 0x20][..], &[0xC0; 500_000]].concat(),
        ),
        ("half a million empty maps", [&[0x81, 0xA1, b'x', 0xDD, 0, 7, 0xA1, 0x20][..], &[0x80; 500_000]].concat()),
    ]
}

#[test]
fn a_bomb_in_a_payload_holds_no_more_than_its_bytes_are_worth() {
    for (what, bomb) in bombs() {
        // A value of one byte becomes one of `size_of::<Value>()`, and a list doubles as it grows.
        let worth = 150 * bomb.len();
        let small = log_with(1 << 20, &[b"\x80", &bomb, b"\x80"]);
        let peak = peak(&small, what);
        assert!(peak < SPARE + worth.min(100 << 20), "{what}: {peak} of {} bytes", bomb.len());
        if bomb.len() < 100 {
            assert!(peak < SPARE, "{what}: {peak}");
        }
    }
}

#[test]
fn a_frame_of_the_largest_size_is_held_twice_at_most() {
    const LIMIT: usize = 4 << 20;
    let text = vec![0x5A; LIMIT];
    for hit in [None, Some(64), Some(LIMIT / 2), Some(LIMIT + 66)] {
        let mut bytes = log_with(LIMIT as u32, &[b"a", &text, b"b"]);
        let at = frames_of(&bytes, 1)[1];
        if let Some(hit) = hit {
            bytes[at + hit] ^= 1;
        }
        let peak = peak(&bytes, &format!("a record of {LIMIT} bytes, hit at {hit:?}"));
        assert!(peak < 2 * LIMIT + SPARE, "{peak}");
    }
}

/// A target count that runs over the payload, and one that fills it.
#[test]
fn a_list_of_targets_is_bounded_by_its_payload() {
    let list = [&65_535_u32.to_le_bytes()[..], &[7; 16 * 65_535]].concat();
    let good = log_with(2 << 20, &[b"a", &list, b"b"]);
    let at = frames_of(&good, 1)[1];
    for count in [65_535, 65_536, u32::MAX, 1 << 28] {
        let mut bytes = good.clone();
        bytes[at + 15] = 1;
        bytes[at + 64..at + 68].copy_from_slice(&count.to_le_bytes());
        reseal(&mut bytes, at);
        reseal_chain(&mut bytes, at);
        let peak = peak(&bytes, &format!("{count} targets"));
        assert!(peak < 2 * (2 << 20) + 2 * SPARE, "{peak}");
    }
}

/// Files that have something to look at everywhere are looked at in one pass or a few.
#[test]
fn a_file_full_of_traps_costs_no_more_than_a_few_passes() {
    const SIZE: usize = 4 << 20;
    let good = log_with(64 << 20, &[b"a", b"b", b"c"]);
    let tag: [u8; 4] = good[92..96].try_into().unwrap();
    let markers = [0xC1, b'S', b'L', b'F', 0, 0, 0, 0].repeat(SIZE / 8);
    // Right headers every 64 bytes, each of a frame that would fill the rest of the file.
    let mut headers = vec![0; SIZE];
    for at in (0..SIZE - 64).step_by(64) {
        let place = (good.len() + at) as u64;
        let header = &mut headers[at..at + 64];
        header[..4].copy_from_slice(&[0xC1, b'S', b'L', b'F']);
        header[8..12].copy_from_slice(&((SIZE - at - 72) as u32 / 8 * 8).to_le_bytes());
        (header[12], header[14]) = (1, 8);
        header[16..20].copy_from_slice(&tag);
        let sum = crc32(&[&place.to_le_bytes(), &header[8..]]);
        header[4..8].copy_from_slice(&sum.to_le_bytes());
    }
    for (what, traps) in [("markers", markers), ("headers", headers)] {
        let bytes = [good.clone(), traps, vec![1; 8]].concat();
        let disk = Disk::new();
        disk.put(&path(), &bytes);
        let (reader, report) = LogReader::open(disk.fs(), &path()).unwrap();
        assert_eq!(reader.record_count().unwrap(), 3, "{what}");
        println!("{what}: an open reads {} bytes of {}", report.bytes_read, bytes.len());
        assert!(report.bytes_read < 12 * bytes.len() as u64, "{what}: {} bytes read", report.bytes_read);
        let start = Instant::now();
        let found = survey(disk.fs(), &path()).unwrap();
        assert_eq!(found.frames.iter().filter(|frame| frame.status.counts()).count(), 5, "{what}");
        println!("{what}: a survey takes {:?}", start.elapsed());
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
    }
}

/// A session of so many messages before its only compaction, and ten behind it.
fn session_of(count: usize) -> Disk {
    let disk = Disk::new();
    let session = Session::create(&path(), SessionOptions { fs: disk.fs(), ..SessionOptions::default() }).unwrap();
    let mut last = None;
    for n in 0..count {
        last = Some(session.append(Message::user(format!("{n}: {}", "x".repeat(200))), Durability::Os).unwrap().id);
    }
    let _ = session.compact(Compaction::new("so far").keep(last.into_iter().collect()), Durability::Os).unwrap();
    for n in 0..10 {
        let _ = session.append(Message::user(format!("behind {n}")), Durability::Os).unwrap();
    }
    session.close().unwrap();
    disk
}

#[test]
fn a_resume_holds_what_its_window_needs_whatever_lies_before() {
    let peaks = [1_000, 20_000].map(|count| {
        let disk = session_of(count);
        let size = disk.bytes(&path()).len();
        let reader = peak_of(|| {
            let session = SessionReader::open(&path(), disk.fs()).unwrap();
            assert_eq!(session.state().chain().len(), 13);
        });
        let writer = peak_of(|| {
            let session =
                Session::open(&path(), SessionOptions { fs: disk.fs(), ..SessionOptions::default() }).unwrap();
            assert_eq!(session.with_state(|state| state.chain().len()).unwrap(), 13);
            session.close().unwrap();
        });
        println!("{count} messages, {size} bytes: a reader holds {reader} bytes, a writer {writer}");
        (reader, writer)
    });
    let [few, many] = peaks;
    assert!(many.0 < few.0 + (64 << 10) && many.1 < few.1 + (64 << 10), "{peaks:?}");
    assert!(many.0 < 1 << 20 && many.1 < 1 << 20, "{peaks:?}");
}

/// The same for the log alone: what it holds does not grow with what lies behind it.
#[test]
fn an_open_log_holds_as_much_with_many_records_as_with_few() {
    let peaks = [1_000_u128, 20_000].map(|count| {
        let disk = Disk::new();
        let log = create_with(&disk, LogOptions::default());
        for number in 1..=count {
            let _ = log.append(&[event(number, &[7; 100])], leaf(0), Durability::Os).unwrap();
        }
        log.close().unwrap();
        peak_of(|| {
            let (log, _) = LogReader::open(disk.fs(), &path()).unwrap();
            assert!(log.find(log_support::id(3)).unwrap().is_some());
            assert_eq!(log.record_count().unwrap(), count as u64);
        })
    });
    println!("{peaks:?} bytes");
    assert!(peaks[1] < peaks[0] + (512 << 10), "{peaks:?}");
}
