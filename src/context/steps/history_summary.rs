//! What was said before the messages begin.

use serde::Deserialize;

use super::element::in_tag;
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name.
pub const NAME: &str = "history_summary";

/// The tag that it stands in.
pub const TAG: &str = "chat_history_summary";

/// A summary that the application keeps. One that the session holds is a message already.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HistorySummary {
    /// Its text.
    pub summary: String,
}

/// A step that writes the summary into the system slot.
#[must_use]
pub fn step(summary: Option<HistorySummary>) -> Inject<Option<HistorySummary>> {
    Inject::new(NAME, Slot::System, summary)
}

impl Source for HistorySummary {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(in_tag(TAG, &self.summary))
    }
}
