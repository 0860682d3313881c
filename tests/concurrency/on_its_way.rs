//! What is held back is written by the thread in the background without a lock: whoever appends goes on, whoever reads sees
//! everything, whoever writes waits for its turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use seslog::log::{Durability, LogError, LogOptions, LogWriter, NewLog};

use crate::log_support::*;
use crate::odd_disk::{Act, Odd, OddCall};

/// A log of which the thread in the background stands still in its first write, and then goes on as it is told.
struct Halted {
    disk: Disk,
    log: Arc<LogWriter>,
    arrived: mpsc::Receiver<()>,
    goes_on: mpsc::Sender<Act>,
}

impl Halted {
    fn new() -> Self {
        let disk = Disk::new();
        let (arrives, arrived) = mpsc::channel();
        let (goes_on, told) = mpsc::channel();
        let (first, channels) = (AtomicBool::new(true), Mutex::new((arrives, told)));
        let fs = Odd::over(disk.fs(), move |call| {
            let is_flusher = std::thread::current().name() == Some("seslog-flush");
            if call != OddCall::Write || !is_flusher || !first.swap(false, Ordering::Relaxed) {
                return Act::Go;
            }
            let (arrives, told) = &*channels.lock().unwrap();
            arrives.send(()).unwrap();
            told.recv().unwrap()
        });
        let log = LogWriter::create(fs, &path(), NewLog::new(id(9), 0), LogOptions::default()).unwrap();
        append(&log, 1, 10, Durability::Os);
        Self { disk, log: Arc::new(log), arrived, goes_on }
    }

    /// Appends more than is worth a write, until the thread writes it, and some more behind that.
    fn fill(&self) -> u128 {
        for number in 2..70 {
            append(&self.log, number, 4_000, Durability::Buffered);
        }
        self.arrived.recv_timeout(Duration::from_secs(60)).expect("the thread writes");
        for number in 70..80 {
            append(&self.log, number, 4_000, Durability::Buffered);
        }
        79
    }
}

#[test]
fn while_it_is_written_more_is_taken_in_and_all_of_it_is_read() {
    let halted = Halted::new();
    let last = halted.fill();
    assert_eq!(ids(&halted.log), (1..=last).collect::<Vec<_>>());
    for number in 2..=last {
        assert_eq!(halted.log.find(id(number)).unwrap().unwrap().offset % 8, 0);
    }
    assert_eq!(ids(&read(&halted.disk).unwrap().0), [1], "nothing of it is in the file");
    halted.goes_on.send(Act::Go).unwrap();
    halted.log.sync().unwrap();
    assert_eq!(ids(&read(&halted.disk).unwrap().0), (1..=last).collect::<Vec<_>>());
}

#[test]
fn who_syncs_or_writes_meanwhile_waits_and_comes_behind_it() {
    for durability in [Durability::Os, Durability::Sync, Durability::Group] {
        let halted = Halted::new();
        let last = halted.fill();
        let log = halted.log.clone();
        let (tells, told) = mpsc::channel();
        let other = std::thread::spawn(move || {
            append(&log, last + 1, 10, durability);
            log.sync().unwrap();
            tells.send(()).unwrap();
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "it is not acknowledged before it is written");
        halted.goes_on.send(Act::Go).unwrap();
        other.join().unwrap();
        halted.disk.kill();
        drop(halted.log);
        assert_eq!(ids(&reopen(&halted.disk).unwrap().0), (1..=last + 1).collect::<Vec<_>>(), "{durability:?}");
    }
}

#[test]
fn what_does_not_arrive_is_told_to_everybody_and_stays_readable() {
    for act in [Act::Panic, Act::PanicAfter] {
        let halted = Halted::new();
        let last = halted.fill();
        let receipt = halted.log.receipt();
        halted.goes_on.send(act).unwrap();
        assert!(matches!(receipt.wait(), Err(LogError::Poisoned { .. })), "{act:?}");
        assert!(matches!(halted.log.sync(), Err(LogError::Poisoned { .. })), "{act:?}");
        let bytes = payload(last + 1, 10);
        let next = halted.log.append(&[event(last + 1, &bytes)], leaf(0), Durability::Buffered);
        assert!(matches!(next, Err(LogError::Poisoned { .. })), "{act:?}");
        assert_eq!(ids(&halted.log), (1..=last).collect::<Vec<_>>(), "{act:?}");
        drop(halted.log);
        let there = ids(&reopen(&halted.disk).unwrap().0);
        assert_eq!(there, (1..=there.len() as u128).collect::<Vec<_>>(), "an unbroken beginning");
        let written = if act == Act::Panic { 1..=1 } else { 66..=69 };
        assert!(written.contains(&there.len()), "{act:?}: {}", there.len());
    }
}
