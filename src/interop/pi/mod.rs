//! The session files of the pi coding agent: a tree of entries as JSON lines, in each of its three versions.
//!
//! A file is read whole: entries (`file`, `entry`), what hangs on what (`tree`), what the model sees (`context`); then
//! every entry becomes an event of ours (`plan`, `convert`, `edits`, `twins`, `emit`), and a report says what was found and
//! repaired. Time and memory grow with the file and with nothing else.

mod context;
mod convert;
mod edits;
mod emit;
mod entry;
mod fields;
mod file;
mod meta;
mod parts;
mod plan;
mod report;
mod summing_up;
mod tree;
mod twins;
mod write;
mod write_blocks;
mod write_foreign;
mod write_own;

use std::collections::HashSet;
use std::io::{self, BufRead};

pub use report::{ChainEntry, ContextEntry, HungEntry, PiReport};

pub(super) use write::write;

use super::feed::feed_all;
use super::found::Cost;
use super::work::Work;
use super::{ImportReport, Incoming};
use crate::session::{Session, SessionError};
use context::Context;
use emit::Emitter;
use file::File;
use report::code;
use tree::Tree;

/// The format's name, from which ids of ours follow.
pub const FORMAT: &str = "pi";

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// An entry whose parent is not in the file is a root, as the program itself reads it. Else it hangs on the entry
    /// before it, which brings back what the program forgets.
    pub strict_parents: bool,
    /// Lines that are not one JSON object are passed over whole. Else whole objects are looked for in them.
    pub skip_bad_lines: bool,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The session that the file is of, as its header says.
    pub session_id: Option<String>,
    /// The path of the file that it was forked from, as its header says.
    pub parent_session: Option<String>,
    /// The events, parents first, else in file order.
    pub events: Vec<Incoming>,
    /// For each event its line in the file, from 1.
    pub lines: Vec<u64>,
    /// What was found and repaired.
    pub report: PiReport,
    /// What the reading cost.
    pub cost: Cost,
}

impl Imported {
    /// Writes the events into a session. `session_key` is any text that stays the same when the file, grown or not, is
    /// imported again: then only what is new is written.
    ///
    /// # Errors
    /// Those of reading and writing the session. An event that can't be stored is told in the report.
    pub fn feed(self, session: &Session, session_key: &str) -> Result<(ImportReport, PiReport), SessionError> {
        let mut report = feed_all(session, FORMAT, session_key, self.lines.into_iter().zip(self.events))?;
        // What was hung elsewhere here, the feed has not seen as a repair.
        report.repairs.extend(self.report.hung_on.iter().map(HungEntry::as_repair));
        report.repairs.sort_by_key(|repair| repair.line);
        Ok((report, self.report))
    }
}

/// Reads a session file. The same bytes give the same events.
///
/// # Errors
/// What the input says. No content of the file is an error: what can't be read is in the report, and in the events as
/// it stands.
pub fn read(input: impl BufRead, options: &Options) -> io::Result<Imported> {
    let mut work = Work::default();
    let mut file = File::read(input, !options.skip_bad_lines, &mut work)?;
    let tree = Tree::new(&mut file, options.strict_parents, &mut work);
    let context = Context::new(&file, &tree, file.leaf(), &mut work);
    let answered: HashSet<String> = file.entries.iter().filter_map(|entry| entry.result.clone()).collect();
    let steps = plan::order(&file, &tree, &mut work);
    let (keep, cut) = plan::keep(&file, &tree, context.compaction, &mut work);
    for compaction in cut {
        let text = "compactions keep more than the file holds: this one keeps nothing".to_owned();
        let line = file.entries[compaction].line;
        file.warn(code::CONTEXT_MAY_DIFFER, line, text);
    }
    let mut report = summing_up::sum_up(&mut file, &tree, &context, &answered);
    let items = std::mem::take(&mut file.items).into_iter().map(Some).collect();
    let (events, odd) = Emitter::new(&file, &tree, &keep, &answered).run(&steps, items);
    report.warnings.extend(odd.into_iter().map(|text| {
        let (code, text) = (code::CONTEXT_MAY_DIFFER, text.to_owned());
        super::Warning { code, line: 0, text }
    }));
    let (lines, events) = events.into_iter().unzip();
    let (session_id, parent_session) = (report.session_id.clone(), report.parent_session.clone());
    Ok(Imported { session_id, parent_session, events, lines, report, cost: work.cost() })
}
