//! What a caller can choose about a projection.

use std::collections::BTreeSet;

use super::export::ExportOptions;

/// Choices of a view. Begin with the default and set what differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The agent that reads the model's view: reminders that name another agent are left out. None: all are shown.
    pub active_agent: Option<String>,
    /// The provider that the model's view is for: reasoning that another one made is left out of it. None: it stays,
    /// and the wire leaves out what the request's provider does not take.
    pub provider: Option<String>,
    /// The model that the model's view is for, as [`Options::provider`].
    pub model: Option<String>,
    /// The model sees its earlier reasoning. Default true.
    pub include_reasoning: bool,
    /// The model sees what tools gave back. If not, each result becomes the stub of a cleared one, so that every
    /// call stays answered. Default true.
    pub include_tool_results: bool,
    /// Results of tools longer than this are cut, in characters (Unicode scalar values); none, the default: never. Those
    /// that a compaction kept from before its boundary become a stub.
    pub tool_result_soft_limit_chars: Option<usize>,
    /// The model's view begins at the latest boundary of the chain. If not, it begins as far back as the state does,
    /// and no boundary or summary is shown; a state that is not complete holds nothing from before its boundary, so
    /// there it begins with it all the same. Default true.
    pub apply_compact_boundary: bool,
    /// The model sees the runtime's reminders. Default true.
    pub runtime_reminders: bool,
    /// The media types that the model can take, such as `image/png`, `image/*` or `application/pdf`. Any other picture
    /// or file becomes a note in its place. None: all; the wire leaves out what the provider does not take.
    pub media: Option<BTreeSet<String>>,
    /// The tools that exist. A call of any other, and its result, become text, so that the model does not call it
    /// again. None: all.
    pub tools: Option<BTreeSet<String>>,
    /// What an export shows.
    pub export: ExportOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            active_agent: None,
            provider: None,
            model: None,
            include_reasoning: true,
            include_tool_results: true,
            tool_result_soft_limit_chars: None,
            apply_compact_boundary: true,
            runtime_reminders: true,
            media: None,
            tools: None,
            export: ExportOptions::default(),
        }
    }
}

impl Options {
    /// Whether the model can take this media type.
    pub(super) fn takes_media(&self, media_type: &str) -> bool {
        self.media.as_ref().is_none_or(|types| holds_media_type(types, media_type))
    }

    /// Whether there is a tool of this name.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.contains(name))
    }
}

/// Whether this type, or all of its kind (`image/*`), is among those.
pub(crate) fn holds_media_type(types: &BTreeSet<String>, media_type: &str) -> bool {
    let all_of_kind = media_type.split_once('/').map(|(kind, _)| format!("{kind}/*"));
    types.contains(media_type) || all_of_kind.is_some_and(|all| types.contains(&all))
}
