//! A session's tree as agents have it that read one path: the blocks of an answer one below the other, directly below
//! them their results, and then what goes on from there.

mod results;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::leaving_source::Source;
use super::leaving_told::{Told, lost};
use crate::event::{Event, Kind, Role};

/// What an event is on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Not written.
    Gone,
    Plain,
    /// A block of the answer that begins with this event.
    Block(usize),
    /// A result for that answer.
    Result(usize),
    /// What stood between two of its blocks and is neither.
    Along(usize),
}

/// One answer of a model, and its results.
#[derive(Debug, Default, Clone)]
pub(super) struct Answer {
    /// Its messages; the first one is its name.
    pub(super) blocks: Vec<usize>,
    pub(super) results: Vec<usize>,
    /// What stood between its blocks, and stands behind the results.
    along: Vec<usize>,
}

/// The tree.
#[derive(Debug)]
pub(super) struct Line {
    parts: Vec<Part>,
    above: Vec<Option<usize>>,
    answers: HashMap<usize, Answer>,
    /// What each event hangs on.
    pub(super) parent: Vec<Option<usize>>,
    /// All that is written, parents first, the live path last.
    pub(super) order: Vec<usize>,
    /// The live path.
    pub(super) path: Vec<usize>,
    keeping: Keeping,
    /// Messages from which results were taken out that answer nothing, as they are without them.
    pub(super) cut: HashMap<usize, Arc<Event>>,
    /// Answers that are the rest of one of the same id, by their first message.
    rests: HashSet<usize>,
    /// For each message with results those that hold the calls, and the other way round, as the file has them.
    pairs: HashMap<usize, Vec<usize>>,
}

/// What a file can keep of an answer behind a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// All of it, as its blocks are found by the answer's id.
    Answers,
    /// Each of its messages, but no call without its results.
    Messages,
}

impl Line {
    /// `written` says which events are; results without a call, or that came twice, are told and are not.
    pub(super) fn new(source: &Source<'_>, mut written: Vec<bool>, keeping: Keeping, told: &mut Told) -> Self {
        let all = source.above(&written);
        let mut line = Self {
            parts: vec![Part::Gone; source.len()],
            above: Vec::new(),
            answers: HashMap::new(),
            parent: Vec::new(),
            order: Vec::new(),
            path: Vec::new(),
            keeping,
            cut: HashMap::new(),
            rests: HashSet::new(),
            pairs: HashMap::new(),
        };
        line.find_answers(source, &written, &all);
        line.find_along(&all);
        line.find_results(source, &mut written, &all, told);
        line.above = source.above(&written);
        line.parent = (0..source.len()).map(|index| line.parent_of(index)).collect();
        line.path = line.path_to(line.leaf(source));
        line.sort();
        line.tell_of_more(source, told);
        line
    }

    /// The answer that this event is a block or a result of.
    pub(super) fn answer(&self, index: usize) -> Option<&Answer> {
        match self.parts[index] {
            Part::Block(first) | Part::Result(first) => self.answers.get(&first),
            Part::Gone | Part::Plain | Part::Along(_) => None,
        }
    }

    /// Whether it is written and begins something: no later block of an answer.
    pub(super) fn begins(&self, index: usize) -> bool {
        match self.parts[index] {
            Part::Block(first) => first == index,
            Part::Gone => false,
            Part::Plain | Part::Result(_) | Part::Along(_) => true,
        }
    }

    pub(super) fn is_written(&self, index: usize) -> bool {
        self.parts[index] != Part::Gone
    }

    pub(super) fn is_result(&self, index: usize) -> bool {
        matches!(self.parts[index], Part::Result(_))
    }

    /// Whether it is of an answer whose beginning, with the same id, is another answer here.
    pub(super) fn is_rest(&self, index: usize) -> bool {
        matches!(self.parts[index], Part::Block(first) if self.rests.contains(&first))
    }

    /// All that stands for this event on a line: its whole answer with the results, or itself.
    pub(super) fn unit(&self, index: usize) -> Vec<usize> {
        match self.answer(index) {
            Some(answer) => answer.blocks.iter().chain(&answer.results).copied().collect(),
            None if self.is_written(index) => vec![index],
            None => Vec::new(),
        }
    }

    /// All that is kept with these events, in the order of their answers.
    pub(super) fn units(&self, events: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut wanted: HashSet<usize> = HashSet::new();
        let mut firsts: HashSet<usize> = HashSet::new();
        let mut begun = Vec::new();
        for index in events.into_iter().filter(|&index| self.is_written(index)) {
            wanted.insert(index);
            let name = self.unit_of(index);
            if firsts.insert(name) {
                begun.push(name);
            }
        }
        if self.keeping == Keeping::Answers {
            return begun.into_iter().flat_map(|name| self.unit(name)).collect();
        }
        self.want_pairs(&mut wanted);
        let more: BTreeSet<usize> =
            wanted.iter().map(|&index| self.unit_of(index)).filter(|name| !firsts.contains(name)).collect();
        // Answers that only come along stand where the session has them.
        let mut more = more.into_iter().peekable();
        let mut names = Vec::with_capacity(begun.len());
        for name in begun {
            names.extend(std::iter::from_fn(|| more.next_if(|&other| other < name)));
            names.push(name);
        }
        names.extend(more);
        names.into_iter().flat_map(|name| self.unit(name)).filter(|index| wanted.contains(index)).collect()
    }

    /// The name of all that stands for this event on a line.
    fn unit_of(&self, index: usize) -> usize {
        match self.parts[index] {
            Part::Block(first) | Part::Result(first) => first,
            Part::Gone | Part::Plain | Part::Along(_) => index,
        }
    }

    /// No result without its call, and then no call of that message without its results, whatever the order.
    fn want_pairs(&self, wanted: &mut HashSet<usize>) {
        let mut open: Vec<usize> = wanted.iter().copied().collect();
        while let Some(index) = open.pop() {
            let pairs = self.pairs.get(&index).into_iter().flatten();
            open.extend(pairs.filter(|pair| wanted.insert(**pair)));
        }
    }

    /// Tells if a compaction keeps a part of an answer, which is kept with the rest of it.
    fn tell_of_more(&self, source: &Source<'_>, told: &mut Told) {
        let Some(entry) = source.state.boundary() else { return };
        let keep = entry.event.boundary().map(|boundary| boundary.keep.as_slice()).unwrap_or_default();
        let kept: HashSet<usize> = keep.iter().filter_map(|kept| source.place(kept.id)).collect();
        if self.units(kept.iter().copied()).iter().any(|index| !kept.contains(index)) {
            told.note(lost::KEPT_MORE, entry.event.id);
        }
    }

    fn find_answers(&mut self, source: &Source<'_>, written: &[bool], above: &[Option<usize>]) {
        let chain = source.state.history();
        let chain: HashSet<usize> = chain.iter().filter_map(|entry| source.place(entry.event.id)).collect();
        // The nearest answer above, with nothing but what goes along with it between.
        let mut near: Vec<Option<usize>> = vec![None; source.len()];
        for index in (0..source.len()).filter(|&index| written[index]) {
            let Some(message) = source.message(index) else { continue };
            let around = above[index].and_then(|above| near[above]);
            self.parts[index] = Part::Plain;
            if message.role != Role::Assistant {
                let goes_along = message.results().next().is_some()
                    || matches!(message.kind, Kind::Attachment(_))
                    || message.metadata.meta;
                near[index] = around.filter(|_| goes_along);
                continue;
            }
            let is_same = |first: &usize| {
                let first = source.message(*first);
                first.is_some_and(|first| first.message_id == message.message_id && first.provider == message.provider)
            };
            let same = around.filter(|_| message.message_id.is_some()).filter(is_same);
            // Where the conversation left an answer in its middle, the rest of that is an answer of its own.
            let is_left = |first: &usize| chain.contains(first) && !chain.contains(&index);
            let first = same.filter(|first| !is_left(first)).unwrap_or(index);
            if same.is_some_and(|same| same != first) {
                self.rests.insert(first);
            }
            near[index] = Some(first);
            self.parts[index] = Part::Block(first);
            self.answers.entry(first).or_default().blocks.push(index);
        }
    }

    fn find_along(&mut self, above: &[Option<usize>]) {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut firsts: Vec<usize> = self.answers.keys().copied().collect();
        firsts.sort_unstable();
        let mut is_found = vec![false; self.parts.len()];
        for first in firsts {
            for &block in self.answers[&first].blocks.iter().skip(1) {
                let mut at = above[block];
                // What is above one that is found is found too.
                while let Some(index) = at.filter(|&index| self.parts[index] == Part::Plain && !is_found[index]) {
                    is_found[index] = true;
                    found.push((first, index));
                    at = above[index];
                }
            }
        }
        found.sort_unstable_by_key(|&(_, index)| index);
        for (first, index) in found {
            if self.parts[index] == Part::Plain {
                self.parts[index] = Part::Along(first);
                self.answers.entry(first).or_default().along.push(index);
            }
        }
    }

    /// What the event hangs on: within its answer what stands before it, else what it hung on, or all of the answer that
    /// it hung on.
    fn parent_of(&self, index: usize) -> Option<usize> {
        match self.parts[index] {
            Part::Gone => None,
            Part::Plain => self.beyond(index),
            Part::Block(first) => {
                let blocks = &self.answers[&first].blocks;
                match blocks.binary_search(&index) {
                    Ok(place) if place > 0 => Some(blocks[place - 1]),
                    _ => self.beyond(index),
                }
            }
            Part::Result(first) => {
                let answer = &self.answers[&first];
                match answer.results.binary_search(&index) {
                    Ok(place) if place > 0 => Some(answer.results[place - 1]),
                    _ => answer.blocks.last().copied(),
                }
            }
            Part::Along(first) => {
                let answer = &self.answers[&first];
                match answer.along.binary_search(&index) {
                    Ok(place) if place > 0 => Some(answer.along[place - 1]),
                    _ => answer.results.last().or(answer.blocks.last()).copied(),
                }
            }
        }
    }

    fn beyond(&self, index: usize) -> Option<usize> {
        let mut at = self.above[index]?;
        loop {
            match self.parts[at] {
                Part::Plain => return Some(at),
                Part::Block(first) | Part::Along(first) => return self.end_of(first),
                Part::Result(_) | Part::Gone => at = self.above[at]?,
            }
        }
    }

    fn end_of(&self, first: usize) -> Option<usize> {
        let answer = self.answers.get(&first)?;
        answer.along.last().or(answer.results.last()).or(answer.blocks.last()).copied()
    }

    /// Where the conversation stands.
    fn leaf(&self, source: &Source<'_>) -> Option<usize> {
        let leaf = source.leaf()?;
        match self.parts[leaf] {
            Part::Plain => Some(leaf),
            Part::Block(first) | Part::Along(first) => self.end_of(first),
            Part::Result(first) => {
                let beyond = self.beyond(leaf);
                // Its call may be on another branch.
                beyond.or_else(|| self.end_of(first).filter(|_| self.above[leaf].is_some()))
            }
            Part::Gone => self.beyond(leaf),
        }
    }

    /// From the root to this event.
    pub(super) fn path_to(&self, leaf: Option<usize>) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = leaf;
        while let Some(index) = at {
            path.push(index);
            at = self.parent[index];
        }
        path.reverse();
        path
    }

    /// All that is written, parents first, else as the session has it.
    pub(super) fn in_file_order(&self) -> Vec<usize> {
        self.sorted((0..self.parts.len()).filter(|index| self.is_written(*index)))
    }

    fn sort(&mut self) {
        let on_path: HashSet<usize> = self.path.iter().copied().collect();
        let beside = (0..self.parts.len()).filter(|index| self.is_written(*index) && !on_path.contains(index));
        self.order = self.sorted(beside.chain(self.path.iter().copied()));
    }

    /// These, each behind what it hangs on.
    pub(super) fn sorted(&self, wanted: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut done = vec![false; self.parts.len()];
        let mut order = Vec::new();
        let mut open = Vec::new();
        for index in wanted {
            let mut at = Some(index).filter(|&index| !done[index]);
            while let Some(index) = at {
                done[index] = true;
                open.push(index);
                at = self.parent[index].filter(|&parent| !done[parent]);
            }
            while let Some(index) = open.pop() {
                order.push(index);
            }
        }
        order
    }
}
