//! Any bytes as a session's file. How an input becomes one: see [`file_of`].

use std::path::Path;

use seslog::event::{Event, Message, Uuid};
use seslog::log::{Durability, LogReader, LogView, survey};
use seslog::session::{Session, SessionError, SessionReader, Store};

use super::look_at;
use super::memory::{PATH, disk_with, options};
use super::seal::file_of;
use seslog::sim::SimDisk;

/// Nothing panics or hangs, a writer that is refused changes nothing, one that is not loses nothing that could be read
/// before, and what it appends is there.
pub fn open_log(data: &[u8]) {
    let Some(file) = file_of(data) else { return };
    let disk = disk_with(&file);
    let path = Path::new(PATH);

    let before = LogReader::open(disk.fs(), path).ok().map(|(log, _)| {
        let _ = (log.note(), log.tip(), log.last_record(), log.record_count());
        let readable = readable(&log);
        for id in readable.iter().take(3) {
            let _ = (log.find(*id), log.targets_of(*id));
        }
        readable
    });
    if let Ok(survey) = survey(disk.fs(), path) {
        for frame in &survey.frames {
            let loaded = survey.load(frame).expect("a frame of the survey can be read again");
            assert_eq!(loaded.head(), &frame.head);
        }
    }
    read(&disk, path);
    let store = Store::at("/s", options(&disk));
    assert_eq!(store.list().expect("a list is never an error").len(), 1);
    assert!(disk.bytes(path) == file, "who reads writes nothing");

    let Some(before) = before else {
        assert!(Session::open(path, options(&disk)).is_err());
        assert!(disk.bytes(path) == file, "what is refused is left as it is");
        return;
    };
    write(&disk, path, &file, &before);
}

/// The ids of the records that a walk from the start reaches.
fn readable(log: &LogView) -> Vec<Uuid> {
    let frames = log.frames(0).map_while(Result::ok);
    frames.filter(|frame| !frame.frame_type().is_own()).map(|frame| frame.id()).collect()
}

fn read(disk: &SimDisk, path: &Path) {
    let Ok(mut reader) = SessionReader::open(path, disk.fs()) else { return };
    look_at(reader.state());
    let _ = reader.follow();
    let _ = serde_json::to_string(reader.report()).expect("a report is JSON");
    let Ok(whole) = reader.whole_state() else { return };
    look_at(&whole);
    for entry in whole.entries().iter().rev().take(4) {
        let _ = reader.at(entry.event.id);
    }
    let _ = Store::at("/s", options(disk)).history(&reader);
}

fn write(disk: &SimDisk, path: &Path, file: &[u8], before: &[Uuid]) {
    let session = match Session::open(path, options(disk)) {
        Ok(session) => session,
        Err(_) => {
            assert!(disk.bytes(path) == file, "what is refused is left as it is");
            return;
        }
    };
    let same_beginning = |log: &LogView| {
        let after = readable(log);
        assert!(after.starts_with(before), "what could be read before is there: {before:?}, {after:?}");
    };
    same_beginning(session.log());
    let appended = session.append(Message::user("one more"), Durability::Sync);
    let Ok(appended) = appended else { return };
    let event = session.event(appended.id).expect("the log reads").expect("what was appended is there");
    let other = session.compact(seslog::session::Compaction::new("so far"), Durability::Group);
    same_beginning(session.log());
    if session.close().is_err() {
        return;
    }
    let reopened = match Session::open(path, options(disk)) {
        Ok(session) => session,
        Err(error) => panic!("what was written and closed can be opened again: {error}"),
    };
    same_beginning(reopened.log());
    let there = |id: Uuid| -> Result<Option<Event>, SessionError> { reopened.event(id) };
    assert_eq!(there(appended.id).expect("the log reads"), Some(event), "what was acknowledged is there");
    if let Ok(compacted) = other {
        assert!(there(compacted.summary).expect("the log reads").is_some(), "what was acknowledged is there");
    }
}
