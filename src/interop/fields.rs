//! The fields of an object: looked at, and set in their places.

use crate::event::{Fields, Value};

/// The field of this name.
pub(super) fn field<'a>(fields: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Sets a field, in its old place if it is there.
pub(super) fn put(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    match fields.iter_mut().find(|(key, _)| key == name) {
        Some((_, old)) => *old = value.into(),
        None => fields.push((name.to_owned(), value.into())),
    }
}

/// Sets a field if it is not there.
pub(super) fn put_new(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    if field(fields, name).is_none() {
        fields.push((name.to_owned(), value.into()));
    }
}
