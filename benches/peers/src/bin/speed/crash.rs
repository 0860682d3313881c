//! Opening after a kill: what it reads and how long it takes, small and large.

use std::cell::Cell;
use std::path::Path;

use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

use crate::Result;
use crate::limits;
use crate::measure::{Racer, Watch, digits, race};
use crate::peer::Peer;
use crate::peer::fjall::Fjall;
use crate::peer::jsonl::Jsonl;
use crate::peer::lmdb::Lmdb;
use crate::peer::redb::Redb;
use crate::peer::seslog::{Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::scene::{Goal, Scene};
use crate::session::Messages;
use crate::task::{self, Task};

/// Messages that a child appends before it is killed.
pub const APPENDED: usize = 150;

const SESLOG: Seslog = Seslog(Durability::Os);

/// Everybody who is killed, by the name that a child is told.
pub const PEERS: [(&str, &dyn Peer); 6] = [
    ("seslog", &SESLOG),
    ("sqlite", &Sqlite::Normal),
    ("redb", &Redb { sync: true }),
    ("fjall", &Fjall { sync: true }),
    ("lmdb", &Lmdb { sync: true }),
    ("jsonl", &Jsonl::CAREFUL),
];

/// The child's side: compacts and appends, so that all of the window is new, and dies.
pub fn die(peer: &dyn Peer, dir: &Path) -> Result<()> {
    let mut writer = peer.open(dir)?;
    writer.compact()?;
    for message in Messages::new(5).take(APPENDED) {
        writer.append(message)?;
    }
    std::process::abort();
}

/// How it had appended, where that says what it has to do.
fn survivor(peer: &dyn Peer) -> &'static str {
    match peer.kind() {
        "SQLite" => "NORMAL; nothing is synced at the opening",
        "JSONL, careful reader" => "nothing is checked or synced",
        _ => peer.survives(),
    }
}

/// The tables of openings after a kill.
pub fn run(scene: &Scene) -> Result<()> {
    let text = format!(
        "A process compacts, appends {APPENDED} messages and aborts; what it wrote and had not synced is in the page cache. \
         The next one opens for writing and has the window. Goal: reads at most the unsynced bytes and 2 MiB, at 1 GB as at \
         10 MB.\n"
    );
    for (name, size) in scene.sizes() {
        println!("### Opening after a kill, {name}\n");
        println!("{text}");
        let told = Cell::new((0, 0));
        let unsynced = limits::encoded(&Messages::new(5).take(APPENDED).collect::<Vec<_>>())?.concat();
        let unsynced_len = unsynced.len() as u64;
        let mut racers = vec![Racer::new("limit", "pread, pwrite and fdatasync of as many bytes", move || {
            limits::write_again(&scene.empty()?.join("limit"), &unsynced)
        })];
        for (short, peer) in PEERS {
            let dir = scene.session(peer, size)?;
            if short == "seslog" {
                let told = &told;
                racers.push(Racer::new("**Seslog**", "`Session::open`; appended with `Os`", move || {
                    task::kill(Task::Die(short), &dir)?;
                    let watch = Watch::start();
                    let session = Session::open(&file(&dir), SessionOptions::default())?;
                    let cost = watch.stop(1);
                    let io = session.log().io();
                    told.set((io.bytes_read, io.bytes_written));
                    Ok(cost)
                }));
            } else {
                racers.push(Racer::new(peer.kind(), survivor(peer), move || {
                    task::kill(Task::Die(short), &dir)?;
                    let watch = Watch::start();
                    let window = peer.resume(&dir)?;
                    let cost = watch.stop(1);
                    drop(window);
                    Ok(cost)
                }));
            }
        }
        race(scene.rounds(5), racers)?.print("an opening");
        let (read, written) = told.get();
        let beside = read.saturating_sub(unsynced_len) as f64 / f64::from(1 << 20);
        scene.goal(
            format!("opening after a kill, {name}, MiB read beside the unsynced"),
            Goal::AtMost(2.0),
            [beside; 3],
        );
        println!("Seslog read {} bytes and wrote {}.\n", digits(read as f64), digits(written as f64));
    }
    Ok(())
}
