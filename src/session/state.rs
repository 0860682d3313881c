//! The state of a session: its events as they stand, and where the current chain runs.

use std::collections::{HashMap, HashSet};

use super::entry::{Entry, Link};
use crate::event::{SessionMeta, Uuid};
use crate::log::IdHash;

/// The fold of a session's events.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub(super) entries: Vec<Entry>,
    pub(super) by_id: HashMap<Uuid, usize, IdHash>,
    /// The messages that hold a call of this id, in file order.
    pub(super) calls: HashMap<String, Vec<usize>, IdHash>,
    /// The events that say that a tool was started, in file order.
    pub(super) started: Vec<usize>,
    /// The leaf as set by the last participant or head, be it alive or not.
    pub(super) leaf: Link,
    /// From the start of the current chain (the boundary that counts, or a root) to the leaf, dead ones included.
    pub(super) walk: Vec<usize>,
    /// Each entry's place in the walk.
    pub(super) walk_place: Vec<Option<usize>>,
    /// The kept messages of the boundary that counts.
    pub(super) kept: Vec<usize>,
    pub(super) kept_set: HashSet<usize>,
    /// The boundary that counts is not the one that this state was trimmed to, and keeps messages that it does not hold.
    pub(super) lacks_kept: bool,
    /// The boundary that this state was trimmed to.
    pub(super) base: Option<Uuid>,
    pub(super) meta: SessionMeta,
    pub(super) meta_offset: u64,
    pub(super) last_id: Uuid,
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

impl State {
    /// The state of a session without events.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            by_id: HashMap::default(),
            calls: HashMap::default(),
            started: Vec::new(),
            leaf: Link::Root,
            walk: Vec::new(),
            walk_place: Vec::new(),
            kept: Vec::new(),
            kept_set: HashSet::new(),
            lacks_kept: false,
            base: None,
            meta: SessionMeta::default(),
            meta_offset: 0,
            last_id: Uuid::nil(),
        }
    }

    /// Makes room for so many more events.
    pub(super) fn reserve(&mut self, count: usize) {
        self.entries.reserve(count);
        self.by_id.reserve(count);
        self.walk.reserve(count);
        self.walk_place.reserve(count);
    }

    /// Every event, in file order. In a trimmed state the kept messages come first, in chain order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The event of this id.
    #[must_use]
    pub fn entry(&self, id: Uuid) -> Option<&Entry> {
        self.index_of(id).map(|index| &self.entries[index])
    }

    /// Whether it begins with the session's first event.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.base.is_none()
    }

    /// What a list of sessions shows of this one.
    #[must_use]
    pub fn meta(&self) -> &SessionMeta {
        &self.meta
    }

    /// What this entry hangs on: of a participant its parent, of any other its nearest participating ancestor. None:
    /// a root, or an event that lies before what this state holds.
    #[must_use]
    pub fn anchor(&self, entry: &Entry) -> Option<&Entry> {
        match entry.link {
            Link::At(index) => Some(&self.entries[index]),
            Link::Root | Link::Outside(_) => None,
        }
    }

    /// Whether this entry hangs on nothing. (An anchor that is missing may also lie before what this state holds.)
    #[must_use]
    pub fn is_root(&self, entry: &Entry) -> bool {
        entry.link == Link::Root
    }

    /// The summary of this boundary, or the boundary of this summary.
    #[must_use]
    pub fn compaction_partner(&self, entry: &Entry) -> Option<&Entry> {
        entry.partner.map(|index| &self.entries[index])
    }

    /// The largest id that the session may have made itself, nil if none.
    #[must_use]
    pub fn last_id(&self) -> Uuid {
        self.last_id
    }

    /// Offset of the session meta that holds, 0 if there is none.
    #[must_use]
    pub(super) fn meta_offset(&self) -> u64 {
        self.meta_offset
    }

    pub(super) fn set_meta_offset(&mut self, offset: u64) {
        self.meta_offset = offset;
    }

    pub(super) fn compaction_partner_index(&self, index: usize) -> Option<usize> {
        self.entries[index].partner
    }

    /// What a child that names this event hangs on. A boundary stands for its summary.
    pub(super) fn standing_for(&self, index: usize) -> Link {
        let entry = &self.entries[index];
        match (entry.is_boundary(), entry.partner) {
            (true, Some(summary)) => Link::At(summary),
            _ => entry.stands_for,
        }
    }

    pub(super) fn link_to(&self, parent: Option<Uuid>) -> Link {
        match parent {
            None => Link::Root,
            Some(id) => self.index_of(id).map_or(Link::Outside(id), |index| self.standing_for(index)),
        }
    }
}
