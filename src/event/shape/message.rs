//! The fields of messages.

use serde::Serializer;

use super::kind::{read_kind, write_kind};
use super::metadata::{read_metadata_field, read_usage_field};
use super::part::read_parts;
use crate::event::error::EventError;
use crate::event::kind::Kind;
use crate::event::message::{Message, Metadata, Role, StopReason};
use crate::event::part::Part;
use crate::event::raw::Raw;
use crate::event::read::Reader;
use crate::event::write::{Emit, Nil, Place, Shape, Sink, emit_shape};

/// Writes a message's fields into the event that it is.
pub(crate) fn write_message<S: Sink>(message: &Message, out: &mut S) -> Result<(), S::Error> {
    out.put("role", message.role.name())?;
    out.put("kind", message.kind.name())?;
    write_kind(&message.kind, out)?;
    out.list("content", &message.content)?;
    out.opt("provider", &message.provider)?;
    out.opt("model", &message.model)?;
    out.opt("request_id", &message.request_id)?;
    out.opt("message_id", &message.message_id)?;
    out.opt("usage", &message.usage)?;
    match &message.stop_reason {
        StopReason::NotSaid => out.skip("stop_reason")?,
        StopReason::StreamOpen => out.put("stop_reason", &Nil)?,
        StopReason::Said(reason) => out.put("stop_reason", reason)?,
    }
    match message.metadata == Metadata::default() {
        true => out.skip("metadata")?,
        false => out.put("metadata", &message.metadata)?,
    }
    out.extra(&message.extra)
}

/// Takes a message out of its event's fields; none, with the fields untouched, if its role or kind is not known.
pub(crate) fn read_message(fields: &mut Reader<'_>) -> Result<Option<Message>, EventError> {
    let role = fields.need_word("role")?;
    let kind_name = fields.need_word("kind")?;
    let kind = match role.parse::<Role>() {
        Ok(_) => read_kind(&kind_name, fields)?,
        Err(_) => None,
    };
    let (Ok(role), Some(kind)) = (role.parse(), kind) else {
        fields.give_back("kind", Raw::Text(kind_name));
        fields.give_back("role", Raw::Text(role));
        return Ok(None);
    };
    Ok(Some(Message {
        role,
        kind,
        content: read_content(fields)?,
        provider: fields.text("provider")?,
        model: fields.text("model")?,
        request_id: fields.text("request_id")?,
        message_id: fields.text("message_id")?,
        usage: read_usage_field(fields)?,
        stop_reason: read_stop_reason(fields)?,
        metadata: read_metadata_field(fields)?,
        extra: Vec::new(),
    }))
}

pub(crate) fn read_content(fields: &mut Reader<'_>) -> Result<Vec<Part>, EventError> {
    match fields.some("content") {
        None => Ok(Vec::new()),
        Some(value) => read_parts(value, fields.style()).map_err(|error| error.within("content")),
    }
}

pub(crate) fn read_stop_reason(fields: &mut Reader<'_>) -> Result<StopReason, EventError> {
    match fields.take_raw("stop_reason") {
        None => Ok(StopReason::NotSaid),
        Some(Raw::Null) => Ok(StopReason::StreamOpen),
        Some(Raw::Text(reason)) => Ok(StopReason::Said(reason.into_owned())),
        Some(other) => Err(fields.wrong("stop_reason", "text or null", &other)),
    }
}

impl Emit for Message {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Message {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        write_message(self, out)
    }
}

/// A kind's own fields as an object of their own.
pub(crate) struct KindFields<'a>(pub(crate) &'a Kind);

impl Emit for KindFields<'_> {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for KindFields<'_> {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        write_kind(self.0, out)
    }
}
