//! What the model should do next, as the application sees it right now.

use serde::Deserialize;

use super::element::in_tag;
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name, and the tag that the hint stands in.
pub const NAME: &str = "action_hint";

/// A hint that may change with every request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActionHint {
    /// Its text.
    pub text: String,
}

/// A step that writes the hint at the end of all.
#[must_use]
pub fn step(hint: Option<ActionHint>) -> Inject<Option<ActionHint>> {
    Inject::new(NAME, Slot::VirtualLastUser, hint)
}

impl Source for ActionHint {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(in_tag(NAME, &self.text))
    }
}
