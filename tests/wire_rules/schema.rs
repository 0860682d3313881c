//! The rules of tools' schemas.

use serde_json::Value as Json;

use super::Report;
use super::common::each;

/// What every provider refuses, at any depth.
pub(super) fn check(schema: &Json, path: &str, report: &mut Report) {
    let Some(fields) = schema.as_object() else { return };
    match fields.get("required") {
        Some(Json::Null) => report.add("schema-required-null", &format!("{path}.required"), "must not be null"),
        Some(Json::Array(names)) => check_required(fields, names, path, report),
        Some(_) => report.add("schema-required", &format!("{path}.required"), "must be a list"),
        None => {}
    }
    if fields.get("properties").is_some_and(Json::is_null) {
        report.add("schema-properties-null", &format!("{path}.properties"), "must not be null");
    }
    for key in ["properties", "$defs", "definitions"] {
        for (name, inner) in fields.get(key).and_then(Json::as_object).into_iter().flatten() {
            check(inner, &format!("{path}.{key}.{name}"), report);
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        check(&schema[key], &format!("{path}.{key}"), report);
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        each(&schema[key], &format!("{path}.{key}")).iter().for_each(|(path, inner)| check(inner, path, report));
    }
}

fn check_required(fields: &serde_json::Map<String, Json>, names: &[Json], path: &str, report: &mut Report) {
    let path = format!("{path}.required");
    if names.iter().any(|name| !name.is_string()) {
        report.add("schema-required", &path, "must be a list of texts");
    }
    let is_closed = fields.get("additionalProperties") == Some(&Json::Bool(false));
    let Some(properties) = fields.get("properties").and_then(Json::as_object).filter(|_| is_closed) else { return };
    for name in names.iter().filter_map(Json::as_str).filter(|name| !properties.contains_key(*name)) {
        report.add("schema-required", &path, format!("names {name:?}, which is no property"));
    }
}

/// A tool takes an object.
pub(super) fn check_root(schema: &Json, path: &str, report: &mut Report) {
    if schema.is_object() && schema["type"] != "object" {
        report.add("schema-root-object", &format!("{path}.type"), "must be \"object\"");
    }
    check(schema, path, report);
}

/// No choice may stand at the top.
pub(super) fn check_no_choice(schema: &Json, path: &str, report: &mut Report) {
    for key in ["oneOf", "anyOf", "allOf"].into_iter().filter(|key| schema.get(*key).is_some()) {
        report.add("schema-root-combiner", &format!("{path}.{key}"), "must not stand at the top level");
    }
}

/// OpenAI's own rules.
pub(super) fn check_openai(schema: &Json, strict: &Json, path: &str, report: &mut Report) {
    check_root(schema, path, report);
    if schema["type"] == "object" && schema.get("properties").is_none() {
        report.add("schema-properties-missing", path, "must have properties, {} for none");
    }
    if strict == &Json::Bool(true) {
        check_strict(schema, path, report);
    }
}

fn check_strict(schema: &Json, path: &str, report: &mut Report) {
    let Some(fields) = schema.as_object() else { return };
    let kind = &schema["type"];
    if kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object")) {
        if fields.get("additionalProperties") != Some(&Json::Bool(false)) {
            report.add("schema-strict", path, "a strict object must have additionalProperties: false");
        }
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            if !required.iter().any(|required| required == name.as_str()) {
                report.add("schema-strict", &format!("{path}.required"), format!("must name {name:?}"));
            }
            check_strict(inner, &format!("{path}.properties.{name}"), report);
        }
    }
    check_strict(&schema["items"], &format!("{path}.items"), report);
    for (path, inner) in each(&schema["anyOf"], &format!("{path}.anyOf")) {
        check_strict(inner, &path, report);
    }
}

/// The keys of the part of OpenAPI that Gemini reads.
const GEMINI_KEYS: [&str; 26] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
    "additionalProperties",
    "$ref",
    "$defs",
    "defs",
];

/// Gemini's own rules for `parameters`.
pub(super) fn check_gemini(schema: &Json, path: &str, report: &mut Report) {
    let Some(fields) = schema.as_object() else { return };
    for key in fields.keys().filter(|key| !GEMINI_KEYS.contains(&key.as_str())) {
        report.add("schema-keyword", &format!("{path}.{key}"), "is not read in parameters");
    }
    if schema["type"].is_array() {
        report.add("schema-type-list", &format!("{path}.type"), "must be one type");
    }
    let kind = schema["type"].as_str().unwrap_or_default().to_ascii_lowercase();
    if let Some(properties) = schema["properties"].as_object() {
        for (_, name) in each(&schema["required"], path) {
            if name.as_str().is_some_and(|name| !properties.contains_key(name)) {
                report.add("schema-required", &format!("{path}.required"), format!("names {name}, no property"));
            }
        }
        for (name, inner) in properties {
            check_gemini(inner, &format!("{path}.properties.{name}"), report);
        }
    }
    if kind == "array" && fields.get("items").is_none() {
        report.add("schema-items", path, "an array must have items");
    }
    if fields.contains_key("enum") && !["string", "integer", "number"].contains(&kind.as_str()) {
        report.add("schema-enum", path, "an enum is for texts and numbers only");
    }
    check_gemini(&schema["items"], &format!("{path}.items"), report);
    for (path, inner) in each(&schema["anyOf"], &format!("{path}.anyOf")) {
        check_gemini(inner, &path, report);
    }
}
