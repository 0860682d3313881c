//! Kills of a writer of a session: messages, batches, calls with their results, changes and compactions.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use seslog::event::{Message, Part, Uuid, Value};
use seslog::log::{Durability, LogError, LogOptions, RealFs};
use seslog::session::{Compaction, NewEvent, Opened, Session, SessionError, SessionOptions, SessionReader};

use super::child::{Writer, say};
use super::{Random, kills, seed};

const KILLS_OF_ONE: u64 = 6;

fn options(random: &mut Random) -> SessionOptions {
    let log = LogOptions::default().window(Duration::from_millis(1 + random.below(50))).index_records(16);
    SessionOptions { log, ..SessionOptions::default() }
}

/// The writer: two threads append what an agent would, until it is killed. Acknowledged are ids, in the order of the file.
pub(crate) fn write(path: &Path, seed: u64) {
    let mut random = Random::new(seed, 2);
    loop {
        let session = match Session::open(path, options(&mut random)) {
            Err(SessionError::Log(LogError::NotFound { .. })) => Session::create(path, options(&mut random)),
            other => other,
        }
        .unwrap();
        let turns = 1 + random.below(30);
        // Held over an append and its line, so that the lines are in the order of the file.
        let order = Mutex::new(());
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (session, order) = (&session, &order);
                let mut random = Random::new(seed, turns * 10 + thread);
                scope.spawn(move || (0..turns).for_each(|turn| step(session, order, turn, &mut random)));
            }
        });
        if random.below(2) == 0 {
            session.close().unwrap();
        }
    }
}

fn step(session: &Session, order: &Mutex<()>, turn: u64, random: &mut Random) {
    let durability = [Durability::Sync, Durability::Group, Durability::Os][random.below(3) as usize];
    let text = "words ".repeat(random.below(400) as usize) + &turn.to_string();
    let guard = order.lock().unwrap();
    let (ids, receipt) = match random.below(10) {
        0 => {
            let compacted = session.compact(Compaction::new("what came before"), durability).unwrap();
            (Vec::new(), compacted.receipt)
        }
        1..=3 => {
            let input = Value::from([("path", Value::from("a file"))]);
            let call = format!("call-{}", random.below(u64::MAX >> 11));
            let batch: Vec<NewEvent> = vec![
                Message::user(&text).into(),
                Message::assistant_calls(vec![Part::tool_call(&call, "read", input)]).into(),
                Message::tool_result(&call, text, false).into(),
            ];
            let appended = session.append_batch(batch, durability).unwrap();
            (appended.ids, appended.receipt)
        }
        4 => {
            let appended = session.append(Message::user(text), durability).unwrap();
            let taken_back = session.tombstone(&[appended.id], Some("a slip"), durability).unwrap();
            (vec![appended.id], taken_back.receipt)
        }
        _ => {
            let appended = session.append(Message::assistant(text), durability).unwrap();
            (vec![appended.id], appended.receipt)
        }
    };
    ids.iter().for_each(|id| say(&id.to_string()));
    drop(guard);
    if random.below(4) == 0 {
        receipt.wait().unwrap();
    }
}

#[test]
fn a_killed_session_goes_on_with_all_that_was_acknowledged_in_order() {
    let (seed, kills) = (seed(), kills(20));
    let (mut acknowledged, mut entries) = (0, 0);
    for file in 0..kills.div_ceil(KILLS_OF_ONE) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.seslog");
        let mut promised: Vec<Uuid> = Vec::new();
        let mut follower: Option<SessionReader> = None;
        for kill in 0..KILLS_OF_ONE.min(kills - file * KILLS_OF_ONE) {
            let mut random = Random::new(seed, 500_000 + file * 1_000 + kill);
            let (lines, moment) = (random.below(40), Duration::from_micros(random.below(3_000)));
            Writer::start("session", random.below(u64::MAX >> 11), &path).kill_after(lines, moment, |line| {
                promised.push(line.parse().unwrap());
                match &mut follower {
                    Some(reader) => drop(reader.follow().unwrap()),
                    none => *none = Some(SessionReader::open(&path, RealFs::shared()).unwrap()),
                }
            });
            let what = format!("file {file}, kill {kill}");
            if promised.is_empty() && !path.exists() {
                continue;
            }
            let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
            assert_ne!(reader.report().open, Opened::Damaged, "{what}");
            let whole = reader.whole_state().unwrap();
            let mut found = whole.entries().iter().map(|entry| entry.event.id);
            for id in &promised {
                assert!(found.any(|found| found == *id), "{what}: {id} is lost or out of order");
            }
            if let Some(follower) = &mut follower {
                follower.follow().unwrap();
                assert_eq!(follower.state(), reader.state(), "{what}: who followed knows what a fresh reader knows");
            }
        }
        let session = Session::open(&path, SessionOptions::default()).unwrap();
        let appended = session.append(Message::user("it goes on"), Durability::Sync).unwrap();
        session.close().unwrap();
        let state = SessionReader::open(&path, RealFs::shared()).unwrap().whole_state().unwrap();
        assert_eq!(state.entries().last().unwrap().event.id, appended.id);
        acknowledged += promised.len();
        entries += state.entries().len();
    }
    println!("{kills} kills of a session's writer: {acknowledged} events acknowledged, {entries} entries recovered");
}
