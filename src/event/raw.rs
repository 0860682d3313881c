//! A value whose texts are still those of the bytes that it was read from: what a decoder takes apart, so that each text is
//! copied once, into the field where it stays.

use std::borrow::Cow;

use super::value::{Fields, Value, found_text};

/// The fields of an object, in the order in which they came.
pub(crate) type RawFields<'a> = Vec<(Cow<'a, str>, Raw<'a>)>;

/// As [`Value`], but borrowed as far as it can be.
#[derive(Debug, Clone)]
pub(crate) enum Raw<'a> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    List(Vec<Raw<'a>>),
    Map(RawFields<'a>),
}

impl Raw<'_> {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The whole number, if it is one that fits.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::UInt(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }
}

impl From<Raw<'_>> for Value {
    fn from(raw: Raw<'_>) -> Self {
        match raw {
            Raw::Null => Self::Null,
            Raw::Bool(value) => Self::Bool(value),
            Raw::Int(value) => Self::Int(value),
            Raw::UInt(value) => Self::UInt(value),
            Raw::Float(value) => Self::Float(value),
            Raw::Number(text) => Self::Number(text.into_owned()),
            Raw::Text(text) => Self::Text(text.into_owned()),
            Raw::Bytes(bytes) => Self::Bytes(bytes.into_owned()),
            Raw::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Raw::Map(fields) => Self::Map(owned(fields)),
        }
    }
}

impl From<Value> for Raw<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Int(value) => Self::Int(value),
            Value::UInt(value) => Self::UInt(value),
            Value::Float(value) => Self::Float(value),
            Value::Number(text) => Self::Number(Cow::Owned(text)),
            Value::Text(text) => Self::Text(Cow::Owned(text)),
            Value::Bytes(bytes) => Self::Bytes(Cow::Owned(bytes)),
            Value::List(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Map(fields) => Self::Map(raw(fields)),
        }
    }
}

/// Fields that borrow nothing.
pub(crate) fn owned(fields: RawFields<'_>) -> Fields {
    fields.into_iter().map(|(name, value)| (name.into_owned(), value.into())).collect()
}

/// The same fields, to be taken apart.
pub(crate) fn raw<'a>(fields: Fields) -> RawFields<'a> {
    fields.into_iter().map(|(name, value)| (Cow::Owned(name), value.into())).collect()
}

/// What a value is, in a few words, for an error's text.
pub(crate) trait Found {
    fn found(&self) -> String;
}

impl Found for Value {
    fn found(&self) -> String {
        Value::found(self)
    }
}

impl Found for Raw<'_> {
    fn found(&self) -> String {
        match self {
            Self::Text(text) => found_text(text),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Self::List(_) => Value::List(Vec::new()).found(),
            Self::Map(_) => Value::Map(Fields::new()).found(),
            other => Value::from(other.clone()).found(),
        }
    }
}
