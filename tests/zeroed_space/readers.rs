//! Readers beside a writer that has zeros ahead.

use std::path::Path;
use std::time::Duration;

use seslog::event::Message;
use seslog::log::{Durability, LogOptions, LogReader, LogWriter, NewLog, RealFs, Verdict};
use seslog::session::{Session, SessionOptions, SessionReader};

use super::log_support::*;
use super::{LEN, size, unhurried, zeroed};

/// A look that finds nothing new, at most: less than the smallest piece of a read.
const LOOK: u64 = 4 << 10;

#[test]
fn a_reader_sees_each_append_though_the_files_size_stays_and_never_reads_the_zeros_again() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let zeros_to = size(&disk);
    let (mut reader, _) = read(&disk).unwrap();
    for number in count + 1.. {
        let before = reader.io().bytes_read;
        assert!(!reader.refresh().unwrap(), "nothing has come");
        assert!(reader.io().bytes_read - before <= LOOK, "{} bytes for nothing", reader.io().bytes_read - before);
        append(&log, number, LEN, Durability::Sync);
        if size(&disk) != zeros_to {
            break;
        }
        let before = reader.io().bytes_read;
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.end(), log.end());
        assert!(reader.io().bytes_read - before <= 4 * LOOK, "{} bytes", reader.io().bytes_read - before);
    }
    reader.refresh().unwrap();
    assert_eq!(ids(&reader), ids(&log));
}

#[test]
fn a_reader_goes_on_through_closes_and_openings_that_cut_the_file_and_let_it_grow() {
    let disk = Disk::new();
    let (mut log, mut count) = zeroed(&disk);
    let (mut reader, _) = read(&disk).unwrap();
    for by_drop in [false, true, false] {
        let before = size(&disk);
        if by_drop {
            drop(log);
        } else {
            log.close().unwrap();
        }
        assert!(size(&disk) < before, "it was cut");
        assert!(reader.refresh().unwrap(), "the MARK is new");
        // What was read before a cut is read again after it.
        let found = reader.find(id(count)).unwrap().unwrap();
        assert_eq!(reader.frame(found.offset).unwrap().id(), id(count));
        log = LogWriter::open(disk.fs(), &path(), unhurried()).unwrap().0;
        zeroed_on(&log, &disk, &mut count);
        reader.refresh().unwrap();
        assert_eq!(ids(&reader), (1..=count).collect::<Vec<_>>());
    }
}

/// Appends until there are zeros behind the end.
fn zeroed_on(log: &LogWriter, disk: &Disk, count: &mut u128) {
    while size(disk) <= log.end() {
        *count += 1;
        append(log, *count, LEN, Durability::Sync);
    }
}

/// The OPEN that steps over it stands in zeros, so the file's size stays.
#[test]
fn a_reader_goes_on_behind_an_append_that_was_cut_off_in_the_zeros() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let end = log.end() as usize;
    let (mut reader, _) = read(&disk).unwrap();
    // As a writer leaves it that is killed in the middle of a write.
    append(&log, count + 1, 3_000, Durability::Sync);
    let whole = disk.bytes(&path());
    for cut in [end + 8, end + 64, end + 100, end + 3_000] {
        disk.change(&path(), |file| {
            file.copy_from_slice(&whole);
            file[cut..].fill(0);
        });
        assert!(!reader.refresh().unwrap(), "half a frame is not there yet");
    }
    let torn = disk.bytes(&path());
    disk.fork();
    drop(log);
    disk.change(&path(), |file| file.copy_from_slice(&torn));
    disk.move_to_new_inode(&path());
    let (mut reader, report) = read(&disk).unwrap();
    assert_eq!((report.verdict, report.end), (Verdict::Recovered, end as u64));
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(size(&disk), torn.len() as u64);
    assert!(reader.refresh().unwrap(), "the OPEN is found");
    append(&log, count + 2, LEN, Durability::Sync);
    assert_eq!(size(&disk), torn.len() as u64);
    assert!(reader.refresh().unwrap());
    assert_eq!(ids(&reader), (1..=count).chain([count + 2]).collect::<Vec<_>>());
}

/// A power cut that leaves the first sector of a batch as it was, with zeros, and the others: the OPEN behind it changes neither
/// the file's size nor the bytes where the next frame would stand.
#[test]
fn a_reader_goes_on_behind_an_append_of_which_the_beginning_never_came_to_the_disk() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let end = log.end() as usize;
    append(&log, count + 1, 3_000, Durability::Sync);
    let mut torn = disk.bytes(&path());
    torn[end..(end + 1).next_multiple_of(512)].fill(0);
    disk.fork();
    drop(log);
    disk.change(&path(), |file| file.copy_from_slice(&torn));
    disk.move_to_new_inode(&path());
    let (mut reader, report) = read(&disk).unwrap();
    assert_eq!(report.end, end as u64);
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(size(&disk), torn.len() as u64);
    assert!(reader.refresh().unwrap(), "the OPEN is found");
    append(&log, count + 2, LEN, Durability::Sync);
    assert!(reader.refresh().unwrap());
    assert_eq!(ids(&reader), (1..=count).chain([count + 2]).collect::<Vec<_>>());
}

#[test]
fn a_look_at_a_log_that_is_damaged_or_torn_reads_nothing_of_what_was_searched_already() {
    let disk = Disk::new();
    let log = create_with(&disk, unhurried());
    for number in 1..=600 {
        append(&log, number, LEN, Durability::Sync);
    }
    let middle = log.end() as usize / 2;
    log.close().unwrap();
    let whole = disk.bytes(&path());
    for is_torn in [false, true] {
        disk.change(&path(), |file| {
            file.clear();
            file.extend_from_slice(&whole);
            file[middle..middle + 64].fill(0xAA);
            if is_torn {
                file.truncate(middle + 200_000);
            }
        });
        let (mut reader, _) = read(&disk).unwrap();
        let before = reader.io().bytes_read;
        for _ in 0..10 {
            assert!(!reader.refresh().unwrap());
        }
        let cost = reader.io().bytes_read - before;
        assert!(cost <= 10 * 2 * LOOK, "{cost} bytes for ten looks, torn: {is_torn}");
    }
}

fn real(path: &Path) -> LogWriter {
    LogWriter::create(RealFs::shared(), path, NewLog::new(id(1), 0), unhurried()).unwrap()
}

/// On a disk's file system: a cut under a map would end this process.
#[test]
fn a_reader_through_the_map_reads_on_while_the_zeros_behind_the_data_are_cut() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("a.seslog");
    let mut log = real(&path);
    let mut reader: Option<LogReader> = None;
    for round in 0..20_u128 {
        for number in 1..=60 {
            append(&log, round * 60 + number, LEN, Durability::Group);
        }
        log.sync().unwrap();
        let reader = reader.get_or_insert_with(|| {
            LogReader::open_with(RealFs::shared(), &path, LogOptions::default().mapped(true)).unwrap().0
        });
        let look = |reader: &LogReader| {
            for frame in reader.frames(0) {
                let offset = frame.unwrap().offset();
                assert_eq!(reader.frame(offset).unwrap().offset(), offset);
            }
        };
        reader.refresh().unwrap();
        look(reader);
        log.close().unwrap();
        look(reader);
        reader.refresh().unwrap();
        look(reader);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), reader.end());
        log = LogWriter::open(RealFs::shared(), &path, unhurried()).unwrap().0;
    }
}

#[test]
fn a_copy_of_a_file_with_zeros_ahead_is_a_whole_log_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("a.seslog"), dir.path().join("b.seslog"));
    let log = real(&path);
    for number in 1..=60 {
        append(&log, number, LEN, Durability::Sync);
    }
    assert!(std::fs::metadata(&path).unwrap().len() > log.end());
    std::fs::copy(&path, &copy).unwrap();
    let (copied, report) = LogWriter::open(RealFs::shared(), &copy, unhurried()).unwrap();
    assert_eq!((report.verdict, report.set_aside.len()), (Verdict::Clean, 0));
    append(&copied, 61, LEN, Durability::Sync);
    copied.close().unwrap();
    append(&log, 62, LEN, Durability::Sync);
    log.close().unwrap();
    let of = |path: &Path| ids(&LogReader::open(RealFs::shared(), path).unwrap().0);
    assert_eq!((of(&path).last(), of(&copy).last()), (Some(&62), Some(&61)));
}

#[test]
fn a_session_is_followed_over_closes_and_openings_and_tells_of_no_loss() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    drop(Session::create(&path, SessionOptions::default()).unwrap());
    let mut reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    for round in 1..=4 {
        let session = Session::open(&path, SessionOptions::default()).unwrap();
        for n in 0..60 {
            let text = format!("{round} {n} {}", "x".repeat(LEN));
            drop(session.append(Message::user(text), Durability::Sync).unwrap().receipt);
            reader.follow().unwrap();
        }
        assert!(std::fs::metadata(&path).unwrap().len() > session.log().end(), "there are zeros ahead");
        session.close().unwrap();
        reader.follow().unwrap();
        assert_eq!(reader.state().entries().len(), round * 60);
        let session = Session::open(&path, SessionOptions::default()).unwrap();
        assert!(session.report().set_aside.is_empty());
    }
    let fs = RealFs::shared();
    assert_eq!(fs.stamp(&path).unwrap().unwrap().size, LogReader::open(fs, &path).unwrap().0.end());
}

#[test]
fn of_a_file_that_nobody_writes_nothing_is_read_and_what_comes_then_is_seen() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let (mut reader, _) = read(&disk).unwrap();
    for round in 1..4 {
        // Looked at all the time, as who follows does.
        for _ in 0..50 {
            assert!(!reader.refresh().unwrap());
            disk.advance(Duration::from_millis(100));
        }
        let (before, calls) = (reader.io(), disk.all_calls());
        for _ in 0..50 {
            assert!(!reader.refresh().unwrap());
            disk.advance(Duration::from_millis(100));
        }
        assert_eq!(reader.io(), before, "round {round}: it is quiet");
        assert_eq!(disk.all_calls(), calls + 50, "round {round}: one stamp a look");
        append(&log, count + round, LEN, Durability::Sync);
        assert!(reader.refresh().unwrap(), "round {round}");
    }
    assert_eq!(ids(&reader), ids(&log));
}

#[test]
fn a_reader_that_looks_once_an_hour_sees_what_came_in_the_tick_of_its_last_look() {
    let disk = Disk::new();
    let (log, count) = zeroed(&disk);
    let (mut reader, _) = read(&disk).unwrap();
    for number in count + 1..count + 4 {
        // The disk's clock stands still: the write that follows changes no time.
        reader.refresh().unwrap();
        append(&log, number, LEN, Durability::Sync);
        disk.advance(Duration::from_secs(3600));
        assert!(reader.refresh().unwrap());
        assert_eq!(reader.end(), log.end());
    }
}
