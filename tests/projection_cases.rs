//! The cases: faults that users of today's agents have reported, and what the views and the body give instead.

mod common;

use common::bodies::ai_sdk;
use common::cases::{Case, all};
use common::story::names;
use serde_json::Value as Json;
use seslog::event::{Event, Kind, MISSING_TOOL_RESULT, Role};
use seslog::projection::{Options, ProjectedMessage, Projection, View, code, project};
use seslog::session::State;
use seslog::wire;

/// Codes that a view or the body owns; of the others the lower floors tell.
const OURS: [&str; 5] = [
    code::MISSING_RESULT_FILLED,
    code::INCOMPLETE_CALL_LEFT_OUT,
    code::BLANK_TEXT_LEFT_OUT,
    code::FOREIGN_REASONING_LEFT_OUT,
    code::MISSING_PARENT,
];

fn strings(list: &Json) -> Option<Vec<&str>> {
    list.as_array().map(|items| items.iter().map(|item| item.as_str().unwrap()).collect())
}

fn view(events: &[Event], view: View) -> Projection {
    project(&State::from_events(events.to_vec()), view, &Options::default())
}

/// Names of the messages, without those that the cases leave out of the comparison.
fn compared(projection: &Projection) -> Vec<String> {
    let is_compared = |message: &&ProjectedMessage| {
        message.role != Role::System && !matches!(*message.kind, Kind::SystemEvent(_) | Kind::Progress(_))
    };
    let messages = projection.messages.iter().filter(is_compared).cloned().collect();
    names(&Projection { messages, diagnostics: projection.diagnostics.clone() })
}

fn check_views(case: &str, events: &[Event], expect: &Json) -> usize {
    let mut checked = 0;
    if let Some(expected) = strings(&expect["model"]) {
        assert_eq!(compared(&view(events, View::Model)), expected, "{case}: model");
        checked += 1;
    }
    if let Some(expected) = strings(&expect["transcript"]) {
        assert_eq!(compared(&view(events, View::Transcript)), expected, "{case}: transcript");
        checked += 1;
    }
    if let Some(expected) = strings(&expect["transcript_includes_all"]) {
        let mut shown = names(&view(events, View::Transcript)).into_iter();
        for name in expected {
            assert!(shown.any(|shown| shown == name), "{case}: the transcript has no {name}, or not in this order");
        }
        checked += 1;
    }
    checked
}

/// Cases whose bodies need a step of prompt assembly first.
fn has_context(case: &Case) -> bool {
    case.given.get("context").is_some()
}

#[test]
fn the_views_show_what_the_cases_expect() {
    let mut checked = 0;
    for case in all() {
        let Some(events) = case.events() else { continue };
        checked += check_views(&case.id, &events, &case.expect);
        for (at, expect) in case.expect["view_at"].as_object().into_iter().flatten() {
            let end = events.iter().position(|event| event.original_id.as_deref() == Some(at)).unwrap();
            checked += check_views(&format!("{} at {at}", case.id), &events[..=end], expect);
        }
    }
    assert_eq!(checked, 22, "a case was added or is no longer told: count anew");
}

#[test]
fn the_bodies_hold_no_forbidden_text_and_are_the_same_twice() {
    for case in all() {
        let Some(events) = case.events().filter(|_| !has_context(&case)) else { continue };
        for target in ["anthropic", "google"] {
            let options = wire::Options::for_upstream(target);
            let body = || ai_sdk(&view(&events, View::Model).messages, &options).to_json();
            assert_eq!(body(), body(), "{}", case.id);
            for forbidden in strings(&case.expect["forbid_in_payload"]).unwrap_or_default() {
                let forbidden = forbidden.replace("$MISSING_RESULT", MISSING_TOOL_RESULT);
                assert!(!body().contains(&forbidden), "{}: {forbidden}", case.id);
            }
        }
    }
}

#[test]
fn the_bodies_say_the_same_words_in_the_same_order_as_the_cases_expect() {
    let mut checked = 0;
    for case in all() {
        let expected = &case.expect["payload"]["anthropic"]["messages"];
        let Some(events) = case.events().filter(|_| expected.is_array() && !has_context(&case)) else { continue };
        let body = ai_sdk(&view(&events, View::Model).messages, &wire::Options::for_upstream("anthropic"));
        let sent: Json = serde_json::from_str(&body.to_json()).unwrap();
        let (mut wanted, mut found) = (Vec::new(), Vec::new());
        collect_words(expected, &mut wanted);
        collect_words(&sent["messages"], &mut found);
        let mut found = found.iter();
        for words in &wanted {
            let words = words.replace("$MISSING_RESULT", MISSING_TOOL_RESULT);
            assert!(found.any(|found| found.contains(&words)), "{}: {words:?} is missing\n{sent:#}", case.id);
            checked += 1;
        }
    }
    assert_eq!(checked, 48, "a case was added or is no longer told: count anew");
}

#[test]
fn the_diagnostics_that_the_cases_expect_are_there() {
    let mut checked = 0;
    for case in all() {
        let Some(events) = case.events() else { continue };
        let model = view(&events, View::Model);
        let body = ai_sdk(&model.messages, &wire::Options::for_upstream("anthropic"));
        let told: Vec<_> = model.diagnostics.items.iter().chain(&body.diagnostics).collect();
        for wanted in case.expect["diagnostics"].as_array().into_iter().flatten() {
            let wanted_code = wanted["code"].as_str().unwrap();
            if !OURS.contains(&wanted_code) {
                continue;
            }
            let is_about = |item: &&&seslog::projection::Diagnostic| {
                let call = wanted["call"].as_str().is_none_or(|call| item.call.as_deref() == Some(call));
                let event = wanted["event"].as_str().is_none_or(|name| item.ids.contains(&common::story::id(name)));
                item.code == wanted_code && call && event
            };
            assert!(told.iter().any(|item| is_about(&item)), "{}: {wanted} in {told:?}", case.id);
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}

#[test]
fn a_result_is_cut_as_the_case_expects_and_bad_unicode_does_not_reach_the_body() {
    let case = all().into_iter().find(|case| case.id.starts_with("c21")).unwrap();
    let limit = case.given["context"]["tool_result_soft_limit_chars"].as_u64().unwrap();
    let mut options = Options::default();
    options.tool_result_soft_limit_chars = usize::try_from(limit).ok();
    let model = project(&State::from_events(case.events().unwrap()), View::Model, &options);
    let expected = &case.expect["tool_result_text_after_context"]["r1"];
    let text = common::story::text_of(&model, "r1");
    assert!(text.starts_with(expected["$startsWith"].as_str().unwrap()), "{text}");
    for absent in strings(&expected["$notContains"]).unwrap() {
        assert!(!text.contains(absent), "{text}");
    }
    let body = ai_sdk(&model.messages, &wire::Options::default()).to_json();
    let body: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(body["messages"][1]["content"][0]["input"], case.expect["input_of"]["q1"]);
}

/// All texts that somebody reads, in order; notes that a case leaves open are none.
fn collect_words(value: &Json, words: &mut Vec<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect_words(item, words)),
        Json::Object(fields) => {
            // Whoever writes the fields, what is said comes in one order.
            for name in ["content", "thinking", "text", "output", "value"] {
                match fields.get(name) {
                    Some(Json::String(text)) if !text.is_empty() && !is_open(text) => words.push(text.clone()),
                    Some(Json::String(_)) | None => {}
                    Some(inner) => collect_words(inner, words),
                }
            }
        }
        _ => {}
    }
}

fn is_open(text: &str) -> bool {
    matches!(text, "$NOTE" | "$EMPTY_OR_NOTE")
}
