//! What a caller gives to be appended.

use super::place::Parent;
use crate::event::{
    Amend, Body, Event, Extension, Fields, HungOn, Message, Prune, SessionMeta, Tombstone, ToolStarted, Uuid,
};

/// An event to be appended. What is left out is filled in: an id, the time, the current leaf as parent.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct NewEvent {
    /// Its id; none: a new UUIDv7. Appending a known id with the same content again is a no-op.
    pub id: Option<Uuid>,
    /// What it hangs on.
    pub parent: Parent,
    /// When it happened, µs since the epoch; none: now.
    pub at: Option<i64>,
    /// The id that it had where it comes from.
    pub original_id: Option<String>,
    /// The parent's id where it comes from, if that names no record here.
    pub original_parent: Option<String>,
    /// What happened.
    pub body: Body,
    /// Fields that this version does not know.
    pub extra: Fields,
    /// What it hangs on, and whether it does not move the leaf, as a session has placed it before: then nothing of that is decided
    /// anew. Only an [`Import`](super::Import) takes it; everywhere else an event is placed by its parent.
    pub placed: Option<(HungOn, bool)>,
}

impl NewEvent {
    /// An event of this body, on the current leaf.
    pub fn new(body: Body) -> Self {
        Self {
            id: None,
            parent: Parent::Leaf,
            at: None,
            original_id: None,
            original_parent: None,
            body,
            extra: Fields::new(),
            placed: None,
        }
    }

    /// An event that has its id, parent and time already.
    pub fn from_event(event: Event) -> Self {
        Self {
            id: Some(event.id),
            parent: event.parent.map_or(Parent::Root, Parent::Of),
            at: Some(event.at),
            original_id: event.original_id,
            original_parent: event.original_parent,
            body: event.body,
            extra: event.extra,
            placed: None,
        }
    }

    /// With this id.
    pub fn with_id(mut self, id: Uuid) -> Self {
        self.id = Some(id);
        self
    }

    /// Hung on this.
    pub fn with_parent(mut self, parent: Parent) -> Self {
        self.parent = parent;
        self
    }

    /// At this time, µs since the epoch.
    pub fn at(mut self, at: i64) -> Self {
        self.at = Some(at);
        self
    }

    /// The event, and the parent by which it is still to be placed: none, if it keeps the place that it had.
    pub(super) fn into_event(mut self, id: Uuid, now: i64, keeps_place: bool) -> (Event, Option<Parent>) {
        self.placed = self.placed.filter(|_| keeps_place);
        let is_placed = self.placed.is_some();
        let (hung_on, off_chain) = self.placed.unwrap_or((HungOn::Named, false));
        let parent = match self.parent {
            Parent::Of(id) if is_placed => Some(id),
            _ => None,
        };
        let event = Event {
            id,
            parent,
            hung_on,
            at: self.at.unwrap_or(now),
            original_id: self.original_id,
            original_parent: self.original_parent,
            off_chain,
            body: self.body,
            extra: self.extra,
        };
        (event, (!is_placed).then_some(self.parent))
    }

    /// Whether this event says the same again.
    pub(super) fn repeats(&self, known: &Event) -> bool {
        let same_parent = match self.parent {
            Parent::Leaf => true,
            Parent::Root => known.parent.is_none(),
            Parent::Of(id) => known.parent == Some(id),
        };
        // The record of a session meta is whole in the log; a change that changes nothing in it says the same.
        let same_body = match (&self.body, &known.body) {
            (Body::SessionMeta(change), Body::SessionMeta(whole)) => whole.changed_by(change) == *whole,
            (body, known) => body == known,
        };
        same_parent
            && self.at.is_none_or(|at| at == known.at)
            && self.original_id == known.original_id
            && same_body
            && self.extra == known.extra
    }
}

impl From<Message> for NewEvent {
    fn from(message: Message) -> Self {
        Self::new(Body::Message(Box::new(message)))
    }
}

impl From<Tombstone> for NewEvent {
    fn from(body: Tombstone) -> Self {
        Self::new(Body::Tombstone(body))
    }
}

impl From<Amend> for NewEvent {
    fn from(body: Amend) -> Self {
        Self::new(Body::Amend(body))
    }
}

impl From<Prune> for NewEvent {
    fn from(body: Prune) -> Self {
        Self::new(Body::Prune(body))
    }
}

impl From<ToolStarted> for NewEvent {
    fn from(body: ToolStarted) -> Self {
        Self::new(Body::ToolStarted(body))
    }
}

impl From<SessionMeta> for NewEvent {
    fn from(body: SessionMeta) -> Self {
        Self::new(Body::SessionMeta(body))
    }
}

impl From<Extension> for NewEvent {
    fn from(body: Extension) -> Self {
        Self::new(Body::Extension(body))
    }
}
