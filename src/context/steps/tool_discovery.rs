//! Before the first user message: the tools that could be activated.

use std::sync::Arc;

use crate::context::tools::Manifest;
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "tool_discovery";

/// A catalogue of tools that are not offered, and that an activation turns on.
///
/// Made of what can be activated at the start of a run, not of what is left in this step, it stays the same while tools
/// are activated, and so does the beginning of the request.
#[derive(Debug, Clone, Default)]
pub struct ToolDiscovery(Option<String>);

impl ToolDiscovery {
    /// The catalogue of these manifests: those of
    /// [`ToolEngine::activatable`](crate::context::tools::ToolEngine::activatable).
    #[must_use]
    pub fn of<'m>(activatable: impl IntoIterator<Item = &'m Arc<Manifest>>) -> Self {
        let tools: String = activatable.into_iter().map(|manifest| format!("\n{}", entry(manifest))).collect();
        let lead = "These tools can be activated. Until then they can't be called.";
        Self((!tools.is_empty()).then(|| tagged("available_tools", &[], &format!("{lead}{tools}"))))
    }
}

impl Source for ToolDiscovery {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(self.0.clone())
    }
}

fn entry(manifest: &Manifest) -> String {
    let mut attributes = vec![("identifier", manifest.identifier.as_str())];
    attributes.extend(manifest.title.as_deref().map(|title| ("title", title)));
    tagged("tool", &attributes, manifest.description.as_deref().unwrap_or_default().trim())
}
