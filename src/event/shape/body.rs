//! The fields of the bodies that are no messages. They stand flat beside the event's.

use serde::Serializer;

use super::message::write_message;
use super::recase::recase;
use crate::event::body::{Amend, Body, Extension, SessionMeta, ToolStarted};
use crate::event::error::EventError;
use crate::event::names::Style;
use crate::event::raw::{Raw, owned};
use crate::event::read::Reader;
use crate::event::value::Fields;
use crate::event::write::{Emit, Nil, Place, Sink, emit_fields};

impl Body {
    /// The event's `type`, as it stands in the log and in JSON.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Message(_) => "message",
            Self::Tombstone(_) => "tombstone",
            Self::Amend(_) => "amend",
            Self::Prune(_) => "prune",
            Self::Head(_) => "head",
            Self::ToolStarted(_) => "tool_started",
            Self::SessionMeta(_) => "meta",
            Self::Extension(_) => "extension",
            Self::Unknown(unknown) => &unknown.event_type,
        }
    }
}

pub(crate) fn write_body<S: Sink>(body: &Body, out: &mut S) -> Result<(), S::Error> {
    match body {
        Body::Message(message) => write_message(message, out),
        Body::Tombstone(tombstone) => {
            out.put("targets", &tombstone.targets)?;
            out.opt("reason", &tombstone.reason)
        }
        Body::Amend(amend) => {
            out.put("target", &amend.target)?;
            out.put("patch", &Patch(&amend.patch))
        }
        Body::Prune(prune) => out.put("targets", &prune.targets),
        Body::Head(head) => match &head.leaf {
            Some(leaf) => out.put("leaf", leaf),
            None => out.put("leaf", &Nil),
        },
        Body::ToolStarted(started) => {
            out.put("call_id", &started.call_id)?;
            out.opt("idempotency_key", &started.idempotency_key)
        }
        Body::SessionMeta(meta) => {
            out.opt("title", &meta.title)?;
            out.list("tags", &meta.tags)?;
            out.opt("cwd", &meta.cwd)?;
            out.opt("model", &meta.model)?;
            out.opt("agent", &meta.agent)?;
            out.extra(&meta.extra)
        }
        Body::Extension(extension) => {
            out.put("name", &extension.name)?;
            out.put("payload", &extension.payload)
        }
        Body::Unknown(unknown) => {
            // A message of an unknown kind has a message's fields all the same, and those we can name in JSON.
            let Some(kind) = &unknown.kind else { return out.extra(&unknown.fields) };
            out.put("kind", kind)?;
            match out.style() {
                Style::Log => out.extra(&unknown.fields),
                Style::Json => out.extra(&recase(unknown.fields.clone(), Style::Log, Style::Json)),
            }
        }
    }
}

/// A patch: a message's fields with the log's names, shown in JSON with JSON's.
struct Patch<'a>(&'a Fields);

impl Emit for Patch<'_> {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        match place.style {
            Style::Log => emit_fields(self.0, out, place),
            Style::Json => emit_fields(&recase(self.0.clone(), Style::Log, Style::Json), out, place),
        }
    }
}

pub(crate) fn read_amend(fields: &mut Reader<'_>) -> Result<Amend, EventError> {
    let target = fields.need_id("target")?;
    match fields.some("patch") {
        None => Err(fields.missing("patch", "an object")),
        Some(Raw::Map(patch)) => Ok(Amend { target, patch: owned(patch) }),
        Some(other) => Err(fields.wrong("patch", "an object", &other)),
    }
}

pub(crate) fn read_tool_started(fields: &mut Reader<'_>) -> Result<ToolStarted, EventError> {
    Ok(ToolStarted { call_id: fields.need_text("call_id")?, idempotency_key: fields.text("idempotency_key")? })
}

/// The known fields of a session's meta.
pub(crate) fn read_meta(fields: &mut Reader<'_>) -> Result<SessionMeta, EventError> {
    Ok(SessionMeta {
        title: fields.text("title")?,
        tags: fields.texts("tags")?,
        cwd: fields.text("cwd")?,
        model: fields.text("model")?,
        agent: fields.text("agent")?,
        extra: Fields::new(),
    })
}

pub(crate) fn read_extension(fields: &mut Reader<'_>) -> Result<Extension, EventError> {
    Ok(Extension { name: fields.need_text("name")?, payload: fields.take("payload").unwrap_or_default() })
}
