//! What an append without a sync costs, as a ratio to its limit: encoding the same event, one checksum over the bytes
//! and one `write(2)`. Run with `cargo bench --bench append`.
//!
//! Time is the processor's where the system tells it by thread (Linux), so that other work on the machine counts little;
//! else it is the wall's.

use std::io::Write;
use std::time::{Duration, Instant};

use seslog::event::{Body, Event, HungOn, IdMaker, Message, Part, Uuid, Value, encode};
use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

const ROUNDS: usize = 40;

/// Bytes of one burst. It stays below the window at which a sync starts in the background (8 MiB): above it the disk
/// decides, since no more than twice the window may ever wait for a sync.
const BURST: usize = 6 << 20;

/// Time that this thread has spent.
struct Spent {
    wall: Instant,
    processor: Option<Duration>,
}

impl Spent {
    fn so_far() -> Self {
        Self { wall: Instant::now(), processor: processor_time() }
    }

    fn elapsed(&self) -> Duration {
        match (processor_time(), self.processor) {
            (Some(now), Some(then)) => now - then,
            _ => self.wall.elapsed(),
        }
    }
}

/// What the scheduler has counted for this thread; it counts up to now when the thread gives way.
fn processor_time() -> Option<Duration> {
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

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

/// The mean of several rounds: one alone is too short for the scheduler's count.
fn mean(len: usize, mut round: impl FnMut() -> Duration) -> f64 {
    let spent: Duration = (0..ROUNDS).map(|_| round()).sum();
    spent.as_secs_f64() / (ROUNDS * appends(len)) as f64 * 1e9
}

fn limit(dir: &std::path::Path, len: usize) -> f64 {
    mean(len, || {
        let mut file = std::fs::File::create(dir.join("limit")).expect("a file can be made");
        let messages: Vec<Message> = (0..appends(len)).map(|n| message(len, n)).collect();
        let mut ids = IdMaker::after(Uuid::nil());
        let mut parent = None;
        let mut checksum = 0;
        let start = Spent::so_far();
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
    mean(len, || {
        round += 1;
        let path = dir.join(format!("{len}-{round}.seslog"));
        let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
        let messages: Vec<Message> = (0..appends(len)).map(|n| message(len, n)).collect();
        let start = Spent::so_far();
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
