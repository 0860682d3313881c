//! A look at the whole file reads each byte once.

use seslog::log::{LogReader, survey};
use seslog::session::SessionReader;

use crate::disk::Watched;
use crate::write;

/// The header page, and the tail that says where the data ends.
const TWICE_MAX: u64 = (4 + 16) << 10;

#[test]
fn a_survey_reads_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let size = std::fs::metadata(&path).unwrap().len();
    let disk = Watched::new();
    let found = survey(disk.clone(), &path).unwrap();
    assert!(found.frames.len() > 1_000 && found.damage.is_empty());
    let seen = disk.take();
    assert!(seen.bytes() >= size);
    assert!(seen.bytes_again() <= TWICE_MAX, "{} bytes twice of {size}", seen.bytes_again());
    assert!(seen.calls() as u64 <= 4 + 2 * size.div_ceil(256 << 10), "{} calls for {size} bytes", seen.calls());
}

#[test]
fn a_walk_and_a_replay_of_everything_read_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let disk = Watched::new();
    let (log, _) = LogReader::open(disk.clone(), &path).unwrap();
    disk.take();
    assert!(log.frames(0).filter(Result::is_ok).count() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a walk");
    let reader = SessionReader::open(&path, disk.clone()).unwrap();
    disk.take();
    assert!(reader.whole_state().unwrap().entries().len() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a replay");
}
