//! Blocks of a message's content to parts.

use super::record::take;
use crate::event::{
    Fields, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolCall, ToolInput, ToolOutput, ToolResult,
    Value,
};
use crate::interop::fields::field;

/// Who made an assistant's parts.
pub(super) const PROVIDER: &str = "anthropic";

/// The parts of a content, which is one text or a list of blocks.
pub(super) fn parts(content: Value, provider: Option<&str>) -> Vec<Part> {
    match content {
        Value::Text(text) => vec![own(Part::text(text), provider)],
        Value::List(blocks) => blocks.into_iter().map(|block| part(block, provider)).collect(),
        Value::Null => Vec::new(),
        other => vec![opaque(other)],
    }
}

fn own(part: Part, provider: Option<&str>) -> Part {
    Part { provider: provider.map(str::to_owned), ..part }
}

/// A part kept whole. Only the provider whose form it has can do something with it.
fn opaque(value: Value) -> Part {
    own(Part::new(PartBody::Opaque(Opaque { value })), Some(PROVIDER))
}

fn part(block: Value, provider: Option<&str>) -> Part {
    let Value::Map(mut fields) = block else { return opaque(block) };
    let body = match kind_of(&fields) {
        Some("text") => take_text(&mut fields, "text").map(|text| PartBody::Text(Text { text })),
        Some("thinking") => thinking(&mut fields),
        Some("redacted_thinking") => take_text(&mut fields, "data")
            .map(|data| PartBody::Reasoning(Reasoning { redacted: Some(data), ..Reasoning::default() })),
        Some("tool_use") => tool_use(&mut fields),
        Some("tool_result") => tool_result(&mut fields),
        Some("image") => media(&mut fields).map(PartBody::Image),
        Some("document") => media(&mut fields).map(PartBody::File),
        _ => None,
    };
    let Some(body) = body else { return opaque(Value::Map(fields)) };
    take(&mut fields, "type");
    own(Part { extra: fields, ..Part::new(body) }, provider)
}

fn kind_of(fields: &Fields) -> Option<&str> {
    field(fields, "type").and_then(Value::as_text)
}

/// Takes a text out; anything else stays.
pub(super) fn take_text(fields: &mut Fields, name: &str) -> Option<String> {
    let at = fields.iter().position(|(key, value)| key == name && value.as_text().is_some())?;
    match fields.remove(at).1 {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// An empty text and an empty signature are kept as they are: the provider signs them too.
fn thinking(fields: &mut Fields) -> Option<PartBody> {
    let text = take_text(fields, "thinking");
    let signature = take_text(fields, "signature");
    Some(PartBody::Reasoning(Reasoning { text, signature, redacted: None, encrypted: None }))
}

fn tool_use(fields: &mut Fields) -> Option<PartBody> {
    let name = take_text(fields, "name")?;
    let input = take(fields, "input").filter(|input| *input != Value::Null);
    Some(PartBody::ToolCall(ToolCall {
        id: take_text(fields, "id").unwrap_or_default(),
        name,
        input: input.map_or(ToolInput::None, ToolInput::Json),
        incomplete: false,
        thought_signature: None,
    }))
}

fn tool_result(fields: &mut Fields) -> Option<PartBody> {
    let call_id = take_text(fields, "tool_use_id").unwrap_or_default();
    let output = match take(fields, "content") {
        Some(Value::Text(text)) => ToolOutput::Text(text),
        Some(Value::List(blocks)) => ToolOutput::Parts(blocks.into_iter().map(output_part).collect()),
        None | Some(Value::Null) => ToolOutput::Text(String::new()),
        Some(other) => ToolOutput::Parts(vec![Part::new(PartBody::Json(other))]),
    };
    let is_error = match field(fields, "is_error") {
        Some(Value::Bool(is_error)) => Some(*is_error),
        None | Some(Value::Null) => Some(false),
        Some(_) => None,
    };
    if is_error.is_some() {
        take(fields, "is_error");
    }
    let is_error = is_error.unwrap_or(false);
    Some(PartBody::ToolResult(ToolResult { call_id, name: None, output, is_error, raw: None }))
}

/// Inside an output there is text, a picture, a file, or a value that the model reads as JSON.
fn output_part(block: Value) -> Part {
    let known = matches!(block.get("type").and_then(Value::as_text), Some("text" | "image" | "document"));
    if !known {
        return Part::new(PartBody::Json(block));
    }
    let part = part(block, None);
    match part.body {
        PartBody::Opaque(Opaque { value }) => Part::new(PartBody::Json(value)),
        _ => part,
    }
}

/// A picture or a document with a source that we have a place for; of others nothing is taken.
fn media(fields: &mut Fields) -> Option<Media> {
    let source = field(fields, "source")?;
    let text = |name| source.get(name).and_then(Value::as_text);
    let (media_type, place) = match text("type")? {
        "base64" => (text("media_type").unwrap_or_default(), MediaSource::Data(text("data")?.to_owned())),
        "url" => (text("media_type").unwrap_or_default(), MediaSource::Url(text("url")?.to_owned())),
        _ => return None,
    };
    let media_type = media_type.to_owned();
    take(fields, "source");
    Some(Media { media_type, source: place, name: take_text(fields, "title"), width: None, height: None })
}
