//! At the end of the last user message: the skills that the person selected for it.

use std::collections::BTreeSet;

use super::skills::{listed, skill};
use crate::context::skills::SkillSet;
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "selected_skills";

/// The skills that the person selected for this turn. The text of one that is not active stands here; that of an active
/// one stands in the system message already. One that is off is named as such.
#[derive(Debug, Clone, Default)]
pub struct SelectedSkills(Option<String>);

impl SelectedSkills {
    /// The text about these skills, by identifier, of this set.
    #[must_use]
    pub fn of<I: AsRef<str>>(ids: impl IntoIterator<Item = I>, set: &SkillSet) -> Self {
        let mut seen = BTreeSet::new();
        let mut skills = String::new();
        for id in ids {
            if seen.insert(id.as_ref().to_owned()) {
                skills.push('\n');
                skills.push_str(&selected(id.as_ref(), set));
            }
        }
        let lead = "The user selected these skills for this message. Work by them.";
        Self((!skills.is_empty()).then(|| tagged("selected_skills", &[], &format!("{lead}{skills}"))))
    }
}

impl Source for SelectedSkills {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(self.0.clone())
    }
}

fn selected(id: &str, set: &SkillSet) -> String {
    let Some(state) = set.get(id) else {
        return tagged("skill", &[("identifier", id), ("available", "no")], "It can't be used now.");
    };
    match state.text().filter(|_| !state.is_active) {
        Some(text) => skill(state, text),
        None => listed(state),
    }
}
