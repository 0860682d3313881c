//! The fields of content parts.

use serde::Serializer;

use crate::event::error::EventError;
use crate::event::names::Style;
use crate::event::part::{
    ApprovalRequest, ApprovalResponse, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolCall,
    ToolInput, ToolOutput, ToolResult,
};
use crate::event::raw::Raw;
use crate::event::read::{Reader, wrong};
use crate::event::value::Value;
use crate::event::write::{Emit, Place, Shape, Sink, emit_shape};

impl Emit for Part {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Part {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        out.put("type", self.body.type_name())?;
        match &self.body {
            PartBody::Text(text) => out.put("text", &text.text)?,
            PartBody::Reasoning(reasoning) => {
                out.opt("text", &reasoning.text)?;
                out.opt("signature", &reasoning.signature)?;
                out.opt("redacted", &reasoning.redacted)?;
                out.opt("encrypted", &reasoning.encrypted)?;
            }
            PartBody::ToolCall(call) => {
                out.put("id", &call.id)?;
                out.put("name", &call.name)?;
                match &call.input {
                    ToolInput::None => out.skip("input")?,
                    ToolInput::Json(value) => out.put("input", value)?,
                    ToolInput::Text(_) => out.absent("input"),
                }
                match &call.input {
                    ToolInput::Text(text) => out.put("input_text", text)?,
                    _ => out.absent("input_text"),
                }
                out.flag("incomplete", call.incomplete, false)?;
                out.opt("thought_signature", &call.thought_signature)?;
            }
            PartBody::ToolResult(result) => {
                out.put("call_id", &result.call_id)?;
                out.opt("name", &result.name)?;
                out.put("output", &result.output)?;
                out.flag("is_error", result.is_error, false)?;
                out.opt("raw", &result.raw)?;
            }
            PartBody::ToolApprovalRequest(request) => {
                out.put("call_id", &request.call_id)?;
                out.opt("approval_id", &request.approval_id)?;
            }
            PartBody::ToolApprovalResponse(response) => {
                out.put("call_id", &response.call_id)?;
                out.opt("approval_id", &response.approval_id)?;
                out.put("approved", &response.approved)?;
                out.opt("reason", &response.reason)?;
            }
            PartBody::Image(media) | PartBody::File(media) => {
                out.put("media_type", &media.media_type)?;
                let (data, url, path) = match &media.source {
                    MediaSource::Data(text) => (Some(text), None, None),
                    MediaSource::Url(text) => (None, Some(text), None),
                    MediaSource::Path(text) => (None, None, Some(text)),
                    MediaSource::Missing => (None, None, None),
                };
                for (name, text) in [("data", data), ("url", url), ("path", path)] {
                    match text {
                        Some(text) => out.put(name, text)?,
                        None => out.absent(name),
                    }
                }
                out.opt("name", &media.name)?;
                out.opt("width", &media.width)?;
                out.opt("height", &media.height)?;
            }
            PartBody::Opaque(opaque) => out.put("value", &opaque.value)?,
            PartBody::Json(value) => out.put("value", value)?,
            PartBody::Unknown(_) => {}
        }
        out.opt("provider", &self.provider)?;
        out.opt("item_id", &self.item_id)?;
        out.extra(&self.extra)
    }
}

impl Emit for ToolOutput {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.emit(out, place),
            Self::Parts(parts) => parts.emit(out, place),
        }
    }
}

/// A list of parts; a text stands for one text part.
pub(crate) fn read_parts(value: Raw<'_>, style: Style) -> Result<Vec<Part>, EventError> {
    match value {
        Raw::Text(text) => Ok(vec![Part::text(text.into_owned())]),
        Raw::List(items) => {
            // Mostly one, which a vector that grows would take for four; and many only as they come.
            let mut parts = Vec::with_capacity(items.len().min(8));
            for (index, item) in items.into_iter().enumerate() {
                parts.push(read_part(item, style).map_err(|error| error.within(&format!("[{index}]")))?);
            }
            Ok(parts)
        }
        other => Err(wrong("", "text or a list of parts", &other)),
    }
}

fn read_part(value: Raw<'_>, style: Style) -> Result<Part, EventError> {
    let mut fields = Reader::of(value, style)?;
    let type_name = fields.need_word("type")?;
    let body = read_body(&type_name, &mut fields)?;
    Ok(Part { body, provider: fields.text("provider")?, item_id: fields.text("item_id")?, extra: fields.rest() })
}

fn read_body(type_name: &str, fields: &mut Reader<'_>) -> Result<PartBody, EventError> {
    Ok(match type_name {
        "text" => PartBody::Text(Text { text: fields.need_text("text")? }),
        "reasoning" => PartBody::Reasoning(Reasoning {
            text: fields.text("text")?,
            signature: fields.text("signature")?,
            redacted: fields.text("redacted")?,
            encrypted: fields.text("encrypted")?,
        }),
        "tool_call" => PartBody::ToolCall(ToolCall {
            id: fields.need_text("id")?,
            name: fields.need_text("name")?,
            input: read_input(fields)?,
            incomplete: fields.flag("incomplete", false)?,
            thought_signature: fields.text("thought_signature")?,
        }),
        "tool_result" => PartBody::ToolResult(ToolResult {
            call_id: fields.need_text("call_id")?,
            name: fields.text("name")?,
            output: read_output(fields)?,
            is_error: fields.flag("is_error", false)?,
            raw: fields.any("raw"),
        }),
        "tool_approval_request" => PartBody::ToolApprovalRequest(ApprovalRequest {
            call_id: fields.need_text("call_id")?,
            approval_id: fields.text("approval_id")?,
        }),
        "tool_approval_response" => PartBody::ToolApprovalResponse(ApprovalResponse {
            call_id: fields.need_text("call_id")?,
            approval_id: fields.text("approval_id")?,
            approved: fields.need_flag("approved")?,
            reason: fields.text("reason")?,
        }),
        "image" => PartBody::Image(read_media(fields)?),
        "file" => PartBody::File(read_media(fields)?),
        "opaque" => PartBody::Opaque(Opaque { value: fields.take("value").unwrap_or_default() }),
        "json" => PartBody::Json(fields.take("value").unwrap_or_default()),
        _ => PartBody::Unknown(type_name.to_owned()),
    })
}

fn read_input(fields: &mut Reader<'_>) -> Result<ToolInput, EventError> {
    let json = fields.any("input");
    let text = fields.text("input_text")?;
    Ok(match (json, text) {
        (None | Some(Value::Null), Some(text)) => ToolInput::Text(text),
        (Some(value), text) => {
            fields.put_back("input_text", text);
            ToolInput::Json(value)
        }
        (None, None) => ToolInput::None,
    })
}

fn read_output(fields: &mut Reader<'_>) -> Result<ToolOutput, EventError> {
    match fields.some("output") {
        // Tools that print nothing are often recorded so.
        None => Ok(ToolOutput::Text(String::new())),
        Some(Raw::Text(text)) => Ok(ToolOutput::Text(text.into_owned())),
        Some(other) => {
            let parts = read_parts(other, fields.style()).map_err(|error| error.within("output"))?;
            Ok(ToolOutput::Parts(parts))
        }
    }
}

fn read_media(fields: &mut Reader<'_>) -> Result<Media, EventError> {
    let media_type = fields.need_text("media_type")?;
    let (data, url, path) = (fields.text("data")?, fields.text("url")?, fields.text("path")?);
    let source = match (data, url, path) {
        (Some(data), url, path) => {
            fields.put_back("url", url);
            fields.put_back("path", path);
            MediaSource::Data(data)
        }
        (None, Some(url), path) => {
            fields.put_back("path", path);
            MediaSource::Url(url)
        }
        (None, None, Some(path)) => MediaSource::Path(path),
        (None, None, None) => MediaSource::Missing,
    };
    Ok(Media {
        media_type,
        source,
        name: fields.text("name")?,
        width: fields.count("width")?,
        height: fields.count("height")?,
    })
}
