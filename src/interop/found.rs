//! What every reading of a foreign file tells of: lines that are no records, calls without results, odd things.

use serde::Serialize;

/// A line that is not one JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FaultyLine {
    /// Counted from 1.
    pub line: u64,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes without the line's end.
    pub len: u64,
    /// What is wrong, in a few words.
    pub cause: String,
    /// How many whole objects were found on it.
    pub salvaged: usize,
}

/// Calls and results in the context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCalls {
    /// Calls that have a result.
    pub paired: usize,
    /// Ids of calls without one.
    pub unpaired: Vec<String>,
    /// Ids in results that answer no call.
    pub orphan_results: Vec<String>,
}

/// Something odd in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// What, as one word that stays the same from version to version.
    pub code: &'static str,
    /// Where, counted from 1; 0: the whole file.
    pub line: u64,
    /// In words.
    pub text: String,
}

/// What a reading cost, all passes together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Bytes looked at: the file's, and those of bad lines once more for each look.
    pub bytes: u64,
    /// Records looked at.
    pub steps: u64,
}
