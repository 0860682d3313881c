//! Each call to the operating system fails once, with each error that a disk has: what is acknowledged is there afterwards,
//! what a failed call leaves is stepped over, an error is never taken for the end of the log, and the next opening goes on.

use seslog::log::{Durability, LogError, LogReader, LogWriter, NewLog, Verdict, survey};
use seslog::sim::{Call, Fault, SimDisk, persistence};
use uuid::Uuid;

use super::check::{Promise, Said, Walk, append, batches, options, path, try_batches};
use super::{say, say_faults};

const EIO: i32 = 5;
const EINTR: i32 = 4;
/// EIO, ENOSPC, EDQUOT, EINTR, EAGAIN, EBADF, EROFS, EMFILE.
const ERRNOS: [i32; 8] = [EIO, 28, 122, EINTR, 11, 9, 30, 24];

/// A program that keeps a log and stops at the first error.
struct Program {
    disk: SimDisk,
    promise: Promise,
    next: usize,
}

impl Program {
    fn on(disk: SimDisk) -> Self {
        Self { disk, promise: Promise { created: false, batches: Vec::new(), durable: 0 }, next: 1 }
    }

    fn append(&mut self, log: &LogWriter, lens: &[usize], durability: Durability) -> Result<(), LogError> {
        self.promise.batches.push(self.next);
        self.disk.note(Said::Appending(self.next).note());
        self.next += 1;
        let appended = append(log, self.next - 1, lens, durability)?;
        if durability != Durability::Os {
            appended.receipt.wait()?;
            self.durable();
        }
        Ok(())
    }

    fn durable(&mut self) {
        self.promise.durable = self.promise.batches.len();
        self.disk.note(Said::Durable(self.promise.durable).note());
    }

    fn run(&mut self) -> Result<(), LogError> {
        let new = NewLog::new(Uuid::from_u128(0x5e5), 1_700_000_000_000_000);
        let log = LogWriter::create(self.disk.fs(), &path(), new, options())?;
        self.promise.created = true;
        self.disk.note(Said::Created.note());
        self.append(&log, &[40], Durability::Sync)?;
        self.append(&log, &[40, 40], Durability::Group)?;
        self.append(&log, &[40; 13], Durability::Os)?;
        log.sync()?;
        self.durable();
        self.append(&log, &[40], Durability::Sync)?; // with an INDEX in front
        self.append(&log, &[40], Durability::Os)?;
        log.close()?;
        self.durable();
        let (log, report) = LogWriter::open(self.disk.fs(), &path(), options())?;
        assert_eq!(report.verdict, Verdict::Clean);
        assert_eq!(try_batches(&log)?, self.promise.batches, "an error is not the end of the log");
        self.append(&log, &[40], Durability::Sync)?;
        log.close()?;
        let (reader, report) = LogReader::open(self.disk.fs(), &path())?;
        assert_eq!(report.verdict, Verdict::Clean);
        assert_eq!(try_batches(&reader)?, self.promise.batches, "an error is not the end of the log");
        Ok(())
    }

    /// The number of syncs that it makes.
    fn syncs(mut self) -> u64 {
        self.run().expect("nothing fails");
        self.disk.calls(Call::Sync)
    }

    /// Without faults everything goes on from what is there. Gives what was there.
    fn goes_on(&mut self) -> Vec<usize> {
        self.disk.heal();
        if !self.promise.created {
            let there = self.disk.image().files;
            assert!(!there.contains_key(&path()), "what could not be made is not there");
            self.run().expect("nothing is in the way of another try");
            return Vec::new();
        }
        let (log, report) = LogWriter::open(self.disk.fs(), &path(), options()).expect("it opens");
        let found = batches(&log);
        assert!(self.promise.batches.starts_with(&found), "{found:?} is no beginning of {:?}", self.promise);
        assert!(found.len() >= self.promise.durable, "{found:?}, and yet {:?}: {report:?}", self.promise);
        self.promise.batches.clone_from(&found);
        self.append(&log, &[40], Durability::Sync).expect("it goes on");
        log.close().expect("it closes");
        let looked = survey(self.disk.fs(), &path()).unwrap();
        assert!(looked.damage.is_empty(), "{:?}", looked.damage);
        found
    }
}

/// Runs the program with this fault at each call in turn, recorded; the number of runs.
fn each_call(fault: Fault, mut check: impl FnMut(&mut Program, Result<(), LogError>)) -> u64 {
    let mut at = 0;
    loop {
        let mut program = Program::on(SimDisk::new());
        program.disk.record();
        program.disk.fail_any(at, fault);
        let outcome = program.run();
        if program.disk.all_calls() <= at {
            return at;
        }
        check(&mut program, outcome);
        at += 1;
    }
}

#[test]
fn whatever_call_fails_with_whatever_error_nothing_that_was_acknowledged_is_lost_and_the_next_opening_goes_on() {
    let mut runs = 0;
    for errno in ERRNOS {
        runs += each_call(Fault::Errno(errno), |program, outcome| {
            if let Err(error) = outcome {
                assert!(error.to_string().contains("a.seslog"), "the error names the file: {error}");
            }
            program.goes_on();
        });
    }
    say_faults("each call with each error", runs);
}

#[test]
fn whatever_call_fails_a_power_cut_right_afterwards_loses_nothing_that_was_acknowledged() {
    let start = Promise { created: false, batches: Vec::new(), durable: 0 };
    for (what, fault) in [("each call fails, then a cut", Fault::Errno(EIO)), ("pages dropped", Fault::Dropped(EIO))] {
        let mut walk = Walk::new(persistence::ANYTHING, 6);
        each_call(fault, |program, _| {
            program.disk.kill();
            let trace = program.disk.trace();
            walk.run_since(&program.disk, trace.len(), &start, 0);
        });
        say(what, walk.count);
    }
}

#[test]
fn a_sync_that_failed_once_and_would_then_succeed_is_never_believed() {
    let start = Promise { created: false, batches: Vec::new(), durable: 0 };
    let clean = Program::on(SimDisk::new()).syncs();
    for fault in [Fault::Errno(EIO), Fault::Dropped(EIO)] {
        let mut walk = Walk::new(persistence::ANYTHING, 6);
        for at in 0..clean {
            let mut program = Program::on(SimDisk::new());
            program.disk.record();
            program.disk.fail(Call::Sync, at, fault);
            program.run().expect_err("a sync has failed");
            // The next opening goes on with what is seen; each cut from here on is gone through.
            let first = program.disk.trace().len();
            program.disk.kill();
            if program.promise.created {
                let log = LogWriter::open(program.disk.fs(), &path(), options()).unwrap().0;
                program.disk.note(Said::Found(batches(&log).len()).note());
                program.disk.note(Said::Durable(batches(&log).len()).note());
                program.disk.kill();
            }
            walk.run_since(&program.disk, first, &start, 0);
        }
        say("a sync fails once", walk.count);
    }
}

#[test]
fn a_write_or_read_that_is_cut_short_at_any_length_goes_on() {
    let mut runs = 0;
    for call in [Call::Write, Call::Read] {
        let mut clean = Program::on(SimDisk::new());
        clean.run().unwrap();
        for at in 0..clean.disk.calls(call) {
            for len in (1..64).chain((64..4200).step_by(257)) {
                let mut program = Program::on(SimDisk::new());
                program.disk.fail(call, at, Fault::Short(len));
                program.run().unwrap_or_else(|error| panic!("{call:?} {at}, {len} bytes: {error}"));
                assert!(program.disk.bytes(&path()) == clean.disk.bytes(&path()), "{call:?} {at}, {len} bytes");
                runs += 1;
            }
        }
    }
    say_faults("short writes and reads", runs);
}

#[test]
fn a_full_disk_at_any_byte_of_any_write_loses_nothing_and_space_that_comes_back_is_used() {
    let mut runs = 0;
    let mut clean = Program::on(SimDisk::new());
    clean.run().unwrap();
    for at in 0..clean.disk.calls(Call::Write) {
        for len in (1..160).chain((160..4200).step_by(251)) {
            let mut program = Program::on(SimDisk::new());
            program.disk.fail(Call::Write, at, Fault::Short(len));
            program.disk.fail(Call::Write, at + 1, Fault::Errno(28));
            let Err(error) = program.run() else { continue };
            assert!(matches!(error, LogError::Full { .. }), "{error}");
            program.goes_on();
            runs += 1;
        }
    }
    say_faults("full disks", runs);
}
