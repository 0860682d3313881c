//! The items of a model's conversation by their types: what each must hold, and what it is to the others.

use super::contextual::{is_contextual, is_instruction};
use crate::event::Value;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Message,
    Reasoning,
    Call(Family),
    Output(Family),
    /// The provider did it by itself, or summed up: it needs no answer.
    Whole,
    /// From one agent to another.
    AgentMessage,
    /// No model ever sees it.
    Dropped,
    /// A type of later versions.
    Unknown,
}

/// Which outputs answer which calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Family {
    Function,
    Custom,
    Search,
}

impl Item {
    /// What this object is as an item; none if it lacks what an item of its type must have, as the program itself
    /// would pass over it then.
    pub(super) fn of(item: &Value) -> Option<Self> {
        let has_text = |name: &str| text(item, name).is_some();
        let has_list = |name: &str| item.get(name).and_then(Value::as_list).is_some();
        let has_output = || matches!(item.get("output"), Some(Value::Text(_) | Value::List(_) | Value::Map(_)));
        let (kind, whole) = match text(item, "type")? {
            "message" => (Self::Message, has_text("role") && has_list("content")),
            "reasoning" => (Self::Reasoning, has_list("summary") || has_text("encrypted_content")),
            "function_call" => {
                (Self::Call(Family::Function), has_text("name") && has_text("arguments") && has_text("call_id"))
            }
            "local_shell_call" => {
                let has_action = item.get("action").and_then(Value::as_map).is_some();
                (Self::Call(Family::Function), has_action && call_id(item).is_some())
            }
            "custom_tool_call" => {
                (Self::Call(Family::Custom), has_text("name") && has_text("input") && has_text("call_id"))
            }
            // Without an id the provider ran the search, and nothing of ours can pair it.
            "tool_search_call" | "tool_search_output" if !has_text("call_id") => (Self::Whole, true),
            "tool_search_call" => (Self::Call(Family::Search), true),
            "tool_search_output" => (Self::Output(Family::Search), has_list("tools")),
            "function_call_output" | "local_shell_call_output" => {
                (Self::Output(Family::Function), has_text("call_id") && has_output())
            }
            "custom_tool_call_output" => (Self::Output(Family::Custom), has_text("call_id") && has_output()),
            "agent_message" => (Self::AgentMessage, has_list("content")),
            "web_search_call" | "image_generation_call" | "context_compaction" | "additional_tools" => {
                (Self::Whole, true)
            }
            "compaction" | "compaction_summary" => (Self::Whole, has_text("encrypted_content")),
            "ghost_snapshot" | "compaction_trigger" => (Self::Dropped, true),
            _ => (Self::Unknown, true),
        };
        whole.then_some(kind)
    }

    /// Whether it is part of what the model sees.
    pub(super) fn is_seen(self) -> bool {
        !matches!(self, Self::Dropped | Self::Unknown)
    }

    /// Whether the model, or its provider, made it.
    pub(super) fn is_the_models(self, item: &Value) -> bool {
        match self {
            Self::Message => text(item, "role") == Some("assistant"),
            Self::Reasoning | Self::Call(_) | Self::Whole => true,
            Self::Output(_) | Self::AgentMessage | Self::Dropped | Self::Unknown => false,
        }
    }

    /// Whether the program injected it as context, to be written anew for a later turn.
    pub(super) fn is_contextual(self, item: &Value) -> bool {
        self == Self::Message && is_contextual(text(item, "role").unwrap_or_default(), content(item))
    }

    /// Whether a person said it.
    pub(super) fn is_persons(self, item: &Value) -> bool {
        self == Self::Message && text(item, "role") == Some("user") && !self.is_contextual(item)
    }

    /// Whether a turn begins with it that can be rolled back.
    pub(super) fn begins_a_turn(self, item: &Value) -> bool {
        match self {
            Self::Message if text(item, "role") == Some("assistant") => is_instruction(content(item)),
            Self::Message => self.is_persons(item),
            Self::AgentMessage => true,
            _ => false,
        }
    }
}

/// The text of this field.
pub(super) fn text<'a>(item: &'a Value, name: &str) -> Option<&'a str> {
    item.get(name).and_then(Value::as_text)
}

/// The blocks of a message.
pub(super) fn content(item: &Value) -> &[Value] {
    item.get("content").and_then(Value::as_list).unwrap_or_default()
}

/// The id by which a call and its output find each other. The oldest shell calls have their item's id only.
pub(super) fn call_id(item: &Value) -> Option<&str> {
    let own = || text(item, "id").filter(|_| text(item, "type") == Some("local_shell_call"));
    text(item, "call_id").or_else(own)
}
