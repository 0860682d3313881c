//! Sizes that no program should hand in: memory in proportion, no overflow of the stack. Counted, not timed, but for what
//! would never end.

use seslog::context::tools::{NotRepaired, repair};
use seslog::context::{Config, Pipeline};
use seslog::event::{Children, Fields, Kind, Message, Part, ToolInput, Value};

use crate::counting::peak_of;
use crate::support::{by, card, config, item, session, standard};

const EVERYTHING: &str = r#"{
    "systemRole":"You bake. {{bread}}","activeAgent":"ann","inputTemplate":{"template":"[{{text}}]"},
    "todo":{"items":[{"text":"knead"}]},"actionHint":{"text":"go on"},"disabledTools":["off"],
    "placeholders":{"values":{"bread":"Rye"}},"limits":{},"truncate":{"keepLastGroups":1000000},"media":{"takes":[]},
    "documents":[{"title":"T","text":"x","position":"context-end","rule":{"kind":"regex","pattern":"(a+)+$"}}]}"#;

fn call(id: &str, name: &str) -> Part {
    Part::tool_call(id, name, Value::Map(Fields::new()))
}

/// The most that a run over so many turns holds, without its input.
fn peak_of_turns(turns: usize) -> usize {
    let turn = |n: usize| {
        [
            Message::user("question {{bread}}"),
            by("bob", Message::assistant("x")),
            Message::assistant_calls(vec![call(&format!("c{n}"), if n.is_multiple_of(2) { "off" } else { "run" })]),
            Message::tool_result(format!("c{n}"), "r", false),
        ]
    };
    let messages = session((0..turns).flat_map(turn));
    let list = Pipeline::standard(&config(EVERYTHING));
    peak_of(|| drop(list.run(&messages).unwrap()))
}

#[test]
fn two_hundred_thousand_messages_take_memory_in_proportion() {
    let (some, many) = (peak_of_turns(5_000), peak_of_turns(50_000));
    assert!(many < 12 * some, "{some} bytes for 20,000 messages, {many} for 200,000");
}

#[test]
fn ten_thousand_calls_of_one_id_in_one_message_of_a_card_end() {
    let calls = |count: usize| {
        let parts = (0..count).map(|_| call("", "run")).collect();
        let results = (0..count).map(|n| item(Message::tool_result("", format!("r{n}"), false)));
        let children = std::iter::once(item(Message::assistant_calls(parts))).chain(results).collect();
        session([Message::user("hello"), card(Kind::AssistantGroup(Children { children }))])
    };
    let prompt = standard(&Config::default(), &calls(10_000));
    let parts = || prompt.messages.iter().flat_map(|message| &message.content);
    assert_eq!(parts().filter(|part| part.as_tool_call().is_some()).count(), 10_000);
    assert_eq!(parts().filter(|part| part.as_tool_result().is_some()).count(), 10_000);
}

#[test]
fn a_message_of_50_mb_is_held_a_few_times_at_most() {
    let size = 50 * 1024 * 1024;
    let text = "{{bread}} <a> & word ".repeat(size / 21);
    let messages = session([Message::user(&text), by("bob", Message::assistant("x")), Message::user("b")]);
    let list = Pipeline::standard(&config(EVERYTHING));
    let peak = peak_of(|| drop(list.run(&messages).unwrap()));
    assert!(peak < 5 * size, "{peak} bytes");
}

#[test]
fn ten_thousand_tools_skills_and_documents_are_no_matter() {
    let list = |one: &str| (0..10_000).map(|n| one.replace('%', &n.to_string())).collect::<Vec<_>>().join(",");
    let rules = list(r#""t%":true"#);
    let json = format!(
        r#"{{"tools":{{"manifests":[{}],"enable":{{"rules":{{{rules}}}}},"defaults":[{}]}},"toolDiscovery":true,
            "skills":{{"skills":[{}],"enable":{{"rules":{{{rules}}}}},"active":[{}]}},"documents":[{}]}}"#,
        list(r#"{"identifier":"t%","systemRole":"use %","apis":[{"name":"a","parameters":{"type":"object"}}]}"#),
        list(r#""t%""#),
        list(r#"{"identifier":"t%","name":"n","content":"do %"}"#),
        list(r#""t%""#),
        list(r#"{"title":"d%","text":"t","position":"system-append","rule":{"kind":"keywords","words":["hello"]}}"#),
    );
    let prompt = standard(&config(&json), &session([Message::user("hello")]));
    assert_eq!(prompt.tools.len(), 10_000);
}

#[test]
fn cards_in_cards_to_the_limit_and_past_it_lose_no_word() {
    for depth in [1_usize, 15, 16, 17, 20, 24] {
        let mut inner = Message::assistant("deepest");
        for _ in 0..depth {
            inner = card(Kind::AssistantGroup(Children { children: vec![item(inner)] }));
        }
        let prompt = standard(&Config::default(), &session([Message::user("hello"), inner]));
        let json = serde_json::to_string(
            &prompt.messages.iter().flat_map(|m| &m.content).filter_map(|p| p.as_text()).collect::<Vec<_>>(),
        );
        assert!(json.unwrap().contains("deepest"), "{depth}");
    }
}

#[test]
fn a_configuration_that_is_nested_without_end_is_an_error() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
        for json in [
            format!(r#"{{"plainTools":[{{"name":"x","schema":{deep}}}]}}"#),
            format!(
                r#"{{"tools":{{"manifests":[{{"identifier":"x","apis":[{{"name":"a","parameters":{deep}}}]}}]}}}}"#
            ),
            format!(r#"{{"systemRole":{deep}}}"#),
            deep.clone(),
        ] {
            assert!(serde_json::from_str::<Config>(&json).is_err());
        }
    }
    let parens = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
    let json = format!(
        r#"{{"documents":[{{"title":"T","text":"x","position":"context-end","rule":{{"kind":"regex","pattern":"{parens}"}}}}]}}"#
    );
    let prompt = standard(&config(&json), &session([Message::user("a")]));
    assert!(prompt.diagnostics.iter().any(|item| item.code == "document_left_out"));
}

#[test]
fn a_template_of_nothing_but_braces_ends() {
    let braces = "{{".repeat(200_000);
    for template in [braces.clone(), format!("{braces}}}}}"), format!("{braces}result}}}}{braces}text}}}}")] {
        let json = Value::from([
            ("task", Value::from([("template", template.as_str().into())])),
            ("inputTemplate", Value::from([("template", template.as_str().into())])),
            ("systemRole", template.as_str().into()),
            ("placeholders", Value::from([("values", Value::from([("a", "b".into())]))])),
        ]);
        let config = config(&serde_json::to_string(&json).unwrap());
        let task = seslog::event::Task { title: None, instruction: Some("do".into()), status: None };
        let prompt = standard(&config, &session([Message::user("a"), card(Kind::Task(task))]));
        assert!(prompt.messages.len() >= 3);
    }
}

#[test]
fn half_arguments_of_any_size_are_never_taken_for_whole() {
    let schema = Value::from([("required", Value::List(vec!["a".into(), "z".into()]))]);
    let whole = r#"{"a": {"n": [1, -2.5e3, "x\"y\\", "\ud83d\ude00", true]}, "b": "\u00e9", "z": 1234}"#;
    assert!(repair(&ToolInput::Text(whole.to_owned()), &schema).is_ok());
    for cut in (0..whole.len()).filter(|cut| whole.is_char_boundary(*cut)) {
        let half = repair(&ToolInput::Text(whole[..cut].to_owned()), &schema);
        assert!(half.is_err(), "{}: {half:?}", &whole[..cut]);
    }
    let long = "x".repeat(1 << 20);
    let deep = "[".repeat(1 << 20);
    for text in [
        format!(r#"{{"a":"{long}","z":"{long}"#),
        format!(r#"{{"a":{deep}"#),
        format!(r#"{{"a":1,"z":{deep}"#),
        deep.clone(),
        r#"{"a":"\ud800","z":"\ud"#.to_owned(),
        format!(r#"{{"a":"{}"#, r#"\""#.repeat(1 << 19)),
        format!(r#"{{"a":"{}"#, r"\\".repeat(1 << 19)),
        format!("{{{}", r#""a":1,"#.repeat(1 << 17)),
        format!(r#"{{"a":"\", \"z\": \"{long}"#),
    ] {
        let found = repair(&ToolInput::Text(text.clone()), &schema);
        assert!(found.is_err(), "{}", &text[..60.min(text.len())]);
    }
    let nothing = Value::from([("type", "object".into())]);
    assert_eq!(repair(&ToolInput::Text(r#"{"a":1,"#.into()), &nothing), Err(NotRepaired::Cut));
}
