//! What it costs: bytes, writes, flushes, reads.

use seslog::log::Durability;
use seslog::sim::Call;

use super::log_support::*;
use super::{FIRST, LEN, MOST, size, unhurried, zeroed};

#[test]
fn a_small_session_has_no_byte_more_on_the_disk_than_its_frames() {
    for durability in [Durability::Sync, Durability::Group] {
        let disk = Disk::new();
        let log = create_with(&disk, unhurried());
        for number in 1..(FIRST / (LEN as u64 + 80)).into() {
            drop(log.append(&[event(number, &payload(number, LEN))], leaf(0), durability).unwrap().receipt.wait());
            assert_eq!(size(&disk), log.end(), "{durability:?}, after record {number}");
        }
        log.close().unwrap();
        assert_eq!(disk.calls(Call::SetLen), 0, "there was nothing to cut");
    }
}

#[test]
fn an_append_stays_one_write_and_one_flush_and_seldom_changes_the_files_size() {
    let disk = Disk::new();
    let log = create_with(&disk, unhurried());
    let (mut grown, mut in_zeros) = (0, 0);
    for number in 1..=600 {
        let (before, size_before) = (log.io(), size(&disk));
        append(&log, number, 4_500, Durability::Sync);
        let after = log.io();
        assert_eq!(after.syncs - before.syncs, 1, "flushes of append {number}");
        if size(&disk) == size_before {
            assert_eq!(after.writes - before.writes, 1, "writes of append {number}");
            in_zeros += 1;
        } else {
            grown += 1;
        }
    }
    assert!(grown <= 8 + 3 + 600 * 4_600 / MOST as usize, "{grown} appends changed the size, {in_zeros} did not");
}

#[test]
fn what_is_written_is_never_more_than_three_times_what_was_appended_and_soon_twice() {
    let disk = Disk::new();
    let log = create_with(&disk, unhurried());
    let begun = log.io().bytes_written;
    for number in 1..=600 {
        append(&log, number, (number as usize * 977) % 9_000, Durability::Sync);
        let (appended, written) = (log.end() - 4_096, log.io().bytes_written - begun);
        assert!(written <= 2 * appended + appended.min(MOST), "{written} bytes written for {appended}");
        assert!(size(&disk) - log.end() <= MOST, "zeros ahead");
    }
}

#[test]
fn appends_that_wait_for_no_sync_write_no_zeros_and_take_those_that_are_there() {
    for durability in [Durability::Os, Durability::Buffered] {
        let disk = Disk::new();
        let (log, count) = zeroed(&disk);
        let zeros_to = size(&disk);
        for number in count + 1..count + 200 {
            append(&log, number, LEN, durability);
            assert!(size(&disk) == zeros_to || size(&disk) <= log.end());
        }
        log.sync().unwrap();
        assert_eq!(size(&disk), log.end());
        log.close().unwrap();
        assert_eq!(ids(&read(&disk).unwrap().0), (1..count + 200).collect::<Vec<_>>());
    }
}

#[test]
fn an_append_into_zeros_reads_what_it_overwrites_and_no_more() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    for (number, len) in (count + 1..).zip([LEN, 3_000, 10_000]) {
        let (before, end) = (log.io(), log.end());
        append(&log, number, len, Durability::Sync);
        assert_eq!(log.io().bytes_read - before.bytes_read, log.end() - end, "of {len} bytes");
    }
}

#[test]
fn a_frame_larger_than_the_zeros_before_it_is_whole_and_followed_by_new_ones() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    append(&log, count + 1, 3 << 20, Durability::Sync);
    assert!(size(&disk) > log.end() && size(&disk) - log.end() <= MOST);
    append(&log, count + 2, LEN, Durability::Sync);
    log.close().unwrap();
    assert_eq!(ids(&read(&disk).unwrap().0), (1..=count + 2).collect::<Vec<_>>());
}
