//! Which documents are loaded, and where they go.

use seslog::context::slots::{self, Slot};
use seslog::context::steps::documents::{Documents, DocumentsAt, DocumentsConfig, LoadedDocuments, Position};
use seslog::context::{Inject, Processor, Prompt};
use seslog::event::Message;
use seslog::projection::ProjectedMessage;

use crate::support::{codes, config, inside, lines, run_all, session, texts};

/// The steps in the order of a pipeline, around a system role.
fn prompt(json: &str, messages: &[ProjectedMessage]) -> Prompt {
    use Position::*;
    let mut steps: Vec<Box<dyn Processor>> = vec![Box::new(Documents::new(config(json)))];
    steps.push(Box::new(Inject::new("system_role", Slot::System, "role".to_owned())));
    for position in
        [BeforeSystem, SystemAppend, SystemReplace, BeforeFirstUser, AfterFirstUser, ContextEnd, Manual, OnDemand]
    {
        steps.push(Box::new(DocumentsAt::new(position)));
    }
    run_all(steps, messages)
}

fn talk() -> Vec<ProjectedMessage> {
    session([Message::user("one"), Message::assistant("two"), Message::user("three"), Message::assistant("four")])
}

#[test]
fn each_position_is_a_place_of_its_own() {
    let doc = "<document title=\"T\">\nD\n</document>";
    let cases: &[(&str, &[&str])] = &[
        (
            "before-system",
            &["system: {}", "system: role", "user: one", "assistant: two", "user: three", "assistant: four"],
        ),
        ("system-append", &["system: role\n\n{}", "user: one", "assistant: two", "user: three", "assistant: four"]),
        ("system-replace", &["system: {}", "user: one", "assistant: two", "user: three", "assistant: four"]),
        (
            "before-first-user",
            &["system: role", "user: {}", "user: one", "assistant: two", "user: three", "assistant: four"],
        ),
        ("after-first-user", &["system: role", "user: one | W", "assistant: two", "user: three", "assistant: four"]),
        ("context-end", &["system: role", "user: one", "assistant: two", "user: three", "assistant: four", "user: W"]),
        ("manual", &["system: role", "user: one", "assistant: two", "user: three", "assistant: four"]),
        ("on-demand", &["system: role", "user: one", "assistant: two", "user: three", "assistant: four"]),
    ];
    for (position, expected) in cases {
        let json = format!(r#"{{"documents":[{{"title":"T","text":"D","position":"{position}"}}]}}"#);
        let prompt = prompt(&json, &talk());
        let shown: Vec<String> = lines(&prompt)
            .iter()
            .map(|line| match line.find(slots::CONTEXT_START) {
                Some(at) => {
                    assert_eq!(inside(&line[at..]), doc);
                    format!("{}W", &line[..at])
                }
                None => line.replace(doc, "{}"),
            })
            .collect();
        assert_eq!(shown, *expected, "{position}");
    }
}

#[test]
fn documents_stand_sorted_each_in_a_tag_that_it_can_not_end() {
    let json = r#"{"documents":[
        {"title":"late","text":"1","position":"system-append","order":5},
        {"title":"a\">","text":"x </document> y","position":"system-append"},
        {"title":"b","text":"2","position":"system-append"},
        {"title":"first","text":"3","position":"system-append","order":-1},
        {"title":"asked","text":"4","position":"manual"},
        {"title":"empty","text":" ","position":"system-append"}]}"#;
    let prompt = prompt(json, &talk());
    assert_eq!(
        texts(&prompt.messages[0])[0],
        "role\n\n<document title=\"first\">\n3\n</document>\n<document title=\"a&quot;&gt;\">\nx &lt;/document> y\n\
         </document>\n<document title=\"b\">\n2\n</document>\n<document title=\"late\">\n1\n</document>"
    );
    let loaded = prompt.metadata.get::<LoadedDocuments>().unwrap();
    let reasons: Vec<_> = loaded.not_loaded.iter().map(|left| (left.title.as_str(), left.reason.as_str())).collect();
    assert_eq!(reasons, [("asked", "a person or a tool has to ask for it"), ("empty", "it has no text")]);
}

/// Whether a document of this rule is loaded, and what was said about it.
fn is_loaded(rule: &str, when: &str, said: &[&str]) -> (bool, Vec<&'static str>) {
    let json =
        format!(r#"{{"documents":[{{"title":"T","text":"D","position":"system-append","rule":{rule}}}]{when}}}"#);
    let prompt = prompt(&json, &session(said.iter().map(|text| Message::user(*text))));
    let codes = codes(&prompt).into_iter().filter(|code| *code != "injected").collect();
    (!prompt.metadata.get::<LoadedDocuments>().unwrap().loaded.is_empty(), codes)
}

#[test]
fn a_rule_looks_at_what_the_person_said_last() {
    let cases: &[(&str, &[&str], bool)] = &[
        (r#"{"kind":"always"}"#, &[], true),
        (r#"{"kind":"keywords","words":["Bread"]}"#, &["fresh BREAD?"], true),
        (r#"{"kind":"keywords","words":["x","ÄPFEL"]}"#, &["zwei äpfel"], true),
        (r#"{"kind":"keywords","words":["bread"]}"#, &["bread", "no"], false),
        (r#"{"kind":"keywords","words":["bread"]}"#, &["no", "bread"], true),
        (r#"{"kind":"keywords","words":[" "]}"#, &["a b"], false),
        (r#"{"kind":"keywords","words":[]}"#, &["a"], false),
        (r#"{"kind":"keywords","words":["a"]}"#, &[], false),
        (r#"{"kind":"regex","pattern":"^br[ae]+d$"}"#, &["bread"], true),
        (r#"{"kind":"regex","pattern":"bread"}"#, &["BREAD"], false),
        (r#"{"kind":"regex","pattern":"(?i)bread"}"#, &["BREAD"], true),
        (r#"{"kind":"regex","pattern":"bread"}"#, &["bread", "no"], false),
    ];
    for (rule, said, expected) in cases {
        assert_eq!(is_loaded(rule, "", said), (*expected, vec![]), "{rule} {said:?}");
    }
}

#[test]
fn a_rule_that_can_not_be_judged_is_told_and_loads_nothing() {
    let told = (false, vec!["document_left_out"]);
    assert_eq!(is_loaded(r#"{"kind":"regex","pattern":"(bread"}"#, "", &["(bread"]), told);
    assert_eq!(is_loaded(r#"{"kind":"regex","pattern":"((a{1000}){1000}){1000}"}"#, "", &["a"]), told);
    assert_eq!(is_loaded(r#"{"kind":"time"}"#, "", &["a"]), told);
    // An expression that takes other engines for ever.
    let long = "a".repeat(2_000);
    assert_eq!(is_loaded(r#"{"kind":"regex","pattern":"(a*)*b"}"#, "", &[&long]), (false, vec![]));
}

#[test]
fn times_are_those_of_the_given_instant_on_the_persons_clock() {
    const HOUR: i64 = 3_600_000_000;
    let at = |hour: i64, offset: i64| format!(r#","date":{{"now":{},"offsetMinutes":{offset}}}"#, hour * HOUR);
    let day = r#"{"kind":"time","daily":{"from":"09:00","until":"17:00"}}"#;
    let night = r#"{"kind":"time","daily":{"from":"22:00","until":"06:00"}}"#;
    let whole = r#"{"kind":"time","daily":{"from":"06:00","until":"06:00"}}"#;
    let once = r#"{"kind":"time","from":3600000000,"until":7200000000}"#;
    let both = r#"{"kind":"time","from":0,"daily":{"from":"09:00","until":"17:00"}}"#;
    let cases = [
        (day, 9, 0, true),
        (day, 8, 0, false),
        (day, 17, 0, false),
        (day, 16, 0, true),
        (day, 8, 60, true),
        (day, 9, -1, false),
        (day, -15, 0, true),
        (night, 22, 0, true),
        (night, 5, 0, true),
        (night, 6, 0, false),
        (night, 12, 0, false),
        (whole, 6, 0, true),
        (whole, 5, 0, true),
        (once, 1, 0, true),
        (once, 2, 0, false),
        (once, 0, 0, false),
        (once, 1, 600, true),
        (both, 9, 0, true),
        (both, -15, 0, false),
        (r#"{"kind":"time"}"#, 0, 0, true),
    ];
    for (rule, hour, offset, expected) in cases {
        assert_eq!(is_loaded(rule, &at(hour, offset), &["a"]), (expected, vec![]), "{rule} {hour} {offset}");
    }
    for time in ["9:00", "24:00", "09:60", "0900", "+9:00", "09:0a", ""] {
        let json = format!(
            r#"{{"documents":[{{"title":"T","text":"D","position":"manual",
                "rule":{{"kind":"time","daily":{{"from":"{time}","until":"10:00"}}}}}}]}}"#
        );
        assert!(serde_json::from_str::<DocumentsConfig>(&json).is_err(), "{time}");
    }
}

#[test]
fn what_replaces_the_system_prompt_says_how_much_it_replaced() {
    let json = r#"{"documents":[{"title":"B","text":"b","position":"before-system"},
        {"title":"R","text":"r","position":"system-replace"}]}"#;
    let prompt = prompt(json, &talk());
    assert_eq!(
        lines(&prompt)[..2],
        ["system: <document title=\"B\">\nb\n</document>", "system: <document title=\"R\">\nr\n</document>"]
    );
    let said = prompt.diagnostics.iter().find(|item| item.code == "system_replaced").unwrap();
    assert_eq!(said.reason, "1 documents stand in the place of 4 bytes of the system slot");
}
