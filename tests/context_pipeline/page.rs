//! CONTEXT.md, held against what it speaks of: the order, the configuration, the tests that hold its promises.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value as Json;
use seslog::context::steps::offer_tools::NotOffered;
use seslog::context::{Config, Pipeline, Prompt, tokens::Counted};
use seslog::event::{Message, Value};
use seslog::log::Durability;
use seslog::projection::{Options, View, project};
use seslog::session::{SessionOptions, Store};
use seslog::wire::{self, Provider, payload};

const PAGE: &str = include_str!("../../CONTEXT.md");
const CONFIG: &str = include_str!("../data/prompt.json");

/// The rows of the first table of a section whose first cell is a name, cut into cells.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).expect(heading);
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let table = lines.take_while(|line| line.starts_with('|')).skip(2);
    table.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn first_names(heading: &str) -> Vec<&'static str> {
    rows(heading).iter().map(|cells| quoted(cells[0]).next().expect("a name")).collect()
}

fn config() -> Config {
    serde_json::from_str(CONFIG).unwrap()
}

#[test]
fn the_page_names_every_step_of_the_standard_order() {
    let list = Pipeline::standard(&Config::default());
    assert_eq!(first_names("The order"), list.names().collect::<Vec<_>>());
}

/// By the path of an object, the names that it has, and those that it may have.
#[derive(Default)]
struct Names {
    found: BTreeMap<String, BTreeSet<String>>,
    known: BTreeMap<String, BTreeSet<String>>,
}

impl Names {
    /// Goes through all objects. What a configuration does not know is an error that lists what it knows.
    fn collect(&mut self, whole: &Json, pointer: &str, path: &str) {
        match whole.pointer(pointer).unwrap() {
            Json::Object(object) => {
                let mut other = whole.clone();
                other.pointer_mut(pointer).unwrap().as_object_mut().unwrap().insert("?".to_owned(), Json::Null);
                let error = serde_json::from_str::<Config>(&other.to_string()).err().map(|error| error.to_string());
                let listed = error.as_deref().and_then(|error| error.split_once("unknown field `?`, expected "));
                // Values by a name of the application's, and schemas, have no names of ours.
                let Some((_, listed)) = listed else { return };
                self.known.entry(path.to_owned()).or_default().extend(quoted(listed).map(str::to_owned));
                self.found.entry(path.to_owned()).or_default().extend(object.keys().cloned());
                for name in object.keys() {
                    self.collect(whole, &format!("{pointer}/{name}"), &format!("{path}.{name}"));
                }
            }
            Json::Array(items) => {
                for place in 0..items.len() {
                    self.collect(whole, &format!("{pointer}/{place}"), &format!("{path}[]"));
                }
            }
            _ => {}
        }
    }
}

#[test]
fn the_example_sets_every_field_that_json_can_set_and_the_page_names_it() {
    let mut names = Names::default();
    names.collect(&serde_json::from_str(CONFIG).unwrap(), "", "");
    assert!(names.known.len() > 30, "{:?}", names.known.keys());
    for (path, known) in &names.known {
        let missing: Vec<&String> = known.difference(&names.found[path]).collect();
        assert!(missing.is_empty(), "tests/data/prompt.json does not set {missing:?} at `{path}`");
    }
    let named: BTreeSet<String> = first_names("The configuration").into_iter().map(str::to_owned).collect();
    assert_eq!(named, names.known[""], "the table of CONTEXT.md against `Config`");
    // All positions of documents and all kinds of rules, too.
    for word in ["before-system", "system-append", "system-replace", "before-first-user", "after-first-user"]
        .into_iter()
        .chain(["context-end", "manual", "on-demand", "always", "keywords", "regex", "time"])
    {
        assert!(CONFIG.contains(&format!("\"{word}\"")) && PAGE.contains(&format!("`{word}`")), "{word}");
    }
}

fn prompt() -> Prompt {
    let dir = tempfile::tempdir().unwrap();
    let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
    let mut question = Message::user("And how deep do the beans go?");
    let page = Value::from([("text", "Sow when it is warm.".into()), ("title", "Almanac".into())]);
    question.metadata.extra = Some(Value::from([("pageSelections", Value::List(vec![page]))]));
    for message in [Message::user("When do I sow?"), Message::assistant("In May."), question] {
        let _ = session.append(message, Durability::Os).unwrap();
    }
    let view = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
    Pipeline::standard(&config()).run(&view.messages).unwrap()
}

#[test]
fn the_example_makes_a_prompt_with_each_text_in_its_slot() {
    let prompt = prompt();
    let texts = |at: usize| {
        let parts = prompt.messages[at].content.iter().filter_map(|part| part.as_text());
        parts.collect::<Vec<_>>().join("\n")
    };
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("system", &["No poison."], &[]),
        (
            "system",
            &[
                "the garden of Ada (the valley).",
                "cutoff: 2026-01",
                "Current date: 2026-05-28 (Europe/Berlin)",
                "outward bud, on a dry day",
                "Beans: 3 cm deep",
                "Put back what you have fetched.",
                "froze in May",
                "Ada (the valley) is busy",
            ],
            &["flood", "Match the bark", "weather"],
        ),
        (
            "user",
            &["Flora", "Buys seeds.", "Likes beans.", "Beans by August", "Four beds", "slightly sour", "Frost dates"],
            &["camera", "North is up"],
        ),
        ("user", &["When do I sow?\n(asked at the valley)", "The season has begun."], &["<todos>"]),
        ("assistant", &["In May."], &[]),
        (
            "user",
            &[
                "go?\n(asked at the valley)",
                "Sow when it is warm.",
                "- [~] sow the beans",
                "shed____fetch",
                "Say when to sow.",
            ],
            &["It rained."],
        ),
    ];
    assert_eq!(prompt.messages.len(), cases.len());
    for (at, (role, there, not_there)) in cases.into_iter().enumerate() {
        assert_eq!(prompt.messages[at].role.name(), role);
        let text = texts(at);
        there.iter().for_each(|words| assert!(text.contains(words), "{words:?} in {text}"));
        not_there.iter().for_each(|words| assert!(!text.contains(words), "{words:?} not in {text}"));
    }

    let tools: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["water", "shed____fetch____local", "shed____list____local"]);
    let NotOffered(not_offered) = prompt.metadata.get().unwrap();
    let ids: Vec<&str> = not_offered.iter().map(|filtered| filtered.id.as_str()).collect();
    assert_eq!(ids, ["weather", "greenhouse"]);
    assert!(!prompt.metadata.get::<Counted>().unwrap().verdict.needed);
    assert!(prompt.diagnostics.iter().all(|item| !item.code.starts_with("placeholder_")), "{:?}", prompt.diagnostics);
    assert!(prompt.stopped.is_none());
    for provider in Provider::ALL {
        let mut options = wire::Options::default();
        options.tools.clone_from(&prompt.tools);
        let body = payload(&prompt.messages, provider, &options).to_json();
        assert!(body.contains("No poison.") && body.contains("shed____list____local"), "{}", provider.name());
    }
}

#[test]
fn every_promise_of_the_page_names_a_test_that_there_is() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let sources = |binary: &str| -> String {
        if let Ok(source) = std::fs::read_to_string(tests.join(binary).with_extension("rs")) {
            return source;
        }
        let files = std::fs::read_dir(tests.join(binary)).unwrap();
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    };
    for cells in rows("What is promised, and what holds it") {
        let (binary, named) = cells[1].split_once(": ").unwrap();
        let source = sources(quoted(binary).next().unwrap());
        let named: Vec<&str> = quoted(named).collect();
        assert!(!named.is_empty(), "{cells:?}");
        for name in named {
            assert!(source.contains(&format!("fn {name}(")), "{binary} has no test {name}");
        }
    }
}
