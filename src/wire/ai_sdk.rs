//! The `ModelMessage[]` of the Vercel AI SDK, versions 6 and 7.

use serde::Serialize;

use super::conversation::{Answer, AssistantTurn, Call, Conversation, Piece, Said, Turn, UserTurn, is_blank};
use super::media::{self, Sendable};
use super::options::Options;
use super::owner::Owner;
use crate::event::{
    Fields, MISSING_TOOL_RESULT, Media, Part, PartBody, Reasoning, ToolCall, ToolInput, ToolOutput, ToolResult, Value,
};
use crate::projection::{Diagnostic, ProjectedMessage, code, to_json};

/// The field that holds arguments which are JSON but no object.
const INPUT_VALUE: &str = "value";
/// The field that holds arguments which are no JSON.
const INPUT_TEXT: &str = "text";
/// The output of a tool that gave back nothing, as text.
const NO_OUTPUT: &str = "(no output)";
/// The first text of a failed tool's output that holds a picture or file: such an output has no flag of its own.
const FAILED: &str = "The tool reported an error.";

/// What `generateText` and `streamText` of the AI SDK take.
///
/// In JSON it is `{"system": "…", "messages": […]}`; `system` is absent where there is none. Version 6 takes it as
/// `system`, version 7 as `instructions`; both refuse or warn of system messages inside `messages`, so there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[must_use]
pub struct AiSdkPayload {
    /// The system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// `ModelMessage[]`.
    pub messages: Vec<Value>,
    /// What was left out, changed, merged or put in.
    #[serde(skip)]
    pub diagnostics: Vec<Diagnostic>,
}

impl AiSdkPayload {
    /// The JSON text, without spaces. The same messages give the same bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values have text for keys, so they have a JSON form")
    }
}

/// Writes the model's messages for the AI SDK.
///
/// - System messages at the beginning become `system`, joined by a blank line. Later ones become user text between
///   [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and its suffix.
/// - Each call is answered at once by a message of role `tool`, all results of one turn in one message, in the order
///   of the calls. Where no result came, an error says so ([`MISSING_TOOL_RESULT`]); where a person refused,
///   `execution-denied`. Results without a call are left out. Approvals are not sent.
/// - Call ids that are empty, used before or not `[A-Za-z0-9_-]{1,40}` become a hash. Names of tools that are not
///   `[A-Za-z_][A-Za-z0-9_-]{0,63}` keep what is legal of them, with a hash behind.
/// - Arguments are always an object: JSON that is none stands in a field `value`, raw text in a field `text`.
/// - Reasoning, its signatures and item ids go out only if [`Options::provider`] names the provider that made them.
///   Item ids of texts and calls go with the reasoning that they belong to, or not at all; OpenAI's reasoning goes out
///   with its encrypted content only, since without it a provider that stores nothing drops it.
/// - Pictures (jpeg, png, gif, webp) and PDF documents go out inline or by their address; any other, and any in the
///   model's own messages, becomes a note.
/// - Blank text is left out, user messages in a row are merged, and so are blocks of one message of the provider's.
/// - Where the model begins, [`FIRST_USER_TEXT`](super::FIRST_USER_TEXT) stands in front.
pub fn ai_sdk(messages: &[ProjectedMessage], options: &Options) -> AiSdkPayload {
    let target = options.provider.as_deref().and_then(Owner::named);
    let mut conversation = Conversation::of(messages, &|source, part| takes_reasoning(target, source, part));
    let mut writer =
        Writer { target, diagnostics: std::mem::take(&mut conversation.diagnostics), messages: Vec::new() };
    for turn in &conversation.turns {
        match turn {
            Turn::User(turn) => writer.user(turn),
            Turn::Assistant(turn) => writer.assistant(turn),
        }
    }
    let system = (!conversation.system.is_empty()).then(|| conversation.system.join("\n\n"));
    AiSdkPayload { system, messages: writer.messages, diagnostics: writer.diagnostics }
}

fn takes_reasoning(
    target: Option<Owner>,
    source: &ProjectedMessage,
    part: &Part,
) -> Result<(), (&'static str, &'static str)> {
    let PartBody::Reasoning(reasoning) = &part.body else { return Ok(()) };
    let Some(target) = target else {
        return Err((code::REASONING_LEFT_OUT, "no provider is named that takes its reasoning back"));
    };
    if Owner::of(source, part) != Some(target) {
        return Err((code::FOREIGN_REASONING_LEFT_OUT, "another provider made it, or none is recorded"));
    }
    let has_text = reasoning.text.as_ref().is_some_and(|text| !is_blank(text));
    let complete = match target {
        Owner::Anthropic | Owner::Bedrock => reasoning.signature.is_some() || reasoning.redacted.is_some(),
        Owner::OpenAi => part.item_id.is_some() && reasoning.encrypted.is_some(),
        Owner::Google => reasoning.signature.is_some() || has_text,
    };
    let reason = "its provider does not take it back without the signature, data or id that it made";
    if complete { Ok(()) } else { Err((code::UNSIGNED_REASONING_LEFT_OUT, reason)) }
}

/// Whether all reasoning of these messages goes along. A text or call that OpenAI numbered is refused without the
/// reasoning that it came with; without its number it is taken.
fn brings_its_reasoning(turn: &AssistantTurn<'_>, target: Option<Owner>) -> bool {
    let is_reasoning = |part: &Part| matches!(part.body, PartBody::Reasoning(_));
    let sources = turn.pieces.iter().map(|said| match said {
        Said::Part { source, .. } => *source,
        Said::Call(call) => call.source,
    });
    turn.pieces.iter().any(|said| matches!(said, Said::Part { part, .. } if is_reasoning(part)))
        && sources.into_iter().all(|source| {
            source
                .content
                .iter()
                .filter(|part| is_reasoning(part))
                .all(|part| takes_reasoning(target, source, part).is_ok())
        })
}

struct Writer {
    target: Option<Owner>,
    diagnostics: Vec<Diagnostic>,
    messages: Vec<Value>,
}

impl Writer {
    fn user(&mut self, turn: &UserTurn<'_>) {
        let parts: Vec<Value> = turn.pieces.iter().map(|piece| self.user_part(piece)).collect();
        self.push("user", as_content(parts));
    }

    fn user_part(&mut self, piece: &Piece<'_>) -> Value {
        let (part, source) = match piece {
            Piece::Text { text, .. } => return text_part(text),
            Piece::Part { part, source } => (part, source),
        };
        match &part.body {
            PartBody::Text(text) => text_part(&text.text),
            PartBody::Image(media) | PartBody::File(media) => self.file_part(source, media),
            PartBody::Json(value) => text_part(&to_json(value)),
            // The conversation holds no other in a user's turn.
            _ => text_part(NO_OUTPUT),
        }
    }

    fn file_part(&mut self, source: &ProjectedMessage, media: &Media) -> Value {
        let (media_type, data) = match media::sendable(media) {
            Sendable::Data { media_type, data } => (media_type, data),
            Sendable::Url { media_type, url } => (media_type, url),
            Sendable::Note { text, reason } => {
                self.say(code::MEDIA_DEGRADED, source, reason);
                return text_part(&text);
            }
        };
        let mut fields = fields([("type", "file"), ("data", data), ("mediaType", media_type)]);
        if let Some(name) = &media.name {
            fields.push(("filename".to_owned(), Value::Text(name.clone())));
        }
        Value::Map(fields)
    }

    fn assistant(&mut self, turn: &AssistantTurn<'_>) {
        let with_items = self.target == Some(Owner::OpenAi) && brings_its_reasoning(turn, self.target);
        let parts: Vec<Value> = turn
            .pieces
            .iter()
            .map(|said| match said {
                Said::Part { part, source } => self.said_part(part, source, with_items),
                Said::Call(call) => self.call_part(call, with_items),
            })
            .collect();
        self.push("assistant", as_content(parts));
        let results: Vec<Value> = turn.calls().map(|call| self.result_part(call)).collect();
        if !results.is_empty() {
            self.push("tool", Value::List(results));
        }
    }

    fn said_part(&mut self, part: &Part, source: &ProjectedMessage, with_items: bool) -> Value {
        let value = match &part.body {
            PartBody::Text(text) => text_part(&text.text),
            PartBody::Reasoning(reasoning) => return self.reasoning_part(part, reasoning),
            PartBody::Image(media) | PartBody::File(media) => {
                let reason = "a picture or file of the model's own is not sent back";
                self.say(code::MEDIA_DEGRADED, source, reason);
                text_part(&media::note(media, reason))
            }
            PartBody::Json(value) => text_part(&to_json(value)),
            // The conversation holds no other in a model's turn.
            _ => text_part(NO_OUTPUT),
        };
        with_options(value, "openai", self.item_id(part, source, with_items))
    }

    fn reasoning_part(&self, part: &Part, reasoning: &Reasoning) -> Value {
        let signed = || {
            let redacted = reasoning.redacted.as_ref().map(|data| owned(("redactedData", data)));
            let signature = reasoning.signature.as_ref().map(|signature| owned(("signature", signature)));
            redacted.or(signature).into_iter().collect()
        };
        let (provider, options): (&str, Fields) = match self.target {
            Some(Owner::Anthropic) => ("anthropic", signed()),
            Some(Owner::Bedrock) => ("bedrock", signed()),
            Some(Owner::Google) => {
                ("google", reasoning.signature.as_ref().map(|s| owned(("thoughtSignature", s))).into_iter().collect())
            }
            Some(Owner::OpenAi) => {
                let item = part.item_id.as_ref().map(|id| owned(("itemId", id)));
                let encrypted = reasoning.encrypted.as_ref().map(|data| owned(("reasoningEncryptedContent", data)));
                ("openai", item.into_iter().chain(encrypted).collect())
            }
            None => ("none", Fields::new()),
        };
        let text = reasoning.text.as_deref().filter(|_| reasoning.redacted.is_none()).unwrap_or_default();
        with_options(object([("type", "reasoning"), ("text", text)]), provider, options)
    }

    fn call_part(&mut self, call: &Call<'_>, with_items: bool) -> Value {
        let (input, wrapped) = input_object(call.call);
        if wrapped {
            let item = Diagnostic::new(
                code::CALL_INPUT_WRAPPED,
                call.source.source_message_ids.iter().copied(),
                "its arguments are no object",
            );
            self.diagnostics.push(item.about_call(&call.call.id));
        }
        let mut fields = fields([("type", "tool-call"), ("toolCallId", &call.id), ("toolName", &call.name)]);
        fields.push(("input".to_owned(), input));
        let value = with_options(Value::Map(fields), "openai", self.item_id(call.part, call.source, with_items));
        let is_googles = self.target == Some(Owner::Google) && Owner::of(call.source, call.part) == self.target;
        let signature = call.call.thought_signature.as_ref().filter(|_| is_googles);
        let options = signature.map(|signature| owned(("thoughtSignature", signature))).into_iter().collect();
        with_options(value, "google", options)
    }

    fn item_id(&self, part: &Part, source: &ProjectedMessage, with_items: bool) -> Fields {
        let id = part.item_id.as_ref().filter(|_| with_items && Owner::of(source, part) == self.target);
        id.map(|id| owned(("itemId", id))).into_iter().collect()
    }

    fn result_part(&mut self, call: &Call<'_>) -> Value {
        let output = match &call.answer {
            Answer::Missing => object([("type", "error-text"), ("value", MISSING_TOOL_RESULT)]),
            Answer::Denied(response) => {
                let mut denied = fields([("type", "execution-denied")]);
                if let Some(reason) = response.reason.as_ref().filter(|reason| !is_blank(reason)) {
                    denied.push(("reason".to_owned(), Value::Text(reason.clone())));
                }
                Value::Map(denied)
            }
            Answer::Given { result, source } => self.output(result, source),
        };
        let mut fields = fields([("type", "tool-result"), ("toolCallId", &call.id), ("toolName", &call.name)]);
        fields.push(("output".to_owned(), output));
        Value::Map(fields)
    }

    fn output(&mut self, result: &ToolResult, source: &ProjectedMessage) -> Value {
        let parts = match &result.output {
            ToolOutput::Text(text) => return text_output(text, result.is_error),
            ToolOutput::Parts(parts) => parts.as_slice(),
        };
        if let [Part { body: PartBody::Json(value), .. }] = parts {
            let kind = if result.is_error { "error-json" } else { "json" };
            let mut fields = fields([("type", kind)]);
            fields.push(("value".to_owned(), value.clone()));
            return Value::Map(fields);
        }
        let items: Vec<Item<'_>> = parts.iter().filter_map(|part| self.output_item(part, source)).collect();
        let texts: Option<Vec<&str>> = items.iter().map(Item::as_text).collect();
        match texts {
            Some(texts) => text_output(&texts.join("\n"), result.is_error),
            None => self.content_output(&items, result.is_error, source),
        }
    }

    fn output_item<'p>(&mut self, part: &'p Part, source: &ProjectedMessage) -> Option<Item<'p>> {
        match &part.body {
            PartBody::Text(text) if is_blank(&text.text) => None,
            PartBody::Text(text) => Some(Item::Text(text.text.clone())),
            PartBody::Json(value) => Some(Item::Text(to_json(value))),
            PartBody::Image(media) | PartBody::File(media) => Some(match media::sendable(media) {
                Sendable::Data { media_type, data } => Item::Data { media_type, data },
                // No form of an address inside a result is legal in both versions.
                Sendable::Url { .. } => {
                    let reason = "inside a tool's output an address can't be sent";
                    self.say(code::MEDIA_DEGRADED, source, reason);
                    Item::Text(media::note(media, reason))
                }
                Sendable::Note { text, reason } => {
                    self.say(code::MEDIA_DEGRADED, source, reason);
                    Item::Text(text)
                }
            }),
            _ => {
                self.say(code::PART_LEFT_OUT, source, "a tool's output has no such part");
                None
            }
        }
    }

    fn content_output(&mut self, items: &[Item<'_>], is_error: bool, source: &ProjectedMessage) -> Value {
        let mut content: Vec<Value> = Vec::new();
        if is_error {
            self.say(code::ERROR_FLAG_AS_TEXT, source, "an output with a picture or file has no flag for an error");
            content.push(text_part(FAILED));
        }
        content.extend(items.iter().map(|item| match item {
            Item::Text(text) => text_part(text),
            Item::Data { media_type, data } => {
                let kind = if media::is_image(media_type) { "image-data" } else { "file-data" };
                object([("type", kind), ("data", data), ("mediaType", media_type)])
            }
        }));
        let mut fields = fields([("type", "content")]);
        fields.push(("value".to_owned(), Value::List(content)));
        Value::Map(fields)
    }

    fn push(&mut self, role: &str, content: Value) {
        let mut fields = fields([("role", role)]);
        fields.push(("content".to_owned(), content));
        self.messages.push(Value::Map(fields));
    }

    fn say(&mut self, code: &'static str, source: &ProjectedMessage, reason: &str) {
        self.diagnostics.push(Diagnostic::new(code, source.source_message_ids.iter().copied(), reason));
    }
}

/// One item of a tool's output.
enum Item<'p> {
    Text(String),
    Data { media_type: &'p str, data: &'p str },
}

impl Item<'_> {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Data { .. } => None,
        }
    }
}

/// The arguments as an object, and whether they had to be put into one.
fn input_object(call: &ToolCall) -> (Value, bool) {
    match &call.input {
        ToolInput::None | ToolInput::Json(Value::Null) => (Value::Map(Fields::new()), false),
        ToolInput::Json(object @ Value::Map(_)) => (object.clone(), false),
        ToolInput::Json(other) => (Value::Map(vec![(INPUT_VALUE.to_owned(), other.clone())]), true),
        ToolInput::Text(text) => (object([(INPUT_TEXT, text)]), true),
    }
}

fn text_output(text: &str, is_error: bool) -> Value {
    let kind = if is_error { "error-text" } else { "text" };
    object([("type", kind), ("value", if is_blank(text) { NO_OUTPUT } else { text })])
}

/// One text goes out as a string, all else as a list of parts.
fn as_content(parts: Vec<Value>) -> Value {
    match parts.as_slice() {
        [Value::Map(only)] if only.len() == 2 && only[0].1.as_text() == Some("text") => only[1].1.clone(),
        _ => Value::List(parts),
    }
}

fn text_part(text: &str) -> Value {
    object([("type", "text"), ("text", text)])
}

fn with_options(value: Value, provider: &str, options: Fields) -> Value {
    match value {
        Value::Map(mut fields) if !options.is_empty() => {
            let own = Value::Map(vec![(provider.to_owned(), Value::Map(options))]);
            fields.push(("providerOptions".to_owned(), own));
            Value::Map(fields)
        }
        value => value,
    }
}

fn owned((name, text): (&str, &String)) -> (String, Value) {
    (name.to_owned(), Value::Text(text.clone()))
}

fn fields<const N: usize>(texts: [(&str, &str); N]) -> Fields {
    texts.into_iter().map(|(name, text)| (name.to_owned(), Value::Text(text.to_owned()))).collect()
}

fn object<const N: usize>(texts: [(&str, &str); N]) -> Value {
    Value::Map(fields(texts))
}
