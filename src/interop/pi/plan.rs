//! In which order entries become events, so that each stands behind what it hangs on.

use super::file::{File, Item};
use super::tree::Tree;
use crate::interop::work::Work;

/// One step of writing events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The entry's own event.
    Entry(usize),
    /// An entry that has its event is the last in the file again; the line says so.
    Again(usize, u64),
    /// The item of this number, which is no entry.
    Item(usize),
}

/// File order, but for entries whose parents stand behind them.
pub(super) fn order(file: &File, tree: &Tree, work: &mut Work) -> Vec<Step> {
    let mut done = vec![false; file.entries.len()];
    let mut steps = Vec::with_capacity(file.items.len());
    for (number, item) in file.items.iter().enumerate() {
        let index = match *item {
            Item::Entry(index) => index,
            Item::Again(index, line) => {
                steps.push(Step::Again(index, line));
                continue;
            }
            Item::Other { .. } => {
                steps.push(Step::Item(number));
                continue;
            }
        };
        if done[index] {
            steps.push(Step::Again(index, file.entries[index].line));
            continue;
        }
        let mut line = vec![index];
        let mut above = tree.link[index];
        while let Some(parent) = above.filter(|&parent| !done[parent]) {
            work.step();
            line.push(parent);
            above = tree.link[parent];
        }
        while let Some(index) = line.pop() {
            done[index] = true;
            steps.push(Step::Entry(index));
        }
    }
    steps
}

/// What each compaction keeps, in the order of the chain. `live` is the one that counts.
///
/// What all of them keep together is bounded, so that a file of compactions that each keep everything costs no more
/// than its size: beyond that a compaction keeps nothing, and is returned second.
pub(super) fn keep(
    file: &File,
    tree: &Tree,
    live: Option<usize>,
    work: &mut Work,
) -> (std::collections::HashMap<usize, Vec<usize>>, Vec<usize>) {
    const PER_ENTRY: usize = 32;
    let mut left = file.entries.len().saturating_mul(PER_ENTRY);
    let (mut kept, mut cut) = (std::collections::HashMap::new(), Vec::new());
    let compactions = (0..file.entries.len()).filter(|&index| tree.compaction[index] == Some(index));
    let first = live.into_iter();
    for compaction in first.chain(compactions.filter(|index| Some(*index) != live)) {
        let Some(first) = tree.first_kept(file, compaction) else { continue };
        let mut line = Vec::new();
        let mut at = tree.link[compaction];
        while let Some(index) = at.filter(|_| left > 0) {
            work.step();
            left -= 1;
            if super::context::can_be_kept(&file.entries[index]) {
                line.push(index);
            }
            at = if index == first { None } else { tree.link[index] };
        }
        if at.is_some() {
            cut.push(compaction);
            continue;
        }
        line.reverse();
        kept.insert(compaction, line);
    }
    (kept, cut)
}
