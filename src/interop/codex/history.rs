//! What the model sees, followed record by record: items, compactions, rollbacks.
//!
//! All that lies on the way from the first item to the last one stands on one stack, compactions among it, so a
//! rollback takes things off its end, and a compaction that goes with its turn brings back what it had replaced.

use std::collections::HashMap;

use super::item::Family;
use crate::event::Uuid;

/// An item on the way.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its event's id.
    pub(super) name: String,
    /// Its id in reports.
    pub(super) id: String,
    /// Its type, and who says it.
    pub(super) kind: String,
    pub(super) role: Option<String>,
    /// The number of its event.
    pub(super) event: usize,
    pub(super) begins_a_turn: bool,
    pub(super) is_contextual: bool,
    /// A person said it.
    pub(super) is_persons: bool,
    pub(super) call: Option<(Family, String)>,
    pub(super) output: Option<(Family, String)>,
    /// What it says, if that may stand once more in what a compaction leaves.
    pub(super) content: Option<Uuid>,
    /// A compaction's summary, which stands before what that keeps.
    pub(super) is_summary: bool,
    // What follows is the history's own.
    /// A compaction: what it keeps.
    pub(super) kept: Option<Vec<Kept>>,
    /// Turns that begin in the context so far.
    pub(super) turns: usize,
    /// Where the nearest node stands that others can hang on: itself or one before it.
    pub(super) anchor: Option<usize>,
}

impl Node {
    fn named(&self) -> (&Self, String) {
        (self, self.id.clone())
    }
}

/// A message that a compaction keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kept {
    /// Where it stands.
    pub(super) place: usize,
    /// Its index in the compaction's list, if that has one.
    pub(super) index: Option<usize>,
}

/// What a rollback did.
#[derive(Debug)]
pub(super) enum RolledBack {
    /// Nothing: no turn was there.
    Nothing,
    /// So many items are gone.
    Cut(usize),
    /// The same, and some of what a compaction kept is gone with them: it must be made anew, with less. Its id in
    /// reports, and what it keeps then.
    CutKept { dropped: usize, kept: Vec<Kept>, id: String },
}

/// The way to the last item.
#[derive(Debug, Default)]
pub(super) struct History {
    nodes: Vec<Node>,
    /// Where the turns begin that a rollback counts.
    turns: Vec<usize>,
    /// Where compactions stand; the last one counts.
    bases: Vec<usize>,
    /// Where a person's messages stand.
    persons: Vec<usize>,
    calls: HashMap<String, Vec<usize>>,
    contents: HashMap<Uuid, Vec<usize>>,
    /// A turn has begun and nobody has spoken in it yet.
    is_opened: bool,
    /// The first compaction in such a turn.
    compacted_early: Option<usize>,
    /// The last compaction stands before all turns of the file: those in what it left count.
    base_has_turns: bool,
}

impl History {
    pub(super) fn node(&self, place: usize) -> &Node {
        &self.nodes[place]
    }

    /// What the next event hangs on.
    pub(super) fn top(&self) -> Option<&str> {
        let anchor = self.nodes.last()?.anchor?;
        Some(&self.nodes[anchor].name)
    }

    /// The program says that a turn begins, or ends.
    pub(super) fn turn(&mut self, begins: bool) {
        self.is_opened = begins;
        self.compacted_early = None;
    }

    /// Adds an item; `is_left` if a compaction left it.
    pub(super) fn push(&mut self, mut node: Node, is_left: bool) {
        let place = self.nodes.len();
        let base = self.bases.last().copied();
        let turns = self.nodes.last().map_or(0, |last| last.turns);
        node.turns = turns + usize::from(node.begins_a_turn);
        // The store does not let a result move the leaf whose call is not in sight.
        let is_orphan = node.output.as_ref().is_some_and(|(_, id)| !self.has_call(id, base));
        node.anchor = match is_orphan {
            true => self.nodes.last().and_then(|last| last.anchor),
            false => Some(place),
        };
        if node.begins_a_turn && (!is_left || self.base_has_turns) {
            let early = self.compacted_early.take().filter(|_| !is_left);
            let early = early.filter(|early| self.turns.last().is_none_or(|last| last < early));
            self.turns.push(early.unwrap_or(place));
            self.is_opened &= is_left;
        }
        if node.is_persons {
            self.persons.push(place);
        }
        if let Some((_, id)) = &node.call {
            self.calls.entry(id.clone()).or_default().push(place);
        }
        if let Some(content) = node.content {
            self.contents.entry(content).or_default().push(place);
        }
        self.nodes.push(node);
    }

    fn has_call(&self, id: &str, base: Option<usize>) -> bool {
        let Some(call) = self.calls.get(id).and_then(|places| places.last()) else { return false };
        let is_kept = |base: usize| {
            let kept = self.nodes[base].kept.as_deref().unwrap_or_default();
            kept.binary_search_by_key(call, |kept| kept.place).is_ok()
        };
        base.is_none_or(|base| *call > base || is_kept(base))
    }

    /// From here on the model sees what is kept, and what follows.
    pub(super) fn compact(&mut self, name: String, id: String, kept: Vec<Kept>) {
        let place = self.nodes.len();
        let turns = kept.iter().filter(|kept| self.nodes[kept.place].begins_a_turn).count();
        if self.is_opened && self.compacted_early.is_none() {
            self.compacted_early = Some(place);
        }
        self.base_has_turns = self.turns.is_empty();
        self.bases.push(place);
        let anchor = Some(place);
        self.nodes.push(Node { name, id, kept: Some(kept), turns, anchor, ..Node::default() });
    }

    /// The last of the messages that persons said and the model still sees, at most so many; and whether there are more.
    pub(super) fn persons(&self, count_max: usize) -> (Vec<Kept>, bool) {
        let base = self.bases.last().copied();
        let from = base.map_or(0, |base| self.persons.partition_point(|place| *place < base));
        let since = self.persons[from..].iter().map(|&place| Kept { place, index: None });
        let before = base.and_then(|base| self.nodes[base].kept.as_deref()).unwrap_or_default().iter();
        let before = before.filter(|kept| self.nodes[kept.place].is_persons).map(|kept| Kept { index: None, ..*kept });
        let mut last_first = since.rev().chain(before.rev());
        let mut persons: Vec<Kept> = last_first.by_ref().take(count_max).collect();
        persons.reverse();
        (persons, last_first.next().is_some())
    }

    /// The first place behind this one where this is said.
    pub(super) fn said(&self, content: Uuid, behind: Option<usize>) -> Option<usize> {
        let places = self.contents.get(&content)?;
        let next = behind.map_or(0, |behind| places.partition_point(|place| *place <= behind));
        places.get(next).copied()
    }

    /// Takes back the last turns.
    pub(super) fn roll_back(&mut self, count: usize) -> RolledBack {
        self.turn(false);
        let first = self.turns.len().saturating_sub(count);
        let Some(&from) = self.turns.get(first) else { return RolledBack::Nothing };
        let mut cut = from;
        // Context before it was injected for the turn; what came before the first turn stays.
        while let Some(below) = cut.checked_sub(1).map(|below| &self.nodes[below])
            && below.is_contextual
            && below.turns > 0
        {
            cut -= 1;
        }
        let mut dropped = self.nodes[cut..].iter().filter(|node| node.kept.is_none()).count();
        self.truncate(cut);
        if let Some(base) = self.nodes.last_mut()
            && let Some(kept) = base.kept.take()
        {
            let len = kept.iter().rposition(|kept| !self.nodes[kept.place].is_contextual).map_or(0, |last| last + 1);
            let base = self.nodes.last_mut().expect("it was there just now");
            if len < kept.len() && base.turns > 0 {
                dropped += kept.len() - len;
                let (id, kept) = (base.id.clone(), kept[..len].to_vec());
                self.truncate(self.nodes.len() - 1);
                return RolledBack::CutKept { dropped, kept, id };
            }
            base.kept = Some(kept);
        }
        RolledBack::Cut(dropped)
    }

    fn truncate(&mut self, len: usize) {
        for list in [&mut self.turns, &mut self.bases, &mut self.persons] {
            list.truncate(list.partition_point(|place| *place < len));
        }
        for node in self.nodes.drain(len..).rev() {
            if let Some((_, id)) = &node.call
                && let Some(places) = self.calls.get_mut(id)
            {
                places.pop();
            }
            if let Some(content) = node.content
                && let Some(places) = self.contents.get_mut(&content)
            {
                places.pop();
            }
        }
        self.base_has_turns = false;
    }

    /// What the model sees, in order, each with its id in reports.
    pub(super) fn context(&self) -> Vec<(&Node, String)> {
        let base = self.base();
        let kept = base.and_then(|base| base.kept.as_deref()).unwrap_or_default().iter().map(|kept| {
            let node = &self.nodes[kept.place];
            let base = base.map_or("", |base| base.id.as_str());
            (node, kept.index.map_or_else(|| node.id.clone(), |index| format!("{base}#{index}")))
        });
        let from = self.bases.last().map_or(0, |base| base + 1);
        let has_summary = self.nodes.get(from).is_some_and(|node| node.is_summary);
        let (summary, since) = self.nodes[from..].split_at(usize::from(has_summary));
        summary.iter().map(Node::named).chain(kept).chain(since.iter().map(Node::named)).collect()
    }

    /// The compaction that the context begins with.
    pub(super) fn base(&self) -> Option<&Node> {
        self.bases.last().map(|&base| &self.nodes[base])
    }
}
