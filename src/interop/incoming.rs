//! What a reader of foreign files hands on: records whose ids are any strings.

use crate::event::{Extension, Fields, Message, SessionMeta, ToolStarted, Trigger, Unknown};

/// One record on its way into a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// Its id where it comes from; none: one is made.
    pub id: Option<String>,
    /// The id that it had before that, where the file says so: an export of ours names an id of ours and this one.
    pub original_id: Option<String>,
    /// What it hangs on.
    pub parent: IncomingParent,
    /// How a session has placed it before, where the file says so of all its records; none: it is placed anew.
    pub placed: Option<IncomingPlace>,
    /// When it happened, µs since the epoch; none: the importer's rule.
    pub at: Option<i64>,
    /// What happened.
    pub body: IncomingBody,
    /// Fields of the event that this version does not know.
    pub extra: Fields,
}

impl Incoming {
    /// A record without an id or a time that hangs on the leaf. A reader sets what the file says:
    /// `Incoming { id, parent, ..Incoming::new(body) }`.
    #[must_use]
    pub fn new(body: IncomingBody) -> Self {
        Self {
            id: None,
            original_id: None,
            parent: IncomingParent::Leaf,
            placed: None,
            at: None,
            body,
            extra: Fields::new(),
        }
    }
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

/// How a session has placed a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingPlace {
    /// What it hangs on in the place of the parent that it names; none: on that parent.
    pub hung_on: Option<IncomingParent>,
    /// It does not move the leaf.
    pub off_chain: bool,
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
        /// The id that the summary had before that, where the file says so.
        summary_original_id: Option<String>,
        /// The summary's own time; none: the boundary's.
        summary_at: Option<i64>,
        /// The summary did not move the leaf where it had been placed; counts where the boundary keeps its place.
        summary_off_chain: bool,
        /// The summary, of kind `compact_summary`.
        summary: Box<Message>,
        /// The kept messages, in chain order.
        keep: Vec<String>,
        /// Who asked for it.
        trigger: Option<Trigger>,
        /// The other fields of the boundary's message, as a patch of it (see
        /// [`apply_patch`](crate::event::apply_patch)).
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
