//! Codex's rollout files: one session as JSON lines, or in the early form as one object.
//!
//! A file is read to its records (`file`, `record`, `item`) and gone through once, in its order, which is the chain
//! (`walk`): each record becomes an event of ours (`convert`, `parts`), and what the model sees is followed through
//! compactions and rollbacks (`history`, `compaction`). A report says what was found and left out.
//! Time and memory grow with the file and with nothing else.

mod compaction;
mod contextual;
mod convert;
mod file;
mod history;
mod item;
mod meta;
mod parts;
mod record;
mod report;
mod summing_up;
mod usage;
mod walk;
mod write;
mod write_foreign;
mod write_own;
mod write_turn;

use std::io::{self, BufRead};

pub use report::{CodexReport, ContextItem, Rollback};
pub use usage::Tokens;

pub(super) use write::write;

use super::feed::feed_all;
use super::found::Cost;
use super::work::Work;
use super::{ImportReport, Incoming};
use crate::event::Value;
use crate::session::{Session, SessionError};
use file::File;
use walk::{PREFIX, Walk};

/// The format's name, from which ids of ours follow.
pub const FORMAT: &str = PREFIX;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Lines that are not one JSON object are passed over whole, as the program itself does. Else whole objects are
    /// looked for in them.
    pub skip_bad_lines: bool,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The session that the file is of.
    pub session_id: Option<String>,
    /// The session that this one was forked from.
    pub forked_from: Option<String>,
    /// The session whose agent started this one.
    pub parent_thread: Option<String>,
    /// The events, in file order, parents first.
    pub events: Vec<Incoming>,
    /// For each event its line in the file, from 1.
    pub lines: Vec<u64>,
    /// The last item that the model sees, as the report names it; none: it sees nothing.
    pub leaf: Option<String>,
    /// What was found and repaired.
    pub report: CodexReport,
    /// What the reading cost.
    pub cost: Cost,
}

impl Imported {
    /// Writes the events into a session. `session_key` is any text that stays the same when the file, grown or not, is
    /// imported again: then only what is new is written.
    ///
    /// # Errors
    /// Those of reading and writing the session. An event that can't be stored is told in the report.
    pub fn feed(self, session: &Session, session_key: &str) -> Result<(ImportReport, CodexReport), SessionError> {
        let report = feed_all(session, FORMAT, session_key, self.lines.into_iter().zip(self.events))?;
        Ok((report, self.report))
    }
}

/// Reads a rollout file; a compressed one must be decompressed before. The same bytes give the same events.
///
/// # Errors
/// What the input says. No content of the file is an error: what can't be read is in the report, and in the events as
/// it stands.
pub fn read(input: impl BufRead, options: &Options) -> io::Result<Imported> {
    let mut work = Work::default();
    let mut file = File::read(input, !options.skip_bad_lines, &mut work)?;
    let mut walk = Walk::new(std::mem::take(&mut file.warnings));
    walk.through(&mut file, &mut work);
    let report = summing_up::sum_up(&file, &mut walk);
    let (lines, events) = walk.events.into_iter().unzip();
    Ok(Imported {
        session_id: report.session_id.clone(),
        forked_from: report.forked_from.clone(),
        parent_thread: report.parent_thread.clone(),
        events,
        lines,
        leaf: report.leaf.clone(),
        report,
        cost: work.cost(),
    })
}

/// Whether this object is a record as only this format has them.
#[must_use]
pub fn is_record(value: &Value) -> bool {
    let has_text = |name: &str| value.get(name).and_then(Value::as_text).is_some();
    let is_map = |name: &str| matches!(value.get(name), Some(Value::Map(_)));
    let is_enveloped = has_text("timestamp") && has_text("type") && is_map("payload") && !has_text("name");
    let is_header = has_text("id") && has_text("timestamp") && value.get("type").is_none();
    let is_early = is_map("session") && matches!(value.get("items"), Some(Value::List(_)));
    is_enveloped || has_text("record_type") || (is_header && value.get("instructions").is_some()) || is_early
}

/// Whether a file that begins so may be of the early form, which is one object over many lines.
#[must_use]
pub fn may_be_early(head: &[u8]) -> bool {
    let has = |name: &[u8]| head.windows(name.len()).any(|bytes| bytes == name);
    file::opens_an_object(head) && has(b"\"session\"")
}
