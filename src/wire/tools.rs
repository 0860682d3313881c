//! Tools as they are declared to a model, with schemas that a provider does not refuse.

use std::borrow::Cow;

use super::conversation::Conversation;
use super::text::{clean, is_blank};
use super::tool_name::legal_name;
use crate::event::{Fields, Value};
use crate::projection::{Diagnostic, code};

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name, any text; it goes out as one that every provider takes.
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: Value,
}

/// A tool as it goes out.
#[derive(Debug)]
pub(super) struct Declared<'o> {
    pub(super) name: Cow<'o, str>,
    pub(super) description: Option<Cow<'o, str>>,
    pub(super) schema: Cow<'o, Value>,
}

/// The tools as they go out, at most so many: each name once, schemas mended. Says what was changed, and notes which
/// names are sent in the place of others.
pub(super) fn declared<'o>(
    tools: &'o [Tool],
    count_max: usize,
    conversation: &mut Conversation<'_>,
) -> Vec<Declared<'o>> {
    let mut seen = std::collections::HashSet::new();
    let mut declared = Vec::new();
    for tool in tools {
        let name = legal_name(&tool.name);
        let why_not = match (seen.contains(&name), declared.len() < count_max) {
            (true, _) => Some("another one before it has its name"),
            (false, false) => Some("there are more tools than the provider takes"),
            (false, true) => None,
        };
        if let Some(reason) = why_not {
            say(conversation, code::TOOL_LEFT_OUT, &tool.name, reason);
            continue;
        }
        seen.insert(name.clone());
        conversation.renamed.add_tool(&name, &tool.name);
        let description = tool.description.as_deref().filter(|text| !is_blank(text)).map(clean);
        let schema = mended(&tool.schema);
        if matches!(schema, Cow::Owned(_)) {
            say(conversation, code::TOOL_SCHEMA_MENDED, &tool.name, "its schema is not one that every provider takes");
        }
        declared.push(Declared { name, description, schema });
    }
    declared
}

fn say(conversation: &mut Conversation<'_>, code: &'static str, tool: &str, reason: &str) {
    conversation.diagnostics.push(Diagnostic::new(code, [], format!("tool {tool:?}: {reason}")));
}

/// The schema as every provider takes it: an object's, with `properties`, and `required` a list or absent.
fn mended(schema: &Value) -> Cow<'_, Value> {
    let Value::Map(fields) = schema else {
        return Cow::Owned(object_schema(Fields::new()));
    };
    match is_fine(fields, true) {
        true => Cow::Borrowed(schema),
        false => Cow::Owned(object_schema(mended_fields(fields))),
    }
}

fn object_schema(mut fields: Fields) -> Value {
    if fields.iter().all(|(name, _)| name != "properties") {
        fields.insert(0, ("properties".to_owned(), Value::Map(Fields::new())));
    }
    fields.retain(|(name, _)| name != "type");
    fields.insert(0, ("type".to_owned(), "object".into()));
    Value::Map(fields)
}

/// Whether nothing in a schema has to be mended.
fn is_fine(fields: &[(String, Value)], outermost: bool) -> bool {
    let get = |name: &str| fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let is_object = get("type").and_then(Value::as_text) == Some("object");
    let complete = !outermost || (is_object && get("properties").is_some());
    complete
        && get("required").is_none_or(is_list_of_texts)
        && get("properties").is_none_or(|value| value.as_map().is_some())
        && inner_schemas(fields).all(|fields| is_fine(fields, false))
}

fn is_list_of_texts(value: &Value) -> bool {
    value.as_list().is_some_and(|items| items.iter().all(|item| item.as_text().is_some()))
}

/// The schemas inside a schema.
fn inner_schemas(fields: &[(String, Value)]) -> impl Iterator<Item = &[(String, Value)]> {
    fields.iter().flat_map(|(name, value)| match (name.as_str(), value) {
        ("properties" | "$defs" | "definitions", Value::Map(fields)) => {
            fields.iter().filter_map(|(_, value)| value.as_map()).collect::<Vec<_>>()
        }
        ("anyOf" | "oneOf" | "allOf", Value::List(items)) => items.iter().filter_map(Value::as_map).collect(),
        ("items" | "additionalProperties", Value::Map(fields)) => vec![fields.as_slice()],
        _ => Vec::new(),
    })
}

fn mended_fields(fields: &[(String, Value)]) -> Fields {
    let mend_inner = |value: &Value| match value {
        Value::Map(fields) => Value::Map(mended_fields(fields)),
        other => other.clone(),
    };
    fields
        .iter()
        .filter_map(|(name, value)| {
            let mended = match (name.as_str(), value) {
                ("required", value) if !is_list_of_texts(value) => return None,
                ("properties", Value::Map(fields)) | ("$defs" | "definitions", Value::Map(fields)) => {
                    Value::Map(fields.iter().map(|(name, value)| (name.clone(), mend_inner(value))).collect())
                }
                ("properties", _) => Value::Map(Fields::new()),
                ("anyOf" | "oneOf" | "allOf", Value::List(items)) => {
                    Value::List(items.iter().map(mend_inner).collect())
                }
                ("items" | "additionalProperties", value) => mend_inner(value),
                (_, value) => value.clone(),
            };
            Some((name.clone(), mended))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema_of(json: &str) -> String {
        let schema = Value::parse_json(json).unwrap().0;
        super::super::text::json_text(&*mended(&schema))
    }

    #[test]
    fn a_right_schema_goes_out_as_it_is() {
        let right = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#;
        assert_eq!(schema_of(right), right);
    }

    #[test]
    fn what_providers_refuse_in_a_schema_is_mended_at_any_depth() {
        for (given, expected) in [
            ("null", r#"{"type":"object","properties":{}}"#),
            ("{}", r#"{"type":"object","properties":{}}"#),
            (r#"{"type":"object","required":null}"#, r#"{"type":"object","properties":{}}"#),
            (r#"{"type":"object","properties":null}"#, r#"{"type":"object","properties":{}}"#),
            (
                r#"{"type":"object","properties":{"a":{"type":"object","required":false}}}"#,
                r#"{"type":"object","properties":{"a":{"type":"object"}}}"#,
            ),
        ] {
            assert_eq!(schema_of(given), expected);
        }
    }
}
