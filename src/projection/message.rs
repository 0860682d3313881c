//! A message as a view shows it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::View;
use crate::event::{Event, InJson, Kind, Message, Part, Role, Uuid};

/// A message as a view shows it: who says it, what it is, where it comes from, and its parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectedMessage {
    /// The view that it belongs to.
    pub view: View,
    /// Who says it, for the reader of this view.
    #[serde(serialize_with = "role_name")]
    pub role: Role,
    /// What it is, with the kind's own fields; [`ProjectedMessage::semantic_type`] is its name. In JSON the name is
    /// `semanticType` and the fields, if it has any, an object `fields`.
    #[serde(flatten, serialize_with = "kind")]
    pub kind: Kind,
    /// The messages that it was made from.
    pub source_message_ids: Vec<Uuid>,
    /// The ids that those had where they came from, if those were no ids of ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub original_ids: Vec<String>,
    /// When the first of them happened, µs since the epoch.
    pub at: i64,
    /// The provider that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The provider's id of the message; messages that share it are one message to the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Its parts.
    #[serde(serialize_with = "parts")]
    pub content: Vec<Part>,
    /// What the view did to it, and what other views do.
    pub metadata: Flags,
}

/// What the view did to a message, and what other views do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flags {
    /// The transcript does not show it.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden_from_transcript: bool,
    /// The model does not see it.
    #[serde(skip_serializing_if = "is_false")]
    pub hidden_from_model: bool,
    /// A text in it was cut.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// A result in it is a stub for the model.
    #[serde(skip_serializing_if = "is_false")]
    pub compacted: bool,
    /// No person, model or tool wrote it.
    #[serde(skip_serializing_if = "is_false")]
    pub synthetic: bool,
    /// Whatever else is to be known, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl ProjectedMessage {
    /// The message of an event with this role and these parts.
    #[must_use]
    pub fn of(view: View, event: &Event, message: &Message, role: Role, content: Vec<Part>) -> Self {
        Self {
            view,
            role,
            kind: message.kind.clone(),
            source_message_ids: vec![event.id],
            original_ids: event.original_id.iter().cloned().collect(),
            at: event.at,
            provider: message.provider.clone(),
            model: message.model.clone(),
            message_id: message.message_id.clone(),
            content,
            metadata: Flags { synthetic: message.metadata.synthetic, ..Flags::default() },
        }
    }

    /// The name of its kind, in snake_case.
    #[must_use]
    pub fn semantic_type(&self) -> &'static str {
        self.kind.name()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands on a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands on a reference")]
fn role_name<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.name())
}

/// The kind's name, and its own fields as an object, if it has any.
fn kind<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    let has_fields = has_fields(kind);
    let mut map = serializer.serialize_map(Some(1 + usize::from(has_fields)))?;
    map.serialize_entry("semanticType", kind.name())?;
    if has_fields {
        map.serialize_entry("fields", &InJson(kind))?;
    }
    map.end()
}

fn has_fields(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::SystemNote
            | Kind::UserInput
            | Kind::AssistantText
            | Kind::AssistantReasoning
            | Kind::ToolCall
            | Kind::ToolResult
            | Kind::ToolApprovalRequest
            | Kind::ToolApprovalResponse
            | Kind::RuntimeReminder
            | Kind::HandoffSummary
            | Kind::AgentSwitchNote
    )
}

fn parts<S: Serializer>(parts: &[Part], serializer: S) -> Result<S::Ok, S::Error> {
    InJson(parts).serialize(serializer)
}
