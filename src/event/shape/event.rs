//! The fields of an event: its envelope, then its body's, flat.

use std::borrow::Cow;

use serde::Serializer;

use super::body::{read_amend, read_extension, read_meta, read_tool_started, write_body};
use super::message::read_message;
use crate::event::body::{Body, Event, Head, HungOn, Prune, Tombstone, Unknown};
use crate::event::error::EventError;
use crate::event::names::Style;
use crate::event::raw::Raw;
use crate::event::read::{Reader, read_id};
use crate::event::value::Fields;
use crate::event::write::{Emit, Nil, Place, Shape, Sink, emit_shape};

impl Emit for Event {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for Event {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        out.put("type", self.body.type_name())?;
        out.put("id", &self.id)?;
        match out.style() {
            Style::Log => write_log_envelope(self, out)?,
            Style::Json => write_json_envelope(self, out)?,
        }
        write_body(&self.body, out)?;
        out.extra(&self.extra)
    }
}

/// The fields of a log's event that are not its body's, in the order in which they are written.
pub(crate) const ENVELOPE: [&str; 8] =
    ["type", "id", "parent", "hung_on", "at", "original_id", "original_parent", "off_chain"];

/// An event's fields but for the envelope's, as the log holds them behind those.
pub(crate) struct BodyAlone<'a>(pub(crate) &'a Event);

impl Emit for BodyAlone<'_> {
    fn emit<S: Serializer>(&self, out: S, place: Place) -> Result<S::Ok, S::Error> {
        emit_shape(self, out, place)
    }
}

impl Shape for BodyAlone<'_> {
    fn fields<S: Sink>(&self, out: &mut S) -> Result<(), S::Error> {
        ENVELOPE.iter().for_each(|name| out.absent(name));
        write_body(&self.0.body, out)?;
        out.extra(&self.0.extra)
    }
}

fn write_log_envelope<S: Sink>(event: &Event, out: &mut S) -> Result<(), S::Error> {
    out.opt("parent", &event.parent)?;
    match &event.hung_on {
        HungOn::Named => out.skip("hung_on")?,
        HungOn::Root => out.put("hung_on", &Nil)?,
        HungOn::Event(id) => out.put("hung_on", id)?,
    }
    out.put("at", &event.at)?;
    out.opt("original_id", &event.original_id)?;
    out.opt("original_parent", &event.original_parent)?;
    out.flag("off_chain", event.off_chain, false)
}

/// In JSON an absent parent means the leaf, so a root says null. The parent is the one that was named, by the name
/// that it had, so that an import of the line comes to the same place.
fn write_json_envelope<S: Sink>(event: &Event, out: &mut S) -> Result<(), S::Error> {
    match (&event.original_parent, &event.parent) {
        (Some(name), _) => out.put("parent_id", name)?,
        (None, Some(id)) => out.put("parent_id", id)?,
        (None, None) => out.put("parent_id", &Nil)?,
    }
    out.put("at", &event.at)?;
    out.opt("original_id", &event.original_id)?;
    match &event.hung_on {
        HungOn::Named => out.skip("hung_on")?,
        HungOn::Root => out.put("hung_on", &Nil)?,
        HungOn::Event(id) => out.put("hung_on", id)?,
    }
    out.flag("off_chain", event.off_chain, false)
}

/// An event of the log, out of the value that its bytes hold.
pub(crate) fn read_event(value: Raw<'_>) -> Result<Event, EventError> {
    let mut fields = Reader::of(value, Style::Log).map_err(|error| error.within("event"))?;
    let event_type = fields.need_word("type")?;
    let id = fields.need_id("id")?;
    let parent = fields.id("parent")?;
    let hung_on = match fields.take_raw("hung_on") {
        None => HungOn::Named,
        Some(Raw::Null) => HungOn::Root,
        Some(value) => HungOn::Event(read_id(&value).map_err(|error| error.within("hung_on"))?),
    };
    let at = fields.int("at")?.ok_or_else(|| fields.missing("at", "an integer"))?;
    let original_id = fields.text("original_id")?;
    let original_parent = fields.text("original_parent")?;
    let off_chain = fields.flag("off_chain", false)?;
    let (body, extra) = read_body(event_type, fields)?;
    Ok(Event { id, parent, hung_on, at, original_id, original_parent, off_chain, body, extra })
}

/// The body, and the unknown fields that are the event's own: none where the body keeps them.
fn read_body(event_type: Cow<'_, str>, mut fields: Reader<'_>) -> Result<(Body, Fields), EventError> {
    let body = match &*event_type {
        "message" => {
            return Ok((
                match read_message(&mut fields)? {
                    Some(mut message) => {
                        message.extra = fields.rest();
                        Body::Message(Box::new(message))
                    }
                    None => read_unknown(event_type, fields)?,
                },
                Fields::new(),
            ));
        }
        "meta" => {
            let mut meta = read_meta(&mut fields)?;
            meta.extra = fields.rest();
            return Ok((Body::SessionMeta(meta), Fields::new()));
        }
        "tombstone" => Body::Tombstone(Tombstone { targets: fields.ids("targets")?, reason: fields.text("reason")? }),
        "amend" => Body::Amend(read_amend(&mut fields)?),
        "prune" => Body::Prune(Prune { targets: fields.ids("targets")? }),
        "head" => Body::Head(Head { leaf: fields.id("leaf")? }),
        "tool_started" => Body::ToolStarted(read_tool_started(&mut fields)?),
        "extension" => Body::Extension(read_extension(&mut fields)?),
        _ => return Ok((read_unknown(event_type, fields)?, Fields::new())),
    };
    Ok((body, fields.rest()))
}

fn read_unknown(event_type: Cow<'_, str>, mut fields: Reader<'_>) -> Result<Body, EventError> {
    // A type that we don't know may use `kind` for whatever it likes.
    let kind = if event_type == "message" { Some(fields.need_text("kind")?) } else { None };
    Ok(Body::Unknown(Unknown { event_type: event_type.into_owned(), kind, fields: fields.rest() }))
}
