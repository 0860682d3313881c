//! Shapes of JSON: which keys an object may have, which it must have, and what stands behind each.

use serde_json::Value as Json;

use super::Report;

/// Checks a value that stands at a path.
pub(super) type Shape = fn(&mut Report, &Json, &str);

/// A key of an object, whether it must be there, and the shape of what stands behind it.
pub(super) type Field = (&'static str, bool, Shape);

/// The key must be there.
pub(super) const MUST: bool = true;
/// The key may be absent.
pub(super) const MAY: bool = false;

fn wrong(report: &mut Report, path: &str, why: impl Into<String>) {
    report.add("types", path, why);
}

/// An object with these keys and no others.
pub(super) fn object(report: &mut Report, value: &Json, path: &str, fields: &[Field]) {
    let Some(map) = value.as_object() else { return wrong(report, path, "must be an object") };
    for (key, must, shape) in fields {
        match map.get(*key) {
            Some(inner) => shape(report, inner, &format!("{path}.{key}")),
            None if *must => wrong(report, &format!("{path}.{key}"), "must be there"),
            None => {}
        }
    }
    for key in map.keys() {
        if !fields.iter().any(|(known, ..)| known == key) {
            wrong(report, &format!("{path}.{key}"), "is a key that is not known here");
        }
    }
}

/// An object whose kind is told by the text behind `tag`.
pub(super) fn tagged(report: &mut Report, value: &Json, path: &str, tag: &'static str, kinds: &[(&str, &[Field])]) {
    let Some(map) = value.as_object() else { return wrong(report, path, "must be an object") };
    let kind = map.get(tag).and_then(Json::as_str);
    let Some((_, fields)) = kinds.iter().find(|(name, _)| Some(*name) == kind) else {
        return wrong(report, &format!("{path}.{tag}"), "is none of the kinds that are known here");
    };
    let mut all: Vec<Field> = vec![(tag, MUST, text)];
    all.extend_from_slice(fields);
    object(report, value, path, &all);
}

/// An object that holds exactly one of these keys.
pub(super) fn one_key(report: &mut Report, value: &Json, path: &str, fields: &[Field]) {
    object(report, value, path, fields);
    if value.as_object().is_some_and(|map| map.len() != 1) {
        wrong(report, path, "must hold exactly one key");
    }
}

/// A list of this.
pub(super) fn list(report: &mut Report, value: &Json, path: &str, item: Shape) {
    let Some(items) = value.as_array() else { return wrong(report, path, "must be a list") };
    for (index, inner) in items.iter().enumerate() {
        item(report, inner, &format!("{path}[{index}]"));
    }
}

/// A text, or a list of this.
pub(super) fn text_or_list(report: &mut Report, value: &Json, path: &str, item: Shape) {
    if !value.is_string() {
        list(report, value, path, item);
    }
}

/// One of these texts.
pub(super) fn one_of(report: &mut Report, value: &Json, path: &str, known: &[&str]) {
    if !value.as_str().is_some_and(|text| known.contains(&text)) {
        wrong(report, path, format!("must be one of {known:?}"));
    }
}

/// A text.
pub(super) fn text(report: &mut Report, value: &Json, path: &str) {
    if !value.is_string() {
        wrong(report, path, "must be a text");
    }
}

/// True or false.
pub(super) fn flag(report: &mut Report, value: &Json, path: &str) {
    if !value.is_boolean() {
        wrong(report, path, "must be true or false");
    }
}

/// An integer.
pub(super) fn integer(report: &mut Report, value: &Json, path: &str) {
    if !(value.is_i64() || value.is_u64()) {
        wrong(report, path, "must be an integer");
    }
}

/// An object with any keys.
pub(super) fn any_object(report: &mut Report, value: &Json, path: &str) {
    if !value.is_object() {
        wrong(report, path, "must be an object");
    }
}

/// A list of anything.
pub(super) fn any_list(report: &mut Report, value: &Json, path: &str) {
    if !value.is_array() {
        wrong(report, path, "must be a list");
    }
}

/// Anything.
pub(super) fn any(_: &mut Report, _: &Json, _: &str) {}
