//! Appends: without a sync, with one a message, and with one for eight threads.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use seslog::event::Message;
use seslog::log::Durability;
use seslog::session::{Session, SessionOptions};

use crate::Result;
use crate::limits;
use crate::measure::{Cost, Racer, Watch, race};
use crate::peer::Peer;
use crate::peer::fjall::Fjall;
use crate::peer::jsonl::Jsonl;
use crate::peer::lmdb::Lmdb;
use crate::peer::redb::Redb;
use crate::peer::seslog::{Compressed, Seslog, file};
use crate::peer::sqlite::Sqlite;
use crate::scene::{Goal, Scene};
use crate::session::Messages;

/// Seed of the messages that are appended; another one than that of the sessions.
const SEED: u64 = 3;
/// Bytes of a burst without syncs: below the window of 8 MiB at which Seslog begins a sync in the background.
const BURST: usize = 6 << 20;
/// Threads that share syncs.
const THREADS: usize = 8;

/// The tables of appends.
pub fn run(scene: &Scene) -> Result<()> {
    unsynced(scene)?;
    synced(scene)?;
    grouped(scene)
}

/// Messages of so many encoded bytes together, or a few less.
pub fn burst(bytes: usize) -> Result<Vec<Message>> {
    let (mut messages, mut left) = (Vec::new(), bytes);
    for message in Messages::new(SEED) {
        let len = limits::encoded(std::slice::from_ref(&message))?[0].len();
        if len > left {
            break;
        }
        left -= len;
        messages.push(message);
    }
    Ok(messages)
}

/// A turn of a peer: a new session, all messages, closed and removed outside of what is measured.
pub fn turn<'a>(scene: &'a Scene, peer: impl Peer + 'a, messages: &'a [Message]) -> Racer<'a> {
    let survives = peer.survives();
    Racer::new(peer.name(), survives, move || {
        let dir = scene.empty()?;
        let mut writer = peer.create(&dir)?;
        let messages = messages.to_vec();
        let count = messages.len();
        let watch = Watch::start();
        for message in messages {
            writer.append(message)?;
        }
        let cost = watch.stop(count);
        writer.close()?;
        std::fs::remove_dir_all(dir)?;
        Ok(cost)
    })
}

/// A turn of a limit, in a file that is removed.
fn limit<'a>(
    scene: &'a Scene,
    name: &'static str,
    note: &'static str,
    run: impl Fn(&Path) -> Result<Cost> + 'a,
) -> Racer<'a> {
    Racer::new(name, note, move || {
        let dir = scene.empty()?;
        let cost = run(&dir.join("limit"))?;
        std::fs::remove_dir_all(dir)?;
        Ok(cost)
    })
}

fn unsynced(scene: &Scene) -> Result<()> {
    let messages = burst(BURST)?;
    let encoded = limits::encoded(&messages)?;
    println!("### Append without a sync\n");
    println!(
        "{} messages, {} bytes encoded, into a new session. Goal: at most 1.11 times the practical limit; JSONL at least 2 \
         times, SQLite NORMAL at least 10 times as long.\n",
        messages.len(),
        encoded.iter().map(Vec::len).sum::<usize>()
    );
    let racers = vec![
        limit(scene, "practical limit", "encode, CRC, write(2)", |path| {
            limits::encode_and_write(path, messages.clone())
        }),
        limit(scene, "raw limit", "write(2) of encoded bytes", |path| limits::write(path, &encoded)),
        turn(scene, Seslog(Durability::Os), &messages),
        turn(scene, Seslog(Durability::Buffered), &messages),
        turn(scene, Compressed, &messages),
        turn(scene, Jsonl::USUAL, &messages),
        turn(scene, Jsonl::REOPENED, &messages),
        turn(scene, Sqlite::Off, &messages),
        turn(scene, Sqlite::Normal, &messages),
        turn(scene, Redb { sync: false }, &messages),
        turn(scene, Fjall { sync: false }, &messages),
        turn(scene, Lmdb { sync: false }, &messages),
    ];
    let outcome = race(scene.rounds(9), racers)?;
    outcome.print("a message");
    let ours = "**Seslog `Os`**";
    scene.goal("append `Os` ÷ encode, CRC, write(2)", Goal::AtMost(1.11), outcome.ratio(ours, "practical limit"));
    let buffered = outcome.ratio("practical limit", "**Seslog `Buffered`**");
    scene.goal("encode, CRC, write(2) ÷ append `Buffered`", Goal::AtLeast(1.6), buffered);
    scene.goal("JSONL ÷ append `Os`", Goal::AtLeast(2.0), outcome.ratio("JSONL", ours));
    let reopened = outcome.ratio("JSONL, opened for each message", ours);
    scene.goal("JSONL, opened for each message ÷ append `Os`", Goal::AtLeast(2.0), reopened);
    scene.goal("SQLite NORMAL ÷ append `Os`", Goal::AtLeast(10.0), outcome.ratio("SQLite WAL, NORMAL", ours));
    Ok(())
}

fn synced(scene: &Scene) -> Result<()> {
    let messages: Vec<Message> = Messages::new(SEED).take(if scene.quick { 50 } else { 200 }).collect();
    let encoded = limits::encoded(&messages)?;
    println!("### Append, on the disk when it returns\n");
    println!(
        "{} messages into a new session, one writer. Goal: at most 1.0 times the limit, and at most 1.11 times the zeroed one.\n",
        messages.len()
    );
    let racers = vec![
        limit(scene, "limit", "pwrite + fdatasync, the file grows", |path| {
            limits::write_and_sync(path, &encoded, 1, false)
        }),
        limit(scene, "zeroed limit", "the same, space zeroed before", |path| {
            limits::write_and_sync(path, &encoded, 1, true)
        }),
        turn(scene, Seslog(Durability::Sync), &messages),
        turn(scene, Jsonl::SYNCED, &messages),
        turn(scene, Sqlite::Full, &messages),
        turn(scene, Redb { sync: true }, &messages),
        turn(scene, Fjall { sync: true }, &messages),
        turn(scene, Lmdb { sync: true }, &messages),
    ];
    let outcome = race(scene.rounds(7), racers)?;
    outcome.print("a message");
    let ours = "**Seslog `Sync`**";
    scene.goal("append `Sync` ÷ pwrite + fdatasync", Goal::AtMost(1.0), outcome.ratio(ours, "limit"));
    scene.goal(
        "append `Sync` ÷ the same, space zeroed before",
        Goal::AtMost(1.11),
        outcome.ratio(ours, "zeroed limit"),
    );
    Ok(())
}

fn grouped(scene: &Scene) -> Result<()> {
    let count = if scene.quick { 160 } else { 800 };
    let messages: Vec<Message> = Messages::new(SEED).take(count).collect();
    let encoded = limits::encoded(&messages)?;
    let flushes = AtomicUsize::new(0);
    println!("### Append, eight threads that each wait until theirs is on the disk\n");
    println!(
        "{count} messages. Goal: one `Sync` writer takes at least 2.5 times as long; at most 0.25 flushes a message.\n"
    );
    let rounds = scene.rounds(7);
    let racers = vec![
        limit(scene, "limit", "8 pwrites, 1 fdatasync, the file grows", |path| {
            limits::write_and_sync(path, &encoded, THREADS, false)
        }),
        Racer::new("**Seslog `Group`, 8 threads**", "survives a power cut", || {
            let dir = scene.empty()?;
            let (cost, syncs) = group(&dir, messages.clone())?;
            flushes.fetch_add(syncs, Ordering::Relaxed);
            std::fs::remove_dir_all(dir)?;
            Ok(cost)
        }),
        turn(scene, Seslog(Durability::Sync), &messages[..count / 4]),
        turn(scene, Sqlite::Full, &messages[..count / 4]),
    ];
    let outcome = race(rounds, racers)?;
    outcome.print("a message");
    let ours = outcome.ratio("**Seslog `Sync`**", "**Seslog `Group`, 8 threads**");
    scene.goal("one `Sync` writer ÷ `Group` with 8 threads", Goal::AtLeast(2.5), ours);
    let flushes = flushes.load(Ordering::Relaxed) as f64 / (rounds * count) as f64;
    println!("Flushes a message with `Group`: {flushes:.3}.\n");
    scene.goal("flushes a message, `Group` with 8 threads", Goal::AtMost(0.25), [flushes; 3]);
    Ok(())
}

/// Appends by threads that take turns in the list. Gives the flushes too.
fn group(dir: &Path, messages: Vec<Message>) -> Result<(Cost, usize)> {
    let session = Session::create(&file(dir), SessionOptions::default())?;
    let count = messages.len();
    let mut shares: Vec<Vec<Message>> = (0..THREADS).map(|_| Vec::new()).collect();
    messages.into_iter().enumerate().for_each(|(n, message)| shares[n % THREADS].push(message));
    let before = session.log().io().syncs;
    let watch = Watch::start();
    std::thread::scope(|scope| -> Result<()> {
        let session = &session;
        let append = |share: Vec<Message>| {
            move || -> Result<()> {
                for message in share {
                    session.append(message, Durability::Group)?.wait()?;
                }
                Ok(())
            }
        };
        let threads: Vec<_> = shares.into_iter().map(|share| scope.spawn(append(share))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    let mut cost = watch.stop(count);
    // The time of the threads is not this one's.
    cost.processor = 0.0;
    let syncs = session.log().io().syncs - before;
    session.close()?;
    Ok((cost, usize::try_from(syncs)?))
}
