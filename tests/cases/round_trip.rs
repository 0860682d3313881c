//! A message comes back as it was told.

use serde_json::Value as Json;
use seslog::event::{Body, to_json};
use seslog::interop::IncomingBody;

use super::draft::record;
use super::look::Look;

/// Checks that the stored message equals the one that was told, and that nothing that was told is missing in it.
pub fn check(look: &Look, word: &str, told: &Json) {
    let event = look.message(word).unwrap_or_else(|| panic!("there is no message {word}"));
    let IncomingBody::Message(message) = record(&told.to_string()).body else { panic!("{word} is no message") };
    assert_eq!(Body::Message(message), event.body, "{word}");
    // The reader of the told event could have lost the same thing, so its text counts as well.
    let stored: Json = serde_json::from_str(&to_json(event)).unwrap();
    for (name, value) in told.as_object().unwrap() {
        if !matches!(name.as_str(), "id" | "parentId" | "at") {
            covers(&format!("{word}.{name}"), value, stored.get(name));
        }
    }
}

/// Checks that all of `told` is in `stored`. What means the same as not being said may be left out.
fn covers(place: &str, told: &Json, stored: Option<&Json>) {
    if stored.is_none() && (told.is_null() || *told == Json::Bool(false)) {
        return;
    }
    let stored = stored.unwrap_or_else(|| panic!("{place} is lost: {told}"));
    match (told, stored) {
        (Json::Object(told), Json::Object(stored)) => {
            for (name, value) in told {
                covers(&format!("{place}.{name}"), value, stored.get(name));
            }
        }
        (Json::Array(told), Json::Array(stored)) => {
            assert_eq!(told.len(), stored.len(), "{place}");
            for (index, (told, stored)) in told.iter().zip(stored).enumerate() {
                covers(&format!("{place}[{index}]"), told, Some(stored));
            }
        }
        // A text as content is one part of text.
        (Json::String(_), Json::Array(parts)) if parts.len() == 1 => covers(place, told, parts[0].get("text")),
        (told, stored) => assert_eq!(told, stored, "{place}"),
    }
}
