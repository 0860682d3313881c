//! The fold: state plus event gives state. Pure; it reads no file.
//!
//! A state is either whole (it begins with the session's first event) or trimmed to the boundary that counts: the
//! kept messages first, then everything from the boundary on in file order. Trimming a whole state gives the same
//! state as replaying from the boundary; a test holds the two equal on random histories.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::event::{Body, Changed, Event, IdMaker, Kind, SessionMeta, Uuid, apply_patch};

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
    /// Of a participant: what it hangs on. Of another: its nearest participating ancestor.
    link: Link,
    /// What a child that names this entry hangs on: itself, or what stands for it if it takes no part.
    stands_for: Link,
    /// The other half of a compaction: a boundary's summary, a summary's boundary.
    partner: Option<usize>,
}

/// The fold of a session's events.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub(super) entries: Vec<Entry>,
    pub(super) by_id: HashMap<Uuid, usize>,
    /// The messages that hold a call of this id, in file order.
    pub(super) calls: HashMap<String, Vec<usize>>,
    /// The leaf as set by the last participant or head, be it alive or not.
    leaf: Link,
    /// From the start of the current chain (the boundary that counts, or a root) to the leaf, dead ones included.
    walk: Vec<usize>,
    /// Each entry's place in the walk.
    walk_place: Vec<Option<usize>>,
    /// The kept messages of the boundary that counts.
    kept: Vec<usize>,
    kept_set: HashSet<usize>,
    /// The walk ends at an event that this state does not hold.
    leads_outside: bool,
    /// The boundary that this state was trimmed to.
    base: Option<Uuid>,
    meta: SessionMeta,
    meta_offset: u64,
    last_id: Uuid,
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

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
    /// The state of a session without events.
    #[must_use]
    pub fn new() -> Self {
        Self {
            entries: Vec::new(),
            by_id: HashMap::new(),
            calls: HashMap::new(),
            leaf: Link::Root,
            walk: Vec::new(),
            walk_place: Vec::new(),
            kept: Vec::new(),
            kept_set: HashSet::new(),
            leads_outside: false,
            base: None,
            meta: SessionMeta::default(),
            meta_offset: 0,
            last_id: Uuid::nil(),
        }
    }

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
        let index = self.attach(Entry::new(event.into(), offset));
        let walk_is_stale = self.apply(index);
        let moved = self.follow(index);
        if walk_is_stale || moved == Moved::Away {
            self.rebuild_walk();
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

    /// Every event, in file order. In a trimmed state the kept messages come first, in chain order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The event of this id.
    #[must_use]
    pub fn entry(&self, id: Uuid) -> Option<&Entry> {
        self.by_id.get(&id).map(|&index| &self.entries[index])
    }

    /// The current leaf: the nearest living message at or above the last participant or head.
    #[must_use]
    pub fn leaf(&self) -> Option<&Entry> {
        self.walk.iter().rev().map(|&index| &self.entries[index]).find(|entry| entry.is_living())
    }

    /// The boundary that counts: the latest living one on the leaf's own chain.
    #[must_use]
    pub fn boundary(&self) -> Option<&Entry> {
        self.walk.first().map(|&index| &self.entries[index]).filter(|entry| entry.is_boundary() && entry.is_living())
    }

    /// The living participants of the current chain. Without a boundary: from the root to the leaf. With one: the
    /// boundary, its summary, the kept messages in their order, then what follows up to the leaf.
    #[must_use]
    pub fn chain(&self) -> Vec<&Entry> {
        let head = match self.walk.as_slice() {
            [boundary, summary, ..] if self.entries[*boundary].partner == Some(*summary) => 2,
            [boundary, ..] if self.entries[*boundary].is_boundary() => 1,
            _ => 0,
        };
        let (head, rest) = self.walk.split_at(head);
        head.iter().chain(&self.kept).chain(rest).map(|&index| &self.entries[index]).filter(|e| e.is_living()).collect()
    }

    /// The living participants from the root to the leaf, through all boundaries on the way: each at its own place.
    /// Goes back as far as this state does.
    #[must_use]
    pub fn history(&self) -> Vec<&Entry> {
        let mut path = Vec::new();
        let mut at = self.leaf;
        while let Link::At(index) = at {
            path.push(&self.entries[index]);
            at = self.entries[index].link;
        }
        path.retain(|entry| entry.is_living());
        path.reverse();
        path
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

    /// Whether this message is on the current chain, kept messages included.
    #[must_use]
    pub fn on_chain(&self, id: Uuid) -> bool {
        self.by_id.get(&id).is_some_and(|&index| self.is_on_chain(index))
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

    /// The leaves of all branches: living participants that no living participant hangs on.
    #[must_use]
    pub fn branches(&self) -> Vec<Uuid> {
        let mut has_child = vec![false; self.entries.len()];
        for entry in self.participants() {
            let mut at = entry.link;
            while let Link::At(index) = at {
                has_child[index] = true;
                // A dead parent is stepped over: the child hangs on the nearest living ancestor.
                at = if self.entries[index].is_living() { Link::Root } else { self.entries[index].link };
            }
        }
        let leaves = self
            .entries
            .iter()
            .zip(has_child)
            .filter(|(entry, has_child)| entry.event.takes_part() && entry.is_living() && !has_child);
        leaves.map(|(entry, _)| entry.event.id).collect()
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

    /// A trimmed state whose boundary no longer counts, since the leaf went back to before it or it was taken back: a
    /// replay from further back is needed.
    pub(super) fn is_cut_short(&self) -> bool {
        self.base.is_some() && (self.leads_outside || self.boundary().is_none())
    }

    /// The place in the walk of the event of this id.
    pub(super) fn walk_place(&self, index: usize) -> Option<usize> {
        self.walk_place[index]
    }

    /// The entries of the walk behind this place.
    pub(super) fn walk_behind(&self, place: usize) -> impl Iterator<Item = &Entry> {
        self.walk[place + 1..].iter().map(|&index| &self.entries[index])
    }

    pub(super) fn is_on_chain(&self, index: usize) -> bool {
        self.walk_place[index].is_some() || self.kept_set.contains(&index)
    }

    /// What a child that names this event hangs on. A boundary stands for its summary.
    pub(super) fn standing_for(&self, index: usize) -> Link {
        let entry = &self.entries[index];
        match (entry.is_boundary(), entry.partner) {
            (true, Some(summary)) => Link::At(summary),
            _ => entry.stands_for,
        }
    }

    /// The last participant or head, dead or alive.
    pub(super) fn raw_leaf(&self) -> Link {
        self.leaf
    }

    fn participants(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.event.takes_part() && entry.is_living())
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

    /// Adds an entry and finds what it hangs on. Touches no other entry but a summary's boundary.
    fn attach(&mut self, mut entry: Entry) -> usize {
        let index = self.entries.len();
        let event = &entry.event;
        entry.partner = None;
        if event.takes_part() {
            entry.link = self.link_to(event.effective_parent());
            entry.stands_for = Link::At(index);
        } else {
            entry.stands_for = self.link_to(event.effective_parent());
            entry.link = match event.parent.map(|parent| self.by_id.get(&parent)) {
                None => Link::Root,
                Some(None) => entry.stands_for,
                Some(Some(&parent)) if self.entries[parent].event.takes_part() => Link::At(parent),
                Some(Some(&parent)) => self.entries[parent].link,
            };
        }
        if let (Some(message), Link::At(parent)) = (event.message(), entry.link) {
            if matches!(message.kind, Kind::CompactSummary(_))
                && self.entries[parent].is_boundary()
                && self.entries[parent].partner.is_none()
            {
                entry.partner = Some(parent);
                self.entries[parent].partner = Some(index);
            }
        }
        for call in event.message().into_iter().flat_map(|message| message.calls()) {
            let holders = self.calls.entry(call.id.clone()).or_default();
            if holders.last() != Some(&index) {
                holders.push(index);
            }
        }
        if IdMaker::may_have_made(event.id) {
            self.last_id = self.last_id.max(event.id);
        }
        self.by_id.insert(event.id, index);
        self.entries.push(entry);
        self.walk_place.push(None);
        index
    }

    fn link_to(&self, parent: Option<Uuid>) -> Link {
        match parent {
            None => Link::Root,
            Some(id) => self.by_id.get(&id).map_or(Link::Outside(id), |&index| self.standing_for(index)),
        }
    }

    /// What the event does to others. True if the walk has to be built anew.
    fn apply(&mut self, index: usize) -> bool {
        self.note_meta(index);
        let targets = match &self.entries[index].event.body {
            Body::Tombstone(tombstone) => tombstone.targets.clone(),
            Body::Prune(prune) => prune.targets.clone(),
            Body::Amend(amend) => vec![amend.target],
            _ => return false,
        };
        let (event, offset) = (self.entries[index].event.clone(), self.entries[index].offset);
        let mut walk_is_stale = false;
        for target in targets {
            if let Some(&at) = self.by_id.get(&target) {
                self.change(&event, offset, at);
                // A dead boundary no longer cuts the chain.
                walk_is_stale |= !self.entries[at].is_living() && self.entries[at].is_compaction();
            }
        }
        walk_is_stale
    }

    fn change(&mut self, change: &Event, offset: u64, target: usize) {
        let changed = Changed { id: change.id, offset };
        let entry = &mut self.entries[target];
        match &change.body {
            Body::Tombstone(_) => {
                entry.tombstone.get_or_insert(change.id);
                // Boundary and summary are taken back together.
                if let Some(partner) = entry.partner.filter(|_| entry.is_compaction()) {
                    let partner = &mut self.entries[partner];
                    partner.tombstone.get_or_insert(change.id);
                    if !partner.changes.contains(&changed) {
                        partner.changes.push(changed.clone());
                    }
                }
            }
            Body::Prune(_) => entry.pruned_at = Some(change.at),
            Body::Amend(amend) => {
                if let Some(message) = entry.event.message() {
                    match apply_patch(message, &amend.patch) {
                        Ok(amended) => Arc::make_mut(&mut entry.event).body = Body::Message(Box::new(amended)),
                        Err(_) => entry.refused_amends.push(change.id),
                    }
                }
            }
            _ => return,
        }
        let entry = &mut self.entries[target];
        if !entry.changes.contains(&changed) {
            entry.changes.push(changed);
        }
    }

    fn note_meta(&mut self, index: usize) {
        if let Body::SessionMeta(meta) = &self.entries[index].event.body {
            self.meta = meta.clone();
            self.meta_offset = self.entries[index].offset;
        }
    }

    /// The leaf rule: a head sets the leaf, each later participant moves it, in file order.
    fn follow(&mut self, index: usize) -> Moved {
        let entry = &self.entries[index];
        if let Body::Head(head) = &entry.event.body {
            self.leaf = self.link_to(head.leaf);
            return Moved::Away;
        }
        if !entry.event.takes_part() || entry.event.off_chain {
            return Moved::No;
        }
        self.leaf = Link::At(index);
        let Link::At(parent) = entry.link else { return Moved::Away };
        let Some(place) = self.walk_place[parent].filter(|_| !entry.is_boundary()) else { return Moved::Away };
        for dropped in self.walk.drain(place + 1..) {
            self.walk_place[dropped] = None;
        }
        self.walk_place[index] = Some(self.walk.len());
        self.walk.push(index);
        Moved::Along
    }

    fn rebuild_walk(&mut self) {
        for &index in &self.walk {
            self.walk_place[index] = None;
        }
        self.walk.clear();
        self.kept.clear();
        self.kept_set.clear();
        let mut at = self.leaf;
        while let Link::At(index) = at {
            let entry = &self.entries[index];
            self.walk.push(index);
            at = entry.link;
            if entry.is_boundary() && entry.is_living() {
                at = Link::Root;
                let named = entry.event.boundary().map(|boundary| boundary.keep.as_slice()).unwrap_or_default();
                self.kept = named.iter().filter_map(|kept| self.by_id.get(&kept.id).copied()).collect();
                self.kept_set = self.kept.iter().copied().collect();
            }
        }
        self.leads_outside = matches!(at, Link::Outside(_));
        self.walk.reverse();
        for (place, &index) in self.walk.iter().enumerate() {
            self.walk_place[index] = Some(place);
        }
    }
}

/// Whether the leaf moved, and whether the walk moved with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moved {
    No,
    /// One step on from an entry of the walk; the walk is right already.
    Along,
    /// Elsewhere; the walk has to be built anew.
    Away,
}

impl Entry {
    fn new(event: Arc<Event>, offset: u64) -> Self {
        Self {
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

    /// Whether no tombstone took it back.
    #[must_use]
    pub fn is_living(&self) -> bool {
        self.tombstone.is_none()
    }

    /// Whether it is a compaction's boundary.
    #[must_use]
    pub fn is_boundary(&self) -> bool {
        self.event.boundary().is_some()
    }

    fn is_compaction(&self) -> bool {
        self.event
            .message()
            .is_some_and(|message| matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_)))
    }
}
