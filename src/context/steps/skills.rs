//! In the system slot: the text of the active skills, and a list of the rest.

use crate::context::skills::{SkillSet, SkillState};
use crate::context::{BoxError, Context, Source, tagged};

/// The step's name.
pub const NAME: &str = "skills";

/// The text of the active skills, and what the others are good for. One that is active and has no text is listed.
#[derive(Debug, Clone, Default)]
pub struct Skills(Option<String>);

impl Skills {
    /// The text about this set.
    #[must_use]
    pub fn of(set: &SkillSet) -> Self {
        let (mut active, mut rest) = (Vec::new(), Vec::new());
        for state in set.skills() {
            match state.text().filter(|_| state.is_active) {
                Some(text) => active.push(skill(state, text)),
                None => rest.push(listed(state)),
            }
        }
        let tag = |name: &str, skills: Vec<String>| (!skills.is_empty()).then(|| tagged(name, &[], &skills.join("\n")));
        let texts: Vec<String> = [tag("skills", active), tag("available_skills", rest)].into_iter().flatten().collect();
        Self((!texts.is_empty()).then(|| texts.join("\n")))
    }
}

impl Source for Skills {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        Ok(self.0.clone())
    }
}

/// A skill without its text.
pub(super) fn listed(state: &SkillState) -> String {
    skill(state, state.skill.description.as_deref().unwrap_or_default().trim())
}

/// A skill with this text.
pub(super) fn skill(state: &SkillState, text: &str) -> String {
    let attributes = [("identifier", state.skill.identifier.as_str()), ("name", state.skill.name.as_str())];
    tagged("skill", &attributes, text)
}
