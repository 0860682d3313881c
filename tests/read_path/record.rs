//! A list that is known already is looked up and compared in one run over the log, however far back it goes.

use std::path::Path;

use seslog::event::{Event, Message, Uuid, decode};
use seslog::log::{Durability, FrameType, LogReader, RealFs, format};
use seslog::session::{Session, SessionError, SessionReader};

use crate::disk::watched;
use crate::{on, write};

/// Beside the log itself: the header page and the tail, tables of which a part is asked for, and the trailers of large frames.
const BESIDE: u64 = 256 << 10;

fn events(path: &Path) -> Vec<Event> {
    let (log, _) = LogReader::open(RealFs::shared(), path).unwrap();
    let frames = log.frames(0).map(Result::unwrap).filter(|frame| !frame.frame_type().is_own());
    frames.map(|frame| decode(frame.payload()).unwrap()).collect()
}

/// Where frames of a type begin.
fn places(path: &Path, of: FrameType) -> Vec<u64> {
    let (log, _) = LogReader::open(RealFs::shared(), path).unwrap();
    log.frames(0).map(Result::unwrap).filter(|frame| frame.frame_type() == of).map(|frame| frame.offset()).collect()
}

fn flip(path: &Path, at: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at as usize] ^= 0x40;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_known_list_is_recorded_again_with_one_read_of_the_log_in_large_pieces() {
    let dir = tempfile::tempdir().unwrap();
    for count in [1_500, 5_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, 200);
        let (size, mut list) = (std::fs::metadata(&path).unwrap().len(), events(&path));
        let disk = watched();
        let session = Session::open(&path, on(disk.clone())).unwrap();
        session.contains(Uuid::from_u128(1)).unwrap();
        for known_by in ["what is written of them", "their content, wherever they hang"] {
            disk.take();
            let recorded = session.record(&list, Durability::Os).unwrap();
            assert_eq!(
                (recorded.known, recorded.changed, recorded.written),
                (list.len(), vec![], vec![]),
                "{known_by}"
            );
            let seen = disk.take();
            assert!(seen.bytes() <= size + size / 8 + BESIDE, "{} bytes of {size}, {known_by}", seen.bytes());
            let calls = 40 + 2 * size.div_ceil(64 << 10);
            assert!(seen.calls() as u64 <= calls, "{} calls, at most {calls}", seen.calls());
            for event in &mut list {
                (event.parent, event.at) = (None, 1);
            }
            list.reverse();
        }
        session.close().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), size, "nothing was written");
    }
}

#[test]
fn a_few_known_ones_among_many_cost_a_few_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 5_000, 200);
    let list: Vec<Event> = events(&path).into_iter().step_by(1_000).collect();
    let disk = watched();
    let session = Session::open(&path, on(disk.clone())).unwrap();
    session.contains(Uuid::from_u128(1)).unwrap();
    disk.take();
    assert_eq!(session.record(&list, Durability::Os).unwrap().known, list.len());
    let seen = disk.take();
    assert!(seen.bytes() < 300 << 10 && seen.calls() < 100, "{} bytes, {} calls", seen.bytes(), seen.calls());
}

#[test]
fn other_content_is_told_and_what_is_new_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 3_000, 200);
    let mut list = events(&path);
    let changed = list[7].id;
    list[7].body = list[8].body.clone();
    let new = Event { id: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001), ..list[4].clone() };
    list.extend([new.clone(), list[3].clone(), new.clone()]);
    let session = Session::open(&path, on(RealFs::shared())).unwrap();
    let recorded = session.record(&list, Durability::Os).unwrap();
    assert_eq!((recorded.known, recorded.changed, recorded.written), (list.len() - 2, vec![changed], vec![new.id]));
    assert_eq!(events(&path).iter().filter(|event| event.id == new.id).count(), 1);
}

#[test]
fn a_known_record_whose_checksum_does_not_fit_is_an_error_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 3_000, 200);
    let mut list = events(&path);
    let hit = places(&path, FrameType::Event)[1_000];
    flip(&path, hit + format::FRAME_HEADER_LEN + 100);
    let session = Session::open(&path, on(RealFs::shared())).unwrap();
    let new = Event { id: Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001), ..list[0].clone() };
    list.insert(0, new.clone());
    match session.record(&list, Durability::Os).unwrap_err() {
        SessionError::Log(error) => assert!(error.to_string().contains(&hit.to_string()), "{error}"),
        error => panic!("{error}"),
    }
    assert!(!session.contains(new.id).unwrap());
}

/// Each damaged INDEX would cost every id a pass of its own over the log.
#[test]
fn damaged_indexes_cost_a_known_list_one_pass_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 5_000, 200);
    let list = events(&path);
    let size = std::fs::metadata(&path).unwrap().len();
    for index in places(&path, FrameType::Index) {
        // Its last page of rows.
        let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
        let end = reader.log().frame(index).unwrap().next_offset();
        flip(&path, end - 40);
    }
    let disk = watched();
    let session = Session::open(&path, on(disk.clone())).unwrap();
    disk.take();
    let recorded = session.record(&list, Durability::Os).unwrap();
    assert_eq!((recorded.known, recorded.changed), (list.len(), vec![]));
    let seen = disk.take();
    assert!(seen.bytes() <= 3 * size, "{} bytes of {size}", seen.bytes());
    let _ = session.append(Message::user("goes on"), Durability::Os).unwrap();
}
