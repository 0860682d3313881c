//! What a caller can choose about a projection.

use super::export::ExportOptions;

/// Choices of a view; the transcript has none. Begin with the default and set what differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The model sees its earlier reasoning.
    pub include_reasoning: bool,
    /// The model sees what tools gave back. If not, each result becomes the stub of a cleared one, so that every
    /// call stays answered.
    pub include_tool_results: bool,
    /// Results of tools longer than this are cut, in characters (Unicode scalar values); none: never. Those that a
    /// compaction kept from before its boundary become a stub.
    pub tool_result_soft_limit_chars: Option<usize>,
    /// The model sees the runtime's reminders.
    pub runtime_reminders: bool,
    /// What an export shows.
    pub export: ExportOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            include_reasoning: true,
            include_tool_results: true,
            tool_result_soft_limit_chars: None,
            runtime_reminders: true,
            export: ExportOptions::default(),
        }
    }
}
