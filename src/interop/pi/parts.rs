//! Blocks of a message's content to parts.

use std::collections::HashSet;

use super::fields::{take, take_text};
use crate::event::{
    Fields, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolCall, ToolInput, ToolOutput, Value,
};
use crate::interop::fields::field;

/// The interface whose adapter writes the name of a wire field where others have a signature.
const NAMES_FIELDS: &str = "openai-completions";

/// Names of wire fields in which reasoning comes.
const FIELD_NAMES: [&str; 4] = ["reasoning", "reasoning_content", "reasoning_text", "reasoning_details"];

/// Who made the blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Maker<'a> {
    /// The provider's interface.
    pub(super) api: Option<&'a str>,
    /// The turn was broken off: of its calls only those are whole that have a result, and these are all ids that have.
    pub(super) broken_off: Option<&'a HashSet<String>>,
}

/// The parts of a content, which is one text or a list of blocks.
pub(super) fn parts(content: Value, maker: Maker<'_>) -> Vec<Part> {
    match content {
        Value::Text(text) => vec![Part::text(text)],
        Value::List(blocks) => blocks.into_iter().map(|block| part(block, maker)).collect(),
        Value::Null => Vec::new(),
        other => vec![opaque(other)],
    }
}

/// What a tool gave back: text, pictures, and values that the model reads as JSON.
pub(super) fn output(content: Value) -> ToolOutput {
    match content {
        Value::Text(text) => ToolOutput::Text(text),
        Value::Null => ToolOutput::Text(String::new()),
        Value::List(blocks) => ToolOutput::Parts(blocks.into_iter().map(output_part).collect()),
        other => ToolOutput::Parts(vec![Part::new(PartBody::Json(other))]),
    }
}

fn output_part(block: Value) -> Part {
    if !matches!(block.get("type").and_then(Value::as_text), Some("text" | "image")) {
        return Part::new(PartBody::Json(block));
    }
    let part = part(block, Maker::default());
    match part.body {
        PartBody::Opaque(Opaque { value }) => Part::new(PartBody::Json(value)),
        _ => part,
    }
}

/// A part kept whole. No provider is known that could do something with it.
fn opaque(value: Value) -> Part {
    Part::new(PartBody::Opaque(Opaque { value }))
}

fn part(block: Value, maker: Maker<'_>) -> Part {
    let Value::Map(mut fields) = block else { return opaque(block) };
    let mut item_id = None;
    let body = match field(&fields, "type").and_then(Value::as_text) {
        Some("text") => take_text(&mut fields, "text").map(|text| PartBody::Text(Text { text })),
        Some("thinking") => Some(thinking(&mut fields, maker, &mut item_id)),
        Some("toolCall") => tool_call(&mut fields, maker),
        Some("image") => image(&mut fields).map(PartBody::Image),
        _ => None,
    };
    let Some(body) = body else { return opaque(Value::Map(fields)) };
    take(&mut fields, "type");
    Part { item_id, extra: fields, ..Part::new(body) }
}

/// A signature is a provider's own, and goes back to it byte for byte. The name of a field is none.
fn thinking(fields: &mut Fields, maker: Maker<'_>, item_id: &mut Option<String>) -> PartBody {
    let mut reasoning = Reasoning { text: take_text(fields, "thinking"), ..Reasoning::default() };
    let signature = field(fields, "thinkingSignature").and_then(Value::as_text).filter(|text| !text.is_empty());
    let is_name = |text: &str| maker.api == Some(NAMES_FIELDS) || FIELD_NAMES.contains(&text);
    let Some(signature) = signature.filter(|text| !is_name(text)).map(str::to_owned) else {
        return PartBody::Reasoning(reasoning);
    };
    if field(fields, "redacted").and_then(Value::as_bool) == Some(true) {
        take(fields, "redacted");
        reasoning.text = reasoning.text.filter(|text| !text.is_empty());
        reasoning.redacted = Some(signature);
    } else if let Some((id, encrypted)) = item(&signature, maker) {
        // The text of the item stays beside it as it came, so that not a byte of it is lost.
        *item_id = Some(id);
        reasoning.encrypted = encrypted;
        return PartBody::Reasoning(reasoning);
    } else {
        reasoning.signature = Some(signature);
    }
    take(fields, "thinkingSignature");
    PartBody::Reasoning(reasoning)
}

/// At OpenAI's other interfaces the signature is the whole item of reasoning, as JSON.
fn item(signature: &str, maker: Maker<'_>) -> Option<(String, Option<String>)> {
    if !maker.api.is_some_and(|api| api.contains("responses")) || !signature.starts_with('{') {
        return None;
    }
    let (item, _) = Value::parse_json(signature).ok()?;
    let text = |name| item.get(name).and_then(Value::as_text).map(str::to_owned);
    Some((text("id")?, text("encrypted_content")))
}

fn tool_call(fields: &mut Fields, maker: Maker<'_>) -> Option<PartBody> {
    let name = take_text(fields, "name")?;
    let id = take_text(fields, "id").unwrap_or_default();
    let input = match take(fields, "arguments") {
        None | Some(Value::Null) => ToolInput::None,
        Some(Value::Text(text)) => ToolInput::Text(text),
        Some(value) => ToolInput::Json(value),
    };
    let incomplete = maker.broken_off.is_some_and(|answered| !answered.contains(&id));
    let thought_signature = take_text(fields, "thoughtSignature");
    Some(PartBody::ToolCall(ToolCall { id, name, input, incomplete, thought_signature }))
}

fn image(fields: &mut Fields) -> Option<Media> {
    let data = take_text(fields, "data")?;
    let media_type = take_text(fields, "mimeType").unwrap_or_default();
    Some(Media { media_type, source: MediaSource::Data(data), name: None, width: None, height: None })
}
