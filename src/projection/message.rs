//! A message as a view shows it.

use std::sync::Arc;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::View;
use super::flatten::said_in_fields;
use super::results::with_output;
use super::shared::{Shared, left_out};
use crate::event::{Event, InJson, Kind, Message, Part, PartBody, Role, Uuid};

/// A message as a view shows it: who says it, what it is, where it comes from, and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectedMessage {
    /// The view that it belongs to.
    pub view: View,
    /// In the ui view its own id, which no other message there has. Elsewhere the id of the first message that it was
    /// made from; nil if there is none.
    pub id: Uuid,
    /// Who says it, for the reader of this view.
    pub role: Role,
    /// What it is, with the kind's own fields; [`ProjectedMessage::semantic_type`] is its name. In JSON the name is
    /// `semanticType` and the fields, if it has any, an object `fields`.
    pub kind: Shared<Kind>,
    /// The messages that it was made from.
    pub source_message_ids: Vec<Uuid>,
    /// The ids that those had where they came from, if those were no ids of ours.
    pub original_ids: Vec<String>,
    /// When the first of them happened, µs since the epoch.
    pub at: i64,
    /// The provider that made it.
    pub provider: Option<String>,
    /// The model that made it.
    pub model: Option<String>,
    /// The provider's id of the message; messages that share it are one message to the provider.
    pub message_id: Option<String>,
    /// Its parts, shared with the state where the view did not change them. What a result holds for the screen only
    /// (`raw`) is among them; no model is ever sent it, and the JSON of the model's views leaves it out.
    pub content: Vec<Shared<Part>>,
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
    /// The message of an event with this role and these parts; none if the event is no message.
    #[must_use]
    pub fn of(view: View, event: &Arc<Event>, role: Role, content: Vec<Shared<Part>>) -> Option<Self> {
        let message: &Message = event.message()?;
        Some(Self {
            view,
            id: event.id,
            role,
            kind: Shared::kind_of(event)?,
            source_message_ids: vec![event.id],
            original_ids: event.original_id.iter().cloned().collect(),
            at: event.at,
            provider: message.provider.clone(),
            model: message.model.clone(),
            message_id: message.message_id.clone(),
            content,
            metadata: Flags { synthetic: message.metadata.synthetic, ..Flags::default() },
        })
    }

    /// A message that no event records: made by a view, or by a caller who puts it among a view's messages before they
    /// become a request, such as a system prompt that is not in the log or the question to a summariser. It has no id,
    /// no time and no source, and is flagged synthetic.
    #[must_use]
    pub fn made(view: View, role: Role, kind: Kind, content: Vec<Part>) -> Self {
        Self {
            view,
            id: Uuid::nil(),
            role,
            kind: kind.into(),
            source_message_ids: Vec::new(),
            original_ids: Vec::new(),
            at: 0,
            provider: None,
            model: None,
            message_id: None,
            content: content.into_iter().map(Shared::from).collect(),
            metadata: Flags { synthetic: true, ..Flags::default() },
        }
    }

    /// What it says beside its parts, in the fields of its kind: see
    /// [`said_in_fields`](super::said_in_fields()). None in a view for a model, whose parts say it already.
    #[must_use]
    pub fn said_in_fields(&self) -> Option<String> {
        if self.view.is_for_a_model() {
            return None;
        }
        said_in_fields(&self.kind, self.content.iter().map(|part| &**part))
    }

    /// The parts of the recorded message that the view leaves out, each with the place among [`Self::content`] before
    /// which it stood.
    pub(crate) fn left_out(&self) -> Vec<(usize, &Part)> {
        left_out(&self.kind, &self.content)
    }

    /// The message as it was recorded, with all that a view does not show of it; none if no event records it.
    #[must_use]
    pub fn recorded(&self) -> Option<&Message> {
        self.kind.event()?.message()
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

impl Serialize for ProjectedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("view", &self.view)?;
        if !self.id.is_nil() {
            map.serialize_entry("id", &self.id)?;
        }
        map.serialize_entry("role", self.role.name())?;
        map.serialize_entry("semanticType", self.semantic_type())?;
        if has_fields(&self.kind) {
            map.serialize_entry("fields", &InJson(&*self.kind))?;
        }
        map.serialize_entry("sourceMessageIds", &self.source_message_ids)?;
        if !self.original_ids.is_empty() {
            map.serialize_entry("originalIds", &self.original_ids)?;
        }
        map.serialize_entry("at", &self.at)?;
        for (name, text) in [("provider", &self.provider), ("model", &self.model), ("messageId", &self.message_id)] {
            if let Some(text) = text {
                map.serialize_entry(name, text)?;
            }
        }
        map.serialize_entry("content", &Content { parts: &self.content, with_raw: !self.view.is_for_a_model() })?;
        map.serialize_entry("metadata", &self.metadata)?;
        map.end()
    }
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

struct Content<'a> {
    parts: &'a [Shared<Part>],
    with_raw: bool,
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.parts.len()))?;
        for part in self.parts {
            match &part.body {
                PartBody::ToolResult(result) if result.raw.is_some() && !self.with_raw => {
                    let body = PartBody::ToolResult(with_output(result, result.output.clone()));
                    let (provider, item_id) = (part.provider.clone(), part.item_id.clone());
                    list.serialize_element(&InJson(&Part { body, provider, item_id, extra: part.extra.clone() }))?;
                }
                _ => list.serialize_element(&InJson(&**part))?,
            }
        }
        list.end()
    }
}
