//! One event as a state holds it.

use std::sync::Arc;

use crate::event::{Body, Changed, Event, Fields, Kind, Uuid, apply_patch};

/// Where a link leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Nowhere: the entry is a root.
    Root,
    /// To an entry of this state.
    At(usize),
    /// To an event that lies before what this state holds.
    Outside(Uuid),
}

/// One event as the state holds it: a message with all that amended, pruned or took it back so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The event; a message as amended so far. Shared, so that a copy of the state copies no message.
    pub event: Arc<Event>,
    /// Its offset in the log, in bytes.
    pub offset: u64,
    /// The tombstone that took it back.
    pub tombstone: Option<Uuid>,
    /// When it was last pruned, µs since the epoch.
    pub pruned_at: Option<i64>,
    /// The changes that hold for it, in file order.
    pub changes: Vec<Changed>,
    /// Amends that could not be applied, since their patch does not fit the message.
    pub refused_amends: Vec<Uuid>,
    /// Whether it takes part in the chain, as it was written: an amend moves no message in or out.
    pub(super) takes_part: bool,
    /// Of a participant: what it hangs on. Of another: its nearest participating ancestor.
    pub(super) link: Link,
    /// What a child that names this entry hangs on: itself, or what stands for it if it takes no part.
    pub(super) stands_for: Link,
    /// The other half of a compaction: a boundary's summary, a summary's boundary.
    pub(super) partner: Option<usize>,
}

impl Entry {
    pub(super) fn new(event: Arc<Event>, offset: u64) -> Self {
        Self {
            takes_part: event.takes_part(),
            event,
            offset,
            tombstone: None,
            pruned_at: None,
            changes: Vec::new(),
            refused_amends: Vec::new(),
            link: Link::Root,
            stands_for: Link::Root,
            partner: None,
        }
    }

    /// Whether it takes part in the chain of parents. That is decided as it was written: an amend of its metadata moves
    /// no message in or out.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        self.takes_part
    }

    /// Whether no tombstone took it back.
    #[must_use]
    pub fn is_living(&self) -> bool {
        self.tombstone.is_none()
    }

    /// Whether it moves the leaf.
    pub(super) fn leads(&self) -> bool {
        (self.takes_part || matches!(self.event.body, Body::Head(_))) && !self.event.off_chain
    }

    /// What a change does to this entry.
    pub(super) fn change(&mut self, change: &Event, offset: u64) {
        match &change.body {
            Body::Tombstone(_) => {
                self.tombstone.get_or_insert(change.id);
            }
            Body::Prune(_) => self.pruned_at = Some(change.at),
            Body::Amend(amend) => self.amend(change.id, &amend.patch),
            _ => return,
        }
        let changed = Changed { id: change.id, offset };
        // One event that names this message twice comes here twice in a row.
        if self.changes.last() != Some(&changed) {
            self.changes.push(changed);
        }
    }

    /// Puts a patch into a message.
    fn amend(&mut self, amend: Uuid, patch: &Fields) {
        let Some(message) = self.event.message() else { return };
        match apply_patch(message, patch) {
            Ok(amended) => Arc::make_mut(&mut self.event).body = Body::Message(Box::new(amended)),
            Err(_) => self.refused_amends.push(amend),
        }
    }

    /// Whether its message holds a call of this id.
    pub(super) fn holds_call(&self, call_id: &str) -> bool {
        self.event.message().is_some_and(|message| message.calls().any(|call| call.id == call_id))
    }

    /// Where the tombstone that took it back lies in the log, in bytes.
    pub(super) fn taken_back_at(&self) -> Option<u64> {
        let tombstone = self.tombstone?;
        self.changes.iter().find(|change| change.id == tombstone).map(|change| change.offset)
    }

    /// Whether it is a compaction's boundary.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.event.boundary().is_some()
    }

    pub(super) fn is_compaction(&self) -> bool {
        self.event
            .message()
            .is_some_and(|message| matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)))
    }
}
