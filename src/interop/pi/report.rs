//! What a reading found, repaired and left out.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::interop::Repaired;
use crate::interop::found::{FaultyLine, ToolCalls, Warning};

/// What a reading found. All ids are as they stand in the file; an entry without one is called `L` and its line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct PiReport {
    /// Objects read, the header too.
    pub records: usize,
    /// Lines that are not one JSON object, counted from 1.
    pub bad_lines: Vec<u64>,
    /// What is wrong with each of them.
    pub bad_line_details: Vec<FaultyLine>,
    /// Whole objects found on bad lines, as `L<line>.<n>`.
    pub salvaged: Vec<String>,
    /// The format's version, as the header says it; 1 if it says none.
    pub version: i64,
    /// The session that the file is of.
    pub session_id: Option<String>,
    /// The file that it was forked from, as the header names it.
    pub parent_session: Option<String>,
    /// Entries of the tree, each once.
    pub entries: usize,
    /// Those of them that are messages, on all branches.
    pub messages: usize,
    /// Entries per type.
    pub entry_types: BTreeMap<String, usize>,
    /// Entries per type that this version does not know; a message's type is `message:` and its role. They are kept as
    /// they stand, and the model sees nothing of them.
    pub unknown_types: BTreeMap<String, usize>,
    /// The last entry in the file.
    pub leaf: Option<String>,
    /// Entries of the live chain whose parent is not in the file.
    pub orphan_roots: Vec<String>,
    /// Entries, anywhere, that were hung on the entry before them since their parent is not in the file.
    pub hung_on: Vec<HungEntry>,
    /// From root to leaf.
    pub live_chain: Vec<ChainEntry>,
    /// What the model sees, in order.
    pub context: Vec<ContextEntry>,
    /// Turns of the context that were broken off and carry nothing that can be sent.
    pub unusable_turns: Vec<String>,
    /// Entries of the context whose content a later entry of the live chain replaces.
    pub edited: Vec<String>,
    /// Entries of the live chain that a later entry of it takes out of the context.
    pub omitted: Vec<String>,
    /// Calls and results in the context.
    pub tool_calls: ToolCalls,
    /// Every compaction, in file order.
    pub compact_boundaries_all: Vec<String>,
    /// The compaction that counts.
    pub compact_boundary_live: Option<String>,
    /// How much the model is to think, as of the leaf.
    pub thinking_level: String,
    /// Provider and model, as of the leaf.
    pub model: Option<(String, String)>,
    /// The labels that hold, by the entry that they are on.
    pub labels: BTreeMap<String, String>,
    /// The session's name.
    pub name: Option<String>,
    /// The first text in the context that is not empty.
    pub context_first_text: Option<String>,
    /// The last text in the context that is not empty.
    pub context_last_text: Option<String>,
    /// What else is odd.
    pub warnings: Vec<Warning>,
}

/// An entry whose parent is not in the file and that was hung on another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HungEntry {
    /// Its line, counted from 1.
    pub line: u64,
    /// The entry.
    pub entry: String,
    /// What it hangs on now.
    pub on: String,
    /// The parent that it names; empty: it names none.
    pub missing: String,
}

impl HungEntry {
    pub(super) fn as_repair(&self) -> Repaired {
        Repaired {
            line: usize::try_from(self.line).unwrap_or(usize::MAX),
            reason: "missing_parent",
            event: self.entry.clone(),
            named: Some(self.missing.clone()),
            hung_on: Some(self.on.clone()),
        }
    }
}

/// One entry of the live chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainEntry {
    /// Its id.
    pub id: String,
    /// Its type, as in the file.
    #[serde(rename = "type")]
    pub entry_type: String,
    /// A message's role, as the newest version calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// One entry of the context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextEntry {
    /// Its id.
    pub id: String,
    /// A message's role, or the entry's type.
    pub kind: String,
}

/// The codes of a [`Warning`].
pub(super) mod code {
    pub(crate) const LOSSY_TEXT: &str = "lossy_text";
    pub(crate) const NO_HEADER: &str = "no_header";
    pub(crate) const SECOND_HEADER: &str = "second_header";
    pub(crate) const UNKNOWN_VERSION: &str = "unknown_version";
    pub(crate) const UNKNOWN_TYPE: &str = "unknown_type";
    pub(crate) const NO_TYPE: &str = "no_type";
    pub(crate) const NO_ID: &str = "no_id";
    pub(crate) const LONG_ID: &str = "long_id";
    pub(crate) const DUPLICATE_ID: &str = "duplicate_id";
    pub(crate) const REPEATED_RECORD: &str = "repeated_record";
    pub(crate) const CONTEXT_MAY_DIFFER: &str = "context_may_differ";
    pub(crate) const CYCLE: &str = "cycle";
    pub(crate) const MISSING_PARENT: &str = "missing_parent";
    pub(crate) const NOT_KEPT: &str = "not_kept";
    pub(crate) const EMPTY_SUMMARY: &str = "empty_summary";
}
