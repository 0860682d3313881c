//! Compares a request body with what a case expects of it, by the case files' own words.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use seslog::event::MISSING_TOOL_RESULT;

use super::case::list;

/// The case files' word for the text that stands in for a result that never came.
pub const MISSING: &str = "$MISSING_RESULT";
const NOTE: &str = "$NOTE";
const EMPTY_OR_NOTE: &str = "$EMPTY_OR_NOTE";
const ID: &str = "$ID";

/// How texts are compared, and what the words for ids turned out to mean.
#[derive(Debug, Default)]
pub struct Comparison {
    /// A text may have more around it.
    pub contains: bool,
    pub ids: BTreeMap<String, String>,
}

impl Comparison {
    /// Where a body, or a part of one, is not what is expected; nothing if it is.
    pub fn differs(&mut self, actual: &Json, expected: &Json) -> Option<String> {
        self.at("$", &one_form(actual.clone()), &one_form(expected.clone()))
    }

    fn at(&mut self, path: &str, actual: &Json, expected: &Json) -> Option<String> {
        match expected {
            Json::String(word) if word.starts_with('$') => {
                (!self.is_meant(actual, word)).then(|| format!("{path}: {actual} is no {word}"))
            }
            Json::String(text) if self.contains && is_text(path) => {
                let found = actual.as_str().is_some_and(|actual| actual.contains(text));
                (!found).then(|| format!("{path}: {actual} does not contain {text:?}"))
            }
            Json::Object(fields) if fields.len() == 1 && fields.contains_key("$json") => {
                let json = actual.as_str().and_then(|text| serde_json::from_str::<Json>(text).ok());
                (json.as_ref() != Some(&fields["$json"])).then(|| format!("{path}: {actual} is not {expected}"))
            }
            Json::Object(fields) if fields.len() == 1 && fields.contains_key("$text") => {
                let mut leaves = Vec::new();
                collect(actual, &mut leaves);
                match (actual, leaves.as_slice()) {
                    (Json::Object(_), [leaf]) => self.at(path, leaf, &fields["$text"]),
                    _ => Some(format!("{path}: {actual} is no object with one text")),
                }
            }
            Json::Object(fields) => {
                let Json::Object(found) = actual else { return Some(format!("{path}: {actual} is no object")) };
                let more = found.keys().find(|name| !fields.contains_key(*name));
                if let Some(more) = more {
                    return Some(format!("{path}: {more} is not expected: {actual}"));
                }
                let mut fields = fields.iter();
                fields.find_map(|(name, value)| {
                    self.at(&format!("{path}.{name}"), found.get(name).unwrap_or(&Json::Null), value)
                })
            }
            Json::Array(items) => {
                let found = list(actual);
                if !actual.is_array() || found.len() != items.len() {
                    return Some(format!("{path}: {actual:#}\nexpected {expected:#}"));
                }
                let mut pairs = found.iter().zip(items).enumerate();
                pairs.find_map(|(index, (actual, item))| self.at(&format!("{path}[{index}]"), actual, item))
            }
            _ => (actual != expected).then(|| format!("{path}: {actual}, expected {expected}")),
        }
    }

    /// Whether a word of the case files can mean this.
    fn is_meant(&mut self, actual: &Json, word: &str) -> bool {
        let is_note = |value: &Json| value.as_str().is_some_and(|text| !text.trim().is_empty());
        match word {
            MISSING => actual.as_str().is_some_and(|text| match self.contains {
                true => text.contains(MISSING_TOOL_RESULT),
                false => text == MISSING_TOOL_RESULT,
            }),
            NOTE => is_note(actual),
            EMPTY_OR_NOTE => match actual {
                Json::Null => true,
                Json::String(_) => true,
                Json::Array(blocks) => blocks.iter().all(|block| block["type"] == "text" && is_note(&block["text"])),
                _ => false,
            },
            _ if word.starts_with(ID) => match actual.as_str() {
                Some(id) => self.ids.entry(word.to_owned()).or_insert_with(|| id.to_owned()) == id,
                None => false,
            },
            _ => panic!("the harness does not know the word {word}"),
        }
    }
}

/// Whether a text stands there that a person or a model reads.
fn is_text(path: &str) -> bool {
    path.ends_with(".text") || path.ends_with(".content") || path.ends_with(".output")
}

fn collect<'v>(value: &'v Json, leaves: &mut Vec<&'v Json>) {
    match value {
        Json::String(_) => leaves.push(value),
        Json::Array(items) => items.iter().for_each(|item| collect(item, leaves)),
        Json::Object(fields) => fields.values().for_each(|item| collect(item, leaves)),
        _ => {}
    }
}

/// What is written in several ways, in one: a content that is a text as a block of text, a result's flag for an error
/// always there, no content at all where there is none to read, no ids in Gemini's calls and responses, no cache marks.
fn one_form(mut value: Json) -> Json {
    match &mut value {
        Json::Array(items) => {
            items.retain(|item| item.as_object().is_none_or(|fields| !fields.keys().eq(["cachePoint"])));
            items.iter_mut().for_each(|item| *item = one_form(item.take()));
        }
        Json::Object(fields) => {
            fields.remove("cache_control");
            for (name, value) in fields.iter_mut() {
                match name.as_str() {
                    // What a tool was given is nobody's form.
                    "input" | "args" | "arguments" => continue,
                    "functionCall" | "functionResponse" => {
                        value.as_object_mut().map(|call| call.remove("id"));
                    }
                    "content" => match value.as_str() {
                        None | Some("" | EMPTY_OR_NOTE) => {}
                        Some(text) => *value = json!([{"type": "text", "text": text}]),
                    },
                    _ => {}
                }
                *value = one_form(value.take());
            }
            if fields.get("content").is_some_and(|content| content.is_null() || content == "") {
                fields.remove("content");
            }
            if fields.get("type").is_some_and(|kind| kind == "tool_result") {
                fields.entry("is_error").or_insert(Json::Bool(false));
            }
        }
        _ => {}
    }
    value
}

#[test]
fn a_comparison_sees_what_differs_and_nothing_else() {
    let compare = |actual: Json, expected: Json| Comparison::default().differs(&actual, &expected).is_none();
    let text = json!([{"type": "text", "text": "x"}]);
    assert!(compare(json!({"role": "user", "content": "x"}), json!({"role": "user", "content": text})));
    assert!(compare(json!({"role": "assistant"}), json!({"role": "assistant", "content": null})));
    assert!(!compare(json!({"role": "user", "content": "x", "more": 1}), json!({"role": "user", "content": text})));
    assert!(!compare(json!({"role": "user"}), json!({"role": "user", "content": text})));
    assert!(compare(json!({"type": "tool_result"}), json!({"type": "tool_result", "is_error": false})));
    assert!(compare(json!({"arguments": "{\"a\": 1}"}), json!({"arguments": {"$json": {"a": 1}}})));
    assert!(!compare(json!({"arguments": "{\"a\": 2}"}), json!({"arguments": {"$json": {"a": 1}}})));
    assert!(compare(json!({"response": {"output": "x"}}), json!({"response": {"$text": "x"}})));
    assert!(!compare(json!({"response": {"output": "x", "more": "y"}}), json!({"response": {"$text": "x"}})));
    assert!(compare(json!({"functionCall": {"id": "1", "args": {}}}), json!({"functionCall": {"args": {}}})));
    assert!(compare(json!(["a", "b", "a"]), json!(["$ID1", "$ID2", "$ID1"])));
    assert!(!compare(json!(["a", "b"]), json!(["$ID1", "$ID1"])));
    assert!(!compare(json!([" "]), json!(["$NOTE"])));
    assert!(compare(json!([MISSING_TOOL_RESULT]), json!([MISSING])));
    assert!(!compare(json!([format!("{MISSING_TOOL_RESULT} ")]), json!([MISSING])));
    for empty in [json!({}), json!({"content": ""}), json!({"content": "note"}), json!({"content": text})] {
        assert!(compare(empty, json!({"content": EMPTY_OR_NOTE})));
    }
    let mut wide = Comparison { contains: true, ..Comparison::default() };
    assert_eq!(wide.differs(&json!({"text": "<x>"}), &json!({"text": "x"})), None);
    assert!(wide.differs(&json!({"role": "users"}), &json!({"role": "user"})).is_some());
}
