//! Events as the log's payloads: MessagePack maps with snake_case names.
//!
//! The text of the format is "Event bodies" in format-spec/FORMAT.md. What an event holds that this version does
//! not know (fields, types, kinds, parts, names) is read, kept and written back.

use super::body::Event;
use super::compress::plain;
use super::error::EventError;
use super::names::Style;
use super::pack;
use super::shape::read_event;
use super::write::{At, Place};

/// The event's bytes.
///
/// # Errors
/// [`EventError::NotStorable`] if it holds a float that is not finite, a [`Value::Number`](super::Value::Number)
/// whose text is no number, or more than [`DEPTH_MAX`](super::DEPTH_MAX) levels.
pub fn encode(event: &Event) -> Result<Vec<u8>, EventError> {
    let mut bytes = Vec::with_capacity(256);
    encode_into(event, &mut bytes)?;
    Ok(bytes)
}

/// Writes the event's bytes behind those that `bytes` holds; on an error `bytes` is as before.
///
/// # Errors
/// As [`encode`].
pub fn encode_into(event: &Event, bytes: &mut Vec<u8>) -> Result<(), EventError> {
    use serde::Serialize;
    let before = bytes.len();
    let mut out = rmp_serde::Serializer::new(&mut *bytes);
    let written = At(event, Place::outermost(Style::Log)).serialize(&mut out);
    written.map_err(|error| {
        bytes.truncate(before);
        EventError::NotStorable { why: error.to_string() }
    })
}

/// The event that these bytes hold, compressed ([`Compressor`](super::Compressor)) or not.
///
/// # Errors
/// [`EventError::Compressed`] if they are and this build lacks the feature `zstd`.
/// [`EventError::Bytes`], [`EventError::Trailing`] or [`EventError::TooDeep`] if they are not the MessagePack that
/// the log uses; [`EventError::Field`] if a field that this version knows holds something else.
pub fn decode(bytes: &[u8]) -> Result<Event, EventError> {
    let plain = plain(bytes)?;
    read_event(pack::read_within(&plain.bytes, plain.values)?)
}
