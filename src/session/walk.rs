//! The walk: from where the current chain starts to the leaf, kept up to date step by step.

use std::collections::HashMap;
use std::sync::Arc;

use super::entry::{Entry, Link};
use super::state::State;
use crate::event::{Body, Message, Uuid};

/// Whether the leaf moved, and whether the walk moved with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    No,
    /// On from an entry of the walk; the walk is right already.
    Along,
    /// Elsewhere; the walk has to be built anew.
    Away,
}

impl State {
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

    /// What the chain begins with: the boundary that counts, its summary, the kept messages in their order. Without a
    /// boundary it begins with nothing of that kind.
    pub(crate) fn chain_head(&self) -> Vec<&Entry> {
        let Some(boundary) = self.boundary() else { return Vec::new() };
        let summary = boundary.partner.map(|index| &self.entries[index]);
        let kept = self.kept.iter().map(|&index| &self.entries[index]);
        std::iter::once(boundary).chain(summary).chain(kept).filter(|entry| entry.is_living()).collect()
    }

    /// The living participants of the chain behind its head that lie at this place among the entries or behind it,
    /// each with its place, in order.
    pub(crate) fn chain_since(&self, place: usize) -> impl Iterator<Item = (usize, &Entry)> {
        // A child lies behind its parent, so the places rise along the walk.
        let from = self.walk.partition_point(|&index| index < place);
        let boundary = self.boundary().and_then(|boundary| self.index_of(boundary.event.id));
        let summary = boundary.and_then(|boundary| self.entries[boundary].partner);
        self.walk[from..]
            .iter()
            .filter(move |&&index| Some(index) != boundary && Some(index) != summary)
            .map(|&index| (index, &self.entries[index]))
            .filter(|(_, entry)| entry.is_living())
    }

    /// The place among the entries of the last one of the chain, dead or alive.
    pub(crate) fn chain_end(&self) -> Option<usize> {
        self.walk.last().copied()
    }

    /// The place of the event of this id among the entries.
    pub(crate) fn index_of(&self, id: Uuid) -> Option<usize> {
        // Mostly the last one is meant, as a leaf or a parent.
        match self.entries.last() {
            Some(last) if last.event.id == id => Some(self.entries.len() - 1),
            _ => self.by_id.get(&id).copied(),
        }
    }

    /// Whether this entry hangs beside the chain, as what takes no part does: its nearest living ancestor that takes
    /// part is on the chain, or it hangs on nothing at all. Of what a compaction left out nothing shows, as a resume
    /// would not read it.
    pub(crate) fn is_beside_chain(&self, entry: &Entry) -> bool {
        let from = self.boundary().and_then(|boundary| self.index_of(boundary.event.id)).map_or(0, |index| index + 1);
        let holds = |entry: &Entry| entry.is_living() && self.on_chain(entry.event.id);
        let place = |entry: &Entry| self.index_of(entry.event.id).unwrap_or(usize::MAX);
        let was_left_out = |entry: &Entry| place(entry) < from && !holds(entry);
        if from > 0 && self.hangs_on(entry, place, was_left_out) {
            return false;
        }
        let mut at = entry;
        while let Some(anchor) = self.anchor(at) {
            if holds(anchor) {
                return true;
            }
            if anchor.is_living() || was_left_out(anchor) {
                return false;
            }
            at = anchor;
        }
        self.is_root(at)
    }

    /// Whether it hangs, by way of others that take no part, on what was left out.
    fn hangs_on(&self, entry: &Entry, place: impl Fn(&Entry) -> usize, was_left_out: impl Fn(&Entry) -> bool) -> bool {
        let mut at = entry;
        while let Some(parent) = at.event.parent {
            match self.entry(parent) {
                Some(parent) if parent.event.takes_part() => return was_left_out(parent),
                // An event that names itself, or a later one, was hung elsewhere when it came.
                Some(parent) if place(parent) >= place(at) => return false,
                Some(parent) if !was_left_out(parent) => at = parent,
                _ => return true,
            }
        }
        false
    }

    /// The message that a result, or what is said of an approval, is meant for: its place among the entries. `at` is
    /// the place of the message that says it.
    pub(crate) fn holder_for(&self, call_id: &str, message: &Message, at: usize) -> Option<usize> {
        self.holder_of(call_id, message, at)
    }

    /// The same state as if nothing had ever been compacted: the chain runs through all boundaries to the root, as far
    /// as this state goes back.
    pub(crate) fn uncompacted(&self) -> Self {
        let mut state = self.clone();
        for entry in state.entries.iter_mut().filter(|entry| entry.is_compaction()) {
            entry.tombstone.get_or_insert(entry.event.id);
        }
        state.rebuild_walk();
        state
    }

    /// The same state with other messages at these places, which differ from those that are there in what they say of
    /// calls and results.
    pub(crate) fn with_messages(&self, messages: HashMap<usize, Message>) -> Self {
        let mut state = self.clone();
        for (index, message) in messages {
            state.forget_calls(index);
            Arc::make_mut(&mut state.entries[index].event).body = Body::Message(Box::new(message));
            state.note_calls(index);
        }
        state
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

    /// Whether this message is on the current chain, kept messages included.
    #[must_use]
    pub fn on_chain(&self, id: Uuid) -> bool {
        self.by_id.get(&id).is_some_and(|&index| self.is_on_chain(index))
    }

    /// The leaves of all branches: living participants that no living participant hangs on.
    #[must_use]
    pub fn branches(&self) -> Vec<Uuid> {
        let mut has_child = vec![false; self.entries.len()];
        for entry in self.participants() {
            let mut at = entry.link;
            while let Link::At(index) = at
                && !has_child[index]
            {
                has_child[index] = true;
                // A dead parent is stepped over: the child hangs on the nearest living ancestor.
                at = if self.entries[index].is_living() { Link::Root } else { self.entries[index].link };
            }
        }
        let leaves = self
            .entries
            .iter()
            .zip(has_child)
            .filter(|(entry, has_child)| entry.takes_part && entry.is_living() && !has_child);
        leaves.map(|(entry, _)| entry.event.id).collect()
    }

    /// A trimmed state whose boundary no longer counts, since the leaf went back to before it or it was taken back, or
    /// went over to a boundary of another branch that keeps what lies before this one: a replay from further back is
    /// needed.
    pub(super) fn is_cut_short(&self) -> bool {
        self.base.is_some() && (self.lacks_kept || self.boundary().is_none())
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

    /// The last participant or head, dead or alive.
    pub(super) fn raw_leaf(&self) -> Link {
        self.leaf
    }

    fn participants(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.takes_part && entry.is_living())
    }

    /// The leaf rule: a head sets the leaf, each later participant moves it, in file order. Whether this one does.
    pub(super) fn lead(&mut self, index: usize) -> bool {
        let entry = &self.entries[index];
        if !entry.leads() {
            return false;
        }
        self.leaf = match &entry.event.body {
            Body::Head(head) => self.link_to(head.leaf),
            _ => Link::At(index),
        };
        true
    }

    /// The event that set the leaf: the last participant or head, dead or alive, that moves it.
    pub(super) fn led_by(&self) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.leads())
    }

    /// Follows the leaf to where this entry moves it, and the walk with it if it stays on this side of the boundary: from the
    /// last entry that both have in common.
    pub(super) fn follow(&mut self, index: usize) -> Moved {
        if !self.lead(index) {
            return Moved::No;
        }
        let (mut at, mut steps) = (self.leaf, 0);
        let shared = loop {
            let Link::At(up) = at else { return Moved::Away };
            let entry = &self.entries[up];
            match self.walk_place[up] {
                Some(place) => break place,
                None if entry.is_boundary() && entry.is_living() => return Moved::Away,
                None => (at, steps) = (entry.link, steps + 1),
            }
        };
        for dropped in self.walk.drain(shared + 1..) {
            self.walk_place[dropped] = None;
        }
        self.walk.resize(shared + 1 + steps, index);
        let mut at = self.leaf;
        for place in (shared + 1..self.walk.len()).rev() {
            let Link::At(up) = at else { break };
            (self.walk[place], self.walk_place[up]) = (up, Some(place));
            at = self.entries[up].link;
        }
        Moved::Along
    }

    pub(super) fn rebuild_walk(&mut self) {
        for &index in &self.walk {
            self.walk_place[index] = None;
        }
        self.walk.clear();
        self.kept.clear();
        self.kept_set.clear();
        self.lacks_kept = false;
        let mut at = self.leaf;
        while let Link::At(index) = at {
            let entry = &self.entries[index];
            self.walk.push(index);
            at = entry.link;
            if entry.is_boundary() && entry.is_living() {
                at = Link::Root;
                let named = entry.event.boundary();
                let kept = named.map(|boundary| boundary.keep.as_slice()).unwrap_or_default();
                let carried = named.map(|boundary| boundary.carried.as_slice()).unwrap_or_default();
                // What the state's own boundary names and does not find is not in the log either.
                self.lacks_kept = self.base != Some(entry.event.id)
                    && kept.iter().chain(carried).any(|kept| !self.by_id.contains_key(&kept.id));
                self.kept = kept.iter().filter_map(|kept| self.by_id.get(&kept.id).copied()).collect();
                self.kept_set = self.kept.iter().copied().collect();
            }
        }
        self.walk.reverse();
        for (place, &index) in self.walk.iter().enumerate() {
            self.walk_place[index] = Some(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CompactBoundary, Event, Fields, Head, HungOn, Kind, Progress, Role};

    fn event(number: usize, parent: Option<usize>, body: Body) -> Event {
        let id = |number: usize| Uuid::from_u128(number as u128 + 1);
        let (original_id, original_parent) = (None, None);
        let parent = parent.map(id);
        Event {
            id: id(number),
            parent,
            hung_on: HungOn::Named,
            at: 0,
            original_id,
            original_parent,
            off_chain: false,
            body,
            extra: Fields::new(),
        }
    }

    fn boundary() -> Body {
        let kind = Kind::CompactBoundary(CompactBoundary::default());
        Body::Message(Box::new(Message::new(Role::System, kind, Vec::new())))
    }

    /// Adds it, and says how the walk moved.
    fn pushed(state: &mut State, event: Event) -> Moved {
        let index = state.attach(Entry::new(event.into(), 0));
        let moved = state.follow(index);
        if moved == Moved::Away {
            state.rebuild_walk();
        }
        moved
    }

    #[test]
    fn a_leaf_that_goes_from_branch_to_branch_takes_the_walk_along() {
        let message = || Body::Message(Box::new(Message::user("words")));
        let mut state = State::new();
        for number in 0..500_usize {
            pushed(&mut state, event(number, number.checked_sub(1), message()));
        }
        // Two branches in turn, then a head, which goes back to where they part.
        let mut tips = [499; 2];
        for number in 500..600 {
            let tip = &mut tips[number % 2];
            assert_eq!(pushed(&mut state, event(number, Some(*tip), message())), Moved::Along);
            *tip = number;
        }
        let head = Body::Head(Head { leaf: Some(Uuid::from_u128(500)) });
        assert_eq!(pushed(&mut state, event(600, None, head)), Moved::Along);
        assert_eq!(state.walk.len(), 500);
    }

    #[test]
    fn a_walk_that_was_taken_along_is_the_one_that_would_be_built_anew() {
        let mut random = 7_usize;
        let mut below = |most: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % most.max(1)
        };
        let (mut state, mut along) = (State::new(), 0);
        for number in 0..2_000 {
            let parent = (number > 0).then(|| number - 1 - below(number.min(40)));
            let body = match below(12) {
                0 => Body::Head(Head { leaf: parent.map(|parent| Uuid::from_u128(parent as u128 + 1)) }),
                1 => Body::Message(Box::new(Message::progress(Progress::default()))),
                2 if number.is_multiple_of(50) => boundary(),
                _ => Body::Message(Box::new(Message::user("words"))),
            };
            along += usize::from(pushed(&mut state, event(number, parent, body)) == Moved::Along);
            let mut anew = state.clone();
            anew.rebuild_walk();
            assert_eq!(
                (&state.walk, &state.walk_place, &state.kept),
                (&anew.walk, &anew.walk_place, &anew.kept),
                "{number}"
            );
        }
        assert!(along > 1_000, "{along} of 2,000 went along");
    }
}
