//! What a reading found, repaired and left out.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::interop::Repaired;
use crate::interop::found::{FaultyLine, ToolCalls, Warning};

/// What a reading found. All ids are as they stand in the file.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct ClaudeReport {
    /// Objects read.
    pub records: usize,
    /// Lines that are not one JSON object, counted from 1.
    pub bad_lines: Vec<u64>,
    /// What is wrong with each of them.
    pub bad_line_details: Vec<FaultyLine>,
    /// Whole objects found on bad lines, as `L<line>.<n>`.
    pub salvaged: Vec<String>,
    /// Records that have an id and link, each once.
    pub transcript_records: usize,
    /// Those of them that are a user's or an assistant's, on all branches and in all sub-agents' lines.
    pub messages: usize,
    /// Those of the messages that are a sub-agent's.
    pub sidechain_messages: usize,
    /// Records that do not link, per type.
    pub metadata_records: BTreeMap<String, usize>,
    /// The last message of the conversation as it stands; none: there is none, or it was cleared.
    pub leaf: Option<String>,
    /// The leaf that the program itself wrote down last. It can be stale.
    pub recorded_leaf: Option<String>,
    /// The recorded leaf exists and lies on another branch.
    pub recorded_leaf_diverges: bool,
    /// The program wrote down that the conversation begins anew, and nothing followed.
    pub cleared: bool,
    /// Records of the live chain whose parent is not in the file.
    pub orphan_roots: Vec<String>,
    /// Records, anywhere, that were hung on the record before them since their parent is not in the file.
    pub hung_on: Vec<HungRecord>,
    /// From root to leaf, a kept segment put in its place.
    pub live_chain: Vec<ChainRecord>,
    /// What the compaction that counts kept, in order.
    pub kept_by_compaction: Vec<String>,
    /// Records off the live chain that belong to the context: siblings of parallel calls, and their results.
    pub recovered: Vec<String>,
    /// What the model sees, in order. A result whose call is not in the file is among it, though it can't be sent.
    pub context_ids: Vec<String>,
    /// The provider's ids of the answers in the context, in order.
    pub assistant_api_messages: Vec<String>,
    /// Calls and results in the context.
    pub tool_calls: ToolCalls,
    /// Every compact boundary, in file order.
    pub compact_boundaries_all: Vec<String>,
    /// The boundary that counts.
    pub compact_boundary_on_chain: Option<String>,
    /// The first text in the context that is not empty.
    pub context_first_text: Option<String>,
    /// The last text in the context that is not empty.
    pub context_last_text: Option<String>,
    /// The title that a person gave, or else the one that was made.
    pub title: Option<String>,
    /// The sessions named in the file.
    pub session_ids: Vec<String>,
    /// Tokens that the model wrote on all branches, sub-agents left out, once for each answer.
    pub output_tokens_counted_once: i64,
    /// What else is odd.
    pub warnings: Vec<Warning>,
}

/// A record whose parent is not in the file and that was hung on another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HungRecord {
    /// Its line, counted from 1.
    pub line: u64,
    /// The record.
    pub record: String,
    /// What it hangs on now.
    pub on: String,
    /// The parent that it names.
    pub missing: String,
    /// How many messages stand before it again.
    pub messages_brought_back: usize,
}

impl HungRecord {
    pub(super) fn as_repair(&self) -> Repaired {
        Repaired {
            line: usize::try_from(self.line).unwrap_or(usize::MAX),
            reason: "missing_parent",
            event: self.record.clone(),
            named: Some(self.missing.clone()),
            hung_on: Some(self.on.clone()),
        }
    }
}

/// One record of the live chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainRecord {
    /// Its id.
    pub id: String,
    /// Its type, as in the file.
    #[serde(rename = "type")]
    pub record_type: String,
    /// The types of a message's blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// What a system record tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
}

/// The codes of a [`Warning`].
pub(super) mod code {
    pub(crate) const LOSSY_TEXT: &str = "lossy_text";
    pub(crate) const UNKNOWN_TYPE: &str = "unknown_type";
    pub(crate) const NO_TYPE: &str = "no_type";
    pub(crate) const NO_ID: &str = "no_id";
    pub(crate) const LONG_ID: &str = "long_id";
    pub(crate) const DUPLICATE_ID: &str = "duplicate_id";
    pub(crate) const REPEATED_RECORD: &str = "repeated_record";
    pub(crate) const CONTEXT_MAY_DIFFER: &str = "context_may_differ";
    pub(crate) const CYCLE: &str = "cycle";
    pub(crate) const MISSING_PARENT: &str = "missing_parent";
    pub(crate) const PRESERVED_SEGMENT: &str = "preserved_segment";
    pub(crate) const RECORDED_LEAF_DIVERGES: &str = "recorded_leaf_diverges";
    pub(crate) const BOUNDARY_WITHOUT_SUMMARY: &str = "boundary_without_summary";
}
