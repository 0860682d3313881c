//! What the steps that put a message in other words share.

use super::cards::view_text;
use crate::context::{Context, code};
use crate::event::{Part, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage, Shared};

/// The ids of what was retold, for one diagnostic.
#[derive(Debug, Default)]
pub(super) struct Retold {
    ids: Vec<Uuid>,
}

impl Retold {
    pub(super) fn add(&mut self, message: &ProjectedMessage) {
        self.ids.extend(&message.source_message_ids);
    }

    /// Says it, if there was anything.
    pub(super) fn say(self, context: &mut Context<'_>, reason: &str) {
        if !self.ids.is_empty() {
            context.say(Diagnostic::new(code::RETOLD, self.ids, reason));
        }
    }
}

/// Puts `tag` in the place of all texts of the message, which it holds, in front of its other parts.
pub(super) fn put_in_tag(message: &mut ProjectedMessage, tag: impl FnOnce(&str) -> String) {
    let texts: Vec<&str> = message.content.iter().filter_map(|part| part.as_text()).collect();
    let tag = tag(&texts.join("\n\n"));
    message.content.retain(|part| part.as_text().is_none());
    message.content.insert(0, Part::text(tag).into());
}

/// Takes out the text that the view made of a card's own fields.
pub(super) fn without_view_text(message: &mut ProjectedMessage) -> Option<Shared<Part>> {
    view_text(message).map(|at| message.content.remove(at))
}
