//! What a command that writes one event says in the end.

use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::{Appended, Session};

use crate::Context;
use crate::exit::{Exit, Outcome};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    id: String,
    durable: bool,
    known: bool,
}

/// Waits until the event is durable, closes the session and says what was written.
pub(crate) fn finish(session: Session, appended: Appended, what: &str, context: &mut Context) -> Outcome {
    let Appended { id, known, receipt, .. } = appended;
    receipt.wait()?;
    let session_id: Uuid = session.id();
    session.close()?;
    let out = &mut context.out;
    if out.json {
        let document = Document { session: session_id.to_string(), id: id.to_string(), durable: true, known };
        out.document(&document)?;
    } else {
        out.line(&format!("{what}: event {id} in {session_id}"))?;
    }
    Ok(Exit::Fine)
}
