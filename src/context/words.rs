//! What a person said, as it was recorded.

use crate::event::{Kind, Role};
use crate::projection::ProjectedMessage;

/// Whether a session recorded it as a person's own words. What the runtime put into a person's mouth is not.
pub(super) fn is_input(message: &ProjectedMessage) -> bool {
    let is_input = message.role == Role::User && matches!(*message.kind, Kind::UserInput);
    is_input && !message.metadata.synthetic && message.recorded().is_some() && !is_of_a_card(message)
}

/// Whether a card held it: then a sub-agent's own line says it, and not this session, whatever its kind.
pub(super) fn is_of_a_card(message: &ProjectedMessage) -> bool {
    message.kind.event().is_some_and(|event| event.off_chain)
}

/// The texts of such a message as they were recorded, whatever steps made of it.
pub(super) fn words(message: &ProjectedMessage) -> impl Iterator<Item = &str> {
    message.recorded().into_iter().flat_map(|message| message.content.iter().filter_map(|part| part.as_text()))
}
