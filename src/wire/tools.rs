//! Tools as they are declared to a model, with schemas that a provider does not refuse.

use std::borrow::Cow;

use super::conversation::Conversation;
use super::schema::mended;
use super::text::{clean, is_blank};
use super::tool_name::legal_name;
use crate::context::Tool;
use crate::event::Value;
use crate::projection::{Diagnostic, code};

/// A tool as it goes out.
#[derive(Debug)]
pub(super) struct Declared<'o> {
    pub(super) name: Cow<'o, str>,
    pub(super) description: Option<Cow<'o, str>>,
    pub(super) schema: Cow<'o, Value>,
}

/// The tools as they go out, at most so many: each name once, schemas mended. Says what was changed, and notes which
/// names are sent in the place of others.
pub(super) fn declared<'o>(
    tools: &'o [Tool],
    count_max: usize,
    conversation: &mut Conversation<'_>,
) -> Vec<Declared<'o>> {
    let mut seen = std::collections::HashSet::new();
    let mut declared = Vec::new();
    for tool in tools {
        let name = legal_name(&tool.name);
        let why_not = match (seen.contains(&name), declared.len() < count_max) {
            (true, _) => Some("another one before it has its name"),
            (false, false) => Some("there are more tools than the provider takes"),
            (false, true) => None,
        };
        if let Some(reason) = why_not {
            say(conversation, code::TOOL_LEFT_OUT, &tool.name, reason);
            continue;
        }
        seen.insert(name.clone());
        conversation.renamed.add_tool(&name, &tool.name);
        let description = tool.description.as_deref().filter(|text| !is_blank(text)).map(clean);
        let schema = mended(&tool.schema);
        if matches!(schema, Cow::Owned(_)) {
            say(conversation, code::TOOL_SCHEMA_MENDED, &tool.name, "its schema is not one that every provider takes");
        }
        declared.push(Declared { name, description, schema });
    }
    declared
}

fn say(conversation: &mut Conversation<'_>, code: &'static str, tool: &str, reason: &str) {
    conversation.diagnostics.push(Diagnostic::new(code, [], format!("tool {tool:?}: {reason}")));
}
