//! What was said in other conversations that the person refers to.

use std::collections::HashSet;
use std::sync::Arc;

use crate::context::slots::{Slot, write};
use crate::context::topics::{TopicReference, TopicSource, topic_references};
use crate::context::words::{is_input, words};
use crate::context::{BoxError, Context, Processor, code, tagged};
use crate::event::Role;
use crate::projection::{Diagnostic, soft_cut};

/// The step's name.
pub const NAME: &str = "topic_references";

/// So many messages stand for a conversation without a summary.
pub const MESSAGES: usize = 5;

/// Most references that are followed: the last ones.
pub const REFERENCES_MAX: usize = 16;

/// Most characters of each of them.
pub const MESSAGE_CHARS_MAX: usize = 300;

/// Writes what the person's references lead to at the end of the last user message: the summary of the other
/// conversation, else its last five messages of user and model, cut to 300 characters each. A reference that leads to
/// neither is left out, and so is one whose source fails.
#[derive(Debug, Clone, Default)]
pub struct TopicReferences {
    source: Option<Arc<dyn TopicSource>>,
}

impl TopicReferences {
    /// A step that looks here; none: it does nothing.
    #[must_use]
    pub fn new(source: Option<Arc<dyn TopicSource>>) -> Self {
        Self { source }
    }
}

impl Processor for TopicReferences {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(source) = &self.source else { return Ok(()) };
        let texts = context.messages.iter().filter(|message| is_input(message)).flat_map(words);
        let mut seen = HashSet::new();
        let found = texts.flat_map(topic_references).filter(|reference| seen.insert(reference.id.clone()));
        let mut found: Vec<TopicReference> = found.collect();
        let too_many = found.len().saturating_sub(REFERENCES_MAX);
        if too_many > 0 {
            let reason = format!("the oldest {too_many} references are left out, beyond the last {REFERENCES_MAX}");
            context.say(Diagnostic::new(code::TOPIC_LEFT_OUT, [], reason));
            found.drain(..too_many);
        }
        let mut tags = Vec::new();
        for reference in found {
            match told(&**source, &reference) {
                Ok(tag) => tags.push(tag),
                Err(why) => {
                    let reason = format!("the topic {:?} is left out: {why}", reference.id);
                    context.say(Diagnostic::new(code::TOPIC_LEFT_OUT, [], reason));
                }
            }
        }
        if !tags.is_empty() {
            write(&mut context.messages, Slot::LastUser, &tags.join("\n"));
            let reason = format!("{NAME} wrote what {} references lead to", tags.len());
            context.say(Diagnostic::new(code::INJECTED, [], reason));
        }
        Ok(())
    }
}

/// What the model is to read of a conversation, or why there is nothing.
fn told(source: &dyn TopicSource, reference: &TopicReference) -> Result<String, String> {
    let failed = |error: BoxError| format!("it could not be read: {error}");
    let summary = source.summary(&reference.id).map_err(failed)?.filter(|summary| !summary.trim().is_empty());
    let (what, text) = match summary {
        Some(summary) => ("summary", summary),
        None => {
            let messages = source.last_messages(&reference.id, MESSAGES).map_err(failed)?;
            let said = messages.iter().filter(|message| !message.text.trim().is_empty());
            let said = said.filter(|message| matches!(message.role, Role::User | Role::Assistant));
            let lines: Vec<String> = said.map(|message| line(message.role, message.text.trim())).collect();
            ("last messages", lines[lines.len().saturating_sub(MESSAGES)..].join("\n"))
        }
    };
    if text.is_empty() {
        return Err("it is not there, or nothing was said in it".to_owned());
    }
    let name = reference.name.as_deref().map(|name| ("name", name));
    let attributes: Vec<(&str, &str)> =
        [("id", reference.id.as_str())].into_iter().chain(name).chain([("content", what)]).collect();
    Ok(tagged("referred_topic", &attributes, &text))
}

fn line(role: Role, text: &str) -> String {
    match soft_cut(text, MESSAGE_CHARS_MAX) {
        Some((head, _)) => format!("{}: {head}...", role.name()),
        None => format!("{}: {text}", role.name()),
    }
}
