//! Checks on request bodies, and on what goes into them.

use serde_json::Value as Json;
use seslog::event::{MISSING_TOOL_RESULT, Part, PartBody, ToolInput, ToolOutput};

use super::case::strings;
use super::expect::Found;
use super::look::Look;

/// The case files' word for the text that stands in for a result that never came.
const MISSING: &str = "$MISSING_RESULT";

/// Bodies as a case expects them. Those of providers that have no serializer yet are left out; what they say of
/// results that never came must hold for the AI SDK's body too.
pub fn payload(look: &Look, expected: &Json, found: &mut Found) {
    for (provider, body) in expected.as_object().unwrap() {
        found.unknown(&format!("payload.{provider}"));
        if !look.needs_assembly {
            let expected = body.to_string().matches(MISSING).count();
            let texts = texts_of_body(look, sdk_provider(provider));
            let filled = texts.iter().filter(|text| text.contains(MISSING_TOOL_RESULT)).count();
            assert_eq!(filled, expected, "results that never came: {texts:#?}");
        }
    }
}

/// Texts that no body may hold: the AI SDK's for no provider in particular, and for those that the case names.
pub fn forbidden(look: &Look, forbidden: &[String], payload: Option<&Json>, found: &mut Found) {
    let named = payload.and_then(Json::as_object).into_iter().flatten();
    let providers: Vec<_> = std::iter::once(None).chain(named.map(|(name, _)| sdk_provider(name))).collect();
    for text in forbidden {
        if look.needs_assembly && text != MISSING {
            found.leave_out("forbid_in_payload after context");
            continue;
        }
        let text = text.replace(MISSING, MISSING_TOOL_RESULT);
        for &provider in &providers {
            let texts = texts_of_body(look, provider);
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

fn texts_of_body(look: &Look, provider: Option<&str>) -> Vec<String> {
    let body: Json = serde_json::from_str(&look.body(provider).to_json()).unwrap();
    let mut texts = Vec::new();
    collect_texts(&body, &mut texts);
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

/// Whether a strict reader of JSON takes the body; half a surrogate pair would be no UTF-8 and an escape that it refuses.
pub fn is_valid(look: &Look) -> bool {
    serde_json::from_slice::<Json>(look.body(None).to_json().as_bytes()).is_ok()
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
