//! The fields of a message's metadata and of its usage.

use serde::Serializer;

use crate::event::error::EventError;
use crate::event::message::{Metadata, Source, Usage};
use crate::event::names::Style;
use crate::event::raw::Raw;
use crate::event::read::Reader;
use crate::event::write::{Emit, Place, Shape, Sink, emit_shape};

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
