//! At the end of the last user message: the tools that the person selected for it.

use std::collections::BTreeSet;

use crate::context::tools::{EnabledTool, ToolSet};
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "selected_tools";

/// The tools that the person selected for this turn, with the names that the model calls them by. One that is not offered
/// is named as such, so that the model can say so.
#[derive(Debug, Clone, Default)]
pub struct SelectedTools(Vec<Selected>);

#[derive(Debug, Clone)]
struct Selected {
    id: String,
    /// What is said of it, if it is a manifest that is on.
    text: Option<String>,
}

impl SelectedTools {
    /// The text about these tools: by identifier, of this set, or by their own name where they are offered as they are.
    #[must_use]
    pub fn of<I: AsRef<str>>(ids: impl IntoIterator<Item = I>, set: &ToolSet) -> Self {
        let mut seen = BTreeSet::new();
        let ids = ids.into_iter().map(|id| id.as_ref().to_owned()).filter(|id| seen.insert(id.clone()));
        Self(ids.map(|id| Selected { text: set.get(&id).map(|tool| on(&id, tool)), id }).collect())
    }
}

impl Source for SelectedTools {
    fn content(&self, context: &Context<'_>) -> Result<Option<String>, BoxError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut text = "The user selected these tools for this message. Use them where they help with it.".to_owned();
        for Selected { id, text: known } in &self.0 {
            let is_plain = || context.tools.iter().any(|tool| tool.name == *id);
            text.push('\n');
            text.push_str(&match known {
                Some(known) => known.clone(),
                None if is_plain() => tagged("tool", &[("identifier", id)], &format!("Call it by: {id}")),
                None => tagged("tool", &[("identifier", id), ("available", "no")], "It can't be used now."),
            });
        }
        Ok(Some(tagged("selected_tools", &[], &text)))
    }
}

/// What is said of a manifest that is on.
fn on(id: &str, tool: &EnabledTool) -> String {
    let mut attributes = vec![("identifier", id)];
    attributes.extend(tool.manifest.title.as_deref().map(|title| ("title", title)));
    let names = format!("Call it by: {}", tool.names().collect::<Vec<_>>().join(", "));
    let description = tool.manifest.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let lines: Vec<&str> = description.into_iter().chain([names.as_str()]).collect();
    tagged("tool", &attributes, &lines.join("\n"))
}
