//! A session as a file of another agent's, and a list of what such a file can't say.

use std::io::{self, Write};

use serde::Serialize;

use super::export::ExportError;
use super::leaving_calls::with_distinct_ids;
use super::leaving_refusals::with_refusals_as_results;
use super::leaving_source::Source;
use super::leaving_told::{Agent, Difference, Told, Written};
use super::{claude_code, codex, pi};
use crate::session::{History, SessionReader};

/// What was written, and what the file says otherwise than the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct WriteReport {
    /// Lines that were written.
    pub records: usize,
    /// The session's id in the file.
    pub session: String,
    /// Where the program looks for the file, below its own directory.
    pub place: String,
    /// The command that goes on with it there; none of a sub-agent's session, with which only the one above it goes on.
    pub resume: Option<String>,
    /// What is left out or said otherwise, each kind once, by name. What means the same in JSON is no difference: one text alone or
    /// in a block of its own, `false`, null or absent, the order of lines that name each other.
    pub differences: Vec<Difference>,
}

/// Writes a session as a file of this agent's, which its program can go on with. A session that came from that program
/// gets its own ids and records back; of others ids follow from the session's, so that the same session gives the same
/// file. `history` is the session's whole story, as [`Store::history`](crate::session::Store::history) gives it.
///
/// Messages that were taken back are not written. What else is left out, or said in another way, is in the report.
/// Nothing of the session is changed. The file's content is held in memory before it is written.
///
/// # Errors
/// [`ExportError::Session`] if the log can't be read, [`ExportError::Output`] if the output fails.
pub fn write_as(
    agent: Agent,
    session: &SessionReader,
    history: &History,
    out: &mut dyn Write,
) -> Result<WriteReport, ExportError> {
    let mut told = Told::default();
    let refused = with_refusals_as_results(&Source::new(session, &history.state), &mut told);
    let state = refused.as_ref().unwrap_or(&history.state);
    let distinct = with_distinct_ids(&Source::new(session, state), agent, &mut told);
    let source = Source::new(session, distinct.as_ref().unwrap_or(state));
    source.tell_of_dead(&mut told);
    let written = match agent {
        Agent::ClaudeCode => claude_code::write(&source, &mut told),
        Agent::Codex => codex::write(&source, &mut told),
        Agent::Pi => pi::write(&source, &mut told),
    };
    for record in &written.records {
        writeln!(out, "{}", serde_json::to_string(record).map_err(io::Error::from)?)?;
    }
    out.flush()?;
    let Written { records, session, place, resume } = written;
    Ok(WriteReport { records: records.len(), session, place, resume, differences: told.differences() })
}
