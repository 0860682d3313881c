//! Writes the documents of one position.

use super::{LoadedDocuments, Position};
use crate::context::slots::{self, Slot};
use crate::context::{BoxError, Context, Processor, code};
use crate::projection::Diagnostic;

/// Writes the documents that [`Documents`](super::Documents) loaded for one position, sorted, each in a tag.
#[derive(Debug, Clone, Copy)]
pub struct DocumentsAt {
    position: Position,
}

impl DocumentsAt {
    /// A step for this position; for `manual` and `on-demand` one that does nothing.
    #[must_use]
    pub fn new(position: Position) -> Self {
        Self { position }
    }
}

impl Processor for DocumentsAt {
    fn name(&self) -> &str {
        match self.position {
            Position::BeforeSystem => "documents_before_system",
            Position::SystemAppend => "documents_system_append",
            Position::SystemReplace => "documents_system_replace",
            Position::BeforeFirstUser => "documents_before_first_user",
            Position::AfterFirstUser => "documents_after_first_user",
            Position::ContextEnd => "documents_context_end",
            Position::Manual => "documents_manual",
            Position::OnDemand => "documents_on_demand",
        }
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(documents) = context.metadata.get::<LoadedDocuments>() else { return Ok(()) };
        let loaded = documents.loaded.iter().filter(|document| document.position == self.position);
        let tags: Vec<&str> = loaded.map(|document| document.tag.as_str()).collect();
        if tags.is_empty() {
            return Ok(());
        }
        let (count, text) = (tags.len(), tags.join("\n"));
        let messages = &mut context.messages;
        match self.position {
            Position::BeforeSystem => slots::write_before_system(messages, &text),
            Position::SystemAppend => slots::write(messages, Slot::System, &text),
            Position::SystemReplace => {
                let replaced = slots::replace_system(messages, &text);
                let reason = format!("{count} documents stand in the place of {replaced} bytes of the system slot");
                context.say(Diagnostic::new(code::SYSTEM_REPLACED, [], reason));
                return Ok(());
            }
            Position::BeforeFirstUser => slots::write(messages, Slot::BeforeFirstUser, &text),
            Position::AfterFirstUser => match messages.iter_mut().find(|message| slots::is_user(message)) {
                Some(first) => slots::wrap(first, &text),
                None => slots::write(messages, Slot::VirtualLastUser, &text),
            },
            Position::ContextEnd => slots::write(messages, Slot::VirtualLastUser, &text),
            Position::Manual | Position::OnDemand => return Ok(()),
        }
        let reason = format!("{} wrote {count} documents, {} bytes", self.name(), text.len());
        context.say(Diagnostic::new(code::INJECTED, [], reason));
        Ok(())
    }
}
