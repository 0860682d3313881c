//! In which order records become events, and what each of them hangs on then.
//!
//! The file's links are kept but where the store's rules would read them otherwise: a boundary and its summary become
//! one compaction, what a compaction kept stands before it, messages hang on messages, and the blocks of one answer
//! stand on one line.

use std::collections::HashMap;

use super::compaction::Compactions;
use super::file::{File, Item};
use super::graph::Graph;
use super::lines_up::{Straight, line_up};
use crate::interop::work::Work;

/// So many records back, a place before a compaction is looked for.
const BACK_MAX: usize = 64;

/// The order of events, and their parents.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What each record's event hangs on, named by the record that stands for it.
    pub(super) parent: Vec<Option<usize>>,
    /// What each compaction keeps: messages only, each with the siblings and results that belong to it.
    pub(super) keep: Vec<Vec<usize>>,
    pub(super) straight: Straight,
}

/// One step of writing events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The record's own event.
    Record(usize),
    /// The item of this number, which is no record.
    Item(usize),
}

impl Step {
    /// The record, if the step is one.
    pub(super) fn record(self) -> Option<usize> {
        match self {
            Self::Record(index) => Some(index),
            Self::Item(_) => None,
        }
    }
}

impl Plan {
    pub(super) fn new(file: &File, graph: &Graph, compactions: &Compactions, work: &mut Work) -> Self {
        let rules = Rules { file, graph, compactions, before: file.previous_of_same_line() };
        let mut hangs_on: Vec<Option<usize>> = (0..file.records.len()).map(|index| rules.parent(index)).collect();
        let keep = rules.keep();
        let steps = order(file, compactions, &keep, &mut hangs_on, work);
        let records: Vec<usize> = steps.iter().filter_map(|step| step.record()).collect();
        let straight = line_up(file, compactions, &records, &hangs_on);
        let parent = (0..file.records.len())
            .map(|index| if straight.takes_part[index] { straight.parent[index] } else { hangs_on[index] })
            .collect();
        Self { steps, parent, keep, straight }
    }
}

struct Rules<'a> {
    file: &'a File,
    graph: &'a Graph,
    compactions: &'a Compactions,
    before: Vec<Option<usize>>,
}

impl Rules<'_> {
    fn node(&self, index: usize) -> usize {
        self.compactions.of.get(&index).map_or(index, |&of| self.compactions.all[of].node())
    }

    /// What the record hangs on, compactions taken as one.
    fn parent(&self, index: usize) -> Option<usize> {
        if let Some(&of) = self.compactions.of.get(&index) {
            let node = self.compactions.all[of].node();
            return if index == node { self.before_compaction(of).map(|parent| self.node(parent)) } else { Some(node) };
        }
        if let Some(parent) = self.before_kept(index) {
            return Some(self.node(parent));
        }
        let parent = self.graph.link[index]?;
        if self.compactions.of.contains_key(&parent) {
            return Some(self.node(parent));
        }
        // What goes on behind the last of the kept messages goes on behind the compaction.
        match self.compactions.between(parent, index) {
            Some((of, count))
                if count == self.compactions.all[of].kept.len() && self.compactions.all[of].anchor != parent =>
            {
                Some(self.compactions.all[of].node())
            }
            _ => Some(parent),
        }
    }

    /// What a compaction hangs on, so that the transcript shows what was before it.
    fn before_compaction(&self, of: usize) -> Option<usize> {
        let node = self.compactions.all[of].node();
        let logical = self.file.records[node].text("logicalParentUuid").and_then(|id| self.file.by_id.get(id).copied());
        let outside = |&index: &usize| !self.graph.forest.is_above(node, index);
        logical
            .filter(|index| outside(index) || self.compactions.place_in(*index, of).is_some())
            .or(self.graph.link[node])
            .or_else(|| self.before[node].filter(outside))
    }

    /// For a kept message that was written anew below its own compaction: the kept message before it, or what stands
    /// before the compaction. None for all others, which hang where they always did.
    fn before_kept(&self, index: usize) -> Option<usize> {
        let compactions = self.compactions;
        let below = |of: usize| self.graph.forest.is_above(compactions.all[of].node(), index);
        let (of, place) = compactions.keeping(index).find(|&(of, _)| below(of))?;
        if let Some(before) = place.checked_sub(1) {
            return Some(compactions.all[of].kept[before]);
        }
        let is_kept = |index: usize| compactions.place_in(index, of).is_some();
        let mut candidate = self.before_compaction(of);
        for _ in 0..BACK_MAX {
            match candidate {
                Some(found) if is_kept(found) => candidate = self.before[found],
                _ => break,
            }
        }
        candidate.filter(|&found| !is_kept(found))
    }

    /// What each compaction keeps. The file's list follows one walk: results and blocks of parallel calls that lie
    /// beside it are kept with their call.
    fn keep(&self) -> Vec<Vec<usize>> {
        let records = &self.file.records;
        let mut beside: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, record) in records.iter().enumerate() {
            let Some(parent) = self.graph.link[index] else { continue };
            let above = &records[parent];
            let answers = record.results.iter().any(|result| above.calls.contains(result));
            let sibling = record.message_id.is_some() && record.message_id == above.message_id;
            if answers || sibling {
                beside.entry(parent).or_default().push(index);
            }
        }
        let of_one = |of: usize| {
            let compaction = &self.compactions.all[of];
            let is_kept = |index: usize| self.compactions.place_in(index, of).is_some();
            let mut keep = Vec::new();
            let mut waiting = Vec::new();
            let mut message_id = None;
            for &index in &compaction.kept {
                let record = &records[index];
                let same_answer = record.message_id.is_some() && record.message_id == message_id;
                let goes_on = record.is_message() && record.results.is_empty() && !same_answer;
                if goes_on {
                    keep.append(&mut waiting);
                    message_id.clone_from(&record.message_id);
                }
                // Blocks in the order of the file, results behind them.
                let earlier =
                    |&mut other: &mut usize| other < index && same_answer && records[other].message_id == message_id;
                keep.extend(waiting.extract_if(.., earlier));
                if self.file.takes_part(index) && !self.compactions.of.contains_key(&index) {
                    keep.push(index);
                }
                let mut open = vec![index];
                while let Some(above) = open.pop() {
                    let more = beside.get(&above).into_iter().flatten().copied();
                    for child in more.filter(|&child| child < compaction.node() && !is_kept(child)) {
                        waiting.push(child);
                        open.push(child);
                    }
                }
                waiting.sort_unstable();
            }
            keep.append(&mut waiting);
            keep
        };
        (0..self.compactions.all.len()).map(of_one).collect()
    }
}

/// File order, but each record behind what it hangs on, a result behind its call, a compaction behind what it keeps,
/// and records of one id in the order of the file. A circle is cut where it closes.
fn order(
    file: &File,
    compactions: &Compactions,
    keep: &[Vec<usize>],
    hangs_on: &mut [Option<usize>],
    work: &mut Work,
) -> Vec<Step> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; file.records.len()];
    let mut steps = Vec::with_capacity(file.items.len());
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for (number, item) in file.items.iter().enumerate() {
        let Item::Record(start) = *item else {
            steps.push(Step::Item(number));
            continue;
        };
        stack.push((start, 0));
        while let Some((index, turn)) = stack.pop() {
            work.step();
            let of = compactions.of.get(&index).copied();
            let kept = of.filter(|&of| compactions.all[of].node() == index).map_or(&[][..], |of| keep[of].as_slice());
            // What must come first, one by one: the parent, an earlier record of the same id, the call of a result,
            // what is kept.
            let first = match turn {
                0 if state[index] != State::New => continue,
                0 => hangs_on[index],
                1 => file.same_id[index],
                2 => file.source_of(index),
                _ if turn - 3 < kept.len() => Some(kept[turn - 3]),
                _ => {
                    state[index] = State::Done;
                    let merged = of.is_some_and(|of| compactions.all[of].node() != index);
                    if !merged {
                        steps.push(Step::Record(index));
                    }
                    continue;
                }
            };
            state[index] = State::Open;
            stack.push((index, turn + 1));
            match first.map(|first| (first, state[first])) {
                Some((first, State::New)) => stack.push((first, 0)),
                Some((_, State::Open)) if turn == 0 => hangs_on[index] = None,
                _ => {}
            }
        }
    }
    steps
}
