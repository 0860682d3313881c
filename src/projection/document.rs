//! The JSON of a view's messages: names in camelCase, fields in one order.

use serde::{Serialize, Serializer};

use crate::event::{Uuid, Value};

/// The JSON text of a value, without spaces. Fields keep their order and numbers their text.
#[must_use]
pub(crate) fn to_json(value: &Value) -> String {
    serde_json::to_string(value).expect("a value has text for keys, so it has a JSON form")
}

/// Ids as hyphenated lower-case text.
pub(super) fn ids<S: Serializer>(ids: &[Uuid], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(ids.iter().map(|id| id.hyphenated().to_string()))
}

/// An id, if there is one, as hyphenated lower-case text.
#[expect(clippy::ref_option, reason = "serde hands on a reference")]
pub(super) fn id<S: Serializer>(id: &Option<Uuid>, serializer: S) -> Result<S::Ok, S::Error> {
    id.map(|id| id.hyphenated().to_string()).serialize(serializer)
}
