//! Files and knowledge bases that belong to the agent.

use serde::Deserialize;

use super::element::{element, in_tag, lines};
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name.
pub const NAME: &str = "knowledge";

/// The tag that all of it stands in.
pub const TAG: &str = "agent_knowledge";

/// What the agent can look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Knowledge {
    /// Files, with their contents.
    pub files: Vec<KnowledgeFile>,
    /// Knowledge bases that a tool can search; the prompt only names them.
    pub bases: Vec<KnowledgeBase>,
}

/// A file of the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeFile {
    /// Its id, where a tool takes one.
    #[serde(default)]
    pub id: Option<String>,
    /// Its name.
    pub name: String,
    /// Its text; none: the file is named only.
    #[serde(default)]
    pub text: Option<String>,
}

/// A knowledge base of the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgeBase {
    /// Its id, which the tool takes.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What is in it.
    #[serde(default)]
    pub description: Option<String>,
}

/// A step that writes files and knowledge bases before the first user message.
#[must_use]
pub fn step(knowledge: Option<Knowledge>) -> Inject<Option<Knowledge>> {
    Inject::new(NAME, Slot::BeforeFirstUser, knowledge)
}

impl Source for Knowledge {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let files = self.files.iter().map(|file| {
            let id = file.id.as_deref().map(|id| ("id", id));
            let attributes: Vec<(&str, &str)> = id.into_iter().chain([("name", file.name.as_str())]).collect();
            element("file", &attributes, file.text.as_deref())
        });
        let bases = self.bases.iter().map(|base| {
            let attributes = [("id", base.id.as_str()), ("name", base.name.as_str())];
            element("knowledge_base", &attributes, base.description.as_deref())
        });
        Ok(in_tag(TAG, &lines(files.chain(bases))))
    }
}
