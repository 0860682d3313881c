//! What a resume costs while the session grows and the window stays: the latest boundary is 200 messages before the end.
//! The limit is reading just those bytes of the file once; the peer is what agents do that keep JSON lines: parse the
//! file and take the last 200. Behind it, what the same reads cost through a memory map and without: why the map has to
//! be asked for. Run with `cargo bench --bench resume`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use seslog::event::{Message, Uuid, to_json};
use seslog::log::{Durability, Frame, LogOptions, LogReader, RealFs};
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
    println!();
    println!("{:<34} {:>12} {:>12} {:>7}", "", "pread µs", "map µs", "ratio");
    let (path, _) = write(dir.path(), 24_000);
    compare_reads(&path, "4.3 KB");
    std::fs::remove_file(&path).expect("it is there");
    let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
    for n in 0..256 {
        let message = Message::assistant("x".repeat(1 << 20) + &n.to_string());
        let _ = session.append(message, Durability::Os).expect("the disk has room");
    }
    session.close().expect("the disk has room");
    compare_reads(&path, "1 MiB");
}

/// How many single places are looked up in a round.
const LOOKUPS: usize = 2_000;

/// The same reads without the map and with it.
fn compare_reads(path: &Path, what: &str) {
    let opened = |mapped: bool| {
        let options = LogOptions::default().mapped(mapped);
        LogReader::open_with(RealFs::shared(), path, options).expect("it opens").0
    };
    let places: Vec<(u64, Uuid)> = opened(false)
        .frames(0)
        .map(|frame| frame.expect("it is whole"))
        .filter(|frame| !frame.frame_type().is_own())
        .map(|frame: Frame| (frame.offset(), frame.id()))
        .collect();
    // A walk with a large step that meets all of them, in no order that a read-ahead could guess.
    let spread: Vec<(u64, Uuid)> = (0..LOOKUPS).map(|n| places[n * 7919 % places.len()]).collect();
    let line = |task: &str, count: usize, run: &dyn Fn(bool) -> f64| {
        let (plain, mapped) = (run(false) / count as f64, run(true) / count as f64);
        println!("{:<34} {plain:>12.3} {mapped:>12.3} {:>7.2}", format!("{task}, {what}"), plain / mapped);
    };
    line("resume", 1, &|mapped| {
        least(|| {
            let log = LogOptions::default().mapped(mapped);
            let session = Session::open(path, SessionOptions { log, ..SessionOptions::default() }).expect("it opens");
            std::hint::black_box(session.state().expect("the state is whole"));
        })
    });
    line("one header", LOOKUPS, &|mapped| {
        let log = opened(mapped);
        least(|| {
            spread.iter().for_each(|at| {
                let _ = std::hint::black_box(log.header(at.0).expect("it is whole"));
            })
        })
    });
    line("one frame", LOOKUPS, &|mapped| {
        let log = opened(mapped);
        least(|| spread.iter().for_each(|at| drop(std::hint::black_box(log.frame(at.0).expect("it is whole")))))
    });
    line("one id", LOOKUPS, &|mapped| {
        let log = opened(mapped);
        least(|| spread.iter().for_each(|at| assert!(log.find(at.1).expect("it is whole").is_some())))
    });
    line("a walk, for each frame", places.len(), &|mapped| {
        let log = opened(mapped);
        least(|| assert!(log.frames(0).filter(Result::is_ok).count() >= places.len()))
    });
}
