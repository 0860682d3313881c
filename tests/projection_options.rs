//! What a caller can choose of the views that a model reads.

mod common;

use common::story::{Story, codes, id, names, text_of};
use seslog::event::*;
use seslog::projection::{Options, View, code, project};

fn options(choose: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    choose(&mut options);
    options
}

fn picture(name: &str) -> Part {
    let source = MediaSource::Data("aTE=".to_owned());
    let media_type = "image/png".to_owned();
    let media = Media { media_type, source, name: Some(name.to_owned()), width: Some(10), height: Some(10) };
    Part::new(PartBody::Image(media))
}

fn thinking(provider: Option<&str>) -> Part {
    let reasoning =
        Reasoning { text: Some("hm".to_owned()), signature: Some("c2ln".to_owned()), ..Reasoning::default() };
    Part { provider: provider.map(str::to_owned), ..Part::new(PartBody::Reasoning(reasoning)) }
}

fn with_output(call: &str, parts: Vec<Part>) -> Message {
    let mut message = Message::tool_result(call, "", false);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.output = ToolOutput::Parts(parts);
        result.raw = Some(Value::from("for the screen"));
    }
    message
}

/// A picture of a person's, one in a tool's output, and a call with reasoning.
fn story() -> Story {
    let mut look = Message::user("x");
    look.content = vec![Part::text("look"), picture("a.png"), picture("b.png")];
    let call = Message::assistant_calls(vec![thinking(Some("anthropic")), Part::tool_call("c", "shoot", Value::Null)]);
    Story::new().say("u1", look).say("a1", call).say("r1", with_output("c", vec![Part::text("done"), picture("c.png")]))
}

fn note_count(texts: &str) -> usize {
    texts.matches("[Picture not shown").count()
}

#[test]
fn media_that_the_model_does_not_take_becomes_a_note_in_its_place_as_many_notes_as_pictures() {
    let view = story().model_with(&options(|options| options.media = Some(["application/pdf".to_owned()].into())));
    assert_eq!(note_count(&text_of(&view, "u1")), 2);
    assert!(text_of(&view, "u1").starts_with("look\n"), "the person's words stay where they are");
    assert_eq!(note_count(&text_of(&view, "r1")), 1);
    assert!(codes(&view, "u1").contains(&code::MEDIA_DEGRADED) && codes(&view, "r1").contains(&code::MEDIA_DEGRADED));

    let all = story().model_with(&options(|options| options.media = Some(["image/*".to_owned()].into())));
    assert_eq!(all, story().model());
}

#[test]
fn who_sums_up_reads_what_the_model_reads_with_notes_for_pictures() {
    let compact = project(&story().state(), View::Compact, &Options::default());
    assert_eq!(names(&compact), names(&story().model()));
    assert_eq!(note_count(&text_of(&compact, "u1")) + note_count(&text_of(&compact, "r1")), 3);
    assert!(compact.messages.iter().all(|message| message.view == View::Compact));
    let json = serde_json::to_string(&compact).unwrap();
    assert!(!json.contains("aTE="), "{json}");

    // A kind of an agent's own is flattened by one function, so that both read the same.
    let bash = Kind::BashExecution(BashExecution { command: "ls".to_owned(), ..BashExecution::default() });
    let story = Story::new().say("b", Message::new(Role::User, bash, Vec::new()));
    let compact = project(&story.state(), View::Compact, &Options::default());
    assert_eq!(text_of(&compact, "b"), text_of(&story.model(), "b"));
}

#[test]
fn what_a_result_holds_for_the_screen_is_not_in_the_json_of_a_models_view() {
    let shown = |view| serde_json::to_string(&project(&story().state(), view, &Options::default())).unwrap();
    assert!(!shown(View::Model).contains("for the screen") && !shown(View::Compact).contains("for the screen"));
    assert!(shown(View::Transcript).contains("for the screen"));
}

#[test]
fn reasoning_of_another_provider_or_model_is_left_out_where_they_are_named() {
    let with = |provider: &str, model: Option<&str>| {
        let mut story = story();
        if let Body::Message(message) = &mut story.events[1].body {
            message.model = Some("claude-sonnet-4-5".to_owned());
        }
        let view = story.model_with(&options(|options| {
            options.provider = Some(provider.to_owned());
            options.model = model.map(str::to_owned);
        }));
        let has = view.messages[1].content.iter().any(|part| matches!(part.body, PartBody::Reasoning(_)));
        (has, codes(&view, "a1").contains(&code::FOREIGN_REASONING_LEFT_OUT))
    };
    assert_eq!(with("anthropic", None), (true, false));
    assert_eq!(with("anthropic", Some("claude-sonnet-4-5-20250929")), (true, false));
    assert_eq!(with("anthropic", Some("claude-opus-4-1")), (false, true));
    assert_eq!(with("openai", None), (false, true));
}

#[test]
fn calls_of_a_tool_that_is_gone_become_text_with_their_results() {
    let gone = options(|options| options.tools = Some(["read".to_owned()].into()));
    let calls = vec![
        thinking(Some("anthropic")),
        Part::tool_call("c1", "shoot", Value::from([("at", "noon".into())])),
        Part::tool_call("c2", "read", Value::Null),
    ];
    let story = Story::new().user("u").say("a", Message::assistant_calls(calls)).result("r1", "c1").result("r2", "c2");
    let view = story.model_with(&gone);
    assert_eq!(names(&view), ["u", "a", "r2", "r1"]);
    assert_eq!(text_of(&view, "a"), "[Called the tool shoot, which is no longer there, with: {\"at\":\"noon\"}]\n");
    assert_eq!(view.messages[2].role, Role::Tool);
    assert_eq!(view.messages[3].role, Role::User);
    assert_eq!(text_of(&view, "r1"), "[The tool shoot, which is no longer there, answered:]\nr1");
    let has_reasoning = view.messages[1].content.iter().any(|part| matches!(part.body, PartBody::Reasoning(_)));
    assert!(!has_reasoning, "what a provider signed led to a call");
    assert_eq!(codes(&view, "a"), [code::GONE_TOOL_AS_TEXT, code::REASONING_LEFT_OUT]);
}

#[test]
fn a_view_without_the_boundary_begins_as_far_back_as_the_state_does() {
    let story = Story::new().user("u1").calls("a1", &["c"]).user("u2").compact("b", "s", &["u2"]).user("u3");
    let whole = options(|options| options.apply_compact_boundary = false);
    let view = story.model_with(&whole);
    assert_eq!(names(&view), ["u1", "a1", "u2", "u3"]);
    assert_eq!(view.diagnostics.applied_compact_boundary_id, None);
    assert_eq!(names(&story.model()), ["s", "u2", "u3"]);

    // What a resume replays does not go back further than the boundary.
    let trimmed = project(&story.state().trimmed(), View::Model, &whole);
    assert_eq!(names(&trimmed), ["s", "u2", "u3"]);
    assert_eq!(trimmed.diagnostics.applied_compact_boundary_id, Some(id("b")));
}

#[test]
fn reminders_are_shown_by_policy_and_to_the_agent_that_they_name() {
    let reminder = |agent: Option<&str>| {
        let mut message = Message::new(Role::System, Kind::RuntimeReminder, vec![Part::text("mind the time")]);
        message.metadata.agent_name = agent.map(str::to_owned);
        message
    };
    let story = Story::new().user("u").say("all", reminder(None)).say("ann", reminder(Some("ann")));
    let shown = |active: Option<&str>, reminders: bool| {
        names(&story.model_with(&options(|options| {
            options.active_agent = active.map(str::to_owned);
            options.runtime_reminders = reminders;
        })))
    };
    assert_eq!(shown(None, true), ["u", "all", "ann"]);
    assert_eq!(shown(Some("ann"), true), ["u", "all", "ann"]);
    assert_eq!(shown(Some("bob"), true), ["u", "all"]);
    assert_eq!(shown(Some("ann"), false), ["u"]);
}

/// The worked example of the layers: a note, a question, a call, a pruned result, an answer.
#[test]
fn each_model_message_says_its_role_its_kind_and_where_it_comes_from() {
    let read = Part::tool_call("call_1", "Read", Value::from([("file_path", "src/auth.rs".into())]));
    let story = Story::new()
        .say("m1", Message::system_note("The workspace is /repo"))
        .say("m2", Message::user("Why does the login fail?"))
        .say("m3", Message::assistant_calls(vec![read]))
        .say("m4", Message::tool_result("call_1", "a long file", false))
        .say("m5", Message::assistant("I look for the cause first."))
        .prune("p", &["m4"]);
    let view = serde_json::to_value(story.model()).unwrap();
    let message = |name: &str, role: &str, kind: &str, content: serde_json::Value, compacted: bool| {
        let mut metadata = serde_json::json!({});
        if compacted {
            metadata = serde_json::json!({ "compacted": true });
        }
        serde_json::json!({
            "view": "model", "role": role, "semanticType": kind, "id": id(name), "sourceMessageIds": [id(name)],
            "originalIds": [name], "at": 0, "content": content, "metadata": metadata,
        })
    };
    let text = |text: &str| serde_json::json!([{"type": "text", "text": text}]);
    let call = serde_json::json!([
        {"type": "tool_call", "id": "call_1", "name": "Read", "input": {"file_path": "src/auth.rs"}}
    ]);
    let stub = serde_json::json!([
        {"type": "tool_result", "callId": "call_1", "output": "[Old tool result content cleared]"}
    ]);
    let expected = [
        message("m1", "system", "system_note", text("The workspace is /repo"), false),
        message("m2", "user", "user_input", text("Why does the login fail?"), false),
        message("m3", "assistant", "tool_call", call, false),
        message("m4", "tool", "tool_result", stub, true),
        message("m5", "assistant", "assistant_text", text("I look for the cause first."), false),
    ];
    assert_eq!(view["messages"], serde_json::json!(expected));
    assert_eq!(view["diagnostics"]["compactedMessageIds"], serde_json::json!([id("m4")]));
}

/// A message beside the chain is shown for its result; whatever else it holds follows the same rules as on the chain.
#[test]
fn what_stands_beside_a_result_that_hangs_beside_the_chain_follows_the_rules_of_the_view() {
    let mut beside = Message::tool_result("c", "done", false);
    beside.content.extend([Part::text("and words"), picture("d.png"), thinking(Some("openai"))]);
    beside.content.push(Part::tool_result("nobody", "orphan", false));
    let call = Message::assistant_calls(vec![Part::tool_call("c", "shoot", Value::Null)]);
    let mut story = Story::new().user("u1").say("a1", call).user("u2");
    story.events.push(common::story::event("r", Some("u1"), Body::Message(Box::new(beside))));
    let story = story.head("h", "u2");
    let compact = project(&story.state(), View::Compact, &options(|options| options.include_reasoning = false));
    let parts = compact.messages.iter().filter(|message| message.source_message_ids == [id("r")]);
    let parts: Vec<&Part> = parts.flat_map(|message| &message.content).map(|part| &**part).collect();
    assert!(!parts.iter().any(|part| matches!(part.body, PartBody::Image(_) | PartBody::Reasoning(_))), "{parts:#?}");
    let said = codes(&compact, "r");
    for code in [code::MEDIA_DEGRADED, code::REASONING_LEFT_OUT, code::ORPHAN_RESULT_LEFT_OUT] {
        assert!(said.contains(&code), "{code} is not among {said:?}");
    }
}

#[test]
fn a_long_result_keeps_the_note_of_each_picture() {
    let view = story().model_with(&options(|options| {
        options.media = Some(Default::default());
        options.tool_result_soft_limit_chars = Some(2);
    }));
    assert_eq!(note_count(&text_of(&view, "r1")), 1);
    assert!(view.messages.iter().any(|message| message.metadata.truncated));
    assert!(view.diagnostics.injected_notes.iter().any(|note| note.contains("c.png")));
}
