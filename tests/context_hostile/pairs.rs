//! A result stands behind the call that it answers, and no step gives it to another.

use seslog::context::steps::truncate::TruncateConfig;
use seslog::context::{Config, Pipeline};
use seslog::event::{Kind, Message, Part, PartBody, ToolOutput, Value};
use seslog::projection::ProjectedMessage;

use crate::support::{by, config, session, standard};

fn call(id: &str, name: &str) -> Part {
    Part::tool_call(id, name, Value::Map(Vec::new()))
}

/// The calls by name, each with the text of the result behind it.
fn answered(messages: &[ProjectedMessage]) -> Vec<(String, String)> {
    let parts = || messages.iter().flat_map(|message| &message.content);
    let calls = parts().filter_map(|part| Some(part.as_tool_call()?.name.clone()));
    let results = parts().filter_map(|part| match &part.as_tool_result()?.output {
        ToolOutput::Text(text) => Some(text.clone()),
        ToolOutput::Parts(_) => None,
    });
    calls.zip(results).collect()
}

#[test]
fn a_result_of_a_call_that_is_left_out_is_given_to_no_call_of_its_id() {
    let history = |first: &str, second: &str| {
        session([
            Message::user("hello"),
            by("lead", Message::assistant_calls(vec![call("", first), call("", second)])),
            by("lead", Message::tool_result("", format!("of {first}"), false)),
            by("lead", Message::tool_result("", format!("of {second}"), false)),
        ])
    };
    // A supervisor's calls stay calls where nobody else reads; here another tool is off.
    let off = config(r#"{"disabledTools":["speak"]}"#);
    for (first, second) in [("speak", "run"), ("run", "speak")] {
        let prompt = standard(&off, &history(first, second));
        assert_eq!(answered(&prompt.messages), [("run".to_owned(), "of run".to_owned())], "{first}, {second}");
    }
    let mut reads = Pipeline::standard(&config(r#"{"activeAgent":"ann","orchestration":{"supervisor":"lead"}}"#));
    reads.remove("speaker").unwrap();
    for (first, second) in [("speak", "run"), ("run", "speak")] {
        let prompt = reads.run(&history(first, second)).unwrap();
        assert_eq!(answered(&prompt.messages), [("run".to_owned(), "of run".to_owned())], "{first}, {second}");
    }
}

#[test]
fn the_last_word_of_a_person_is_never_cut_off() {
    let histories = [
        session([
            Message::user("old"),
            Message::assistant("done"),
            Message::user("question"),
            Message::assistant_calls(vec![call("c", "run")]),
            Message::tool_result("c", "r", false),
        ]),
        session([
            Message::user("old"),
            Message::user("question"),
            by("ann", Message::assistant("a")),
            by("bob", Message::assistant("b")),
        ]),
    ];
    let cuts = [(Some(0), None), (Some(1), None), (None, Some(0)), (Some(1), Some(1)), (Some(1), Some(u64::MAX))];
    for messages in &histories {
        for (keep_last_groups, token_budget) in cuts {
            let mut config = Config::default();
            config.truncate = TruncateConfig { keep_last_groups, token_budget };
            let prompt = standard(&config, messages);
            let inputs = prompt.messages.iter().filter(|message| matches!(*message.kind, Kind::UserInput));
            let inputs: Vec<&str> = inputs.flat_map(|message| &message.content).filter_map(|p| p.as_text()).collect();
            assert_eq!(inputs, ["question"], "{:?}", config.truncate);
            let told: Vec<_> = prompt.diagnostics.iter().filter(|item| item.code == "truncated").collect();
            assert!(told[0].ids.contains(&messages[0].id) && !told[0].ids.contains(&inputs_id(messages)), "{told:?}");
        }
    }
}

fn inputs_id(messages: &[ProjectedMessage]) -> seslog::event::Uuid {
    let is_question =
        |m: &&ProjectedMessage| m.content.iter().any(|p| matches!(&p.body, PartBody::Text(t) if t.text == "question"));
    messages.iter().find(is_question).unwrap().id
}
