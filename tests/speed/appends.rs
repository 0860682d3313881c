//! Appends: flushes and allocations.

use std::sync::Arc;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use seslog::event::Message;
use seslog::log::{Durability, LogOptions, RealFs};
use seslog::session::{Session, SessionOptions};

use crate::counting::allocations_of;
use crate::made::{options, session, small_session};
use crate::odd_disk::{Act, Odd, OddCall};
use crate::session::Messages;

/// No sync but those that somebody asks for, however slow the machine is.
fn unhurried() -> SessionOptions {
    SessionOptions { log: LogOptions::default().window(Duration::from_secs(3_600)), ..options() }
}

#[test]
fn an_append_with_sync_costs_one_flush_and_one_write_and_one_of_zeros_for_many() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().join("new.seslog"), session(dir.path(), 1_000)] {
        let opened = Session::open(&path, unhurried()).or_else(|_| Session::create(&path, unhurried())).unwrap();
        // The first one writes the OPEN as well.
        opened.append(Message::user("first"), Durability::Sync).unwrap().wait().unwrap();
        let before = opened.log().io();
        for message in Messages::new(3).take(100) {
            opened.append(message, Durability::Sync).unwrap().wait().unwrap();
        }
        let after = opened.log().io();
        assert_eq!(after.syncs - before.syncs, 100);
        // Zeros ahead are written in calls of their own, each for many appends.
        assert!((100..=112).contains(&(after.writes - before.writes)), "{} writes", after.writes - before.writes);
    }
}

/// How many appends have begun, and how many have returned.
#[derive(Default)]
struct Appends {
    begun_and_done: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl Appends {
    fn count(&self, begun: usize, done: usize) {
        let mut counts = self.begun_and_done.lock().unwrap();
        *counts = (counts.0 + begun, counts.1 + done);
        self.changed.notify_all();
    }

    /// Waits until a round of so many appends has returned, if one has begun.
    fn until_round_is_over(&self, threads: usize) {
        let counts = self.begun_and_done.lock().unwrap();
        drop(self.changed.wait_while(counts, |(begun, done)| *done < begun.next_multiple_of(threads)));
    }
}

#[test]
fn eight_threads_share_flushes_where_a_flush_takes_longer_than_an_append() {
    const THREADS: usize = 8;
    const EACH: usize = 40;
    let dir = tempfile::tempdir().unwrap();
    let appends = Arc::new(Appends::default());
    let gate = appends.clone();
    // A flush takes until each thread has appended: a slow disk, without a clock.
    let fs = Odd::over(RealFs::shared(), move |call| {
        if call == OddCall::Sync {
            gate.until_round_is_over(THREADS);
        }
        Act::Go
    });
    let path = dir.path().join("s.seslog");
    let session = Session::create(&path, SessionOptions { fs, ..unhurried() }).unwrap();
    session.append(Message::user("first"), Durability::Sync).unwrap().wait().unwrap();
    let before = session.log().io().syncs;
    let barrier = std::sync::Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (session, appends, barrier) = (&session, &appends, &barrier);
            scope.spawn(move || {
                for message in Messages::new(thread as u64).take(EACH) {
                    barrier.wait();
                    appends.count(1, 0);
                    let appended = session.append(message, Durability::Group).unwrap();
                    appends.count(0, 1);
                    appended.wait().unwrap();
                }
            });
        }
    });
    let syncs = session.log().io().syncs - before;
    // The first flush of a round has begun before all were there, the second serves the rest.
    assert!(syncs as usize <= 2 * EACH, "{syncs} flushes for {} messages", THREADS * EACH);
}

#[test]
fn an_append_allocates_no_more_in_a_long_session_than_in_a_short_one() {
    let dir = tempfile::tempdir().unwrap();
    let allocations = [small_session(dir.path(), 1_000), small_session(dir.path(), 100_000)].map(|path| {
        let session = Session::open(&path, unhurried()).unwrap();
        let append = |message: Message| drop(session.append(message, Durability::Os).unwrap().receipt);
        let messages = || Messages::new(3).take(64);
        // Warm: buffers have the room that these messages need.
        messages().for_each(append);
        let mut costs: Vec<u64> = messages().map(|message| allocations_of(|| append(message))).collect();
        // Lists of the state that have to grow cost one more at times, and an INDEX that is due many.
        costs.sort_unstable();
        costs[costs.len() / 2]
    });
    println!("{allocations:?} allocations an append");
    assert_eq!(allocations[0], allocations[1]);
}
