//! What a command that writes one event says in the end.

use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::{Appended, Session};

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::sanitize::{Layout, visible};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: String,
    /// The event; none if nothing was written.
    id: Option<String>,
    durable: bool,
    known: bool,
    changed: bool,
    /// Of a rewind: what it left.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    left: Option<Left>,
    /// Why nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Waits until the event is durable, closes the session and says what was written.
pub(crate) fn finish(session: Session, appended: Appended, what: &str, context: &mut Context) -> Outcome {
    finish_with(session, appended, what, None, context)
}

/// The leaf that a rewind has left; none: it was at the start.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Left {
    pub(crate) leaf_before: Option<Uuid>,
}

/// The same, with what a rewind has left.
pub(crate) fn finish_with(
    session: Session,
    appended: Appended,
    what: &str,
    left: Option<Left>,
    context: &mut Context,
) -> Outcome {
    let Appended { id, known, receipt, .. } = appended;
    receipt.wait()?;
    let session_id: Uuid = session.id();
    session.close()?;
    let out = &mut context.out;
    if out.json {
        let (session, id) = (session_id.to_string(), Some(id.to_string()));
        out.document(&Document { session, id, durable: true, known, changed: !known, left, reason: None })?;
    } else {
        out.line(&format!("{}: event {id} in {session_id}", visible(what, Layout::Line)))?;
    }
    Ok(Exit::Fine)
}

/// Closes the session and says that nothing had to be written, and why.
pub(crate) fn nothing(session: Session, why: &str, context: &mut Context) -> Outcome {
    let session_id: Uuid = session.id();
    session.close()?;
    let out = &mut context.out;
    if out.json {
        let session = session_id.to_string();
        let (id, left, reason) = (None, None, Some(why));
        out.document(&Document { session, id, durable: true, known: false, changed: false, left, reason })?;
    } else {
        out.line(&format!("nothing to do: {}", visible(why, Layout::Line)))?;
    }
    Ok(Exit::Fine)
}
