//! Appends that are held back in memory: seen at once by who holds the session, written in order, lost only from the end.

use std::time::Duration;

use seslog::event::{Message, Value};
use seslog::log::{Durability, LogError, LogOptions};
use seslog::session::{Compaction, Session, SessionOptions, SessionReader};
use seslog::sim::{Call, Fault, SimDisk};

use crate::counting_calls::allocations_of;
use crate::log_support::{append, create, event, id, ids, leaf, payload, read, reopen};
use crate::unhurried;

const EIO: i32 = 5;

#[test]
fn what_is_held_back_is_read_by_its_writer_and_by_nobody_else() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    let writes = disk.calls(Call::Write);
    let offsets: Vec<u64> = (2..6).map(|number| append(&log, number, 900, Durability::Buffered)).collect();
    assert_eq!(disk.calls(Call::Write), writes);
    assert_eq!(ids(&log), [1, 2, 3, 4, 5]);
    assert_eq!(log.find(id(4)).unwrap().unwrap().offset, offsets[2]);
    assert_eq!(log.frame(offsets[3]).unwrap().payload(), payload(5, 900));
    assert_eq!(log.last_record().unwrap().unwrap().id(), id(5));
    assert_eq!(ids(&read(&disk).unwrap().0), [1]);
    log.sync().unwrap();
    assert_eq!(disk.calls(Call::Write), writes + 1, "one write for all of them");
    assert_eq!(ids(&read(&disk).unwrap().0), [1, 2, 3, 4, 5]);
}

#[test]
fn a_kill_loses_what_is_held_back_and_nothing_else() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Buffered);
    append(&log, 2, 40, Durability::Buffered);
    append(&log, 3, 40, Durability::Os);
    append(&log, 4, 40, Durability::Buffered);
    disk.kill();
    drop(log);
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(ids(&log), [1, 2, 3], "what was appended in another way took those before it along");
}

#[test]
fn a_receipt_a_close_and_a_drop_write_what_is_held_back() {
    for end in 0..3 {
        let disk = SimDisk::new();
        let log = create(&disk);
        append(&log, 1, 40, Durability::Os);
        let bytes = payload(2, 40);
        let appended = log.append(&[event(2, &bytes)], leaf(0), Durability::Buffered).unwrap();
        assert!(!appended.receipt.is_durable());
        match end {
            0 => {
                appended.receipt.wait().unwrap();
                disk.kill();
            }
            1 => log.close().unwrap(),
            _ => drop(log),
        }
        assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
    }
}

#[test]
fn the_background_writes_what_is_held_back_after_fifty_milliseconds_and_syncs_it_within_a_second() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    let (writes, syncs) = (disk.calls(Call::Write), disk.calls(Call::Sync));
    append(&log, 2, 40, Durability::Buffered);
    disk.advance(Duration::from_millis(51));
    disk.wait_for(Call::Write, writes + 1);
    assert_eq!(ids(&read(&disk).unwrap().0), [1, 2]);
    disk.advance(Duration::from_millis(1_001));
    disk.wait_for(Call::Sync, syncs + 1);
}

#[test]
fn so_much_is_held_back_and_no_more() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    let writes = disk.calls(Call::Write);
    for number in 2..1_000 {
        append(&log, number, 4_000, Durability::Buffered);
        let held = log.end() - disk.bytes(&crate::log_support::path()).len() as u64;
        assert!(held <= 1 << 20, "{held} bytes are held back");
    }
    let (count, written) = (disk.calls(Call::Write) - writes, 998 * 4_072);
    assert!(count <= written / (256 << 10), "{count} writes for {written} bytes");
}

#[test]
fn the_background_writes_without_delay_what_is_enough_for_a_write() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    let writes = disk.calls(Call::Write);
    for number in 2..67 {
        append(&log, number, 4_000, Durability::Buffered);
    }
    disk.wait_for(Call::Write, writes + 1);
    assert!(ids(&read(&disk).unwrap().0).len() > 64, "no time has gone by");
}

#[test]
fn a_write_of_what_was_held_back_that_fails_latches_and_acknowledges_nothing() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let bytes = payload(2, 40);
    let receipt = log.append(&[event(2, &bytes)], leaf(0), Durability::Buffered).unwrap().receipt;
    disk.fail(Call::Write, 0, Fault::Errno(EIO));
    assert!(matches!(log.sync(), Err(LogError::Io { .. })));
    assert!(matches!(receipt.wait(), Err(LogError::Poisoned { .. })));
    for durability in [Durability::Buffered, Durability::Os, Durability::Sync] {
        let error = log.append(&[event(3, &bytes)], leaf(0), durability).unwrap_err();
        assert!(matches!(error, LogError::Poisoned { .. }), "{error}");
    }
    drop(log);
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1]);
}

#[test]
fn a_forked_child_writes_nothing_of_what_its_parent_holds_back() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let bytes = payload(2, 40);
    let receipt = log.append(&[event(2, &bytes)], leaf(0), Durability::Buffered).unwrap().receipt;
    let writes = disk.calls(Call::Write);
    disk.fork();
    assert!(matches!(receipt.wait(), Err(LogError::ForkedProcess { .. })));
    drop(log);
    assert_eq!(disk.calls(Call::Write), writes);
}

#[test]
fn an_index_and_a_change_find_records_that_are_held_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.seslog");
    let options = SessionOptions { log: LogOptions::default().index_records(16), ..SessionOptions::default() };
    let session = Session::create(&path, options.clone()).unwrap();
    let mut known = Vec::new();
    for n in 0..100 {
        known.push(session.append(Message::user(format!("message {n}")), Durability::Buffered).unwrap().id);
        let last = known[known.len() - 1];
        assert!(session.event(last).unwrap().is_some());
        assert!(session.contains(known[n / 2]).unwrap());
    }
    let patch = vec![("model".to_owned(), Value::Text("m".to_owned()))];
    let _ = session.amend(known[99], patch, Durability::Buffered).unwrap();
    let _ = session.tombstone(&known[98..99], None, Durability::Buffered).unwrap();
    let _ = session.compact(Compaction::new("so far").keep_from(known[97]), Durability::Buffered).unwrap();
    let _ = session.rewind(Some(known[3]), Durability::Buffered).unwrap();
    let _ = session.append(Message::user("another branch"), Durability::Buffered).unwrap();
    let state = session.state().unwrap();
    session.close().unwrap();
    let reader = SessionReader::open(&path, options.fs.clone()).unwrap();
    assert_eq!(Session::open(&path, options).unwrap().state().unwrap(), state);
    drop(reader);
}

#[test]
fn a_buffered_append_allocates_no_more_than_another() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::create(&dir.path().join("a.seslog"), unhurried()).unwrap();
    for _ in 0..1_100 {
        drop(session.append(Message::user("before"), Durability::Buffered).unwrap());
    }
    for n in 0..40 {
        let message = Message::user(format!("message {n}"));
        let (count, appended) = allocations_of(|| session.append(message, Durability::Buffered).unwrap());
        assert!(count == 2, "{count} allocations of append {n}");
        drop(appended);
    }
}

/// A file as another process finds it.
fn events_in_file(path: &std::path::Path) -> usize {
    SessionReader::open(path, SessionOptions::default().fs).unwrap().state().entries().len()
}

#[test]
fn what_is_appended_again_is_kept_as_well_as_the_second_call_asks_for() {
    let dir = tempfile::tempdir().unwrap();
    for (index, durability) in [Durability::Os, Durability::Group, Durability::Sync].into_iter().enumerate() {
        let path = dir.path().join(format!("{index}.seslog"));
        let session = Session::create(&path, unhurried()).unwrap();
        drop(session.append(Message::user("first"), Durability::Os).unwrap());
        let id = session.append(Message::user("held"), Durability::Buffered).unwrap().id;
        let again = seslog::session::NewEvent::from(Message::user("held")).with_id(id);
        assert!(session.append(again, durability).unwrap().known);
        assert_eq!(events_in_file(&path), 2, "{durability:?}");
        let event = session.append(Message::user("held too"), Durability::Buffered).unwrap().id;
        let event = session.event(event).unwrap().unwrap();
        assert_eq!(session.record(&[event], durability).unwrap().known, 1);
        assert_eq!(events_in_file(&path), 3, "{durability:?}");
    }
}

#[test]
fn a_write_that_failed_is_not_tried_again_and_what_it_held_back_is_told() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    append(&log, 2, 40, Durability::Buffered);
    disk.fail(Call::Write, 0, Fault::Errno(EIO));
    let writes = disk.calls(Call::Write);
    assert!(matches!(log.sync(), Err(LogError::Io { .. })));
    for _ in 0..3 {
        assert!(matches!(log.sync(), Err(LogError::Poisoned { .. })));
    }
    assert_eq!(disk.calls(Call::Write), writes + 1);
}

#[test]
fn a_batch_that_is_left_over_from_a_failed_append_is_refused() {
    let disk = SimDisk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Os);
    let mut batch = seslog::log::Batch::new();
    let bytes = payload(2, 40);
    batch.push(&event(2, &bytes));
    disk.fail(Call::Write, 0, Fault::Errno(EIO));
    assert!(log.append_batch(&mut batch, leaf(0), Durability::Os).is_err());
    let other = create(&SimDisk::new());
    append(&other, 1, 40, Durability::Os);
    assert!(matches!(other.append_batch(&mut batch, leaf(0), Durability::Os), Err(LogError::BadRecord { .. })));
    batch.clear();
    batch.push(&event(2, &bytes));
    drop(other.append_batch(&mut batch, leaf(0), Durability::Sync).unwrap());
}
