//! The tokens of messages and of tools, by what they come from.

use std::ops::AddAssign;

use serde::Serialize;

use super::counter::TokenCounter;
use super::media::{file_tokens, picture_tokens};
use crate::context::Tool;
use crate::event::{Media, MediaSource, Part, PartBody, Reasoning, ToolCall, ToolInput, ToolOutput, Value};
use crate::projection::ProjectedMessage;

/// Counted tokens, by what they come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BySource {
    /// Texts, JSON and a provider's own parts, outputs of tools among them.
    pub content: u64,
    /// Pictures and files, by an [estimate](super::picture_tokens).
    pub media: u64,
    /// Calls: id, name and arguments.
    pub tool_calls: u64,
    /// Signatures of calls, which go back with each of them.
    pub thought_signatures: u64,
    /// Reasoning that goes back: its text, and what is signed or sealed of it.
    pub reasoning: u64,
    /// The ids by which results name their calls.
    pub tool_call_ids: u64,
    /// Tools as they are declared: name, description and schema.
    pub tool_definitions: u64,
}

impl BySource {
    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        let all = [
            self.content,
            self.media,
            self.tool_calls,
            self.thought_signatures,
            self.reasoning,
            self.tool_call_ids,
            self.tool_definitions,
        ];
        all.into_iter().fold(0, u64::saturating_add)
    }
}

impl AddAssign for BySource {
    fn add_assign(&mut self, other: Self) {
        for (into, tokens) in [
            (&mut self.content, other.content),
            (&mut self.media, other.media),
            (&mut self.tool_calls, other.tool_calls),
            (&mut self.thought_signatures, other.thought_signatures),
            (&mut self.reasoning, other.reasoning),
            (&mut self.tool_call_ids, other.tool_call_ids),
            (&mut self.tool_definitions, other.tool_definitions),
        ] {
            *into = into.saturating_add(tokens);
        }
    }
}

/// The tokens of a message of a model's view, counted.
///
/// What is stored and never sent is not counted: the `raw` output of a tool, metadata, the fields of a kind that the view
/// did not put into the content, calls in whose middle the stream ended, parts of unknown types. Neither is the frame
/// that a provider puts around each message, some 3 or 4 tokens. Reasoning is counted even where the request will not hold
/// it, since which provider that is for is not known here: another provider's, and all of it in Chat Completions.
#[must_use]
pub fn message_tokens(message: &ProjectedMessage, counter: &dyn TokenCounter) -> BySource {
    parts_tokens(message.content.iter().map(|part| &**part), counter)
}

/// The tokens of these parts, counted.
pub(super) fn parts_tokens<'a>(parts: impl Iterator<Item = &'a Part>, counter: &dyn TokenCounter) -> BySource {
    let mut tokens = BySource::default();
    parts.for_each(|part| add_part(&mut tokens, part, counter));
    tokens
}

/// The tokens of tools as they are declared, counted.
#[must_use]
pub fn tool_tokens(tools: &[Tool], counter: &dyn TokenCounter) -> BySource {
    let one = |tool: &Tool| {
        let description = tool.description.as_deref().map_or(0, |text| counter.count(text));
        let name_and_schema = counter.count(&tool.name).saturating_add(json_tokens(&tool.schema, counter));
        name_and_schema.saturating_add(description)
    };
    let tool_definitions = tools.iter().map(one).fold(0, u64::saturating_add);
    BySource { tool_definitions, ..BySource::default() }
}

fn add_part(tokens: &mut BySource, part: &Part, counter: &dyn TokenCounter) {
    match &part.body {
        PartBody::ToolCall(call) if call.incomplete => {}
        PartBody::ToolCall(call) => {
            add(&mut tokens.tool_calls, call_tokens(call, counter));
            add(
                &mut tokens.thought_signatures,
                call.thought_signature.as_deref().map_or(0, |text| counter.count(text)),
            );
        }
        PartBody::ToolResult(result) => {
            add(&mut tokens.tool_call_ids, counter.count(&result.call_id));
            match &result.output {
                ToolOutput::Text(text) => add(&mut tokens.content, counter.count(text)),
                // A result holds no results.
                ToolOutput::Parts(parts) => parts.iter().for_each(|part| add_content(tokens, &part.body, counter)),
            }
        }
        PartBody::Reasoning(reasoning) => add(&mut tokens.reasoning, reasoning_tokens(reasoning, counter)),
        body => add_content(tokens, body, counter),
    }
}

fn add_content(tokens: &mut BySource, body: &PartBody, counter: &dyn TokenCounter) {
    let content = match body {
        PartBody::Text(text) => counter.count(&text.text),
        PartBody::Json(value) => json_tokens(value, counter),
        PartBody::Opaque(opaque) => json_tokens(&opaque.value, counter),
        PartBody::ToolApprovalResponse(response) => response.reason.as_deref().map_or(0, |text| counter.count(text)),
        PartBody::Image(media) if is_sent(media) => {
            return add(&mut tokens.media, picture_tokens(media.width, media.height));
        }
        PartBody::File(media) if is_sent(media) => return add(&mut tokens.media, file_tokens(media)),
        PartBody::Image(media) | PartBody::File(media) => note_tokens(media, counter),
        // Questions to a person and parts of unknown types are never sent; calls and results stand in no output.
        _ => 0,
    };
    add(&mut tokens.content, content);
}

fn call_tokens(call: &ToolCall, counter: &dyn TokenCounter) -> u64 {
    let arguments = match &call.input {
        ToolInput::None => 0,
        ToolInput::Json(value) => json_tokens(value, counter),
        ToolInput::Text(text) => counter.count(text),
    };
    [counter.count(&call.id), counter.count(&call.name), arguments].into_iter().fold(0, u64::saturating_add)
}

fn reasoning_tokens(reasoning: &Reasoning, counter: &dyn TokenCounter) -> u64 {
    let texts = [&reasoning.text, &reasoning.signature, &reasoning.redacted, &reasoning.encrypted];
    texts.into_iter().flatten().map(|text| counter.count(text)).fold(0, u64::saturating_add)
}

fn json_tokens(value: &Value, counter: &dyn TokenCounter) -> u64 {
    // A value has text for keys, so it has a JSON form.
    serde_json::to_string(value).map_or(0, |json| counter.count(&json))
}

/// Whether the bytes go out, by themselves or by an address. In the place of others stands a note.
fn is_sent(media: &Media) -> bool {
    matches!(media.source, MediaSource::Data(_) | MediaSource::Url(_))
}

fn note_tokens(media: &Media, counter: &dyn TokenCounter) -> u64 {
    let place = match &media.source {
        MediaSource::Path(path) => path.as_str(),
        _ => "",
    };
    [place, media.name.as_deref().unwrap_or_default(), &media.media_type]
        .into_iter()
        .map(|text| counter.count(text))
        .fold(0, u64::saturating_add)
}

fn add(into: &mut u64, tokens: u64) {
    *into = into.saturating_add(tokens);
}
