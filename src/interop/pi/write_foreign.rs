//! Messages of other agents, or of nobody's file, as entries of a session file.

use std::collections::HashMap;
use std::sync::Arc;

use super::write_blocks::Blocks;
use super::write_own::{bash_fields, custom_fields, put_text, usage_fields};
use crate::event::{Custom, Event, Fields, Kind, Message, Part, PartBody, Role, StopReason, Usage, Value};
use crate::interop::fields::{put, put_new};
use crate::interop::leaving_source::{Source, is_hidden, left_out};
use crate::interop::leaving_told::{Told, lost};
use crate::interop::leaving_usage::beside_caches;
use crate::projection::{Shared, cached, readable_parts};

/// Whether any entry can hold what the message says.
pub(super) fn is_written(event: &Event, message: &Message, told: &mut Told) -> bool {
    let lost = match &message.kind {
        // The format has a mark for a command that the model is not to see.
        Kind::BashExecution(bash) if bash.exclude_from_context => {
            let metadata = &message.metadata;
            let is_said = metadata.eligible_for_model_context && !metadata.is_virtual && !metadata.sidechain;
            (!is_said).then_some(lost::HIDDEN)
        }
        Kind::CompactSummary(_) if !message.metadata.eligible_for_model_context => {
            told.note(lost::SUMMARY_SEEN, event.id);
            None
        }
        _ => left_out(message),
    };
    lost.inspect(|lost| told.note(*lost, event.id)).is_none()
}

/// The entries of one answer, or of one other message, but for id and parent.
pub(super) fn foreign_entries(
    source: &Source<'_>,
    events: &[usize],
    cut: &HashMap<usize, Arc<Event>>,
    told: &mut Told,
) -> Vec<Fields> {
    let Some(message) = events.first().and_then(|&first| source.message(first)) else { return Vec::new() };
    for &index in events {
        let Some(message) = source.message(index) else { continue };
        if !message.extra.is_empty() {
            told.note(lost::FIELDS, source.event(index).id);
        }
        if is_hidden(message) && matches!(message.role, Role::Assistant | Role::Tool) {
            told.note(lost::SHOWN, source.event(index).id);
        }
        if message.metadata.agent_name.is_some() {
            told.note(lost::AGENT_NAMES, source.event(index).id);
        }
    }
    match message.role {
        Role::Assistant => answer(source, events, told).into_iter().collect(),
        _ => others(source, events[0], cut.get(&events[0]).unwrap_or(&source.entry(events[0]).event), told),
    }
}

fn answer(source: &Source<'_>, events: &[usize], told: &mut Told) -> Option<Fields> {
    let messages = || events.iter().filter_map(|&index| Some((index, source.message(index)?)));
    let (_, first) = messages().next()?;
    let mut content = Vec::new();
    for (index, message) in messages() {
        let event = source.event(index).id;
        let mut parts: Vec<Shared<Part>> = Shared::parts_of(&source.entry(index).event).collect();
        if !matches!(message.kind, Kind::AssistantText | Kind::AssistantReasoning | Kind::ToolCall) {
            told.note(lost::KINDS, event);
            parts = readable_parts(message, parts);
        }
        let mut blocks =
            Blocks { is_own: false, provider: first.provider.clone(), tools: Some(&source.tools), event, told };
        content.extend(blocks.of(parts.iter().map(|part| &**part)));
    }
    if content.is_empty() {
        return None;
    }
    let has_calls = content.iter().any(|block| block.get("type").and_then(Value::as_text) == Some("toolCall"));
    let mut said = messages().filter_map(|(_, message)| match &message.stop_reason {
        StopReason::Said(reason) => Some(stop_reason(reason)),
        StopReason::StreamOpen => Some(Some("stop")),
        StopReason::NotSaid => None,
    });
    let said = said.next_back();
    let id = source.event(events[0]).id;
    if said == Some(None) {
        told.note(lost::STOP_REASONS, id);
    }
    // The program sends no answer that was broken off.
    let is_broken_off = messages().any(|(_, message)| match &message.stop_reason {
        StopReason::Said(reason) => matches!(stop_reason(reason), Some("aborted" | "error")),
        StopReason::StreamOpen => true,
        StopReason::NotSaid => false,
    });
    if is_broken_off {
        told.note(lost::BROKEN_OFF, id);
    }
    let usual = if has_calls { "toolUse" } else { "stop" };
    let stop_reason = match said.flatten() {
        Some("stop" | "toolUse" | "aborted" | "error") | None => usual,
        Some(other) => other,
    };
    let usage = messages().filter_map(|(_, message)| message.usage.clone()).next_back().unwrap_or_default();
    let provider = first.provider.as_deref().unwrap_or("unknown");
    if first.provider.is_none() || first.model.is_none() {
        told.note(lost::MODEL_UNKNOWN, id);
    }
    if !usage.extra.is_empty() {
        told.note(lost::USAGE, id);
    }
    let mut inner: Fields = vec![("role".to_owned(), "assistant".into()), ("content".to_owned(), content.into())];
    put(&mut inner, "api", api_of(provider));
    put(&mut inner, "provider", provider);
    put(&mut inner, "model", first.model.as_deref().unwrap_or("unknown"));
    put(&mut inner, "usage", whole_usage(&beside_caches(&usage, first.provider.as_deref())));
    put(&mut inner, "stopReason", stop_reason);
    Some(message_entry(inner))
}

fn whole_usage(usage: &Usage) -> Value {
    let usage = Usage { extra: Fields::new(), ..usage.clone() };
    let total = usage.total.unwrap_or_else(|| usage.input.saturating_add(usage.output).saturating_add(cached(&usage)));
    let Value::Map(mut fields) = usage_fields(&usage) else { return Value::Null };
    put_new(&mut fields, "cacheRead", Value::Int(0));
    put_new(&mut fields, "cacheWrite", Value::Int(0));
    put_new(&mut fields, "totalTokens", total);
    let nothing = ["input", "output", "cacheRead", "cacheWrite", "total"].map(|name| (name, Value::Int(0)));
    put(&mut fields, "cost", Value::from(nothing));
    Value::Map(fields)
}

/// Why an answer ended, in the program's own word.
fn stop_reason(reason: &str) -> Option<&'static str> {
    Some(match reason {
        "stop" | "end_turn" | "endTurn" | "completed" | "stop_sequence" => "stop",
        "toolUse" | "tool_use" | "tool_calls" | "function_call" => "toolUse",
        "max_tokens" | "length" | "max_output_tokens" => "length",
        "aborted" | "cancelled" => "aborted",
        "error" | "refusal" | "content_filter" => "error",
        _ => return None,
    })
}

/// The interface by which the program reaches a provider.
fn api_of(provider: &str) -> &'static str {
    match provider {
        "anthropic" => "anthropic-messages",
        "openai" => "openai-responses",
        "google" => "google-generative-ai",
        "bedrock" => "bedrock-converse-stream",
        _ => "openai-completions",
    }
}

fn message_entry(inner: Fields) -> Fields {
    vec![("type".to_owned(), "message".into()), ("message".to_owned(), Value::Map(inner))]
}

fn others(source: &Source<'_>, index: usize, event: &Arc<Event>, told: &mut Told) -> Vec<Fields> {
    let Some(message) = event.message() else { return Vec::new() };
    let id = event.id;
    let mut entries = Vec::new();
    for result in message.results() {
        let name = result.name.clone().or_else(|| {
            let holder = source.message(source.holder(index, &result.call_id)?)?;
            holder.calls().find(|call| call.id == result.call_id).map(|call| call.name.clone())
        });
        let mut blocks = Blocks { is_own: false, provider: None, tools: None, event: id, told };
        let content = blocks.output(&result.output);
        let call_id = blocks.call_id(&result.call_id);
        let name = name.map(|name| source.tools.fit(&name, id, told));
        let mut inner: Fields = vec![("role".to_owned(), "toolResult".into())];
        put(&mut inner, "toolCallId", call_id);
        put(&mut inner, "toolName", name.unwrap_or_else(|| "unknown".to_owned()));
        put(&mut inner, "content", content);
        put(&mut inner, "isError", result.is_error);
        if result.raw.is_some() {
            told.note(lost::RAW, id);
        }
        entries.push(message_entry(inner));
    }
    let is_text = |part: &Part| !matches!(part.body, PartBody::ToolResult(_));
    let mut blocks = Blocks { is_own: false, provider: None, tools: None, event: id, told };
    let entry = match &message.kind {
        Kind::BashExecution(bash) => {
            let mut inner = Fields::new();
            bash_fields(&mut inner, bash);
            message_entry(inner)
        }
        Kind::Custom(custom) => {
            let mut fields: Fields = vec![("type".to_owned(), "custom_message".into())];
            custom_fields(&mut fields, custom, blocks.content(&message.content));
            fields
        }
        Kind::BranchSummary(summary) => {
            let mut fields: Fields = vec![("type".to_owned(), "branch_summary".into())];
            put_text(&mut fields, "fromId", Some(summary.from_id.as_deref().unwrap_or("root")));
            put(&mut fields, "summary", message.joined_text());
            fields
        }
        Kind::UserInput | Kind::ToolResult => {
            let parts: Vec<&Part> = message.content.iter().filter(|part| is_text(part)).collect();
            if parts.is_empty() && !entries.is_empty() {
                return entries;
            }
            let content = blocks.content(parts);
            if is_hidden(message) && message.kind == Kind::UserInput {
                told.note(lost::KINDS, id);
                let custom = Custom { custom_type: message.kind.name().to_owned(), display: false, details: None };
                let mut fields: Fields = vec![("type".to_owned(), "custom_message".into())];
                custom_fields(&mut fields, &custom, content);
                entries.push(fields);
                return entries;
            }
            message_entry(vec![("role".to_owned(), "user".into()), ("content".to_owned(), content)])
        }
        kind => {
            let parts = readable_parts(message, Shared::parts_of(event).collect());
            let content = blocks.content(parts.iter().map(|part| &**part));
            let lost = if *kind == Kind::SystemNote || message.role == Role::System {
                lost::SYSTEM_NOTES
            } else {
                lost::AS_TEXT
            };
            told.note(lost, id);
            if matches!(&content, Value::List(blocks) if blocks.is_empty()) {
                return entries;
            }
            let custom = Custom { custom_type: kind.name().to_owned(), display: false, details: None };
            let mut fields: Fields = vec![("type".to_owned(), "custom_message".into())];
            custom_fields(&mut fields, &custom, content);
            fields
        }
    };
    entries.push(entry);
    entries
}
