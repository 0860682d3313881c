//! Parts of another agent's message, as the user tells them.

use crate::context::slots::is_wrapper;
use crate::context::tag::{defuse, holds_marks, without_marks};
use crate::context::tagged;
use crate::event::{Part, PartBody, ToolCall, ToolInput, ToolOutput, ToolResult, Uuid, Value};
use crate::projection::{Shared, json_of, media_note};

/// Begin the tag that names a speaker, and its end.
const SPEAKER: [&str; 2] = ["<speaker", "</speaker"];

/// Why a picture of a tool's is a note.
const OF_ANOTHER: &str = "another agent's tool gave it back";

/// The messages of which something is not told.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    /// Reasoning.
    pub(super) reasoning: Vec<Uuid>,
    /// Parts that have no form.
    pub(super) parts: Vec<Uuid>,
    /// Pictures and files that became a note.
    pub(super) media: Vec<Uuid>,
}

/// The part as the user tells it; none if it is left out. Texts, pictures and files stay as they are.
pub(super) fn told(part: Shared<Part>, ids: &[Uuid], left_out: &mut LeftOut) -> Option<Shared<Part>> {
    let text = match &part.body {
        PartBody::Text(text) if names_a_speaker(&text.text) || holds_marks(&text.text) => harmless(&text.text),
        PartBody::Text(_) | PartBody::Image(_) | PartBody::File(_) => return Some(part),
        PartBody::ToolCall(call) => call_text(call),
        PartBody::ToolResult(result) => result_text(result, ids, left_out),
        PartBody::ToolApprovalResponse(response) if !response.approved => {
            let attributes = [("id", response.call_id.as_str()), ("status", "refused")];
            harmless(&tagged("tool_result", &attributes, response.reason.as_deref().unwrap_or_default()))
        }
        PartBody::Json(value) => harmless(&json_of(value)),
        PartBody::Reasoning(_) => {
            left_out.reasoning.extend(ids);
            return None;
        }
        _ => {
            left_out.parts.extend(ids);
            return None;
        }
    };
    Some(Part::text(text).into())
}

/// Whether a text holds what begins or ends a tag that names a speaker, so that one agent could speak for another, or for
/// the person.
fn names_a_speaker(text: &str) -> bool {
    let holds = |tag: &str| text.as_bytes().windows(tag.len()).any(|at| at.eq_ignore_ascii_case(tag.as_bytes()));
    SPEAKER.into_iter().any(holds)
}

/// Takes the tag that names a speaker out of these texts; says whether any held it.
pub(super) fn hushed(parts: &mut [Shared<Part>]) -> bool {
    let mut is_changed = false;
    for part in parts.iter_mut().filter(|part| !is_wrapper(part)) {
        if let Some(text) = part.as_text().filter(|text| names_a_speaker(text)) {
            *part = Part::text(harmless(text)).into();
            is_changed = true;
        }
    }
    is_changed
}

/// The text without what names a speaker and without the marks of the wrapper, which a user message may hold: so it
/// speaks for nobody else, and is nothing that the application put in.
fn harmless(text: &str) -> String {
    without_marks(&SPEAKER.iter().fold(text.to_owned(), |text, tag| defuse(&text, tag)))
}

fn call_text(call: &ToolCall) -> String {
    let input = match &call.input {
        ToolInput::None | ToolInput::Json(Value::Null) => String::new(),
        ToolInput::Json(value) => json_of(value),
        ToolInput::Text(text) => text.clone(),
    };
    harmless(&tagged("tool_use", &[("id", &call.id), ("name", &call.name)], &input))
}

fn result_text(result: &ToolResult, ids: &[Uuid], left_out: &mut LeftOut) -> String {
    let output = match &result.output {
        ToolOutput::Text(text) => text.clone(),
        ToolOutput::Parts(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(|part| output_text(part, ids, left_out)).collect();
            texts.join("\n")
        }
    };
    let mut attributes = vec![("id", result.call_id.as_str())];
    attributes.extend(result.name.as_deref().map(|name| ("name", name)));
    attributes.extend(result.is_error.then_some(("status", "error")));
    harmless(&tagged("tool_result", &attributes, &output))
}

fn output_text(part: &Part, ids: &[Uuid], left_out: &mut LeftOut) -> Option<String> {
    match &part.body {
        PartBody::Text(text) => Some(text.text.clone()),
        PartBody::Json(value) => Some(json_of(value)),
        PartBody::Image(media) | PartBody::File(media) => {
            left_out.media.extend(ids);
            Some(media_note(media, OF_ANOTHER))
        }
        _ => {
            left_out.parts.extend(ids);
            None
        }
    }
}
