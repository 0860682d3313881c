//! Checks on request bodies, and on what goes into them.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use seslog::event::{MISSING_TOOL_RESULT, Part, PartBody, ToolInput, ToolOutput};
use seslog::wire::Provider;

use super::case::strings;
use super::compare::{Comparison, MISSING};
use super::expect::Found;
use super::look::Look;
use super::not_yet::is_left_out;

/// Bodies as a case expects them.
pub fn payload(look: &Look, expected: &Json, all: &Map<String, Json>, found: &mut Found) {
    for (name, body) in expected.as_object().unwrap() {
        match provider(name).filter(|_| !is_left_out(&format!("payload.{name}"))) {
            Some(provider) => drop(compared(look, provider, body, all)),
            None => found.unknown(&format!("payload.{name}")),
        }
    }
}

/// Words for ids that must mean different ones, in the bodies that the case expects.
pub fn ids_distinct(look: &Look, words: &[String], all: &Map<String, Json>) {
    for (name, body) in all["payload"].as_object().unwrap() {
        let Some(provider) = provider(name) else { continue };
        let ids = compared(look, provider, body, all).ids;
        let distinct: BTreeSet<&String> = words.iter().map(|word| &ids[word]).collect();
        assert_eq!(distinct.len(), words.len(), "{name}: {ids:?}");
    }
}

fn compared(look: &Look, provider: Provider, expected: &Json, all: &Map<String, Json>) -> Comparison {
    let mut comparison = Comparison { contains: all.contains_key("payload_text_match"), ..Comparison::default() };
    let body: Json = serde_json::from_str(&look.body_of(provider).to_json()).unwrap();
    for (field, expected) in expected.as_object().unwrap() {
        if let Some(difference) = comparison.differs(&body[field], expected) {
            panic!("{} {field}{}\nin {:#}", provider.name(), difference.trim_start_matches('$'), body[field]);
        }
    }
    comparison
}

/// The provider that a case means; none if there is no body for it yet.
fn provider(name: &str) -> Option<Provider> {
    Provider::ALL.into_iter().find(|provider| provider.name().replace('-', "_") == name)
}

/// Texts that no body may hold: those of the providers that the case names, or of all; the AI SDK's always.
pub fn forbidden(look: &Look, forbidden: &[String], payload: Option<&Json>) {
    let named: Vec<&String> = payload.and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name).collect();
    let mut bodies: Vec<Vec<String>> = Provider::ALL
        .into_iter()
        .filter(|provider| named.is_empty() || named.iter().any(|name| self::provider(name) == Some(*provider)))
        .map(|provider| texts_of(&look.body_of(provider).to_json()))
        .collect();
    let upstreams = std::iter::once(None).chain(named.iter().map(|name| sdk_provider(name)));
    bodies.extend(upstreams.map(|upstream| texts_of(&look.body(upstream).to_json())));
    for text in forbidden {
        let text = text.replace(MISSING, MISSING_TOOL_RESULT);
        for texts in &bodies {
            assert!(!texts.iter().any(|part| part.contains(&text)), "{text} is in the body: {texts:#?}");
        }
    }
}

/// The AI SDK's name for whom a body of that name goes to.
fn sdk_provider(body: &str) -> Option<&'static str> {
    match body {
        "anthropic" => Some("anthropic"),
        "openai_chat" | "openai_responses" => Some("openai"),
        "gemini" => Some("google"),
        "bedrock" => Some("bedrock"),
        other => panic!("the harness knows no provider {other}"),
    }
}

fn texts_of(body: &str) -> Vec<String> {
    let mut texts = Vec::new();
    collect_texts(&serde_json::from_str(body).unwrap(), &mut texts);
    texts
}

/// All texts of a document, names of fields too.
fn collect_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Json::Object(fields) => {
            for (name, value) in fields {
                texts.push(name.clone());
                collect_texts(value, texts);
            }
        }
        _ => {}
    }
}

/// Whether a strict reader of JSON takes each body; half a surrogate pair would be no UTF-8 and an escape that it refuses.
pub fn is_valid(look: &Look) -> bool {
    let is_valid = |provider| serde_json::from_slice::<Json>(look.body_of(provider).to_json().as_bytes()).is_ok();
    Provider::ALL.into_iter().all(is_valid)
}

/// Whether each body is made twice with the same bytes.
pub fn are_the_same_twice(look: &Look) -> bool {
    Provider::ALL.into_iter().all(|provider| look.body_of(provider).to_json() == look.body_of(provider).to_json())
}

/// Arguments of calls, by the call's id, as the model's view has them.
pub fn inputs(look: &Look, expected: &Json) {
    let model = look.model();
    let calls: Vec<_> = parts(&model).filter_map(Part::as_tool_call).collect();
    for (id, expected) in expected.as_object().unwrap() {
        let call = calls.iter().find(|call| call.id == *id).unwrap_or_else(|| panic!("no call {id}"));
        let ToolInput::Json(input) = &call.input else { panic!("{:?}", call.input) };
        assert_eq!(&serde_json::to_value(input).unwrap(), expected, "input of {id}");
    }
}

/// Texts of results, by the message's word, as the model's view has them.
pub fn result_texts(look: &Look, expected: &Json) {
    let model = look.model();
    for (word, expected) in expected.as_object().unwrap() {
        let id = look.names.id(word);
        let message = model.messages.iter().find(|message| message.source_message_ids.contains(&id));
        let message = message.unwrap_or_else(|| panic!("the model does not see {word}"));
        let results = message.content.iter().filter_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some(match &result.output {
                ToolOutput::Text(text) => text.clone(),
                ToolOutput::Parts(parts) => parts.iter().filter_map(Part::as_text).collect(),
            }),
            _ => None,
        });
        let text: String = results.collect();
        assert!(text.starts_with(expected["$startsWith"].as_str().unwrap()), "{word}: {text}");
        for absent in strings(&expected["$notContains"]) {
            assert!(!text.contains(&absent), "{word}: {text}");
        }
    }
}

fn parts(model: &seslog::projection::Projection) -> impl Iterator<Item = &Part> {
    model.messages.iter().flat_map(|message| &message.content).map(|part| &**part)
}
