//! What the operating system refuses: nothing is acknowledged that may be gone, and nothing is tried again in place.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{Durability, LogError, LogOptions, LogWriter, NewLog, Note, Verdict};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EINTR: i32 = 4;

#[test]
fn a_full_disk_half_way_through_a_frame_is_said_poisons_and_is_stepped_over_by_the_next_open() {
    for written in [1, 8, 64, 100, 111] {
        let disk = Disk::new();
        let log = create(&disk);
        append(&log, 1, 40, Durability::Sync);
        disk.fail(Call::Write, 0, Fault::Short(written));
        disk.fail(Call::Write, 1, Fault::Errno(ENOSPC));
        let error = log.append(&[event(2, &payload(2, 40))], leaf(0), Durability::Sync).unwrap_err();
        assert!(matches!(error, LogError::Full { .. }), "{error}");
        let syncs = disk.calls(Call::Sync);
        for durability in [Durability::Sync, Durability::Group, Durability::Os] {
            let error = log.append(&[event(3, b"3")], leaf(0), durability).unwrap_err();
            assert!(matches!(error, LogError::Poisoned { .. }), "{error}");
        }
        assert!(matches!(log.sync(), Err(LogError::Poisoned { .. })));
        assert!(matches!(log.close(), Err(LogError::Poisoned { .. })));
        assert_eq!(disk.calls(Call::Sync), syncs, "nothing is tried again");

        let (log, report) = reopen(&disk).unwrap();
        assert_eq!(report.verdict, Verdict::Recovered, "{written} bytes");
        append(&log, 2, 40, Durability::Sync);
        assert_eq!(ids(&log), [1, 2]);
        log.close().unwrap();
        assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
    }
}

#[test]
fn a_failed_sync_poisons_and_is_never_tried_again() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let from = log.end();
    let waiting = log.append(&[event(2, b"two")], leaf(0), Durability::Os).unwrap().receipt;
    disk.fail(Call::Sync, 0, Fault::Errno(EIO));
    let error = log.append(&[event(3, b"three")], leaf(0), Durability::Sync).unwrap_err();
    assert!(matches!(error, LogError::Io { op: "sync", .. }), "{error}");
    let calls = disk.calls(Call::Sync);
    let Err(LogError::Poisoned { from: start, to, .. }) = waiting.wait() else { panic!("a false acknowledgement") };
    assert_eq!((start, to), (from, log.end()), "the range that nobody knows of");
    assert!(matches!(log.append(&[event(4, b"4")], leaf(0), Durability::Os), Err(LogError::Poisoned { .. })));
    let bytes = disk.bytes(&path());
    drop(log);
    assert_eq!(disk.calls(Call::Sync), calls, "the next sync could say yes to what is lost");
    assert!(disk.bytes(&path()) == bytes, "no MARK vouches for what may be gone");
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(ids(&log), [1, 2, 3], "written again and synced, they are durable now");
}

#[test]
fn short_and_interrupted_writes_go_on_where_they_stopped() {
    for written in 1..150 {
        let disk = Disk::new();
        let log = create(&disk);
        append(&log, 1, 40, Durability::Sync);
        disk.fail(Call::Write, 0, Fault::Short(written));
        disk.fail(Call::Write, 1, Fault::Errno(EINTR));
        append(&log, 2, 40, Durability::Sync);
        assert_eq!(ids(&log), [1, 2]);
        log.close().unwrap();
        assert_eq!(read(&disk).unwrap().1.verdict, Verdict::Clean);
    }
}

#[test]
fn short_and_interrupted_reads_are_not_the_end_of_the_log() {
    let disk = Disk::new();
    let log = create(&disk);
    for number in 1..=5 {
        append(&log, number, 40, Durability::Sync);
    }
    log.close().unwrap();
    for nth in 0..20 {
        for fault in [Fault::Short(1), Fault::Short(60), Fault::Errno(EINTR)] {
            disk.fail(Call::Read, nth, fault);
            let (log, report) = read(&disk).unwrap();
            assert_eq!((report.verdict, ids(&log)), (Verdict::Clean, vec![1, 2, 3, 4, 5]), "{nth} {fault:?}");
        }
    }
}

#[test]
fn a_read_error_is_an_error_and_not_the_end_of_the_log() {
    let disk = Disk::new();
    let log = create(&disk);
    for number in 1..=3 {
        append(&log, number, 40, Durability::Os);
    }
    let bytes = kill(log, &disk);
    for nth in 0..4 {
        let disk = disk_with(&bytes);
        disk.fail(Call::Read, nth, Fault::Errno(EIO));
        match reopen(&disk) {
            Err(LogError::Io { op: "read", .. }) => assert!(disk.bytes(&path()) == bytes, "nothing was written"),
            Ok((log, report)) => {
                assert_eq!((report.verdict, ids(&log)), (Verdict::Clean, vec![1, 2, 3]), "read {nth} came later")
            }
            other => panic!("read {nth}: {:?}", other.map(|opened| opened.1)),
        }
    }
}

/// Creates, appends in all ways, closes, reopens, appends; stops at the first error. Gives what was acknowledged as durable.
fn run(disk: &Disk) -> Result<Vec<u128>, (Vec<u128>, LogError)> {
    let mut acknowledged = Vec::new();
    let outcome = (|| {
        let log = LogWriter::create(disk.fs(), &path(), NewLog::new(id(1), 0), LogOptions::default())?;
        for number in 1..=3 {
            log.append(&[event(number, &payload(number, 40))], leaf(0), Durability::Sync)?;
            acknowledged.push(number);
        }
        let receipt = log.append(&[event(4, b"four"), event(5, b"five")], leaf(1), Durability::Os)?.receipt;
        receipt.wait()?;
        acknowledged.extend([4, 5]);
        log.close()?;
        let (log, _) = LogWriter::open(disk.fs(), &path(), LogOptions::default())?;
        log.append(&[event(6, b"six")], Note::default(), Durability::Sync)?;
        acknowledged.push(6);
        log.close()
    })();
    outcome.map(|()| acknowledged.clone()).map_err(|error| (acknowledged, error))
}

#[test]
fn whatever_call_fails_in_whatever_way_nothing_acknowledged_is_lost() {
    for call in [
        Call::Write,
        Call::Sync,
        Call::Size,
        Call::Lock,
        Call::SyncDir,
        Call::Publish,
        Call::Create,
        Call::Open,
        Call::Read,
    ] {
        for errno in [EIO, ENOSPC] {
            for nth in 0..60 {
                let disk = Disk::new();
                disk.fail(call, nth, Fault::Errno(errno));
                let (acknowledged, failed) = match run(&disk) {
                    Ok(all) => (all, None),
                    Err((acknowledged, error)) => (acknowledged, Some(error)),
                };
                let known = names(&disk).contains(&path());
                if !known {
                    assert!(acknowledged.is_empty(), "{call:?} {nth}: the log is gone");
                    assert!(names(&disk).is_empty(), "{call:?} {nth}: a temporary file is left");
                    continue;
                }
                assert!(names(&disk).iter().all(|name| *name == path()), "{call:?} {nth}: a temporary file is left");
                // What the disk has kept is what was synced: the power is gone as well.
                let kept = disk_with(&disk.durable(&path()));
                let (log, report) =
                    reopen(&kept).unwrap_or_else(|error| panic!("{call:?} {nth} {errno}: {error}, after {failed:?}"));
                let found = ids(&log);
                let expected: Vec<u128> = (1..=found.len() as u128).collect();
                assert_eq!(found, expected, "a prefix, in order: {call:?} {nth} {report:?}");
                assert!(
                    found.len() >= acknowledged.len(),
                    "{call:?} {nth}: {acknowledged:?} were acknowledged, {found:?} found"
                );
            }
        }
    }
}

#[test]
fn a_writer_that_finds_foreign_bytes_at_its_end_stops_before_it_overwrites_them() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    disk.change(&path(), |bytes| bytes.extend_from_slice(b"by somebody else"));
    let before = disk.bytes(&path());
    let error = log.append(&[event(2, b"two")], leaf(0), Durability::Sync).unwrap_err();
    assert!(matches!(error, LogError::ForeignWrite { .. }), "{error}");
    assert!(matches!(log.close(), Err(LogError::Poisoned { .. })));
    assert!(disk.bytes(&path()) == before);
}

#[test]
fn a_writer_whose_file_has_another_length_stops_before_it_writes() {
    // Zeros put behind and a tail cut off: the bytes at its end tell nothing, the length does.
    for by in [-8_i64, 8] {
        let disk = Disk::new();
        let log = create(&disk);
        append(&log, 1, 40, Durability::Sync);
        disk.change(&path(), |bytes| bytes.resize(bytes.len().checked_add_signed(by as isize).unwrap(), 0));
        let before = disk.bytes(&path());
        let error = log.append(&[event(2, b"two")], leaf(0), Durability::Sync).unwrap_err();
        assert!(matches!(error, LogError::ForeignWrite { .. }), "{by}: {error}");
        assert!(disk.bytes(&path()) == before, "{by}");
    }
}

#[test]
fn a_writer_whose_mark_was_written_over_stops_before_it_writes_it_again() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let (log, _) = reopen(&disk).unwrap();
    log.note().unwrap(); // read from the MARK now, so that the append has no need to
    let mark = log.tip().unwrap().unwrap().offset() as usize;
    disk.change(&path(), |bytes| bytes[mark + 70] ^= 1);
    let before = disk.bytes(&path());
    let error = log.append(&[event(2, b"two")], leaf(0), Durability::Sync).unwrap_err();
    assert!(matches!(error, LogError::ForeignWrite { .. }), "{error}");
    assert!(disk.bytes(&path()) == before);
}

#[test]
fn a_zombie_writer_does_not_overwrite_what_came_into_its_zero_tail() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let mut bytes = kill(log, &disk);
    bytes.resize(bytes.len() + 8192, 0);
    disk.put(&path(), &bytes);
    let (log, _) = reopen(&disk).unwrap();
    let end = log.end() as usize;
    disk.change(&path(), |bytes| bytes[end + 40] = 7);
    let error = log.append(&[event(2, b"two")], leaf(0), Durability::Sync).unwrap_err();
    assert!(matches!(error, LogError::ForeignWrite { .. }), "{error}");
}

#[test]
fn create_is_all_or_nothing_and_never_replaces_a_file() {
    let disk = Disk::new();
    disk.put(&path(), b"somebody's notes");
    let made = LogWriter::create(disk.fs(), &path(), NewLog::new(id(1), 0), LogOptions::default());
    assert!(matches!(made, Err(LogError::Exists { .. })));
    assert_eq!(disk.bytes(&path()), b"somebody's notes");

    let disk = Disk::new();
    disk.fail(Call::SyncDir, 0, Fault::Errno(EIO));
    assert!(LogWriter::create(disk.fs(), &path(), NewLog::new(id(1), 0), LogOptions::default()).is_err());
    assert!(names(&disk).is_empty(), "without a durable name there is no log");
    create(&disk).close().unwrap();
}

#[test]
fn what_is_too_large_or_makes_no_sense_is_refused_before_a_byte_is_written() {
    let disk = Disk::new();
    let log =
        LogWriter::create(disk.fs(), &path(), NewLog::new(id(1), 0).max_record(4096), LogOptions::default()).unwrap();
    let half = payload(1, 2100);
    let error = log.append(&[event(1, &half), event(2, &half)], leaf(1), Durability::Sync).unwrap_err();
    assert!(
        matches!(error, LogError::RecordTooLarge { len: 4200, max: 4096, .. }),
        "the limit holds for the sum: {error}"
    );
    let own = seslog::log::Record { frame_type: seslog::log::FrameType::Mark, ..event(1, b"") };
    assert!(matches!(log.append(&[own], leaf(0), Durability::Sync), Err(LogError::BadRecord { .. })));
    for byte in [0, 255] {
        let none = seslog::log::Record { frame_type: seslog::log::FrameType::Other(byte), ..event(1, b"") };
        assert!(matches!(log.append(&[none], leaf(0), Durability::Sync), Err(LogError::BadRecord { .. })), "{byte}");
    }
    let targets = vec![id(1); 300];
    let aimed = seslog::log::Record { index: seslog::log::IndexHint::Targets(&targets), ..event(1, b"") };
    let error = log.append(&[aimed], leaf(0), Durability::Sync).unwrap_err();
    assert!(matches!(error, LogError::RecordTooLarge { len: 4804, .. }), "the list counts: {error}");
    let dangling = seslog::log::Record { parent: seslog::log::Place::InBatch(1), ..event(1, b"") };
    assert!(matches!(log.append(&[dangling], leaf(0), Durability::Sync), Err(LogError::BadRecord { .. })));
    assert!(matches!(log.append(&[event(1, b"")], leaf(1), Durability::Sync), Err(LogError::BadRecord { .. })));
    assert_eq!(disk.bytes(&path()).len(), 4096);
    append(&log, 1, 4096, Durability::Sync);
}
