//! What the model sees: the live chain from the last compaction on, and what belongs to it but lies beside it.
//!
//! Calls that run in parallel make the chain a net: a walk from the leaf misses blocks and results of the same answer.

use std::collections::{HashMap, HashSet};

use super::compaction::Compactions;
use super::file::File;
use super::graph::Graph;
use super::live::Live;
use super::record::{Record, Type};
use crate::interop::found::ToolCalls;
use crate::interop::work::Work;

/// So many calls of one id are looked at for a result that says nothing else of where it belongs.
const CALLS_OF_ONE_ID: usize = 16;

/// What the model sees.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// Records in the order in which the model reads them.
    pub(super) order: Vec<usize>,
    /// Those of them that are not on the live chain, in file order.
    pub(super) recovered: Vec<usize>,
    pub(super) api_messages: Vec<String>,
    pub(super) tool_calls: ToolCalls,
}

impl Context {
    pub(super) fn new(file: &File, graph: &Graph, compactions: &Compactions, live: &Live, work: &mut Work) -> Self {
        let (start, boundary) = live.context_start(file, compactions);
        let chain: Vec<usize> = (start..live.chain.len())
            .filter(|&place| live.kept_by[place].is_none() || !file.records[live.chain[place]].is_summary)
            .map(|place| live.chain[place])
            .collect();
        let Some(&leaf) = live.chain.last() else { return Self::default() };
        let leaf = &file.records[leaf];
        let mut gather = Gather {
            file,
            graph,
            boundary,
            place: chain.iter().enumerate().map(|(place, &index)| (index, place)).collect(),
            groups: Vec::new(),
            group_of: HashMap::new(),
            by_message: HashMap::new(),
            calls: HashMap::new(),
            answered: HashSet::new(),
            orphans: HashMap::new(),
            recovered: Vec::new(),
        };
        let on_live: HashSet<usize> = live.chain.iter().copied().collect();
        let beside: Vec<usize> = (0..file.records.len())
            .filter(|index| !on_live.contains(index))
            .filter(|&index| {
                (file.records[index].sidechain, &file.records[index].agent) == (leaf.sidechain, &leaf.agent)
            })
            .collect();
        for &index in &chain {
            work.step();
            gather.add_block(index);
        }
        for &index in &beside {
            work.step();
            gather.recover_block(index);
        }
        for &index in &chain {
            gather.add_results(index, true);
        }
        for &index in &beside {
            gather.add_results(index, false);
        }
        gather.finish(&chain)
    }
}

/// One answer of the provider's, as several records.
#[derive(Debug, Default)]
struct Group {
    blocks: Vec<usize>,
    results: Vec<usize>,
    placed: bool,
}

struct Gather<'a> {
    file: &'a File,
    graph: &'a Graph,
    boundary: Option<usize>,
    /// The place of each record of the chain.
    place: HashMap<usize, usize>,
    groups: Vec<Group>,
    group_of: HashMap<usize, usize>,
    by_message: HashMap<&'a str, usize>,
    /// The records that make a call of this id.
    calls: HashMap<&'a str, Vec<usize>>,
    /// Calls that have a result: the record that makes it, and its id.
    answered: HashSet<(usize, &'a str)>,
    /// Ids that a record on the chain answers though nobody asked.
    orphans: HashMap<usize, Vec<&'a str>>,
    recovered: Vec<usize>,
}

impl<'a> Gather<'a> {
    fn record(&self, index: usize) -> &'a Record {
        &self.file.records[index]
    }

    fn add_block(&mut self, index: usize) {
        let record = self.record(index);
        if record.kind != Type::Assistant || record.is_api_error {
            return;
        }
        let new = self.groups.len();
        let group = match record.message_id.as_deref() {
            Some(id) => *self.by_message.entry(id).or_insert(new),
            None => new,
        };
        if group == new {
            self.groups.push(Group::default());
        }
        self.groups[group].blocks.push(index);
        self.group_of.insert(index, group);
        for call in &record.calls {
            self.calls.entry(call).or_default().push(index);
        }
    }

    /// A block of an answer on the chain. From before the boundary only what hangs on a kept message: the rest of the
    /// old branch stays out.
    fn recover_block(&mut self, index: usize) {
        let record = self.record(index);
        let known = record.message_id.as_deref().is_some_and(|id| self.by_message.contains_key(id));
        if record.kind != Type::Assistant || record.is_api_error || !known {
            return;
        }
        let here = |index: &usize| self.place.contains_key(index) || self.group_of.contains_key(index);
        let reached =
            self.boundary.is_none_or(|boundary| index > boundary) || self.graph.link[index].as_ref().is_some_and(here);
        let repeated = record.calls.iter().any(|call| self.calls.contains_key(call.as_str()));
        if reached && !repeated {
            self.add_block(index);
            self.recovered.push(index);
        }
    }

    /// The record whose call is answered. Ids are used again in some files: what the result hangs on decides, or else
    /// the nearest call before it.
    fn call_of(&self, index: usize, id: &str) -> Option<usize> {
        let calls = self.calls.get(id)?;
        let source = self.file.source_of(index);
        let makes =
            |call: &usize| self.group_of.contains_key(call) && self.record(*call).calls.iter().any(|made| made == id);
        if let Some(call) = [self.graph.link[index], source].into_iter().flatten().find(makes) {
            return Some(call);
        }
        let Some(place) = self.place.get(&index) else {
            let above = |&&call: &&usize| self.graph.forest.is_above(call, index);
            return calls.iter().rev().take(CALLS_OF_ONE_ID).find(above).copied();
        };
        // Those of the chain come first, in its order.
        let before = calls.partition_point(|call| self.place.get(call).is_some_and(|of_call| of_call < place));
        let recovered = || calls.last().filter(|call| !self.place.contains_key(call));
        before.checked_sub(1).map(|last| &calls[last]).or_else(recovered).copied()
    }

    fn add_results(&mut self, index: usize, on_chain: bool) {
        let mut group = None;
        for id in &self.record(index).results {
            match self.call_of(index, id) {
                Some(call) => {
                    let first = self.answered.insert((call, id));
                    if first || on_chain {
                        group = group.or(self.group_of.get(&call).copied());
                    }
                }
                None if on_chain => self.orphans.entry(index).or_default().push(id),
                None => {}
            }
        }
        let Some(group) = group else { return };
        self.groups[group].results.push(index);
        self.group_of.insert(index, group);
        if !on_chain {
            self.recovered.push(index);
        }
    }

    fn finish(mut self, chain: &[usize]) -> Context {
        let mut context = Context::default();
        for &index in chain {
            let record = self.record(index);
            if let Some(&group) = self.group_of.get(&index) {
                let group = &mut self.groups[group];
                if !std::mem::replace(&mut group.placed, true) {
                    group.blocks.sort_unstable();
                    group.results.sort_unstable();
                    context.order.extend(group.blocks.iter().chain(&group.results));
                    let first = group.blocks.first().map(|&block| &self.file.records[block]);
                    context.api_messages.extend(first.and_then(|first| first.message_id.clone()));
                }
                continue;
            }
            let shown = match record.kind {
                Type::User => true,
                Type::Assistant => !record.is_api_error,
                Type::Attachment => record.queued_prompt().is_some(),
                Type::System => record.is_local_command(),
                Type::Progress | Type::Other => false,
            };
            if shown {
                context.order.push(index);
            }
        }
        for &index in &context.order {
            let record = self.record(index);
            for call in &record.calls {
                match self.answered.contains(&(index, call)) {
                    true => context.tool_calls.paired += 1,
                    false => context.tool_calls.unpaired.push(call.clone()),
                }
            }
            let orphans = self.orphans.get(&index).into_iter().flatten();
            context.tool_calls.orphan_results.extend(orphans.map(|&id| id.to_owned()));
        }
        self.recovered.sort_unstable();
        context.recovered = self.recovered;
        context
    }
}
