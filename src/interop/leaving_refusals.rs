//! Calls that a person refused: other agents' files have no place for the refusal itself, but for what the model is told of it.

use std::collections::{HashMap, HashSet};

use super::leaving_source::{Source, left_out};
use super::leaving_told::{Told, lost};
use crate::event::{ApprovalResponse, Kind, Message, Part, PartBody, REJECTED, Role};
use crate::session::State;

/// The session with a failed result in the place of each refusal that answers a call, as in the model's view: in the
/// person's words. None: there is none. A call that has a result all the same keeps that.
pub(super) fn with_refusals_as_results(source: &Source<'_>, told: &mut Told) -> Option<State> {
    let mut last: HashMap<(usize, &str), (usize, usize)> = HashMap::new();
    for index in 0..source.len() {
        let Some(message) = source.message(index).filter(|message| may_answer(message)) else { continue };
        for (nth, part) in message.content.iter().enumerate() {
            let Some(refusal) = refusal(part) else { continue };
            let holder = source.holder(index, &refusal.call_id).filter(|&holder| counts(source, index, holder));
            // Of two the later one counts.
            last.extend(holder.map(|holder| ((holder, refusal.call_id.as_str()), (index, nth))));
        }
    }
    if last.is_empty() {
        return None;
    }
    let mut given: HashMap<(usize, &str), usize> = HashMap::new();
    for index in 0..source.len() {
        for result in source.message(index).into_iter().flat_map(Message::results) {
            if let Some(holder) = source.holder(index, &result.call_id) {
                *given.entry((holder, &result.call_id)).or_default() += 1;
            }
        }
    }
    let is_open = |holder: usize, call_id: &str| {
        let calls = source.message(holder).into_iter().flat_map(Message::calls);
        let count = calls.filter(|call| call.id == call_id && !call.incomplete).count();
        count > given.get(&(holder, call_id)).copied().unwrap_or(0)
    };
    last.retain(|&(holder, call_id), _| is_open(holder, call_id));
    let wanted: HashSet<(usize, usize)> = last.into_values().collect();
    let mut changed: HashMap<usize, Message> = HashMap::new();
    for &(index, nth) in &wanted {
        let Some(message) = source.message(index) else { continue };
        let changed = changed.entry(index).or_insert_with(|| message.clone());
        changed.kind = Kind::ToolResult;
        if let Some(refusal) = refusal(&message.content[nth]) {
            let said = refusal.reason.as_deref().filter(|reason| !reason.trim().is_empty()).unwrap_or(REJECTED);
            changed.content[nth] = Part::tool_result(&refusal.call_id, said, true);
        }
    }
    let mut events: Vec<usize> = changed.keys().copied().collect();
    events.sort_unstable();
    events.into_iter().for_each(|index| told.note(lost::REFUSALS, source.event(index).id));
    (!changed.is_empty()).then(|| source.state.with_messages(changed))
}

fn refusal(part: &Part) -> Option<&ApprovalResponse> {
    match &part.body {
        PartBody::ToolApprovalResponse(response) if !response.approved => Some(response),
        _ => None,
    }
}

/// Whether a model sees what the message answers.
fn may_answer(message: &Message) -> bool {
    let is_about_calls = matches!(message.kind, Kind::ToolApprovalResponse | Kind::ToolResult | Kind::UserInput);
    let is_left_out = left_out(message).is_some_and(|lost| lost != lost::APPROVALS);
    message.role != Role::Assistant && is_about_calls && !is_left_out
}

/// Whether the refusal is said on the branch of its call, where the model sees that: on another one it is said to another model.
fn counts(source: &Source<'_>, index: usize, holder: usize) -> bool {
    let is_seen = |index: usize| source.state.on_chain(source.event(index).id);
    is_seen(index) || !is_seen(holder)
}
