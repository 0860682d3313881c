//! The transcript: the whole story of the current chain, for a person.

use std::collections::{HashMap, HashSet};

use super::decide::{for_model, for_transcript};
use super::diagnostics::Diagnostics;
use super::message::ProjectedMessage;
use super::options::Options;
use super::shared::Shared;
use super::spine::Spine;
use super::{Projection, View};
use crate::event::{Kind, Message, Part, PartBody, Role, Uuid};
use crate::session::{Entry, State};

/// Stands on a message whose results are cleared for the model.
const CLEARED_FOR_MODEL: &str = "the model sees a stub in the place of this result";

/// Projects the current chain for a person: every boundary, summary and side record at its place, nothing shortened.
///
/// The order is that of the file, but the results of a message's calls stand in the order of the calls where nothing
/// else came between them.
pub(super) fn project(state: &State) -> Projection {
    let spine = Spine::new(state, state.history(), None);
    let mut shown = spine.entries.clone();
    shown.extend(late_and_beside(state, &spine));
    let with_results = Spine::new(state, shown, None);
    let mut ordered = with_results.entries.clone();
    ordered.extend(with_results.side_messages().map(|(entry, _)| entry));
    ordered.sort_by_key(|entry| with_results.place(entry));
    in_call_order(&mut ordered);

    let mut diagnostics = Diagnostics::default();
    let mut messages = Vec::new();
    for entry in ordered {
        let Some(message) = entry.event.message() else { continue };
        if let Err((code, reason)) = for_transcript(message) {
            diagnostics.hide(entry.event.id, code, reason);
            continue;
        }
        messages.extend(shown_whole(entry, message));
    }
    with_results.report(&mut diagnostics);
    Projection { messages, diagnostics }
}

fn shown_whole(entry: &Entry, message: &Message) -> Option<ProjectedMessage> {
    let event = &entry.event;
    let parts = Shared::parts_of(event).collect();
    let mut projected = ProjectedMessage::of(View::Transcript, event, message.role, parts)?;
    projected.metadata.hidden_from_model = for_model(message, &Options::default()).is_err();
    let pruned = entry.pruned_at.is_some() || message.metadata.compacted_at.is_some();
    if pruned && message.results().next().is_some() {
        projected.metadata.compacted = true;
        projected.metadata.notes.push(CLEARED_FOR_MODEL.to_owned());
    }
    Some(projected)
}

/// Messages that hang beside the spine and hold the first real result of a call on it.
fn late_and_beside<'a>(state: &'a State, spine: &Spine<'a>) -> Vec<&'a Entry> {
    let mut answers = Answers::default();
    for &entry in &spine.entries {
        answers.add_calls(entry);
    }
    let mut beside = Vec::new();
    for entry in state.entries() {
        let Some(message) = entry.event.message() else { continue };
        if !entry.is_living() || message.metadata.sidechain || message.results().next().is_none() {
            continue;
        }
        let on_spine = spine.holds(entry.event.id);
        // On the spine the answer counts as taken, whatever it hangs on; beside it, only if it is this call's.
        let answers_one = message.results().fold(false, |any, result| {
            let is_ours = on_spine || !answered_off_the_spine(state, spine, entry, &result.call_id);
            let taken = is_ours && answers.take(spine, entry, &result.call_id, message.metadata.synthetic);
            any || taken
        });
        if answers_one && !on_spine {
            beside.push(entry);
        }
    }
    beside
}

/// Whether a message above this one that is not on the spine holds a call of that id: then that call is meant.
fn answered_off_the_spine(state: &State, spine: &Spine<'_>, entry: &Entry, call_id: &str) -> bool {
    let mut at = entry;
    while let Some(anchor) = state.anchor(at).filter(|anchor| !spine.holds(anchor.event.id)) {
        if anchor.event.message().is_some_and(|message| message.calls().any(|call| call.id == call_id)) {
            return true;
        }
        at = anchor;
    }
    false
}

/// The calls on the spine, by id, and which of them have an answer.
#[derive(Debug, Default)]
struct Answers<'a> {
    by_id: HashMap<&'a str, Vec<Call<'a>>>,
}

#[derive(Debug)]
struct Call<'a> {
    holder: &'a Entry,
    /// Whether it has an answer, and whether only a synthetic one.
    answered: bool,
    synthetic: bool,
}

impl<'a> Answers<'a> {
    fn add_calls(&mut self, holder: &'a Entry) {
        for call in holder.event.message().into_iter().flat_map(Message::calls) {
            let call_of_id = Call { holder, answered: false, synthetic: false };
            self.by_id.entry(call.id.as_str()).or_default().push(call_of_id);
        }
    }

    /// Takes the result as the answer to the latest earlier message that holds a call of this id. False if its calls
    /// have answers already.
    fn take(&mut self, spine: &Spine<'a>, entry: &Entry, call_id: &str, synthetic: bool) -> bool {
        let Some(calls) = self.by_id.get_mut(call_id) else { return false };
        let place = spine.place(entry);
        // They stand in the order of the spine, those of one message side by side.
        let end = calls.partition_point(|call| spine.place(call.holder) <= place);
        let Some(last) = end.checked_sub(1) else { return false };
        let holder = spine.place(calls[last].holder);
        let begin = calls.partition_point(|call| spine.place(call.holder) < holder);
        let open = calls[begin..end].iter_mut().find(|call| !call.answered || (call.synthetic && !synthetic));
        let Some(call) = open else { return false };
        call.answered = true;
        call.synthetic = synthetic;
        true
    }
}

/// Puts results that follow one another into the order of their calls. A result that came late, behind something
/// else, stays where it is.
fn in_call_order(ordered: &mut [&Entry]) {
    let mut calls: HashMap<&str, (Uuid, usize)> = HashMap::new();
    let mut run: Vec<usize> = Vec::new();
    let entries: Vec<&Entry> = ordered.to_vec();
    for (index, entry) in entries.iter().enumerate() {
        let Some(message) = entry.event.message() else { continue };
        if is_only_results(message) {
            run.push(index);
            continue;
        }
        // A side record or an attachment between two results does not part them.
        if !message.kind.takes_part() || matches!(message.kind, Kind::Attachment(_)) {
            continue;
        }
        sort_run(&calls, &entries, &run, ordered);
        run.clear();
        for (place, call) in message.calls().enumerate() {
            calls.insert(&call.id, (entry.event.id, place));
        }
    }
    sort_run(&calls, &entries, &run, ordered);
}

/// Sorts the results of each message within the slots that they take.
fn sort_run<'a>(calls: &HashMap<&str, (Uuid, usize)>, entries: &[&'a Entry], run: &[usize], ordered: &mut [&'a Entry]) {
    let place_of = |index: usize| {
        let message = entries[index].event.message();
        message.and_then(|message| message.results().filter_map(|result| calls.get(result.call_id.as_str())).min())
    };
    let holders: HashSet<Uuid> = run.iter().filter_map(|&index| place_of(index)).map(|(holder, _)| *holder).collect();
    for holder in holders {
        let slots: Vec<usize> =
            run.iter().copied().filter(|&index| place_of(index).is_some_and(|(of, _)| *of == holder)).collect();
        let mut sorted = slots.clone();
        // Stable: several results of one call keep their order.
        sorted.sort_by_key(|&index| place_of(index));
        for (slot, index) in slots.into_iter().zip(sorted) {
            ordered[slot] = entries[index];
        }
    }
}

fn is_only_results(message: &Message) -> bool {
    let is_answer = |part: &Part| matches!(part.body, PartBody::ToolResult(_) | PartBody::ToolApprovalResponse(_));
    message.role != Role::Assistant && !message.content.is_empty() && message.content.iter().all(is_answer)
}
