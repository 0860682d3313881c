//! Sessions of the generator, in files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use seslog::event::{Event, decode};
use seslog::log::{Durability, FrameType, LogReader, Place, RealFs};
use seslog::session::{Compaction, Session, SessionOptions};

use crate::even_clock::EvenClock;
use crate::session::{COMPACTED_EVERY, SUMMARY, Size, Step, Story, small};

/// Options with a clock that makes each run the same.
pub(crate) fn options() -> SessionOptions {
    SessionOptions { clock: Arc::new(EvenClock::default()), ..SessionOptions::default() }
}

/// A closed session of the generator's, of so many messages.
pub(crate) fn session(dir: &Path, count: usize) -> PathBuf {
    let path = dir.join(format!("{count}.seslog"));
    tell(&path, Story::of(Size::Messages(count))).close().unwrap();
    path
}

/// A closed session of so many small messages.
pub(crate) fn small_session(dir: &Path, count: usize) -> PathBuf {
    let path = dir.join(format!("{count}-small.seslog"));
    let compacts = |n: usize| n > 0 && n.is_multiple_of(COMPACTED_EVERY);
    let steps = (0..count).flat_map(|n| compacts(n).then_some(Step::Compact).into_iter().chain([Step::Say(small(n))]));
    tell(&path, steps).close().unwrap();
    path
}

/// A new session in which this happens.
pub(crate) fn tell(path: &Path, steps: impl Iterator<Item = Step>) -> Session {
    let session = Session::create(path, options()).unwrap();
    for step in steps {
        match step {
            Step::Say(message) => drop(session.append(message, Durability::Os).unwrap().receipt),
            Step::Compact => drop(session.compact(Compaction::new(SUMMARY), Durability::Os).unwrap().receipt),
        }
    }
    session
}

/// What a log holds.
pub(crate) struct Contents {
    /// Bytes from the boundary that counts to the end.
    pub(crate) window: u64,
    /// The longest INDEX frame, in bytes.
    pub(crate) longest_index: u64,
    /// Bytes of all events.
    pub(crate) payload: u64,
    /// All events.
    pub(crate) events: Vec<Event>,
}

impl Contents {
    /// Of this log.
    pub(crate) fn of(path: &Path) -> Self {
        let (log, _) = LogReader::open(RealFs::shared(), path).unwrap();
        let Place::At(boundary) = log.note().unwrap().boundary else { panic!("no boundary") };
        let mut contents = Self { window: log.end() - boundary, longest_index: 0, payload: 0, events: Vec::new() };
        for frame in log.frames(0) {
            let frame = frame.unwrap();
            match frame.frame_type() {
                FrameType::Index => contents.longest_index = contents.longest_index.max(frame.head().total_len()),
                FrameType::Event | FrameType::Boundary => {
                    contents.payload += frame.payload().len() as u64;
                    contents.events.push(decode(frame.payload()).unwrap());
                }
                _ => {}
            }
        }
        contents
    }
}
