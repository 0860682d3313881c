//! What the tests of erasing share.

use std::path::{Path, PathBuf};

use seslog::event::{Event, Uuid};
use seslog::log::{LogReader, RealFs};
use seslog::session::{EraseReport, Redaction, Session, SessionError, SessionOptions, SessionReader, Store};

/// What is to go.
pub const SECRET: &str = "s3cr3t-K3Y-0123456789";

pub fn options() -> SessionOptions {
    SessionOptions::default()
}

pub fn literal(text: &str) -> Redaction {
    Redaction::new().literal(text).unwrap()
}

pub fn redact(path: &Path) -> Result<EraseReport, SessionError> {
    Session::redact(path, &literal(SECRET), &options())
}

pub fn events(path: &Path) -> Vec<Event> {
    SessionReader::open(path, RealFs::shared()).unwrap().events().collect::<Result<_, _>>().unwrap()
}

/// A session of the store that is closed.
pub fn closed(store: &Store, fill: impl FnOnce(&Session)) -> PathBuf {
    let session = store.create().unwrap();
    fill(&session);
    let path = session.path().to_owned();
    session.close().unwrap();
    path
}

pub fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

pub fn file_holds(path: &Path, text: &str) -> bool {
    holds(&std::fs::read(path).unwrap(), text)
}

/// Everything of an event but what it says.
pub fn skeleton(event: &Event) -> impl PartialEq + std::fmt::Debug + use<> {
    let message = event.message().map(|message| (message.role, message.kind.name(), message.content.len()));
    let calls: Vec<String> =
        event.message().iter().flat_map(|message| message.calls()).map(|call| call.id.clone()).collect();
    let results: Vec<String> =
        event.message().iter().flat_map(|message| message.results()).map(|result| result.call_id.clone()).collect();
    (
        (event.id, event.parent, event.hung_on, event.at, event.off_chain),
        (event.original_id.clone(), event.original_parent.clone()),
        event.body.type_name().to_owned(),
        message,
        calls,
        results,
    )
}

/// The names of all files in a directory but the session's own and the cache's.
pub fn others(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut others: Vec<String> = names.filter(|name| !name.ends_with(".seslog") && name != ".cache").collect();
    others.sort();
    others
}

/// The log's frames: type, id and flags, in order.
pub fn frames(path: &Path) -> Vec<(String, Uuid, bool, bool, bool)> {
    let (log, report) = LogReader::open(RealFs::shared(), path).unwrap();
    assert!(report.damage.is_empty(), "{report:?}");
    let frames = log.frames(0).map(|frame| frame.unwrap()).filter(|frame| !frame.frame_type().is_own());
    frames
        .map(|frame| {
            let head = frame.head();
            let kind = format!("{:?} {:?} {:?}", head.frame_type, head.hint, frame.targets().collect::<Vec<_>>());
            (kind, head.id, head.is_leaf(), head.batch_goes_on(), head.is_skippable())
        })
        .collect()
}
