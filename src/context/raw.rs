//! JSON values inside a configuration, read by this crate's own parser, so that numbers and the order of fields stay
//! whatever features another crate switches on for serde_json.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::event::Value;

/// Reads any JSON value, for `#[serde(deserialize_with)]`.
pub(super) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let (value, _) = Value::parse_json(raw.get()).map_err(serde::de::Error::custom)?;
    Ok(value)
}
