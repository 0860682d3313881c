//! `seslog payload --config`: what an application puts into its prompts, from a file.

mod cli_support;

use cli_support::*;
use serde_json::json;

const CONFIG: &str = r#"{
    "systemRole": "You help in {{place}}.",
    "date": {"zone": "UTC"},
    "placeholders": {"values": {"place": "the garden"}},
    "plainTools": [{"name": "run", "description": "Runs.", "schema": {"type": "object"}}],
    "todo": {"items": [{"text": "dig", "status": "done"}, {"text": "plant"}]},
    "limits": {"window": 20}
}"#;

fn written(home: &Home, text: &str) -> String {
    let path = home.path().join("prompt.json");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_body_holds_what_the_configuration_puts_in() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    let config = written(&home, CONFIG);
    let ran = home.run(&["payload", &session, "--provider", "anthropic", "--config", &config]).ends_with(0);
    let body = ran.json();
    let system = body["system"].as_str().unwrap();
    assert!(system.starts_with("You help in the garden.\n\nCurrent date: "), "{system}");
    assert_eq!(body["tools"][0]["name"], "run");
    let content = &body["messages"][0]["content"];
    assert_eq!(content[0]["text"], "one");
    assert!(content[1]["text"].as_str().unwrap().contains("- [x] dig\n- [ ] plant"), "{content}");
    assert!(ran.stderr.contains("injected: system_role"), "{ran:?}");
}

#[test]
fn with_json_the_steps_say_what_they_did() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one"), &user("m2", "two")]);
    let config =
        written(&home, &CONFIG.replace("{\n    \"systemRole\"", "{\"truncate\":{\"keepLastGroups\":1},\"systemRole\""));
    let args = ["payload", &session, "--provider", "openai-chat", "--config", &config, "--json"];
    let told = home.run(&args).ends_with(0).json();
    assert_eq!(keys(&told), "assembly body diagnostics originalIds renamed session version");
    let assembly = &told["assembly"];
    assert_eq!(assembly["metadata"]["truncate"], json!({"groups": 2, "groupsKept": 1, "messagesLeftOut": 1}));
    assert_eq!(assembly["metadata"]["tokens"]["verdict"]["needed"], true);
    let steps = assembly["stats"]["steps"].as_array().unwrap();
    assert_eq!(steps[0]["name"], "truncate");
    assert_eq!((&steps[0]["messagesBefore"], &steps[0]["messagesAfter"]), (&json!(2), &json!(1)));
    let truncated = told["diagnostics"].as_array().unwrap().iter().find(|item| item["code"] == "truncated").unwrap();
    assert_eq!(told["originalIds"][truncated["ids"][0].as_str().unwrap()], "m1");
}

#[test]
fn a_configuration_that_can_not_be_read_is_told_with_its_file_and_place() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    let cases = [
        ("{\"systemRol\":\"x\"}", 2, "unknown field `systemRol`"),
        ("{\"truncate\":{\"keepLastGroups\":-1}}", 2, "line 1"),
        ("{", 2, "EOF"),
    ];
    for (text, exit, told) in cases {
        let config = written(&home, text);
        let ran = home.run(&["payload", &session, "--provider", "gemini", "--config", &config]).ends_with(exit);
        assert!(ran.stderr.contains(told) && ran.stderr.contains(&config), "{ran:?}");
        assert_eq!(ran.stdout, "");
    }
    let ran = home.run(&["payload", &session, "--provider", "gemini", "--config", "no-such-file"]).ends_with(1);
    assert!(ran.stderr.contains("no-such-file"), "{ran:?}");
}

#[test]
fn tokens_are_those_that_the_provider_reported() {
    let home = Home::new();
    let answer = r#"{"type":"message","id":"m2","role":"assistant","kind":"assistant_text","content":"two","requestId":"q",
        "provider":"anthropic","usage":{"input":70000,"output":60}}"#;
    let session = home.session(&[&user("m1", "one"), &answer.replace('\n', "")]);
    let config = written(&home, r#"{"limits":{"window":100000}}"#);
    let args = ["payload", &session, "--provider", "anthropic", "--config", &config, "--json"];
    let told = home.run(&args).ends_with(0).json();
    let tokens = &told["assembly"]["metadata"]["tokens"];
    assert_eq!((&tokens["verdict"]["raw"], &tokens["verdict"]["needed"]), (&json!(70_060), &json!(true)), "{tokens}");
}
