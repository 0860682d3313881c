//! The event in a frame.

use std::path::Path;

use super::error::SessionError;
use crate::event::{Body, Event, decode};
use crate::log::{Frame, FrameType, LogView};

/// The event in a frame; none in the log's own frames and in those that this version may skip.
pub(super) fn event_of(log: &LogView, frame: &Frame) -> Result<Option<Event>, SessionError> {
    readable(log.path(), frame)
}

/// The same of a frame whose log lies at this path.
pub(super) fn readable(path: &Path, frame: &Frame) -> Result<Option<Event>, SessionError> {
    match frame.frame_type() {
        FrameType::Event | FrameType::Boundary | FrameType::Change | FrameType::Head => {}
        _ => return Ok(None),
    }
    let event = decode(frame.payload()).map_err(|source| SessionError::Unreadable {
        path: path.to_owned(),
        offset: frame.offset(),
        source,
    })?;
    known(path, frame, event).map(Some)
}

/// The event of a frame, if this version knows it or may skip it.
pub(super) fn known(path: &Path, frame: &Frame, event: Event) -> Result<Event, SessionError> {
    match &event.body {
        Body::Unknown(unknown) if !frame.head().is_skippable() => Err(SessionError::UnknownEvent {
            path: path.to_owned(),
            offset: frame.offset(),
            found: match &unknown.kind {
                Some(kind) => format!("{}/{kind}", unknown.event_type),
                None => unknown.event_type.clone(),
            },
        }),
        _ => Ok(event),
    }
}
