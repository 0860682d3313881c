//! What others may have of a session: no noise, no placeholders where they are not wanted, nothing that a rule takes out.

mod common;
#[path = "event_support/mod.rs"]
mod event_support;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use common::story::{Story, calling, codes, event, id, names};
use proptest::prelude::*;
use seslog::event::*;
use seslog::projection::{Literals, Options, Placeholders, Projection, Redact, View, code, project};
use seslog::session::State;

fn export_with(story: &Story, set: impl FnOnce(&mut Options)) -> Projection {
    let mut options = Options::default();
    set(&mut options);
    project(&story.state(), View::Export, &options)
}

fn export(story: &Story) -> Projection {
    export_with(story, |_| {})
}

fn placeholders(story: &Story, choice: Placeholders) -> Projection {
    export_with(story, |options| options.export.placeholders = choice)
}

fn without(story: &Story, secret: &str) -> Projection {
    export_with(story, |options| options.export.rules.push(Literals::new([secret])))
}

fn json(view: &Projection) -> String {
    serde_json::to_string(view).unwrap()
}

#[test]
fn the_story_stays_and_the_runtimes_noise_goes() {
    let hook = Attachment { hook_event: Some(HookPhase::Pre), tool_use_id: Some("c".into()), ..Attachment::default() };
    let mut failed = Message::assistant("API Error: overloaded");
    failed.metadata.synthetic = true;
    failed.metadata.eligible_for_model_context = false;
    let mut screen = Message::user("for the screen");
    screen.metadata.is_virtual = true;
    let mut meta = Message::user("for the model");
    meta.metadata.meta = true;
    let story = Story::new()
        .user("u1")
        .calls("a1", &["c"])
        .say("progress", Message::progress(Progress::default()))
        .say("hook", Message::attachment(hook, vec![Part::text("x")]))
        .result("r1", "c")
        .say("event", Message::system_event("turn_duration", "3 s"))
        .say("command", Message::system_event("local_command", "cost: 1"))
        .say("reminder", Message::reminder("mind the time"))
        .say("failed", failed)
        .say("screen", screen)
        .say("meta", meta)
        .say("used", Message::tool_use_summary("read files", vec!["c".into()]))
        .say("file", Message::attachment(Attachment::default(), vec![Part::text("notes")]))
        .assistant("a2")
        .compact("b", "s", &[])
        .user("u2");
    let view = export(&story);
    assert_eq!(names(&view), ["u1", "a1", "r1", "command", "file", "a2", "b", "s", "u2"]);
    assert_eq!(codes(&view, "failed"), [code::API_ERROR_LEFT_OUT]);
    assert_eq!(codes(&view, "reminder"), [code::REMINDER_LEFT_OUT]);
    assert!(view.messages.iter().all(|message| message.view == View::Export));
    for hidden in ["progress", "hook", "event", "reminder", "failed", "screen", "meta", "used"] {
        assert!(view.diagnostics.hidden_message_ids.contains(&id(hidden)), "{hidden}");
    }
}

#[test]
fn placeholders_stay_where_nothing_else_is_asked_for() {
    let story =
        Story::new().calls("a", &["c"]).say("r", Message::missing_result("c")).say("i", Message::interrupted(true));
    assert_eq!(names(&export(&story)), ["a", "r", "i"]);
}

#[test]
fn a_dropped_placeholder_takes_its_call_along() {
    let story = Story::new().user("u").calls("a", &["c1", "c2"]).result("r1", "c1");
    let story = story.say("r2", Message::missing_result("c2")).say("ask", Message::approval_request("c2", None));
    let view = placeholders(&story.say("i", Message::interrupted(false)).assistant("end"), Placeholders::Drop);
    assert_eq!(names(&view), ["u", "a", "r1", "end"]);
    let calls: Vec<&str> =
        view.messages[1].content.iter().filter_map(|part| part.as_tool_call()).map(|c| &*c.id).collect();
    assert_eq!(calls, ["c1"]);
    assert_eq!(codes(&view, "r2"), [code::PLACEHOLDER_LEFT_OUT]);
    assert_eq!(codes(&view, "a"), [code::PLACEHOLDER_LEFT_OUT]);
    assert_eq!(codes(&view, "i"), [code::PLACEHOLDER_LEFT_OUT]);
}

#[test]
fn where_placeholders_are_dropped_no_call_stands_without_a_result() {
    let view = placeholders(&Story::new().user("u").calls("a", &["c"]).user("v"), Placeholders::Drop);
    assert_eq!(names(&view), ["u", "v"]);
    assert_eq!(codes(&view, "a"), [code::UNANSWERED_CALL_LEFT_OUT]);
}

#[test]
fn a_call_whose_real_result_came_late_keeps_it_when_placeholders_are_dropped() {
    let story = Story::new().calls("a", &["c"]).say("made", Message::missing_result("c")).user("u").result("real", "c");
    assert_eq!(names(&placeholders(&story, Placeholders::Drop)), ["a", "u", "real"]);
}

#[test]
fn the_fixed_texts_are_placeholders_wherever_they_come_from() {
    for text in SYNTHETIC_TEXTS {
        let story = Story::new().say("u", Message::user(text)).calls("a", &["c"]);
        let story = story.say("r", Message::tool_result("c", text, true)).user("v");
        assert_eq!(names(&placeholders(&story, Placeholders::Drop)), ["v"], "{text}");
    }
}

#[test]
fn summaries_and_notes_of_the_runtime_are_no_placeholders() {
    let story = Story::new().user("u").compact("b", "s", &[]).say("h", Message::handoff_summary("go on"));
    let story = story.say("s2", Message::branch_summary("tried", None)).say("n", Message::agent_switch_note("now B"));
    assert_eq!(names(&placeholders(&story, Placeholders::Refuse)), ["u", "b", "s", "h", "s2", "n"]);
}

#[test]
fn a_refusal_gives_no_messages_and_names_each_placeholder() {
    let story = Story::new().user("u").calls("a", &["c"]).say("r", Message::missing_result("c"));
    let view = placeholders(&story.say("i", Message::interrupted(false)), Placeholders::Refuse);
    assert!(view.messages.is_empty());
    let refused: Vec<_> = view.diagnostics.items.iter().filter(|item| item.code == code::PLACEHOLDER_REFUSED).collect();
    assert_eq!(refused.iter().map(|item| item.ids[0]).collect::<Vec<_>>(), [id("r"), id("i")]);
    assert_eq!(refused[0].call.as_deref(), Some("c"));
    assert_eq!(names(&placeholders(&Story::new().user("u"), Placeholders::Refuse)), ["u"]);
}

#[test]
fn what_only_its_provider_can_read_goes_if_the_options_say_so() {
    let sealed = Part::new(PartBody::Reasoning(Reasoning { redacted: Some("SEALED".into()), ..Reasoning::default() }));
    let mut call = Part::tool_call("c", "run", Value::Null);
    if let PartBody::ToolCall(call) = &mut call.body {
        call.thought_signature = Some("SEALED".into());
    }
    let own = Part::new(PartBody::Opaque(Opaque { value: "SEALED".into() }));
    let parts = vec![Part::reasoning("I think", Some("SEALED".into())), sealed.clone(), call, own];
    let story =
        Story::new().say("a", Message::assistant_calls(parts)).say("b", Message::assistant_reasoning(vec![sealed]));
    assert_eq!(json(&export(&story)).matches("SEALED").count(), 5);
    let view = export_with(&story, |options| options.export.provider_data = false);
    assert!(!json(&view).contains("SEALED"));
    assert!(json(&view).contains("I think"));
    assert_eq!(names(&view), ["a"], "nothing is left of b");
    assert_eq!(codes(&view, "b"), [code::PROVIDER_DATA_LEFT_OUT]);
}

#[test]
fn a_rule_takes_its_words_out_of_every_place_and_the_diagnostics_name_each_message() {
    const SECRET: &str = "hunter2";
    let text = |around: &str| format!("{around} {SECRET} {around}");
    let value = || {
        let inner = Value::List(vec![text("item").into(), Value::Int(5)]);
        Value::Map(vec![(text("name"), text("field").into()), ("list".to_owned(), inner)])
    };
    let file = |source| {
        let media = Media { media_type: "text/plain".into(), source, name: Some(text("f")), width: None, height: None };
        Part::new(PartBody::File(media))
    };
    // The text file "my hunter2 file", inline.
    const INLINE: &str = "bXkgaHVudGVyMiBmaWxl";
    let files = vec![
        file(MediaSource::Path(text("/home"))),
        file(MediaSource::Url(text("https://x"))),
        file(MediaSource::Data(INLINE.into())),
        file(MediaSource::Url(format!("data:text/plain;base64,{INLINE}"))),
    ];
    let mut call = Part::tool_call("c", text("tool"), value());
    call.extra = vec![(text("extra"), value())];
    let mut result =
        Message::tool_result_parts("c", vec![Part::text(text("out")), Part::new(PartBody::Json(value()))], false);
    if let PartBody::ToolResult(result) = &mut result.content[0].body {
        result.raw = Some(value());
    }
    let bash = BashExecution {
        command: text("echo"),
        output: text("out"),
        full_output_path: Some(text("/tmp")),
        ..BashExecution::default()
    };
    let member = CardMessage { id: Some(text("id")), at: None, message: Message::assistant(text("said")) };
    let council = AgentCouncil { members: vec![member.to_item().unwrap()] };
    let task = Task { title: Some(text("t")), instruction: Some(text("i")), status: Some(text("s")) };
    let verify = Verify { feedback: Some(text("no")) };
    let new = |role, kind| Message::new(role, kind, Vec::new());
    let raw = ToolCall {
        id: text("id"),
        name: "run".into(),
        input: ToolInput::Text(text("{")),
        incomplete: true,
        thought_signature: None,
    };
    let story = Story::new()
        .say("clean", Message::user("nothing"))
        .say("user", Message::new(Role::User, Kind::UserInput, [vec![Part::text(text("u"))], files].concat()))
        .say("thought", Message::assistant_reasoning(vec![Part::reasoning(text("r"), Some("signed".into()))]))
        .say("call", Message::assistant_calls(vec![call]))
        .say("result", result)
        .say("raw", Message::assistant_calls(vec![Part::new(PartBody::ToolCall(raw))]))
        .say("no", Message::approval_response("c", false, Some(text("no"))))
        .say("bash", Message::bash(bash))
        .say("custom", Message::custom(text("type"), vec![Part::text("x")], Some(value())))
        .say("file", Message::attachment(Attachment { attachment: Some(value()), ..Attachment::default() }, Vec::new()))
        .say("council", new(Role::Assistant, Kind::AgentCouncil(council)))
        .say("task", new(Role::Assistant, Kind::Task(task)))
        .say("verify", new(Role::User, Kind::Verify(verify)))
        .say("own", Message::assistant_calls(vec![Part::new(PartBody::Opaque(Opaque { value: value() }))]));
    assert!(json(&export(&story)).contains(SECRET));
    let view = without(&story, SECRET);
    let left = json(&view);
    assert!(!left.contains(SECRET) && !left.contains("aHVudGVyMi"), "{left}");
    assert!(!left.contains("signed"), "a signature of words that changed says nothing any more");
    for message in &names(&view) {
        let redacted = codes(&view, message).contains(&code::REDACTED);
        assert_eq!(redacted, message != "clean", "{message}");
    }
}

#[test]
fn what_a_rule_does_to_a_calls_id_keeps_the_pairs_apart() {
    #[derive(Debug)]
    struct NoDigits;
    impl Redact for NoDigits {
        fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
            match text.contains(|c: char| c.is_ascii_digit()) {
                true => text.replace(|c: char| c.is_ascii_digit(), "#").into(),
                false => text.into(),
            }
        }
    }
    let story = Story::new().calls("a", &["c1", "c2"]).result("r", "c2").result("q", "c1");
    let view = export_with(&story, |options| options.export.rules.push(NoDigits));
    let calls: Vec<&str> = view.messages[0].content.iter().filter_map(|p| p.as_tool_call()).map(|c| &*c.id).collect();
    let answered = |index: usize| &*view.messages[index].content[0].as_tool_result().unwrap().call_id;
    assert_eq!(calls, ["c#", "c#-2"]);
    // The results stand in the order of their calls.
    assert_eq!([answered(1), answered(2)], ["c#", "c#-2"]);
}

#[test]
fn a_number_that_a_rule_takes_out_becomes_text() {
    let story = Story::new()
        .say("a", Message::assistant_calls(vec![Part::tool_call("c", "pay", [("card", Value::Int(4111))].into())]));
    let view = without(&story, "4111");
    assert!(json(&view).contains(r#"{"card":"[redacted]"}"#), "{}", json(&view));
}

#[test]
fn a_rule_that_changes_nothing_leaves_everything_shared() {
    let story = Story::new().user("u").calls("a", &["c"]).result("r", "c");
    assert_eq!(without(&story, "not there"), export(&story));
}

/// Writes down each text that it is asked about.
#[derive(Debug, Default)]
struct Listener(Mutex<HashSet<String>>);

impl Redact for Listener {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.lock().unwrap().insert(text.to_owned());
        Cow::Borrowed(text)
    }
}

/// Texts inside a document that somebody may have written.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        // What may be base64 text stands for something else.
        Value::Text(text) => {
            let is_digit = |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=".contains(c);
            if !text.chars().all(is_digit) && Uuid::try_parse(text).is_err() {
                found.push(text.clone());
            }
        }
        Value::List(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Map(fields) => {
            fields.iter().filter(|(name, _)| name != "type").for_each(|(_, item)| texts(item, found));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn the_rules_are_asked_about_every_text_of_every_kind_of_message(mut message in event_support::message()) {
        message.metadata = Metadata::default();
        let state = State::from_events([event("m", None, Body::Message(Box::new(message)))]);
        let listener = Arc::new(Listener::default());
        let mut options = Options::default();
        options.export.rules = seslog::projection::Rules::of([listener.clone() as Arc<dyn Redact>]);
        let view = project(&state, View::Export, &options);
        let asked = listener.0.lock().unwrap();
        for shown in &view.messages {
            let document = Value::from_serialize(shown).unwrap();
            let mut said = Vec::new();
            for field in ["content", "fields"] {
                texts(document.get(field).unwrap_or(&Value::Null), &mut said);
            }
            for text in said {
                prop_assert!(asked.contains(&text), "{:?} in {:?}", text, document);
            }
        }
    }

    #[test]
    fn where_placeholders_are_dropped_every_call_has_its_result(
        steps in prop::collection::vec((0..4u8, prop_oneof![Just("c1"), Just("c2"), Just("")]), 0..14)
    ) {
        let mut story = Story::new().user("u");
        for (index, (step, call)) in steps.into_iter().enumerate() {
            let name = format!("m{index}");
            story = match step {
                0 => story.say(&name, calling(&[call])),
                1 => story.result(&name, call),
                2 => story.say(&name, Message::missing_result(call)),
                _ => story.user(&name),
            };
        }
        let view = placeholders(&story, Placeholders::Drop);
        let parts = || view.messages.iter().flat_map(|message| &message.content);
        prop_assert!(!json(&view).contains(MISSING_TOOL_RESULT));
        let calls = parts().filter(|part| part.as_tool_call().is_some()).count();
        let results = parts().filter(|part| part.as_tool_result().is_some()).count();
        prop_assert!(calls <= results);
    }
}
