//! Building the model's view, one entry after the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::decide::{Hidden, for_model, for_transcript};
use super::diagnostics::{Diagnostic, code};
use super::message::ProjectedMessage;
use super::model_made::{Made, Mark, PartPlace};
use super::model_tail::Tail;
use super::oddities::{hide_unknown, rehung};
use super::options::Options;
use super::owner::{is_same_model, is_same_provider, maker};
use super::results::{self, CLEARED_RESULT};
use super::shared::Shared;
use super::{View, degrade, flatten};
use crate::event::{Event, Kind, Message, Part, PartBody, Role, ToolCall, ToolResult, Uuid};
use crate::session::{Entry, Pairing, State};

/// Builds on a view.
pub(super) struct Builder<'b, 'a> {
    state: &'a State,
    view: View,
    options: &'b Options,
    pairing: Pairing<'a>,
    /// Where the results of the pairing stand among the parts of their messages.
    result_places: HashMap<*const ToolResult, usize>,
    /// The place of the boundary that counts.
    cut: Option<usize>,
    made: &'b mut Made,
    tail: Tail,
    /// Where the first message of the entry at hand was put.
    first_put: usize,
    /// So many messages were there when the building on began.
    found: usize,
    /// The first of those that something was put before: where it stood, and what it came from.
    moved: Option<(usize, Vec<Uuid>)>,
}

impl<'b, 'a> Builder<'b, 'a> {
    /// Builds on `made` with the calls of this pairing.
    pub(super) fn new(
        state: &'a State,
        view: View,
        options: &'b Options,
        pairing: Pairing<'a>,
        made: &'b mut Made,
    ) -> Self {
        let cut = state.boundary().and_then(|boundary| state.index_of(boundary.event.id));
        let found = made.messages.len();
        let result_places = places_of_results(&pairing);
        let tail = Tail::default();
        let mut builder =
            Self { state, view, options, pairing, result_places, cut, made, tail, first_put: 0, found, moved: None };
        builder.choose_results();
        builder
    }

    /// Finds the results that will stand behind their calls, so that what is left at its own place is known.
    fn choose_results(&mut self) {
        let shown = |entry: &Entry| entry.event.message().is_some_and(|m| for_model(m, self.options).is_ok());
        for call in self.pairing.calls() {
            if let Some((entry, result)) = call.result
                && !call.call.incomplete
                && shown(call.message)
                && shown(entry)
                && let Some(place) = self.part_place(entry, result)
            {
                let holder = self.state.index_of(call.message.event.id).unwrap_or_default();
                self.made.answered.insert(place, holder);
            }
        }
    }

    fn part_place(&self, entry: &Entry, result: &ToolResult) -> Option<PartPlace> {
        let index = self.result_places.get(&std::ptr::from_ref(result))?;
        Some((entry.event.id, *index))
    }

    /// The first message that was there before and was moved: where it stood, and what it came from.
    pub(super) fn moved(self) -> Option<(usize, Vec<Uuid>)> {
        self.moved
    }

    /// Adds an entry of the head.
    pub(super) fn add_to_head(&mut self, entry: &'a Entry) {
        if let Some(boundary) = entry.event.boundary()
            && self.is_the_boundary(entry)
        {
            self.made.diagnostics.applied_compact_boundary_id = Some(entry.event.id);
            let reason =
                format!("the view begins at the latest boundary of the chain, which keeps {}", boundary.keep.len());
            self.say(Diagnostic::new(code::BOUNDARY_APPLIED, [entry.event.id], reason));
        }
        self.add_entry(entry);
    }

    /// Adds an entry behind the head, which lies at this place in the state.
    pub(super) fn add(&mut self, place: usize, entry: &'a Entry) {
        let (messages, lens) = (self.made.messages.len(), self.made.diagnostics.lens());
        self.first_put = usize::MAX;
        self.add_entry(entry);
        self.made.marks.push(Mark { place, messages, lens, first_put: self.first_put.min(messages) });
    }

    fn add_entry(&mut self, entry: &'a Entry) {
        let event = &entry.event;
        hide_unknown(event, &mut self.made.diagnostics);
        let Some(message) = event.message() else { return };
        self.made.diagnostics.items.extend(rehung(event).filter(|_| message.takes_part()));
        if self.is_older_compaction(entry, message) {
            let reason = "a later compaction stands for it";
            return self.made.diagnostics.hide(event.id, code::OLDER_COMPACTION_LEFT_OUT, reason);
        }
        let role = match for_model(message, self.options) {
            Ok(role) => role,
            // The boundary that counts is named by a diagnostic of its own.
            Err(_) if self.is_the_boundary(entry) => return,
            Err((code, reason)) => return self.made.diagnostics.hide(event.id, code, reason),
        };
        let content = self.content(event, message);
        if !content.is_empty() || message.content.is_empty() {
            let role = if role == Role::Tool && !is_about_approvals(&content) { Role::User } else { role };
            if let Some(projected) = self.projected(event, message, role, content) {
                self.place(projected, message);
            }
        } else if !self.holds_answers(event.id) {
            self.made.diagnostics.hidden_message_ids.push(event.id);
        }
        self.add_results(entry, message);
    }

    fn say(&mut self, item: Diagnostic) {
        self.made.diagnostics.say(item);
    }

    fn is_the_boundary(&self, entry: &Entry) -> bool {
        self.cut.is_some_and(|cut| self.state.entries()[cut].event.id == entry.event.id)
    }

    /// An older boundary or summary, in a kept range.
    fn is_older_compaction(&self, entry: &Entry, message: &Message) -> bool {
        let is_compaction = matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_));
        is_compaction && self.was_kept(entry)
    }

    /// Whether it lies before the boundary that counts.
    fn was_kept(&self, entry: &Entry) -> bool {
        let place = self.state.index_of(entry.event.id);
        self.cut.zip(place).is_some_and(|(cut, place)| place < cut)
    }

    /// The parts that stay at the message's own place: all but results, calls that the stream cut, and what the
    /// options leave out.
    fn content(&mut self, event: &Arc<Event>, message: &Message) -> Vec<Shared<Part>> {
        let mut content = Vec::with_capacity(message.content.len());
        let has_gone_call = message.calls().any(|call| !call.incomplete && !self.options.has_tool(&call.name));
        let mut reasoning_left_out = None;
        for (index, part) in Shared::parts_of(event).enumerate() {
            match &part.body {
                PartBody::ToolResult(result) => self.say_if_left_out(event.id, index, result),
                PartBody::ToolCall(call) if call.incomplete => {
                    let reason = "the stream ended inside its arguments";
                    let item = Diagnostic::new(code::INCOMPLETE_CALL_LEFT_OUT, [event.id], reason);
                    self.say(item.about_call(&call.id));
                }
                PartBody::ToolCall(call) if has_gone_call && !self.options.has_tool(&call.name) => {
                    let reason = "its tool is not among those that exist";
                    let item = Diagnostic::new(code::GONE_TOOL_AS_TEXT, [event.id], reason);
                    self.say(item.about_call(&call.id));
                    content.push(Part::text(degrade::gone_call(call)).into());
                }
                PartBody::Reasoning(_) => match self.why_no_reasoning(message, &part, has_gone_call) {
                    Some(why) => reasoning_left_out = Some(why),
                    None => content.push(part),
                },
                _ => match degrade::untaken(&part, self.options) {
                    Some(media) => {
                        let note = degrade::media_note(media, degrade::not_taken(self.options));
                        self.made.diagnostics.note(&note);
                        self.say(Diagnostic::new(code::MEDIA_DEGRADED, [event.id], degrade::not_taken(self.options)));
                        content.push(Part::text(note).into());
                    }
                    None => content.push(part),
                },
            }
        }
        if let Some((code, reason)) = reasoning_left_out {
            self.say(Diagnostic::new(code, [event.id], reason));
        }
        let only_results = content.is_empty() && !message.content.is_empty();
        if only_results { content } else { flatten::parts(message, content) }
    }

    /// Why this reasoning is not in the view; none if it is.
    fn why_no_reasoning(&self, message: &Message, part: &Part, has_gone_call: bool) -> Option<Hidden> {
        if !self.options.include_reasoning {
            return Some((code::REASONING_LEFT_OUT, "the options leave out reasoning"));
        }
        if has_gone_call {
            return Some((code::REASONING_LEFT_OUT, "a call that it led to became text"));
        }
        let wanted = self.options.provider.as_deref()?;
        let is_its_own = maker(message.provider.as_deref(), part).is_some_and(|maker| is_same_provider(maker, wanted));
        if !is_its_own || !is_same_model(message.model.as_deref(), self.options.model.as_deref()) {
            return Some((code::FOREIGN_REASONING_LEFT_OUT, "another provider or model made it, or none is recorded"));
        }
        None
    }

    fn say_if_left_out(&mut self, id: Uuid, index: usize, result: &ToolResult) {
        if self.made.answered.holds((id, index)) {
            return;
        }
        let entry = self.state.entry(id).zip(self.state.index_of(id));
        let holder =
            entry.and_then(|(entry, place)| self.state.holder_for(&result.call_id, entry.event.message()?, place));
        let on_chain = holder.is_some_and(|holder| self.state.on_chain(self.state.entries()[holder].event.id));
        let (code, reason) = if on_chain {
            (code::DUPLICATE_RESULT_LEFT_OUT, "its call is answered by an earlier result, or is not shown")
        } else {
            (code::ORPHAN_RESULT_LEFT_OUT, "its call is not on the chain, or is not shown")
        };
        self.say(Diagnostic::new(code, [id], reason).about_call(&result.call_id));
    }

    fn holds_answers(&self, id: Uuid) -> bool {
        self.made.answered.holders(id).next().is_some()
    }

    /// Puts the results of a message's calls behind it, in the order of the calls.
    fn add_results(&mut self, holder: &'a Entry, message: &'a Message) {
        let mut behind: Vec<(&Entry, &Message)> = Vec::new();
        let mut is_behind = HashSet::new();
        let mut gone: Vec<(&Entry, &Message, &ToolCall, Shared<Part>, Shortened)> = Vec::new();
        for (index, call) in message.calls().enumerate() {
            let Some((entry, result)) = self.pairing.result_of(holder.event.id, index) else { continue };
            let is_shown = self.part_place(entry, result).is_some_and(|place| self.made.answered.holds(place));
            let Some(source) = entry.event.message().filter(|_| is_shown) else { continue };
            let Some((part, flag)) = self.result_part(entry, source, result) else { continue };
            if self.options.has_tool(&call.name) {
                self.put_result(entry, source, part, flag);
            } else {
                gone.push((entry, source, call, part, flag));
            }
            let on_chain = self.state.on_chain(entry.event.id);
            // Where it answers calls of several messages, it is said once.
            let is_first = self.made.holder_of(entry.event.id) == self.state.index_of(holder.event.id);
            if !on_chain && is_first && is_behind.insert(std::ptr::from_ref(entry)) {
                behind.push((entry, source));
            }
        }
        for (entry, source, call, part, flag) in gone {
            let parts = part.as_tool_result().map(|result| degrade::gone_result(call, result)).unwrap_or_default();
            let parts = parts.into_iter().map(Shared::from).collect();
            if let Some(mut projected) = self.projected(&entry.event, source, Role::User, parts) {
                projected.metadata.truncated = flag == Shortened::Cut;
                projected.metadata.compacted = flag == Shortened::Cleared;
                self.made.messages.push(projected);
            }
        }
        for (entry, source) in behind {
            self.add_rest(entry, source);
        }
    }

    fn put_result(&mut self, entry: &Entry, source: &Message, part: Shared<Part>, flag: Shortened) {
        // Results that one message holds side by side stay one message.
        let is_same = |last: &ProjectedMessage| last.role == Role::Tool && last.source_message_ids == [entry.event.id];
        if !self.made.messages.last().is_some_and(is_same) {
            let projected = self.projected(&entry.event, source, Role::Tool, Vec::new());
            self.made.messages.extend(projected);
        }
        if let Some(last) = self.made.messages.last_mut() {
            last.content.push(part);
            last.metadata.truncated |= flag == Shortened::Cut;
            last.metadata.compacted |= flag == Shortened::Cleared;
        }
    }

    /// What a message that hangs beside the chain says besides its results.
    fn add_rest(&mut self, entry: &Entry, source: &Message) {
        let mut rest = self.content(&entry.event, source);
        let found = rest.len();
        rest.retain(|part| !matches!(part.body, PartBody::ToolCall(_) | PartBody::ToolApprovalResponse(_)));
        if rest.len() < found {
            let reason = "calls, and answers about them, in a message beside the chain are not the model's";
            self.say(Diagnostic::new(code::PART_LEFT_OUT, [entry.event.id], reason));
        }
        if !rest.is_empty() {
            let projected = self.projected(&entry.event, source, Role::User, rest);
            self.made.messages.extend(projected);
        }
    }

    /// The result as the model sees it: whole, cut, or a stub.
    fn result_part(
        &mut self,
        entry: &Entry,
        source: &Message,
        result: &ToolResult,
    ) -> Option<(Shared<Part>, Shortened)> {
        let id = entry.event.id;
        let (_, index) = self.part_place(entry, result)?;
        let part = Shared::part_of(&entry.event, index)?;
        let limit = self.options.tool_result_soft_limit_chars;
        let too_long = limit.filter(|&limit| results::length(result) > limit);
        let pruned = entry.pruned_at.is_some() || source.metadata.compacted_at.is_some();
        let why_cleared = if pruned {
            Some("it was pruned")
        } else if !self.options.include_tool_results {
            Some("the options leave out results")
        } else if too_long.is_some() && self.was_kept(entry) {
            Some("it is longer than the limit, and a compaction kept it")
        } else {
            None
        };
        if let Some(reason) = why_cleared {
            self.made.diagnostics.compacted_message_ids.push(id);
            self.made.diagnostics.note(CLEARED_RESULT);
            self.say(Diagnostic::new(code::RESULT_CLEARED, [id], reason).about_call(&result.call_id));
            return Some((changed(&part, results::cleared(result)), Shortened::Cleared));
        }
        let cut = too_long.map(|limit| {
            let left_out = results::length(result).saturating_sub(limit);
            self.made.diagnostics.truncated_message_ids.push(id);
            self.made.diagnostics.note(&results::left_out_note(left_out));
            let reason = format!("{left_out} characters above the limit of {limit}");
            self.say(Diagnostic::new(code::RESULT_TRUNCATED, [id], reason).about_call(&result.call_id));
            results::cut(result, limit)
        });
        let flag = if cut.is_some() { Shortened::Cut } else { Shortened::No };
        // Behind the cut, so that no picture's note is cut off: pictures have no characters.
        let noted = degrade::without_untaken(cut.as_ref().unwrap_or(result), self.options);
        if let Some((_, notes)) = &noted {
            notes.iter().for_each(|note| self.made.diagnostics.note(note));
            let reason = format!("{} in its output: {}", notes.len(), degrade::not_taken(self.options));
            self.say(Diagnostic::new(code::MEDIA_DEGRADED, [id], reason).about_call(&result.call_id));
        }
        let made = noted.map(|(noted, _)| noted).or(cut);
        Some((made.map_or_else(|| part.clone(), |made| changed(&part, made)), flag))
    }

    fn projected(
        &self,
        event: &Arc<Event>,
        message: &Message,
        role: Role,
        content: Vec<Shared<Part>>,
    ) -> Option<ProjectedMessage> {
        let mut projected = ProjectedMessage::of(self.view, event, role, content)?;
        projected.metadata.hidden_from_transcript = for_transcript(message).is_err();
        Some(projected)
    }

    /// An attachment goes up before the result of its call, past nothing but results and attachments; all else goes
    /// to the end.
    fn place(&mut self, projected: ProjectedMessage, message: &Message) {
        let messages = &mut self.made.messages;
        let call = match &message.kind {
            Kind::Attachment(attachment) => attachment.tool_use_id.as_deref(),
            _ => None,
        };
        let at = call.and_then(|call| self.tail.result_of(call, messages));
        if let Some(at) = at {
            self.tail.put_in(at);
        }
        let at = at.unwrap_or(messages.len());
        self.first_put = self.first_put.min(at);
        if at < self.found && self.moved.as_ref().is_none_or(|(first, _)| at < *first) {
            self.moved = Some((at, messages[at].source_message_ids.clone()));
        }
        messages.insert(at, projected);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortened {
    No,
    Cut,
    Cleared,
}

/// A part with this result in the place of its own.
fn changed(part: &Part, result: ToolResult) -> Shared<Part> {
    let (provider, item_id) = (part.provider.clone(), part.item_id.clone());
    Part { provider, item_id, ..Part::new(PartBody::ToolResult(result)) }.into()
}

/// Where the results that answer calls stand among the parts of their messages; each message is gone through once.
fn places_of_results(pairing: &Pairing<'_>) -> HashMap<*const ToolResult, usize> {
    let mut seen = HashSet::new();
    let mut places = HashMap::new();
    for (entry, _) in pairing.calls().iter().filter_map(|call| call.result) {
        if !seen.insert(std::ptr::from_ref(entry)) {
            continue;
        }
        for (index, part) in entry.event.message().into_iter().flat_map(|message| message.content.iter().enumerate()) {
            if let Some(result) = part.as_tool_result() {
                places.insert(std::ptr::from_ref(result), index);
            }
        }
    }
    places
}

fn is_about_approvals(content: &[Shared<Part>]) -> bool {
    content.iter().any(|part| matches!(part.body, PartBody::ToolApprovalResponse(_) | PartBody::ToolApprovalRequest(_)))
}
