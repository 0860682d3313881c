//! A panic in the middle: in the disk's code, in the background thread, in who is told. The log says clearly that it has
//! ended, or goes on; it hangs nobody and corrupts nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};

use std::future::Future as _;
use std::pin::Pin;

use seslog::log::{Durability, Fs, LogError, LogOptions, LogReader, LogWriter, NewLog, Receipt, Verdict};

use crate::log_support::*;
use crate::odd_disk::{Act, Odd, OddCall};

/// A disk on which the nth call of a kind from now on panics.
struct Trap {
    left: Arc<AtomicI64>,
    fs: Arc<dyn Fs>,
}

const NEVER: i64 = i64::MAX;

impl Trap {
    fn over(disk: &Disk, call: OddCall, act: Act) -> Self {
        let left = Arc::new(AtomicI64::new(NEVER));
        let counter = left.clone();
        let fs = Odd::over(disk.fs(), move |now| {
            let hit = now == call && counter.fetch_sub(1, Ordering::Relaxed) == 0;
            if hit { act } else { Act::Go }
        });
        Self { left, fs }
    }

    fn set(&self, nth: i64) {
        self.left.store(nth, Ordering::Relaxed);
    }
}

/// What a panic says is of no use here; it would only fill the output.
fn quietly<T>(work: impl FnOnce() -> T) -> Result<T, ()> {
    catch_unwind(AssertUnwindSafe(work)).map_err(drop)
}

#[test]
fn a_panic_at_any_call_of_an_append_poisons_or_changes_nothing_and_never_corrupts() {
    let calls =
        [OddCall::Read, OddCall::Write, OddCall::Sync, OddCall::Size, OddCall::Named, OddCall::Time, OddCall::Random];
    let (mut hits, mut went_on) = (0, 0);
    for call in calls {
        for act in [Act::Panic, Act::PanicAfter] {
            for durability in [Durability::Sync, Durability::Os] {
                for nth in 0..6 {
                    let disk = Disk::new();
                    let trap = Trap::over(&disk, call, act);
                    let new = NewLog::new(id(9), 0);
                    let options = LogOptions::default().index_records(16);
                    let log = LogWriter::create(trap.fs.clone(), &path(), new, options).unwrap();
                    for number in 1..=20 {
                        append(&log, number, 30, Durability::Sync);
                    }
                    trap.set(nth);
                    let (twenty_one, twenty_two) = (payload(21, 30), payload(22, 30));
                    let batch = [event(21, &twenty_one), event(22, &twenty_two)];
                    let outcome = quietly(|| log.append(&batch, leaf(1), durability).map(|appended| appended.receipt));
                    trap.set(NEVER);
                    hits += usize::from(outcome.is_err());
                    let acknowledged = match outcome {
                        Ok(Ok(receipt)) => receipt.wait().is_ok(),
                        _ => false,
                    };
                    let next = log.append(&[event(23, b"the next one")], leaf(0), Durability::Sync);
                    match &next {
                        Ok(_) => went_on += 1,
                        Err(LogError::Poisoned { .. }) => {}
                        Err(error) => panic!("{call:?} {act:?} {nth}: {error}"),
                    }
                    let closed = quietly(|| log.close()).unwrap();
                    assert_eq!(closed.is_ok(), next.is_ok(), "{call:?} {act:?} {nth}: {closed:?}");
                    let disk = disk_with(&disk.bytes(&path()));
                    let (log, report) = reopen(&disk).unwrap();
                    assert_ne!(report.verdict, Verdict::Damaged);
                    let found = ids(&log);
                    let mut expected: Vec<u128> = (1..=20).collect();
                    if found.contains(&21) || acknowledged {
                        expected.extend([21, 22]);
                    }
                    if next.is_ok() {
                        expected.push(23);
                    }
                    assert_eq!(found, expected, "{call:?} {act:?} {durability:?} {nth}");
                    append(&log, 24, 30, Durability::Sync);
                    log.close().unwrap();
                }
            }
        }
    }
    println!("{hits} panics came out of an append; {went_on} times the log went on");
    assert!(hits > 10, "the traps were met");
}

/// Until it was mended, a sync that panicked left everybody who waited for it waiting for ever.
#[test]
fn a_sync_that_panics_in_one_thread_lets_no_other_wait_for_ever() {
    let disk = Disk::new();
    let (entered, inside) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (entered, released) = (std::sync::Mutex::new(entered), std::sync::Mutex::new(released));
    let armed = Arc::new(AtomicI64::new(0));
    let is_armed = armed.clone();
    let fs = Odd::over(disk.fs(), move |call| {
        if call != OddCall::Sync || is_armed.load(Ordering::Relaxed) == 0 {
            return Act::Go;
        }
        entered.lock().unwrap().send(()).unwrap();
        released.lock().unwrap().recv().unwrap();
        Act::Panic
    });
    let log = LogWriter::create(fs, &path(), NewLog::new(id(9), 0), LogOptions::default()).unwrap();
    append(&log, 1, 30, Durability::Sync);
    let receipts: Vec<Receipt> =
        (2..6).map(|number| log.append(&[event(number, b"x")], leaf(0), Durability::Os).unwrap().receipt).collect();
    armed.store(1, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let waiting: Vec<_> = receipts.into_iter().map(|receipt| scope.spawn(|| quietly(|| receipt.wait()))).collect();
        inside.recv().unwrap();
        armed.store(0, Ordering::Relaxed);
        release.send(()).unwrap();
        let outcomes: Vec<_> = waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "one met the panic");
        assert!(outcomes.iter().flatten().all(|outcome| matches!(outcome, Err(LogError::Poisoned { .. }))));
    });
    assert!(matches!(log.sync(), Err(LogError::Poisoned { .. })));
}

struct Told(mpsc::Sender<()>);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

struct Bomb;

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

/// Asks once, so that the waker is known.
fn register(receipt: &mut Receipt, waker: &Waker) {
    assert!(Pin::new(receipt).poll(&mut Context::from_waker(waker)).is_pending());
}

#[test]
fn the_background_thread_that_panics_tells_those_who_await_it() {
    for call in [OddCall::Sync, OddCall::Named, OddCall::Time] {
        let disk = Disk::new();
        let armed = Arc::new(AtomicI64::new(0));
        let is_armed = armed.clone();
        let fs = Odd::over(disk.fs(), move |now| {
            let background = std::thread::current().name() == Some("seslog-flush");
            let hit = now == call && background && is_armed.load(Ordering::Relaxed) == 1;
            if hit { Act::Panic } else { Act::Go }
        });
        // The shortest window, so that each sync looks for the file's name.
        let options = LogOptions::default().window(std::time::Duration::from_millis(1));
        let log = LogWriter::create(fs, &path(), NewLog::new(id(9), 0), options).unwrap();
        append(&log, 1, 30, Durability::Sync);
        disk.advance(std::time::Duration::from_secs(1));
        armed.store(1, Ordering::Relaxed);
        let mut receipt = log.append(&[event(2, b"x")], leaf(0), Durability::Group).unwrap().receipt;
        let (sender, told) = mpsc::channel();
        let waker = Waker::from(Arc::new(Told(sender)));
        while Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)).is_pending() {
            told.recv().unwrap();
        }
        armed.store(0, Ordering::Relaxed);
        assert!(!receipt.is_durable(), "{call:?}");
        let next = log.append(&[event(3, b"x")], leaf(0), Durability::Os);
        assert!(matches!(next, Err(LogError::Poisoned { .. })), "{call:?}: {next:?}");
        drop(log);
        assert_eq!(
            ids(&reopen(&disk).unwrap().0),
            [1, 2],
            "{call:?}: it was written, and nobody was told that it is durable"
        );
    }
}

#[test]
fn a_waker_that_panics_keeps_nobody_else_from_being_told() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 30, Durability::Sync);
    let (sender, told) = mpsc::channel();
    let mut receipts: Vec<Receipt> =
        (2..8).map(|number| log.append(&[event(number, b"x")], leaf(0), Durability::Os).unwrap().receipt).collect();
    for (index, receipt) in receipts.iter_mut().enumerate() {
        let waker =
            if index % 2 == 0 { Waker::from(Arc::new(Bomb)) } else { Waker::from(Arc::new(Told(sender.clone()))) };
        register(receipt, &waker);
    }
    log.sync().unwrap();
    for _ in 0..3 {
        told.recv().unwrap();
    }
    append(&log, 9, 30, Durability::Group);
    log.close().unwrap();
    assert_eq!(LogReader::open(disk.fs(), &path()).unwrap().0.record_count().unwrap(), 8);
}

/// A receipt holds the file open; the lock must not depend on it.
#[test]
fn a_close_that_panics_gives_the_lock_up_all_the_same() {
    let disk = Disk::new();
    let trap = Trap::over(&disk, OddCall::Write, Act::Panic);
    let log = LogWriter::create(trap.fs.clone(), &path(), NewLog::new(id(9), 0), LogOptions::default()).unwrap();
    let receipt = log.append(&[event(1, b"x")], leaf(0), Durability::Os).unwrap().receipt;
    trap.set(0);
    assert!(quietly(|| log.close()).is_err());
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1]);
    assert!(receipt.is_durable(), "the close had synced before it met the trap");
}
