//! What counts as a message and as a branch, wherever they are counted: in a list, in a tree, in what a session is made of.
//!
//! A message takes part in the conversation (a person, a model or the application said it, or a tool answered), is shown by a
//! transcript and no half of a compaction ([`Message::is_said`](crate::event::Message::is_said)), and was not taken back. All branches count. A branch is an end of the tree: what
//! was not taken back and says more than results, and has nothing such hanging on it, not even across others.

use std::collections::HashMap;

use super::entry::Link;
use super::place::is_only_results;
use super::state::State;
use crate::event::Uuid;

/// In the place of an entry's number: there is none.
pub(super) const NONE: u32 = u32::MAX;

/// How many messages and branches there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Messages of all branches that were not taken back.
    pub messages: u64,
    /// Ends of the tree of messages; results alone are no branch.
    pub branches: u64,
}

impl State {
    /// How many messages and branches it holds: of a whole state those that [`Listed`](super::Listed) tells of its session.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut numbers = vec![NONE; self.entries.len()];
        let mut nodes: Vec<Node> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.takes_part()) {
            let Some(message) = entry.event.message() else { continue };
            let before = (nodes.len() as u32).checked_sub(1).unwrap_or(NONE);
            let anchor = match entry.link {
                Link::At(at) => numbers[at],
                // Of a fork: what lies between is in its parent's log.
                Link::Outside(_) => before,
                Link::Root => NONE,
            };
            numbers[index] = nodes.len() as u32;
            nodes.push(Node {
                id: entry.event.id,
                anchor,
                speaks: !is_only_results(message),
                counts: message.is_said(),
                is_boundary: entry.is_boundary(),
                is_living: entry.is_living(),
                partner: NONE,
            });
        }
        Counts { messages: messages_of(&nodes), branches: ends_of(&nodes).len() as u64 }
    }
}

/// An event that takes part, as a whole count holds it.
pub(super) struct Node {
    pub(super) id: Uuid,
    /// The number of what it hangs on.
    pub(super) anchor: u32,
    /// It can be the end of a branch: it says more than results.
    pub(super) speaks: bool,
    pub(super) counts: bool,
    pub(super) is_boundary: bool,
    pub(super) is_living: bool,
    /// The number of the other half of a compaction.
    pub(super) partner: u32,
}

/// How many of them count.
pub(super) fn messages_of(nodes: &[Node]) -> u64 {
    nodes.iter().filter(|node| node.counts && node.is_living).count() as u64
}

/// The end of each branch, with what stands for it as a parent. What an entry hangs on comes before it.
pub(super) fn ends_of(nodes: &[Node]) -> Vec<Vec<Uuid>> {
    let mut stands_for: Vec<u32> = Vec::with_capacity(nodes.len());
    let mut has_child = vec![false; nodes.len()];
    for (number, node) in (0..).zip(nodes) {
        let above = if node.anchor == NONE { NONE } else { stands_for[node.anchor as usize] };
        let can_be_end = node.speaks && node.is_living;
        if can_be_end && above != NONE {
            has_child[above as usize] = true;
        }
        stands_for.push(if can_be_end { number } else { above });
    }
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut ends: Vec<Vec<Uuid>> = Vec::new();
    for (node, end) in nodes.iter().zip(stands_for).filter(|(_, end)| *end != NONE && !has_child[*end as usize]) {
        // The end itself comes first: what stands for it hangs on it.
        let place = *places.entry(end).or_insert_with(|| {
            ends.push(Vec::new());
            ends.len() - 1
        });
        ends[place].push(node.id);
    }
    ends
}
