//! When a conversation was held: one answer, wherever it is asked for, and none that no program could read.

use serde_json::{Value, json};

use crate::cli_support::Home;

fn line(id: &str, at: i64, kind: &str, text: &str) -> String {
    let role = if kind == "system_event" { "system" } else { "user" };
    let mut line = json!({"type": "message", "id": id, "at": at, "role": role, "kind": kind, "content": text});
    if kind == "system_event" {
        line["subtype"] = json!("turn_duration");
    }
    line.to_string()
}

#[test]
fn a_list_the_numbers_and_a_page_agree_on_when_a_conversation_was_held() {
    const SECOND: i64 = 1_000_000;
    let home = Home::new();
    let begun = 1_730_800_000 * SECOND;
    let said = line("m1", begun, "user_input", "one");
    let told = line("s1", begun + 70 * SECOND, "system_event", "it took a minute");
    let session = home.session(&[&said, &told]);
    // A title of today is no part of it.
    home.run(&["title", &session, "Later"]).ends_with(0);
    let listed = home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0].clone();
    let times = |value: &Value| (value["firstAt"].clone(), value["lastAt"].clone());
    assert_eq!(listed["lastAt"], json!("2024-11-05T09:47:50.000000Z"));
    for args in [&["stat", &session, "--json"][..], &["stat", "--json"]] {
        assert_eq!(times(&home.run(args).ends_with(0).json()), times(&listed), "{args:?}");
    }
    let page = home.run(&["export", &session, "--format", "html"]).ends_with(0).stdout;
    assert!(page.contains("2024-11-05T09:46:40Z to 2024-11-05T09:47:50Z"), "{page}");
}

#[test]
fn a_time_that_rfc_3339_can_not_say_is_null() {
    for at in [i64::MAX, i64::MIN + 1, 253_402_300_800_000_000, -62_167_219_200_000_001] {
        let home = Home::new();
        let session = home.session(&[&line("m1", at, "user_input", "lantern")]);
        let listed = home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0].clone();
        assert_eq!((&listed["firstAt"], &listed["lastAt"]), (&Value::Null, &Value::Null), "{at}");
        let stat = home.run(&["stat", &session, "--json"]).ends_with(0).json();
        assert_eq!((&stat["firstAt"], &stat["lastAt"]), (&Value::Null, &Value::Null), "{at}");
        #[cfg(feature = "search")]
        assert_eq!(home.run(&["search", "lantern", "--json"]).ends_with(0).json()["matches"][0]["at"], Value::Null);
    }
    // The epoch and what lies before it are times like others.
    let home = Home::new();
    let session = home.session(&[&line("m1", -5, "user_input", "lantern")]);
    let stat = home.run(&["stat", &session, "--json"]).ends_with(0).json();
    assert_eq!(stat["firstAt"], json!("1969-12-31T23:59:59.999995Z"));
}

#[test]
fn what_is_not_known_of_a_session_without_header_is_null() {
    let home = Home::new();
    let session = home.session(&[&line("m1", 1, "user_input", "one")]);
    let mut bytes = std::fs::read(home.file(&session)).unwrap();
    bytes[..4096].fill(0);
    std::fs::write(home.file(&session), bytes).unwrap();
    let listed = home.run(&["list", "--json"]).ends_with(1).json()["sessions"][0].clone();
    assert_eq!((&listed["createdAt"], &listed["bytes"]), (&Value::Null, &Value::Null), "{listed}");
    let human = home.run(&["list"]).ends_with(1).stdout;
    assert!(!human.contains("1970") && !human.contains("\t0\t"), "{human}");
}
