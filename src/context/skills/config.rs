//! The skills of one call, as an application configures them in one place.

use serde::Deserialize;

use super::engine::SkillEngine;
use super::set::{Skill, SkillSet};
use super::step::{SkillActivation, SkillDelta};
use crate::context::tools::Enable;

/// The skills of one call: what there is, what is on, what is active, and what the steps until now changed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SkillConfig {
    /// All skills that the application knows.
    pub skills: Vec<Skill>,
    /// Which are on.
    pub enable: Enable,
    /// Those that are active from the start of the run, by identifier.
    pub active: Vec<String>,
    /// What earlier steps activated.
    pub accumulated: Vec<SkillActivation>,
    /// What this step changes.
    pub step: SkillDelta,
}

impl SkillConfig {
    /// The engine of these skills.
    #[must_use]
    pub fn engine(&self) -> SkillEngine {
        SkillEngine::new(self.skills.clone(), self.enable.clone())
    }

    /// The skills of the call.
    pub fn resolve(&self, engine: &SkillEngine) -> SkillSet {
        engine.step(&engine.operation(&self.active), &self.accumulated, &self.step)
    }
}
