//! Who waits for what is told the truth, and told at all: models of the receipt protocol in which `loom` lets threads meet in
//! every order. `RUSTFLAGS="--cfg loom" cargo test --release --lib loom -- --nocapture --test-threads 1` runs them, and
//! prints how many orders there were.
//!
//! A model that ends shows both: a thread that nobody wakes is a deadlock, and each acknowledgement is held against what
//! the file had made durable. The file is two numbers; what is modelled is the code of `durability.rs`, `flusher.rs` and
//! the bell, as it is in the product.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64 as PlainU64;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use loom::sync::{Condvar, Mutex};

use super::durability::Commit;
use super::error::LogError;
use super::flusher::{Flusher, Work};
use super::fs::{Access, Bell, DirEntry, FileId, Fs, FsFile};
use super::map::Map;
use super::receipt::Receipt;
use super::tail::{Behind, Tail};

/// A file of which only its length and what a sync has covered are known.
#[derive(Debug)]
struct File {
    len: AtomicU64,
    durable: AtomicU64,
    /// Syncs that still succeed; then one fails, and makes nothing durable.
    good_syncs: AtomicU64,
}

impl FsFile for File {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Ok(0)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.len.fetch_max(offset + bytes.len() as u64, Ordering::AcqRel);
        Ok(bytes.len())
    }

    fn sync_data(&self) -> io::Result<()> {
        // What is written while the sync runs need not be covered by it.
        let covered = self.len.load(Ordering::Acquire);
        loom::thread::yield_now();
        let left = self.good_syncs.load(Ordering::Acquire);
        if left == 0 {
            return Err(io::ErrorKind::Other.into());
        }
        self.good_syncs.store(left - 1, Ordering::Release);
        self.durable.fetch_max(covered, Ordering::AcqRel);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len.load(Ordering::Acquire))
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn unlock(&self) -> io::Result<()> {
        Ok(())
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    fn map(&self, _: u64) -> io::Result<Option<Map>> {
        Ok(None)
    }
}

/// A system in which time stands still, so that nothing is woken by it.
#[derive(Debug)]
struct Still;

impl Fs for Still {
    fn open(&self, _: &Path, _: Access) -> io::Result<Arc<dyn FsFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create(&self, _: &Path) -> io::Result<Arc<dyn FsFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn publish(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn replace(&self, _: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn list_dir(&self, _: &Path) -> io::Result<Vec<DirEntry>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn identity(&self, _: &Path) -> io::Result<Option<FileId>> {
        Ok(None)
    }

    fn random(&self, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, _: Option<Duration>) {
        bell.wait(seen, None);
    }

    fn process_id(&self) -> u32 {
        1
    }
}

/// A writer without bytes.
struct Log {
    file: Arc<File>,
    tail: Arc<Tail>,
    commit: Arc<Commit>,
    flusher: Arc<Flusher>,
    work: Arc<Marker>,
    /// The writer's end of the file, and its lock.
    end: Mutex<u64>,
}

/// What the background thread works on.
struct Marker {
    file: Arc<File>,
    commit: Arc<Commit>,
    stop: AtomicBool,
}

impl Work for Marker {
    fn commit(&self) -> &Commit {
        &self.commit
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn mark(&self) -> Result<(), LogError> {
        self.commit.sync_appended()?;
        // A MARK of no length: the idle log is quiet from here on.
        self.commit.wrote(self.file.len.load(Ordering::Acquire), false, true);
        Ok(())
    }

    fn wait(&self, seen: u64, _: Option<Duration>) {
        self.commit.bell.wait(seen, None);
    }
}

impl Log {
    /// With an idle time of zero the thread marks the log, and ends, as soon as it can; else it never does.
    fn new(good_syncs: u64, idle: Duration) -> Arc<Self> {
        let zero = AtomicU64::new(0);
        let file = Arc::new(File { len: zero, durable: AtomicU64::new(0), good_syncs: AtomicU64::new(good_syncs) });
        let durable = Arc::new(PlainU64::new(0));
        let tail = Arc::new(Tail::new(PathBuf::from("a.seslog"), file.clone(), Arc::default(), 0, 0));
        let commit = Arc::new(Commit::new(Arc::new(Still), tail.clone(), 1, durable, (1 << 20, idle)));
        let work = Arc::new(Marker { file: file.clone(), commit: commit.clone(), stop: AtomicBool::new(false) });
        Arc::new(Self { file, tail, commit, flusher: Arc::default(), work, end: Mutex::new(0) })
    }

    /// One byte more; as `LogWriter::append` without the bytes. An error if the log is poisoned.
    fn append(&self, urgent: bool) -> Result<(Receipt, u64), LogError> {
        let end = {
            let mut end = self.end.lock().unwrap();
            self.commit.check()?;
            self.tail.write(*end, &[1], Behind::Kept, || self.commit.wrote(*end + 1, urgent, false))?;
            *end += 1;
            *end
        };
        if urgent {
            self.flusher.start(&self.work);
        }
        Ok((Receipt::until(self.commit.clone(), end), end))
    }

    /// One byte more, held back; the thread in the background is there to write it.
    fn append_held(&self) -> Result<(Receipt, u64), LogError> {
        let end = {
            let mut end = self.end.lock().unwrap();
            self.commit.check()?;
            *end += 1;
            self.tail.hold(&[1], |len| self.commit.holds(*end, len));
            *end
        };
        self.flusher.start(&self.work);
        Ok((Receipt::until(self.commit.clone(), end), end))
    }

    /// As `LogWriter::sync`, up to a place.
    fn sync(&self, end: u64) {
        self.commit.sync_to(end).unwrap();
        self.flusher.tell(&self.commit);
    }

    /// An append whose write fails.
    fn append_badly(&self) {
        let end = self.end.lock().unwrap();
        self.commit.poison(*end + 1);
        drop(end);
        self.flusher.tell(&self.commit);
    }

    /// An acknowledgement is true.
    fn hold(&self, acknowledged: bool, end: u64) {
        if acknowledged {
            assert!(self.file.durable.load(Ordering::Acquire) >= end, "byte {end} was acknowledged and is not durable");
        }
    }

    fn close(&self) {
        self.work.stop.store(true, Ordering::Release);
        self.commit.bell.ring();
        self.flusher.join();
        let _ = self.commit.check().and_then(|()| self.work.mark());
        self.commit.wake();
    }
}

/// Wakes a thread of the model.
#[derive(Default)]
struct Alarm {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// Awaits a receipt; true if it was acknowledged.
fn awaited(mut receipt: Receipt) -> bool {
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(alarm.clone());
    loop {
        if let Poll::Ready(outcome) = Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)) {
            return outcome.is_ok();
        }
        let mut woken = alarm.woken.lock().unwrap();
        while !*woken {
            woken = alarm.changed.wait(woken).unwrap();
        }
        *woken = false;
    }
}

const BUSY: Duration = Duration::from_secs(1);
const IDLE: Duration = Duration::ZERO;

/// Goes through the orders; prints how many there were. `switches`: how often a thread that could go on is made to wait.
fn explore(what: &str, switches: usize, model: impl Fn() + Send + Sync + 'static) {
    let count = Arc::new(PlainU64::new(0));
    let counter = count.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 100_000;
    builder.check(move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        model();
    });
    println!("{what}: {} orders", count.load(std::sync::atomic::Ordering::Relaxed));
}

#[test]
fn threads_that_wait_share_syncs_and_none_is_acknowledged_early() {
    explore("three waiting threads", 3, || {
        let log = Log::new(u64::MAX, BUSY);
        let run = |log: &Log| {
            let (receipt, end) = log.append(false).unwrap();
            let acknowledged = receipt.wait().is_ok();
            assert!(acknowledged);
            log.hold(acknowledged, end);
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let log = log.clone();
                loom::thread::spawn(move || run(&log))
            })
            .collect();
        run(&log);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn a_sync_that_fails_reaches_each_thread_that_waits_and_acknowledges_nothing() {
    for good in [0, 1] {
        explore("three waiting threads and a failing sync", 3, move || {
            let log = Log::new(good, BUSY);
            let run = |log: &Log| {
                let Ok((receipt, end)) = log.append(false) else { return };
                log.hold(receipt.wait().is_ok(), end);
            };
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let log = log.clone();
                    loom::thread::spawn(move || run(&log))
                })
                .collect();
            run(&log);
            others.into_iter().for_each(|other| other.join().unwrap());
        });
    }
}

#[test]
fn a_group_append_is_told_by_the_thread_in_the_background() {
    for good in [0, 1, u64::MAX] {
        explore("two awaited group appends", 2, move || {
            let log = Log::new(good, BUSY);
            let other = {
                let log = log.clone();
                loom::thread::spawn(move || {
                    let Ok((receipt, end)) = log.append(true) else { return };
                    log.hold(awaited(receipt), end);
                })
            };
            if let Ok((receipt, end)) = log.append(true) {
                let acknowledged = awaited(receipt);
                assert!(acknowledged || good < u64::MAX);
                log.hold(acknowledged, end);
            }
            other.join().unwrap();
            log.close();
        });
    }
}

#[test]
fn an_append_that_meets_the_end_of_the_idle_thread_is_served_all_the_same() {
    explore("an awaited append while the thread ends", 3, || {
        let log = Log::new(u64::MAX, IDLE);
        for _ in 0..2 {
            let (receipt, end) = log.append(true).unwrap();
            assert!(awaited(receipt));
            log.hold(true, end);
        }
        log.close();
    });
}

#[test]
fn who_awaits_is_told_when_another_thread_waits_or_fails() {
    for fails in [false, true] {
        explore("an awaited append beside a thread that waits or fails", 2, move || {
            let log = Log::new(u64::MAX, BUSY);
            let (receipt, end) = log.append(true).unwrap();
            let other = {
                let log = log.clone();
                loom::thread::spawn(move || {
                    if fails {
                        log.append_badly();
                    } else if let Ok((receipt, end)) = log.append(false) {
                        log.hold(receipt.wait().is_ok(), end);
                    }
                })
            };
            let acknowledged = awaited(receipt);
            assert!(acknowledged || fails);
            log.hold(acknowledged, end);
            other.join().unwrap();
            log.close();
        });
    }
}

#[test]
fn a_sync_of_another_thread_has_the_thread_in_the_background_tell_who_awaits() {
    explore("an awaited append beside a sync", 3, || {
        let log = Log::new(u64::MAX, BUSY);
        let (receipt, end) = log.append(false).unwrap();
        // It runs, and nothing is to do for it until time goes on.
        log.flusher.start(&log.work);
        let other = {
            let log = log.clone();
            loom::thread::spawn(move || {
                assert!(awaited(receipt));
                log.hold(true, end);
            })
        };
        log.sync(end);
        other.join().unwrap();
        log.close();
    });
}

#[test]
fn a_close_tells_everybody_who_still_awaits() {
    explore("an awaited append beside the close", 3, || {
        let log = Log::new(u64::MAX, BUSY);
        let (receipt, end) = log.append(false).unwrap();
        let other = {
            let log = log.clone();
            loom::thread::spawn(move || {
                assert!(awaited(receipt));
                log.hold(true, end);
            })
        };
        log.close();
        other.join().unwrap();
    });
}

#[test]
fn what_is_held_back_is_acknowledged_only_once_it_is_written_and_synced() {
    for good in [0, u64::MAX] {
        explore("a record that is held back beside one that is not", 2, move || {
            let log = Log::new(good, BUSY);
            let other = {
                let log = log.clone();
                loom::thread::spawn(move || {
                    let Ok((receipt, end)) = log.append(false) else { return };
                    log.hold(receipt.wait().is_ok(), end);
                })
            };
            if let Ok((receipt, end)) = log.append_held() {
                let acknowledged = receipt.wait().is_ok();
                assert!(acknowledged || good < u64::MAX);
                log.hold(acknowledged, end);
            }
            other.join().unwrap();
            log.close();
        });
    }
}

#[test]
fn what_is_held_back_while_the_thread_in_the_background_writes_is_written_too() {
    for good in [0, u64::MAX] {
        explore("two records that are held back beside a close", 2, move || {
            let log = Log::new(good, BUSY);
            let held: Vec<_> = (0..2).filter_map(|_| log.append_held().ok()).collect();
            let other = {
                let log = log.clone();
                loom::thread::spawn(move || {
                    for (receipt, end) in held {
                        log.hold(receipt.wait().is_ok(), end);
                    }
                })
            };
            log.close();
            other.join().unwrap();
            assert!(good < u64::MAX || log.file.durable.load(Ordering::Acquire) == 2, "a close leaves nothing behind");
        });
    }
}

#[test]
fn a_ring_is_never_missed() {
    explore("two rings and two who wait", 3, || {
        let bell = Arc::new(Bell::default());
        let seen = bell.count();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let bell = bell.clone();
                loom::thread::spawn(move || bell.wait(seen, None))
            })
            .collect();
        bell.ring();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert!(bell.count() > seen);
    });
}
