//! What `seslog append` has acknowledged is there, whenever it is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use seslog::event::Uuid;
use seslog::log::RealFs;
use seslog::session::{Opened, Session, SessionOptions, SessionReader};

use super::cli_support::{Home, user};
use super::kills;

/// Feeds lines until the program is killed, after `receipts` receipts; gives all ids whose receipts came out.
fn append_until_killed(home: &Home, session: &str, level: &str, receipts: usize, size: usize) -> Vec<Uuid> {
    let mut child = home
        .command(&["append", session, "--durability", level])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let line = user("", &"x".repeat(size));
    let feeder = std::thread::spawn(move || while writeln!(input, "{line}").is_ok() {});
    let mut ids = Vec::new();
    for (index, line) in BufReader::new(child.stdout.take().unwrap()).lines().enumerate() {
        if index == receipts {
            child.kill().unwrap();
        }
        // The last line may have been cut by the kill: it was not acknowledged then.
        let Ok(receipt) = serde_json::from_str::<serde_json::Value>(&line.unwrap()) else { break };
        ids.push(receipt["id"].as_str().unwrap_or_else(|| panic!("{receipt}")).parse().unwrap());
    }
    child.wait().unwrap();
    feeder.join().unwrap();
    assert!(ids.len() >= receipts, "it was killed after {receipts} receipts");
    ids
}

/// A session is killed so often, each time going on from what the last kill left.
const KILLS_OF_ONE: u64 = 6;

fn nothing_acknowledged_is_lost(level: &str) {
    let home = Home::new();
    let mut session = String::new();
    let mut acknowledged: Vec<Uuid> = Vec::new();
    let rounds = kills(8);
    for round in 0..rounds {
        if round % KILLS_OF_ONE == 0 {
            session = home.session(&[&user("", "the first")]);
            acknowledged.clear();
        }
        // A fixed walk over small and large numbers, so that a failure can be seen again.
        let (receipts, size) = ((round * 7919 % 53) as usize, (round * 104_729 % 3001) as usize);
        acknowledged.extend(append_until_killed(&home, &session, level, receipts, size));
        let reader = SessionReader::open(&home.file(&session), RealFs::shared()).unwrap();
        let state = reader.whole_state().unwrap();
        let mut found = state.entries().iter().map(|entry| entry.event.id);
        for id in &acknowledged {
            let in_order = found.any(|found| found == *id);
            assert!(in_order, "{level}, round {round}, {receipts} receipts of {size} bytes: {id} is lost");
        }
        assert_ne!(reader.report().open, Opened::Damaged, "{level}, round {round}");
    }
    println!("{rounds} kills of `seslog append --durability {level}`");
    let writer = Session::open(&home.file(&session), SessionOptions::default()).unwrap();
    assert!(writer.report().damage.is_empty());
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged_with_sync() {
    nothing_acknowledged_is_lost("sync");
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged_with_group() {
    nothing_acknowledged_is_lost("group");
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged_with_os() {
    nothing_acknowledged_is_lost("os");
}
