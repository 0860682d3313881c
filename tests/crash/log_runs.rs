//! Small runs on the floor of the log, each with every power cut at every moment of it.

use std::time::Duration;

use seslog::log::{Durability, LogError, LogOptions, LogWriter, NewLog};
use seslog::sim::{Call, Count, Fault, Persistence, SimDisk, persistence};
use uuid::Uuid;

use super::check::{Promise, Said, Walk, append, batches, options, path};
use super::{deep, say};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A writer on a simulated disk whose promises go into the recording.
pub struct Run {
    pub disk: SimDisk,
    pub log: Option<LogWriter>,
    /// Batches that may be in the log.
    pub batches: Vec<usize>,
    next: usize,
    options: LogOptions,
}

impl Run {
    /// From before the log exists.
    fn from_nothing() -> Self {
        let disk = SimDisk::new();
        disk.record();
        let mut run = Self { disk, log: None, batches: Vec::new(), next: 1, options: options() };
        run.log = Some(run.create());
        run.disk.note(Said::Created.note());
        run
    }

    /// A log with so many durable records; recorded from then on.
    pub fn with(records: usize) -> Self {
        let mut run = Self::from_nothing();
        (0..records).for_each(|_| run.append(&[40], Durability::Os));
        run.log().sync().unwrap();
        run.record();
        run
    }

    /// What is there is durable, and recorded is what comes from here on.
    pub fn record(&self) {
        self.disk.record();
        self.disk.note(Said::Created.note());
        for batch in &self.batches {
            self.disk.note(Said::Appending(*batch).note());
        }
        self.durable();
    }

    fn create(&self) -> LogWriter {
        let new = NewLog::new(Uuid::from_u128(0x5e5), 1_700_000_000_000_000);
        LogWriter::create(self.disk.fs(), &path(), new, self.options).unwrap()
    }

    pub fn log(&self) -> &LogWriter {
        self.log.as_ref().expect("the log is open")
    }

    /// Everything so far is acknowledged as durable.
    pub fn durable(&self) {
        self.disk.note(Said::Durable(self.batches.len()).note());
    }

    pub fn try_append(&mut self, lens: &[usize], durability: Durability) -> Result<(), LogError> {
        self.batches.push(self.next);
        self.disk.note(Said::Appending(self.next).note());
        self.next += 1;
        let appended = append(self.log(), self.next - 1, lens, durability)?;
        match durability {
            Durability::Os | Durability::Buffered => drop(appended.receipt),
            _ => {
                appended.receipt.wait()?;
                self.durable();
            }
        }
        Ok(())
    }

    pub fn append(&mut self, lens: &[usize], durability: Durability) {
        self.try_append(lens, durability).unwrap();
    }

    pub fn close(&mut self) {
        self.log.take().expect("the log is open").close().unwrap();
        self.durable();
    }

    pub fn kill(&mut self) {
        self.disk.kill();
        self.log = None;
    }

    pub fn open(&mut self) {
        let log = LogWriter::open(self.disk.fs(), &path(), self.options).unwrap().0;
        let found = batches(&log);
        assert!(self.batches.starts_with(&found));
        self.batches = found;
        self.disk.note(Said::Found(self.batches.len()).note());
        self.durable();
        self.log = Some(log);
    }
}

/// Every state of a run, on every file system, with `depth` cuts in a row more.
fn every_cut(what: &str, depth: usize, run: impl Fn() -> Run) {
    every_cut_near(what, depth, 2, run);
}

/// The same, where more sectors are in doubt than can be combined in full: states that differ in so many of them from "all
/// old" or "all new".
pub fn every_cut_near(what: &str, depth: usize, deviations: usize, run: impl Fn() -> Run) {
    let start = Promise { created: false, batches: Vec::new(), durable: 0 };
    let mut count = Count::default();
    for model in persistence::ALL {
        count += walk(model, depth, deviations, &start, &run);
    }
    say(what, count);
}

fn walk(model: Persistence, depth: usize, deviations: usize, start: &Promise, run: &impl Fn() -> Run) -> Count {
    let mut run = run();
    run.kill();
    let (depth, full) = if deep() > 0 { (depth + deep(), 10) } else { (depth, 6) };
    let mut walk = Walk::new(model, full);
    walk.deviations = deviations;
    walk.run(&run.disk, start, depth);
    walk.count
}

#[test]
fn a_cut_while_a_log_is_made_leaves_all_of_it_or_nothing() {
    every_cut("create", 2, || {
        let mut run = Run::from_nothing();
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_keeps_what_was_synced() {
    every_cut("sync", 1, || {
        let mut run = Run::with(0);
        run.append(&[40], Durability::Sync);
        run.append(&[1700], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_keeps_a_group_whose_receipt_has_resolved() {
    every_cut("group", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Group);
        run.append(&[900], Durability::Group);
        run
    });
}

#[test]
fn a_cut_keeps_a_beginning_of_what_the_system_held() {
    every_cut("os", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        run.append(&[1200], Durability::Os);
        run.append(&[100], Durability::Os);
        run
    });
}

#[test]
fn a_cut_keeps_a_beginning_of_what_was_held_back_and_all_of_it_once_a_later_append_is_durable() {
    every_cut("buffered", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Buffered);
        run.append(&[100, 60], Durability::Buffered);
        run.append(&[100], Durability::Sync);
        run.append(&[300], Durability::Buffered);
        run.append(&[100], Durability::Os);
        run
    });
}

#[test]
fn a_cut_after_a_sync_or_a_close_keeps_what_was_held_back() {
    every_cut("buffered, sync, close", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Buffered);
        run.append(&[100], Durability::Buffered);
        run.log().sync().unwrap();
        run.durable();
        run.append(&[40], Durability::Buffered);
        run.close();
        run
    });
}

#[test]
fn a_cut_after_a_kill_loses_what_was_held_back_and_nothing_before_it() {
    every_cut("buffered, kill, recovery", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        run.append(&[100], Durability::Buffered);
        run.kill();
        run.open();
        run.append(&[40], Durability::Buffered);
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_after_the_background_has_synced_and_marked_loses_nothing() {
    every_cut("background", 2, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        let syncs = run.disk.calls(Call::Sync);
        run.disk.advance(Duration::from_millis(1001));
        run.disk.wait_for(Call::Sync, syncs + 2);
        run.log().sync().unwrap();
        run.durable();
        run.append(&[100], Durability::Os);
        run
    });
}

#[test]
fn a_cut_leaves_a_batch_whole_or_not_at_all() {
    every_cut("batch", 1, || {
        let mut run = Run::with(1);
        run.append(&[300, 300, 300], Durability::Os);
        run.append(&[100, 100], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_around_an_index_loses_nothing_that_was_acknowledged() {
    every_cut("index", 1, || {
        let mut run = Run::with(15);
        run.append(&[40], Durability::Sync);
        run.append(&[40], Durability::Sync);
        run.append(&[40], Durability::Os);
        run
    });
}

#[test]
fn a_cut_while_a_log_is_closed_and_opened_again_loses_nothing() {
    every_cut("close and open", 2, || {
        let mut run = Run::with(1);
        run.close();
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_after_a_kill_keeps_what_the_next_opening_has_shown() {
    every_cut("kill, recovery, append", 2, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        run.kill();
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_after_two_kills_in_a_row_loses_nothing() {
    every_cut("kill twice", 2, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        run.kill();
        run.open();
        run.kill();
        run.open();
        run
    });
}

/// What a sync that fails has left in doubt: on the disk or not, and from then on called clean.
fn after_a_failed_sync(fault: Fault) -> Run {
    let mut run = Run::with(1);
    run.disk.fail(Call::Sync, 0, fault);
    run.try_append(&[100], Durability::Sync).unwrap_err();
    run.kill();
    run.open();
    run.append(&[40], Durability::Sync);
    run
}

#[test]
fn a_cut_after_a_sync_that_failed_and_kept_its_pages_loses_nothing_that_was_acknowledged() {
    every_cut("failed sync, pages kept", 2, || after_a_failed_sync(Fault::Errno(EIO)));
}

#[test]
fn a_cut_after_a_sync_that_failed_and_dropped_its_pages_loses_nothing_that_was_acknowledged() {
    every_cut("failed sync, pages dropped", 2, || after_a_failed_sync(Fault::Dropped(EIO)));
}

#[test]
fn a_cut_after_a_failed_sync_in_the_recovery_loses_nothing() {
    every_cut("failed sync in the recovery", 1, || {
        let mut run = Run::with(1);
        run.append(&[100], Durability::Os);
        run.kill();
        run.disk.fail(Call::Sync, 0, Fault::Errno(EIO));
        LogWriter::open(run.disk.fs(), &path(), options()).unwrap_err();
        run.kill();
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_after_a_full_disk_in_the_middle_of_a_frame_loses_nothing() {
    every_cut("full disk", 2, || {
        let mut run = Run::with(1);
        run.disk.fail(Call::Write, 0, Fault::Short(100));
        run.disk.fail(Call::Write, 1, Fault::Errno(ENOSPC));
        run.try_append(&[200, 200], Durability::Sync).unwrap_err();
        run.kill();
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

/// Bytes that an opening has stepped over and could not sync lie in the window of the next one.
fn stepped_over_and_not_synced() -> Run {
    let mut run = Run::with(1);
    run.disk.fail(Call::Write, 0, Fault::Short(1500));
    run.disk.fail(Call::Write, 1, Fault::Errno(ENOSPC));
    run.try_append(&[2500], Durability::Sync).unwrap_err();
    run.kill();
    run.disk.fail(Call::Sync, 0, Fault::Errno(EIO));
    LogWriter::open(run.disk.fs(), &path(), options()).unwrap_err();
    run.kill();
    run.open();
    run
}

#[test]
fn a_cut_after_a_recovery_of_a_recovery_loses_nothing_and_what_they_stepped_over_is_durable_too() {
    let run = stepped_over_and_not_synced();
    let seen = run.disk.bytes(&path());
    assert!(run.disk.durable(&path()) == seen, "the whole window was written again, with what is stepped over in it");
    every_cut("recovery of a recovery", 0, || {
        let mut run = stepped_over_and_not_synced();
        run.append(&[40], Durability::Sync);
        run
    });
}
