//! Blocks of messages and outputs to parts.

use super::item::text;
use super::record::{take, take_text};
use crate::event::{FAILED, Fields, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolOutput, Value};

/// A part of the provider's own, kept whole.
pub(super) fn opaque(value: Value, provider: &str) -> Part {
    owned(Part::new(PartBody::Opaque(Opaque { value })), provider)
}

pub(super) fn owned(part: Part, provider: &str) -> Part {
    Part { provider: Some(provider.to_owned()), ..part }
}

/// A block of a message; `usual` is the type that its texts have.
pub(super) fn block(block: Value, usual: &str, provider: &str) -> Part {
    let kind = text(&block, "type").unwrap_or_default();
    let body = match kind {
        "input_text" | "output_text" | "text" if text(&block, "text").is_some() => None,
        "input_image" => match text(&block, "image_url").and_then(picture) {
            Some(media) => Some(PartBody::Image(media)),
            None => return opaque(block, provider),
        },
        _ => return opaque(block, provider),
    };
    let Value::Map(mut fields) = block else { return opaque(block, provider) };
    let body = match body {
        Some(body) => {
            take(&mut fields, "image_url");
            take(&mut fields, "type");
            body
        }
        None => {
            if fields.iter().any(|(name, value)| name == "type" && value.as_text() == Some(usual)) {
                take(&mut fields, "type");
            }
            PartBody::Text(Text { text: take_text(&mut fields, "text").unwrap_or_default() })
        }
    };
    Part { extra: fields, ..Part::new(body) }
}

/// A picture by its address, which mostly holds it.
fn picture(url: &str) -> Option<Media> {
    let (media_type, source) = match url.strip_prefix("data:") {
        Some(rest) => {
            let (media_type, data) = rest.split_once(";base64,").filter(|(name, _)| !name.contains([';', ',']))?;
            (media_type, MediaSource::Data(data.to_owned()))
        }
        None if url.starts_with("https://") || url.starts_with("http://") => ("", MediaSource::Url(url.to_owned())),
        None => return None,
    };
    Some(Media { media_type: media_type.to_owned(), source, name: None, width: None, height: None })
}

/// What a tool gave back: the output, whether it failed, and the original where the output does not say all of it.
pub(super) fn output(value: Value) -> (ToolOutput, bool, Option<Value>) {
    match value {
        Value::Text(text) => match said_to_fail(&text) {
            Some(rest) => (ToolOutput::Text(rest.to_owned()), true, None),
            None => (ToolOutput::Text(text), false, None),
        },
        Value::List(blocks) => {
            let mut parts: Vec<Part> = blocks.into_iter().map(output_part).collect();
            let failed = parts.first().is_some_and(|first| *first == Part::text(FAILED));
            if failed {
                parts.remove(0);
            }
            (ToolOutput::Parts(parts), failed, None)
        }
        object => {
            let failed = object.get("success").and_then(Value::as_bool) == Some(false);
            let output = match object.get("content") {
                Some(Value::Text(text)) => ToolOutput::Text(text.clone()),
                _ => ToolOutput::Parts(vec![Part::new(PartBody::Json(object.clone()))]),
            };
            (output, failed, Some(object))
        }
    }
}

/// What a tool said that failed, where the output says so first, in words of ours: the format has no mark for it.
fn said_to_fail(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(FAILED)?;
    rest.strip_prefix('\n').or(Some(rest).filter(|rest| rest.is_empty()))
}

/// Inside an output there is text, a picture, or a value that the model reads as JSON.
fn output_part(value: Value) -> Part {
    let part = block(value, "input_text", "");
    match part.body {
        PartBody::Opaque(Opaque { value }) => Part::new(PartBody::Json(value)),
        _ => part,
    }
}

/// Reasoning: a part for each paragraph of its summary, at least one, and with the last what is encrypted.
pub(super) fn reasoning(fields: &mut Fields, provider: &str) -> Vec<Part> {
    let id = take_text(fields, "id");
    let mut encrypted = take_text(fields, "encrypted_content");
    let is_plain = |value: &Value| {
        let fields = value.as_map().unwrap_or_default();
        fields.len() == 2 && text(value, "type") == Some("summary_text") && text(value, "text").is_some()
    };
    let summary = match take(fields, "summary") {
        Some(Value::List(summary)) if summary.iter().all(is_plain) => summary,
        // What is no summary of the kind that is known stays as it is.
        Some(other) => {
            fields.push(("summary".to_owned(), other));
            Vec::new()
        }
        None => Vec::new(),
    };
    let mut texts: Vec<Option<String>> =
        summary.iter().map(|paragraph| text(paragraph, "text").map(str::to_owned)).collect();
    if texts.is_empty() {
        texts.push(None);
    }
    let last = texts.len() - 1;
    let one = |(place, text): (usize, Option<String>)| {
        let encrypted = if place == last { encrypted.take() } else { None };
        let body = PartBody::Reasoning(Reasoning { text, signature: None, redacted: None, encrypted });
        Part { item_id: id.clone(), ..owned(Part::new(body), provider) }
    };
    let mut parts: Vec<Part> = texts.into_iter().enumerate().map(one).collect();
    parts[0].extra = std::mem::take(fields);
    parts
}
