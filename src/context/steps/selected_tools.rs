//! At the end of the last user message: the tools that the person selected for it.

use std::collections::BTreeSet;

use crate::context::tools::ToolSet;
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "selected_tools";

/// The tools that the person selected for this turn, with the names that the model calls them by. One that is not offered
/// is named as such, so that the model can say so.
#[derive(Debug, Clone, Default)]
pub struct SelectedTools(Option<String>);

impl SelectedTools {
    /// The text about these tools, by identifier, of this set.
    #[must_use]
    pub fn of<I: AsRef<str>>(ids: impl IntoIterator<Item = I>, set: &ToolSet) -> Self {
        let mut seen = BTreeSet::new();
        let mut tools = String::new();
        for id in ids {
            if seen.insert(id.as_ref().to_owned()) {
                tools.push('\n');
                tools.push_str(&selected(id.as_ref(), set));
            }
        }
        let lead = "The user selected these tools for this message. Use them where they help with it.";
        Self((!tools.is_empty()).then(|| tagged("selected_tools", &[], &format!("{lead}{tools}"))))
    }
}

impl Source for SelectedTools {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(self.0.clone())
    }
}

fn selected(id: &str, set: &ToolSet) -> String {
    let Some(tool) = set.get(id) else {
        return tagged("tool", &[("identifier", id), ("available", "no")], "It can't be used now.");
    };
    let mut attributes = vec![("identifier", id)];
    attributes.extend(tool.manifest.title.as_deref().map(|title| ("title", title)));
    let names = format!("Call it by: {}", tool.names().collect::<Vec<_>>().join(", "));
    let description = tool.manifest.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let lines: Vec<&str> = description.into_iter().chain([names.as_str()]).collect();
    tagged("tool", &attributes, &lines.join("\n"))
}
