//! A disk that is full, at any page.

use std::error::Error as _;
use std::path::Path;

use seslog::event::{Message, Uuid};
use seslog::interop::{import_events, read_events};
use seslog::log::{Durability, LogError, RealFs};
use seslog::session::{Opened, Session, SessionError, SessionOptions, SessionReader, Store};

use crate::small_disk::{Ballast, names, on_disk_of, say};

fn full(error: &SessionError) {
    assert!(matches!(error, SessionError::Log(LogError::Full { .. })), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("no space for") && text.contains("free some, then open the log again"), "{text}");
    assert!(error.source().is_some(), "the system's own words are there too");
}

fn message(len: usize) -> Message {
    Message::user("x".repeat(len))
}

fn open(path: &Path) -> Result<Session, SessionError> {
    Session::open(path, SessionOptions::default())
}

/// Each acknowledged event is there, in order, and nothing is damaged.
fn hold(path: &Path, acknowledged: &[Uuid]) {
    let reader = SessionReader::open(path, RealFs::shared()).unwrap();
    assert_ne!(reader.report().open, Opened::Damaged);
    let state = reader.whole_state().unwrap();
    let mut found = state.entries().iter().map(|entry| entry.event.id);
    assert!(acknowledged.iter().all(|id| found.any(|found| found == *id)), "an acknowledged event is lost");
}

/// With space again, the session opens, goes on, and closes clean.
fn goes_on(path: &Path, acknowledged: &mut Vec<Uuid>) {
    let session = open(path).unwrap();
    acknowledged.push(session.append(message(10), Durability::Sync).unwrap().id);
    session.close().unwrap();
    hold(path, acknowledged);
    assert_eq!(SessionReader::open(path, RealFs::shared()).unwrap().report().open, Opened::Clean);
}

#[test]
fn an_append_on_a_full_disk_says_so_and_the_session_goes_on_once_there_is_space() {
    on_disk_of(512, "append");
}

pub(crate) fn append(dir: &Path) {
    let (mut refused_opens, mut torn) = (0, 0);
    for free in 0..10 {
        for len in [30, 700, 3_000, 9_000] {
            let path = dir.join(format!("{free}-{len}.seslog"));
            let session = Session::create(&path, SessionOptions::default()).unwrap();
            let mut acknowledged = vec![session.append(message(100), Durability::Sync).unwrap().id];
            let ballast = Ballast::leaving(free, dir.join("ballast"));
            let error = loop {
                match session.append(message(len), Durability::Sync) {
                    Ok(appended) => acknowledged.push(appended.id),
                    Err(error) => break error,
                }
            };
            full(&error);
            let again = session.append(message(1), Durability::Os).unwrap_err();
            assert!(matches!(again, SessionError::Log(LogError::Poisoned { .. })), "{again:?}");
            assert!(session.close().is_err());
            hold(&path, &acknowledged);
            // Recovery may need a page that is not there. Trying changes nothing for the worse.
            for _ in 0..2 {
                if let Err(error) = open(&path) {
                    full(&error);
                    refused_opens += 1;
                }
                hold(&path, &acknowledged);
            }
            drop(ballast);
            torn += usize::from(open(&path).unwrap().report().open == Opened::Recovered);
            goes_on(&path, &mut acknowledged);
            std::fs::remove_file(path).unwrap();
        }
    }
    say(&format!("40 disks filled by appends: {refused_opens} opens refused while full, {torn} torn ends set aside"));
}

#[test]
fn a_close_on_a_full_disk_says_so_or_is_whole_and_loses_nothing() {
    on_disk_of(256, "close");
}

pub(crate) fn close(dir: &Path) {
    let mut refused = 0;
    for len in (0..4_096).step_by(96) {
        let path = dir.join(format!("{len}.seslog"));
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        let mut appended = vec![session.append(message(len), Durability::Os).unwrap().id];
        let ballast = Ballast::leaving(0, dir.join("ballast"));
        match session.close() {
            Ok(()) => assert_eq!(SessionReader::open(&path, RealFs::shared()).unwrap().report().open, Opened::Clean),
            Err(error) => {
                full(&error);
                refused += 1;
            }
        }
        hold(&path, &appended);
        drop(ballast);
        goes_on(&path, &mut appended);
        std::fs::remove_file(path).unwrap();
    }
    assert!(refused > 0);
    say(&format!("43 closes on a full disk: {refused} refused"));
}

#[test]
fn a_session_that_the_disk_has_no_room_for_is_not_made_and_leaves_nothing() {
    on_disk_of(256, "create");
}

pub(crate) fn create(dir: &Path) {
    let path = dir.join("s.seslog");
    let ballast = Ballast::leaving(0, dir.join("ballast"));
    full(&Session::create(&path, SessionOptions::default()).unwrap_err());
    assert_eq!(names(dir), ["ballast"]);
    let store = Store::at(dir, SessionOptions::default());
    full(&store.create().unwrap_err());
    assert_eq!(names(dir), ["ballast"]);
    drop(ballast);
    drop(Session::create(&path, SessionOptions::default()).unwrap());
    goes_on(&path, &mut Vec::new());
}

#[test]
fn a_fork_or_a_salvage_that_does_not_fit_leaves_nothing_and_its_source_alone() {
    on_disk_of(512, "fork and salvage");
}

pub(crate) fn fork_and_salvage(dir: &Path) {
    let store = Store::at(dir, SessionOptions::default());
    let session = store.create().unwrap();
    let acknowledged: Vec<Uuid> = (0..20).map(|_| session.append(message(3_000), Durability::Os).unwrap().id).collect();
    let (path, name) = (session.path().to_owned(), session.id().to_string());
    session.close().unwrap();
    let (bytes, target) = (std::fs::read(&path).unwrap(), dir.join("salvaged.seslog"));
    for free in 0..15 {
        let ballast = Ballast::leaving(free, dir.join("ballast"));
        let before = names(dir);
        full(&store.fork(&name, acknowledged[19]).unwrap_err());
        assert_eq!(names(dir), before, "{free} pages free");
        full(&Session::salvage(&path, &target, &SessionOptions::default()).unwrap_err());
        assert_eq!(names(dir), before, "{free} pages free");
        drop(ballast);
        assert!(std::fs::read(&path).unwrap() == bytes);
    }
    let fork = store.fork(&name, acknowledged[19]).unwrap();
    assert_eq!(fork.whole_state().unwrap().entries().len(), 20);
    assert!(Session::salvage(&path, &target, &SessionOptions::default()).is_ok());
    goes_on(&target, &mut acknowledged.clone());
}

#[test]
fn an_import_that_does_not_fit_can_be_done_again_and_stores_nothing_twice() {
    on_disk_of(512, "import");
}

pub(crate) fn import(dir: &Path) {
    let lines: Vec<String> = (0..50)
        .map(|n| {
            let content = format!("{n} {}", "words ".repeat(500));
            serde_json::json!({"type": "message", "id": format!("m{n}"), "role": "user", "kind": "user_input", "content": content})
                .to_string()
        })
        .collect();
    let text = lines.join("\n");
    for free in [0, 1, 5, 20, 37] {
        let path = dir.join(format!("{free}.seslog"));
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        let ballast = Ballast::leaving(free, dir.join("ballast"));
        let error = import_events(&session, "the lines", read_events(text.as_bytes())).map(drop).unwrap_err();
        full(&error);
        assert!(session.close().is_err());
        hold(&path, &[]);
        drop(ballast);
        for round in 0..2 {
            let session = open(&path).unwrap();
            assert!(import_events(&session, "the lines", read_events(text.as_bytes())).unwrap().is_clean());
            let state = session.whole_state().unwrap();
            assert_eq!(state.entries().len(), 50, "{free} pages free, round {round}");
            session.close().unwrap();
        }
        goes_on(&path, &mut Vec::new());
        std::fs::remove_file(path).unwrap();
    }
}
