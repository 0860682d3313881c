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

/// What a tool is given, for reading: each field of an object in a line of its own, a text of several lines below its name.
/// What is no object stays JSON. Nothing of it is made safe yet: see [`visible`](super::visible).
#[must_use]
pub fn input_text(input: &ToolInput) -> String {
    let fields = match input {
        ToolInput::None => return String::new(),
        ToolInput::Text(text) => return text.clone(),
        ToolInput::Json(Value::Map(fields)) if !fields.is_empty() => fields,
        ToolInput::Json(value) => return json(value),
    };
    let line = |(name, value): &(String, Value)| match value {
        Value::Text(text) if text.contains('\n') => {
            let lines: String = text.lines().map(|line| format!("\n  {line}")).collect();
            format!("{name}:{lines}")
        }
        Value::Text(text) => format!("{name}: {text}"),
        value => format!("{name}: {}", json(value)),
    };
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn json(value: &Value) -> String {
    // A value has text for its keys, so it always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

fn in_brackets(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(" ({text})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_of_a_call_reads_field_by_field() {
        let input = |fields: &[(&str, Value)]| {
            ToolInput::Json(Value::Map(
                fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            ))
        };
        let edit = input(&[("path", "a.rs".into()), ("new", "fn a() {\n}".into()), ("all", Value::Bool(true))]);
        assert_eq!(input_text(&edit), "path: a.rs\nnew:\n  fn a() {\n  }\nall: true");
        assert_eq!(input_text(&input(&[])), "{}");
        assert_eq!(input_text(&ToolInput::Json(Value::Int(3))), "3");
        assert_eq!(input_text(&ToolInput::Text("half {".to_owned())), "half {");
        assert_eq!(input_text(&ToolInput::None), "");
    }
}
