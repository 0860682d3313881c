//! Events as JSON: the neutral form that people and other programs read and write, with camelCase names.
//!
//! Writing is here; reading goes through [`Value::parse_json`](super::Value::parse_json) and the reader of neutral
//! lines, since ids in JSON may be any strings.

use serde::{Serialize, Serializer};

use super::body::Event;
use super::kind::Kind;
use super::message::Message;
use super::names::Style;
use super::part::Part;
use super::shape::KindFields;
use super::write::{At, Emit, Place};

/// The event as one line of JSON, without a line break at its end.
///
/// Bytes become base64 text: an import keeps the rest of a line that is no UTF-8 as such. A float that is not finite becomes null;
/// none comes out of a log that we wrote.
#[must_use]
pub fn to_json(event: &Event) -> String {
    serde_json::to_string(&InJson(event)).expect("writing JSON into memory does not fail")
}

/// An event, message, part or a kind's own fields, that serializes as [`to_json`] writes it, to stand inside another document.
#[derive(Debug, Clone, Copy)]
pub struct InJson<'a, T: ?Sized>(pub &'a T);

impl Serialize for InJson<'_, Event> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.emit(out, Place::outermost(Style::Json))
    }
}

impl Serialize for InJson<'_, Message> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.emit(out, Place::outermost(Style::Json))
    }
}

impl Serialize for InJson<'_, Part> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.emit(out, Place::outermost(Style::Json))
    }
}

impl Serialize for InJson<'_, [Part]> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        At(self.0, Place::outermost(Style::Json)).serialize(out)
    }
}

/// The kind's own fields as an object, without the kind's name.
impl Serialize for InJson<'_, Kind> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        At(&KindFields(self.0), Place::outermost(Style::Json)).serialize(out)
    }
}
