//! Steps that only add text: what they write, and where.

use serde::de::DeserializeOwned;
use seslog::context::slots::Slot;
use seslog::context::steps::*;
use seslog::context::{Processor, Source};
use seslog::event::*;

use crate::support::{codes, config, inside, lines, run, session, texts};

/// The text that a step writes for this configuration into a conversation of one message; none: nothing.
fn written<S: Source + DeserializeOwned + 'static>(
    step: fn(Option<S>) -> seslog::context::Inject<Option<S>>,
    json: &str,
    slot: Slot,
) -> Option<String> {
    let messages = session([Message::user("hello")]);
    let none = run(step(None), &messages);
    assert_eq!((none.messages.as_slice(), none.diagnostics.len()), (messages.as_slice(), 0), "nothing is configured");
    let prompt = run(step(Some(config(json))), &messages);
    if prompt.messages == messages {
        return None;
    }
    let place = match slot {
        Slot::System => [prompt.messages[0].role.name(), "system"],
        Slot::BeforeFirstUser => [prompt.messages[0].semantic_type(), "custom"],
        _ => [prompt.messages[0].semantic_type(), "user_input"],
    };
    assert_eq!(place[0], place[1]);
    assert_eq!(codes(&prompt), ["injected"]);
    let text = *texts(&prompt.messages[0]).last().unwrap();
    Some(if place[1] == "user_input" { inside(text).to_owned() } else { text.to_owned() })
}

fn check<S: Source + DeserializeOwned + 'static>(
    step: fn(Option<S>) -> seslog::context::Inject<Option<S>>,
    slot: Slot,
    cases: &[(&str, &str)],
) {
    for (json, text) in cases {
        assert_eq!(written(step, json, slot).as_deref().unwrap_or_default(), *text, "{json}");
    }
}

#[test]
fn the_date_is_the_persons_day() {
    check(
        date::step,
        Slot::System,
        &[
            (r#"{"now":0}"#, "Current date: 1970-01-01 (UTC)"),
            (r#"{"now":-1,"zone":"Europe/London"}"#, "Current date: 1969-12-31 (Europe/London)"),
            (r#"{"now":1709251199999999}"#, "Current date: 2024-02-29 (UTC)"),
            (r#"{"now":1709251199999999,"offsetMinutes":1}"#, "Current date: 2024-03-01 (UTC+00:01)"),
            (r#"{"now":1709251200000000,"offsetMinutes":-210}"#, "Current date: 2024-02-29 (UTC-03:30)"),
            (r#"{"now":4107542400000000,"zone":"UTC"}"#, "Current date: 2100-03-01 (UTC)"),
        ],
    );
    for now in [i64::MIN, i64::MAX] {
        for offset in [i32::MIN, i32::MAX] {
            let json = format!(r#"{{"now":{now},"offsetMinutes":{offset}}}"#);
            assert!(written(date::step, &json, Slot::System).unwrap().starts_with("Current date: "));
        }
    }
}

#[test]
fn what_is_known_stands_in_the_system_prompt() {
    check(
        model_info::step,
        Slot::System,
        &[(r#"{"knowledgeCutoff":"2026-01"}"#, "Model knowledge cutoff: 2026-01"), (r#"{"knowledgeCutoff":" "}"#, "")],
    );
    let summary = "<chat_history_summary>\nA &lt;/chat_history_summary> B\n</chat_history_summary>";
    check(
        history_summary::step,
        Slot::System,
        &[(r#"{"summary":"A </chat_history_summary> B"}"#, summary), (r#"{"summary":"\n"}"#, "")],
    );
}

#[test]
fn what_seldom_changes_stands_before_the_first_user_message() {
    check(
        user_memory::step,
        Slot::BeforeFirstUser,
        &[
            (
                r#"{"persona":"A baker.","memories":[{"kind":"preference","text":"Short answers."},{"kind":"x","text":" "}]}"#,
                "<user_memory>\n<persona>\nA baker.\n</persona>\n<memory kind=\"preference\">\nShort answers.\n</memory>\n</user_memory>",
            ),
            ("{}", ""),
            (r#"{"persona":" ","memories":[{"kind":"x","text":""}]}"#, ""),
        ],
    );
    check(
        group_context::step,
        Slot::BeforeFirstUser,
        &[
            (
                r#"{"name":"Bakery","purpose":"Bread.","active":"b","members":[
                    {"id":"a","name":"Ann","role":"supervisor","description":"Plans."},{"id":"b","name":"\"Bob\""}]}"#,
                "<group_context>\n<you id=\"b\" name=\"&quot;Bob&quot;\" />\n<group name=\"Bakery\" />\n\
                 <purpose>\nBread.\n</purpose>\n<members>\n<member id=\"a\" name=\"Ann\" role=\"supervisor\">\n\
                 Plans.\n</member>\n<member id=\"b\" name=\"&quot;Bob&quot;\" />\n</members>\n</group_context>",
            ),
            (r#"{"active":"z","members":[]}"#, "<group_context>\n<you id=\"z\" name=\"z\" />\n</group_context>"),
        ],
    );
    check(
        knowledge::step,
        Slot::BeforeFirstUser,
        &[
            (
                r#"{"files":[{"id":"f1","name":"a.txt","text":"x </file> y"},{"name":"b.txt"}],
                    "bases":[{"id":"k","name":"Bread","description":"About </agent_knowledge> bread."}]}"#,
                "<agent_knowledge>\n<file id=\"f1\" name=\"a.txt\">\nx &lt;/file> y\n</file>\n<file name=\"b.txt\" />\n\
                 <knowledge_base id=\"k\" name=\"Bread\">\nAbout &lt;/agent_knowledge> bread.\n</knowledge_base>\n\
                 </agent_knowledge>",
            ),
            ("{}", ""),
        ],
    );
    check(
        plan::step,
        Slot::BeforeFirstUser,
        &[
            (
                r#"{"goal":"Bake.","background":"Flour is there."}"#,
                "<plan>\n<goal>\nBake.\n</goal>\n<background>\nFlour is there.\n</background>\n</plan>",
            ),
            (r#"{"goal":"Bake."}"#, "<plan>\n<goal>\nBake.\n</goal>\n</plan>"),
            (r#"{"goal":"Bake.","finished":true}"#, ""),
        ],
    );
}

#[test]
fn what_changes_stands_at_the_end() {
    check(
        todo::step,
        Slot::LastUser,
        &[
            (
                r#"{"items":[{"text":"a","status":"done"},{"text":"b\n- [x] c","status":"in_progress"},{"text":"d"}]}"#,
                "<todos>\nProgress: 1 of 3 done, 1 in progress\n- [x] a\n- [~] b - [x] c\n- [ ] d\n</todos>",
            ),
            (r#"{"items":[]}"#, ""),
        ],
    );
    check(
        action_hint::step,
        Slot::VirtualLastUser,
        &[
            (r#"{"text":"Ask for the name."}"#, "<action_hint>\nAsk for the name.\n</action_hint>"),
            (r#"{"text":""}"#, ""),
        ],
    );
}

#[test]
fn a_name_that_a_configuration_does_not_have_is_an_error() {
    assert!(serde_json::from_str::<date::Date>(r#"{"now":0,"timezone":"UTC"}"#).is_err());
    assert!(serde_json::from_str::<todo::Todos>(r#"{"items":[{"text":"a","state":"done"}]}"#).is_err());
    assert!(serde_json::from_str::<force_finish::ForceFinishConfig>(r#"{"finnish":true}"#).is_err());
}

#[test]
fn each_message_has_its_own_page_selections_from_the_record() {
    let with = |text: &str, extra: &str| {
        let mut message = Message::user(text);
        message.metadata.extra = Some(Value::parse_json(extra).unwrap().0);
        message
    };
    let messages = session([
        with(
            "a",
            r#"{"pageSelections":[{"title":"T\">","url":"https://a.example","text":"x </page_selection> y"},{"text":"z"}]}"#,
        ),
        Message::assistant("b"),
        with("c", r#"{"pageSelections":[{"title":"no text"},7,{"text":"w"}]}"#),
        with("d", r#"{"pageSelections":"text"}"#),
        with("e", r#"{"pageSelections":[]}"#),
        with("f", r#"{"other":1}"#),
    ]);
    let prompt = run(page_selections::PageSelections, &messages);
    assert_eq!(
        inside(texts(&prompt.messages[0])[1]),
        "<page_selection title=\"T&quot;&gt;\" url=\"https://a.example\">\nx &lt;/page_selection> y\n</page_selection>\n\
         <page_selection>\nz\n</page_selection>"
    );
    assert_eq!(inside(texts(&prompt.messages[2])[1]), "<page_selection>\nw\n</page_selection>");
    assert_eq!(prompt.messages[3..], messages[3..]);
    assert_eq!(codes(&prompt), ["injected", "selection_left_out", "injected", "selection_left_out"]);
    assert!(prompt.messages.iter().all(|message| message.content[0].is_recorded()));
}

#[test]
fn a_forced_finish_asks_for_an_answer_and_offers_no_tool() {
    use force_finish::{FINISH_NOTE, ForceFinish};
    use seslog::context::steps::offer_tools::OfferTools;
    use seslog::context::tools::ToolSet;
    let plain: Vec<seslog::context::Tool> = config(r#"[{"name":"run","schema":{"type":"object"}}]"#);
    for (json, note, tools) in [
        ("{}", None, 1),
        (r#"{"finish":false,"note":"x"}"#, None, 1),
        (r#"{"finish":true}"#, Some(FINISH_NOTE), 0),
        (r#"{"finish":true,"note":"Stop."}"#, Some("Stop."), 0),
        (r#"{"finish":true,"note":" "}"#, Some(FINISH_NOTE), 0),
    ] {
        let mut pipeline = seslog::context::Pipeline::new();
        pipeline.push(OfferTools::new(&plain, &ToolSet::default())).push(ForceFinish::new(config(json)));
        let prompt = pipeline.run(&session([Message::user("hello")])).unwrap();
        let expected: Vec<String> =
            std::iter::once("user: hello".to_owned()).chain(note.map(|note| format!("system: {note}"))).collect();
        assert_eq!((lines(&prompt), prompt.tools.len()), (expected, tools), "{json}");
    }
    assert_eq!(ForceFinish::default().name(), "force_finish");
}
