//! What a step of a run changes about its skills.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::engine::SkillEngine;
use super::set::{SkillSet, SkillState};
use crate::context::tools::{ALL, ToolSource, WhyNot};

/// A skill is activated in the middle of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillActivation {
    /// The skill's identifier.
    pub id: String,
    /// What activated it, where that is known: [`ToolSource::Discovery`] for the model, [`ToolSource::Mention`] for a person.
    #[serde(default)]
    pub source: Option<ToolSource>,
    /// What the model reads in the place of the skill's own text.
    #[serde(default)]
    pub content: Option<String>,
}

/// What one step activates and turns off; what it turns off is off, whatever activates it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillDelta {
    /// Activated from this step on: the caller hands them in again, as accumulated, in the steps that follow.
    pub activate: Vec<SkillActivation>,
    /// Turned off in this step, by identifier, so that the model is not even told of them; [`ALL`]: no skills at all.
    pub deactivate: BTreeSet<String>,
}

impl SkillActivation {
    /// Activates this skill, with its own text.
    #[must_use]
    pub fn new(id: impl Into<String>, source: ToolSource) -> Self {
        Self { id: id.into(), source: Some(source), content: None }
    }

    /// The same with another text.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }
}

impl SkillDelta {
    fn turns_off(&self, id: &str) -> bool {
        self.deactivate.contains(ALL) || self.deactivate.contains(id)
    }
}

impl SkillEngine {
    /// The skills of one call: those of the run, less what this step turns off; active is what was active in the run, what
    /// earlier steps activated, and what this one activates. Of several texts that activations bring the last counts.
    pub fn step(&self, operation: &SkillSet, accumulated: &[SkillActivation], delta: &SkillDelta) -> SkillSet {
        let mut set = SkillSet::default();
        let mut said = BTreeSet::new();
        for state in operation.skills() {
            let id = &state.skill.identifier;
            match delta.turns_off(id) {
                true => {
                    said.insert(id.as_str());
                    set.filter(id, WhyNot::Deactivated);
                }
                false => set.push(state.clone()),
            }
        }
        for activation in accumulated.iter().chain(&delta.activate) {
            let id = activation.id.as_str();
            if set.get(id).is_none() {
                match self.find(id).filter(|_| !delta.turns_off(id) && self.enable.verdict(id, true).is_on) {
                    Some(skill) => {
                        let skill = skill.clone();
                        set.push(SkillState { skill, is_active: true, source: None, content: None });
                    }
                    None if said.insert(id) => {
                        set.filter(id, if delta.turns_off(id) { WhyNot::Deactivated } else { self.why_not(id) });
                    }
                    None => {}
                }
            }
            if let Some(state) = set.get_mut(id) {
                state.is_active = true;
                state.source = state.source.take().or_else(|| activation.source.clone());
                state.content = activation.content.clone().or_else(|| state.content.take());
            }
        }
        for filtered in operation.filtered() {
            if set.get(&filtered.id).is_none() && said.insert(&filtered.id) {
                set.filter(&filtered.id, filtered.why.clone());
            }
        }
        set
    }
}
