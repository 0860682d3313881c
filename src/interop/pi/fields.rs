//! Taking fields out of an object one by one, so that what nobody asked for is left.

use crate::event::{Fields, Value};
use crate::interop::fields::field;

/// Takes the field of this name out.
pub(super) fn take(fields: &mut Fields, name: &str) -> Option<Value> {
    let at = fields.iter().position(|(key, _)| key == name)?;
    Some(fields.remove(at).1)
}

/// Takes a text out; anything else stays.
pub(super) fn take_text(fields: &mut Fields, name: &str) -> Option<String> {
    match take_if(fields, name, |value| value.as_text().is_some())? {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// Takes yes or no out; anything else stays.
pub(super) fn take_flag(fields: &mut Fields, name: &str) -> Option<bool> {
    take_if(fields, name, |value| value.as_bool().is_some())?.as_bool()
}

/// Takes a whole number out; anything else stays.
pub(super) fn take_int(fields: &mut Fields, name: &str) -> Option<i64> {
    take_if(fields, name, |value| value.as_i64().is_some())?.as_i64()
}

/// Takes a count out; anything else stays.
pub(super) fn take_count(fields: &mut Fields, name: &str) -> Option<u64> {
    let value = take_if(fields, name, |value| value.as_i64().is_some_and(|value| value >= 0))?;
    value.as_i64().and_then(|value| u64::try_from(value).ok())
}

/// Takes the field of this name out if it is so.
pub(super) fn take_if(fields: &mut Fields, name: &str, is_so: impl FnOnce(&Value) -> bool) -> Option<Value> {
    if field(fields, name).is_some_and(is_so) { take(fields, name) } else { None }
}
