//! A session as neutral JSON lines: every event in the order of the file, nothing left out.

use std::io::{self, Write};

use crate::event::{EventError, Fields, Uuid, Value, decode, to_json};
use crate::log::{LogError, LogView};

/// Why an export ended before its end. What was written until then is right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The log can't be read further: of a damaged session `seslog salvage` makes one that can.
    #[error(transparent)]
    Log(#[from] LogError),
    /// An event can't be read.
    #[error("event {id} at byte {offset} can't be read: {source}")]
    Event {
        /// The event.
        id: Uuid,
        /// Its record, in bytes from the start of the file.
        offset: u64,
        /// What is wrong with it.
        source: EventError,
    },
    /// The output failed.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes all events of a log as neutral JSON lines, behind a line that names the session; gives how many events these are.
/// [`import_events`](super::import_events) makes the same session of them: the same events in the same order, so that all
/// views of it, and all that is sent to a provider, are the same to the byte. (What JSON says in
/// one way only is the same in the log too: a call without an input and one with null, a patch's field that says what is so
/// anyway and one that is left out.)
///
/// A fork names the session and the event that it goes on from, and holds its own events only.
///
/// # Errors
/// [`ExportError::Log`] or [`ExportError::Event`] where the log is damaged, [`ExportError::Output`] if the output fails.
pub fn write_events(log: &LogView, out: &mut dyn Write) -> Result<u64, ExportError> {
    writeln!(out, "{}", serde_json::to_string(&head(log)).map_err(io::Error::from)?)?;
    let mut count = 0;
    for frame in log.frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            continue;
        }
        let unreadable = |source| ExportError::Event { id: frame.id(), offset: frame.offset(), source };
        let event = decode(frame.payload()).map_err(unreadable)?;
        writeln!(out, "{}", to_json(&event))?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}

/// The line that names the session.
fn head(log: &LogView) -> Value {
    let info = log.info();
    let text = |name: &str, value: String| (name.to_owned(), Value::Text(value));
    let mut fields: Fields = vec![text("type", "session".to_owned()), text("id", info.log_id.to_string())];
    if let Some(parent) = &info.parent {
        fields.push(text("forkedFrom", parent.log.to_string()));
        fields.push(text("forkedAt", parent.event.to_string()));
    }
    Value::Map(fields)
}
