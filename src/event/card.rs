//! The messages inside a card: a group's children, a council's members, tasks.
//!
//! A card holds them as values with the log's names, since they are no events of the session: they have no parent,
//! and an id of any text or none.

use super::error::EventError;
use super::message::Message;
use super::names::{Style, guard};
use super::read::Reader;
use super::shape::{MESSAGE_FIELDS as KNOWN, read_message, to_value};
use super::value::{Fields, Value};

/// A message inside a card.
#[derive(Debug, Clone, PartialEq)]
pub struct CardMessage {
    /// Its id, where it has one.
    pub id: Option<String>,
    /// When it happened, µs since the epoch, where that is known.
    pub at: Option<i64>,
    /// The message.
    pub message: Message,
}

impl CardMessage {
    /// Reads one item of a card.
    ///
    /// # Errors
    /// [`EventError::Field`] if it is no message, or one of a kind that this version does not know.
    pub fn read(item: &Value) -> Result<Self, EventError> {
        let mut fields = Reader::of(item.clone(), Style::Log)?;
        fields.take("type");
        fields.take("parent_id");
        let id = fields.text("id")?;
        let at = fields.int("at")?;
        match read_message(&mut fields)? {
            Some(mut message) => {
                fields.also_known(KNOWN);
                message.extra = fields.rest();
                Ok(Self { id, at, message })
            }
            None => Err(EventError::Field {
                field: "kind".to_owned(),
                expected: "a role and a kind of message that this version knows",
                found: "another one".to_owned(),
            }),
        }
    }

    /// The item as a card holds it.
    ///
    /// # Errors
    /// As [`encode`](super::encode).
    pub fn to_item(&self) -> Result<Value, EventError> {
        let mut fields = vec![("type".to_owned(), Value::Text("message".to_owned()))];
        fields.extend(self.id.iter().map(|id| ("id".to_owned(), Value::Text(id.clone()))));
        fields.extend(self.at.map(|at| ("at".to_owned(), Value::Int(at))));
        let message = Message { extra: Fields::new(), ..self.message.clone() };
        if let Value::Map(message) = to_value(&message, Style::Log)? {
            fields.extend(message);
        }
        let guarded = |(name, value): &(String, Value)| (guard(name, KNOWN, Style::Log).into_owned(), value.clone());
        fields.extend(self.message.extra.iter().map(guarded));
        Ok(Value::Map(fields))
    }
}
