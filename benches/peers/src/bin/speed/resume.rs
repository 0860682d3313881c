//! Resumes: warm, cold, and what they take of memory.

use std::path::{Path, PathBuf};

use seslog::log::Durability;

use crate::Result;
use crate::limits::{Place, forget_all};
use crate::measure::{Cost, Racer, Watch, digits, race, spread};
use crate::peer::fjall::Fjall;
use crate::peer::jsonl::Jsonl;
use crate::peer::lmdb::Lmdb;
use crate::peer::redb::Redb;
use crate::peer::seslog::{Compressed, Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::peer::{Peer, jsonl};
use crate::scene::{Goal, Scene};
use crate::session::{Size, WINDOW};
use crate::task::{self, Task};

const SESLOG: Seslog = Seslog(Durability::Os);

/// Everybody that resumes, by the name that a child is told.
pub const PEERS: [(&str, &dyn Peer); 8] = [
    ("seslog", &SESLOG),
    ("seslog-compressed", &Compressed),
    ("sqlite", &Sqlite::Normal),
    ("redb", &Redb { sync: true }),
    ("fjall", &Fjall { sync: true }),
    ("lmdb", &Lmdb { sync: true }),
    ("jsonl-careful", &Jsonl::CAREFUL),
    ("jsonl", &Jsonl::USUAL),
];

/// The tables of resumes.
pub fn run(scene: &Scene) -> Result<()> {
    for (name, size) in scene.sizes() {
        let dirs = sessions(scene, size)?;
        warm(scene, name, &dirs)?;
        cold(scene, name, &dirs)?;
        memory(scene, name, &dirs)?;
    }
    Ok(())
}

/// Makes the sessions of all stores; the two readers of JSON lines share one.
fn sessions(scene: &Scene, size: Size) -> Result<Vec<PathBuf>> {
    let of = |(name, peer): &(&str, &dyn Peer)| match *name {
        "jsonl" => scene.session(&Jsonl::CAREFUL, size),
        _ => scene.session(*peer, size),
    };
    PEERS.iter().map(of).collect()
}

/// At a gigabyte, who parses everything takes seconds.
fn rounds_at(size: &str) -> usize {
    if size == "1 GB" { 5 } else { 9 }
}

/// What the reader of a table has to know.
fn note(peer: &dyn Peer) -> &'static str {
    match peer.kind() {
        "**Seslog**" => "`Session::open`",
        "Seslog, compressed" => "large events by zstd",
        "SQLite" => "an index of the boundaries",
        "JSONL" => "parses every line",
        "JSONL, careful reader" => "blocks from the end, parses the window only",
        _ => "the boundary's number in a table",
    }
}

fn warm(scene: &Scene, name: &str, dirs: &[PathBuf]) -> Result<()> {
    let log = file(&dirs[0]);
    let place = Place::of(&log, false)?;
    println!("### Resume of {WINDOW} messages, warm, {name}\n");
    println!(
        "A log of {} bytes, {} of them in the window; {} bytes of JSON lines. Goal: at most 1.3 times the limit; SQLite \
         at least 1.5 times, the careful reader at least 3 times as long.\n",
        std::fs::metadata(&log)?.len(),
        place.len(),
        std::fs::metadata(jsonl::file(&dirs[6]))?.len()
    );
    let mut racers = vec![
        Racer::new("limit", "map of the tail, CRC, owned decode", || timed(|| place.map_and_decode(&log))),
        Racer::new("limit by pread", "one pread, CRC, owned decode", || timed(|| place.read_and_decode(&log))),
    ];
    for ((_, peer), dir) in PEERS.iter().zip(dirs) {
        racers.push(Racer::new(peer.kind(), note(*peer), move || {
            timed(|| {
                let window = peer.resume(dir)?;
                match window.count {
                    WINDOW => Ok(window),
                    count => Err(format!("{count} messages").into()),
                }
            })
        }));
    }
    let outcome = race(scene.rounds(rounds_at(name)), racers)?;
    outcome.print("a resume");
    let (ours, careful) = ("**Seslog**", "JSONL, careful reader");
    scene.goal(format!("resume, warm, {name} ÷ map, CRC, decode"), Goal::AtMost(1.3), outcome.ratio(ours, "limit"));
    scene.goal(format!("SQLite ÷ resume, warm, {name}"), Goal::AtLeast(1.5), outcome.ratio("SQLite", ours));
    scene.goal(format!("{careful} ÷ resume, warm, {name}"), Goal::AtLeast(3.0), outcome.ratio(careful, ours));
    if name == "1 GB" {
        scene.goal("JSONL, all parsed ÷ resume, warm, 1 GB", Goal::AtLeast(1_000.0), outcome.ratio("JSONL", ours));
    }
    Ok(())
}

/// What it gives is dropped outside of the time.
fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<Cost> {
    let watch = Watch::start();
    let given = run()?;
    let cost = watch.stop(1);
    drop(std::hint::black_box(given));
    Ok(cost)
}

fn cold(scene: &Scene, name: &str, dirs: &[PathBuf]) -> Result<()> {
    println!("### Resume, cold, {name}\n");
    println!(
        "Each time a process of its own, after `posix_fadvise(DONTNEED)` on the session's files (inodes and extents stay \
         known to the kernel). The time is from the first line of `main` to the window. Goal: at most 1.3 times the limit.\n"
    );
    let place = Place::of(&file(&dirs[0]), false)?;
    let turn = |task: Task, dir: &Path| -> Result<Cost> {
        forget_all(dir)?;
        Ok(Cost { wall: task::ask(task, dir, &place)?.micros, processor: 0.0 })
    };
    let mut racers = vec![
        Racer::new("limit", "one pread of the window", || turn(Task::Read, &dirs[0])),
        Racer::new("limit + decode", "the same, CRC, owned decode", || turn(Task::ReadAndDecode, &dirs[0])),
    ];
    for ((name, peer), dir) in PEERS.iter().zip(dirs) {
        racers.push(Racer::new(peer.kind(), note(*peer), move || turn(Task::Resume(name), dir)));
    }
    let outcome = race(scene.rounds(rounds_at(name)), racers)?;
    outcome.print("a resume");
    scene.goal(format!("resume, cold, {name} ÷ one pread"), Goal::AtMost(1.3), outcome.ratio("**Seslog**", "limit"));
    scene.goal(format!("SQLite ÷ resume, cold, {name}"), Goal::AtLeast(1.0), outcome.ratio("SQLite", "**Seslog**"));
    Ok(())
}

fn memory(scene: &Scene, size: &str, dirs: &[PathBuf]) -> Result<()> {
    let place = Place::of(&file(&dirs[0]), false)?;
    let rounds = scene.rounds(5);
    let peak = |task: Task, dir: &Path, place: &Place| -> Result<f64> {
        let all = (0..rounds).map(|_| Ok(task::ask(task, dir, place)?.peak_kib as f64)).collect::<Result<Vec<_>>>()?;
        Ok(spread(all.into_iter())[1])
    };
    let window = place.payload_len() as f64 / 1024.0;
    let nothing = peak(Task::Nothing, &dirs[0], &place)?;
    println!("### Peak memory of a resume, {size}\n");
    println!(
        "Whole processes (`VmHWM`). Less one that does nothing ({} KiB) a process still holds the pages of its program that \
         a resume runs through; so also less one that does the same with a session of two messages, which is what the \
         window itself takes. The window is {} KiB. Goal: at most twice the window, a ready body for a provider \
         included.\n",
        digits(nothing),
        digits(window)
    );
    println!("| who | KiB, less nothing | KiB, less a session of two messages | ÷ window |\n| --- | --: | --: | --: |");
    let row = |name: &str, task: Task, peer: &dyn Peer, dir: &Path| -> Result<()> {
        let tiny = scene.tiny(peer)?;
        let tiny_place = Place::of(&file(&scene.tiny(&SESLOG)?), false)?;
        let (kib, base) = (peak(task, dir, &place)?, peak(task, &tiny, &tiny_place)?);
        println!("| {name} | {} | {} | {} |", digits(kib - nothing), digits(kib - base), digits((kib - base) / window));
        if task == Task::Payload {
            scene.goal(
                format!("memory of a resume to a body, {size} ÷ window"),
                Goal::AtMost(2.0),
                [(kib - base) / window; 3],
            );
        }
        Ok(())
    };
    row("limit: map of the tail, CRC, owned decode", Task::MapAndDecode, &SESLOG, &dirs[0])?;
    row("limit: one pread, CRC, owned decode", Task::ReadAndDecode, &SESLOG, &dirs[0])?;
    row("**Seslog**", Task::Resume("seslog"), &SESLOG, &dirs[0])?;
    row("**Seslog**, and the body for a provider", Task::Payload, &SESLOG, &dirs[0])?;
    for ((name, peer), dir) in PEERS.iter().zip(dirs).skip(1) {
        row(peer.kind(), Task::Resume(name), *peer, dir)?;
    }
    println!();
    Ok(())
}
