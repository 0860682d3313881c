//! From all skills to those of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::set::{Skill, SkillSet, SkillState};
use crate::context::tools::{Enable, WhyNot};

/// Which skills there are, and which are on.
#[derive(Debug, Clone, Default)]
pub struct SkillEngine {
    skills: Vec<Arc<Skill>>,
    places: BTreeMap<String, usize>,
    pub(super) enable: Enable,
    refused: Vec<SkillError>,
}

/// What is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// Nothing could activate it.
    #[error("a skill has an empty identifier")]
    EmptyIdentifier,
    /// Another one before it has its identifier.
    #[error("two skills have the identifier `{identifier}`; the first one counts")]
    Duplicate {
        /// The identifier.
        identifier: String,
    },
}

impl SkillEngine {
    /// An engine over these skills, with this rule. A skill that is wrong is set aside.
    #[must_use]
    pub fn new(skills: impl IntoIterator<Item = Skill>, enable: Enable) -> Self {
        let mut engine = Self { enable, ..Self::default() };
        for skill in skills {
            let identifier = skill.identifier.clone();
            if identifier.is_empty() {
                engine.refused.push(SkillError::EmptyIdentifier);
            } else if engine.places.contains_key(&identifier) {
                engine.refused.push(SkillError::Duplicate { identifier });
            } else {
                engine.places.insert(identifier, engine.skills.len());
                engine.skills.push(Arc::new(skill));
            }
        }
        engine
    }

    /// Why skills were set aside, in their order.
    #[must_use]
    pub fn refused(&self) -> &[SkillError] {
        &self.refused
    }

    pub(super) fn find(&self, identifier: &str) -> Option<&Arc<Skill>> {
        self.skills.get(*self.places.get(identifier)?)
    }

    /// The skills of a run: all that are on, in the engine's order, those named here active. To name one is to activate it
    /// explicitly; one that is off all the same, or that there is none of, is filtered with a reason.
    pub fn operation<I: AsRef<str>>(&self, active: impl IntoIterator<Item = I>) -> SkillSet {
        let named: Vec<I> = active.into_iter().collect();
        let active: BTreeSet<&str> = named.iter().map(AsRef::as_ref).collect();
        let mut set = SkillSet::default();
        for skill in &self.skills {
            let is_active = active.contains(skill.identifier.as_str());
            if self.enable.verdict(&skill.identifier, is_active).is_on {
                set.push(SkillState { skill: skill.clone(), is_active, source: None, content: None });
            }
        }
        let mut said = BTreeSet::new();
        for id in named.iter().map(AsRef::as_ref) {
            if set.get(id).is_none() && said.insert(id) {
                set.filter(id, self.why_not(id));
            }
        }
        set
    }

    /// Why this one is off although it was activated.
    pub(super) fn why_not(&self, id: &str) -> WhyNot {
        match self.find(id) {
            Some(_) => WhyNot::Disabled { by: self.enable.verdict(id, true).by },
            None => WhyNot::NotFound,
        }
    }
}
