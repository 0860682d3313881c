//! Group commit on slow and failing disks, and those who are told in odd places.

use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use seslog::log::{Durability, Fs, LogError, LogOptions, LogWriter, NewLog, Receipt};

use crate::log_support::*;
use crate::odd_disk::{Act, Odd, OddCall};

/// Lets through as many syncs as it is told, and counts those that have begun.
#[derive(Default)]
struct Gate {
    state: Mutex<(u64, u64, bool)>,
    changed: Condvar,
}

impl Gate {
    /// A disk whose syncs wait at the gate.
    fn before(self: &Arc<Self>, disk: &Disk) -> Arc<dyn Fs> {
        let gate = self.clone();
        Odd::over(disk.fs(), move |call| {
            if call == OddCall::Sync {
                gate.pass();
            }
            Act::Go
        })
    }

    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        self.changed.notify_all();
        while !state.2 && state.1 == 0 {
            state = self.changed.wait(state).unwrap();
        }
        state.1 = state.1.saturating_sub(1);
    }

    fn open(&self, is_open: bool) {
        self.state.lock().unwrap().2 = is_open;
        self.changed.notify_all();
    }

    fn let_one_through(&self) {
        self.state.lock().unwrap().1 += 1;
        self.changed.notify_all();
    }

    /// Blocks until so many syncs have begun in all.
    fn wait_for(&self, begun: u64) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.0 < begun));
    }

    fn begun(&self) -> u64 {
        self.state.lock().unwrap().0
    }
}

fn on(fs: Arc<dyn Fs>) -> LogWriter {
    LogWriter::create(fs, &path(), NewLog::new(id(9), 0), LogOptions::default()).unwrap()
}

#[test]
fn appends_go_on_while_a_sync_is_slow_and_only_what_it_covers_is_acknowledged() {
    let (disk, gate) = (Disk::new(), Arc::new(Gate::default()));
    gate.open(true);
    let log = on(gate.before(&disk));
    append(&log, 1, 10, Durability::Sync);
    gate.open(false);
    let before = gate.begun();
    let covered = log.append(&[event(2, b"x")], leaf(0), Durability::Group).unwrap().receipt;
    gate.wait_for(before + 1);
    let late: Vec<Receipt> = (3..100)
        .map(|number| log.append(&[event(number, b"x")], leaf(0), Durability::Group).unwrap().receipt)
        .collect();
    assert!(!covered.is_durable());
    gate.let_one_through();
    block_on(covered).unwrap();
    assert!(late.iter().all(|receipt| !receipt.is_durable()), "they were written while that sync ran");
    gate.wait_for(before + 2);
    gate.let_one_through();
    late.into_iter().for_each(|receipt| block_on(receipt).unwrap());
    assert_eq!(gate.begun(), before + 2, "one sync served all of them");
    gate.open(true);
}

#[test]
fn a_slow_sync_that_fails_acknowledges_nothing_to_many_threads_and_none_of_them_hangs() {
    for durability in [Durability::Sync, Durability::Group, Durability::Os] {
        let (disk, gate) = (Disk::new(), Arc::new(Gate::default()));
        gate.open(true);
        let log = on(gate.before(&disk));
        append(&log, 1, 10, Durability::Sync);
        gate.open(false);
        disk.fail(Call::Sync, 0, Fault::Errno(5));
        let (begun, acknowledged) = (gate.begun(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..6_u128 {
                let (log, acknowledged) = (&log, &acknowledged);
                scope.spawn(move || {
                    for number in 0..20 {
                        let appended = log.append(&[event(thread * 100 + number + 2, b"x")], leaf(0), durability);
                        let outcome = appended.and_then(|appended| match number % 2 {
                            0 => appended.receipt.wait(),
                            _ => block_on(appended.receipt),
                        });
                        acknowledged.fetch_add(u64::from(outcome.is_ok()), Ordering::Relaxed);
                    }
                });
            }
            gate.wait_for(begun + 1);
            gate.let_one_through();
        });
        assert_eq!(acknowledged.into_inner(), 0, "{durability:?}");
        assert!(
            disk.durable(&path()).len() < disk.bytes(&path()).len(),
            "{durability:?}: nothing of it is on the disk"
        );
        gate.open(true);
        assert!(log.close().is_err());
    }
}

/// Polls its receipts wherever it is woken, appends there, and drops the writer there when it is done: an executor that
/// runs tasks in place.
struct InPlace {
    log: Mutex<Option<Arc<LogWriter>>>,
    pending: Mutex<Vec<Receipt>>,
    next: AtomicU64,
    last: u64,
    done: mpsc::Sender<Result<(), LogError>>,
    busy: AtomicBool,
}

impl InPlace {
    fn run(self: &Arc<Self>) {
        if self.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let waker = Waker::from(self.clone());
        loop {
            let Some(mut receipt) = self.pending.lock().unwrap().pop() else { break };
            match Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => {
                    self.pending.lock().unwrap().push(receipt);
                    break;
                }
                Poll::Ready(outcome) => {
                    let number = self.next.fetch_add(1, Ordering::Relaxed);
                    let log = self.log.lock().unwrap().clone();
                    let (Some(log), true, true) = (log, outcome.is_ok(), number < self.last) else {
                        drop(self.log.lock().unwrap().take());
                        self.done.send(outcome).unwrap();
                        break;
                    };
                    let appended = log.append(&[event(u128::from(number), b"x")], leaf(0), Durability::Group).unwrap();
                    self.pending.lock().unwrap().push(appended.receipt);
                }
            }
        }
        self.busy.store(false, Ordering::Release);
    }
}

impl Wake for InPlace {
    fn wake(self: Arc<Self>) {
        self.run();
    }
}

/// Who is told may append right there, and drop the writer right there, on the log's own thread: it must neither meet a lock
/// that is held nor wait for itself.
#[test]
fn who_is_told_may_use_the_log_and_drop_its_writer_right_there() {
    for round in 0..50 {
        let disk = Disk::new();
        let log = Arc::new(create(&disk));
        let (sender, done) = mpsc::channel();
        let receipt = log.append(&[event(1, b"x")], leaf(0), Durability::Group).unwrap().receipt;
        let task = Arc::new(InPlace {
            log: Mutex::new(Some(log)),
            pending: Mutex::new(vec![receipt]),
            next: AtomicU64::new(2),
            last: 30,
            done: sender,
            busy: AtomicBool::new(false),
        });
        task.run();
        // A wake-up may have come while it was busy.
        let outcome = loop {
            match done.try_recv() {
                Ok(outcome) => break outcome,
                Err(_) => {
                    task.run();
                    std::thread::yield_now();
                }
            }
        };
        outcome.unwrap();
        drop(task);
        let log = loop {
            // The thread that dropped the writer may be about to give the lock up.
            match reopen(&disk) {
                Err(LogError::Locked { .. }) => std::thread::yield_now(),
                opened => break opened.unwrap().0,
            }
        };
        assert_eq!(ids(&log).len(), 29, "round {round}");
    }
}

/// The waker of a task that holds the writer is dropped by the log, under none of its locks.
#[test]
fn the_last_hold_on_a_writer_may_be_a_waker() {
    let disk = Disk::new();
    let log = Arc::new(create(&disk));
    append(&log, 1, 10, Durability::Sync);
    let mut receipt = log.append(&[event(2, b"x")], leaf(0), Durability::Os).unwrap().receipt;
    let (sender, done) = mpsc::channel();
    let holder = Arc::new(InPlace {
        log: Mutex::new(Some(log)),
        pending: Mutex::default(),
        next: AtomicU64::new(0),
        last: 0,
        done: sender,
        busy: AtomicBool::new(false),
    });
    let waker = Waker::from(holder);
    assert!(Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    receipt.wait().unwrap();
    assert!(done.recv().is_err(), "the task is gone");
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
}

#[test]
fn a_write_that_fails_tells_who_awaits_an_earlier_append() {
    let (disk, gate) = (Disk::new(), Arc::new(Gate::default()));
    gate.open(true);
    let log = on(gate.before(&disk));
    append(&log, 1, 10, Durability::Sync);
    gate.open(false);
    let begun = gate.begun();
    let receipt = log.append(&[event(2, b"x")], leaf(0), Durability::Group).unwrap().receipt;
    gate.wait_for(begun + 1);
    disk.fail(Call::Write, 0, Fault::Errno(28));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(receipt));
        let failed = log.append(&[event(3, b"x")], leaf(0), Durability::Group);
        assert!(matches!(failed, Err(LogError::Full { .. })), "{failed:?}");
        gate.open(true);
        // Its own sync may still have come first; if not, nobody knows.
        assert!(matches!(waiting.join().unwrap(), Ok(()) | Err(LogError::Poisoned { .. })));
    });
    drop(log);
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
}

#[test]
fn what_is_held_back_longer_than_fifty_milliseconds_by_a_slow_sync_is_written_with_the_next_append() {
    let (disk, gate) = (Disk::new(), Arc::new(Gate::default()));
    gate.open(true);
    let log = on(gate.before(&disk));
    append(&log, 1, 10, Durability::Sync);
    gate.open(false);
    let begun = gate.begun();
    append(&log, 2, 10, Durability::Group);
    // The background thread is in a sync, so it can't write what is held back.
    gate.wait_for(begun + 1);
    let writes = disk.calls(Call::Write);
    append(&log, 3, 10, Durability::Buffered);
    disk.advance(Duration::from_millis(49));
    append(&log, 4, 10, Durability::Buffered);
    assert_eq!(disk.calls(Call::Write), writes, "not yet");
    disk.advance(Duration::from_millis(1));
    append(&log, 5, 10, Durability::Buffered);
    assert_eq!(disk.calls(Call::Write), writes + 1);
    assert_eq!(ids(&read(&disk).unwrap().0), [1, 2, 3, 4, 5]);
    // What comes next is held back for a time of its own.
    append(&log, 6, 10, Durability::Buffered);
    assert_eq!(disk.calls(Call::Write), writes + 1);
    gate.open(true);
    log.close().unwrap();
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2, 3, 4, 5, 6]);
}
