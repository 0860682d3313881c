//! Messages of other agents, or of nobody's file, as items of a rollout.

use std::collections::HashSet;
use std::sync::Arc;

use super::write_own::{arguments, image, output_text, reasoning};
use crate::event::{
    Event, FAILED, Kind, MediaSource, Message, Part, PartBody, Role, ToolInput, ToolOutput, Uuid, Value,
};
use crate::interop::fields::put;
use crate::interop::leaving_names::ToolNames;
use crate::interop::leaving_source::{call_id, is_hidden, left_out};
use crate::interop::leaving_told::{Told, lost};
use crate::projection::{Shared, media_note, readable_parts};

/// The provider whose reasoning goes back.
pub(super) const PROVIDER: &str = "openai";

/// Whether any item can hold what the message says.
pub(super) fn is_written(event: &Event, message: &Message, told: &mut Told) -> bool {
    left_out(message).inspect(|lost| told.note(*lost, event.id)).is_none()
}

/// The items of a message, in order.
///
/// `free` are the calls whose input is text that is no object: the format has calls of that kind, with outputs of their own.
pub(super) fn foreign_items(
    event: &Arc<Event>,
    tools: &ToolNames,
    free: &HashSet<&str>,
    told: &mut Told,
) -> Vec<Value> {
    let Some(message) = event.message() else { return Vec::new() };
    let id = event.id;
    let parts: Vec<Shared<Part>> = match &message.kind {
        Kind::UserInput
        | Kind::SystemNote
        | Kind::AssistantText
        | Kind::AssistantReasoning
        | Kind::ToolCall
        | Kind::ToolResult => Shared::parts_of(event).collect(),
        kind => {
            if !matches!(kind, Kind::CompactSummary(_)) {
                told.note(lost::AS_TEXT, id);
            }
            readable_parts(message, Shared::parts_of(event).collect())
        }
    };
    if !message.extra.is_empty() {
        told.note(lost::FIELDS, id);
    }
    if is_hidden(message) && !matches!(message.kind, Kind::CompactSummary(_)) {
        told.note(lost::SHOWN, id);
    }
    let (role, usual) = match message.role {
        Role::Assistant => ("assistant", "output_text"),
        Role::System => ("developer", "input_text"),
        Role::User | Role::Tool => ("user", "input_text"),
    };
    if message.metadata.agent_name.is_some() {
        told.note(lost::AGENT_NAMES, id);
    }
    let mut items = Items { items: Vec::new(), blocks: Vec::new(), role, usual, event: id, tools, free };
    for part in &parts {
        items.add(part, message, told);
    }
    items.end();
    items.items
}

struct Items<'t> {
    items: Vec<Value>,
    /// Blocks of the message that is being put together.
    blocks: Vec<Value>,
    role: &'static str,
    usual: &'static str,
    event: Uuid,
    tools: &'t ToolNames,
    free: &'t HashSet<&'t str>,
}

impl Items<'_> {
    fn end(&mut self) {
        if !self.blocks.is_empty() {
            let content = Value::List(std::mem::take(&mut self.blocks));
            self.items.push(Value::from([
                ("type", "message".into()),
                ("role", self.role.into()),
                ("content", content),
            ]));
        }
    }

    fn text(&mut self, text: &str) {
        self.blocks.push(Value::from([("type", self.usual.into()), ("text", text.into())]));
    }

    fn add(&mut self, part: &Part, message: &Message, told: &mut Told) {
        let provider = part.provider.as_ref().or(message.provider.as_ref());
        let is_the_providers = provider.is_some_and(|provider| provider.starts_with(PROVIDER));
        match &part.body {
            PartBody::Text(text) => self.text(&text.text),
            PartBody::Image(media) if matches!(media.source, MediaSource::Data(_) | MediaSource::Url(_)) => {
                if media.name.is_some() || (!media.media_type.is_empty() && matches!(media.source, MediaSource::Url(_)))
                {
                    told.note(lost::MEDIA_DETAILS, self.event);
                }
                if matches!(media.source, MediaSource::Url(_)) {
                    told.note(lost::LINKS, self.event);
                }
                self.blocks.push(Value::Map(image(media)));
            }
            PartBody::Image(media) | PartBody::File(media) => {
                told.note(lost::MEDIA, self.event);
                self.text(&media_note(media, "the format has no place for it"));
            }
            PartBody::Json(value) => self.text(&serde_json::to_string(value).unwrap_or_default()),
            PartBody::Reasoning(encrypted) if is_the_providers && encrypted.encrypted.is_some() => {
                self.end();
                let part = Part { extra: Vec::new(), ..part.clone() };
                self.items.push(Value::Map(reasoning(&[part])));
            }
            PartBody::Reasoning(_) => told.note(lost::REASONING, self.event),
            PartBody::ToolCall(call) if call.incomplete => told.note(lost::INCOMPLETE, self.event),
            PartBody::ToolCall(call) => {
                self.end();
                let id = self.call_id(&call.id, told);
                let name = self.tools.fit(&call.name, self.event, told);
                let (kind, field, input) = match &call.input {
                    ToolInput::Text(text) if self.free.contains(call.id.as_str()) => {
                        ("custom_tool_call", "input", text.clone())
                    }
                    ToolInput::Json(Value::Null) => ("function_call", "arguments", "{}".to_owned()),
                    ToolInput::Json(input) if input.as_map().is_none() => {
                        told.note(lost::CALL_INPUTS, self.event);
                        let object = Value::from([("input", input.clone())]);
                        ("function_call", "arguments", serde_json::to_string(&object).unwrap_or_default())
                    }
                    _ => ("function_call", "arguments", arguments(call)),
                };
                self.items.push(Value::from([
                    ("type", kind.into()),
                    ("name", name.into()),
                    (field, input.into()),
                    ("call_id", id.into()),
                ]));
            }
            PartBody::ToolResult(result) => {
                self.end();
                let output = match &result.output {
                    ToolOutput::Text(text) => Value::from(output_text(text, result.is_error)),
                    ToolOutput::Parts(parts) => {
                        let usual = "input_text";
                        let mut inner = Items { items: Vec::new(), blocks: Vec::new(), role: "user", usual, ..*self };
                        if result.is_error {
                            inner.text(FAILED);
                        }
                        parts.iter().for_each(|part| inner.add(part, message, told));
                        Value::List(inner.blocks)
                    }
                };
                if result.is_error {
                    told.note(lost::ERRORS, self.event);
                }
                if result.raw.is_some() {
                    told.note(lost::RAW, self.event);
                }
                let id = self.call_id(&result.call_id, told);
                let kind = match self.free.contains(result.call_id.as_str()) {
                    true => "custom_tool_call_output",
                    false => "function_call_output",
                };
                let mut item = vec![("type".to_owned(), Value::from(kind))];
                put(&mut item, "call_id", id);
                put(&mut item, "output", output);
                self.items.push(Value::Map(item));
            }
            PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_) => {
                told.note(lost::APPROVALS, self.event);
            }
            PartBody::Opaque(opaque) if is_the_providers && super::item::Item::of(&opaque.value).is_some() => {
                self.end();
                self.items.push(opaque.value.clone());
            }
            PartBody::Opaque(_) | PartBody::Unknown(_) => told.note(lost::OPAQUE, self.event),
        }
    }

    fn call_id(&self, id: &str, told: &mut Told) -> String {
        let Some(made) = call_id(id, "call_") else { return id.to_owned() };
        told.note(lost::CALL_IDS, self.event);
        made
    }
}

/// The text by which the program's screen shows an item again: who said it, and what.
pub(super) fn shown(item: &Value) -> Option<(&'static str, String)> {
    let text = |name: &str| item.get(name).and_then(Value::as_text);
    let event = match (text("type")?, text("role")?) {
        ("message", "user") => "user_message",
        ("message", "assistant") => "agent_message",
        _ => return None,
    };
    let texts = item.get("content")?.as_list()?.iter().filter_map(|block| block.get("text").and_then(Value::as_text));
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some((event, text))
}
