//! A message as a patch.

use super::message::KindFields;
use super::recase::{MESSAGE_FIELDS, to_value};
use crate::event::error::EventError;
use crate::event::message::Message;
use crate::event::names::{Style, guard};
use crate::event::value::{Fields, Value};

/// All that is said of a message beside its role, its kind and the kind's own fields, as a patch.
pub(crate) fn message_patch(mut message: Message) -> Result<Fields, EventError> {
    let extra = std::mem::take(&mut message.extra);
    let own = match to_value(&KindFields(&message.kind), Style::Log)? {
        Value::Map(own) => own,
        _ => Fields::new(),
    };
    let Value::Map(mut patch) = to_value(&message, Style::Log)? else { return Ok(Fields::new()) };
    patch.retain(|(name, _)| name != "role" && name != "kind" && !own.iter().any(|(field, _)| field == name));
    patch.extend(extra.into_iter().map(|(name, value)| (guard(&name, MESSAGE_FIELDS, Style::Log).into_owned(), value)));
    Ok(patch)
}
