//! Content parts: what a message is made of.

use super::value::{Fields, Value};

/// One part of a message: its body, who made it, and the fields that this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What the part is.
    pub body: PartBody,
    /// The provider that made the part; provider-owned data goes back to no other.
    pub provider: Option<String>,
    /// That provider's id for the part.
    pub item_id: Option<String>,
    /// Fields that this version does not know, kept and written back.
    pub extra: Fields,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PartBody {
    /// Plain text.
    Text(Text),
    /// The model's reasoning, signed or not.
    Reasoning(Reasoning),
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// What a tool gave back.
    ToolResult(ToolResult),
    /// A person is asked whether a call may run.
    ToolApprovalRequest(ApprovalRequest),
    /// The answer to such a question.
    ToolApprovalResponse(ApprovalResponse),
    /// A picture.
    Image(Media),
    /// Any other file, documents too.
    File(Media),
    /// A provider's part, kept whole.
    Opaque(Opaque),
    /// A JSON value, inside a tool's output only.
    Json(Value),
    /// A part of a type that this version does not know: its `type`; its fields are in [`Part::extra`].
    Unknown(String),
}

/// Plain text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// The text.
    pub text: String,
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reasoning {
    /// The readable text; may be absent or empty while a signature is there.
    pub text: Option<String>,
    /// The provider's signature over the text, byte for byte.
    pub signature: Option<String>,
    /// Redacted reasoning, base64 as the provider gave it.
    pub redacted: Option<String>,
    /// Encrypted reasoning, as the provider gave it.
    pub encrypted: Option<String>,
}

/// The model calls a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The provider's id of the call; may be empty.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub input: ToolInput,
    /// The stream ended inside the call: it must never run and never be sent.
    pub incomplete: bool,
    /// A provider's signature that belongs to the call.
    pub thought_signature: Option<String>,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ToolInput {
    /// None came.
    #[default]
    None,
    /// Any JSON value.
    Json(Value),
    /// Raw text that is no JSON.
    Text(String),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The id of the call that this answers.
    pub call_id: String,
    /// The tool's name, where it was recorded.
    pub name: Option<String>,
    /// What the model is to see.
    pub output: ToolOutput,
    /// The tool failed.
    pub is_error: bool,
    /// The tool's original output, for a screen; never sent to a model.
    pub raw: Option<Value>,
}

/// The output of a tool: one text, or parts (text, json, image, file).
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutput {
    /// One text.
    Text(String),
    /// Parts.
    Parts(Vec<Part>),
}

/// A person is asked whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The id of the call in question.
    pub call_id: String,
    /// The id of this question, where there is one.
    pub approval_id: Option<String>,
}

/// The answer to an [`ApprovalRequest`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalResponse {
    /// The id of the call in question.
    pub call_id: String,
    /// The id of the question that this answers.
    pub approval_id: Option<String>,
    /// Whether the call may run.
    pub approved: bool,
    /// Why.
    pub reason: Option<String>,
}

/// A picture or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// Where the bytes are.
    pub source: MediaSource,
    /// The file's name.
    pub name: Option<String>,
    /// Width in pixels as recorded; pictures only.
    pub width: Option<u64>,
    /// Height in pixels as recorded; pictures only.
    pub height: Option<u64>,
}

impl Media {
    /// The recorded media type; where none is recorded, what the ending of its address says, as of many a picture that is given by
    /// its address alone. Empty if nothing does.
    #[must_use]
    pub fn known_type(&self) -> &str {
        const ENDINGS: [(&str, &str); 6] = [
            ("png", "image/png"),
            ("jpg", "image/jpeg"),
            ("jpeg", "image/jpeg"),
            ("gif", "image/gif"),
            ("webp", "image/webp"),
            ("pdf", "application/pdf"),
        ];
        match &self.source {
            MediaSource::Url(url) if self.media_type.is_empty() => {
                let path = url.split(['?', '#']).next().unwrap_or_default();
                let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
                let known = ENDINGS.into_iter().find(|(name, _)| ending.eq_ignore_ascii_case(name));
                known.map_or("", |(_, media_type)| media_type)
            }
            _ => &self.media_type,
        }
    }
}

/// Where the bytes of a [`Media`] are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaSource {
    /// Inline, base64 text as it came.
    Data(String),
    /// Behind a URL.
    Url(String),
    /// In a file.
    Path(String),
    /// Nowhere: the record names none.
    Missing,
}

/// A provider's part, kept whole; its owner is [`Part::provider`].
#[derive(Debug, Clone, PartialEq)]
pub struct Opaque {
    /// The part as the provider gave it.
    pub value: Value,
}

impl PartBody {
    /// The part's `type`, as it stands in the log and in JSON.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Reasoning(_) => "reasoning",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_result",
            Self::ToolApprovalRequest(_) => "tool_approval_request",
            Self::ToolApprovalResponse(_) => "tool_approval_response",
            Self::Image(_) => "image",
            Self::File(_) => "file",
            Self::Opaque(_) => "opaque",
            Self::Json(_) => "json",
            Self::Unknown(name) => name,
        }
    }
}

impl Part {
    /// A part of this body that no provider owns.
    #[must_use]
    pub fn new(body: PartBody) -> Self {
        Self { body, provider: None, item_id: None, extra: Fields::new() }
    }

    /// A text part.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text(Text { text: text.into() }))
    }

    /// A tool call with JSON arguments.
    #[must_use]
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::new(PartBody::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            input: ToolInput::Json(input),
            incomplete: false,
            thought_signature: None,
        }))
    }

    /// A tool's result with one text.
    #[must_use]
    pub fn tool_result(call_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        Self::new(PartBody::ToolResult(ToolResult {
            call_id: call_id.into(),
            name: None,
            output: ToolOutput::Text(text.into()),
            is_error,
            raw: None,
        }))
    }

    /// The text, if this is a text part.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            PartBody::Text(text) => Some(&text.text),
            _ => None,
        }
    }

    /// The call, if this is a tool call.
    #[must_use]
    pub fn as_tool_call(&self) -> Option<&ToolCall> {
        match &self.body {
            PartBody::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// The result, if this is a tool result.
    #[must_use]
    pub fn as_tool_result(&self) -> Option<&ToolResult> {
        match &self.body {
            PartBody::ToolResult(result) => Some(result),
            _ => None,
        }
    }
}
