//! The parts of a message in words, for a person.

use crate::event::{MediaSource, Part, PartBody, ToolInput, ToolOutput, Value};

/// What a part says, in words. Nothing of it is made safe yet: see [`visible`](super::visible).
#[must_use]
pub fn part_text(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.text.clone(),
        PartBody::Reasoning(reasoning) => match &reasoning.text {
            Some(text) if !text.trim().is_empty() => format!("(thinks) {text}"),
            _ => "(thinks; the text is not readable)".to_owned(),
        },
        PartBody::ToolCall(call) => {
            let input = match &call.input {
                ToolInput::None => String::new(),
                ToolInput::Json(value) => json(value),
                ToolInput::Text(text) => text.clone(),
            };
            let end = if call.incomplete { " (the stream ended inside this call)" } else { "" };
            format!("calls {}({input}) [{}]{end}", call.name, call.id)
        }
        PartBody::ToolResult(result) => {
            let output = match &result.output {
                ToolOutput::Text(text) => text.clone(),
                ToolOutput::Parts(parts) => parts.iter().map(part_text).collect::<Vec<_>>().join("\n"),
            };
            let failed = if result.is_error { " failed" } else { "" };
            format!("result [{}]{failed}: {output}", result.call_id)
        }
        PartBody::ToolApprovalRequest(request) => format!("asks whether call [{}] may run", request.call_id),
        PartBody::ToolApprovalResponse(response) => {
            let answer = if response.approved { "may run" } else { "must not run" };
            format!("call [{}] {answer}{}", response.call_id, in_brackets(response.reason.as_deref()))
        }
        PartBody::Image(media) | PartBody::File(media) => {
            let source = match &media.source {
                MediaSource::Data(data) => format!("{} characters of base64", data.len()),
                MediaSource::Url(link) | MediaSource::Path(link) => beginning(link),
                MediaSource::Missing => "its source is not recorded".to_owned(),
            };
            format!("[{} {}: {source}]", part.body.type_name(), media.media_type)
        }
        PartBody::Json(value) => json(value),
        PartBody::Opaque(opaque) => format!("[a part of its provider's: {}]", json(&opaque.value)),
        other => format!("[a part of type {}]", other.type_name()),
    }
}

/// The first characters of a link; one may be as long as a picture.
fn beginning(link: &str) -> String {
    const CHARS_MAX: usize = 120;
    match link.char_indices().nth(CHARS_MAX) {
        None => link.to_owned(),
        Some((end, _)) => format!("{}…", &link[..end]),
    }
}

pub(super) fn json(value: &Value) -> String {
    // A value has text for its keys, so it always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

fn in_brackets(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(" ({text})"))
}
