//! The live chain: from the leaf up to a root, kept messages put in their place.

use super::compaction::Compactions;
use super::file::File;
use super::graph::Graph;
use crate::interop::work::Work;

/// The live chain.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// From root to leaf.
    pub(super) chain: Vec<usize>,
    /// For each of them the compaction that put it there.
    pub(super) kept_by: Vec<Option<usize>>,
}

impl Live {
    pub(super) fn new(graph: &Graph, compactions: &Compactions, leaf: usize, work: &mut Work) -> Self {
        let mut walk = Walk { live: Self::default(), seen: vec![false; graph.link.len()] };
        let mut at = Some(leaf);
        // Nothing follows the compaction yet, or the leaf is one of the kept messages, written anew behind it.
        let begin = match compactions.anchored_at(leaf) {
            Some(compaction) => Some((compaction, compactions.all[compaction].kept.len())),
            None => compactions
                .keeping(leaf)
                .find(|&(of, _)| graph.forest.is_above(compactions.all[of].node(), leaf))
                .map(|(of, place)| (of, place + 1)),
        };
        if let Some((compaction, count)) = begin {
            at = walk.kept(compactions, compaction, count);
        }
        while let Some(index) = at {
            work.step();
            if !walk.push(index, None) {
                break;
            }
            let Some(parent) = graph.link[index] else { break };
            at = match compactions.between(parent, index) {
                Some((compaction, count)) => walk.kept(compactions, compaction, count),
                None => Some(parent),
            };
        }
        let mut live = walk.live;
        live.chain.reverse();
        live.kept_by.reverse();
        live
    }

    /// Where the context begins on the chain, and the boundary before it: the last compaction on the chain counts, but
    /// one among the messages that a later one kept.
    pub(super) fn context_start(&self, file: &File, compactions: &Compactions) -> (usize, Option<usize>) {
        for place in (0..self.chain.len()).rev().filter(|&place| self.kept_by[place].is_none()) {
            let index = self.chain[place];
            if file.records[index].is_boundary() {
                return (place + 1, Some(index));
            }
            if compactions.of.get(&index).is_some_and(|&of| compactions.all[of].boundary.is_none()) {
                return (place, None);
            }
        }
        (0, None)
    }
}

struct Walk {
    live: Live,
    seen: Vec<bool>,
}

impl Walk {
    fn push(&mut self, index: usize, kept_by: Option<usize>) -> bool {
        if std::mem::replace(&mut self.seen[index], true) {
            return false;
        }
        self.live.chain.push(index);
        self.live.kept_by.push(kept_by);
        true
    }

    /// The first `count` kept messages of a compaction, from the last up; then what they go on behind.
    fn kept(&mut self, compactions: &Compactions, compaction: usize, count: usize) -> Option<usize> {
        let compaction_of_it = &compactions.all[compaction];
        for &index in compaction_of_it.kept[..count].iter().rev() {
            self.push(index, Some(compaction));
        }
        Some(compaction_of_it.anchor)
    }
}
