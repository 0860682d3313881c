//! Messages of other agents, or of nobody's file, as records of a transcript.

use std::sync::Arc;

use super::parts::PROVIDER;
use super::write_blocks::Blocks;
use super::write_own::{answer, put_text};
use crate::event::{Event, Fields, Kind, Message, NO_CONTENT, Part, Role, StopReason, Value};
use crate::interop::fields::{field, put};
use crate::interop::leaving_names::ToolNames;
use crate::interop::leaving_source::{is_hidden, left_out};
use crate::interop::leaving_told::{Told, lost};
use crate::projection::{Shared, readable_parts};

/// The model of what no model has said.
const NO_MODEL: &str = "<synthetic>";

/// The fields of a message's record, but for what every record has; none: the format has no place for it.
pub(super) fn foreign_fields(
    event: &Arc<Event>,
    message: &Message,
    tools: &ToolNames,
    told: &mut Told,
) -> Option<Fields> {
    if !message.extra.is_empty() {
        told.note(lost::FIELDS, event.id);
    }
    if is_hidden(message) && matches!(message.role, Role::Assistant | Role::Tool) {
        told.note(lost::SHOWN, event.id);
    }
    let mut fields = match message.role {
        Role::Assistant => assistant(event, message, tools, told),
        _ => user(event, message, tools, told),
    }?;
    put_text(&mut fields, "agentName", message.metadata.agent_name.as_deref());
    Some(fields)
}

/// Whether a record can hold what the message says.
pub(super) fn is_written(event: &Event, message: &Message, told: &mut Told) -> bool {
    // A summary for people only; a boundary is none without it.
    if matches!(message.kind, Kind::CompactSummary(_)) && !message.metadata.eligible_for_model_context {
        told.note(lost::SUMMARY_SEEN, event.id);
    }
    left_out(message).inspect(|lost| told.note(*lost, event.id)).is_none()
}

fn assistant(event: &Arc<Event>, message: &Message, tools: &ToolNames, told: &mut Told) -> Option<Fields> {
    let id = event.id;
    let mut parts: Vec<Shared<Part>> = Shared::parts_of(event).collect();
    if !matches!(message.kind, Kind::AssistantText | Kind::AssistantReasoning | Kind::ToolCall) {
        told.note(lost::KINDS, id);
        parts = readable_parts(message, parts);
    }
    let mut blocks = Blocks { is_own: false, provider: message.provider.clone(), event: id, tools, told };
    let content = blocks.of(parts.iter().map(|part| &**part));
    if content.is_empty() {
        return None;
    }
    let mut inner = answer(message, Value::List(content));
    if message.message_id.is_none() {
        put(&mut inner, "id", format!("msg_{}", id.simple()));
    }
    // What the program itself writes where no model has said it.
    if message.model.is_none() {
        put(&mut inner, "model", NO_MODEL);
        told.note(lost::MODEL_UNKNOWN, id);
    }
    if message.provider.as_deref() != Some(PROVIDER) {
        told.note(lost::PROVIDERS, id);
        if message.model.is_some() {
            told.note(lost::MODELS, id);
        }
    }
    if message.usage.as_ref().is_some_and(|usage| usage.reasoning.is_some()) {
        told.note(lost::USAGE, id);
    }
    let reason = field(&inner, "stop_reason").and_then(Value::as_text).map(reason_of);
    if reason == Some(None) || message.stop_reason == StopReason::StreamOpen {
        told.note(lost::STOP_REASONS, id);
    }
    put(&mut inner, "stop_reason", reason.flatten().map_or(Value::Null, Value::from));
    put(&mut inner, "stop_sequence", Value::Null);
    let mut fields: Fields = vec![("type".to_owned(), "assistant".into()), ("message".to_owned(), Value::Map(inner))];
    put_text(&mut fields, "requestId", message.request_id.as_deref());
    Some(fields)
}

/// Why an answer ended, in the provider's own word.
fn reason_of(said: &str) -> Option<&'static str> {
    Some(match said {
        "end_turn" | "endTurn" | "stop" | "completed" => "end_turn",
        "tool_use" | "toolUse" | "tool_calls" | "function_call" => "tool_use",
        "max_tokens" | "length" | "max_output_tokens" => "max_tokens",
        "stop_sequence" => "stop_sequence",
        "pause_turn" => "pause_turn",
        "refusal" | "content_filter" => "refusal",
        _ => return None,
    })
}

fn user(event: &Arc<Event>, message: &Message, tools: &ToolNames, told: &mut Told) -> Option<Fields> {
    let id = event.id;
    let mut is_meta = is_hidden(message) && !matches!(message.kind, Kind::CompactSummary(_) | Kind::ToolResult);
    let parts: Vec<Shared<Part>> = match &message.kind {
        Kind::UserInput | Kind::ToolResult | Kind::CompactSummary(_) => Shared::parts_of(event).collect(),
        kind => {
            match (kind, message.role) {
                (Kind::SystemNote, _) | (_, Role::System) => told.note(lost::SYSTEM_NOTES, id),
                _ => told.note(lost::AS_TEXT, id),
            }
            is_meta |= matches!(kind, Kind::Custom(custom) if !custom.display);
            readable_parts(message, Shared::parts_of(event).collect())
        }
    };
    if message.results().any(|result| result.raw.is_some()) {
        told.note(lost::RAW, id);
    }
    let mut blocks = Blocks { is_own: false, provider: message.provider.clone(), event: id, tools, told };
    let mut content = blocks.of(parts.iter().map(|part| &**part));
    // Without a summary a boundary is none.
    if content.is_empty() && matches!(message.kind, Kind::CompactSummary(_)) {
        content.push(Value::from([("type", "text".into()), ("text", NO_CONTENT.into())]));
    }
    if content.is_empty() {
        return None;
    }
    let only_text = match content.as_slice() {
        [block] if field_text(block, "type") == Some("text") => field_text(block, "text").map(str::to_owned),
        _ => None,
    };
    let content = only_text.map_or(Value::List(content), Value::from);
    let inner = Value::from([("role", "user".into()), ("content", content)]);
    let mut fields: Fields = vec![("type".to_owned(), "user".into()), ("message".to_owned(), inner)];
    if is_meta {
        put(&mut fields, "isMeta", true);
    }
    if matches!(message.kind, Kind::CompactSummary(_)) {
        put(&mut fields, "isCompactSummary", true);
    }
    Some(fields)
}

fn field_text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_text)
}
