//! What the rules of several providers share.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::Report;

/// Where a provider's own words and signatures stand, which go back to it byte for byte.
const BYTE_FOR_BYTE: [&str; 8] = [
    "reasoning",
    "thinking",
    "redacted_thinking",
    "reasoningContent",
    "thought",
    "thoughtSignature",
    "providerOptions",
    "encrypted_content",
];

/// Looks at every text of a body that is not the provider's own. Keys are left alone: those that hold such a character
/// are the caller's, and two of them must not become one. A lone surrogate cannot stand in a parsed body: see `raw`.
pub(super) fn check_characters(value: &Json, path: &str, report: &mut Report) {
    match value {
        Json::String(text) => check_text(text, path, report),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| check_characters(item, &format!("{path}[{at}]"), report));
        }
        Json::Object(fields) => {
            let kind = value["type"].as_str().unwrap_or_default();
            if BYTE_FOR_BYTE.contains(&kind) || fields.contains_key("thought") {
                return;
            }
            for (key, item) in fields.iter().filter(|(key, _)| !BYTE_FOR_BYTE.contains(&key.as_str())) {
                check_characters(item, &format!("{path}.{key}"), report);
            }
        }
        _ => {}
    }
}

fn check_text(text: &str, path: &str, report: &mut Report) {
    let is_control = |c: &char| matches!(c, '\0'..='\x1f' | '\x7f') && !matches!(c, '\t' | '\n' | '\r');
    if let Some(found) = text.chars().find(is_control) {
        report.add("control-character", path, format!("holds U+{:04X}", u32::from(found)));
    }
}

/// Whether a text has nothing to read in it.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}

/// The text behind a key must have something to read in it, if it is there.
pub(super) fn check_blank(holder: &Json, key: &str, path: &str, report: &mut Report) {
    if holder[key].as_str().is_some_and(is_blank) {
        report.add("text-empty", &format!("{path}.{key}"), "must have something to read in it");
    }
}

/// Whether a name is made of these ASCII characters alone, and no longer than this many.
pub(super) fn is_name(text: &str, len_max: usize, others: &[u8]) -> bool {
    !text.is_empty()
        && text.len() <= len_max
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

/// Reports a text that is no such name.
pub(super) fn check_name(
    rule: &'static str,
    value: &Json,
    path: &str,
    (len_max, others): (usize, &[u8]),
    report: &mut Report,
) {
    if value.as_str().is_some_and(|text| !is_name(text, len_max, others)) {
        let others = String::from_utf8_lossy(others);
        report.add(rule, path, format!("must have 1 to {len_max} letters, digits and {others}"));
    }
}

/// The items of a list, each with its path; nothing if it is no list.
pub(super) fn each<'v>(list: &'v Json, path: &str) -> Vec<(String, &'v Json)> {
    let items = list.as_array().map_or(&[][..], Vec::as_slice);
    items.iter().enumerate().map(|(at, item)| (format!("{path}[{at}]"), item)).collect()
}

/// Whether the value behind a key is an empty list or text.
pub(super) fn is_empty(value: &Json) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_str().is_some_and(str::is_empty)
}

/// No tool may be declared twice.
pub(super) fn check_unique_names<'n>(names: impl IntoIterator<Item = (String, &'n Json)>, report: &mut Report) {
    let mut seen = HashSet::new();
    for (path, name) in names {
        if name.as_str().is_some_and(|name| !seen.insert(name)) {
            report.add("tool-name-unique", &path, format!("the tool {name} is declared twice"));
        }
    }
}

/// A request that has messages must have one at least.
pub(super) fn check_any_message(body: &Json, key: &str, report: &mut Report) {
    if body[key].as_array().is_some_and(Vec::is_empty) {
        report.add("messages-empty", &format!("$.{key}"), "must hold at least one");
    }
}

/// Arguments as text must be the JSON of an object.
pub(super) fn check_arguments(value: &Json, path: &str, report: &mut Report) {
    let Some(text) = value.as_str() else { return };
    let mut inner = Report::default();
    match super::raw::parse(text, &mut inner) {
        Some(Json::Object(fields)) => check_characters(&Json::Object(fields), path, report),
        _ => report.add("arguments-json", path, "must be the JSON text of an object"),
    }
}

/// Bytes of a base64 text without line breaks. `url_safe` takes `-` and `_` as well, and text without its padding.
pub(super) fn base64(text: &str, url_safe: bool) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let is_padded = text.len().is_multiple_of(4) && text.len() - body.len() <= 2;
    if body.is_empty() || body.len() % 4 == 1 || !(is_padded || url_safe && body.len() == text.len()) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in body.bytes() {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'-' if url_safe => 62,
            b'_' if url_safe => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(sextet)) & 0xFFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xFF) as u8);
        }
    }
    Some(bytes)
}
