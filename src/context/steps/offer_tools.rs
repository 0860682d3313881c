//! The tools of the call.

use serde::Serialize;

use crate::context::skills::SkillSet;
use crate::context::tools::{Filtered, ToolSet};
use crate::context::{BoxError, Context, Entry, Processor, Tool, code};
use crate::projection::Diagnostic;

/// The step's name.
pub const NAME: &str = "offer_tools";

/// Offers tools to the model. It runs early, so that any later step may take some away.
#[derive(Debug, Clone, Default)]
pub struct OfferTools {
    tools: Vec<Tool>,
    filtered: Vec<Filtered>,
    skills: Vec<Filtered>,
    refused: Vec<String>,
}

/// What was asked for and is not offered, each with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct NotOffered(pub Vec<Filtered>);

impl Entry for NotOffered {
    const NAME: &'static str = "not_offered";
}

/// Skills that were asked for and are not there, each with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SkillsNotOffered(pub Vec<Filtered>);

impl Entry for SkillsNotOffered {
    const NAME: &'static str = "skills_not_offered";
}

impl OfferTools {
    /// Offers these tools, and those of the set behind them; none at all where the set says that the call has none
    /// ([`ToolSet::why_none`]).
    #[must_use]
    pub fn new(tools: &[Tool], set: &ToolSet) -> Self {
        let Some(why) = set.why_none() else {
            return Self { tools: [tools, set.tools()].concat(), filtered: set.filtered().to_vec(), ..Self::default() };
        };
        let plain = tools.iter().map(|tool| Filtered { id: tool.name.clone(), why: why.clone() });
        Self { filtered: plain.chain(set.filtered().iter().cloned()).collect(), ..Self::default() }
    }

    /// The same, which says too which skills of this set were asked for and are not there.
    #[must_use]
    pub fn with_skills(self, set: &SkillSet) -> Self {
        Self { skills: set.filtered().to_vec(), ..self }
    }

    /// The same, which says too what of a configuration could not be used.
    #[must_use]
    pub fn with_refused(self, refused: impl IntoIterator<Item = String>) -> Self {
        Self { refused: refused.into_iter().collect(), ..self }
    }
}

impl Processor for OfferTools {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        context.tools.extend_from_slice(&self.tools);
        if !self.filtered.is_empty() {
            context.metadata.insert(NotOffered(self.filtered.clone()));
        }
        if !self.skills.is_empty() {
            context.metadata.insert(SkillsNotOffered(self.skills.clone()));
        }
        for why in &self.refused {
            context.say(Diagnostic::new(code::CONFIGURATION_REFUSED, [], why.clone()));
        }
        Ok(())
    }
}
