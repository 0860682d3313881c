//! Calls of tools that are off go out of the history, with what belongs to them and nothing else.

use seslog::context::steps::disabled_tools::{DisabledToolFilter, NAME};
use seslog::context::steps::tool_pairing::ToolPairing;
use seslog::context::tools::encode;
use seslog::context::{Pipeline, Prompt, code};
use seslog::event::{ApprovalRequest, ApprovalResponse, Message, Part, PartBody, Reasoning, Role, Value};
use seslog::projection::{ProjectedMessage, code as seen};

use crate::common::story::Story;

fn call(id: &str, name: &str) -> Part {
    Part::tool_call(id, name, Value::from([("a", 1_i64.into())]))
}

fn thought(text: &str) -> Part {
    Part::new(PartBody::Reasoning(Reasoning { text: Some(text.to_owned()), ..Reasoning::default() }))
}

fn says(parts: Vec<Part>) -> Message {
    Message::assistant_calls(parts)
}

fn run(story: &Story, disabled: &[&str]) -> Prompt {
    let mut list = Pipeline::new();
    list.push(DisabledToolFilter::new(disabled));
    list.run(&story.model().messages).unwrap()
}

/// Each part of each message in a word, a message a line.
fn shown(messages: &[ProjectedMessage]) -> Vec<String> {
    let word = |part: &Part| match &part.body {
        PartBody::Text(text) => text.text.clone(),
        PartBody::Reasoning(reasoning) => format!("({})", reasoning.text.as_deref().unwrap_or_default()),
        PartBody::ToolCall(call) => format!("{}:{}", call.name, call.id),
        PartBody::ToolResult(result) => match &result.output {
            seslog::event::ToolOutput::Text(text) => format!("{}={text}", result.call_id),
            seslog::event::ToolOutput::Parts(_) => result.call_id.clone(),
        },
        other => other.type_name().to_owned(),
    };
    messages.iter().map(|m| m.content.iter().map(|part| word(part)).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_tool_is_off_by_its_name_or_by_the_identifier_before_it() {
    let long = "x".repeat(70);
    let filter = DisabledToolFilter::new(["run", "web", "a.b", "mcp____files", "maps____find", &long, "end_"]);
    let off = [
        "run",
        "web",
        "web____search",
        "web_____search",
        "web____search____mcp",
        "a.b",
        "a.b____c",
        "mcp____files____read",
        "maps____find",
        "maps____find____mcp",
        &encode("a.b", "c", None),
        &encode("web", &long, Some(&long)),
        &encode(&long, "c", None),
        &encode("end_", "c", None),
    ];
    let on = [
        "",
        "runs",
        "run_",
        "webs____search",
        "web___search",
        "my_web____search",
        "mcp____file",
        "maps____found",
        "search",
        &encode("a.c", "c", None),
        &encode("end", "_c", None),
    ];
    for name in off {
        assert!(filter.is_disabled(name), "{name}");
    }
    for name in on {
        assert!(!filter.is_disabled(name), "{name}");
    }
}

#[test]
fn a_call_goes_with_its_result_its_reasoning_and_a_message_that_held_nothing_else() {
    let story = Story::new()
        .user("u1")
        .say("a1", says(vec![thought("t1"), Part::text("let me see"), call("c1", "web____search"), call("c2", "read")]))
        .result("r1", "c1")
        .result("r2", "c2")
        .say("a2", says(vec![thought("t2"), call("c3", "web____search")]))
        .result("r3", "c3")
        .say("a3", says(vec![thought("t3"), call("c4", "read")]))
        .result("r4", "c4")
        .user("u2");
    let prompt = run(&story, &["web"]);
    assert_eq!(shown(&prompt.messages), ["u1", "let me see read:c2", "c2=r2", "(t3) read:c4", "c4=r4", "u2"]);
    let said: Vec<_> = prompt.diagnostics.iter().map(|one| (one.code, one.call.as_deref())).collect();
    let wanted = [
        (seen::REASONING_LEFT_OUT, None),
        (code::DISABLED_CALL_LEFT_OUT, Some("c1")),
        (seen::ORPHAN_RESULT_LEFT_OUT, Some("c1")),
        (seen::REASONING_LEFT_OUT, None),
        (code::DISABLED_CALL_LEFT_OUT, Some("c3")),
        (seen::ORPHAN_RESULT_LEFT_OUT, Some("c3")),
    ];
    assert_eq!(said, wanted);
    assert_eq!(prompt.stats.steps[0].name, NAME);
}

#[test]
fn what_is_not_concerned_is_not_touched() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).result("r1", "c1").user("u2");
    for disabled in [&[][..], &["web", "ru", "RUN"]] {
        let prompt = run(&story, disabled);
        assert_eq!(prompt.messages, story.model().messages);
        assert_eq!(prompt.diagnostics, []);
    }
    let prompt = run(&story, &["run"]);
    assert_eq!(shown(&prompt.messages), ["u1", "u2"]);
    assert!(prompt.messages.iter().flat_map(|message| &message.content).all(|part| part.is_recorded()));
}

#[test]
fn a_result_is_never_taken_for_that_of_another_call_of_the_same_id() {
    let story = Story::new()
        .user("u1")
        .say("a1", says(vec![call("", "read")]))
        .say("a2", says(vec![call("", "web____search"), call("", "read")]))
        .result("found", "")
        .result("was read", "")
        .user("u2");
    let projected = story.model().messages;
    // The view has given each result to its call; a caller's own messages need not be in order either.
    let mut list = Pipeline::new();
    list.push(DisabledToolFilter::new(["web"])).push(ToolPairing);
    let texts = shown(&list.run(&projected).unwrap().messages).join("|");
    assert!(texts.contains("=was read") && !texts.contains("=found"), "{texts}");
}

#[test]
fn the_reasoning_goes_that_stands_in_another_message_of_the_same_turn() {
    let part_of = |turn: &str, mut message: Message| {
        message.message_id = Some(turn.to_owned());
        message
    };
    let story = Story::new()
        .user("u1")
        .say("t1", part_of("turn1", says(vec![thought("t1")])))
        .say("a1", part_of("turn1", says(vec![call("c1", "web____search")])))
        .result("r1", "c1")
        .say("t2", part_of("turn2", says(vec![thought("t2")])))
        .say("a2", part_of("turn2", says(vec![call("c2", "read")])))
        .result("r2", "c2");
    assert_eq!(shown(&run(&story, &["web"]).messages), ["u1", "(t2)", "read:c2", "c2=r2"]);
}

#[test]
fn questions_and_answers_about_a_call_go_with_it() {
    let question = |id: &str| {
        Part::new(PartBody::ToolApprovalRequest(ApprovalRequest { call_id: id.to_owned(), approval_id: None }))
    };
    let answer = |id: &str| {
        let response =
            ApprovalResponse { call_id: id.to_owned(), approval_id: None, approved: false, reason: Some("no".into()) };
        Part::new(PartBody::ToolApprovalResponse(response))
    };
    let made = |role, parts| {
        ProjectedMessage::made(seslog::projection::View::Model, role, seslog::event::Kind::AssistantText, parts)
    };
    let messages = [
        made(Role::User, vec![Part::text("u1")]),
        made(Role::Assistant, vec![call("c1", "web____search"), question("c1"), call("c2", "read"), question("c2")]),
        made(Role::Tool, vec![answer("c1")]),
        made(Role::Tool, vec![answer("c2")]),
    ];
    let mut list = Pipeline::new();
    list.push(DisabledToolFilter::new(["web"]));
    let prompt = list.run(&messages).unwrap();
    assert_eq!(shown(&prompt.messages), ["u1", "read:c2 tool_approval_request", "tool_approval_response"]);
}
