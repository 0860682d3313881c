//! Disks that are full, and files that can't be cut.

use seslog::log::{Durability, LogError, Verdict};

use super::log_support::*;
use super::{LEN, size, unhurried, zeroed};

const ENOSPC: i32 = 28;
const EIO: i32 = 5;

/// The number of the append that writes the first zeros.
fn first_with_zeros() -> u128 {
    zeroed(&Disk::new()).1
}

#[test]
fn a_disk_that_has_room_for_the_frame_and_not_for_all_zeros_behind_it_fails_no_append() {
    let zeroing = first_with_zeros();
    for there in [0, 1, 511, 4_096, 20_000] {
        let disk = Disk::new();
        let log = create_with(&disk, unhurried());
        for number in 1..zeroing {
            append(&log, number, LEN, Durability::Sync);
        }
        // The frame, then the zeros.
        if there > 0 {
            disk.fail(Call::Write, 1, Fault::Short(there));
        }
        disk.fail(Call::Write, 1 + u64::from(there > 0), Fault::Errno(ENOSPC));
        for number in zeroing..zeroing + 100 {
            append(&log, number, LEN, Durability::Sync);
        }
        let end = log.end();
        assert_eq!(size(&disk), end, "no more zeros are tried");
        let all: Vec<u128> = (1..zeroing + 100).collect();
        let (reader, report) = read(&disk_with(&kill(log, &disk))).unwrap();
        assert_eq!((ids(&reader), report.verdict, report.set_aside.len()), (all, Verdict::Clean, 0));
    }
}

#[test]
fn a_full_disk_in_the_middle_of_a_frame_in_front_of_zeros_keeps_what_was_acknowledged() {
    for there in [0, 1, 63, 64, 600] {
        let disk = Disk::new();
        let (log, count) = zeroed(&disk);
        if there > 0 {
            disk.fail(Call::Write, 0, Fault::Short(there));
        }
        disk.fail(Call::Write, u64::from(there > 0), Fault::Errno(ENOSPC));
        let failed = log.append(&[event(count + 1, &payload(count + 1, LEN))], leaf(0), Durability::Sync);
        assert!(matches!(failed, Err(LogError::Full { .. })), "{failed:?}");
        let before = size(&disk);
        assert!(log.close().is_err());
        assert_eq!(size(&disk), before, "who has failed cuts nothing");
        let (log, report) = reopen(&disk).unwrap();
        assert_eq!(report.set_aside.len(), usize::from(there > 0), "{report:?}");
        append(&log, count + 2, LEN, Durability::Sync);
        log.close().unwrap();
        let (reader, report) = read(&disk).unwrap();
        assert_eq!(ids(&reader), (1..=count).chain([count + 2]).collect::<Vec<_>>());
        assert_eq!((report.zero_bytes, report.clean_close), (0, true));
    }
}

#[test]
fn a_file_that_can_not_be_cut_is_closed_all_the_same_and_its_zeros_do_no_harm() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let before = size(&disk);
    disk.fail(Call::SetLen, 0, Fault::Errno(EIO));
    log.close().unwrap();
    assert_eq!(size(&disk), before);
    let (log, report) = reopen(&disk).unwrap();
    assert_eq!((report.verdict, report.clean_close), (Verdict::Clean, true));
    append(&log, count + 1, LEN, Durability::Sync);
    log.close().unwrap();
    let (reader, report) = read(&disk).unwrap();
    assert_eq!((ids(&reader).len() as u128, report.zero_bytes), (count + 1, 0));
}

#[test]
fn a_sync_of_frame_and_zeros_that_fails_is_no_acknowledgement() {
    for fault in [Fault::Errno(EIO), Fault::Dropped(EIO)] {
        let zeroing = first_with_zeros();
        let disk = Disk::new();
        let log = create_with(&disk, unhurried());
        for number in 1..zeroing {
            append(&log, number, LEN, Durability::Sync);
        }
        disk.fail(Call::Sync, 0, fault);
        assert!(log.append(&[event(zeroing, &payload(zeroing, LEN))], leaf(0), Durability::Sync).is_err());
        assert!(log.close().is_err());
        let (log, report) = reopen(&disk).unwrap();
        assert!(report.damage.is_empty(), "{report:?}");
        append(&log, zeroing + 1, LEN, Durability::Sync);
        let found = ids(&log);
        assert!(found.starts_with(&(1..zeroing).collect::<Vec<_>>()) && found.ends_with(&[zeroing + 1]), "{found:?}");
    }
}
