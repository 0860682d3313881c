//! What the agent is working towards.

use serde::Deserialize;

use super::element::{in_tag, lines};
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name, and the tag that the plan stands in.
pub const NAME: &str = "plan";

/// A plan.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// What is to be reached.
    pub goal: String,
    /// What has to be known for that.
    #[serde(default)]
    pub background: Option<String>,
    /// It is reached: the model is told nothing more of it.
    #[serde(default)]
    pub finished: bool,
}

/// A step that writes a plan, unless it is finished, before the first user message.
#[must_use]
pub fn step(plan: Option<Plan>) -> Inject<Option<Plan>> {
    Inject::new(NAME, Slot::BeforeFirstUser, plan)
}

impl Source for Plan {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        if self.finished {
            return Ok(None);
        }
        let background = self.background.as_deref().and_then(|text| in_tag("background", text));
        Ok(in_tag(NAME, &lines(in_tag("goal", &self.goal).into_iter().chain(background))))
    }
}
