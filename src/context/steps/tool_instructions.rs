//! In the system slot: how the tools that are offered are used.

use crate::context::tools::{EnabledTool, ToolSet, encode};
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "tool_instructions";

/// The instructions of the tools that are offered, and what each of their APIs does. A tool that is off has none.
#[derive(Debug, Clone, Default)]
pub struct ToolInstructions(Option<String>);

impl ToolInstructions {
    /// The instructions of this set.
    #[must_use]
    pub fn of(set: &ToolSet) -> Self {
        let tools: Vec<String> = set.enabled().iter().filter_map(instructions).collect();
        Self((!tools.is_empty()).then(|| tagged("tools", &[], &tools.join("\n"))))
    }
}

impl Source for ToolInstructions {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(self.0.clone())
    }
}

fn instructions(tool: &EnabledTool) -> Option<String> {
    let manifest = &tool.manifest;
    let system_role = manifest.system_role.iter().map(|text| text.trim().to_owned());
    let apis = manifest.apis.iter().filter_map(|api| {
        let description = api.description.as_deref().filter(|text| !text.trim().is_empty())?;
        let name = encode(&manifest.identifier, &api.name, manifest.kind.as_deref());
        Some(tagged("api", &[("name", &name)], description))
    });
    let text: Vec<String> = system_role.chain(apis).filter(|text| !text.is_empty()).collect();
    let mut attributes = vec![("identifier", manifest.identifier.as_str())];
    attributes.extend(manifest.title.as_deref().map(|title| ("title", title)));
    (!text.is_empty()).then(|| tagged("tool", &attributes, &text.join("\n")))
}
