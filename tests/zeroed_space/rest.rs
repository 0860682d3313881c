//! A log at rest: closed, idle, killed; and a stranger in its zeros.

use std::time::Duration;

use seslog::log::{Durability, FrameType, LogError, LogOptions, LogWriter, Verdict, survey};
use seslog::sim::Call;

use super::log_support::*;
use super::{FIRST, LEN, MOST, size, zeroed};

#[test]
fn a_closed_file_ends_at_its_last_frame_with_no_flush_more_than_before() {
    let disk = Disk::new();
    let (log, _) = zeroed(&disk);
    let (syncs, end) = (disk.calls(Call::Sync), log.end());
    log.close().unwrap();
    assert_eq!(disk.calls(Call::Sync) - syncs, 1, "the MARK and the cut share a flush");
    assert_eq!(size(&disk), end + 112, "a MARK and nothing behind it");
    assert_eq!(disk.durable(&path()).len() as u64, size(&disk));
    let (reader, report) = read(&disk).unwrap();
    assert_eq!((report.verdict, report.clean_close, report.zero_bytes), (Verdict::Clean, true, 0));
    assert_eq!(reader.tip().unwrap().unwrap().frame_type(), FrameType::Mark);
}

#[test]
fn an_idle_file_ends_at_its_mark_and_the_next_burst_begins_without_zeros() {
    let disk = Disk::new();
    let log = create(&disk);
    let mut number = 0;
    while size(&disk) <= log.end() {
        number += 1;
        append(&log, number, LEN, Durability::Sync);
    }
    let syncs = disk.calls(Call::Sync);
    disk.advance(Duration::from_millis(1_001));
    disk.wait_for(Call::Sync, syncs + 1);
    log.sync().unwrap();
    assert_eq!(size(&disk), log.end());
    assert_eq!(log.tip().unwrap().unwrap().frame_type(), FrameType::Mark);
    for _ in 0..FIRST / (LEN as u64 + 80) - 1 {
        number += 1;
        append(&log, number, LEN, Durability::Sync);
        assert_eq!(size(&disk), log.end(), "record {number}");
    }
}

#[test]
fn a_log_that_is_killed_with_zeros_ahead_has_lost_nothing_and_says_so() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let end = log.end();
    let bytes = kill(log, &disk);
    let all: Vec<u128> = (1..=count).collect();
    let (reader, report) = read(&disk).unwrap();
    assert_eq!((report.verdict, report.end), (Verdict::Clean, end));
    assert_eq!(report.zero_bytes, bytes.len() as u64 - end);
    assert!(report.set_aside.is_empty() && report.damage.is_empty(), "{report:?}");
    assert!(report.bytes_read <= 2 * report.zero_bytes + (64 << 10), "{report:?}");
    assert_eq!(ids(&reader), all);
    let looked = survey(disk.fs(), &path()).unwrap();
    assert_eq!((looked.verdict, looked.zero_bytes), (Verdict::Clean, report.zero_bytes));
    let (log, again) = reopen(&disk).unwrap();
    assert_eq!((again.verdict, again.set_aside.len()), (Verdict::Clean, 0));
    assert_eq!(size(&disk), bytes.len() as u64, "the OPEN of the recovery takes the place of zeros");
    append(&log, count + 1, LEN, Durability::Os);
    log.close().unwrap();
    let (reader, report) = read(&disk).unwrap();
    assert_eq!((report.zero_bytes, report.clean_close), (0, true));
    assert_eq!(ids(&reader), (1..=count + 1).collect::<Vec<_>>());
}

#[test]
fn zeros_behind_a_mark_are_left_alone_by_who_writes_nothing_and_cut_by_who_does() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    log.close().unwrap();
    disk.change(&path(), |file| file.resize(file.len() + MOST as usize, 0));
    let before = disk.bytes(&path());
    reopen(&disk).unwrap().0.close().unwrap();
    assert!(disk.bytes(&path()) == before);
    let (log, report) = reopen(&disk).unwrap();
    assert_eq!((report.verdict, report.zero_bytes), (Verdict::Clean, MOST));
    append(&log, count + 1, LEN, Durability::Sync);
    assert_eq!(size(&disk), before.len() as u64);
    let end = log.end();
    log.close().unwrap();
    assert_eq!(size(&disk), end + 112);
}

#[test]
fn a_strangers_byte_anywhere_in_the_zeros_is_never_cut_off() {
    let disk = Disk::new();
    let (log, _) = zeroed(&disk);
    let last = size(&disk) as usize - 1;
    disk.change(&path(), |file| file[last] = 1);
    let before = disk.bytes(&path());
    let closed = log.close();
    assert!(matches!(closed, Err(LogError::ForeignWrite { .. })), "{closed:?}");
    assert!(disk.bytes(&path()) == before, "not a byte was changed");
}

#[test]
fn a_stranger_who_cuts_the_zeros_or_adds_to_them_is_noticed_before_a_byte_is_written() {
    for more in [false, true] {
        let disk = Disk::new();
        let (log, count) = zeroed(&disk);
        disk.change(&path(), |file| {
            let len = file.len();
            file.resize(if more { len + 8 } else { len - 8 }, 0);
        });
        let before = disk.bytes(&path());
        let refused = log.append(&[event(count + 1, b"more")], leaf(0), Durability::Sync);
        assert!(matches!(refused, Err(LogError::ForeignWrite { .. })), "{refused:?}");
        assert!(disk.bytes(&path()) == before, "not a byte was changed");
    }
}

#[test]
fn a_log_of_many_small_bursts_is_opened_with_few_bytes_read_after_each() {
    let disk = Disk::new();
    let mut next = 1;
    for _ in 0..3 {
        let log = match LogWriter::open(disk.fs(), &path(), LogOptions::default()) {
            Ok((log, _)) => log,
            Err(_) => create(&disk),
        };
        for _ in 0..60 {
            append(&log, next, LEN, Durability::Sync);
            next += 1;
        }
        log.close().unwrap();
        let (_, report) = read(&disk).unwrap();
        assert!(report.bytes_read < 32 << 10, "{report:?}");
    }
}
