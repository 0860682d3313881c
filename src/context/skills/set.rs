//! Skills, and a set of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::context::tools::{Filtered, ToolSource, WhyNot};

/// Instructions for a kind of work, which the model reads when it does that work.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// What it is activated by.
    pub identifier: String,
    /// What it is called.
    pub name: String,
    /// What it is good for, in a line or two: all that the model reads of one that is not active.
    #[serde(default)]
    pub description: Option<String>,
    /// The instructions.
    #[serde(default)]
    pub content: String,
}

/// A skill that is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillState {
    /// The skill.
    pub skill: Arc<Skill>,
    /// Whether the model reads its text.
    pub is_active: bool,
    /// What activated it, where that is known. What was known first stays.
    pub source: Option<ToolSource>,
    /// The text that an activation brought, in the place of the skill's own.
    pub content: Option<String>,
}

/// The skills of a run or of one call. It never changes once it is made.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SkillSet {
    skills: Vec<SkillState>,
    places: BTreeMap<String, usize>,
    filtered: Vec<Filtered>,
}

impl Skill {
    /// A skill without a text, to be filled in.
    #[must_use]
    pub fn new(identifier: impl Into<String>, name: impl Into<String>) -> Self {
        Self { identifier: identifier.into(), name: name.into(), description: None, content: String::new() }
    }
}

impl SkillState {
    /// What the model reads of it: the text that an activation brought, or its own; none if both are blank.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let texts = self.content.as_deref().into_iter().chain([self.skill.content.as_str()]);
        texts.into_iter().find(|text| !text.trim().is_empty())
    }
}

impl SkillSet {
    /// The skills that are on, in order.
    #[must_use]
    pub fn skills(&self) -> &[SkillState] {
        &self.skills
    }

    /// The skill of this identifier, if it is on.
    #[must_use]
    pub fn get(&self, identifier: &str) -> Option<&SkillState> {
        self.skills.get(*self.places.get(identifier)?)
    }

    /// What was asked for and is not on, each once, with its reason.
    #[must_use]
    pub fn filtered(&self) -> &[Filtered] {
        &self.filtered
    }

    pub(super) fn get_mut(&mut self, identifier: &str) -> Option<&mut SkillState> {
        self.skills.get_mut(*self.places.get(identifier)?)
    }

    pub(super) fn push(&mut self, state: SkillState) {
        self.places.insert(state.skill.identifier.clone(), self.skills.len());
        self.skills.push(state);
    }

    /// The caller sees to it that each is said once.
    pub(super) fn filter(&mut self, id: &str, why: WhyNot) {
        self.filtered.push(Filtered { id: id.to_owned(), why });
    }
}
