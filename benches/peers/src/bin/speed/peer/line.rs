//! A message as a coding agent's transcript has it: one JSON object a line, with content blocks, by `serde`.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use seslog::event::{
    Body, Event, Kind, Media, MediaSource, Message, Part, PartBody, Role, ToolCall, ToolInput, ToolOutput, Value,
};

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    #[serde(rename = "type")]
    pub line_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    pub uuid: String,
    pub parent_uuid: Option<String>,
    pub timestamp: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compact_summary: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Said>,
}

/// What is said.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said {
    pub role: String,
    pub content: Vec<Block>,
}

/// A part of it. One flat struct, since an enum by tag makes `serde` copy each part once more.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Block {
    #[serde(rename = "type")]
    pub block_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Block>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

/// A picture's bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Source {
    #[serde(rename = "type")]
    pub source_type: String,
    pub media_type: String,
    pub data: String,
}

impl Line {
    /// Whether everything before it is compacted.
    pub fn is_boundary(&self) -> bool {
        self.subtype.as_deref() == Some("compact_boundary")
    }

    /// The line of an event. Texts are moved, not copied.
    pub fn of(event: Event) -> Self {
        let mut line = Self {
            line_type: "system".to_owned(),
            subtype: None,
            uuid: event.id.to_string(),
            parent_uuid: event.parent.map(|id| id.to_string()),
            timestamp: event.at,
            is_compact_summary: false,
            message: None,
        };
        let Body::Message(message) = event.body else { return line };
        match message.kind {
            Kind::CompactBoundary(_) => line.subtype = Some("compact_boundary".to_owned()),
            Kind::CompactSummary(_) => line.is_compact_summary = true,
            _ => {}
        }
        if line.subtype.is_none() {
            line.line_type = if message.role == Role::Assistant { "assistant" } else { "user" }.to_owned();
            line.message = Some(said(*message));
        }
        line
    }
}

fn said(message: Message) -> Said {
    let role = if message.role == Role::Assistant { "assistant" } else { "user" }.to_owned();
    Said { role, content: message.content.into_iter().filter_map(block).collect() }
}

fn block(part: Part) -> Option<Block> {
    let mut block = Block::default();
    let name = match part.body {
        PartBody::Text(text) => {
            block.text = Some(text.text);
            "text"
        }
        PartBody::ToolCall(ToolCall { id, name, input, .. }) => {
            (block.id, block.name) = (Some(id), Some(name));
            if let ToolInput::Json(value) = input {
                block.input = Some(json(value));
            }
            "tool_use"
        }
        PartBody::ToolResult(result) => {
            block.tool_use_id = Some(result.call_id);
            block.is_error = Some(result.is_error);
            block.content = Some(match result.output {
                ToolOutput::Text(text) => {
                    vec![Block { block_type: "text".to_owned(), text: Some(text), ..Block::default() }]
                }
                ToolOutput::Parts(parts) => parts.into_iter().filter_map(self::block).collect(),
            });
            "tool_result"
        }
        PartBody::Image(Media { media_type, source: MediaSource::Data(data), .. }) => {
            block.source = Some(Source { source_type: "base64".to_owned(), media_type, data });
            "image"
        }
        _ => return None,
    };
    block.block_type = name.to_owned();
    Some(block)
}

fn json(value: Value) -> Json {
    match value {
        Value::Bool(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::Text(text) => text.into(),
        Value::List(items) => items.into_iter().map(json).collect(),
        Value::Map(fields) => Json::Object(fields.into_iter().map(|(name, value)| (name, json(value))).collect()),
        _ => Json::Null,
    }
}
