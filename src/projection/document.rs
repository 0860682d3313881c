//! A value as JSON text.

use crate::event::Value;

/// The JSON text of a value, without spaces. Fields keep their order and numbers their text.
#[must_use]
pub(crate) fn to_json(value: &Value) -> String {
    serde_json::to_string(value).expect("a value has text for keys, so it has a JSON form")
}
