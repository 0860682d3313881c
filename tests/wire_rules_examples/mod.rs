//! For each provider a good body, and for each of its rules a body that breaks it and no other.

#![allow(unreachable_pub, reason = "a folder of a test has no other reader")]

mod ai_sdk;
mod anthropic;
mod bedrock;
mod gemini;
mod openai_chat;
mod openai_responses;

use serde_json::{Value as Json, json};

/// A rule's name, and a body that breaks it.
pub type Example = (&'static str, Json);

/// A body of this provider that breaks no rule and has everything in it that a history can have.
pub fn good(provider: &str) -> Json {
    match provider {
        "ai-sdk" => ai_sdk::good(),
        "anthropic" => anthropic::good(),
        "openai-chat" => openai_chat::good(),
        "openai-responses" => openai_responses::good(),
        "gemini" => gemini::good(),
        _ => bedrock::good(),
    }
}

/// Bodies of this provider, each with the rule that it breaks.
pub fn bad(provider: &str) -> Vec<Example> {
    match provider {
        "ai-sdk" => ai_sdk::bad(),
        "anthropic" => anthropic::bad(),
        "openai-chat" => openai_chat::bad(),
        "openai-responses" => openai_responses::bad(),
        "gemini" => gemini::bad(),
        _ => bedrock::bad(),
    }
}

/// The body with something else at a place. A place past a list's end makes it longer.
fn with(mut body: Json, place: &str, value: Json) -> Json {
    let (holder, key) = place.rsplit_once('/').expect("a place begins with a slash");
    match body.pointer_mut(holder).expect("the place has a holder") {
        Json::Array(items) => {
            let index: usize = key.parse().expect("an index");
            if index < items.len() { items[index] = value } else { items.push(value) }
        }
        holder => holder[key] = value,
    }
    body
}

/// The body without what stands at a place.
fn without(mut body: Json, place: &str) -> Json {
    let (holder, key) = place.rsplit_once('/').expect("a place begins with a slash");
    match body.pointer_mut(holder).expect("the place has a holder") {
        Json::Array(items) => drop(items.remove(key.parse().expect("an index"))),
        Json::Object(fields) => drop(fields.remove(key)),
        _ => panic!("{holder} holds nothing"),
    }
    body
}

/// So many copies of a thing.
fn many(count: usize, thing: &Json) -> Json {
    Json::from(vec![thing.clone(); count])
}

/// A tool's schema.
fn schema() -> Json {
    json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
}

/// Each rule that all providers have of schemas, broken in the schema at this place.
fn bad_schemas(good: &Json, place: &str) -> Vec<Example> {
    let broken = |key: &str, value: Json| with(good.clone(), &format!("{place}/{key}"), value);
    vec![
        ("schema-root-object", broken("type", json!("string"))),
        ("schema-required-null", broken("required", Json::Null)),
        ("schema-required", broken("required", json!(false))),
        ("schema-required", broken("required", json!([1]))),
        ("schema-properties-null", broken("properties", json!({"path": {"type": "object", "properties": null}}))),
    ]
}
