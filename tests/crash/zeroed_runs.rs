//! Runs with zeros ahead of the writer, each with every power cut at every moment of it.
//!
//! Zeros come in pieces of 32 KiB and more, so most of these states lie near to "nothing was written" and "all was"; what differs
//! is where zeros, data and a deleted file's bytes meet.

use std::time::Duration;

use seslog::log::{Durability, LogReader, LogWriter};
use seslog::sim::{Call, Fault};

use super::check::{batches, options, path};
use super::log_runs::{Run, every_cut_near};

const ENOSPC: i32 = 28;

impl Run {
    fn size(&self) -> u64 {
        self.disk.bytes(&path()).len() as u64
    }

    fn has_zeros(&self) -> bool {
        self.size() > self.log().end()
    }

    /// A log whose next append is the first one that zeros are written behind; recorded from then on.
    fn before_zeros() -> Self {
        let mut run = Self::with(1);
        run.append(&[31_000], Durability::Sync);
        run.record();
        run
    }

    /// A log with durable zeros ahead; recorded from then on.
    fn in_zeros() -> Self {
        let mut run = Self::before_zeros();
        run.append(&[2_000], Durability::Sync);
        assert!(run.has_zeros());
        run.record();
        run
    }
}

#[test]
fn a_cut_while_zeros_are_written_behind_an_append_keeps_what_was_synced() {
    every_cut_near("first zeros", 0, 1, || {
        let mut run = Run::before_zeros();
        run.append(&[2_000], Durability::Sync);
        assert!(run.has_zeros());
        run.append(&[40], Durability::Os);
        run
    });
}

#[test]
fn a_cut_while_appends_are_written_into_zeros_keeps_what_was_synced_and_whole_batches() {
    every_cut_near("in zeros", 1, 1, || {
        let mut run = Run::in_zeros();
        run.append(&[40], Durability::Sync);
        run.append(&[1_700], Durability::Group);
        run.append(&[100, 100], Durability::Os);
        run.append(&[40], Durability::Sync);
        assert!(run.has_zeros());
        run
    });
}

#[test]
fn a_cut_while_a_file_with_zeros_is_closed_and_opened_again_loses_nothing() {
    every_cut_near("close, cut off, open", 1, 1, || {
        let mut run = Run::in_zeros();
        run.append(&[40], Durability::Sync);
        run.close();
        assert_eq!(LogReader::open(run.disk.fs(), &path()).unwrap().1.zero_bytes, 0);
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_while_an_idle_file_is_marked_and_its_zeros_are_cut_off_loses_nothing() {
    every_cut_near("idle, cut off", 1, 1, || {
        let mut run = Run::in_zeros();
        run.append(&[100], Durability::Os);
        let syncs = run.disk.calls(Call::Sync);
        run.disk.advance(Duration::from_millis(1_001));
        run.disk.wait_for(Call::Sync, syncs + 2);
        run.log().sync().unwrap();
        run.durable();
        assert!(!run.has_zeros());
        run.append(&[100], Durability::Sync);
        run
    });
}

#[test]
fn a_cut_after_a_kill_in_zeros_keeps_what_the_next_opening_has_shown_and_so_does_its_close() {
    every_cut_near("kill in zeros, recovery, close", 1, 1, || {
        let mut run = Run::in_zeros();
        run.append(&[100], Durability::Os);
        run.kill();
        let (reader, report) = LogReader::open(run.disk.fs(), &path()).unwrap();
        assert!(report.zero_bytes > 0 && batches(&reader) == run.batches);
        run.open();
        run.append(&[40], Durability::Sync);
        run.close();
        run
    });
}

#[test]
fn a_cut_after_a_frame_that_was_torn_in_front_of_zeros_loses_nothing_that_was_acknowledged() {
    every_cut_near("full disk in zeros", 1, 1, || {
        let mut run = Run::in_zeros();
        run.disk.fail(Call::Write, 0, Fault::Short(700));
        run.disk.fail(Call::Write, 1, Fault::Errno(ENOSPC));
        run.try_append(&[1_000], Durability::Sync).unwrap_err();
        run.kill();
        run.open();
        run.append(&[40], Durability::Sync);
        run
    });
}

/// Every byte of the sectors that were synced is zero or data before the MARK is written, and the file is shorter after it.
#[test]
fn a_failed_sync_behind_the_cut_is_no_close_and_loses_nothing() {
    every_cut_near("failed sync behind the cut", 1, 1, || {
        let mut run = Run::in_zeros();
        run.disk.fail(Call::Sync, 0, Fault::Errno(5));
        run.log.take().unwrap().close().unwrap_err();
        run.kill();
        run.open();
        run
    });
}

#[test]
fn whatever_is_opened_with_zeros_is_opened_the_same_a_second_time() {
    let mut run = Run::in_zeros();
    run.kill();
    for _ in 0..3 {
        let (log, report) = LogWriter::open(run.disk.fs(), &path(), options()).unwrap();
        assert!(report.set_aside.is_empty() && report.damage.is_empty(), "{report:?}");
        assert_eq!(batches(&log), run.batches);
        run.disk.kill();
    }
}
