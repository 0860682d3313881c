//! What an import did, for people and for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::events::LineError;
use crate::event::{Lossy, Uuid};
use crate::session::{MetaKept, Repair};

/// What an import did. Nothing is left out of a session in silence: each record that was read is written, known
/// already, or named here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct ImportReport {
    /// Records that were read; a compaction is one.
    pub read: usize,
    /// Records that were written.
    pub written: usize,
    /// Records that the session had already, the same in all that they say.
    pub known: usize,
    /// Those of them that say more than the session still holds: that was taken out of it for good, and stays out.
    pub erased: usize,
    /// Records whose id other content had already used: each got an id of its own.
    pub renamed: Vec<Renamed>,
    /// Parents that were not there, and results that came late.
    pub repairs: Vec<Repaired>,
    /// Ids that a change, a head or a compaction names and no earlier record has.
    pub missing: Vec<Missing>,
    /// Records that could not be written.
    pub refused: Vec<Refused>,
    /// Lines that could not be read as they stand.
    pub bad_lines: Vec<BadLine>,
    /// The ids that the events named above had in the file, where those are other ids.
    pub original_ids: BTreeMap<String, String>,
    /// Records that say no time: each has that of the one before it, or where there is none, that of the import.
    pub undated: usize,
    /// Half surrogates that were replaced in texts.
    pub replaced_surrogates: usize,
    /// Runs of bytes that are no UTF-8 and were replaced in texts.
    pub replaced_bytes: usize,
    /// The session had gone on by itself: its leaf stayed, and what came is another branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaf_kept: Option<LeafKept>,
    /// Messages that came after what goes on from them, and stand beside it (see [`Import::came_late`](crate::session::Import::came_late)).
    #[serde(skip_serializing_if = "is_none")]
    pub came_late: usize,
    /// Changes that were made once more, since what they had changed came late (see
    /// [`Import::change_again`](crate::session::Import::change_again)).
    #[serde(skip_serializing_if = "is_none")]
    pub changed_again: usize,
    /// What is said of the session here, and otherwise in the file: it stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meta_kept: Vec<MetaKept>,
    /// Messages of the session now, of all branches, as [`Counts`](crate::session::Counts) counts them.
    #[serde(skip)]
    pub messages: u64,
}

/// A number that says nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// A leaf that an import did not move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeafKept {
    /// The leaf, as it was before; none: the session stands before its first message.
    pub leaf: Option<Uuid>,
    /// The end of what was imported.
    pub imported: Uuid,
}

impl ImportReport {
    /// The events that repairs and renamings name.
    pub(super) fn named_events(&self) -> impl Iterator<Item = &str> {
        let repaired = self.repairs.iter().flat_map(|repair| [Some(&repair.event), repair.hung_on.as_ref()]);
        let renamed = self.renamed.iter().map(|renamed| Some(&renamed.event));
        repaired.chain(renamed).flatten().map(String::as_str)
    }
}

/// A record that got an id of its own, since other content had used its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Renamed {
    /// The record's line.
    pub line: usize,
    /// The id in the file.
    pub id: String,
    /// The event's id.
    pub event: String,
    /// The record is the n-th of that id with content of its own.
    pub nth: u32,
}

/// A record that hangs elsewhere than where it named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repaired {
    /// The record's line.
    pub line: usize,
    /// What was wrong: `missing_parent`, or `late_result`.
    pub reason: &'static str,
    /// The event.
    pub event: String,
    /// The parent that it named, as in the file.
    pub named: Option<String>,
    /// What it hangs on; none: it is a root.
    pub hung_on: Option<String>,
}

/// An id that a record names and that no earlier record has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// The record's line.
    pub line: usize,
    /// The field that names it.
    pub field: &'static str,
    /// The id, as in the file.
    pub id: String,
}

/// A record that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// The record's line.
    pub line: usize,
    /// Its id in the file.
    pub id: Option<String>,
    /// Why.
    pub why: String,
}

/// A line that could not be read as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BadLine {
    /// The line's number, from 1.
    pub line: usize,
    /// Where the trouble begins, in bytes from the start of the input.
    pub offset: u64,
    /// The field that is wrong, where the line is JSON.
    pub field: Option<String>,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
    /// How many whole records of the line were read all the same.
    pub recovered: usize,
}

impl From<LineError> for BadLine {
    fn from(error: LineError) -> Self {
        let LineError { line, offset, field, expected, found, recovered, raw: _ } = error;
        Self { line, offset, field, expected, found, recovered }
    }
}

impl ImportReport {
    /// Whether everything was taken as it stands.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let Self { read: _, written: _, known: _, renamed, repairs, missing, refused, bad_lines, .. } = self;
        let lists = [renamed.len(), repairs.len(), missing.len(), refused.len(), bad_lines.len()];
        lists.iter().sum::<usize>() + self.replaced_surrogates + self.replaced_bytes == 0
    }

    pub(super) fn replaced(&mut self, lossy: Lossy) {
        self.replaced_surrogates += lossy.surrogates;
        self.replaced_bytes += lossy.bad_utf8;
    }

    pub(super) fn repaired(&mut self, line: usize, repair: Repair, named_in_file: Option<&str>) {
        let (reason, event, named, hung_on) = match repair {
            Repair::MissingParent { event, named, hung_on } => ("missing_parent", event, Some(named), hung_on),
            Repair::LateResult { event, hung_on } => ("late_result", event, None, hung_on),
        };
        self.repairs.push(Repaired {
            line,
            reason,
            event: event.to_string(),
            named: named_in_file.map(str::to_owned).or_else(|| named.map(|id| id.to_string())),
            hung_on: hung_on.map(|id| id.to_string()),
        });
    }
}
