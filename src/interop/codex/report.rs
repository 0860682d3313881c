//! What a reading found, repaired and left out.

use std::collections::BTreeMap;

use serde::Serialize;

use super::usage::Tokens;
use crate::interop::found::{FaultyLine, ToolCalls, Warning};

/// What a reading found. A record is called `L` and its line, counted from 1; what stands in a list of one line,
/// `#` and its index behind that.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct CodexReport {
    /// Objects read, those that are no usable record too.
    pub records: usize,
    /// Lines that are not one usable record, counted from 1.
    pub bad_lines: Vec<u64>,
    /// What is wrong with each of them.
    pub bad_line_details: Vec<FaultyLine>,
    /// Records found on bad lines, as `L<line>.<n>`.
    pub salvaged: Vec<String>,
    /// The session that the file is of.
    pub session_id: Option<String>,
    /// How many records say whose session it is: one for each start and resume, and those that a fork copied.
    pub session_metas: usize,
    /// The session that this one was forked from.
    pub forked_from: Option<String>,
    /// The session whose agent started this one.
    pub parent_thread: Option<String>,
    /// Records per type; behind a slash the type of what they hold.
    pub kinds: BTreeMap<String, usize>,
    /// Types that this version does not know, and how often each stands in the file. They are kept as they are.
    pub unknown_types: BTreeMap<String, usize>,
    /// Messages in the whole file, those that were taken back too.
    pub messages: usize,
    /// The last item that the model sees.
    pub leaf: Option<String>,
    /// What the model sees, in order. An output whose call is not in the file is among it, though it can't be sent.
    pub context: Vec<ContextItem>,
    /// Calls and outputs in the context.
    pub tool_calls: ToolCalls,
    /// Every compaction, in file order.
    pub compact_boundaries_all: Vec<String>,
    /// The compaction that the context begins with, if it does.
    pub compact_boundary_live: Vec<String>,
    /// The first text of a message in the context that is not empty.
    pub context_first_text: Option<String>,
    /// The last text of a message in the context that is not empty.
    pub context_last_text: Option<String>,
    /// The name that the session was given, or else what was said first.
    pub title: Option<String>,
    /// Turns that were taken back.
    pub rollbacks: Vec<Rollback>,
    /// Tokens of all requests that the file tells of, each counted once.
    pub usage: Tokens,
    /// What else is odd.
    pub warnings: Vec<Warning>,
}

/// An item of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextItem {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: String,
    /// Who says it, if it is a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// Turns that were taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollback {
    /// The line that says so, counted from 1.
    pub line: u64,
    /// How many turns it names.
    pub turns: u64,
    /// How many items left the context with them.
    pub items: usize,
}

/// The codes of a [`Warning`].
pub(super) mod code {
    pub(crate) const LOSSY_TEXT: &str = "lossy_text";
    pub(crate) const UNKNOWN_TYPE: &str = "unknown_type";
    pub(crate) const UNUSABLE_ITEM: &str = "unusable_item";
    pub(crate) const NO_SESSION: &str = "no_session";
    pub(crate) const HISTORY_MODE: &str = "unknown_history_mode";
    pub(crate) const ORDINAL: &str = "ordinal_gap";
    pub(crate) const NOTHING_ROLLED_BACK: &str = "nothing_rolled_back";
    pub(crate) const CONTEXT_MAY_DIFFER: &str = "context_may_differ";
}
