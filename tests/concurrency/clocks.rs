//! The order of a session is the order of its file. Clocks are for people.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use seslog::event::{Message, Uuid};
use seslog::log::Durability;
use seslog::session::{Clock, Compaction, Session, SessionOptions, SessionReader};

/// A wall clock that shows what it is told to.
#[derive(Debug, Default)]
struct Told {
    now: AtomicI64,
    random: AtomicU64,
}

impl Clock for Told {
    fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    fn random(&self) -> u64 {
        self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
    }
}

const DAY: i64 = 86_400_000_000;
const TODAY: i64 = 1_790_000_000_000_000;

#[test]
fn whatever_the_clock_does_the_order_holds_ids_rise_and_every_open_finds_the_same() {
    // Forward, back, zero, before the epoch, the ends of the type, and as it was; with a re-open at each step.
    let times = [TODAY, TODAY + 30 * DAY, TODAY - 365 * DAY, 0, -DAY, i64::MAX, i64::MIN, TODAY, TODAY, 1, TODAY + DAY];
    for start in 0..times.len() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.seslog");
        let clock = Arc::new(Told::default());
        let options = || SessionOptions { clock: clock.clone(), ..SessionOptions::default() };
        clock.now.store(times[start], Ordering::Relaxed);
        let mut session = Session::create(&path, options()).unwrap();
        let mut appended: Vec<Uuid> = Vec::new();
        for step in 0..times.len() {
            clock.now.store(times[(start + step) % times.len()], Ordering::Relaxed);
            for n in 0..3 {
                let message = Message::user(format!("{step} {n}"));
                appended.push(session.append(message, Durability::Sync).unwrap().id);
            }
            if step % 4 == 3 {
                let summary = Compaction::new(format!("up to {step}"));
                let _ = session.compact(summary, Durability::Sync).unwrap();
            }
            let live = session.state().unwrap();
            if step % 2 == 0 {
                session.close().unwrap();
            } else {
                drop(session);
            }
            session = Session::open(&path, options()).unwrap();
            assert_eq!(session.state().unwrap(), live, "start {start}, step {step}");
        }
        assert!(appended.is_sorted(), "start {start}: ids rise with the order: {appended:?}");
        let reader = SessionReader::open(&path, options().fs).unwrap();
        let whole = reader.whole_state().unwrap();
        let found: Vec<Uuid> =
            whole.entries().iter().map(|entry| entry.event.id).filter(|id| appended.contains(id)).collect();
        assert_eq!(found, appended, "start {start}");
    }
}
