//! What can go wrong with a session.

use std::path::PathBuf;

use thiserror::Error;

use crate::event::{EventError, Uuid};
use crate::log::LogError;

/// What can go wrong with a session. Each variant is a situation that a caller can act on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The log floor refuses: see its own variants (locked, damaged, full disk, poisoned, too large, no log at all).
    #[error(transparent)]
    Log(#[from] LogError),
    /// An event can't be written as it is.
    #[error("the event can't be written: {0}")]
    Event(#[from] EventError),
    /// A record of the log is whole but holds no event that this version can read.
    #[error("the record at byte {offset} of `{}` holds no readable event: {source}; `seslog verify` shows the record", path.display())]
    Unreadable {
        /// The log.
        path: PathBuf,
        /// Where the record lies, in bytes.
        offset: u64,
        /// What is wrong with it.
        source: EventError,
    },
    /// A record of a kind that this version does not know and must not skip.
    #[error("the record at byte {offset} of `{}` is an event of type `{found}`, which this version does not know and must not skip; open the session with a newer version", path.display())]
    UnknownEvent {
        /// The log.
        path: PathBuf,
        /// Where the record lies, in bytes.
        offset: u64,
        /// Its type, and its kind if it is a message.
        found: String,
    },
    /// The parent that an event names is no event of this session.
    #[error("unknown parent {parent}: no event of `{}` has this id; append what it names first, or leave the parent out to hang the event on the leaf", path.display())]
    UnknownParent {
        /// The log.
        path: PathBuf,
        /// The id that was named.
        parent: Uuid,
    },
    /// An id that was named is no event of this session.
    #[error("no event of `{}` has the id {id}", path.display())]
    NoSuchEvent {
        /// The log.
        path: PathBuf,
        /// The id that was named.
        id: Uuid,
    },
    /// An event of this id is there already and says something else.
    #[error("an event of `{}` has the id {id} already, with other content; to complete a message, amend it", path.display())]
    DuplicateId {
        /// The log.
        path: PathBuf,
        /// The id.
        id: Uuid,
    },
    /// A change that would not do what it says.
    #[error("{what}: {why}")]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// Why it is refused, and the cure.
        why: String,
    },
    /// No session of this name.
    #[error("no session `{name}` in `{}`; `seslog list` shows those there are", store.display())]
    NoSuchSession {
        /// The name as given.
        name: String,
        /// The store.
        store: PathBuf,
    },
    /// The beginning of an id that fits several sessions.
    #[error("`{prefix}` fits {} sessions ({}); give more of the id", matches.len(), list(matches))]
    AmbiguousSession {
        /// The beginning as given.
        prefix: String,
        /// The sessions that it fits.
        matches: Vec<Uuid>,
    },
    /// The session was closed, or its state could not be read back after a failed append.
    #[error("the session of `{}` is closed; open it again", path.display())]
    Closed {
        /// The log.
        path: PathBuf,
    },
}

impl SessionError {
    /// Whether the event itself can't be written as it is, so that the next one may well be.
    #[must_use]
    pub fn is_of_the_event(&self) -> bool {
        matches!(self, Self::Event(_) | Self::UnknownParent { .. } | Self::Log(LogError::RecordTooLarge { .. }))
    }
}

fn list(ids: &[Uuid]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<String> = ids.iter().take(SHOWN).map(Uuid::to_string).collect();
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
