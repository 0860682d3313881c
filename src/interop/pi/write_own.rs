//! Messages that came from a session file back to their entries: what `convert` took apart, put together.

use super::write_blocks::Blocks;
use crate::event::{BashExecution, Fields, Kind, Message, Role, StopReason, Usage, Uuid, Value};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_told::Told;

/// The fields of a message's entry, but for id, parent and time.
pub(super) fn own_entry(event: Uuid, message: &Message, told: &mut Told) -> Fields {
    let mut fields = message.extra.clone();
    let stored = fields.iter().position(|(name, value)| name == "message" && value.as_map().is_some());
    let mut inner = match stored.map(|at| fields.remove(at).1) {
        Some(Value::Map(inner)) => inner,
        _ => Fields::new(),
    };
    let is_stored = !inner.is_empty();
    let mut blocks = Blocks { is_own: true, provider: message.provider.clone(), tools: None, event, told };
    let parts = &message.content;
    // Entries that are no messages have their fields themselves.
    match &message.kind {
        Kind::SystemEvent(said) => {
            put(&mut fields, "type", said.subtype.as_str());
            for (name, value) in said.data.iter().filter_map(Value::as_map).flatten() {
                put(&mut fields, name, value.clone());
            }
            if let Some(usage) = &message.usage {
                put(&mut fields, "usage", usage_fields(usage));
                put_text(&mut fields, "provider", message.provider.as_deref());
                put_text(&mut fields, "model", message.model.as_deref());
            }
            return fields;
        }
        Kind::Custom(custom) if !is_stored && custom.custom_type != "compactionSummary" => {
            put(&mut fields, "type", "custom_message");
            custom_fields(&mut fields, custom, blocks.content(parts));
            return fields;
        }
        Kind::BranchSummary(summary) if !is_stored => {
            put(&mut fields, "type", "branch_summary");
            put_text(&mut fields, "fromId", summary.from_id.as_deref());
            put(&mut fields, "summary", message.joined_text());
            return fields;
        }
        Kind::Custom(custom) if custom.custom_type == "compactionSummary" => {
            put(&mut inner, "role", "compactionSummary");
            put(&mut inner, "summary", message.joined_text());
        }
        Kind::Custom(custom) => {
            put(&mut inner, "role", "custom");
            custom_fields(&mut inner, custom, blocks.content(parts));
        }
        Kind::BranchSummary(summary) => {
            put(&mut inner, "role", "branchSummary");
            put_text(&mut inner, "fromId", summary.from_id.as_deref());
            put(&mut inner, "summary", message.joined_text());
        }
        Kind::BashExecution(bash) => bash_fields(&mut inner, bash),
        Kind::SystemNote => {
            put(&mut inner, "role", "system");
            let of_sections = field(&inner, "sections").and_then(Value::as_map).unwrap_or_default();
            let texts = of_sections.iter().filter(|(_, text)| text.as_text().is_some()).count();
            let own = parts.len().saturating_sub(texts);
            put(&mut inner, "content", blocks.content(&parts[..own]));
        }
        Kind::ToolResult => {
            put(&mut inner, "role", "toolResult");
            if let Some(result) = message.results().next() {
                put(&mut inner, "toolCallId", result.call_id.as_str());
                put_text(&mut inner, "toolName", result.name.as_deref());
                put(&mut inner, "content", blocks.output(&result.output));
                put(&mut inner, "isError", result.is_error);
                if let Some(raw) = &result.raw {
                    put(&mut inner, "details", raw.clone());
                }
            }
        }
        _ if message.role == Role::Assistant => {
            put(&mut inner, "role", "assistant");
            put(&mut inner, "content", Value::List(blocks.of(parts)));
            put_text(&mut inner, "provider", message.provider.as_deref());
            put_text(&mut inner, "model", message.model.as_deref());
            if let Some(usage) = &message.usage {
                put(&mut inner, "usage", usage_fields(usage));
            }
            if let StopReason::Said(reason) = &message.stop_reason {
                put(&mut inner, "stopReason", reason.as_str());
            }
        }
        _ => {
            put(&mut inner, "role", "user");
            let content = match field(&inner, "content") {
                Some(Value::List(_)) => Value::List(blocks.of(parts)),
                _ => blocks.content(parts),
            };
            put(&mut inner, "content", content);
        }
    }
    put(&mut fields, "type", "message");
    put(&mut fields, "message", Value::Map(inner));
    fields
}

pub(super) fn bash_fields(inner: &mut Fields, bash: &BashExecution) {
    put(inner, "role", "bashExecution");
    put(inner, "command", bash.command.as_str());
    put(inner, "output", bash.output.as_str());
    if let Some(code) = bash.exit_code {
        put(inner, "exitCode", code);
    }
    put(inner, "cancelled", bash.cancelled);
    put(inner, "truncated", bash.truncated);
    if bash.exclude_from_context {
        put(inner, "excludeFromContext", true);
    }
    put_text(inner, "fullOutputPath", bash.full_output_path.as_deref());
}

pub(super) fn custom_fields(fields: &mut Fields, custom: &crate::event::Custom, content: Value) {
    put(fields, "customType", custom.custom_type.as_str());
    put(fields, "content", content);
    put(fields, "display", custom.display);
    if let Some(details) = &custom.details {
        put(fields, "details", details.clone());
    }
}

pub(super) fn usage_fields(usage: &Usage) -> Value {
    let mut fields = vec![("input".to_owned(), usage.input.into()), ("output".to_owned(), usage.output.into())];
    let counts = [
        ("cacheRead", usage.cache_read),
        ("cacheWrite", usage.cache_write),
        ("reasoning", usage.reasoning),
        ("totalTokens", usage.total),
    ];
    for (name, count) in counts {
        fields.extend(count.map(|count| (name.to_owned(), count.into())));
    }
    for (name, value) in &usage.extra {
        put_new(&mut fields, name, value.clone());
    }
    Value::Map(fields)
}

pub(super) fn put_text(fields: &mut Fields, name: &str, text: Option<&str>) {
    if let Some(text) = text {
        put(fields, name, text);
    }
}
