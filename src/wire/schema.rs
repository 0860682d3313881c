//! Schemas of tools' arguments, mended into ones that every provider takes.
//!
//! Providers refuse a whole request for one schema that is no JSON Schema of draft 2020-12, and many are not: `null` in
//! the place of a list, the tuples and flags of older drafts, types of other languages. What is wrong is left out or
//! put into today's form. At the outermost level an object is wanted, and no choice between several: the properties of
//! all choices are put together.

use std::borrow::Cow;

use super::text::clean;
use crate::event::{Fields, Value};

/// Keywords that some provider refuses at the outermost level.
const CHOICES: [&str; 6] = ["allOf", "anyOf", "oneOf", "not", "enum", "$ref"];
/// How many choices and references are looked into at most; those that lead to each other come to an end here.
const PARTS_MAX: usize = 256;

/// The schema as every provider takes it; itself, if that is as it is.
pub(super) fn mended(schema: &Value) -> Cow<'_, Value> {
    let fields = match schema {
        Value::Map(fields) => mended_fields(fields),
        _ => Fields::new(),
    };
    let mended = Value::Map(object_schema(without_choices(fields)));
    let mended = without_lost_references(&mended, &mended);
    if mended == *schema { Cow::Borrowed(schema) } else { Cow::Owned(mended) }
}

fn get<'f>(fields: &'f [(String, Value)], name: &str) -> Option<&'f Value> {
    fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// Sets a field where it stands, or at this place if it stands nowhere.
fn set(fields: &mut Fields, name: &str, value: Value, place: usize) {
    match fields.iter_mut().find(|(key, _)| key == name) {
        Some((_, old)) => *old = value,
        None => fields.insert(place.min(fields.len()), (name.to_owned(), value)),
    }
}

fn object_schema(mut fields: Fields) -> Fields {
    if get(&fields, "type").and_then(Value::as_text) != Some("object") {
        fields.retain(|(name, _)| name != "type");
        fields.insert(0, ("type".to_owned(), "object".into()));
    }
    if get(&fields, "properties").is_none() {
        let behind_type = fields.iter().position(|(name, _)| name == "type").unwrap_or_default() + 1;
        set(&mut fields, "properties", Value::Map(Fields::new()), behind_type);
    }
    fields
}

/// A schema inside a schema: an object, or yes or no to everything.
fn inner(value: &Value) -> Option<Value> {
    match value {
        Value::Map(fields) => Some(Value::Map(mended_fields(fields))),
        Value::Bool(_) => Some(value.clone()),
        _ => None,
    }
}

fn mended_fields(fields: &[(String, Value)]) -> Fields {
    let mut mended: Fields = fields
        .iter()
        .filter_map(|(name, value)| {
            let (name, value) = keyword(name, value, fields)?;
            Some((name.to_owned(), value))
        })
        .collect();
    // What a closed object does not have, nobody can give.
    let names: Vec<String> = match (get(&mended, "additionalProperties"), get(&mended, "properties")) {
        (Some(Value::Bool(false)), Some(Value::Map(properties))) if get(&mended, "patternProperties").is_none() => {
            properties.iter().map(|(name, _)| name.clone()).collect()
        }
        _ => return mended,
    };
    if let Some((_, Value::List(required))) = mended.iter_mut().find(|(name, _)| name == "required") {
        required.retain(|name| name.as_text().is_some_and(|name| names.iter().any(|known| known == name)));
    }
    mended
}

/// A keyword with its value as draft 2020-12 wants them; nothing if it has to go.
fn keyword<'n>(name: &'n str, value: &Value, beside: &[(String, Value)]) -> Option<(&'n str, Value)> {
    let tuple = get(beside, "items").and_then(Value::as_list).filter(|_| get(beside, "prefixItems").is_none());
    let value = match name {
        "type" => types(value)?,
        "required" => texts(value)?,
        "properties" => schemas_by_name(value).unwrap_or_else(|| Value::Map(Fields::new())),
        "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => schemas_by_name(value)?,
        "items" if tuple.is_some() => return Some(("prefixItems", schemas(value)?)),
        "additionalItems" if tuple.is_some() => return Some(("items", inner(value)?)),
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => inner(value)?,
        "prefixItems" | "anyOf" | "oneOf" | "allOf" => schemas(value)?,
        "enum" => cleaned(value.as_list().filter(|items| !items.is_empty()).map(|_| value)?),
        "examples" => cleaned(value.as_list().map(|_| value)?),
        "dependencies" => cleaned(value.as_map().map(|_| value)?),
        "dependentRequired" => {
            let lists = value.as_map()?.iter().filter_map(|(name, list)| Some((name.clone(), texts(list)?)));
            Value::Map(lists.collect())
        }
        "exclusiveMinimum" | "exclusiveMaximum" => return limit(name, value, beside),
        "minimum" if is_true(get(beside, "exclusiveMinimum")) => return None,
        "maximum" if is_true(get(beside, "exclusiveMaximum")) => return None,
        "minimum" | "maximum" | "multipleOf" => number(value)?,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => number(value).filter(|_| !is_negative(value))?,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.as_bool().map(Value::Bool)?,
        "title" | "description" | "$comment" | "format" | "pattern" | "$ref" | "$id" | "$anchor" | "$schema"
        | "contentEncoding" | "contentMediaType" => cleaned(value.as_text().map(|_| value)?),
        _ => cleaned(value),
    };
    Some((name, value))
}

/// The types that JSON Schema knows, also where they are written in capitals.
fn types(value: &Value) -> Option<Value> {
    const KNOWN: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let known = |value: &Value| {
        let name = value.as_text()?;
        KNOWN.into_iter().find(|known| known.eq_ignore_ascii_case(name))
    };
    match value {
        Value::List(items) => {
            let mut found: Vec<Value> = Vec::new();
            for name in items.iter().filter_map(known).map(Value::from) {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
            (!found.is_empty()).then_some(Value::List(found))
        }
        value => known(value).map(Value::from),
    }
}

/// A list of texts, each once.
fn texts(value: &Value) -> Option<Value> {
    let mut found: Vec<Value> = Vec::new();
    for item in value.as_list()? {
        if item.as_text().is_some() && !found.contains(item) {
            found.push(item.clone());
        }
    }
    Some(Value::List(found))
}

fn schemas(value: &Value) -> Option<Value> {
    let items = value.as_list().filter(|items| !items.is_empty())?;
    Some(Value::List(items.iter().map(inner_or_any).collect()))
}

fn schemas_by_name(value: &Value) -> Option<Value> {
    let schemas = value.as_map()?.iter().map(|(name, schema)| (name.clone(), inner_or_any(schema)));
    Some(Value::Map(schemas.collect()))
}

/// What is no schema at all allows everything.
fn inner_or_any(value: &Value) -> Value {
    inner(value).unwrap_or_else(|| Value::Map(Fields::new()))
}

/// An excluded limit. In older drafts it was a flag beside the limit.
fn limit<'n>(name: &'n str, value: &Value, beside: &[(String, Value)]) -> Option<(&'n str, Value)> {
    let beside = |name| get(beside, name).and_then(number);
    let limit = match (name, value) {
        ("exclusiveMinimum", Value::Bool(true)) => beside("minimum"),
        ("exclusiveMaximum", Value::Bool(true)) => beside("maximum"),
        (_, value) => number(value),
    };
    Some((name, limit?))
}

fn is_true(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool) == Some(true)
}

fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Number(_) => Some(value.clone()),
        Value::Float(float) if float.is_finite() => Some(value.clone()),
        _ => None,
    }
}

fn is_negative(value: &Value) -> bool {
    match value {
        Value::Int(number) => *number < 0,
        Value::Float(number) => *number < 0.0,
        Value::Number(text) => text.starts_with('-'),
        _ => false,
    }
}

/// The value with its texts clean.
fn cleaned(value: &Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(clean(text).into_owned()),
        Value::List(items) => Value::List(items.iter().map(cleaned).collect()),
        Value::Map(fields) => Value::Map(fields.iter().map(|(name, value)| (name.clone(), cleaned(value))).collect()),
        other => other.clone(),
    }
}

/// The properties of an object, and which of them it must have.
#[derive(Debug, Default)]
struct Object {
    properties: Fields,
    required: Vec<Value>,
}

/// The outermost schema with the properties of all its choices in the place of the choices.
fn without_choices(fields: Fields) -> Fields {
    if fields.iter().all(|(name, _)| !CHOICES.contains(&name.as_str())) {
        return fields;
    }
    let root = Value::Map(fields);
    let mut parts_left = PARTS_MAX;
    let object = object_of(&root, &root, &mut parts_left);
    let Value::Map(mut fields) = root else { return Fields::new() };
    let place = fields.iter().position(|(name, _)| CHOICES.contains(&name.as_str())).unwrap_or_default();
    fields.retain(|(name, _)| !CHOICES.contains(&name.as_str()));
    set(&mut fields, "properties", Value::Map(object.properties), place);
    if !object.required.is_empty() {
        set(&mut fields, "required", Value::List(object.required), place + 1);
    }
    fields
}

fn object_of(schema: &Value, root: &Value, parts_left: &mut usize) -> Object {
    let mut object = Object::default();
    let (Some(fields), Some(left)) = (schema.as_map(), parts_left.checked_sub(1)) else { return object };
    *parts_left = left;
    if let Some(Value::Map(properties)) = get(fields, "properties") {
        object.properties.clone_from(properties);
    }
    if let Some(Value::List(required)) = get(fields, "required") {
        object.required.clone_from(required);
    }
    let referred = get(fields, "$ref").and_then(Value::as_text).and_then(|address| referred(root, address));
    let all = get(fields, "allOf").and_then(Value::as_list).unwrap_or_default();
    for part in referred.into_iter().chain(all) {
        let part = object_of(part, root, parts_left);
        object.add(part.properties, "allOf");
        object.require(part.required);
    }
    for choice in ["anyOf", "oneOf"] {
        let choices = get(fields, choice).and_then(Value::as_list).unwrap_or_default();
        let mut choices = choices.iter().map(|choice| object_of(choice, root, parts_left));
        let Some(mut chosen) = choices.next() else { continue };
        for other in choices {
            chosen.add(other.properties, "anyOf");
            // Only what each choice must have, must be there in any case.
            chosen.required.retain(|name| other.required.contains(name));
        }
        let new = chosen.properties.into_iter().filter(|(name, _)| get(&object.properties, name).is_none());
        let new: Fields = new.collect();
        object.properties.extend(new);
        object.require(chosen.required);
    }
    object
}

impl Object {
    /// Adds properties; two of one name become one of both schemas, joined like this.
    fn add(&mut self, properties: Fields, joined: &str) {
        for (name, schema) in properties {
            match self.properties.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == schema => {}
                Some((_, known)) => {
                    let both = match (known.get(joined).and_then(Value::as_list), known.as_map()) {
                        (Some(schemas), Some([_])) => [schemas, &[schema]].concat(),
                        _ => vec![known.clone(), schema],
                    };
                    *known = Value::Map(vec![(joined.to_owned(), Value::List(both))]);
                }
                None => self.properties.push((name, schema)),
            }
        }
    }

    fn require(&mut self, names: Vec<Value>) {
        for name in names {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
    }
}

/// What a reference inside the same document points to.
fn referred<'r>(root: &'r Value, address: &str) -> Option<&'r Value> {
    let mut found = root;
    for name in address.strip_prefix("#/")?.split('/') {
        let name = name.replace("~1", "/").replace("~0", "~");
        found = match found {
            Value::List(items) => items.get(name.parse::<usize>().ok()?)?,
            found => found.get(&name)?,
        };
    }
    Some(found)
}

/// The schema without references that lead nowhere, or out of it: a server fetches nothing for them.
fn without_lost_references(schema: &Value, root: &Value) -> Value {
    let Some(fields) = schema.as_map() else { return schema.clone() };
    let within = |schema: &Value| without_lost_references(schema, root);
    let fields = fields.iter().filter_map(|(name, value)| {
        let value = match (name.as_str(), value) {
            ("$ref", Value::Text(address)) if is_lost(address, root) => return None,
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Map(schemas),
            ) => Value::Map(schemas.iter().map(|(name, schema)| (name.clone(), within(schema))).collect()),
            ("prefixItems" | "anyOf" | "oneOf" | "allOf", Value::List(schemas)) => {
                Value::List(schemas.iter().map(within).collect())
            }
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => within(schema),
            (_, value) => value.clone(),
        };
        Some((name.clone(), value))
    });
    Value::Map(fields.collect())
}

/// Of the forms of a reference one by a name of the schema's own (`#name`) is taken as it is.
fn is_lost(address: &str, root: &Value) -> bool {
    !address.starts_with('#') || address.starts_with("#/") && referred(root, address).is_none()
}
