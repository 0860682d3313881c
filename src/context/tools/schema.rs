//! One mend of a tool's schema: `required` is a list wherever an object is described.
//!
//! JSON Schema lets it be absent, but on the way to some servers an absent list becomes null, and they refuse that. What
//! else may be wrong with a schema is the wire's to mend, provider by provider.

use crate::event::{DEPTH_MAX, Fields, Value};

/// The schema with `required: []` in each object schema that has no such list.
pub(super) fn mended(schema: &Value) -> Value {
    inner(schema, 0)
}

fn inner(schema: &Value, depth: usize) -> Value {
    let (Value::Map(fields), true) = (schema, depth < DEPTH_MAX) else { return schema.clone() };
    let mut mended: Fields =
        fields.iter().map(|(name, value)| (name.clone(), keyword(name, value, depth + 1))).collect();
    let is_object = schema.get("type").and_then(Value::as_text) == Some("object");
    match mended.iter_mut().find(|(name, _)| name == "required") {
        Some((_, required @ Value::Null)) => *required = Value::List(Vec::new()),
        None if is_object => mended.push(("required".to_owned(), Value::List(Vec::new()))),
        _ => {}
    }
    Value::Map(mended)
}

/// The value of a keyword, with the schemas in it mended.
fn keyword(name: &str, value: &Value, depth: usize) -> Value {
    let list = |schemas: &[Value]| Value::List(schemas.iter().map(|schema| inner(schema, depth)).collect());
    match (name, value) {
        ("properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions", Value::Map(schemas)) => {
            Value::Map(schemas.iter().map(|(name, schema)| (name.clone(), inner(schema, depth))).collect())
        }
        ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::List(schemas)) => list(schemas),
        (
            "items"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else",
            Value::Map(_),
        ) => inner(value, depth),
        _ => value.clone(),
    }
}
