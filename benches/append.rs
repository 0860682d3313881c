//! What an append without a sync costs, as a ratio to its limit: encoding the same event, one checksum over the bytes
//! and one `write(2)`. Run with `cargo bench --bench append`.

use std::io::Write;
use std::time::{Duration, Instant};

use seslog::event::{Body, Event, HungOn, IdMaker, Message, Part, Uuid, Value, encode};
use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

const ROUNDS: usize = 25;

/// Bytes of one burst. It stays below the window at which a sync starts in the background (8 MiB): above it the disk
/// decides, since no more than twice the window may ever wait for a sync.
const BURST: usize = 6 << 20;

fn appends(len: usize) -> usize {
    BURST / (len + 400)
}

fn message(len: usize, n: usize) -> Message {
    let text = "lorem ipsum ".repeat(len / 12);
    match n % 3 {
        0 => Message::user(text),
        1 => Message::assistant_calls(vec![Part::text(text), Part::tool_call(format!("call-{n}"), "read", input(n))]),
        _ => Message::tool_result(format!("call-{}", n - 1), text, false),
    }
}

fn input(n: usize) -> Value {
    Value::Map(vec![("path".into(), Value::Text(format!("src/file-{n}.rs"))), ("limit".into(), Value::Int(200))])
}

/// The least of several rounds: what disturbs a round only makes it longer.
fn least(len: usize, mut round: impl FnMut() -> Duration) -> f64 {
    (0..ROUNDS).map(|_| round()).min().expect("there are rounds").as_secs_f64() / appends(len) as f64 * 1e9
}

fn limit(dir: &std::path::Path, len: usize) -> f64 {
    least(len, || {
        let mut file = std::fs::File::create(dir.join("limit")).expect("a file can be made");
        let messages: Vec<Message> = (0..appends(len)).map(|n| message(len, n)).collect();
        let mut ids = IdMaker::after(Uuid::nil());
        let mut parent = None;
        let mut checksum = 0;
        let start = Instant::now();
        for message in messages {
            let id = ids.next(1_800_000_000_000, 7);
            let event = Event {
                id,
                parent,
                hung_on: HungOn::Named,
                at: 1_800_000_000_000_000,
                original_id: None,
                original_parent: None,
                off_chain: false,
                body: Body::Message(Box::new(message)),
                extra: Vec::new(),
            };
            parent = Some(id);
            let bytes = encode(&event).expect("it can be written");
            checksum ^= crc32fast::hash(&bytes);
            file.write_all(&bytes).expect("the disk has room");
        }
        let spent = start.elapsed();
        std::hint::black_box(checksum);
        spent
    })
}

fn seslog(dir: &std::path::Path, len: usize) -> f64 {
    let mut round = 0;
    least(len, || {
        round += 1;
        let path = dir.join(format!("{len}-{round}.seslog"));
        let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
        let messages: Vec<Message> = (0..appends(len)).map(|n| message(len, n)).collect();
        let start = Instant::now();
        for message in messages {
            drop(session.append(message, Durability::Os).expect("the disk has room").receipt);
        }
        let spent = start.elapsed();
        drop(session);
        std::fs::remove_file(&path).expect("it is there");
        spent
    })
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    println!("{:>8} {:>14} {:>14} {:>7}", "bytes", "limit ns", "seslog ns", "ratio");
    for len in [240, 1_200, 4_300, 24_000] {
        let (limit, ours) = (limit(dir.path(), len), seslog(dir.path(), len));
        println!("{len:>8} {limit:>14.0} {ours:>14.0} {:>7.2}", ours / limit);
    }
}
