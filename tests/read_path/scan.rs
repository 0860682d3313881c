//! A look at the whole file reads each byte once.

use std::path::Path;

use seslog::event::{Message, decode};
use seslog::log::{Durability, LogReader, Verdict, survey, survey_with};
use seslog::session::{Gathering, Session, SessionOptions, SessionReader, State};

use crate::disk::{Watched, watched};
use crate::write;

/// The header page, and the tail that says where the data ends.
const TWICE_MAX: u64 = (4 + 16) << 10;

#[test]
fn a_survey_reads_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let size = std::fs::metadata(&path).unwrap().len();
    let disk = watched();
    let found = survey(disk.clone(), &path).unwrap();
    assert!(found.frames.len() > 1_000 && found.damage.is_empty());
    let seen = disk.take();
    assert!(seen.bytes() >= size);
    assert!(seen.bytes_again() <= TWICE_MAX, "{} bytes twice of {size}", seen.bytes_again());
    assert!(seen.calls() as u64 <= 4 + 2 * size.div_ceil(256 << 10), "{} calls for {size} bytes", seen.calls());
}

/// The state that a survey shows on its way.
fn gathered(disk: std::sync::Arc<Watched>, path: &Path) -> (State, Verdict) {
    let mut gathering = Gathering::default();
    let found = survey_with(disk, path, &mut |frame| {
        if !frame.frame_type().is_own() {
            gathering.add(decode(frame.payload()).unwrap(), frame.head(), frame.offset());
        }
    });
    (gathering.into_state(), found.unwrap().verdict)
}

#[test]
fn a_survey_shows_every_event_while_it_reads_each_byte_once_also_where_a_second_thread_reads_ahead() {
    let dir = tempfile::tempdir().unwrap();
    // The second thread comes in at 4 MiB.
    for count in [300, 5_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, 200);
        let disk = watched();
        let (state, verdict) = gathered(disk.clone(), &path);
        let again = disk.take().bytes_again();
        // Of a large frame the trailer is read first.
        assert!(again <= TWICE_MAX + 8 * count as u64 / 50, "{again} bytes twice");
        assert_eq!(verdict, Verdict::Clean);
        let found = survey(disk.clone(), &path).unwrap();
        assert!(state == State::of_survey(&path, &found).unwrap(), "what was shown is what is there");
        assert!(state == SessionReader::open(&path, disk).unwrap().whole_state().unwrap());
    }
}

/// The second thread reads the file itself, which has zeros where the writer's held bytes will stand.
#[test]
fn a_replay_of_everything_sees_what_its_writer_holds_back_in_front_of_zeros() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 3_000, 200);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let size = file.metadata().unwrap().len();
    assert!(size > 4 << 20);
    file.set_len(size + (1 << 20)).unwrap();
    let session = Session::open(&path, SessionOptions::default()).unwrap();
    let _ = session.append(Message::user("written"), Durability::Os).unwrap();
    let id = session.append(Message::user("held back"), Durability::Buffered).unwrap().id;
    let state = session.whole_state().unwrap();
    assert_eq!(state.leaf().unwrap().event.id, id);
}

#[test]
fn a_walk_and_a_replay_of_everything_read_each_byte_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 1_000, 200);
    let disk = watched();
    let (log, _) = LogReader::open(disk.clone(), &path).unwrap();
    disk.take();
    assert!(log.frames(0).filter(Result::is_ok).count() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a walk");
    let reader = SessionReader::open(&path, disk.clone()).unwrap();
    disk.take();
    assert!(reader.whole_state().unwrap().entries().len() > 1_000);
    assert_eq!(disk.take().bytes_again(), 0, "a replay");
}
