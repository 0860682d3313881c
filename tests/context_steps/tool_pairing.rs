//! Calls and results, told as words.

use seslog::context::steps::tool_pairing::ToolPairing;
use seslog::event::*;
use seslog::projection::ProjectedMessage;
use seslog::wire::{Options, Provider, payload};

use crate::random::Random;
use crate::support::{codes, run, session};

/// One message a word: `u1` a person's, `x1` an attachment, `a1(c1,c2)` calls, `r1(c1)` results, `z1(c1)` synthetic
/// results, `d1(c1)` a refusal, `y1(c1)` an approval. Among the parts `=c1` is a result, `+c1` a text. Behind it `#m` is
/// the provider's id of the message.
fn told(words: &str) -> Vec<ProjectedMessage> {
    session(words.split_whitespace().map(message))
}

fn message(word: &str) -> Message {
    let (word, message_id) = word.split_once('#').map_or((word, None), |(word, id)| (word, Some(id)));
    let (name, parts) = word.trim_end_matches(')').split_once('(').unwrap_or((word, ""));
    let (role, kind) = match &name[..1] {
        "u" => (Role::User, Kind::UserInput),
        "x" => (Role::User, Kind::Attachment(Attachment::default())),
        "a" => (Role::Assistant, Kind::ToolCall),
        "d" | "y" => (Role::Tool, Kind::ToolApprovalResponse),
        _ => (Role::Tool, Kind::ToolResult),
    };
    let mut content: Vec<Part> = parts.split(',').filter(|part| !part.is_empty()).map(|p| part(name, p)).collect();
    if content.is_empty() {
        content.push(Part::text(name));
    }
    let mut message = Message::new(role, kind, content);
    message.metadata.synthetic = name.starts_with('z');
    message.message_id = message_id.map(str::to_owned);
    message
}

fn part(name: &str, word: &str) -> Part {
    match (&name[..1], &word[..1]) {
        (_, "+") => Part::text(&word[1..]),
        (_, "=") => Part::tool_result(&word[1..], name, false),
        ("a", _) => Part::tool_call(word, "run", Value::Null),
        ("d" | "y", _) => Part::new(PartBody::ToolApprovalResponse(ApprovalResponse {
            call_id: word.to_owned(),
            approval_id: None,
            approved: name.starts_with('y'),
            reason: None,
        })),
        _ => Part::tool_result(word, name, false),
    }
}

/// The messages in the same words; `!(c1)` is a result that was put in.
fn words(messages: &[ProjectedMessage]) -> String {
    let words = messages.iter().map(|message| {
        let mut name = String::new();
        let parts = message.content.iter().filter_map(|part| match &part.body {
            PartBody::ToolCall(call) => {
                name = "a".to_owned();
                Some(call.id.clone())
            }
            PartBody::ToolResult(result) => {
                assert_eq!(message.role, Role::Tool, "a result stands in a message of a tool");
                let ToolOutput::Text(text) = &result.output else { panic!("a text") };
                name.clone_from(text);
                if text == MISSING_TOOL_RESULT {
                    name = "!".to_owned();
                    assert!(result.is_error && message.metadata.synthetic);
                }
                Some(result.call_id.clone())
            }
            PartBody::ToolApprovalResponse(response) => {
                name = if response.approved { "y" } else { "d" }.to_owned();
                Some(response.call_id.clone())
            }
            PartBody::Text(text) => Some(format!("+{}", text.text)),
            _ => None,
        });
        let parts: Vec<String> = parts.collect();
        let parts = parts.join(",");
        match (name.as_str(), parts.strip_prefix('+')) {
            ("", Some(text)) => text.to_owned(),
            _ => format!("{name}({parts})"),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn each_call_has_its_result_straight_behind_its_message() {
    let (missing, moved) = ("missing_result_filled", "result_moved");
    let (orphan, second) = ("orphan_result_left_out", "duplicate_result_left_out");
    let cases: &[(&str, &str, &[&str])] = &[
        // In order: nothing is done.
        ("u1 a(c1,c2) r1(c1) r2(c2) u2", "u1 a(c1,c2) r1(c1) r2(c2) u2", &[]),
        ("a(c1,c2) r1(c1,c2) a(c1) r3(c1)", "a(c1,c2) r1(c1,c2) a(c1) r3(c1)", &[]),
        ("a(c,c) r1(c) r2(c) y1(c) u1", "a(c,c) r1(c) r2(c) y(c) u1", &[]),
        ("", "", &[]),
        // What stands between moves behind.
        ("a(c1) u1 r1(c1) u2", "a(c1) r1(c1) u1 u2", &[moved]),
        ("a(c1) x1 r1(c1)", "a(c1) r1(c1) x1", &[moved]),
        ("a(c1) y1(c1) r1(c1)", "a(c1) r1(c1) y(c1)", &[moved]),
        ("a(c1) r1(+said,c1) u1", "a(c1) r1(c1) said u1", &[moved]),
        ("a(c1,=c1) u1", "a(c1) a(c1) u1", &[moved]),
        // The order of the calls.
        ("a(c1,c2) r2(c2) r1(c1)", "a(c1,c2) r1(c1) r2(c2)", &[moved, moved]),
        ("a(c1,c2) r0(c2,c1)", "a(c1,c2) r0(c1,c2)", &[moved, moved]),
        ("a(c1) a(c2) r0(c1,c2)", "a(c1) r0(c1) a(c2) r0(c2)", &[moved, moved]),
        // Orphans, and second results.
        ("r1(c1) u1", "u1", &[orphan]),
        ("r1(c1) a(c1)", "a(c1) !(c1)", &[orphan, missing]),
        ("a(c1) r1(c1) r2(c1)", "a(c1) r1(c1)", &[second]),
        ("a(c1) r1(c1,+words,c9)", "a(c1) r1(c1) words", &[orphan]),
        // No result.
        ("a(c1)", "a(c1) !(c1)", &[missing]),
        ("a(c1,c2) r2(c2) u1", "a(c1,c2) !(c1) r2(c2) u1", &[missing]),
        ("a(c1,c2) r1(c1) u1", "a(c1,c2) r1(c1) !(c2) u1", &[missing]),
        ("a(c1) u1 a(c2) r2(c2)", "a(c1) !(c1) u1 a(c2) r2(c2)", &[missing]),
        // An id that is used again is the latest call's.
        ("a(c) r1(c) a(c) r2(c) a(c)", "a(c) r1(c) a(c) r2(c) a(c) !(c)", &[missing]),
        ("a(c) a(c) r1(c) r2(c)", "a(c) !(c) a(c) r1(c)", &[second, missing]),
        // Two messages of ours that are one of the provider's share their ids.
        ("a(c)#m a(c)#m r1(c) r2(c)", "a(c) r1(c) a(c) r2(c)", &[moved, moved]),
        ("a(c)#m u1 a(c)#m r1(c) r2(c)", "a(c) !(c) u1 a(c) r1(c)", &[second, missing]),
        // A real result counts more than a synthetic one.
        ("a(c1) z1(c1) r1(c1)", "a(c1) r1(c1)", &[second]),
        ("a(c1) r1(c1) z1(c1)", "a(c1) r1(c1)", &[second]),
        ("a(c,c) z1(c) r1(c) r2(c)", "a(c,c) r2(c) r1(c)", &[second, moved, moved]),
        // A refusal is an answer, unless there is a result.
        ("a(c1) d1(c1) u1", "a(c1) d(c1) u1", &[]),
        ("a(c1,c2) d1(c2) r1(c1)", "a(c1,c2) r1(c1) d(c2)", &[moved, moved]),
        ("a(c1) u1 d1(c1)", "a(c1) d(c1) u1", &[moved]),
        ("a(c1) d1(c1) r1(c1)", "a(c1) r1(c1) d(c1)", &[moved]),
        ("d1(c1) u1", "d(c1) u1", &[]),
        // What shares the id of a refused call gets no result that would be taken for that one's.
        ("a(c,c) d1(c) u1", "a(c,c) d(c) u1", &[]),
        ("a(c)#m a(c)#m d1(c)", "a(c) d(c) a(c)", &[moved]),
        ("a(c,c) d1(c) a(c) r1(c)", "a(c,c) d(c) a(c) r1(c)", &[]),
    ];
    for (before, after, said) in cases {
        let prompt = run(ToolPairing, &told(before));
        assert_eq!(words(&prompt.messages), *after, "of {before}");
        assert_eq!(codes(&prompt), *said, "of {before}");
        let again = run(ToolPairing, &prompt.messages);
        assert_eq!(again.messages, prompt.messages, "of {before}, done again");
        assert!(again.diagnostics.is_empty(), "of {before}, done again: {:?}", again.diagnostics);
    }
}

#[test]
fn nothing_is_copied_and_a_call_that_the_stream_cut_wants_no_result() {
    let mut cut = Part::tool_call("c1", "run", Value::Null);
    if let PartBody::ToolCall(call) = &mut cut.body {
        call.incomplete = true;
    }
    let messages = session([
        Message::assistant_calls(vec![cut, Part::tool_call("c2", "run", Value::Null)]),
        Message::user("wait"),
        Message::tool_result("c2", "done", false),
    ]);
    let prompt = run(ToolPairing, &messages);
    assert_eq!(words(&prompt.messages), "a(c1,c2) done(c2) wait");
    assert!(prompt.messages.iter().flat_map(|message| &message.content).all(|part| part.is_recorded()));
}

#[test]
fn a_window_of_calls_out_of_order_costs_what_its_length_says() {
    let calls = |n: usize| (0..n).map(|c| format!("c{c}")).collect::<Vec<_>>();
    for n in [1, 20_000] {
        let ids = calls(n);
        let asked = Message::assistant_calls(ids.iter().map(|c| Part::tool_call(c, "run", Value::Null)).collect());
        let answered = ids.iter().rev().map(|c| Message::tool_result(c, "done", false));
        let prompt = run(ToolPairing, &session(std::iter::once(asked).chain(answered)));
        assert_eq!(prompt.messages.len(), n + 1);
        let asked = ids.iter().map(|c| Message::assistant_calls(vec![Part::tool_call(c, "run", Value::Null)]));
        let all: Vec<Part> = ids.iter().map(|c| Part::tool_result(c, "done", false)).collect();
        let answered = Message::new(Role::Tool, Kind::ToolResult, all);
        let prompt = run(ToolPairing, &session(asked.chain([answered])));
        assert_eq!(prompt.messages.len(), 2 * n);
    }
}

#[test]
fn a_body_of_what_was_paired_is_the_one_that_the_wire_makes_of_what_was_not() {
    let mut random = Random::new(7);
    for round in 0..2_000 {
        let count = random.below(9);
        let word = |random: &mut Random| {
            let call = |random: &mut Random| format!("c{}", random.below(3));
            let (one, two) = (call(random), call(random));
            let message_id = ["", "#m"][random.below(2)];
            match random.below(8) {
                0 => "u1".to_owned(),
                1 => "x1".to_owned(),
                2 => format!("a({one}){message_id}"),
                3 => format!("a({one},{two}){message_id}"),
                4 => format!("d({one})"),
                5 => format!("r1({one},{two})"),
                _ => format!("r2({one})"),
            }
        };
        let words: Vec<String> = (0..count).map(|_| word(&mut random)).collect();
        let messages = told(&words.join(" "));
        let prompt = run(ToolPairing, &messages);
        for provider in Provider::ALL {
            let body = |messages: &[ProjectedMessage]| {
                let options = Options::for_upstream("anthropic");
                let body = payload(messages, provider, &options);
                let is_about_pairing = |code: &str| code.contains("result_left_out");
                let said = body.diagnostics.iter().filter(|item| is_about_pairing(item.code)).count();
                (body.to_json(), said)
            };
            let (paired, said) = body(&prompt.messages);
            assert_eq!(paired, body(&messages).0, "round {round} for {}: {words:?}", provider.name());
            assert_eq!(said, 0, "round {round}: {words:?} left something to the wire");
        }
    }
}
