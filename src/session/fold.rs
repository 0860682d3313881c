//! The fold: state plus event gives state. Pure; it reads no file.
//!
//! A state is either whole (it begins with the session's first event) or trimmed to the boundary that counts: the
//! kept messages first, then everything from the boundary on in file order. Trimming a whole state gives the same
//! state as replaying from the boundary; a test holds the two equal on random histories.

use std::sync::Arc;

use super::commit::targets;
use super::entry::{Entry, Link};
use super::state::State;
use super::walk::Moved;
use crate::event::{Body, Event, IdMaker, Kind};

impl State {
    /// The fold of these events, placed by the same rules as an import places them: an unknown parent is replaced
    /// by the leaf, a result whose call is not on the chain does not move the leaf.
    #[must_use]
    pub fn from_events(events: impl IntoIterator<Item = Event>) -> Self {
        let mut state = Self::new();
        for (index, mut event) in events.into_iter().enumerate() {
            state.place_tolerantly(&mut event);
            state.push(event, index as u64 + 1);
        }
        state
    }

    /// One step of the fold. `offset` is where the event lies in the log, in bytes.
    pub fn push(&mut self, event: impl Into<Arc<Event>>, offset: u64) {
        self.push_entry(Entry::new(event.into(), offset));
    }

    pub(super) fn push_entry(&mut self, entry: Entry) {
        let index = self.attach(entry);
        let walk_is_stale = self.apply(index);
        let moved = self.follow(index);
        if walk_is_stale || moved == Moved::Away {
            self.rebuild_walk();
        }
    }

    /// A step of the fold whose walk nobody asks for before [`State::rebuild_walk`]: a file that goes from branch to branch
    /// would have it built anew at each turn.
    pub(super) fn push_unwalked(&mut self, entry: Entry) {
        let index = self.attach(entry);
        self.apply(index);
        self.lead(index);
    }

    /// Adds an entry and finds what it hangs on. Touches no other entry but a summary's boundary.
    pub(super) fn attach(&mut self, mut entry: Entry) -> usize {
        let index = self.entries.len();
        let event = &entry.event;
        entry.partner = None;
        if entry.takes_part {
            entry.link = self.link_to(event.effective_parent());
            entry.stands_for = Link::At(index);
        } else {
            entry.stands_for = self.link_to(event.effective_parent());
            entry.link = match event.parent.map(|parent| self.index_of(parent)) {
                None => Link::Root,
                Some(None) => entry.stands_for,
                Some(Some(parent)) if self.entries[parent].takes_part => Link::At(parent),
                Some(Some(parent)) => self.entries[parent].link,
            };
        }
        if let (Some(message), Link::At(parent)) = (event.message(), entry.link)
            && matches!(message.kind, Kind::CompactSummary(_))
            && self.entries[parent].is_boundary()
            && self.entries[parent].partner.is_none()
        {
            entry.partner = Some(parent);
            self.entries[parent].partner = Some(index);
        }
        if IdMaker::may_have_made(event.id) {
            self.last_id = self.last_id.max(event.id);
        }
        self.by_id.insert(event.id, index);
        self.entries.push(entry);
        self.walk_place.push(None);
        if matches!(self.entries[index].event.body, Body::ToolStarted(_)) {
            self.started.push(index);
        }
        self.note_calls(index);
        index
    }

    /// Notes which calls this entry holds. The holders of a call stand in file order.
    pub(super) fn note_calls(&mut self, index: usize) {
        for call in self.entries[index].event.message().into_iter().flat_map(|message| message.calls()) {
            let holders = self.calls.entry(call.id.clone()).or_default();
            if let Err(place) = holders.binary_search(&index) {
                holders.insert(place, index);
            }
        }
    }

    /// What the event does to others. True if the walk has to be built anew.
    fn apply(&mut self, index: usize) -> bool {
        self.note_meta(index);
        if targets(&self.entries[index].event).is_empty() {
            return false;
        }
        let (event, offset) = (self.entries[index].event.clone(), self.entries[index].offset);
        let mut walk_is_stale = false;
        for target in targets(&event) {
            if let Some(&at) = self.by_id.get(target) {
                self.change(&event, offset, at);
                // A dead boundary no longer cuts the chain.
                walk_is_stale |= !self.entries[at].is_living() && self.entries[at].is_compaction();
            }
        }
        walk_is_stale
    }

    pub(super) fn change(&mut self, change: &Event, offset: u64, target: usize) {
        match &change.body {
            // A message that was recorded while it streamed gets its calls only now.
            Body::Amend(_) => {
                self.forget_calls(target);
                self.entries[target].change(change, offset);
                self.note_calls(target);
            }
            Body::Tombstone(_) => {
                // Boundary and summary are taken back together.
                if let Some(partner) = self.entries[target].partner.filter(|_| self.entries[target].is_compaction()) {
                    self.entries[partner].change(change, offset);
                }
                self.entries[target].change(change, offset);
            }
            _ => self.entries[target].change(change, offset),
        }
    }

    pub(super) fn forget_calls(&mut self, index: usize) {
        let held: Vec<String> = {
            let message = self.entries[index].event.message();
            message.into_iter().flat_map(|message| message.calls()).map(|call| call.id.clone()).collect()
        };
        for call_id in held {
            if let Some(holders) = self.calls.get_mut(&call_id) {
                holders.retain(|&at| at != index);
                if holders.is_empty() {
                    self.calls.remove(&call_id);
                }
            }
        }
    }

    pub(super) fn note_meta(&mut self, index: usize) {
        if let Body::SessionMeta(meta) = &self.entries[index].event.body {
            self.meta = meta.clone();
            self.meta_offset = self.entries[index].offset;
        }
    }
}
