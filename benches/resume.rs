//! What reads cost through a memory map and without: why the map has to be asked for. Run with `cargo bench --bench resume`.
//! What a resume costs beside its limits and beside other stores is in `benches/run.sh`.

use std::path::Path;
use std::time::Instant;

use seslog::event::{Message, Uuid};
use seslog::log::{Durability, Frame, LogOptions, LogReader, RealFs};
use seslog::session::{Compaction, Session, SessionOptions};

const COUNT: usize = 24_000;
const LEN: usize = 4_300;
const BEHIND: usize = 200;
const ROUNDS: usize = 5;

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
    let path = dir.path().join("s.seslog");
    println!("{:<34} {:>12} {:>12} {:>7}", "", "pread µs", "map µs", "ratio");
    let session = Session::create(&path, SessionOptions::default()).expect("a session can be made");
    let text = "lorem ipsum ".repeat(LEN / 12);
    for n in 0..COUNT {
        if n == COUNT - BEHIND {
            let _ = session.compact(Compaction::new("what came before"), Durability::Os).expect("the disk has room");
        }
        let message = if n % 2 == 0 { Message::user(&text) } else { Message::assistant(&text) };
        let _ = session.append(message, Durability::Os).expect("the disk has room");
    }
    session.close().expect("the disk has room");
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
