//! A message's fields from one encoding's names to the other's, where they are kept as values: in a patch, in a
//! message of an unknown kind, and in the messages inside a card.

use super::metadata::{read_metadata_field, read_usage_field};
use super::part::read_parts;
use crate::event::error::EventError;
use crate::event::names::{Style, guard, unguard};
use crate::event::read::Reader;
use crate::event::value::{Fields, Value};
use crate::event::write::{At, Emit, Place};

/// All names of a message's fields: the envelope's that a message in a card or a patch could have, then the
/// message's own, then those of every kind.
pub(crate) const MESSAGE_FIELDS: &[&str] = &[
    "type",
    "id",
    "at",
    "parent",
    "parent_id",
    "role",
    "kind",
    "content",
    "provider",
    "model",
    "request_id",
    "message_id",
    "usage",
    "stop_reason",
    "metadata",
    "keep",
    "trigger",
    "tokens_before",
    "command",
    "output",
    "exit_code",
    "cancelled",
    "truncated",
    "exclude_from_context",
    "full_output_path",
    "custom_type",
    "display",
    "details",
    "from_id",
    "tool_use_id",
    "parent_tool_use_id",
    "data",
    "hook_event",
    "attachment",
    "summary",
    "tool_use_ids",
    "subtype",
    "level",
    "children",
    "members",
    "tasks",
    "title",
    "instruction",
    "status",
    "task",
    "feedback",
];

/// The same fields with the names of `to`; unknown ones keep theirs. What can't be read stays as it is.
pub(crate) fn recase(fields: Fields, from: Style, to: Style) -> Fields {
    let field = |(name, value): (String, Value)| match MESSAGE_FIELDS.iter().find(|known| from.is(known, &name)) {
        Some(known) => (to.name(known).into_owned(), recase_value(known, value, from, to)),
        None => {
            let name = unguard(name, MESSAGE_FIELDS, from);
            (guard(&name, MESSAGE_FIELDS, to).into_owned(), value)
        }
    };
    fields.into_iter().map(field).collect()
}

/// A message inside a card.
pub(crate) fn recase_card(card: Value, from: Style, to: Style) -> Value {
    match card {
        Value::Map(fields) => Value::Map(recase(fields, from, to)),
        other => other,
    }
}

fn recase_value(name: &str, value: Value, from: Style, to: Style) -> Value {
    let recased = match (name, &value) {
        (_, Value::Null) => None,
        ("content", _) => read_parts(value.clone().into(), from).and_then(|parts| to_value(&parts, to)).ok(),
        ("usage", _) => read_usage_field(&mut only("usage", &value, from)).and_then(|usage| opt(usage, to)).ok(),
        ("metadata", _) => {
            read_metadata_field(&mut only("metadata", &value, from)).and_then(|metadata| to_value(&metadata, to)).ok()
        }
        ("children" | "members" | "tasks", Value::List(cards)) => {
            Some(Value::List(cards.iter().map(|card| recase_card(card.clone(), from, to)).collect()))
        }
        _ => None,
    };
    recased.unwrap_or(value)
}

fn only(name: &'static str, value: &Value, style: Style) -> Reader<'static> {
    Reader::new(vec![(name.to_owned(), value.clone())], style)
}

fn opt<T: Emit>(value: Option<T>, style: Style) -> Result<Value, EventError> {
    value.map_or(Ok(Value::Null), |value| to_value(&value, style))
}

/// The value as which an encoding holds this.
pub(crate) fn to_value<T: Emit>(thing: &T, style: Style) -> Result<Value, EventError> {
    let at = At(thing, Place::outermost(style));
    let why = |error: &dyn std::fmt::Display| EventError::NotStorable { why: error.to_string() };
    match style {
        Style::Log => Ok(crate::event::pack::read(&rmp_serde::to_vec(&at).map_err(|error| why(&error))?)?.into()),
        Style::Json => Ok(Value::parse_json(serde_json::to_vec(&at).map_err(|error| why(&error))?)?.0),
    }
}
