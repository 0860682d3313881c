//! A state that begins with the boundary that counts: made by a replay, or by dropping what lies before it.

use std::sync::Arc;

use super::entry::Entry;
use super::state::State;
use crate::event::{Body, Event, SessionMeta, Uuid};

/// What a trimmed state begins with, beside the events from the boundary on.
#[derive(Debug, Clone, Default)]
pub(super) struct Base {
    /// The boundary that the state begins with.
    pub(super) boundary: Uuid,
    /// The session meta that holds there, and its offset.
    pub(super) meta: SessionMeta,
    pub(super) meta_offset: u64,
    /// The last id of the session's own, made before the boundary.
    pub(super) last_id: Uuid,
}

impl State {
    /// A state that begins with a boundary. The kept entries, then the events from the boundary on, are to follow.
    pub(super) fn starting_at(base: Base) -> Self {
        Self {
            base: Some(base.boundary),
            meta: base.meta,
            meta_offset: base.meta_offset,
            last_id: base.last_id,
            ..Self::new()
        }
    }

    /// Adds a message that the boundary keeps; the changes that hold for it follow with [`State::change_kept`].
    pub(super) fn push_kept(&mut self, event: Event, offset: u64) {
        self.attach(Entry::new(Arc::new(event), offset));
    }

    /// Applies a change that the boundary names to a kept message.
    pub(super) fn change_kept(&mut self, change: &Event, offset: u64, target: Uuid) {
        if let Some(&index) = self.by_id.get(&target) {
            self.change(change, offset, index);
        }
    }

    /// This state without what lies before the boundary that counts, but with what that boundary names: what a resume
    /// replays.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        self.trim();
        self
    }

    /// Drops what lies before the boundary that counts, but what that boundary names. A state that counts none, or
    /// begins with it already, is left as it is.
    pub(super) fn trim(&mut self) {
        let Some(boundary) = self.boundary().map(|entry| entry.event.id) else { return };
        if self.base == Some(boundary) {
            return;
        }
        let first = self.walk[0];
        let Some(named) = self.entries[first].event.boundary().cloned() else { return };
        let (meta, meta_offset) = self.meta_at(named.meta_offset);
        let mut trimmed = Self::starting_at(Base { boundary, meta, meta_offset, last_id: named.last_id });
        let mut slots: Vec<Option<Entry>> = std::mem::take(&mut self.entries).into_iter().map(Some).collect();
        for kept in named.keep.iter().chain(&named.carried) {
            if let Some(entry) = self.by_id.get(&kept.id).and_then(|&index| slots[index].take()) {
                trimmed.attach(entry);
            }
        }
        for entry in slots.into_iter().skip(first).flatten() {
            let index = trimmed.attach(entry);
            trimmed.note_meta(index);
            trimmed.follow(index);
        }
        trimmed.rebuild_walk();
        *self = trimmed;
    }

    /// The session meta at this offset. If it is not here, an event behind the boundary replaces it anyway.
    fn meta_at(&self, offset: u64) -> (SessionMeta, u64) {
        if offset == self.meta_offset {
            return (self.meta.clone(), offset);
        }
        let found = self.entries.iter().find_map(|entry| match &entry.event.body {
            Body::SessionMeta(meta) if entry.offset == offset => Some(meta.clone()),
            _ => None,
        });
        found.map_or_else(Default::default, |meta| (meta, offset))
    }
}
