//! Who is in the conversation, where several agents are.

use serde::Deserialize;

use super::element::{element, in_tag, lines};
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name.
pub const NAME: &str = "group_context";

/// A group of agents, as the active one is to see it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupContext {
    /// The group's name.
    #[serde(default)]
    pub name: Option<String>,
    /// What the group is there for.
    #[serde(default)]
    pub purpose: Option<String>,
    /// The id of the agent that reads the prompt.
    pub active: String,
    /// All agents, the active one too.
    pub members: Vec<Member>,
}

/// An agent of a group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Member {
    /// Its id, by which messages name it.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is in the group, such as `supervisor`.
    #[serde(default)]
    pub role: Option<String>,
    /// What it can do.
    #[serde(default)]
    pub description: Option<String>,
}

/// A step that writes who the active agent is, and who the others are, before the first user message.
#[must_use]
pub fn step(group: Option<GroupContext>) -> Inject<Option<GroupContext>> {
    Inject::new(NAME, Slot::BeforeFirstUser, group)
}

impl Source for GroupContext {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        let active = self.members.iter().find(|member| member.id == self.active);
        let name = active.map_or(&self.active, |member| &member.name);
        let you = Some(element("you", &attributes(&self.active, name, active.and_then(|a| a.role.as_deref())), None));
        let group = self.name.as_deref().map(|name| element("group", &[("name", name)], None));
        let purpose = self.purpose.as_deref().and_then(|purpose| in_tag("purpose", purpose));
        let members = self.members.iter().map(|member| {
            let attributes = attributes(&member.id, &member.name, member.role.as_deref());
            element("member", &attributes, member.description.as_deref())
        });
        let members = in_tag("members", &lines(members));
        Ok(in_tag(NAME, &lines([you, group, purpose, members].into_iter().flatten())))
    }
}

fn attributes<'a>(id: &'a str, name: &'a str, role: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let role = role.filter(|role| !role.trim().is_empty()).map(|role| ("role", role));
    [("id", id), ("name", name)].into_iter().chain(role).collect()
}
