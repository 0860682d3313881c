//! The fields of messages, of their metadata and of usage.

use serde::Serializer;

use super::kind::{read_kind, write_kind};
use super::part::read_parts;
use crate::event::error::EventError;
use crate::event::kind::Kind;
use crate::event::message::{Message, Metadata, Role, Source, StopReason, Usage};
use crate::event::names::Style;
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

pub(crate) fn read_content(fields: &mut Reader<'_>) -> Result<Vec<crate::event::part::Part>, EventError> {
    match fields.some("content") {
        None => Ok(Vec::new()),
        Some(value) => read_parts(value, fields.style()).map_err(|error| error.within("content")),
    }
}

pub(crate) fn read_usage_field(fields: &mut Reader<'_>) -> Result<Option<Usage>, EventError> {
    match fields.some("usage") {
        None => Ok(None),
        Some(value) => read_usage(value, fields.style()).map(Some).map_err(|error| error.within("usage")),
    }
}

pub(crate) fn read_metadata_field(fields: &mut Reader<'_>) -> Result<Metadata, EventError> {
    match fields.some("metadata") {
        None => Ok(Metadata::default()),
        Some(value) => read_metadata(value, fields.style()).map_err(|error| error.within("metadata")),
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

impl Emit for Source {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        self.name().emit(out, place)
    }
}

impl Emit for Metadata {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Metadata {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        out.opt("agent_name", &self.agent_name)?;
        out.opt("effective_agent_name", &self.effective_agent_name)?;
        out.flag("synthetic", self.synthetic, false)?;
        out.flag("visible_in_transcript", self.visible_in_transcript, true)?;
        out.flag("eligible_for_model_context", self.eligible_for_model_context, true)?;
        out.flag("meta", self.meta, false)?;
        out.flag("virtual", self.is_virtual, false)?;
        out.flag("sidechain", self.sidechain, false)?;
        out.opt("compacted_at", &self.compacted_at)?;
        out.opt("compact_boundary_id", &self.compact_boundary_id)?;
        out.opt("summary_for_boundary_id", &self.summary_for_boundary_id)?;
        out.opt("source", &self.source)?;
        out.opt("source_tool_assistant_id", &self.source_tool_assistant_id)?;
        out.list("tags", &self.tags)?;
        out.opt("run_id", &self.run_id)?;
        out.opt("permission_mode", &self.permission_mode)?;
        out.opt("origin", &self.origin)?;
        out.opt("extra", &self.extra)?;
        out.extra(&self.unknown)
    }
}

fn read_metadata(value: Raw<'_>, style: Style) -> Result<Metadata, EventError> {
    let mut fields = Reader::of(value, style)?;
    Ok(Metadata {
        agent_name: fields.text("agent_name")?,
        effective_agent_name: fields.text("effective_agent_name")?,
        synthetic: fields.flag("synthetic", false)?,
        visible_in_transcript: fields.flag("visible_in_transcript", true)?,
        eligible_for_model_context: fields.flag("eligible_for_model_context", true)?,
        meta: fields.flag("meta", false)?,
        is_virtual: fields.flag("virtual", false)?,
        sidechain: fields.flag("sidechain", false)?,
        compacted_at: fields.int("compacted_at")?,
        compact_boundary_id: fields.text("compact_boundary_id")?,
        summary_for_boundary_id: fields.text("summary_for_boundary_id")?,
        source: fields.text("source")?.map(Source::from),
        source_tool_assistant_id: fields.text("source_tool_assistant_id")?,
        tags: fields.texts("tags")?,
        run_id: fields.text("run_id")?,
        permission_mode: fields.text("permission_mode")?,
        origin: fields.any("origin"),
        extra: fields.any("extra"),
        unknown: fields.rest(),
    })
}

impl Emit for Usage {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Usage {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        out.put("input", &self.input)?;
        out.put("output", &self.output)?;
        out.opt("cache_read", &self.cache_read)?;
        out.opt("cache_write", &self.cache_write)?;
        out.opt("reasoning", &self.reasoning)?;
        out.opt("total", &self.total)?;
        out.extra(&self.extra)
    }
}

fn read_usage(value: Raw<'_>, style: Style) -> Result<Usage, EventError> {
    let mut fields = Reader::of(value, style)?;
    Ok(Usage {
        input: fields.count("input")?.unwrap_or(0),
        output: fields.count("output")?.unwrap_or(0),
        cache_read: fields.count("cache_read")?,
        cache_write: fields.count("cache_write")?,
        reasoning: fields.count("reasoning")?,
        total: fields.count("total")?,
        extra: fields.rest(),
    })
}
