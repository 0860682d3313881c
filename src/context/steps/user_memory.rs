//! What the application remembers of the person.

use serde::Deserialize;

use super::element::{in_tag, lines};
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source, tagged};

/// The step's name.
pub const NAME: &str = "user_memory";

/// What is remembered of the person.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UserMemory {
    /// Who the person is, in a few sentences.
    pub persona: Option<String>,
    /// The rest, in the order in which the model reads it.
    pub memories: Vec<Memory>,
}

/// Something that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Memory {
    /// Its kind, such as `preference`.
    pub kind: String,
    /// Its text.
    pub text: String,
}

/// A step that writes what is remembered before the first user message.
#[must_use]
pub fn step(memory: Option<UserMemory>) -> Inject<Option<UserMemory>> {
    Inject::new(NAME, Slot::BeforeFirstUser, memory)
}

impl Source for UserMemory {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let persona = self.persona.as_deref().and_then(|persona| in_tag("persona", persona));
        let memories = self.memories.iter().filter(|memory| !memory.text.trim().is_empty());
        let memories = memories.map(|memory| tagged("memory", &[("kind", &memory.kind)], &memory.text));
        Ok(in_tag(NAME, &lines(persona.into_iter().chain(memories))))
    }
}
