//! What the person had marked on a page when they wrote a message.

use crate::context::slots::{is_user, wrap_first};
use crate::context::{BoxError, Context, Processor, code, tagged};
use crate::event::Value;
use crate::projection::{Diagnostic, ProjectedMessage};

/// The step's name.
pub const NAME: &str = "page_selections";

/// The field of a recorded message's `metadata.extra` that holds the selections: a list of objects with `text` and, if
/// known, `title` and `url`.
pub const FIELD: &str = "pageSelections";

/// Writes into each user message of the session what was marked when it was written, from the record. So it stays the
/// same in every later request.
///
/// They stand first in the wrapper, before what holds for the last message only, since they do not change.
#[derive(Debug, Clone, Copy, Default)]
pub struct PageSelections;

impl Processor for PageSelections {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        for message in context.messages.iter_mut().filter(|message| is_user(message)) {
            let Some(found) = tags(message) else { continue };
            let ids = message.source_message_ids.clone();
            if found.left_out > 0 {
                let reason = format!("{} of its `{FIELD}` have no text", found.left_out);
                context.diagnostics.push(Diagnostic::new(code::SELECTION_LEFT_OUT, ids.iter().copied(), reason));
            }
            if !found.tags.is_empty() {
                let reason = format!("{NAME} wrote {} into the message", found.tags.len());
                wrap_first(message, &found.tags.join("\n"));
                context.diagnostics.push(Diagnostic::new(code::INJECTED, ids, reason));
            }
        }
        Ok(())
    }
}

struct Found {
    tags: Vec<String>,
    left_out: usize,
}

/// The selections of a message as text; none if it has none.
fn tags(message: &ProjectedMessage) -> Option<Found> {
    let field = message.recorded()?.metadata.extra.as_ref()?.get(FIELD)?;
    let Some(items) = field.as_list() else { return Some(Found { tags: Vec::new(), left_out: 1 }) };
    let tags: Vec<String> = items.iter().filter_map(tag).collect();
    Some(Found { left_out: items.len() - tags.len(), tags })
}

fn tag(selection: &Value) -> Option<String> {
    let field = |name: &'static str| Some((name, selection.get(name)?.as_text()?));
    let (_, text) = field("text").filter(|(_, text)| !text.trim().is_empty())?;
    let attributes: Vec<(&str, &str)> = ["title", "url"].into_iter().filter_map(field).collect();
    Some(tagged("page_selection", &attributes, text))
}
