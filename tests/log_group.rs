//! When appends are durable: shared syncs, receipts, the background's bounds, the MARK of an idle log.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use std::time::Duration;

use log_support::*;
use seslog::log::{Durability, FrameType, LogError, LogOptions, LogReader, LogWriter, Receipt};

#[test]
fn a_group_append_resolves_as_a_future_without_any_runtime() {
    let disk = Disk::new();
    let log = create(&disk);
    for number in 1..=20 {
        let appended = log.append(&[event(number, b"x")], leaf(0), Durability::Group).unwrap();
        block_on(appended.receipt).unwrap();
        assert!(log.durable_end() >= log.end());
        assert!(disk.durable(&path()).len() as u64 >= log.end());
    }
}

#[test]
fn one_sync_serves_many_receipts() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    let before = log.io().syncs;
    let receipts: Vec<Receipt> =
        (2..=50).map(|number| log.append(&[event(number, b"x")], leaf(0), Durability::Os).unwrap().receipt).collect();
    assert!(receipts.iter().all(|receipt| !receipt.is_durable()));
    for receipt in receipts {
        receipt.wait().unwrap();
    }
    assert_eq!(log.io().syncs - before, 1);
}

#[test]
fn appends_from_many_threads_are_all_durable_when_they_say_so_and_keep_one_order() {
    let disk = Disk::new();
    let log = create(&disk);
    std::thread::scope(|scope| {
        for thread in 0..4_u128 {
            let (log, disk) = (&log, &disk);
            scope.spawn(move || {
                for number in 0..50 {
                    let durability = [Durability::Sync, Durability::Group][number as usize % 2];
                    let appended = log.append(&[event(thread * 1000 + number + 1, b"x")], leaf(0), durability).unwrap();
                    appended.receipt.wait().unwrap();
                    let durable = disk.durable(&path());
                    assert!(durable.len() as u64 > appended.offsets[0]);
                    assert_eq!(durable[appended.offsets[0] as usize], 0xC1);
                }
            });
        }
    });
    let found = ids(&log);
    assert_eq!(found.len(), 200);
    for thread in 0..4 {
        let own: Vec<u128> = found.iter().copied().filter(|number| number / 1000 == thread).collect();
        assert!(own.is_sorted(), "each thread's appends are in its order");
    }
    log.close().unwrap();
    assert_eq!(ids(&reopen(&disk).unwrap().0), found);
}

#[test]
fn a_failed_group_sync_reaches_everybody_who_waits_and_nobody_hangs() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    disk.fail(Call::Sync, 0, Fault::Errno(5));
    let receipts: Vec<Receipt> = (2..=10)
        .map_while(|number| log.append(&[event(number, b"x")], leaf(0), Durability::Group).ok())
        .map(|appended| appended.receipt)
        .collect();
    assert!(!receipts.is_empty());
    for (index, receipt) in receipts.into_iter().enumerate() {
        let outcome = if index % 2 == 0 { block_on(receipt) } else { receipt.wait() };
        assert!(outcome.is_err(), "receipt {index} is a false acknowledgement");
    }
}

#[test]
fn the_background_syncs_what_has_waited_for_a_second() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    let syncs = disk.calls(Call::Sync);
    let receipt = log.append(&[event(2, b"x")], leaf(0), Durability::Os).unwrap().receipt;
    assert!(!receipt.is_durable());
    disk.advance(Duration::from_millis(999));
    assert_eq!(disk.calls(Call::Sync), syncs);
    disk.advance(Duration::from_millis(1));
    disk.wait_for(Call::Sync, syncs + 1);
    block_on(receipt).unwrap();
}

#[test]
fn the_window_is_bounded_in_bytes_and_an_append_that_would_double_it_waits() {
    let disk = Disk::new();
    let log = create_with(&disk, LogOptions::default().window_bytes(64 << 10));
    for number in 1..=300 {
        append(&log, number, 2000, Durability::Os);
        assert!(log.end() - log.durable_end() <= 128 << 10);
    }
    assert!(log.header(log.tip().unwrap().unwrap().offset()).unwrap().unsynced <= (128 << 10) / 8);
}

#[test]
fn an_idle_log_gets_its_mark_and_the_next_append_goes_on_behind_it() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    let (writes, syncs) = (disk.calls(Call::Write), disk.calls(Call::Sync));
    disk.advance(Duration::from_secs(1));
    disk.wait_for(Call::Write, writes + 1);
    disk.wait_for(Call::Sync, syncs + 1);
    let (reader, report) = LogReader::open(disk.fs(), &path()).unwrap();
    assert!(report.clean_close, "the log looks as after a close");
    assert_eq!(reader.tip().unwrap().unwrap().frame_type(), FrameType::Mark);
    append(&log, 2, 10, Durability::Sync);
    assert_eq!(ids(&log), [1, 2]);
    let bytes = kill(log, &disk);
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2]);
}

#[test]
fn a_log_that_was_recovered_and_stays_idle_gets_its_mark() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    let disk = disk_with(&kill(log, &disk));
    let (log, report) = reopen(&disk).unwrap();
    assert!(!report.clean_close);
    let (writes, syncs) = (disk.calls(Call::Write), disk.calls(Call::Sync));
    disk.advance(Duration::from_secs(1));
    disk.wait_for(Call::Write, writes + 1);
    disk.wait_for(Call::Sync, syncs + 1);
    assert!(read(&disk).unwrap().1.clean_close);
    drop(log);
}

#[test]
fn an_idle_log_is_marked_once_and_its_thread_ends() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    let writes = disk.calls(Call::Write);
    disk.advance(Duration::from_secs(1));
    disk.wait_for(Call::Write, writes + 1);
    for _ in 0..5 {
        disk.advance(Duration::from_secs(60));
    }
    log.close().unwrap();
    assert_eq!(disk.calls(Call::Write), writes + 2, "one MARK, and the watermark at the close");
}

#[test]
fn a_dropped_writer_closes_its_log() {
    let disk = Disk::new();
    let log = create(&disk);
    let receipt = log.append(&[event(1, b"x")], leaf(0), Durability::Os).unwrap().receipt;
    drop(log);
    assert!(receipt.is_durable());
    let (_, report) = reopen(&disk).unwrap();
    assert!(report.clean_close);
}

#[test]
fn writer_reader_and_receipt_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<LogWriter>();
    shared::<LogReader>();
    shared::<Receipt>();
    shared::<LogError>();
}
