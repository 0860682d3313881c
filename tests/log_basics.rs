//! A log that nothing happens to: what is appended comes back, in order, with its hints.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

use std::sync::Arc;

use seslog::log::{
    Durability, FrameType, Fs, IndexHint, LogOptions, LogReader, LogWriter, NewLog, Note, Place, RealFs, Record,
    Verdict,
};
use uuid::Uuid;

fn record(id: u128, payload: &[u8]) -> Record<'_> {
    Record {
        frame_type: FrameType::Event,
        skippable: false,
        id: Uuid::from_u128(id),
        parent: Place::None,
        boundary: Place::None,
        payload,
        index: IndexHint::Plain,
    }
}

#[test]
fn what_is_appended_comes_back_in_order_after_a_close() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.seslog");
    let fs: Arc<dyn Fs> = RealFs::shared();
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(Uuid::from_u128(7), 0), LogOptions::default()).unwrap();
    let mut expected = Vec::new();
    for id in 1..=20 {
        let payload = vec![id as u8; id as usize * 37];
        let note = Note { last_id: Uuid::from_u128(id), head: Place::InBatch(0), ..Note::default() };
        log.append(&[record(id, &payload)], note, Durability::Sync).unwrap();
        expected.push((Uuid::from_u128(id), payload));
    }
    log.close().unwrap();

    let (log, report) = LogWriter::open(fs.clone(), &path, LogOptions::default()).unwrap();
    assert_eq!(report.verdict, Verdict::Clean);
    assert!(report.clean_close);
    assert_eq!(log.record_count().unwrap(), 20);
    assert_eq!(log.find(Uuid::from_u128(9)).unwrap().unwrap().frame_type, FrameType::Event);
    log.append(&[record(21, b"more")], Note::default(), Durability::Sync).unwrap();
    expected.push((Uuid::from_u128(21), b"more".to_vec()));
    drop(log);

    let (reader, report) = LogReader::open(fs, &path).unwrap();
    assert_eq!(report.verdict, Verdict::Clean, "{report:?}");
    let found: Vec<(Uuid, Vec<u8>)> = reader
        .frames(0)
        .map(Result::unwrap)
        .filter(|frame| !frame.frame_type().is_own())
        .map(|frame| (frame.id(), frame.payload().to_vec()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_clean_log_that_is_opened_and_closed_stays_as_it_was_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.seslog");
    let fs: Arc<dyn Fs> = RealFs::shared();
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(Uuid::from_u128(7), 0), LogOptions::default()).unwrap();
    log.append(&[record(1, b"one")], Note::default(), Durability::Os).unwrap();
    log.close().unwrap();
    let before = std::fs::read(&path).unwrap();
    let (log, _) = LogWriter::open(fs, &path, LogOptions::default()).unwrap();
    log.sync().unwrap();
    assert_eq!(log.io().writes, 0);
    log.close().unwrap();
    assert!(std::fs::read(&path).unwrap() == before);
}
