//! What a resume costs while the session grows and the window stays: the latest boundary is 200 messages before the end.
//! The limit is reading just those bytes of the file once; the peer is what agents do that keep JSON lines: parse the
//! file and take the last 200. Run with `cargo bench --bench resume`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use seslog::event::{Message, to_json};
use seslog::log::Durability;
use seslog::session::{Compaction, Session, SessionOptions};

const LEN: usize = 4_300;
const BEHIND: usize = 200;
const ROUNDS: usize = 5;

fn write(dir: &Path, count: usize) -> (PathBuf, PathBuf) {
    let path = dir.join(format!("{count}.seslog"));
    let lines = dir.join(format!("{count}.jsonl"));
    let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
    let mut json = std::io::BufWriter::new(std::fs::File::create(&lines).expect("a file can be made"));
    let text = "lorem ipsum ".repeat(LEN / 12);
    for n in 0..count {
        if n == count - BEHIND {
            let _ = session.compact(Compaction::new("what came before"), Durability::Os).expect("the disk has room");
        }
        let message = if n % 2 == 0 { Message::user(&text) } else { Message::assistant(&text) };
        let id = session.append(message, Durability::Os).expect("the disk has room").id;
        session
            .with_state(|state| {
                let entry = state.entry(id).expect("it was appended");
                std::io::Write::write_all(&mut json, to_json(&entry.event).as_bytes()).expect("the disk has room");
                std::io::Write::write_all(&mut json, b"\n").expect("the disk has room");
            })
            .expect("the state is whole");
    }
    session.close().expect("the disk has room");
    (path, lines)
}

fn least(mut round: impl FnMut()) -> f64 {
    let time = |()| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..ROUNDS).map(|_| ()).map(time).fold(f64::INFINITY, f64::min)
}

fn main() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    println!(
        "{:>10} {:>12} {:>11} {:>10} {:>7} {:>13} {:>7}",
        "file bytes", "bytes read", "resume µs", "limit µs", "ratio", "JSON lines µs", "ratio"
    );
    for count in [2_400, 24_000, 100_000, 240_000] {
        let (path, lines) = write(dir.path(), count);
        let size = std::fs::metadata(&path).expect("it is there").len();
        let mut read = 0;
        let resume = least(|| {
            let session = Session::open(&path, SessionOptions::default()).expect("it opens");
            session.with_state(|state| assert_eq!(state.chain().len(), BEHIND + 2)).expect("the state is whole");
            read = session.log().io().bytes_read;
        });
        let limit = least(|| {
            let mut file = std::fs::File::open(&path).expect("it is there");
            std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(size - read)).expect("it is that long");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("it can be read");
            std::hint::black_box(bytes);
        });
        let peer = least(|| {
            let text = std::fs::read_to_string(&lines).expect("it can be read");
            let mut window: Vec<serde_json::Value> = Vec::new();
            for line in text.lines() {
                window.push(serde_json::from_str(line).expect("it is JSON"));
                if window.len() > 2 * BEHIND {
                    window.drain(..BEHIND);
                }
            }
            std::hint::black_box(window);
        });
        println!(
            "{size:>10} {read:>12} {resume:>11.0} {limit:>10.0} {:>7.2} {peer:>13.0} {:>7.0}",
            resume / limit,
            peer / resume
        );
        std::fs::remove_file(path).expect("it is there");
        std::fs::remove_file(lines).expect("it is there");
    }
}
