//! Where other branches leave the current chain.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::beside::Ground;
use super::place::is_only_results;
use super::state::State;
use crate::event::Uuid;

/// A message of the current chain from which other branches go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPoint {
    /// The message; none: the branches begin beside the first one.
    pub at: Option<Uuid>,
    /// The leaf of each branch, in the order of the file.
    pub leaves: Vec<Uuid>,
}

/// The leaves of other branches by the entry of the chain that they leave it at, all by number. Results alone are no
/// branch: those that came beside the chain belong to calls on it.
///
/// What an entry hangs on comes before it, so one pass is enough.
pub(super) fn leaves_by_point<G: Ground>(
    ground: &G,
    count: usize,
    takes_part: impl Fn(usize) -> bool,
    mut is_only_results: impl FnMut(usize) -> Result<bool, G::Error>,
) -> Result<BTreeMap<Option<usize>, Vec<usize>>, G::Error> {
    let mut has_child = vec![false; count];
    let mut points: Vec<Option<u32>> = vec![None; count];
    let mut says_something = vec![false; count];
    for index in (0..count).filter(|&index| takes_part(index)) {
        let anchor = ground.anchor(index);
        if ground.is_on_spine(index) {
            points[index] = u32::try_from(index).ok();
        } else {
            let above = anchor.is_some_and(|anchor| says_something[anchor]);
            points[index] = anchor.and_then(|anchor| points[anchor]);
            says_something[index] = above || (ground.is_living(index) && !is_only_results(index)?);
        }
        let mut at = anchor.filter(|_| ground.is_living(index));
        while let Some(parent) = at.filter(|&parent| !has_child[parent]) {
            has_child[parent] = true;
            // A dead parent is stepped over: the child hangs on the nearest living ancestor.
            at = if ground.is_living(parent) { None } else { ground.anchor(parent) };
        }
    }
    let mut leaves: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for index in (0..count).filter(|&index| says_something[index] && !has_child[index] && ground.is_living(index)) {
        leaves.entry(points[index].map(|point| point as usize)).or_default().push(index);
    }
    Ok(leaves)
}

impl State {
    /// Where other branches leave the current chain, in the order of the chain.
    #[must_use]
    pub fn branch_points(&self) -> Vec<BranchPoint> {
        let held = self.held();
        let only_results =
            |index: usize| Ok::<_, Infallible>(self.entries[index].event.message().is_some_and(is_only_results));
        let takes_part = |index: usize| self.entries[index].takes_part();
        let Ok(leaves) = leaves_by_point(&held, self.entries.len(), takes_part, only_results);
        let id = |index: usize| self.entries[index].event.id;
        let point = |(at, leaves): (Option<usize>, Vec<usize>)| BranchPoint {
            at: at.map(id),
            leaves: leaves.into_iter().map(id).collect(),
        };
        leaves.into_iter().map(point).collect()
    }

    /// The same events with the leaf at this one, so that its branch is the current chain: what a rewind to it would
    /// show. None if there is no such event.
    #[must_use]
    pub fn at_leaf(&self, leaf: Uuid) -> Option<Self> {
        let mut moved = self.index_of(leaf).map(|_| self.clone())?;
        moved.move_to_leaf(leaf).then_some(moved)
    }

    /// As [`State::at_leaf`], of this state itself: for one who goes from branch to branch. False, and nothing is changed, if
    /// there is no such event.
    pub fn move_to_leaf(&mut self, leaf: Uuid) -> bool {
        let Some(index) = self.index_of(leaf) else { return false };
        self.leaf = self.standing_for(index);
        self.rebuild_walk();
        true
    }
}
