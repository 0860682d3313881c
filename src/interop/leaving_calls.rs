//! Ids of calls: of a session's calls no two have the same one in a file, and each result names its own call.

use std::collections::{HashMap, HashSet};

use super::leaving_source::Source;
use super::leaving_told::{Agent, Told, lost};
use crate::event::{Message, PartBody, ToolResult, foreign_id};
use crate::session::State;

/// A call: the place of its message, and the how-manyeth part of that it is.
type Place = (usize, usize);

/// The session with an id of its own for each call whose id is empty or another's; none: all have one. What came from a
/// file of this agent's keeps its ids; but of two calls that the model sees now, Claude Code's program (2.1.197) drops the
/// second one with its result if both have one id.
pub(super) fn with_distinct_ids(source: &Source<'_>, agent: Agent, told: &mut Told) -> Option<State> {
    let is_the_files = |index: usize| source.origin == Some(agent) && source.name(index).is_some();
    let chain = source.state.chain();
    let seen: HashSet<usize> = chain.iter().filter_map(|entry| source.place(entry.event.id)).collect();
    let mut seen_ids: HashSet<&str> = HashSet::new();
    let mut taken: HashSet<&str> = HashSet::new();
    let mut held: HashMap<(usize, &str), Vec<Place>> = HashMap::new();
    let mut made: HashMap<Place, String> = HashMap::new();
    for of_file in [true, false] {
        for index in (0..source.len()).filter(|&index| is_the_files(index) == of_file) {
            for (nth, part) in source.message(index).into_iter().flat_map(|message| &message.content).enumerate() {
                let PartBody::ToolCall(call) = &part.body else { continue };
                held.entry((index, call.id.as_str())).or_default().push((index, nth));
                // One inside which the stream ended is not written.
                let is_free = !call.id.is_empty() && taken.insert(&call.id);
                let is_refused = agent == Agent::ClaudeCode && seen.contains(&index) && !seen_ids.insert(&call.id);
                if !call.incomplete && (is_refused || (!is_free && !of_file)) {
                    made.insert((index, nth), new_id(source, agent, (index, nth), &call.id));
                }
            }
        }
    }
    if made.is_empty() {
        return None;
    }
    let mut changed: HashMap<usize, Message> = HashMap::new();
    for (&(index, nth), id) in &made {
        let Some(message) = source.message(index) else { continue };
        if let PartBody::ToolCall(call) = &mut changed.entry(index).or_insert_with(|| message.clone()).content[nth].body
        {
            call.id.clone_from(id);
        }
    }
    // In the order of the session, so that the report is always the same.
    let mut events: Vec<usize> = made.keys().map(|&(index, _)| index).collect();
    events.sort_unstable();
    events.into_iter().for_each(|index| told.note(lost::CALL_IDS, source.event(index).id));
    for (result, call) in answered(source, &held) {
        let (Some(id), Some(message)) = (made.get(&call), source.message(result.0)) else { continue };
        let said = &mut changed.entry(result.0).or_insert_with(|| message.clone()).content[result.1].body;
        if let PartBody::ToolResult(said) = said {
            said.call_id.clone_from(id);
        }
    }
    Some(source.state.with_messages(changed))
}

fn new_id(source: &Source<'_>, agent: Agent, (index, nth): Place, id: &str) -> String {
    let prefix = if agent == Agent::ClaudeCode { "toolu_" } else { "call_" };
    let of = source.event(index).id.to_string();
    format!("{prefix}{}", foreign_id("calls", &of, &format!("{nth}.{id}"), 1).simple())
}

/// For each result the call that it answers. Of calls of one id in one message it is the one for which the model sees it,
/// else the first that nothing answers yet.
fn answered(source: &Source<'_>, held: &HashMap<(usize, &str), Vec<Place>>) -> Vec<(Place, Place)> {
    let pairing = source.state.pairing();
    let mut seen: HashMap<*const ToolResult, Place> = HashMap::new();
    for paired in pairing.calls() {
        let Some((index, (_, result))) = source.place(paired.message.event.id).zip(paired.result) else { continue };
        let of_id = held.get(&(index, paired.call.id.as_str()));
        let is_it = |&&(_, nth): &&Place| {
            let message = source.message(index);
            let calls = message.into_iter().flat_map(|message| &message.content).take(nth);
            calls.filter(|part| matches!(part.body, PartBody::ToolCall(_))).count() == paired.index
        };
        if let Some(place) = of_id.and_then(|places| places.iter().find(is_it)) {
            seen.insert(std::ptr::from_ref(result), *place);
        }
    }
    let mut is_answered: HashSet<Place> = seen.values().copied().collect();
    // The first place that may be free, so that no list is gone through again and again.
    let mut next: HashMap<(usize, &str), usize> = HashMap::new();
    let mut found = Vec::new();
    for index in 0..source.len() {
        for (nth, part) in source.message(index).into_iter().flat_map(|message| &message.content).enumerate() {
            let PartBody::ToolResult(result) = &part.body else { continue };
            let Some(holder) = source.holder(index, &result.call_id) else { continue };
            let Some(places) = held.get(&(holder, result.call_id.as_str())) else { continue };
            if let Some(place) = seen.get(&std::ptr::from_ref(result)) {
                found.push(((index, nth), *place));
                continue;
            }
            let next = next.entry((holder, result.call_id.as_str())).or_default();
            while places.get(*next).is_some_and(|place| is_answered.contains(place)) {
                *next += 1;
            }
            if let Some(place) = places.get(*next).or(places.last()) {
                is_answered.insert(*place);
                found.push(((index, nth), *place));
            }
        }
    }
    found
}
