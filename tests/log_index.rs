//! Ids, changes and results are found at any size with few reads, and a bad INDEX costs time only.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{
    Durability, Frame, FrameType, IndexHint, LogOptions, LogView, LogWriter, NewLog, Note, Place, Record, Verdict,
    WatermarkState,
};

/// A log with so many records; every tenth is a change of the one before it, every 25th a result of the one 20 before.
fn filled(disk: &Disk, count: u128, options: LogOptions) -> (LogWriter, Vec<u64>) {
    let log = create_with(disk, options);
    let mut offsets = Vec::new();
    for number in 1..=count {
        let targets = [id(number - 1), id(number / 2)];
        let mut record = event(number, b"some payload");
        if number % 10 == 0 {
            record = Record { frame_type: FrameType::Change, index: IndexHint::Targets(&targets), ..record };
        } else if number % 25 == 0 {
            record.index = IndexHint::ResultOf(id(number - 20));
        }
        offsets.push(log.append(&[record], leaf(0), Durability::Os).unwrap().offsets[0]);
    }
    (log, offsets)
}

/// What `filled` has aimed at a record.
fn expected_targets(number: u128, count: u128, offsets: &[u64]) -> Vec<u64> {
    let aims = |from: u128| {
        if from.is_multiple_of(10) {
            number == from - 1 || number == from / 2
        } else {
            from.is_multiple_of(25) && number == from - 20
        }
    };
    (1..=count).filter(|from| aims(*from)).map(|from| offsets[from as usize - 1]).collect()
}

fn indexes(log: &LogView) -> Vec<Frame> {
    log.frames(0).map(Result::unwrap).filter(|frame| frame.frame_type() == FrameType::Index).collect()
}

fn check_all(log: &LogView, count: u128, offsets: &[u64], step: usize) {
    for number in (1..=count).step_by(step) {
        let found = log.find(id(number)).unwrap().unwrap_or_else(|| panic!("record {number} is not found"));
        assert_eq!(found.offset, offsets[number as usize - 1]);
        assert_eq!(log.targets_of(id(number)).unwrap(), expected_targets(number, count, offsets), "of {number}");
    }
    for stranger in [0, count + 1, u128::MAX, count << 64] {
        assert_eq!(log.find(id(stranger)).unwrap(), None);
        assert_eq!(log.targets_of(id(stranger)).unwrap(), [0_u64; 0]);
    }
}

#[test]
fn every_id_and_every_target_among_5000_records_is_found_with_few_reads() {
    let disk = Disk::new();
    let (log, offsets) = filled(&disk, 5000, LogOptions::default());
    assert_eq!(indexes(&log).len(), 4);
    check_all(&log, 5000, &offsets, 1);
    log.close().unwrap();

    let (log, report) = reopen(&disk).unwrap();
    assert!(report.clean_close);
    assert!(report.bytes_read < 32 << 10);
    log.find(id(5000)).unwrap(); // what lies behind the last INDEX is read once
    assert!(log.io().bytes_read < 1 << 20, "{:?}", log.io());
    for number in [1, 777, 2048, 4095, 6000] {
        let before = log.io();
        log.find(id(number)).unwrap();
        let after = log.io();
        assert!(after.reads - before.reads <= 40, "{} reads", after.reads - before.reads);
        assert!(after.bytes_read - before.bytes_read <= 64 << 10);
    }
    check_all(&log, 5000, &offsets, 7);
    check_all(&read(&disk).unwrap().0, 5000, &offsets, 13);
}

#[test]
fn sixteen_of_a_level_become_one_of_the_next_and_nothing_is_lost_on_the_way() {
    let disk = Disk::new();
    let (log, offsets) = filled(&disk, 5000, LogOptions::default().index_records(16));
    let levels: Vec<u8> = indexes(&log).iter().map(|frame| frame.payload()[40]).collect();
    assert_eq!(levels.len(), 312);
    assert_eq!(levels.iter().filter(|level| **level == 2).count(), 1);
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 312 / 16 - 1);
    assert!(levels.chunks_exact(16).all(|chunk| chunk[..15].iter().all(|level| *level == 0) && chunk[15] > 0));
    check_all(&log, 5000, &offsets, 11);
    log.close().unwrap();
    let (log, _) = reopen(&disk).unwrap();
    check_all(&log, 5000, &offsets, 11);
    let before = log.io().reads;
    log.find(id(9999)).unwrap();
    assert!(log.io().reads - before <= 2 * (1 + 15 + 15), "{} reads", log.io().reads - before);
}

#[test]
fn an_index_of_a_log_with_a_small_record_limit_takes_what_fits() {
    let disk = Disk::new();
    let new = NewLog::new(id(1), 0).max_record(4096);
    let log = LogWriter::create(disk.fs(), &path(), new, LogOptions::default().index_records(500)).unwrap();
    let offsets: Vec<u64> = (1..=2000).map(|number| append(&log, number, 20, Durability::Os)).collect();
    assert!(indexes(&log).len() >= 3);
    for number in 1..=2000 {
        assert_eq!(log.find(id(number)).unwrap().unwrap().offset, offsets[number as usize - 1]);
    }
    log.close().unwrap();
    let (log, _) = reopen(&disk).unwrap();
    for number in (1..=2000).rev().step_by(3) {
        assert_eq!(log.find(id(number)).unwrap().unwrap().offset, offsets[number as usize - 1]);
    }
}

#[test]
fn a_damaged_index_costs_time_only() {
    let disk = Disk::new();
    let (log, offsets) = filled(&disk, 700, LogOptions::default().index_records(100));
    let frames = indexes(&log);
    log.close().unwrap();
    let good = disk.bytes(&path());
    for frame in [&frames[0], &frames[2], &frames[frames.len() - 1]] {
        let (start, len) = (frame.offset() as usize + 64, frame.payload().len());
        // Its head, its filter, its rows, its targets, its last byte.
        for at in [0, 45, 50, 100, 130, 141, 300, 400, len / 2, len - 200, len - 1] {
            let mut bad = good.clone();
            bad[start + at] ^= 0x10;
            let disk = disk_with(&bad);
            let (log, report) = reopen(&disk).unwrap();
            assert_eq!(report.verdict, Verdict::Clean, "it lies behind the reach of the open");
            check_all(&log, 700, &offsets, 29);
            assert_eq!(records(&log).len(), 700, "a walk steps over it");
            assert_eq!(log.record_count().unwrap(), 700);
            // And the log goes on, with further INDEX frames.
            for number in 1001..=1300 {
                append(&log, number, 10, Durability::Os);
            }
            check_all(&log, 700, &offsets, 53);
            assert!(log.find(id(1150)).unwrap().is_some());
            let found = seslog::log::survey(disk.fs(), &path()).unwrap();
            assert_eq!(found.damage.len(), 1, "a survey names it");
        }
    }
}

/// At each of them the rest of the file was searched for an OPEN.
#[test]
fn many_damaged_indexes_cost_a_walk_a_few_passes_and_not_one_each() {
    let disk = Disk::new();
    let (log, _) = filled(&disk, 4_000, LogOptions::default().index_records(16));
    let frames = indexes(&log);
    log.close().unwrap();
    assert!(frames.len() >= 200);
    let mut bad = disk.bytes(&path());
    for frame in &frames[..frames.len() - 20] {
        bad[frame.offset() as usize + 64 + frame.payload().len() - 1] ^= 0x10;
    }
    let (log, _) = read(&disk_with(&bad)).unwrap();
    let before = log.io().bytes_read;
    assert_eq!(records(&log).len(), 4_000);
    let read = log.io().bytes_read - before;
    assert!(read < 8 * bad.len() as u64, "{read} bytes read of {}", bad.len());
}

#[test]
fn an_index_that_is_wrong_and_has_its_checksums_right_is_not_believed() {
    let disk = Disk::new();
    let (log, offsets) = filled(&disk, 150, LogOptions::default().index_records(100));
    let index = indexes(&log)[0].offset() as usize;
    let mark_free = kill(log, &disk);
    let blocks = u32::from_le_bytes(mark_free[index + 64 + 100..][..4].try_into().unwrap()) as usize;
    let rows = index + 64 + 140 + blocks * 64;
    let mut bad = mark_free;
    // The row of record 1 names the place of record 2; page and frame are sealed again, and so is everything behind them.
    assert_eq!(bad[rows..rows + 16], *id(1).as_bytes());
    bad[rows + 16..rows + 24].copy_from_slice(&offsets[1].to_le_bytes());
    let end = rows + 100 * 25;
    let sum = crc32(&[&(rows as u64).to_le_bytes(), &bad[rows..end]]);
    bad[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    reseal_chain(&mut bad, index);
    let disk = disk_with(&bad);
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(log.find(id(1)).unwrap().unwrap().offset, offsets[0]);
    check_all(&log, 150, &offsets, 1);
}

#[test]
fn hints_come_back_with_their_records() {
    let disk = Disk::new();
    let log = create(&disk);
    let targets = [id(7), id(8), id(9)];
    let change = Record { frame_type: FrameType::Change, index: IndexHint::Targets(&targets), ..event(1, b"change") };
    let result = Record { index: IndexHint::ResultOf(id(7)), parent: Place::InBatch(0), ..event(2, b"result") };
    let none = Record { index: IndexHint::Targets(&[]), ..event(3, b"") };
    let offsets = log.append(&[change, result, none], leaf(1), Durability::Sync).unwrap().offsets;
    let frames: Vec<Frame> = offsets.iter().map(|offset| log.frame(*offset).unwrap()).collect();
    assert_eq!(frames[0].targets().collect::<Vec<_>>(), targets);
    assert_eq!(frames[0].payload(), b"change");
    assert_eq!(frames[1].targets().collect::<Vec<_>>(), [id(7)]);
    assert_eq!(frames[1].payload(), b"result");
    assert_eq!(frames[1].head().parent_off, offsets[0]);
    assert!(frames[1].head().is_leaf() && !frames[0].head().is_leaf());
    assert_eq!((frames[2].targets().count(), frames[2].payload()), (0, &b""[..]));
    assert_eq!(log.targets_of(id(7)).unwrap(), offsets[..2]);
}

#[test]
fn an_index_is_due_after_so_many_bytes_too() {
    let disk = Disk::new();
    let log = create_with(&disk, LogOptions::default().index_bytes(64 << 10));
    for number in 1..=8 {
        append(&log, number, 20_000, Durability::Os);
    }
    assert_eq!(indexes(&log).len(), 1);
    append(&log, 9, 20_000, Durability::Os);
    assert_eq!(indexes(&log).len(), 2);
}

#[test]
fn the_sync_behind_an_index_writes_the_watermark() {
    let disk = Disk::new();
    let (log, _) = filled(&disk, 17, LogOptions::default().index_records(16));
    assert_eq!(read(&disk).unwrap().1.watermark, WatermarkState::Empty);
    log.sync().unwrap();
    assert_eq!(read(&disk).unwrap().1.watermark, WatermarkState::At(log.end()));
    append(&log, 18, 10, Durability::Sync);
    assert_ne!(read(&disk).unwrap().1.watermark, WatermarkState::At(log.end()), "once for each INDEX");
}

#[test]
fn a_reader_that_meets_a_new_index_still_finds_every_record() {
    let disk = Disk::new();
    let log = create_with(&disk, LogOptions::default().index_records(16));
    let (mut reader, _) = read(&disk).unwrap();
    for number in 1..=40 {
        let offset = append(&log, number, 10, Durability::Os);
        reader.refresh().unwrap();
        assert_eq!(reader.find(id(number)).unwrap().map(|found| found.offset), Some(offset));
        assert!((1..=number).all(|number| reader.find(id(number)).unwrap().is_some()));
    }
}

/// A change of the record before it: it is not the leaf, so who looks for the leaf has to look further back.
fn change(log: &LogWriter, number: u128, leaf: u64, boundary: u64) {
    let targets = [id(number - 1)];
    let record = Record {
        frame_type: FrameType::Change,
        parent: Place::At(leaf),
        boundary: Place::At(boundary),
        index: IndexHint::Targets(&targets),
        ..event(number, b"change")
    };
    let note = Note { head: Place::At(leaf), boundary: Place::At(boundary), ..Note::default() };
    drop(log.append(&[record], note, Durability::Os).unwrap());
}

#[test]
fn leaf_and_boundary_are_known_from_an_open_and_from_an_index_that_only_changes_follow() {
    for (what, records) in [("OPEN", 3), ("INDEX", 16)] {
        let disk = Disk::new();
        let options = LogOptions::default().index_records(16);
        let log = create_with(&disk, options);
        let record = Record { frame_type: FrameType::Boundary, ..event(1, b"boundary") };
        let note = Note { head: Place::InBatch(0), boundary: Place::InBatch(0), ..Note::default() };
        let boundary = log.append(&[record], note, Durability::Os).unwrap().offsets[0];
        let mut head = boundary;
        for number in 2..=records {
            let record = Record { boundary: Place::At(boundary), ..event(number, b"leaf") };
            let note = Note { head: Place::InBatch(0), boundary: Place::At(boundary), ..Note::default() };
            head = log.append(&[record], note, Durability::Os).unwrap().offsets[0];
        }
        let log = match what {
            "OPEN" => {
                log.close().unwrap();
                LogWriter::open(disk.fs(), &path(), options).unwrap().0
            }
            _ => log,
        };
        change(&log, records + 1, head, boundary);
        let bytes = kill(log, &disk);
        let (reader, _) = read(&disk_with(&bytes)).unwrap();
        let note = reader.note().unwrap();
        assert_eq!((note.head, note.boundary), (Place::At(head), Place::At(boundary)), "{what}");
        assert_eq!(indexes(&reader).len(), usize::from(what == "INDEX"));
    }
}

#[test]
fn an_opening_goes_on_counting_where_the_last_index_ended() {
    let disk = Disk::new();
    let options = LogOptions::default().index_records(16);
    let (log, _) = filled(&disk, 20, options);
    log.close().unwrap();
    for number in 21..=33 {
        let log = LogWriter::open(disk.fs(), &path(), options).unwrap().0;
        append(&log, number, 10, Durability::Os);
        log.close().unwrap();
        // The first is in front of record 17, so that the next is due in front of record 33.
        let (reader, _) = read(&disk).unwrap();
        assert_eq!(indexes(&reader).len(), if number < 33 { 1 } else { 2 }, "after record {number}");
    }
}
