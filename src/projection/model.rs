//! The model view: what the model is to read.

use std::collections::HashSet;
use std::sync::Arc;

use super::decide::{for_model, for_transcript};
use super::diagnostics::{Diagnostic, Diagnostics, code};
use super::message::ProjectedMessage;
use super::options::Options;
use super::results::{self, CLEARED_RESULT};
use super::shared::Shared;
use super::spine::Spine;
use super::{Projection, View, flatten};
use crate::event::{Event, Kind, Message, Part, PartBody, Role, ToolResult, Uuid};
use crate::session::{Entry, Pairing, State};

/// Projects the current chain for the model.
///
/// The order is that of the chain, but: the results of a message's calls stand right behind it, in the order of the
/// calls, and an attachment to a call stands before that call's result where only results and other attachments lie
/// between. Nothing depends on the distance from the end.
pub(super) fn project(state: &State, options: &Options) -> Projection {
    let boundary = state.boundary();
    let spine = Spine::new(state, state.chain(), boundary);
    let cut = boundary.map(|entry| spine.place(entry));
    let mut builder = Builder {
        spine: &spine,
        pairing: state.pairing(),
        options,
        cut,
        answered: HashSet::new(),
        messages: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    if let Some(boundary) = boundary {
        builder.diagnostics.applied_compact_boundary_id = Some(boundary.event.id);
        let reason = "the view begins at the latest boundary of the chain";
        builder.diagnostics.say(Diagnostic::new(code::BOUNDARY_APPLIED, [boundary.event.id], reason));
    }
    builder.choose_results();
    let summary = boundary.and_then(|entry| state.compaction_partner(entry));
    for entry in in_order(&spine, cut, summary) {
        builder.add(entry);
    }
    spine.report(&mut builder.diagnostics);
    Projection { messages: builder.messages, diagnostics: builder.diagnostics }
}

/// The spine, with the output of local commands at its place in the file. What lies before the boundary and takes no
/// part in the chain was compacted away.
fn in_order<'a>(spine: &Spine<'a>, cut: Option<usize>, summary: Option<&Entry>) -> Vec<&'a Entry> {
    let side = spine.side_messages();
    let mut side =
        side.filter(|(_, message)| matches!(message.kind, Kind::SystemEvent(_))).map(|(entry, _)| entry).peekable();
    let follows = cut.map_or(0, |cut| {
        // Boundary, summary and kept messages come first; the summary lies behind the boundary in the file.
        let is_head =
            |entry: &&Entry| spine.place(entry) <= cut || summary.is_some_and(|summary| std::ptr::eq(summary, *entry));
        spine.entries.iter().rposition(is_head).map_or(0, |at| at + 1)
    });
    let mut ordered: Vec<&Entry> = spine.entries[..follows].to_vec();
    for &entry in &spine.entries[follows..] {
        let place = spine.place(entry);
        while let Some(earlier) = side.next_if(|side| spine.place(side) < place) {
            ordered.push(earlier);
        }
        ordered.push(entry);
    }
    ordered.extend(side);
    ordered
}

struct Builder<'s, 'a> {
    spine: &'s Spine<'a>,
    pairing: Pairing<'a>,
    options: &'s Options,
    /// The place of the boundary that counts.
    cut: Option<usize>,
    /// The results that stand behind a call that is shown.
    answered: HashSet<*const ToolResult>,
    messages: Vec<ProjectedMessage>,
    diagnostics: Diagnostics,
}

impl<'a> Builder<'_, 'a> {
    /// Finds the results that will stand behind their calls, so that what is left at its own place is known.
    fn choose_results(&mut self) {
        for call in self.pairing.calls() {
            let shown = |entry: &Entry| entry.event.message().is_some_and(|m| for_model(m, self.options).is_ok());
            if let Some((entry, result)) = call.result
                && !call.call.incomplete
                && shown(call.message)
                && shown(entry)
            {
                self.answered.insert(std::ptr::from_ref(result));
            }
        }
    }

    fn add(&mut self, entry: &'a Entry) {
        let event = &entry.event;
        let Some(message) = event.message() else { return };
        if self.is_older_compaction(entry, message) {
            let reason = "a later compaction stands for it";
            return self.diagnostics.hide(event.id, code::OLDER_COMPACTION_LEFT_OUT, reason);
        }
        let role = match for_model(message, self.options) {
            Ok(role) => role,
            // The boundary that counts is named by a diagnostic of its own.
            Err(_) if self.cut == Some(self.spine.place(entry)) => return,
            Err((code, reason)) => return self.diagnostics.hide(event.id, code, reason),
        };
        let content = self.content(event, message);
        if !content.is_empty() || message.content.is_empty() {
            let role = if role == Role::Tool && !is_about_approvals(&content) { Role::User } else { role };
            if let Some(projected) = projected(event, message, role, content) {
                self.place(projected, message);
            }
        } else if !self.holds_answers(message) {
            self.diagnostics.hidden_message_ids.push(event.id);
        }
        self.add_results(entry, message);
    }

    /// An older boundary or summary, in a kept range.
    fn is_older_compaction(&self, entry: &Entry, message: &Message) -> bool {
        let is_compaction = matches!(message.kind, Kind::CompactBoundary(_) | Kind::CompactSummary(_));
        is_compaction && self.cut.is_some_and(|cut| self.spine.place(entry) < cut)
    }

    /// The parts that stay at the message's own place: all but results, calls that the stream cut, and what the
    /// options leave out.
    fn content(&mut self, event: &Arc<Event>, message: &Message) -> Vec<Shared<Part>> {
        let mut content = Vec::new();
        let mut has_reasoning = false;
        for part in Shared::parts_of(event) {
            match &part.body {
                PartBody::ToolResult(result) => self.say_if_left_out(event.id, result),
                PartBody::ToolCall(call) if call.incomplete => {
                    let reason = "the stream ended inside its arguments";
                    let item = Diagnostic::new(code::INCOMPLETE_CALL_LEFT_OUT, [event.id], reason);
                    self.diagnostics.say(item.about_call(&call.id));
                }
                PartBody::Reasoning(_) if !self.options.include_reasoning => has_reasoning = true,
                _ => content.push(part),
            }
        }
        if has_reasoning {
            let reason = "the options leave out reasoning";
            self.diagnostics.say(Diagnostic::new(code::REASONING_LEFT_OUT, [event.id], reason));
        }
        let only_results = content.is_empty() && !message.content.is_empty();
        if only_results { content } else { flatten::parts(message, content) }
    }

    fn say_if_left_out(&mut self, id: Uuid, result: &ToolResult) {
        if self.answered.contains(&std::ptr::from_ref(result)) {
            return;
        }
        let known = self.pairing.calls().iter().any(|call| call.call.id == result.call_id && call.result.is_some());
        let (code, reason) = if known {
            (code::DUPLICATE_RESULT_LEFT_OUT, "its call is answered by an earlier result, or is not shown")
        } else {
            (code::ORPHAN_RESULT_LEFT_OUT, "its call is not on the chain, or is not shown")
        };
        self.diagnostics.say(Diagnostic::new(code, [id], reason).about_call(&result.call_id));
    }

    fn holds_answers(&self, message: &Message) -> bool {
        message.results().any(|result| self.answered.contains(&std::ptr::from_ref(result)))
    }

    /// Puts the results of a message's calls behind it, in the order of the calls.
    fn add_results(&mut self, holder: &'a Entry, message: &'a Message) {
        let mut behind: Vec<(&Entry, &Message)> = Vec::new();
        for index in 0..message.calls().count() {
            let Some((entry, result)) = self.pairing.result_of(holder.event.id, index) else { continue };
            let Some(source) = entry.event.message().filter(|_| self.answered.contains(&std::ptr::from_ref(result)))
            else {
                continue;
            };
            let (part, flag) = self.result_part(entry, source, result);
            // Results that one message holds side by side stay one message.
            let same = self
                .messages
                .last()
                .is_some_and(|last| last.role == Role::Tool && last.source_message_ids == [entry.event.id]);
            if !same {
                self.messages.extend(projected(&entry.event, source, Role::Tool, Vec::new()));
            }
            if let Some(last) = self.messages.last_mut() {
                last.content.extend(part);
                last.metadata.truncated |= flag == Shortened::Cut;
                last.metadata.compacted |= flag == Shortened::Cleared;
            }
            if !self.spine.holds(entry.event.id) && !behind.iter().any(|(known, _)| std::ptr::eq(*known, entry)) {
                behind.push((entry, source));
            }
        }
        for (entry, source) in behind {
            self.add_rest(entry, source);
        }
    }

    /// What a message that hangs beside the chain says besides its results.
    fn add_rest(&mut self, entry: &Entry, source: &Message) {
        let is_rest = |part: &Shared<Part>| {
            !matches!(part.body, PartBody::ToolResult(_) | PartBody::ToolCall(_) | PartBody::ToolApprovalResponse(_))
        };
        let rest: Vec<Shared<Part>> = Shared::parts_of(&entry.event).filter(is_rest).collect();
        if !rest.is_empty() {
            self.messages.extend(projected(&entry.event, source, Role::User, rest));
        }
    }

    fn result_part(
        &mut self,
        entry: &Entry,
        source: &Message,
        result: &ToolResult,
    ) -> (Option<Shared<Part>>, Shortened) {
        let id = entry.event.id;
        let limit = self.options.tool_result_soft_limit_chars;
        let too_long = limit.filter(|&limit| results::length(result) > limit);
        let is_kept = self.cut.is_some_and(|cut| self.spine.place(entry) < cut);
        let pruned = entry.pruned_at.is_some() || source.metadata.compacted_at.is_some();
        let why_cleared = if pruned {
            Some("it was pruned")
        } else if !self.options.include_tool_results {
            Some("the options leave out results")
        } else if is_kept && too_long.is_some() {
            Some("it is longer than the limit, and a compaction kept it")
        } else {
            None
        };
        let is_this = |part: &Shared<Part>| part.as_tool_result().is_some_and(|own| std::ptr::eq(own, result));
        let part = Shared::parts_of(&entry.event).find(is_this);
        let (shortened, flag) = match (why_cleared, too_long) {
            (Some(reason), _) => {
                self.diagnostics.compacted_message_ids.push(id);
                self.diagnostics.note(CLEARED_RESULT);
                let item = Diagnostic::new(code::RESULT_CLEARED, [id], reason);
                self.diagnostics.say(item.about_call(&result.call_id));
                (results::cleared(result), Shortened::Cleared)
            }
            (None, Some(limit)) => {
                let left_out = results::length(result).saturating_sub(limit);
                self.diagnostics.truncated_message_ids.push(id);
                self.diagnostics.note(&results::left_out_note(left_out));
                let reason = format!("{left_out} characters above the limit of {limit}");
                let item = Diagnostic::new(code::RESULT_TRUNCATED, [id], reason);
                self.diagnostics.say(item.about_call(&result.call_id));
                (results::cut(result, limit), Shortened::Cut)
            }
            (None, None) => return (part, Shortened::No),
        };
        let owner = part.as_deref();
        let changed = Part {
            provider: owner.and_then(|part| part.provider.clone()),
            item_id: owner.and_then(|part| part.item_id.clone()),
            ..Part::new(PartBody::ToolResult(shortened))
        };
        (Some(changed.into()), flag)
    }

    /// An attachment goes up before the result of its call, past nothing but results and attachments; all else goes
    /// to the end.
    fn place(&mut self, projected: ProjectedMessage, message: &Message) {
        let call = match &message.kind {
            Kind::Attachment(attachment) => attachment.tool_use_id.as_deref(),
            _ => None,
        };
        let at = call.and_then(|call| {
            let is_in_group = |m: &&ProjectedMessage| m.role == Role::Tool || matches!(*m.kind, Kind::Attachment(_));
            let group = self.messages.iter().rev().take_while(is_in_group).count();
            let start = self.messages.len() - group;
            let answers = |m: &ProjectedMessage| {
                m.content.iter().filter_map(|part| part.as_tool_result()).any(|result| result.call_id == call)
            };
            self.messages[start..].iter().position(answers).map(|found| start + found)
        });
        self.messages.insert(at.unwrap_or(self.messages.len()), projected);
    }
}

fn projected(
    event: &Arc<Event>,
    message: &Message,
    role: Role,
    content: Vec<Shared<Part>>,
) -> Option<ProjectedMessage> {
    let mut projected = ProjectedMessage::of(View::Model, event, role, content)?;
    projected.metadata.hidden_from_transcript = for_transcript(message).is_err();
    Some(projected)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortened {
    No,
    Cut,
    Cleared,
}

fn is_about_approvals(content: &[Shared<Part>]) -> bool {
    content.iter().any(|part| matches!(part.body, PartBody::ToolApprovalResponse(_) | PartBody::ToolApprovalRequest(_)))
}
