//! Messages that came from a transcript back to their records: what `convert` and `parts` took apart, put together.

use super::write_blocks::Blocks;
use crate::event::{Event, Fields, Kind, Message, PartBody, Role, StopReason, Usage, Value};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_names::ToolNames;
use crate::interop::leaving_told::Told;
use crate::interop::leaving_usage::beside_caches;

/// What a message says, as fields of its record; what every record has is not among them.
pub(super) fn own_fields(event: &Event, message: &Message, tools: &ToolNames, told: &mut Told) -> Fields {
    let mut fields = message.extra.clone();
    let mut blocks = Blocks { is_own: true, provider: message.provider.clone(), event: event.id, tools, told };
    let metadata = &message.metadata;
    match &message.kind {
        Kind::SystemEvent(told) => {
            put_new(&mut fields, "type", "system");
            if !told.subtype.is_empty() && field(&fields, "type").and_then(Value::as_text) == Some("system") {
                put(&mut fields, "subtype", told.subtype.clone());
            }
            for (name, value) in told.data.iter().filter_map(Value::as_map).flatten() {
                put(&mut fields, name, value.clone());
            }
            put_text(&mut fields, "content", message.content.first().and_then(|part| part.as_text()));
            put_text(&mut fields, "level", told.level.as_deref());
            put_text(&mut fields, "toolUseID", told.tool_use_id.as_deref());
        }
        Kind::Attachment(attachment) => {
            put_new(&mut fields, "type", "attachment");
            if let Some(raw) = &attachment.attachment {
                put(&mut fields, "attachment", raw.clone());
            }
        }
        Kind::Progress(progress) => {
            put_new(&mut fields, "type", "progress");
            put_text(&mut fields, "toolUseID", progress.tool_use_id.as_deref());
            put_text(&mut fields, "parentToolUseID", progress.parent_tool_use_id.as_deref());
            if let Some(data) = &progress.data {
                put(&mut fields, "data", data.clone());
            }
        }
        Kind::UserInput if field(&fields, "attachment").is_some() => {
            put_new(&mut fields, "type", "attachment");
            let prompt = content(&message.content, &mut blocks);
            if let Some((_, Value::Map(queued))) = fields.iter_mut().find(|(name, _)| name == "attachment") {
                put(queued, "prompt", prompt);
                if let Some(origin) = &metadata.origin {
                    put(queued, "origin", origin.clone());
                }
            }
        }
        _ if message.role == Role::Assistant => {
            put_new(&mut fields, "type", "assistant");
            let content = Value::List(blocks.of(&message.content));
            put_inner(&mut fields, answer(message, content));
            put_text(&mut fields, "requestId", message.request_id.as_deref());
            if !metadata.eligible_for_model_context {
                put(&mut fields, "isApiErrorMessage", true);
            }
        }
        _ => {
            put_new(&mut fields, "type", "user");
            let content = content(&message.content, &mut blocks);
            put_inner(&mut fields, vec![("role".to_owned(), "user".into()), ("content".to_owned(), content)]);
            let mut results = message.results();
            if let (Some(result), None) = (results.next(), results.next())
                && let Some(raw) = &result.raw
            {
                put(&mut fields, "toolUseResult", raw.clone());
            }
            put_text(&mut fields, "sourceToolAssistantUUID", metadata.source_tool_assistant_id.as_deref());
            put_text(&mut fields, "permissionMode", metadata.permission_mode.as_deref());
            if let Some(origin) = &metadata.origin {
                put(&mut fields, "origin", origin.clone());
            }
            if matches!(message.kind, Kind::CompactSummary(_)) {
                put(&mut fields, "isCompactSummary", true);
            }
        }
    }
    put_text(&mut fields, "agentId", metadata.run_id.as_deref());
    put_text(&mut fields, "agentName", metadata.agent_name.as_deref());
    if metadata.meta {
        put(&mut fields, "isMeta", true);
    }
    fields
}

/// A provider's answer, as it stands in a record.
pub(super) fn answer(message: &Message, content: Value) -> Fields {
    let mut inner: Fields = Vec::new();
    put_text(&mut inner, "id", message.message_id.as_deref());
    put(&mut inner, "type", "message");
    put(&mut inner, "role", "assistant");
    put_text(&mut inner, "model", message.model.as_deref());
    put(&mut inner, "content", content);
    if let StopReason::Said(reason) = &message.stop_reason {
        put(&mut inner, "stop_reason", reason.clone());
    }
    if let Some(usage) = &message.usage {
        put(&mut inner, "usage", usage_fields(&beside_caches(usage, message.provider.as_deref())));
    }
    inner
}

/// What a compaction's boundary says beside what every record has.
pub(super) fn boundary_fields(message: &Message) -> Fields {
    let mut fields = message.extra.clone();
    if let Some(at) = fields.iter().position(|(name, value)| name == "raw" && value.as_map().is_some())
        && let Value::Map(ours) = fields.remove(at).1
    {
        fields.extend(ours);
    }
    put_text(&mut fields, "content", message.content.first().and_then(|part| part.as_text()));
    fields
}

fn usage_fields(usage: &Usage) -> Value {
    let mut fields: Fields =
        vec![("input_tokens".to_owned(), usage.input.into()), ("output_tokens".to_owned(), usage.output.into())];
    let cached = [("cache_read_input_tokens", usage.cache_read), ("cache_creation_input_tokens", usage.cache_write)];
    for (name, count) in cached {
        fields.extend(count.map(|count| (name.to_owned(), count.into())));
    }
    fields.extend(usage.extra.iter().cloned());
    Value::Map(fields)
}

/// One text stands alone, as people's words do.
fn content(parts: &[crate::event::Part], blocks: &mut Blocks<'_>) -> Value {
    match parts {
        [part] if part.extra.is_empty() && matches!(part.body, PartBody::Text(_)) => {
            part.as_text().unwrap_or_default().into()
        }
        parts => Value::List(blocks.of(parts)),
    }
}

/// Puts fields into the record's message, beside those that are there.
fn put_inner(fields: &mut Fields, mut inner: Fields) {
    if let Some((_, Value::Map(rest))) = fields.iter_mut().find(|(name, _)| name == "message") {
        for (name, value) in std::mem::take(rest) {
            put_new(&mut inner, &name, value);
        }
    }
    put(fields, "message", Value::Map(inner));
}

pub(super) fn put_text(fields: &mut Fields, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        put(fields, name, text);
    }
}
