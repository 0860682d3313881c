//! What a model should know of itself.

use serde::Deserialize;

use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name.
pub const NAME: &str = "model_info";

/// What is known of the model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelInfo {
    /// The last day or month that it learned of, in the application's words.
    pub knowledge_cutoff: String,
}

/// A step that writes into the system slot where the model's knowledge ends.
#[must_use]
pub fn step(info: Option<ModelInfo>) -> Inject<Option<ModelInfo>> {
    Inject::new(NAME, Slot::System, info)
}

impl Source for ModelInfo {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let cutoff = self.knowledge_cutoff.trim();
        Ok((!cutoff.is_empty()).then(|| format!("Model knowledge cutoff: {cutoff}")))
    }
}
