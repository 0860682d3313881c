//! Items to messages. What has no place of ours stays in extra fields, under its own name.

use super::contextual::is_persons_command;
use super::item::{Family, Item, content, text};
use super::parts::{block, opaque, output, owned, reasoning};
use super::record::{take, take_text};
use crate::event::{
    Custom, Fields, Kind, Message, Part, PartBody, Role, Source, SystemEvent, ToolCall, ToolInput, ToolOutput,
    ToolResult, Value,
};
use crate::interop::objects::depth_within;

/// Who made what the model made.
#[derive(Debug, Clone)]
pub(super) struct Maker {
    pub(super) provider: String,
    pub(super) model: Option<String>,
}

/// Arguments that go deeper stay text, so that an event holds them.
const ARGUMENTS_DEPTH: usize = 64;

/// A field in which the program notes where an item belongs.
pub(super) const NEVER_SENT: &str = "internal_chat_message_metadata_passthrough";

/// The provider's name for its own summary.
const SUMMARY: &str = "compaction";

/// The tool of calls that have no name of their own.
const SHELL: &str = "local_shell";
const SEARCH: &str = "tool_search";

/// The message of an item that the model sees.
pub(super) fn convert(item: Item, value: Value, maker: &Maker) -> Message {
    let is_the_models = item.is_the_models(&value);
    let is_contextual = item.is_contextual(&value) && !is_persons_command(content(&value));
    let Value::Map(mut fields) = value else { return message(Role::User, Kind::UserInput, Vec::new()) };
    let mut message = match item {
        Item::Message => said(fields, maker, is_contextual),
        Item::Reasoning => {
            take(&mut fields, "type");
            message(Role::Assistant, Kind::AssistantReasoning, reasoning(&mut fields, &maker.provider))
        }
        Item::Call(family) => message(Role::Assistant, Kind::ToolCall, vec![call(family, fields, maker)]),
        Item::Output(family) => {
            let mut message = message(Role::Tool, Kind::ToolResult, vec![result(family, fields)]);
            message.metadata.source = Some(Source::Tool);
            message
        }
        Item::AgentMessage => agent_message(fields, maker),
        Item::Whole | Item::Dropped | Item::Unknown => {
            // The program's own note on an item, which it never sends.
            let mut extra: Fields =
                take(&mut fields, NEVER_SENT).map(|note| (NEVER_SENT.to_owned(), note)).into_iter().collect();
            // One version's name for what the provider calls by another.
            if let Some((_, kind)) = fields.iter_mut().find(|(name, kind)| is_other_name(name, kind)) {
                extra.push(("type".to_owned(), std::mem::replace(kind, Value::from(SUMMARY))));
            }
            let part = Part { extra, ..opaque(Value::Map(fields), &maker.provider) };
            message(Role::Assistant, Kind::AssistantText, vec![part])
        }
    };
    if is_the_models {
        message.provider = Some(maker.provider.clone());
        message.model.clone_from(&maker.model);
    }
    message
}

fn is_other_name(name: &str, kind: &Value) -> bool {
    name == "type" && kind.as_text() == Some("compaction_summary")
}

/// A message with its content as it came: an empty one stays empty, views repair.
pub(super) fn message(role: Role, kind: Kind, content: Vec<Part>) -> Message {
    let mut message = Message::new(role, kind, Vec::new());
    message.content = content;
    message
}

fn said(mut fields: Fields, maker: &Maker, is_contextual: bool) -> Message {
    take(&mut fields, "type");
    let blocks = match take(&mut fields, "content") {
        Some(Value::List(blocks)) => blocks,
        _ => Vec::new(),
    };
    let said_by = take_text(&mut fields, "role").unwrap_or_default();
    let (role, kind, usual) = match said_by.as_str() {
        "assistant" => (Role::Assistant, Kind::AssistantText, "output_text"),
        "developer" | "system" => (Role::System, Kind::SystemNote, "input_text"),
        _ => (Role::User, Kind::UserInput, "input_text"),
    };
    let mut parts: Vec<Part> = blocks.into_iter().map(|value| block(value, usual, &maker.provider)).collect();
    if let Some(id) = take_text(&mut fields, "id") {
        match parts.is_empty() {
            true => fields.push(("id".to_owned(), id.into())),
            false => parts.iter_mut().for_each(|part| part.item_id = Some(id.clone())),
        }
    }
    if role == Role::Assistant {
        let phase = take_text(&mut fields, "phase");
        for part in &mut parts {
            part.provider = Some(maker.provider.clone());
            part.extra.extend(phase.clone().map(|phase| ("phase".to_owned(), Value::Text(phase))));
        }
    }
    if said_by != role.name() {
        fields.push(("role".to_owned(), said_by.into()));
    }
    let mut message = message(role, kind, parts);
    message.metadata.meta = is_contextual;
    message.metadata.source = match role {
        Role::System => Some(Source::System),
        Role::User if is_contextual => Some(Source::Runtime),
        Role::User => Some(Source::User),
        Role::Assistant | Role::Tool => None,
    };
    if !fields.is_empty() {
        message.extra.push(("payload".to_owned(), Value::Map(fields)));
    }
    message
}

fn call(family: Family, mut fields: Fields, maker: &Maker) -> Part {
    let kind = take_text(&mut fields, "type").unwrap_or_default();
    let item_id = take_text(&mut fields, "id");
    let id = take_text(&mut fields, "call_id").or_else(|| item_id.clone()).unwrap_or_default();
    let (name, input) = match (family, kind.as_str()) {
        (Family::Custom, _) => (take_text(&mut fields, "name"), take_text(&mut fields, "input").map(ToolInput::Text)),
        (Family::Search, _) => (Some(SEARCH.to_owned()), take(&mut fields, "arguments").map(ToolInput::Json)),
        (_, "local_shell_call") => (Some(SHELL.to_owned()), take(&mut fields, "action").map(ToolInput::Json)),
        _ => (take_text(&mut fields, "name"), Some(arguments(&mut fields))),
    };
    if kind != "function_call" {
        fields.push(("type".to_owned(), kind.into()));
    }
    let (name, input) = (name.unwrap_or_default(), input.unwrap_or_default());
    let body = PartBody::ToolCall(ToolCall { id, name, input, incomplete: false, thought_signature: None });
    Part { item_id, extra: fields, ..owned(Part::new(body), &maker.provider) }
}

/// The arguments, which are JSON in a text, or should be. A text that is not what JSON is written as here stays too.
fn arguments(fields: &mut Fields) -> ToolInput {
    let text = take_text(fields, "arguments").unwrap_or_default();
    let parsed = match Value::parse_json(&text) {
        Ok((value, lossy)) if lossy.is_none() && depth_within(&value, ARGUMENTS_DEPTH) => value,
        _ if text.trim().is_empty() => {
            fields.push(("arguments".to_owned(), text.into()));
            return ToolInput::None;
        }
        _ => return ToolInput::Text(text),
    };
    if !serde_json::to_string(&parsed).is_ok_and(|written| written == text) {
        fields.push(("arguments".to_owned(), text.into()));
    }
    ToolInput::Json(parsed)
}

fn result(family: Family, mut fields: Fields) -> Part {
    let kind = take_text(&mut fields, "type").unwrap_or_default();
    let (output, is_error, raw) = match family {
        Family::Search => {
            let tools = take(&mut fields, "tools").unwrap_or_default();
            (ToolOutput::Parts(vec![Part::new(PartBody::Json(tools))]), false, None)
        }
        Family::Function | Family::Custom => output(take(&mut fields, "output").unwrap_or_default()),
    };
    let call_id = take_text(&mut fields, "call_id").unwrap_or_default();
    let name = take_text(&mut fields, "name");
    let item_id = take_text(&mut fields, "id");
    if kind != "function_call_output" {
        fields.push(("type".to_owned(), kind.into()));
    }
    let body = PartBody::ToolResult(ToolResult { call_id, name, output, is_error, raw });
    Part { item_id, extra: fields, ..Part::new(body) }
}

/// What one agent says to another; the model reads it as said to it.
fn agent_message(mut fields: Fields, maker: &Maker) -> Message {
    let parts = match take(&mut fields, "content") {
        Some(Value::List(blocks)) => {
            blocks.into_iter().map(|value| block(value, "input_text", &maker.provider)).collect()
        }
        Some(Value::Text(text)) => vec![Part::text(text)],
        _ => Vec::new(),
    };
    take(&mut fields, "type");
    let details = (!fields.is_empty()).then_some(Value::Map(fields));
    let kind = Kind::Custom(Custom { custom_type: "agent_message".to_owned(), display: true, details });
    let mut message = message(Role::User, kind, parts);
    message.metadata.source = Some(Source::Runtime);
    message
}

/// What the program told its screen, for ours.
pub(super) fn told(subtype: &str, level: Option<&str>, payload: Value) -> Message {
    let content: Vec<Part> = text(&payload, "message").map(Part::text).into_iter().collect();
    let event = SystemEvent {
        subtype: subtype.to_owned(),
        level: level.map(str::to_owned),
        tool_use_id: None,
        hook_event: None,
        data: Some(payload),
    };
    let mut message = message(Role::System, Kind::SystemEvent(event), content);
    message.metadata.source = Some(Source::System);
    message
}
