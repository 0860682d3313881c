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
fn an_append_with_sync_costs_one_flush_and_one_write() {
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
        assert_eq!(after.writes - before.writes, 100);
    }
}

/// Threads that wait until theirs is durable, and those that are done.
#[derive(Default)]
struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Waiting {
    fn add(&self, by: isize) {
        let mut count = self.count.lock().unwrap();
        *count = count.checked_add_signed(by).unwrap();
        self.changed.notify_all();
    }

    fn until(&self, wanted: usize) {
        let count = self.count.lock().unwrap();
        drop(self.changed.wait_while(count, |count| *count < wanted));
    }
}

#[test]
fn eight_threads_share_flushes_where_a_flush_takes_longer_than_an_append() {
    const THREADS: usize = 8;
    const EACH: usize = 40;
    let dir = tempfile::tempdir().unwrap();
    let waiting = Arc::new(Waiting::default());
    waiting.add(THREADS as isize);
    let gate = waiting.clone();
    // A flush takes until all threads wait for one: a slow disk, without a clock.
    let fs = Odd::over(RealFs::shared(), move |call| {
        if call == OddCall::Sync {
            gate.until(THREADS);
        }
        Act::Go
    });
    let path = dir.path().join("s.seslog");
    let session = Session::create(&path, SessionOptions { fs, ..unhurried() }).unwrap();
    session.append(Message::user("first"), Durability::Sync).unwrap().wait().unwrap();
    let before = session.log().io().syncs;
    waiting.add(-(THREADS as isize));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (session, waiting) = (&session, &waiting);
            scope.spawn(move || {
                for message in Messages::new(thread as u64).take(EACH) {
                    let appended = session.append(message, Durability::Group).unwrap();
                    waiting.add(1);
                    appended.wait().unwrap();
                    waiting.add(-1);
                }
                waiting.add(1);
            });
        }
    });
    let syncs = session.log().io().syncs - before;
    // Each flush and the one before it serve every thread once; begin and end are not that even.
    assert!(syncs as usize <= THREADS * EACH / 4 + THREADS, "{syncs} flushes for {} messages", THREADS * EACH);
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
