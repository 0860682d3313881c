//! Messages whose words stand in the fields of their kind.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::cli_support::{Home, user};

/// One message of each kind with fields, with content and without; each word stands once.
fn kinds() -> Vec<String> {
    let said = |text: &str| json!({"role": "assistant", "kind": "assistant_text", "content": text});
    let task = json!({"role": "assistant", "kind": "task", "title": "CARD7"});
    let messages = [
        json!({"kind": "task", "title": "TITLE1", "instruction": "INSTR1", "status": "STATUS1", "content": "TEXT1"}),
        json!({"kind": "task", "title": "TITLE2", "instruction": "INSTR2", "status": "STATUS2"}),
        json!({"kind": "task_callback", "task": "TASK3", "status": "STATUS3", "content": "TEXT3"}),
        json!({"kind": "verify", "feedback": "FEEDBACK4", "content": "TEXT4"}),
        json!({"kind": "assistant_group", "children": [said("CHILD5")], "content": "TEXT5"}),
        json!({"kind": "agent_council", "members": [said("MEMBER6")]}),
        json!({"kind": "tasks", "tasks": [task]}),
        json!({"kind": "group_tasks", "tasks": [said("TASK8")]}),
        json!({"kind": "supervisor", "children": [said("CHILD9")], "content": "TEXT9"}),
        json!({"kind": "compressed_group", "children": [said("CHILD10")]}),
        json!({"kind": "bash_execution", "role": "user", "command": "CMD11", "output": "OUT11"}),
        json!({"kind": "attachment", "role": "user", "attachment": {"x": "ATT14"}}),
        json!({"kind": "system_event", "role": "system", "subtype": "local_command", "data": {"p": "DATA17"}}),
    ];
    let line = |(index, mut message): (usize, Value)| {
        message["type"] = json!("message");
        message["id"] = json!(format!("m{index}"));
        if message["role"].is_null() {
            message["role"] = json!("assistant");
        }
        message.to_string()
    };
    std::iter::once(user("first", "START")).chain(messages.into_iter().enumerate().map(line)).collect()
}

/// The words of ours in a text: capitals and a number.
fn words(text: &str) -> HashSet<&str> {
    let is_of_ours = |word: &&str| {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.len() > 2 && letters.len() < word.len() && letters.chars().all(|c| c.is_ascii_uppercase())
    };
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_of_ours).collect()
}

fn session(home: &Home) -> String {
    let lines = kinds();
    home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn whatever_the_model_is_told_stands_in_all_that_a_person_is_shown() {
    let home = Home::new();
    let session = session(&home);
    let model = home.run(&["show", &session, "--view", "model", "--full"]).ends_with(0).stdout;
    let told = words(&model);
    assert!(told.len() >= 22 && told.contains("OUT11") && told.contains("INSTR1"), "{told:?}");
    for view in ["transcript", "ui", "export", "debug"] {
        let shown = home.run(&["show", &session, "--view", view, "--full"]).ends_with(0).stdout;
        let missing: Vec<String> = told.difference(&words(&shown)).map(|word| (*word).to_owned()).collect();
        // The export leaves out what only the runtime tells itself.
        let missing: Vec<_> = missing
            .into_iter()
            .filter(|word| view != "export" || !["ATT14", "DATA17"].contains(&word.as_str()))
            .collect();
        assert!(missing.is_empty(), "{view}: {missing:?}\n{shown}");
        assert!(!shown.contains("\"instruction\"") && !shown.contains("\"members\""), "{view} has raw fields: {shown}");
    }
    for format in ["html", "markdown"] {
        let page = home.run(&["export", &session, "--format", format]).ends_with(0).stdout;
        let missing: Vec<_> = told.difference(&words(&page)).map(|word| (*word).to_owned()).collect();
        assert!(missing.is_empty(), "{format}: {missing:?}");
        assert!(!page.contains("instruction&quot;") && !page.contains("\"instruction\""), "{format} has raw fields");
    }
    let tail = home.run(&["tail", &session, "-n", "100"]).ends_with(0).stdout;
    let missing: Vec<_> = told.difference(&words(&tail)).map(|word| (*word).to_owned()).collect();
    assert!(missing.is_empty(), "tail: {missing:?}");
}

#[test]
fn a_view_shows_what_a_kind_says_once() {
    let home = Home::new();
    let session = session(&home);
    for view in ["model", "compact", "transcript", "ui", "debug"] {
        let shown = home.run(&["show", &session, "--view", view, "--full"]).ends_with(0).stdout;
        for word in words(&shown) {
            let count = shown.split(|c: char| !c.is_ascii_alphanumeric()).filter(|other| *other == word).count();
            assert_eq!(count, 1, "{word} in {view}: {shown}");
        }
    }
    // What is new between two points of the model's view is told once too.
    let first = home.run(&["show", &session, "--json"]).json()["messages"][0]["id"].as_str().unwrap().to_owned();
    let diff = home.run(&["diff", &session, &first, "--full"]).ends_with(1).stdout;
    assert_eq!(diff.matches("OUT11").count(), 1, "{diff}");
}

#[cfg(feature = "search")]
#[test]
fn a_search_finds_whatever_a_message_of_any_kind_says() {
    let home = Home::new();
    let session = session(&home);
    let model = home.run(&["show", &session, "--view", "model", "--full"]).ends_with(0).stdout;
    for word in words(&model) {
        let found = home.run(&["search", word, "--json"]).ends_with(0).json();
        assert_eq!(found["found"], 1, "{word}: {found}");
        assert!(found["matches"][0]["excerpt"].as_str().unwrap().contains(word), "{word}: {found}");
    }
}

#[cfg(feature = "search")]
#[test]
fn an_index_that_was_made_for_less_is_made_anew() {
    const USER_VERSION: std::ops::Range<usize> = 60..64;
    let home = Home::new();
    session(&home);
    home.run(&["search", "OUT11"]).ends_with(0);
    let path = home.store().join(".cache/search.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let now = bytes[USER_VERSION].to_vec();
    assert!(now > vec![0, 0, 0, 1], "its number grew with what is in it: {now:?}");
    bytes[USER_VERSION].copy_from_slice(&[0, 0, 0, 1]);
    std::fs::write(&path, bytes).unwrap();
    home.run(&["search", "OUT11"]).ends_with(0);
    assert_eq!(std::fs::read(&path).unwrap()[USER_VERSION], now[..]);
}
