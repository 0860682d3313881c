//! One writer, known at once, gone with its process. On the real file system where that is what matters.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use std::path::Path;
use std::sync::Arc;

use log_support::{Call, Disk, Fault, append, create, event, id, ids, leaf, path, reopen};
use seslog::log::{Durability, Fs, LogError, LogOptions, LogReader, LogWriter, NewLog, RealFs, Verdict};

fn real(dir: &Path) -> (Arc<dyn Fs>, std::path::PathBuf, LogWriter) {
    let (fs, path) = (RealFs::shared(), dir.join("a.seslog"));
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(id(1), 0), LogOptions::default()).unwrap();
    (fs, path, log)
}

#[test]
fn a_second_writer_is_refused_at_once_whatever_name_it_uses() {
    let dir = tempfile::tempdir().unwrap();
    let (fs, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Sync);
    let open = |path: &Path| LogWriter::open(fs.clone(), path, LogOptions::default()).map(|opened| opened.1.verdict);
    assert!(matches!(open(&path), Err(LogError::Locked { .. })));
    let other_name = dir.path().join("b.seslog");
    std::fs::hard_link(&path, &other_name).unwrap();
    assert!(matches!(open(&other_name), Err(LogError::Locked { .. })), "the lock is on the file, not on its name");
    let reader = LogReader::open(fs.clone(), &path).unwrap().0;
    assert_eq!(ids(&reader), [1], "readers are not in the way, and nothing is in theirs");
    log.close().unwrap();
    assert_eq!(open(&path).unwrap(), Verdict::Clean);
}

#[test]
fn the_lock_ends_with_the_writer_and_not_with_its_receipts() {
    let dir = tempfile::tempdir().unwrap();
    let (fs, path, log) = real(dir.path());
    let receipt = log.append(&[event(1, b"x")], leaf(0), Durability::Os).unwrap().receipt;
    drop(log);
    let (_writer, report) = LogWriter::open(fs, &path, LogOptions::default()).unwrap();
    assert!(report.clean_close);
    receipt.wait().unwrap();
}

#[test]
fn a_path_that_names_another_file_by_now_is_refused() {
    let disk = Disk::new();
    create(&disk).close().unwrap();
    let file = disk.fs().open(&path(), seslog::log::Access::Write).unwrap();
    let old = file.identity().unwrap();
    let bytes = disk.bytes(&path());
    disk.put(&path(), &bytes);
    assert_ne!(disk.fs().identity(&path()).unwrap(), old, "the double tells files apart");

    let dir = tempfile::tempdir().unwrap();
    let (fs, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Sync);
    let mut reader = LogReader::open(fs, &path).unwrap().0;
    log.close().unwrap();
    let copy = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(reader.refresh(), Err(LogError::Replaced { .. })), "removed");
    std::fs::write(&path, copy).unwrap();
    assert!(matches!(reader.refresh(), Err(LogError::Replaced { .. })), "replaced");
    assert_eq!(ids(&reader), [1], "what was open can still be read");
}

#[test]
fn a_file_that_loses_its_name_between_open_and_lock_is_not_written_to() {
    let disk = Disk::new();
    create(&disk).close().unwrap();
    disk.fail(Call::Open, 0, Fault::Swap);
    assert!(matches!(reopen(&disk), Err(LogError::Replaced { .. })));
    assert!(reopen(&disk).is_ok(), "the next try opens what has the name now");
}

#[test]
fn a_forked_child_may_not_write_and_leaves_the_parent_its_lock() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 10, Durability::Sync);
    // Has the file open as the parent does; the lock goes with the last handle.
    let parents = log.receipt();
    disk.fork();
    assert!(matches!(log.append(&[event(2, b"x")], leaf(0), Durability::Os), Err(LogError::ForkedProcess { .. })));
    assert!(matches!(log.sync(), Err(LogError::ForkedProcess { .. })));
    let bytes = disk.bytes(&path());
    drop(log);
    assert!(disk.bytes(&path()) == bytes, "the child's end writes nothing");
    assert!(matches!(reopen(&disk), Err(LogError::Locked { .. })));
    drop(parents);
}

#[test]
#[cfg(unix)]
fn only_the_owner_can_read_a_log() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (fs, path, log) = real(dir.path());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let inner = dir.path().join("x/y");
    fs.create_dir(&inner).unwrap();
    assert_eq!(std::fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
    drop(log);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
}
