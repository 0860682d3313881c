//! A lock that holds nobody off, as on some network file systems: two writers at one log.

use std::sync::Arc;

use seslog::log::{Durability, Fs, LogError, LogOptions, LogReader, LogWriter, Verdict};

use crate::log_support::*;
use crate::odd_disk::{Act, Odd, OddCall};

/// A disk whose locks are given to everybody.
fn lockless(disk: &Disk) -> Arc<dyn Fs> {
    Odd::over(disk.fs(), |call| if call == OddCall::Lock { Act::Grant } else { Act::Go })
}

fn open(fs: &Arc<dyn Fs>) -> LogWriter {
    LogWriter::open(fs.clone(), &path(), LogOptions::default()).unwrap().0
}

#[test]
fn a_writer_that_another_one_has_passed_stops_before_it_overwrites_a_byte() {
    for clean in [true, false] {
        let disk = Disk::new();
        let log = create(&disk);
        append(&log, 1, 50, Durability::Sync);
        let disk = if clean {
            log.close().unwrap();
            disk
        } else {
            disk_with(&kill(log, &disk))
        };
        let fs = lockless(&disk);
        let (first, second) = (open(&fs), open(&fs));
        append(&second, 2, 50, Durability::Sync);
        let before = disk.bytes(&path());
        let stopped = first.append(&[event(3, b"late")], leaf(0), Durability::Sync);
        assert!(matches!(stopped, Err(LogError::ForeignWrite { .. })), "{stopped:?}");
        let again = first.append(&[event(3, b"late")], leaf(0), Durability::Os);
        assert!(matches!(again, Err(LogError::Poisoned { .. })), "{again:?}");
        assert!(first.close().is_err());
        assert!(disk.bytes(&path()) == before, "not a byte was changed");
        append(&second, 4, 50, Durability::Sync);
        second.close().unwrap();
        let (reader, report) = read(&disk).unwrap();
        assert_eq!((ids(&reader), report.verdict), (vec![1, 2, 4], Verdict::Clean));
    }
}

/// The second one begins where the first one's data ends, in its zeros: the file's size tells of nothing.
#[test]
fn a_writer_that_was_passed_in_the_zeros_ahead_of_it_overwrites_nothing_and_cuts_nothing_off() {
    for closes in [false, true] {
        let disk = Disk::new();
        let fs = lockless(&disk);
        let first = create(&disk);
        for number in 1..=10 {
            append(&first, number, 5_000, Durability::Sync);
        }
        let size = disk.bytes(&path()).len();
        assert!(size as u64 > first.end(), "there are zeros");
        let second = open(&fs);
        append(&second, 11, 50, Durability::Sync);
        let before = disk.bytes(&path());
        assert_eq!(before.len(), size);
        let stopped = match closes {
            false => first.append(&[event(12, b"late")], leaf(0), Durability::Sync).map(drop),
            true => first.close(),
        };
        assert!(matches!(stopped, Err(LogError::ForeignWrite { .. })), "{stopped:?}");
        assert!(disk.bytes(&path()) == before, "not a byte was changed");
        append(&second, 13, 50, Durability::Sync);
        second.close().unwrap();
        let (reader, report) = read(&disk).unwrap();
        assert_eq!((ids(&reader), report.verdict), ((1..=11).chain([13]).collect(), Verdict::Clean));
    }
}

#[test]
fn an_idle_writer_writes_no_mark_behind_another_one_and_says_so_at_its_close() {
    let disk = Disk::new();
    let fs = lockless(&disk);
    let first = create(&disk);
    append(&first, 1, 50, Durability::Sync);
    let second = open(&fs);
    append(&second, 2, 50, Durability::Sync);
    let before = disk.bytes(&path());
    let closed = first.close();
    assert!(matches!(closed, Err(LogError::ForeignWrite { .. })), "{closed:?}");
    assert!(disk.bytes(&path()) == before);
    append(&second, 3, 50, Durability::Sync);
    second.close().unwrap();
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2, 3]);
}

/// Writers come, append and go in any order; whoever is passed is refused. What was acknowledged is there at the end.
#[test]
fn whatever_writers_do_without_a_lock_nothing_acknowledged_is_lost_and_nothing_looks_damaged() {
    let seed: u64 = std::env::var("SESLOG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0x5E55_1060);
    println!("SESLOG_SEED={seed}");
    for case in 0..300_u64 {
        let mut random = seed.wrapping_add(case.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1;
        let mut below = |end: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % end
        };
        let disk = Disk::new();
        let fs = lockless(&disk);
        let mut writers = vec![create(&disk)];
        let (mut acknowledged, mut refused) = (Vec::new(), 0);
        for number in 1..=40_u128 {
            match below(8) {
                0 if writers.len() < 4 => writers.push(open(&fs)),
                1 if writers.len() > 1 => {
                    let writer = writers.remove(below(writers.len() as u64) as usize);
                    let _ = writer.close();
                }
                _ => {
                    let writer = &writers[below(writers.len() as u64) as usize];
                    let durability = [Durability::Sync, Durability::Group, Durability::Os][below(3) as usize];
                    // Large ones too, so that some have zeros ahead of them.
                    let payload = payload(number, [10, 9_000][below(2) as usize]);
                    let appended = writer.append(&[event(number, &payload)], leaf(0), durability);
                    match appended.and_then(|appended| appended.receipt.wait()) {
                        Ok(()) => acknowledged.push(number),
                        Err(LogError::ForeignWrite { .. } | LogError::Poisoned { .. }) => refused += 1,
                        Err(error) => panic!("case {case}: {error}"),
                    }
                }
            }
            if writers.is_empty() || (refused > 0 && below(4) == 0) {
                writers.push(open(&fs));
            }
        }
        drop(writers);
        let (reader, report) = LogReader::open(disk.fs(), &path()).unwrap();
        assert_ne!(report.verdict, Verdict::Damaged, "case {case}: {report:?}");
        assert_eq!(ids(&reader), acknowledged, "case {case}");
    }
}
