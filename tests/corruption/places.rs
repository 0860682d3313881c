//! Open, walk, list and survey name the same place.

use seslog::log::{Durability, FrameType, LogError, LogReader, LogWriter};
use seslog::session::{Opened, Session, SessionError, SessionReader, Store};

use crate::made::{End, Known, Log, disk_with, options, path, rich, survey_of};

/// The file with something of this frame hit: its header, its payload, its trailer, or all of it.
fn hit(log: &Log, frame: &Known) -> Vec<(&'static str, Vec<u8>)> {
    let (from, to) = (frame.from() as usize, frame.to() as usize);
    [("header", from..from + 64), ("payload", from + 64..from + 72), ("trailer", to - 8..to), ("all", from..to)]
        .into_iter()
        .map(|(what, range)| {
            let mut bytes = log.bytes.clone();
            bytes[range].iter_mut().for_each(|byte| *byte = !*byte);
            (what, bytes)
        })
        .collect()
}

#[test]
fn every_way_to_open_a_damaged_session_names_the_frame_that_is_hit() {
    let log = rich(End::Closed);
    let (mut by_open, mut by_walk, mut by_replay, mut by_writer, mut by_list) = (0, 0, 0, 0, 0);
    for frame in log.accepted() {
        // An OPEN that steps over something is found by what it steps over.
        let place = log.skips.get(&frame.from()).copied().unwrap_or(frame.from());
        for (what, bytes) in hit(&log, frame) {
            let what = format!("{what} of {:?} at {}", frame.head.frame_type, frame.from());
            let disk = disk_with(&bytes);
            let found = survey_of(&bytes).unwrap();
            let survey: Vec<u64> = found.damage.iter().map(|damage| damage.offset).collect();
            assert_eq!(survey.first(), Some(&place), "{what}");
            let (reader, report) = LogReader::open(disk.fs(), &path()).unwrap();
            if let Some(first) = report.damage.first() {
                assert_eq!((report.damage.len(), first.offset), (1, place), "{what}: open");
                by_open += 1;
            }
            let index_only = frame.head.frame_type == FrameType::Index;
            for error in reader.frames(0).filter_map(Result::err) {
                assert_eq!(place_in(&error), place, "{what}: walk: {error}");
                by_walk += 1;
            }
            if let Err(error) = reader.note() {
                assert_eq!(place_in(&error), place, "{what}: state: {error}");
            }
            let session = SessionReader::open(&path(), disk.fs()).unwrap();
            for damage in &session.report().damage {
                assert_eq!(damage.offset, place, "{what}: replay");
                by_replay += 1;
            }
            match Session::open(&path(), options(&disk, 3)) {
                Err(SessionError::Log(error)) => {
                    assert_eq!(place_in(&error), place, "{what}: writer: {error}");
                    by_writer += 1;
                }
                Err(error) => panic!("{what}: {error}"),
                Ok(session) => drop(session),
            }
            if let Err(error) = LogWriter::open(disk_with(&bytes).fs(), &path(), options(&disk, 1).log) {
                assert_eq!(place_in(&error), place, "{what}: log writer: {error}");
            }
            let disk = disk_with(&bytes);
            let listed = Store::at(path().parent().unwrap(), options(&disk, 1)).list().unwrap();
            if let Some(problem) = &listed[0].problem {
                assert_eq!(listed[0].open, Opened::Damaged, "{what}");
                assert!(problem.contains(&format!("byte {place}")), "{what}: list: {problem}");
                by_list += 1;
            }
            assert!(index_only || frame.head.frame_type == FrameType::Mark || !found.damage.is_empty());
        }
    }
    println!("named by open {by_open}, walk {by_walk}, replay {by_replay}, writer {by_writer}, list {by_list} times");
    assert!(by_open > 3 && by_walk > 50 && by_replay > 20 && by_writer > 20 && by_list > 3);
}

fn place_in(error: &LogError) -> u64 {
    match error {
        LogError::Damaged { report, .. } => report.damage[0].offset,
        LogError::NoFrame { offset, .. } => *offset,
        error => panic!("{error}"),
    }
}

/// Damage before the window is no matter of a resume: it is verify's.
#[test]
fn damage_before_the_window_is_seen_by_a_survey_alone_and_no_append_hides_it() {
    let log = rich(End::Closed);
    // The boundary names the first ones: the session's meta data, and what it keeps.
    let first = log.accepted().filter(|frame| frame.is_record()).nth(5).unwrap();
    let mut bytes = log.bytes.clone();
    bytes[first.from() as usize + 70] ^= 1;
    let disk = disk_with(&bytes);
    let session = Session::open(&path(), options(&disk, 9)).unwrap();
    assert_eq!(session.report().open, Opened::Clean);
    let _ = session.append(seslog::event::Message::user("more"), Durability::Sync).unwrap();
    session.close().unwrap();
    let found = survey_of(&disk.bytes(&path())).unwrap();
    assert_eq!(found.damage.iter().map(|damage| damage.offset).collect::<Vec<_>>(), [first.from()]);
}

/// A frame behind the boundary is hit after the open has looked at the end: the replay meets it.
#[test]
fn damage_that_a_replay_meets_refuses_the_writer_and_shows_the_reader_what_lies_before() {
    let log = rich(End::Closed);
    let boundary = log.accepted().find(|frame| frame.head.frame_type == FrameType::Boundary).unwrap();
    let behind: Vec<&Known> = log.accepted().filter(|f| f.from() > boundary.from() && f.is_record()).collect();
    let mut met = 0;
    for frame in &behind[2..] {
        let mut bytes = log.bytes.clone();
        bytes[frame.from() as usize + 70] ^= 1;
        let disk = disk_with(&bytes);
        let seen_by_open = !LogReader::open(disk.fs(), &path()).unwrap().1.damage.is_empty();
        met += u32::from(!seen_by_open);
        let refused = Session::open(&path(), options(&disk, 9));
        assert!(matches!(refused, Err(SessionError::Log(LogError::Damaged { .. }))), "{}", frame.from());
        assert_eq!(disk.bytes(&path()), bytes);
        let reader = SessionReader::open(&path(), disk.fs()).unwrap();
        let seen = reader.state().entries().iter().filter(|entry| entry.offset > boundary.from()).count();
        let batch_start = log.accepted().filter(|f| f.from() <= frame.from()).collect::<Vec<_>>();
        let in_front = batch_start.iter().rev().skip(1).take_while(|f| f.head.batch_goes_on()).count();
        let before = behind.iter().filter(|f| f.from() < frame.from()).count();
        assert_eq!(seen, before - in_front, "{}", frame.from());
    }
    assert!(met > 3, "the open sees most of them: {met}");
}
