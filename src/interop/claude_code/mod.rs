//! Claude Code's transcript files: one session, or one sub-agent's run, as JSON lines.
//!
//! A file is read whole: records (`file`, `record`), what hangs on what (`graph`,
//! `compaction`, `live`), what the model sees (`context`); then every record becomes an event of ours
//! (`plan`, `lines_up`, `convert`, `emit`), and a report says what was found and repaired.
//! Time and memory grow with the file and with nothing else.

mod compaction;
mod context;
mod convert;
mod emit;
mod file;
mod graph;
mod head;
mod lines_up;
mod live;
mod meta;
mod parts;
mod plan;
mod record;
mod report;
mod summing_up;
mod write;
mod write_blocks;
mod write_foreign;
mod write_own;

use std::io::{self, BufRead};

pub use report::{ChainRecord, ClaudeReport, HungRecord};

pub(super) use write::write;

use super::feed::feed_all;
use super::found::Cost;
use super::work::Work;
use super::{ImportReport, Incoming};
use crate::session::{Session, SessionError};
use compaction::Compactions;
use context::Context;
use file::File;
use graph::Graph;
use live::Live;
use meta::Folded;
use plan::Plan;

/// The format's name, from which ids of ours follow.
pub const FORMAT: &str = "claude-code";

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// A record whose parent is not in the file is a root, as the program itself reads it. Else it hangs on the record
    /// before it, which brings back what the program forgets.
    pub strict_parents: bool,
    /// Lines that are not one JSON object are passed over whole. Else whole objects are looked for in them.
    pub skip_bad_lines: bool,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The session that the file is of, as its records say last.
    pub session_id: Option<String>,
    /// The sub-agent whose own file this is. Its line is the main one in the events then.
    pub agent_id: Option<String>,
    /// The events, parents first, else in file order.
    pub events: Vec<Incoming>,
    /// For each event its line in the file, from 1; 0: it is of no one line.
    pub lines: Vec<u64>,
    /// The last message of the conversation, by its id in the file; none: there is none, or it was cleared.
    pub leaf: Option<String>,
    /// What was found and repaired.
    pub report: ClaudeReport,
    /// What the reading cost.
    pub cost: Cost,
}

impl Imported {
    /// Writes the events into a session. `session_key` is any text that stays the same when the file, grown or not, is
    /// imported again: then only what is new is written.
    ///
    /// # Errors
    /// Those of reading and writing the session. An event that can't be stored is told in the report.
    pub fn feed(self, session: &Session, session_key: &str) -> Result<(ImportReport, ClaudeReport), SessionError> {
        let mut report = feed_all(session, FORMAT, session_key, self.lines.into_iter().zip(self.events))?;
        // What was hung elsewhere here, the feed has not seen as a repair.
        report.repairs.extend(self.report.hung_on.iter().map(HungRecord::as_repair));
        report.repairs.sort_by_key(|repair| repair.line);
        Ok((report, self.report))
    }
}

/// Reads a transcript file. The same bytes give the same events.
///
/// # Errors
/// What the input says. No content of the file is an error: what can't be read is in the report, and in the events as
/// it stands.
pub fn read(input: impl BufRead, options: &Options) -> io::Result<Imported> {
    let mut work = Work::default();
    let mut file = File::read(input, !options.skip_bad_lines, &mut work)?;
    let graph = Graph::new(&mut file, options.strict_parents, &mut work);
    let compactions = Compactions::find(&mut file, &graph);
    let folded = Folded::of(&file);
    let leaf = graph.leaf(&file).filter(|_| folded.cleared_at.is_none());
    let live = leaf.map(|leaf| Live::new(&graph, &compactions, leaf, &mut work)).unwrap_or_default();
    let context = Context::new(&file, &graph, &compactions, &live, &mut work);
    let plan = Plan::new(&file, &graph, &compactions, &mut work);
    let records: Vec<usize> = plan.steps.iter().filter_map(|step| step.record()).collect();
    let has_messages = file.records.iter().any(record::Record::is_message);
    let head = if leaf.is_some() || (folded.cleared_at.is_some() && has_messages) {
        head::head(&file, &compactions, &plan, &live, &records, &mut work)
    } else {
        None
    };
    let report = summing_up::sum_up(&mut file, &graph, &compactions, &folded, &live, &context, leaf);
    let session_id = file.session.clone();
    let agent_id = file.agents_own.then(|| file.records.iter().find_map(|record| record.agent.clone())).flatten();
    let (lines, events) = emit::emit(file, &compactions, &plan, &folded, head).into_iter().unzip();
    Ok(Imported { session_id, agent_id, events, lines, leaf: report.leaf.clone(), report, cost: work.cost() })
}
