//! The standard list in any order, and each rule of it against what it is there for.

use std::sync::Arc;

use seslog::context::{BoxError, Config, MUST_FOLLOW, Pipeline, Problem, TopicMessage, TopicSource};
use seslog::event::{
    AgentCouncil, Children, Kind, Media, MediaSource, Message, Part, PartBody, Task, TaskCallback, Tasks, Value, Verify,
};
use seslog::projection::ProjectedMessage;

use crate::random::Random;
use crate::support::{by, card, config, item, session};

#[derive(Debug)]
struct Topics;

impl TopicSource for Topics {
    fn summary(&self, _id: &str) -> Result<Option<String>, BoxError> {
        Ok(Some("said {{secret}}".to_owned()))
    }

    fn last_messages(&self, _id: &str, _count: usize) -> Result<Vec<TopicMessage>, BoxError> {
        Ok(Vec::new())
    }
}

fn everything() -> Config {
    let mut config = config(
        r#"{"systemRole":"You bake. {{secret}}","activeAgent":"ann","inputTemplate":{"template":"{{secret}}[{{text}}]"},
        "orchestration":{"supervisor":"lead"},"todo":{"items":[{"text":"knead {{secret}}"}]},"actionHint":{"text":"go on"},
        "disabledTools":["off"],"placeholders":{"values":{"secret":"s3cret"},"inUserInput":false},"limits":{},
        "truncate":{"keepLastGroups":7,"tokenBudget":100000},"media":{"takes":[]},"forceFinish":{"finish":true},
        "historySummary":{"summary":"{{secret}}"},"userMemory":{"persona":"{{secret}}"},"plan":{"goal":"{{secret}}"},"plainTools":[{"name":"p","schema":{}}],"knowledge":{"files":[{"name":"f","text":"{{secret}}"}]},
        "documents":[
            {"title":"D","text":"{{secret}}","position":"before-system"},
            {"title":"D","text":"{{secret}}","position":"system-append"},
            {"title":"D","text":"{{secret}}","position":"system-replace"},
            {"title":"D","text":"{{secret}}","position":"before-first-user"},
            {"title":"D","text":"{{secret}}","position":"after-first-user"},
            {"title":"D","text":"{{secret}}","position":"context-end"}],
        "groupContext":{"active":"ann","members":[{"id":"ann","name":"Ann {{secret}}"}]}}"#,
    );
    config.topics = Some(Arc::new(Topics));
    config
}

fn call(id: &str, name: &str) -> Part {
    Part::tool_call(id, name, Value::Map(Vec::new()))
}

fn picture() -> Part {
    let source = MediaSource::Data("AAAA".to_owned());
    Part::new(PartBody::Image(Media { media_type: "image/png".into(), source, name: None, width: None, height: None }))
}

fn history() -> Vec<ProjectedMessage> {
    let mut page = Message::user("<refer_topic id=\"7\" /> marked");
    let marked = Value::from([("text", "{{secret}}".into())]);
    page.metadata.extra = Some(Value::from([("pageSelections", Value::List(vec![marked]))]));
    let mut seen = Message::assistant("look");
    seen.content.push(picture());
    let task = || card(Kind::Task(Task { title: Some("t".into()), instruction: Some("i".into()), status: None }));
    let verify = || card(Kind::Verify(Verify { feedback: Some("again".into()) }));
    let callback = || {
        let kind = Kind::TaskCallback(TaskCallback { task: "t".into(), status: "done".into() });
        let mut said = card(kind);
        said.content.push(Part::text("report"));
        said
    };
    let mut compressed = card(Kind::CompressedGroup(Children { children: Vec::new() }));
    compressed.content.push(Part::text("summary"));
    let mut directing = card(Kind::Supervisor(Children { children: vec![item(Message::assistant("d"))] }));
    (directing.role, directing.content) = (seslog::event::Role::User, vec![Part::text("mine")]);
    let inner = vec![item(callback()), item(compressed), item(directing)];
    let mut blank = by("ann", Message::assistant("said"));
    blank.content.push(Part::text(" ".repeat(900)));
    let lead = by(
        "lead",
        card(Kind::Supervisor(Children {
            children: vec![
                item(Message::assistant_calls(vec![call("s", "speak"), call("o", "off"), call("r", "run")])),
                item(Message::tool_result("s", "1", false)),
                item(Message::tool_result("r", "3", false)),
                item(by("bob", seen.clone())),
                item(verify()),
            ],
        })),
    );
    session([
        Message::user("oldest {{text}}"),
        Message::assistant("old"),
        by("ann", Message::assistant_calls(vec![call("x", "off"), call("y", "run")])),
        Message::tool_result("y", "late", false),
        page,
        card(Kind::AgentCouncil(AgentCouncil { members: vec![item(lead.clone()), item(by("bob", seen))] })),
        lead,
        card(Kind::AssistantGroup(Children { children: inner })),
        blank,
        card(Kind::Tasks(Tasks { tasks: vec![item(by("bob", task())), item(by("ann", task()))] })),
    ])
}

/// What is sent and said, and what steps left behind.
fn outcome(list: &Pipeline) -> String {
    let prompt = list.run(&history()).unwrap();
    let tools: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    serde_json::to_string(&(&prompt.messages, &prompt.diagnostics, &prompt.metadata, tools)).unwrap()
}

#[test]
fn each_rule_of_the_order_is_told_when_it_is_broken_and_changes_what_is_sent() {
    let usual = outcome(&Pipeline::standard(&everything()));
    let mut idle = Vec::new();
    for rule in MUST_FOLLOW {
        for &step in rule.steps {
            let mut list = Pipeline::standard(&everything());
            list.move_before(step, rule.after).unwrap();
            let told = list.validate();
            let is_told = told.iter().any(|problem| {
                matches!(problem,
                Problem::OutOfOrder { step: told, must_follow, .. } if *told == step && *must_follow == rule.after)
            });
            assert!(is_told, "{step} before {}: {told:?}", rule.after);
            if outcome(&list) == usual {
                idle.push(format!("{step} before {}", rule.after));
            }
        }
    }
    assert_eq!(idle, Vec::<String>::new(), "these rules are there for nothing that this history shows");
}

#[test]
fn what_no_rule_forbids_loses_no_document_and_no_value() {
    let names: Vec<String> = Pipeline::standard(&everything()).names().map(str::to_owned).collect();
    for step in &names {
        for before in &names {
            let mut list = Pipeline::standard(&everything());
            list.move_before(step, before).unwrap();
            let outcome = outcome(&list);
            if list.validate().is_empty() {
                let what = format!("{step} before {before}");
                assert!(outcome.contains("\"title\":\"D\""), "{what}");
                for text in ["said {{secret}}", "<page_selection>\\n{{secret}}", "<file name=\\\"f\\\">\\n{{secret}}"] {
                    assert!(outcome.contains(text), "{what}: {text}");
                }
                assert!(outcome.contains("s3cret[<refer_topic"), "{what}");
            }
        }
    }
}

#[test]
fn a_list_with_steps_taken_out_and_moved_never_panics() {
    let messages = history();
    for seed in 0..150_u64 {
        let mut random = Random::new(seed);
        let mut list = Pipeline::standard(&everything());
        for _ in 0..random.below(30) {
            let names: Vec<String> = list.names().map(str::to_owned).collect();
            let (one, other) = (&names[random.below(names.len())], &names[random.below(names.len())]);
            match random.below(3) {
                0 if names.len() > 1 => drop(list.remove(one).unwrap()),
                _ => drop(list.move_before(one, other).unwrap()),
            }
        }
        let _ = list.validate();
        let prompt = list.run(&messages).unwrap();
        assert_eq!(prompt.stats.steps.len(), list.names().count(), "seed {seed}");
    }
}
