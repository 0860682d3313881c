//! Readers beside a living writer, and under a file that changes where it must not.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log_support::*;
use seslog::log::{Durability, Fs, LogError, LogOptions, LogReader, LogWriter, NewLog, RealFs, Verdict};

#[test]
fn a_reader_follows_a_writer_record_by_record() {
    let disk = Disk::new();
    let log = create(&disk);
    let (mut reader, report) = read(&disk).unwrap();
    assert_eq!(report.verdict, Verdict::Clean);
    assert!(!reader.refresh().unwrap());
    for number in 1..=30 {
        append(&log, number, 100, if number % 3 == 0 { Durability::Sync } else { Durability::Os });
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.end(), log.end());
        assert_eq!(ids(&reader), (1..=number).collect::<Vec<_>>());
        assert!(reader.durable_end() <= log.durable_end(), "a reader never promises more than the writer");
        if number % 3 == 1 && number > 1 {
            assert_eq!(reader.durable_end(), log.durable_end(), "the frame behind a sync tells of it");
        }
        assert_eq!(
            reader.find(id(number)).unwrap().map(|found| found.offset),
            log.tip().unwrap().map(|tip| tip.offset())
        );
        assert_eq!(reader.note().unwrap().head, log.note().unwrap().head);
    }
    log.close().unwrap();
    assert!(reader.refresh().unwrap());
    let (_, report) = reopen(&disk).unwrap();
    assert!(report.clean_close);
}

#[test]
fn bytes_that_are_only_half_written_are_not_there_yet() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let start = log.end() as usize;
    let (two, three) = (payload(2, 40), payload(3, 40));
    log.append(&[event(2, &two), event(3, &three)], leaf(1), Durability::Sync).unwrap();
    append(&log, 4, 40, Durability::Sync);
    let end = log.end() as usize;
    let bytes = kill(log, &disk);
    let disk = disk_with(&bytes[..start]);
    let (mut reader, _) = read(&disk).unwrap();
    for cut in start..=end {
        disk.change(&path(), |file| *file = bytes[..cut].to_vec());
        reader.refresh().unwrap();
        let expected: &[u128] = if cut == end {
            &[1, 2, 3, 4]
        } else if cut >= end - 112 {
            &[1, 2, 3]
        } else {
            &[1]
        };
        assert_eq!(ids(&reader), expected, "at {cut} of {start}..{end}");
        let (fresh, report) = read(&disk).unwrap();
        assert_eq!(ids(&fresh), expected);
        assert_ne!(report.verdict, Verdict::Damaged);
    }
}

#[test]
fn a_reader_steps_over_what_a_recovery_set_aside_while_it_watches() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Os);
    let mut bytes = kill(log, &disk);
    bytes.truncate(bytes.len() - 20);
    disk.put(&path(), &bytes);
    let (mut reader, report) = read(&disk).unwrap();
    assert_eq!((report.verdict, ids(&reader)), (Verdict::Recovered, vec![1]));
    assert!(!reader.refresh().unwrap());
    let (log, _) = reopen(&disk).unwrap();
    append(&log, 3, 40, Durability::Sync);
    assert!(reader.refresh().unwrap());
    assert_eq!(ids(&reader), [1, 3]);
}

#[test]
fn a_polling_reader_always_sees_a_valid_prefix_of_a_fast_writer() {
    let dir = tempfile::tempdir().unwrap();
    let (fs, path): (Arc<dyn Fs>, _) = (RealFs::shared(), dir.path().join("a.seslog"));
    let log =
        LogWriter::create(fs.clone(), &path, NewLog::new(id(1), 0), LogOptions::default().index_records(64)).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let (fs, path, done) = (fs.clone(), &path, &done);
                scope.spawn(move || {
                    let (mut reader, _) = LogReader::open(fs.clone(), path).unwrap();
                    let mut seen = 0;
                    loop {
                        let last = done.load(Ordering::Acquire);
                        reader.refresh().unwrap();
                        let found = ids(&reader);
                        assert!(found.len() >= seen, "what was shown stays");
                        assert!(found.iter().copied().eq(1..=found.len() as u128));
                        seen = found.len();
                        let (fresh, report) = LogReader::open(fs.clone(), path).unwrap();
                        assert_ne!(report.verdict, Verdict::Damaged, "{report:?}");
                        drop(fresh);
                        if last {
                            return seen;
                        }
                    }
                })
            })
            .collect();
        for number in 1..=1500 {
            append(
                &log,
                number,
                (number as usize * 37) % 3000,
                if number % 50 == 0 { Durability::Sync } else { Durability::Os },
            );
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert_eq!(reader.join().unwrap(), 1500);
        }
    });
}

#[test]
fn a_file_that_is_cut_under_a_reader_is_an_error() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (fs, path): (Arc<dyn Fs>, _) = (RealFs::shared(), dir.path().join("a.seslog"));
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(id(1), 0), LogOptions::default()).unwrap();
    let offsets: Vec<u64> = (1..=50).map(|number| append(&log, number, 5000, Durability::Sync)).collect();
    log.close().unwrap();
    for mapped in [true, false] {
        let (mut reader, _) = LogReader::open_with(fs.clone(), &path, LogOptions::default().mapped(mapped)).unwrap();
        assert_eq!(ids(&reader).len(), 50);
        assert_eq!(reader.frame(offsets[3]).unwrap().payload(), payload(4, 5000));
        let whole = std::fs::read(&path).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(offsets[10]).unwrap();
        assert!(matches!(reader.refresh(), Err(LogError::Replaced { .. })));
        for offset in &offsets[10..] {
            assert!(matches!(reader.frame(*offset), Err(LogError::Replaced { .. })));
            assert!(matches!(reader.header(*offset), Err(LogError::Replaced { .. })));
        }
        assert!(reader.frame(offsets[3]).is_ok());
        assert!(reader.frames(0).any(|frame| frame.is_err()));
        std::fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_map_and_plain_reads_give_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let (fs, path): (Arc<dyn Fs>, _) = (RealFs::shared(), dir.path().join("a.seslog"));
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(id(1), 0), LogOptions::default()).unwrap();
    for number in 1..=200 {
        append(&log, number, number as usize * 100, Durability::Os);
    }
    log.sync().unwrap();
    append(&log, 201, 100_000, Durability::Os);
    let mapped = LogReader::open_with(fs.clone(), &path, LogOptions::default().mapped(true)).unwrap().0;
    let plain = LogReader::open(fs, &path).unwrap().0;
    let pairs = records(&mapped).into_iter().zip(records(&plain));
    assert_eq!(pairs.filter(|(a, b)| a.head() == b.head() && a.payload() == b.payload()).count(), 201);
    for frame in records(&plain) {
        assert_eq!(mapped.frame(frame.offset()).unwrap().payload(), frame.payload());
    }
}
