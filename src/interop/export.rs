//! A session as neutral JSON lines: every event in the order of the file, nothing left out.

use std::io::{self, Write};

use crate::event::{Body, Event, Fields, SessionMeta, Value, to_json};
use crate::session::{SessionError, SessionReader};

/// Why an export ended before its end. What was written until then is right.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The session can't be read further: of a damaged one `seslog salvage` makes one that can.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The output failed.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes all events of a session as neutral JSON lines, behind a line that names it; gives how many events these are.
/// [`import_events`](super::import_events) makes the same session of them: the same events in the same order, so that all
/// views of it, and all that is sent to a provider, are the same to the byte.
///
/// What JSON has one form for comes back in that form: a call with an input of null as one without an input, a patch without the
/// fields that say what is so anyway, and the bytes of an imported line that was no UTF-8, which no view shows, as base64 text. An
/// amend that fits no message, and so has no effect, an import sets aside and tells.
///
/// A fork names the session and the event that it goes on from, and holds its own events only.
///
/// # Errors
/// [`ExportError::Session`] where the session is damaged, [`ExportError::Output`] if the output fails.
pub fn write_events(session: &SessionReader, out: &mut dyn Write) -> Result<u64, ExportError> {
    write_events_with(session, out, Ok)
}

/// The same, with each event changed on its way out: for an export from which something is to be missing.
///
/// # Errors
/// As for [`write_events`], and those of `change`.
pub fn write_events_with(
    session: &SessionReader,
    out: &mut dyn Write,
    mut change: impl FnMut(Event) -> Result<Event, SessionError>,
) -> Result<u64, ExportError> {
    writeln!(out, "{}", serde_json::to_string(&head(session)).map_err(io::Error::from)?)?;
    let (mut count, mut holds) = (0, SessionMeta::default());
    for event in session.events() {
        let mut event = change(event?)?;
        if let Body::SessionMeta(meta) = &mut event.body {
            let whole = meta.clone();
            *meta = with_gaps(&whole, &holds);
            holds = whole;
        }
        writeln!(out, "{}", to_json(&event))?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}

/// The whole record as a line says it: what it no longer has is empty there, since a reader takes a line for a change of what
/// held before.
fn with_gaps(whole: &SessionMeta, before: &SessionMeta) -> SessionMeta {
    let mut gaps = whole.changes_since(before);
    gaps.extra.retain(|(name, _)| !whole.extra.iter().any(|(known, _)| known == name));
    let mut line = whole.clone();
    line.title = line.title.or(gaps.title);
    line.cwd = line.cwd.or(gaps.cwd);
    line.model = line.model.or(gaps.model);
    line.agent = line.agent.or(gaps.agent);
    if line.tags.is_empty() {
        line.tags = gaps.tags;
    }
    line.extra.append(&mut gaps.extra);
    line
}

/// The line that names the session.
fn head(session: &SessionReader) -> Value {
    let text = |name: &str, value: String| (name.to_owned(), Value::Text(value));
    let mut fields: Fields = vec![text("type", "session".to_owned()), text("id", session.id().to_string())];
    fields.push(("placed".to_owned(), Value::Bool(true)));
    if let Some(parent) = &session.info().parent {
        fields.push(text("forkedFrom", parent.log.to_string()));
        fields.push(text("forkedAt", parent.event.to_string()));
    }
    Value::Map(fields)
}
