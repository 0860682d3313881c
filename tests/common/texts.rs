//! Texts as a body may hold them.

use serde_json::Value as Json;

pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// A text as a body may hold it.
pub fn cleaned(text: &str) -> String {
    let is_control = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    text.chars().map(|c| if is_control(c) { '\u{fffd}' } else { c }).collect()
}

/// All texts of a document, but for the names of fields.
pub fn collect_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(fields) => fields.values().for_each(|item| collect_texts(item, texts)),
        _ => {}
    }
}
