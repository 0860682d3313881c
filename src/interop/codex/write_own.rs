//! Messages that came from a rollout back to its items: what `convert` and `parts` took apart, put together.

use super::compaction::NOTES;
use super::item::Item;
use crate::event::{
    FAILED, Fields, Kind, Media, MediaSource, Message, Opaque, Part, PartBody, Reasoning, Role, ToolCall, ToolInput,
    ToolOutput, ToolResult, Value,
};
use crate::interop::fields::{field, put, put_new};
use crate::projection::{COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX};

/// The record of a message: its envelope's type, and what it holds.
pub(super) fn own_item(message: &Message) -> (&'static str, Value) {
    let item = |fields: Fields| ("response_item", Value::Map(fields));
    match (&message.kind, message.content.as_slice()) {
        (Kind::SystemEvent(told), _) => {
            let mut fields = told.data.as_ref().and_then(Value::as_map).unwrap_or_default().to_vec();
            put_new(&mut fields, "type", told.subtype.as_str());
            ("event_msg", Value::Map(fields))
        }
        (Kind::Custom(custom), parts) if custom.custom_type == "agent_message" => {
            let mut fields = custom.details.as_ref().and_then(Value::as_map).unwrap_or_default().to_vec();
            // One version wrote them in a form of their own.
            if let ([part], true) = (parts, field(&fields, "trigger_turn").is_some()) {
                put(&mut fields, "content", part.as_text().unwrap_or_default());
                return ("inter_agent_communication", Value::Map(fields));
            }
            put(&mut fields, "type", "agent_message");
            put(&mut fields, "content", blocks(parts, "input_text"));
            item(fields)
        }
        (Kind::AssistantReasoning, parts) => item(reasoning(parts)),
        (_, [Part { body: PartBody::ToolCall(call), .. }]) => item(self::call(call, &message.content[0])),
        (_, [Part { body: PartBody::ToolResult(result), .. }]) => item(self::result(result, &message.content[0])),
        (_, [part @ Part { body: PartBody::Opaque(opaque), .. }]) if is_whole(opaque) => {
            let mut fields = opaque.value.as_map().unwrap_or_default().to_vec();
            for (name, value) in &part.extra {
                put(&mut fields, name, value.clone());
            }
            item(fields)
        }
        _ => item(said(message)),
    }
}

/// A summary as the model sees it, as an item.
pub(super) fn rendered_summary(text: &str) -> Value {
    let text = format!("{COMPACT_SUMMARY_PREFIX}{text}{COMPACT_SUMMARY_SUFFIX}");
    let block = Value::from([("type", "input_text".into()), ("text", text.into())]);
    Value::from([("type", "message".into()), ("role", "user".into()), ("content", Value::List(vec![block]))])
}

/// What else stands in the record's envelope.
pub(super) fn envelope(message: &Message) -> impl Iterator<Item = &(String, Value)> {
    message.extra.iter().filter(|(name, _)| !["payload", "compacted", NOTES].contains(&name.as_str()))
}

fn is_whole(opaque: &Opaque) -> bool {
    Item::of(&opaque.value) == Some(Item::Whole)
}

fn said(message: &Message) -> Fields {
    let rest = field(&message.extra, "payload").and_then(Value::as_map).unwrap_or_default();
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::System => "developer",
        Role::User | Role::Tool => "user",
    };
    let usual = if message.role == Role::Assistant { "output_text" } else { "input_text" };
    let mut fields: Fields = vec![("type".to_owned(), "message".into()), ("role".to_owned(), role.into())];
    put(&mut fields, "content", blocks(&message.content, usual));
    if let Some(first) = message.content.first() {
        if let Some(id) = &first.item_id {
            put(&mut fields, "id", id.as_str());
        }
        if let Some(phase) = field(&first.extra, "phase").filter(|_| message.role == Role::Assistant) {
            put(&mut fields, "phase", phase.clone());
        }
    }
    for (name, value) in rest {
        put(&mut fields, name, value.clone());
    }
    fields
}

fn blocks(parts: &[Part], usual: &str) -> Value {
    Value::List(parts.iter().map(|part| block(part, usual)).collect())
}

fn block(part: &Part, usual: &str) -> Value {
    let mut fields = match &part.body {
        PartBody::Text(text) => vec![("type".to_owned(), usual.into()), ("text".to_owned(), text.text.as_str().into())],
        PartBody::Image(media) => image(media),
        PartBody::Opaque(Opaque { value }) | PartBody::Json(value) => return value.clone(),
        other => vec![("type".to_owned(), other.type_name().into())],
    };
    for (name, value) in part.extra.iter().filter(|(name, _)| name != "phase") {
        put(&mut fields, name, value.clone());
    }
    Value::Map(fields)
}

/// A picture, by an address that may hold it.
pub(super) fn image(media: &Media) -> Fields {
    let url = match &media.source {
        MediaSource::Data(data) => format!("data:{};base64,{data}", media.media_type),
        MediaSource::Url(link) | MediaSource::Path(link) => link.clone(),
        MediaSource::Missing => String::new(),
    };
    vec![("type".to_owned(), "input_image".into()), ("image_url".to_owned(), url.into())]
}

/// An item of reasoning: its summary, paragraph by paragraph, and what is encrypted.
pub(super) fn reasoning(parts: &[Part]) -> Fields {
    let mut fields: Fields = vec![("type".to_owned(), "reasoning".into())];
    let bodies = || {
        parts.iter().filter_map(|part| match &part.body {
            PartBody::Reasoning(reasoning) => Some((part, reasoning)),
            _ => None,
        })
    };
    let paragraph = |reasoning: &Reasoning| {
        let text = reasoning.text.as_deref()?;
        Some(Value::from([("type", "summary_text".into()), ("text", text.into())]))
    };
    put(&mut fields, "summary", bodies().filter_map(|(_, reasoning)| paragraph(reasoning)).collect::<Vec<_>>());
    if let Some(id) = bodies().find_map(|(part, _)| part.item_id.as_deref()) {
        put(&mut fields, "id", id);
    }
    if let Some(encrypted) = bodies().find_map(|(_, reasoning)| reasoning.encrypted.as_deref()) {
        put(&mut fields, "encrypted_content", encrypted);
    }
    for (name, value) in parts.iter().flat_map(|part| &part.extra) {
        put(&mut fields, name, value.clone());
    }
    fields
}

fn call(call: &ToolCall, part: &Part) -> Fields {
    let kind = field(&part.extra, "type").and_then(Value::as_text).unwrap_or("function_call");
    let mut fields: Fields = vec![("type".to_owned(), kind.into())];
    let input = |call: &ToolCall| match &call.input {
        ToolInput::Json(value) => value.clone(),
        ToolInput::Text(text) => text.as_str().into(),
        ToolInput::None => Value::Null,
    };
    match kind {
        "custom_tool_call" => {
            put(&mut fields, "name", call.name.as_str());
            put(&mut fields, "input", input(call));
        }
        "tool_search_call" => {
            if call.input != ToolInput::None {
                put(&mut fields, "arguments", input(call));
            }
        }
        "local_shell_call" => put(&mut fields, "action", input(call)),
        _ => {
            put(&mut fields, "name", call.name.as_str());
            put(&mut fields, "arguments", arguments(call));
        }
    }
    put(&mut fields, "call_id", call.id.as_str());
    if let Some(id) = &part.item_id {
        put(&mut fields, "id", id.as_str());
    }
    for (name, value) in &part.extra {
        put(&mut fields, name, value.clone());
    }
    fields
}

/// Arguments as they stand in an item: JSON in a text.
pub(super) fn arguments(call: &ToolCall) -> String {
    match &call.input {
        ToolInput::Json(value) => serde_json::to_string(value).unwrap_or_default(),
        ToolInput::Text(text) => text.clone(),
        ToolInput::None => "{}".to_owned(),
    }
}

/// The text of an output. The format has no mark for a failed one, so that says it in the words in which it is sent.
pub(super) fn output_text(text: &str, is_error: bool) -> String {
    match (is_error, text) {
        (false, text) => text.to_owned(),
        (true, "") => FAILED.to_owned(),
        (true, text) => format!("{FAILED}\n{text}"),
    }
}

fn json_text(part: &Part) -> String {
    match &part.body {
        PartBody::Json(value) => serde_json::to_string(value).unwrap_or_default(),
        _ => part.as_text().unwrap_or_default().to_owned(),
    }
}

fn result(result: &ToolResult, part: &Part) -> Fields {
    let kind = field(&part.extra, "type").and_then(Value::as_text).unwrap_or("function_call_output");
    let mut fields: Fields = vec![("type".to_owned(), kind.into())];
    put(&mut fields, "call_id", result.call_id.as_str());
    match (kind, &result.output, &result.raw) {
        ("tool_search_output", ToolOutput::Parts(parts), _) => match parts.first().map(|part| &part.body) {
            Some(PartBody::Json(tools)) => put(&mut fields, "tools", tools.clone()),
            _ => put(&mut fields, "tools", Value::List(Vec::new())),
        },
        // The program (seen in 0.171) passes over a line whose output is an object: the result would be lost.
        (_, ToolOutput::Parts(parts), Some(Value::Map(_))) => {
            let text = parts.iter().map(json_text).collect::<Vec<_>>().join("\n");
            put(&mut fields, "output", output_text(&text, result.is_error));
        }
        (_, ToolOutput::Text(text), _) => put(&mut fields, "output", output_text(text, result.is_error)),
        (_, ToolOutput::Parts(parts), _) => {
            let failed = result.is_error.then(|| Part::text(FAILED));
            let parts: Vec<Part> = failed.into_iter().chain(parts.iter().cloned()).collect();
            put(&mut fields, "output", blocks(&parts, "input_text"));
        }
    }
    if let Some(name) = &result.name {
        put(&mut fields, "name", name.as_str());
    }
    if let Some(id) = &part.item_id {
        put(&mut fields, "id", id.as_str());
    }
    for (name, value) in &part.extra {
        put(&mut fields, name, value.clone());
    }
    fields
}
