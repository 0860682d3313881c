//! The export: the story without the runtime's noise, for whoever is outside.

use std::fmt;
use std::sync::Arc;

use super::calls::{Rank, Slot, Tie, tie};
use super::diagnostics::{Diagnostic, Diagnostics, code};
use super::message::ProjectedMessage;
use super::redact::Redact;
use super::redactor::Redactor;
use super::shared::Shared;
use super::{Projection, View};
use crate::event::{Kind, LOCAL_COMMAND, Message, Part, PartBody, SYNTHETIC_TEXTS, ToolCall, ToolOutput, ToolResult};
use crate::session::State;

/// Choices of the export.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExportOptions {
    /// What takes words out, one rule after the other.
    pub rules: Rules,
    /// What becomes of texts that were put in for something that never came.
    pub placeholders: Placeholders,
    /// Whether what only its provider can read stays: signatures, redacted and encrypted reasoning, parts of a
    /// provider's own form. Default true.
    pub provider_data: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { rules: Rules::default(), placeholders: Placeholders::default(), provider_data: true }
    }
}

/// What becomes of placeholders in an export: texts that the runtime put in for a result that never came, an answer
/// that was cut off, a person's refusal. They are nobody's words and spoil data for training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Placeholders {
    /// They stay, flagged synthetic.
    #[default]
    Keep,
    /// They go. A call goes with a result that was only put in, and so does a call that has no result at all, so that
    /// no call stands without one.
    Drop,
    /// An export that would hold one has no messages; the diagnostics name each.
    Refuse,
}

/// The rules of an export, in the order in which they are applied.
#[derive(Clone, Default)]
pub struct Rules(Vec<Arc<dyn Redact>>);

impl Rules {
    /// These rules.
    #[must_use]
    pub fn of(rules: impl IntoIterator<Item = Arc<dyn Redact>>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// One more rule, applied last.
    pub fn push(&mut self, rule: impl Redact + 'static) {
        self.0.push(Arc::new(rule));
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

/// Two lists are equal if they hold the very same rules.
impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

/// Makes a transcript fit for others: noise out, placeholders as chosen, sealed data as chosen, and the rules applied
/// to all that is left.
pub(super) fn project(state: &State, story: Projection, options: &ExportOptions) -> Projection {
    let Projection { mut messages, mut diagnostics } = story;
    messages.retain(|projected| {
        let source = projected.source_message_ids.first().and_then(|&id| state.entry(id));
        let Some(message) = source.and_then(|entry| entry.event.message()) else { return true };
        let shown = for_export(message);
        if let Err((code, reason)) = shown {
            diagnostics.hide(projected.id, code, reason);
        }
        shown.is_ok()
    });
    let messages = match options.placeholders {
        Placeholders::Keep => messages,
        Placeholders::Drop => without_placeholders(state, messages, &mut diagnostics),
        Placeholders::Refuse => refused(messages, &mut diagnostics),
    };
    let mut messages = match options.provider_data {
        true => messages,
        false => without_provider_data(messages, &mut diagnostics),
    };
    let mut redactor = Redactor::new(&options.rules.0);
    for message in &mut messages {
        message.view = View::Export;
        if redactor.message(message) {
            diagnostics.say(Diagnostic::new(code::REDACTED, [message.id], "a rule took words out of it"));
        }
    }
    redactor.diagnostics(&mut diagnostics);
    Projection { messages, diagnostics }
}

/// Whether the export shows a message of the transcript, or why not.
fn for_export(message: &Message) -> Result<(), (&'static str, &'static str)> {
    let metadata = &message.metadata;
    if metadata.is_virtual {
        return Err((code::VIRTUAL_LEFT_OUT, "it is for the screen only"));
    }
    match &message.kind {
        Kind::AssistantText if metadata.synthetic && !metadata.eligible_for_model_context => {
            Err((code::API_ERROR_LEFT_OUT, "it tells that a request failed; no model said it"))
        }
        Kind::SystemNote
        | Kind::UserInput
        | Kind::AssistantText
        | Kind::AssistantReasoning
        | Kind::ToolCall
        | Kind::ToolResult
        | Kind::ToolApprovalRequest
        | Kind::ToolApprovalResponse
        | Kind::CompactBoundary(_)
        | Kind::CompactSummary(_)
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote
        | Kind::Custom(_)
        | Kind::BranchSummary(_)
        | Kind::AssistantGroup(_)
        | Kind::AgentCouncil(_)
        | Kind::Supervisor(_)
        | Kind::CompressedGroup(_)
        | Kind::Task(_)
        | Kind::Tasks(_)
        | Kind::GroupTasks(_)
        | Kind::TaskCallback(_)
        | Kind::Verify(_) => Ok(()),
        // What a person kept from the model is not for strangers either.
        Kind::BashExecution(bash) if bash.exclude_from_context => {
            Err((code::EXCLUDED_BASH_LEFT_OUT, "the person kept the command from the model"))
        }
        Kind::BashExecution(_) => Ok(()),
        Kind::Attachment(attachment) if attachment.hook_event.is_some() => {
            Err((code::KIND_LEFT_OUT, "what a hook brought is the runtime's"))
        }
        Kind::Attachment(_) => Ok(()),
        Kind::RuntimeReminder => Err((code::REMINDER_LEFT_OUT, "reminders are the runtime's")),
        Kind::Progress(_) => Err((code::KIND_LEFT_OUT, "progress is for the screen")),
        Kind::ToolUseSummary(_) => Err((code::KIND_LEFT_OUT, "summaries of tool uses are for the screen")),
        Kind::SystemEvent(event) if event.subtype == LOCAL_COMMAND => Ok(()),
        Kind::SystemEvent(_) => Err((code::KIND_LEFT_OUT, "system events are for the screen")),
    }
}

/// Whether a part was put in for something that never came. In a message that is flagged synthetic all parts were,
/// but for kinds that the runtime always makes: a summary stands for itself.
fn is_placeholder(message: &ProjectedMessage, part: &Part) -> bool {
    let is_said = matches!(
        &*message.kind,
        Kind::UserInput
            | Kind::AssistantText
            | Kind::AssistantReasoning
            | Kind::ToolCall
            | Kind::ToolResult
            | Kind::ToolApprovalRequest
            | Kind::ToolApprovalResponse
    );
    let is_fixed = |text: &str| SYNTHETIC_TEXTS.contains(&text.trim());
    let says_so = || match &part.body {
        PartBody::Text(text) => is_fixed(&text.text),
        PartBody::ToolResult(ToolResult { output: ToolOutput::Text(text), .. }) => is_fixed(text),
        PartBody::ToolResult(ToolResult { output: ToolOutput::Parts(parts), .. }) => {
            !parts.is_empty() && parts.iter().all(|part| part.as_text().is_some_and(is_fixed))
        }
        _ => false,
    };
    is_said && (message.metadata.synthetic || says_so())
}

fn call_id_of(part: &Part) -> Option<&str> {
    part.as_tool_result().map(|result| &result.call_id).or(part.as_tool_call().map(|call| &call.id)).map(String::as_str)
}

fn refused(messages: Vec<ProjectedMessage>, diagnostics: &mut Diagnostics) -> Vec<ProjectedMessage> {
    let mut found = false;
    for message in &messages {
        for part in message.content.iter().filter(|part| is_placeholder(message, part)) {
            found = true;
            let reason = "it was put in for something that never came, and the options refuse such texts";
            let item = Diagnostic::new(code::PLACEHOLDER_REFUSED, [message.id], reason);
            diagnostics.say(match call_id_of(part) {
                Some(call) => item.about_call(call),
                None => item,
            });
        }
    }
    if !found {
        return messages;
    }
    diagnostics.hidden_message_ids.extend(messages.iter().map(|message| message.id));
    Vec::new()
}

fn without_placeholders(
    state: &State,
    messages: Vec<ProjectedMessage>,
    diagnostics: &mut Diagnostics,
) -> Vec<ProjectedMessage> {
    let slots = tie(state, &messages);
    let is_placeholder =
        |slot: &Slot<'_>| slot.part.is_some_and(|(_, part)| is_placeholder(&messages[slot.message], part));
    let call_count = slots.iter().filter(|slot| matches!(slot.tie, Tie::Call(_))).count();
    // What each call has for a result that stays.
    let mut answered = vec![false; call_count];
    let mut has_placeholder = vec![false; call_count];
    for slot in &slots {
        match slot.tie {
            Tie::Of(call, Rank::Result) if is_placeholder(slot) => has_placeholder[call] = true,
            Tie::Of(call, Rank::Result) => answered[call] = true,
            Tie::Call(call) if is_placeholder(slot) => has_placeholder[call] = true,
            _ => {}
        }
    }
    let stays = |call: usize| answered[call] && !has_placeholder[call];
    let mut kept: Vec<Vec<usize>> = vec![Vec::new(); messages.len()];
    for slot in &slots {
        let Some((place, part)) = slot.part else { continue };
        let id = messages[slot.message].id;
        let why = match slot.tie {
            _ if is_placeholder(slot) => (code::PLACEHOLDER_LEFT_OUT, "it was put in for something that never came"),
            Tie::Call(call) if !stays(call) && has_placeholder[call] => {
                (code::PLACEHOLDER_LEFT_OUT, "its only result was put in for one that never came")
            }
            Tie::Call(call) if !stays(call) => (code::UNANSWERED_CALL_LEFT_OUT, "it has no result"),
            Tie::Of(call, _) if !stays(call) => (code::PLACEHOLDER_LEFT_OUT, "it belongs to a call that is left out"),
            _ => {
                kept[slot.message].push(place);
                continue;
            }
        };
        let item = Diagnostic::new(why.0, [id], why.1);
        diagnostics.say(match call_id_of(part) {
            Some(call) => item.about_call(call),
            None => item,
        });
    }
    drop(slots);
    let mut left = Vec::with_capacity(messages.len());
    for (mut message, kept) in messages.into_iter().zip(kept) {
        let had_parts = !message.content.is_empty();
        if kept.len() < message.content.len() {
            message.content = kept.into_iter().filter_map(|place| message.content.get(place).cloned()).collect();
        }
        if had_parts && message.content.is_empty() {
            diagnostics.hidden_message_ids.push(message.id);
        } else {
            left.push(message);
        }
    }
    left
}

fn without_provider_data(messages: Vec<ProjectedMessage>, diagnostics: &mut Diagnostics) -> Vec<ProjectedMessage> {
    let mut left = Vec::with_capacity(messages.len());
    for mut message in messages {
        let mut changed = false;
        let mut content = Vec::with_capacity(message.content.len());
        for part in &message.content {
            match opened(part) {
                Opened::Same => content.push(part.clone()),
                Opened::Changed(part) => {
                    changed = true;
                    content.push(Shared::from(part));
                }
                Opened::Gone => changed = true,
            }
        }
        if changed {
            let reason = "the options leave out what only its provider can read";
            diagnostics.say(Diagnostic::new(code::PROVIDER_DATA_LEFT_OUT, [message.id], reason));
            message.content = content;
            if message.content.is_empty() {
                diagnostics.hidden_message_ids.push(message.id);
                continue;
            }
        }
        left.push(message);
    }
    left
}

enum Opened {
    Same,
    Changed(Part),
    Gone,
}

/// A part without what only its provider can read.
fn opened(part: &Part) -> Opened {
    match &part.body {
        PartBody::Opaque(_) => Opened::Gone,
        PartBody::Reasoning(reasoning) => {
            let is_sealed =
                [&reasoning.signature, &reasoning.redacted, &reasoning.encrypted].into_iter().any(Option::is_some);
            match reasoning.text.as_ref().filter(|text| !text.trim().is_empty()) {
                _ if !is_sealed => Opened::Same,
                None => Opened::Gone,
                Some(text) => Opened::Changed(Part { body: Part::reasoning(text, None).body, ..part.clone() }),
            }
        }
        PartBody::ToolCall(call) if call.thought_signature.is_some() => {
            let call = ToolCall { thought_signature: None, ..call.clone() };
            Opened::Changed(Part { body: PartBody::ToolCall(call), ..part.clone() })
        }
        PartBody::ToolResult(ToolResult { output: ToolOutput::Parts(parts), .. })
            if parts.iter().any(|part| !matches!(opened(part), Opened::Same)) =>
        {
            let mut part = part.clone();
            if let PartBody::ToolResult(ToolResult { output: ToolOutput::Parts(parts), .. }) = &mut part.body {
                let open = |part: Part| match opened(&part) {
                    Opened::Same => Some(part),
                    Opened::Changed(part) => Some(part),
                    Opened::Gone => None,
                };
                *parts = std::mem::take(parts).into_iter().filter_map(open).collect();
            }
            Opened::Changed(part)
        }
        _ => Opened::Same,
    }
}
