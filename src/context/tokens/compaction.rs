//! What a compaction is to sum up, and what it is to keep.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::account::{Cost, message_costs};
use super::counter::TokenCounter;
use crate::context::groups::{groups, one_message};
use crate::event::{ApprovalRequest, ApprovalResponse, Kind, Message, Part, PartBody, Role, Trigger, Uuid};
use crate::projection::ProjectedMessage;
use crate::session::Compaction;

/// How much of the end of a history stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Keep {
    /// The last groups that together cost at most so many tokens; a question that nobody has answered yet stays
    /// whatever it costs.
    Tokens(u64),
    /// So many last groups, whatever they cost.
    Groups(usize),
}

impl Default for Keep {
    fn default() -> Self {
        Self::Tokens(20_000)
    }
}

/// What to sum up, what to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct CompactionPlan {
    /// The messages that the summary stands for, the summary before it among them, in the order of the view.
    pub summarize: Vec<Uuid>,
    /// The messages that stay as they are, in the order of the view.
    pub keep: Vec<Uuid>,
    /// Tokens of the window before. Put the number of an [`Account`](super::Account) here, if it is at hand: it knows
    /// the tools and what the provider reported.
    pub tokens_before: u64,
    /// Tokens of what is kept, counted.
    pub tokens_kept: u64,
}

/// Why there is nothing to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NothingToCompact {
    /// There are no messages.
    #[error("there are no messages")]
    Empty,
    /// All messages belong to what is kept.
    #[error("all messages belong to what is kept")]
    AllKept,
    /// Nothing but the summary of the last compaction would be summed up.
    #[error("nothing but the summary of the last compaction would be summed up")]
    OnlySummary,
}

impl CompactionPlan {
    /// The compaction with this summary, for [`Session::compact`](crate::session::Session::compact).
    pub fn compaction(&self, summary: impl Into<String>, trigger: Trigger) -> Compaction {
        Compaction::new(summary).keep(self.keep.clone()).tokens_before(self.tokens_before).trigger(trigger)
    }
}

/// Plans a compaction of what these messages of the model's view show, before any pipeline.
///
/// The cut lies between two [groups](groups()), so it never parts a call from its result. Kept are the groups at the end
/// that [`Keep`] says, system messages, and calls that nobody has answered, with their approvals and with the answers to
/// other calls of the same message; the summary of the last compaction is summed up with the rest. What hangs beside the
/// chain can't be kept, so it is summed up wherever it stands.
///
/// The time is in proportion to the number of messages, and of the bytes that are counted.
///
/// # Errors
/// [`NothingToCompact`] if a compaction would leave nothing out.
pub fn compaction_plan(
    messages: &[ProjectedMessage],
    counter: &dyn TokenCounter,
    keep: Keep,
) -> Result<CompactionPlan, NothingToCompact> {
    if messages.iter().all(|message| message.source_message_ids.is_empty()) {
        return Err(NothingToCompact::Empty);
    }
    let costs = message_costs(messages, counter);
    let mut kept = vec![false; messages.len()];
    let cut = cut(messages, &costs, keep);
    for (place, message) in messages.iter().enumerate() {
        kept[place] = place >= cut || message.role == Role::System;
    }
    let links = Links::between(messages);
    links.open.iter().for_each(|&place| kept[place] = true);
    links.close(&mut kept);
    kept.iter_mut().zip(messages).for_each(|(kept, message)| *kept &= can_be_kept(message));
    plan(messages, &costs, &kept)
}

fn plan(messages: &[ProjectedMessage], costs: &[Cost], kept: &[bool]) -> Result<CompactionPlan, NothingToCompact> {
    let total = |only_kept: bool| {
        let counted = costs.iter().zip(kept).filter(|(_, kept)| **kept || !only_kept);
        counted.map(|(cost, _)| cost.total()).fold(0, u64::saturating_add)
    };
    let mut seen = HashSet::new();
    let mut ids = |keep: bool| -> Vec<Uuid> {
        let wanted = messages.iter().zip(kept).filter(|(_, kept)| **kept == keep).map(|(message, _)| message);
        wanted.flat_map(|message| message.source_message_ids.iter().copied()).filter(|id| seen.insert(*id)).collect()
    };
    let (keep, summarize) = (ids(true), ids(false));
    let left_out = |message: &ProjectedMessage| can_be_kept(message) && !message.source_message_ids.is_empty();
    if !messages.iter().zip(kept).any(|(message, kept)| !kept && left_out(message)) {
        let only_summary = messages.iter().any(is_summary);
        return Err(if only_summary { NothingToCompact::OnlySummary } else { NothingToCompact::AllKept });
    }
    Ok(CompactionPlan { summarize, keep, tokens_before: total(false), tokens_kept: total(true) })
}

/// The place from which on all is kept.
fn cut(messages: &[ProjectedMessage], costs: &[Cost], keep: Keep) -> usize {
    let groups = groups(messages);
    let mut tokens: u64 = 0;
    let mut cut = messages.len();
    for (count, group) in groups.iter().rev().enumerate() {
        tokens = costs[group.clone()].iter().map(Cost::total).fold(tokens, u64::saturating_add);
        let is_question = count == 0 && messages[group.clone()].iter().all(|message| message.role == Role::User);
        let fits = match keep {
            Keep::Tokens(most) => tokens <= most || is_question,
            Keep::Groups(most) => count < most,
        };
        if !fits {
            break;
        }
        cut = group.start;
    }
    cut
}

/// Whether it is the summary of a compaction.
fn is_summary(message: &ProjectedMessage) -> bool {
    matches!(*message.kind, Kind::CompactSummary(_))
}

/// Whether a session can keep it: a new summary takes the place of the old one, and what takes no part in the chain ends
/// at a boundary.
fn can_be_kept(message: &ProjectedMessage) -> bool {
    !is_summary(message) && message.recorded().is_none_or(Message::takes_part)
}

/// Which messages are only kept together, by their places.
#[derive(Debug)]
struct Links {
    of: Vec<Vec<usize>>,
    /// Messages with calls that nobody has answered, and those about the approval of such calls.
    open: Vec<usize>,
}

impl Links {
    fn between(messages: &[ProjectedMessage]) -> Self {
        let mut links = Self { of: vec![Vec::new(); messages.len()], open: Vec::new() };
        let mut shown: HashMap<Uuid, usize> = HashMap::new();
        // By the id of a call: the latest message that holds any, and how many of them are open.
        let mut calls: HashMap<&str, (usize, usize)> = HashMap::new();
        // Calls that are open for good, by id and message, and what was said of approvals of calls.
        let mut open_calls: HashSet<(&str, usize)> = HashSet::new();
        let mut about: Vec<((&str, usize), usize)> = Vec::new();
        let mut hidden = hidden(messages);
        let mut blocks: HashMap<(Option<&str>, &str), usize> = HashMap::new();
        for (at, message) in messages.iter().enumerate() {
            if let Some(before) = one_message(message).and_then(|one| blocks.insert(one, at)) {
                links.join(before, at);
            }
            for id in &message.source_message_ids {
                if let Some(before) = shown.insert(*id, at) {
                    links.join(before, at);
                }
            }
            let unseen = hidden.remove(&message.kind.event().map(|event| event.id)).unwrap_or_default();
            for part in message.content.iter().map(|part| &**part).chain(unseen) {
                match &part.body {
                    PartBody::ToolCall(call) if call.incomplete => {}
                    PartBody::ToolCall(call) => {
                        let (place, open) = calls.entry(&call.id).or_insert((at, 0));
                        // A model that uses an id again means the latest call; the one before stays open.
                        if *place != at && *open > 0 {
                            open_calls.insert((&call.id, *place));
                        }
                        *open = if *place == at { *open + 1 } else { 1 };
                        *place = at;
                    }
                    PartBody::ToolResult(result) => {
                        if let Some((place, open)) = calls.get_mut(result.call_id.as_str()) {
                            links.join(*place, at);
                            *open = open.saturating_sub(1);
                        }
                    }
                    PartBody::ToolApprovalRequest(ApprovalRequest { call_id, .. })
                    | PartBody::ToolApprovalResponse(ApprovalResponse { call_id, .. }) => {
                        about.extend(calls.get(call_id.as_str()).map(|(place, _)| ((call_id.as_str(), *place), at)));
                    }
                    _ => {}
                }
            }
        }
        let last = calls.iter().filter(|(_, (_, open))| *open > 0);
        open_calls.extend(last.map(|(id, (place, _))| (*id, *place)));
        links.open.extend(about.iter().filter(|(call, _)| open_calls.contains(call)).map(|(_, at)| *at));
        links.open.extend(open_calls.iter().map(|(_, place)| *place));
        links
    }

    fn join(&mut self, one: usize, other: usize) {
        if one != other {
            self.of[one].push(other);
            self.of[other].push(one);
        }
    }

    /// Keeps all that belongs to what is kept.
    fn close(&self, kept: &mut [bool]) {
        let mut found: Vec<usize> = (0..kept.len()).filter(|&place| kept[place]).collect();
        while let Some(place) = found.pop() {
            for &other in &self.of[place] {
                if !std::mem::replace(&mut kept[other], true) {
                    found.push(other);
                }
            }
        }
    }
}

/// By event: its calls, results and words about approvals that the view tells in words, or not at all, since their tool
/// is gone. The session ties them together all the same.
fn hidden(messages: &[ProjectedMessage]) -> HashMap<Option<Uuid>, Vec<&Part>> {
    let mut hidden: HashMap<Option<Uuid>, Vec<&Part>> = HashMap::new();
    let mut shown: HashMap<(Uuid, &str, u8), usize> = HashMap::new();
    for message in messages {
        let Some(event) = message.kind.event() else { continue };
        for (call, what) in message.content.iter().filter_map(|part| tie(part)) {
            *shown.entry((event.id, call, what)).or_default() += 1;
        }
        let recorded = event.message().map(|message| message.content.as_slice()).unwrap_or_default();
        let tied = || recorded.iter().filter(|part| tie(part).is_some()).collect();
        hidden.entry(Some(event.id)).or_insert_with(tied);
    }
    for (event, parts) in &mut hidden {
        let Some(event) = event else { continue };
        parts.retain(|part| {
            let left =
                tie(part).and_then(|(call, what)| shown.get_mut(&(*event, call, what))).filter(|left| **left > 0);
            left.map(|left| *left -= 1).is_none()
        });
    }
    hidden
}

/// The call that a part makes or speaks of, and which of both.
fn tie(part: &Part) -> Option<(&str, u8)> {
    match &part.body {
        PartBody::ToolCall(call) => Some((&call.id, 0)),
        PartBody::ToolResult(result) => Some((&result.call_id, 1)),
        PartBody::ToolApprovalRequest(request) => Some((&request.call_id, 2)),
        PartBody::ToolApprovalResponse(response) => Some((&response.call_id, 3)),
        _ => None,
    }
}
