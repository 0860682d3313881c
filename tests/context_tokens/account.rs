//! What is counted of a message, under which source, and what is not.

use seslog::context::Tool;
use seslog::context::tokens::{
    Account, BySource, Estimate, PAGE_TOKENS, PICTURE_TOKENS_MAX, Source, message_costs, message_tokens,
    picture_tokens, tool_tokens, window_tokens,
};
use seslog::event::{
    BashExecution, Children, Kind, Media, MediaSource, Message, Part, PartBody, Reasoning, Role, ToolCall, ToolInput,
    ToolOutput, ToolResult, Usage, Value,
};
use seslog::projection::{ProjectedMessage, View};

use crate::place::{Place, append};
use crate::{Chars, view};

const NONE: BySource = BySource {
    content: 0,
    media: 0,
    tool_calls: 0,
    thought_signatures: 0,
    reasoning: 0,
    tool_call_ids: 0,
    tool_definitions: 0,
};

fn counted(part: Part) -> BySource {
    let message = ProjectedMessage::made(View::Model, Role::Assistant, Kind::AssistantText, vec![part]);
    message_tokens(&message, &Chars)
}

fn call(input: ToolInput, incomplete: bool, signature: Option<&str>) -> Part {
    let thought_signature = signature.map(str::to_owned);
    let (id, name) = ("id".to_owned(), "name".to_owned());
    Part::new(PartBody::ToolCall(ToolCall { id, name, input, incomplete, thought_signature }))
}

fn result(output: ToolOutput, raw: Option<Value>) -> Part {
    let call_id = "id".to_owned();
    Part::new(PartBody::ToolResult(ToolResult { call_id, name: None, output, is_error: false, raw }))
}

fn media(media_type: &str, source: MediaSource, size: Option<(u64, u64)>) -> Media {
    let (width, height) = size.unzip();
    Media { media_type: media_type.to_owned(), source, name: None, width, height }
}

#[test]
fn each_part_is_counted_under_its_source_and_what_is_only_stored_is_not() {
    let json = || Value::from([("a", "b".into())]);
    let picture = || media("image/png", MediaSource::Data("AAAA".into()), Some((750, 100)));
    let cases = [
        ("text", Part::text("12345"), BySource { content: 5, ..NONE }),
        ("json", Part::new(PartBody::Json(json())), BySource { content: 9, ..NONE }),
        ("call", call(ToolInput::Json(json()), false, None), BySource { tool_calls: 2 + 4 + 9, ..NONE }),
        ("call with text", call(ToolInput::Text("123".into()), false, None), BySource { tool_calls: 9, ..NONE }),
        (
            "signed call",
            call(ToolInput::None, false, Some("123")),
            BySource { tool_calls: 6, thought_signatures: 3, ..NONE },
        ),
        ("cut call", call(ToolInput::Json(json()), true, Some("123")), NONE),
        ("result", result(ToolOutput::Text("123".into()), None), BySource { content: 3, tool_call_ids: 2, ..NONE }),
        (
            "result with raw",
            result(ToolOutput::Text("123".into()), Some(json())),
            BySource { content: 3, tool_call_ids: 2, ..NONE },
        ),
        (
            "result of parts",
            result(ToolOutput::Parts(vec![Part::text("1"), Part::new(PartBody::Image(picture()))]), None),
            BySource { content: 1, media: 100, tool_call_ids: 2, ..NONE },
        ),
        (
            "reasoning",
            Part::new(PartBody::Reasoning(Reasoning {
                text: Some("12".into()),
                signature: Some("345".into()),
                ..Reasoning::default()
            })),
            BySource { reasoning: 5, ..NONE },
        ),
        ("picture", Part::new(PartBody::Image(picture())), BySource { media: 100, ..NONE }),
        (
            "picture on disk",
            Part::new(PartBody::Image(media("image/png", MediaSource::Path("/a".into()), None))),
            BySource { content: 9 + 2, ..NONE },
        ),
        (
            "document",
            Part::new(PartBody::File(media("application/pdf", MediaSource::Url("https://a".into()), None))),
            BySource { media: PAGE_TOKENS, ..NONE },
        ),
        (
            "text file",
            Part::new(PartBody::File(media("text/plain", MediaSource::Data("A".repeat(400)), None))),
            BySource { media: 75, ..NONE },
        ),
        ("unknown", Part::new(PartBody::Unknown("hologram".into())), NONE),
    ];
    for (what, part, expected) in cases {
        assert_eq!(counted(part), expected, "{what}");
    }
}

#[test]
fn a_kinds_fields_count_once_as_the_view_shows_them() {
    let place = Place::new();
    let session = place.create();
    let bash = BashExecution { command: "ls".into(), output: "a b".into(), ..BashExecution::default() };
    append(&session, Message::bash(bash));
    let view = view(&session);
    let shown = view[0].content[0].as_text().unwrap();
    assert!(shown.contains("a b"), "{shown}");
    assert_eq!(message_tokens(&view[0], &Chars), BySource { content: shown.chars().count() as u64, ..NONE });
}

#[test]
fn tools_count_by_name_description_and_schema() {
    let schema = Value::from([("type", "object".into())]);
    let tools = [
        Tool { name: "abc".into(), description: Some("12345".into()), schema: schema.clone() },
        Tool { name: "d".into(), description: None, schema },
    ];
    let expected = BySource { tool_definitions: 3 + 5 + 17 + 1 + 17, ..NONE };
    assert_eq!(tool_tokens(&tools, &Chars), expected);
    let account = window_tokens(&[], &tools, None, &Chars);
    assert_eq!(account, Account { counted: expected, reported: 0, source: Source::Estimate });
}

#[test]
fn a_picture_costs_by_its_size_and_never_more_than_the_most() {
    let cases = [
        (None, None, PICTURE_TOKENS_MAX),
        (Some(0), Some(10), PICTURE_TOKENS_MAX),
        (Some(1), Some(1), 1),
        (Some(1000), Some(750), 1000),
        (Some(10_000), Some(10_000), PICTURE_TOKENS_MAX),
        (Some(15_680), Some(750), 157),
        (Some(u64::MAX), Some(1), 1),
        (Some(u64::MAX), Some(u64::MAX), PICTURE_TOKENS_MAX),
    ];
    for (width, height, expected) in cases {
        assert_eq!(picture_tokens(width, height), expected, "{width:?} x {height:?}");
    }
}

fn answer(parts: Vec<Part>, request: Option<&str>, output: Option<u64>) -> Message {
    let mut message = Message::new(Role::Assistant, Kind::AssistantText, parts);
    message.request_id = request.map(str::to_owned);
    message.usage = output.map(|output| Usage { output, ..Usage::default() });
    message
}

#[test]
fn the_reported_output_stands_in_for_an_answer_and_counts_once_for_its_request() {
    let place = Place::new();
    let session = place.create();
    append(&session, Message::user("12345"));
    append(&session, answer(vec![Part::text("1234567")], Some("q"), None));
    append(&session, answer(vec![Part::text("12")], Some("q"), Some(50)));
    append(&session, answer(vec![Part::text("123")], None, Some(60)));
    append(&session, answer(vec![Part::text("1234")], None, None));
    append(&session, answer(vec![Part::text("1234")], None, Some(0)));
    let mut view = view(&session);
    let costs = |view: &[ProjectedMessage]| -> Vec<(u64, u64)> {
        message_costs(view, &Chars).iter().map(|cost| (cost.counted.total(), cost.reported)).collect()
    };
    assert_eq!(costs(&view), [(5, 0), (0, 50), (0, 0), (0, 60), (4, 0), (4, 0)]);

    // What a step puts in is counted beside it.
    view[3].content.push(Part::text("123456789").into());
    assert_eq!(costs(&view)[3], (9, 60));
    // An answer of which a part was changed or left out is counted, and with it all of its request.
    view[2].content = vec![Part::text("1").into()];
    assert_eq!(costs(&view)[1..3], [(7, 0), (1, 0)]);
}

#[test]
fn reasoning_that_was_not_recorded_is_no_part_of_the_window() {
    let text = || Part::text("1234567");
    let thought = || {
        let reasoning = Reasoning { text: Some("123".into()), ..Reasoning::default() };
        answer(vec![Part::new(PartBody::Reasoning(reasoning))], Some("q"), None)
    };
    let said = |reasoning: Option<u64>| {
        let mut message = answer(vec![text()], Some("q"), Some(3050));
        message.usage = Some(Usage { output: 3050, reasoning, ..Usage::default() });
        message
    };
    let cases = [
        ("thought, not recorded", vec![said(Some(3000))], 7),
        ("thought, recorded with another message", vec![thought(), said(Some(3000))], 3050),
        ("did not think", vec![said(Some(0))], 3050),
        ("nothing is said of it", vec![said(None)], 3050),
    ];
    for (what, messages, expected) in cases {
        let place = Place::new();
        let session = place.create();
        for message in messages {
            append(&session, message);
        }
        let total: u64 = message_costs(&view(&session), &Chars).iter().map(|cost| cost.total()).sum();
        assert_eq!(total, expected, "{what}");
    }
}

#[test]
fn the_usage_of_a_card_is_not_added_to_the_text_that_the_view_made_of_it() {
    let children = || Children { children: vec![Value::from([("role", "assistant".into())])] };
    for kind in [Kind::AssistantGroup(children()), Kind::Supervisor(children())] {
        let place = Place::new();
        let session = place.create();
        let mut card = Message::new(Role::Assistant, kind, Vec::new());
        card.usage = Some(Usage { output: 50, ..Usage::default() });
        append(&session, card);
        let view = view(&session);
        assert!(!view.is_empty());
        for (message, cost) in view.iter().zip(message_costs(&view, &Chars)) {
            assert_eq!((cost.counted, cost.reported), (message_tokens(message, &Chars), 0));
        }
    }
}

#[test]
fn the_raw_total_is_the_sum_and_drift_is_on_what_was_counted_only() {
    let counted = BySource { content: 60, tool_calls: 40, ..NONE };
    let account = Account { counted, reported: 1000, source: Source::Mixed };
    assert_eq!(account.raw(), 1100);
    let cases = [(1.25, 1125), (1.0, 1100), (1.011, 1102), (0.5, 1100), (-3.0, 1100), (f64::NAN, 1100)];
    for (drift, expected) in cases {
        assert_eq!(account.adjusted(drift), expected, "{drift}");
    }
    assert_eq!(account.adjusted(f64::INFINITY), u64::MAX);
    let most = Account { counted: BySource { content: u64::MAX, reasoning: 7, ..NONE }, ..account };
    assert_eq!((most.raw(), most.adjusted(1.25)), (u64::MAX, u64::MAX));
}

#[test]
fn an_account_says_its_numbers_in_json() {
    let account = window_tokens(&[], &[], None, &Estimate);
    let json = serde_json::to_value(account).unwrap();
    assert_eq!(json["source"], "estimate");
    assert_eq!(json["counted"]["toolDefinitions"], 0);
}
