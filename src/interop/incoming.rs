//! What a reader of foreign files hands on: records whose ids are any strings.

use crate::event::{Extension, Fields, Message, SessionMeta, ToolStarted, Trigger, Unknown};

/// One record on its way into a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Its id where it comes from; none: one is made.
    pub id: Option<String>,
    /// What it hangs on.
    pub parent: IncomingParent,
    /// When it happened, µs since the epoch; none: the importer's rule.
    pub at: Option<i64>,
    /// What happened.
    pub body: IncomingBody,
    /// Fields of the event that this version does not know.
    pub extra: Fields,
}

/// What an incoming record hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncomingParent {
    /// Whatever is the leaf at that place.
    Leaf,
    /// Nothing.
    Root,
    /// The nearest earlier record of that id.
    Id(String),
}

/// What an incoming record says. Ids in it mean the nearest earlier record of that id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum IncomingBody {
    /// A message.
    Message(Box<Message>),
    /// A boundary with this record's id, then its summary.
    Compaction {
        /// The summary's own id.
        summary_id: Option<String>,
        /// The summary, of kind `compact_summary`.
        summary: Box<Message>,
        /// The kept messages, in chain order.
        keep: Vec<String>,
        /// Who asked for it.
        trigger: Option<Trigger>,
        /// Fields of the boundary's message that this version does not know.
        boundary_extra: Fields,
    },
    /// Messages are taken back.
    Tombstone {
        /// The messages.
        targets: Vec<String>,
        /// Why.
        reason: Option<String>,
    },
    /// A message is completed.
    Amend {
        /// The message.
        target: String,
        /// Fields of a message, by their snake_case names.
        patch: Fields,
    },
    /// Old tool results become a stub for the model.
    Prune {
        /// The messages that hold them.
        targets: Vec<String>,
    },
    /// The current leaf moves.
    Head {
        /// The new leaf; none: before the first message.
        leaf: Option<String>,
    },
    /// A tool is about to run.
    ToolStarted(ToolStarted),
    /// What a list of sessions shows; only the fields that are given change.
    SessionMeta(SessionMeta),
    /// An application's own.
    Extension(Extension),
    /// A type that this version does not know.
    Unknown(Unknown),
}
