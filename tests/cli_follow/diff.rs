//! `seslog diff`.

use serde_json::{Value, json};

use crate::below;
use crate::cli_support::{Home, assistant, call, keys, result, user};

fn whats(document: &Value) -> Vec<&str> {
    document["changes"].as_array().unwrap().iter().map(|change| change["what"].as_str().unwrap()).collect()
}

#[test]
fn two_branches_share_their_beginning_and_have_the_rest_each_for_itself() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "Plan"),
        &assistant("a1", "Beds or lawn?"),
        &user("m2", "Beds"),
        &assistant("a2", "one\ntwo\nthree\nfour\nfive"),
        &below("a1", &user("m3", "Lawn")),
    ]);
    let ran = home.run(&["diff", &session, "a2", "m3"]).ends_with(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("--- {session} at ")) && lines[0].ends_with(": 4 messages"), "{ran:?}");
    assert!(lines[1].starts_with("+++ ") && lines[1].ends_with(": 3 messages"), "{ran:?}");
    assert_eq!(lines[2], "  2 messages the same");
    assert!(lines[3].starts_with("- user user_input · ") && lines[4] == "  - Beds", "{ran:?}");
    assert_eq!(lines[6..10], ["  - one", "  - two", "  - three", "    … 2 more lines; --full shows them"]);
    assert!(lines[10].starts_with("+ user user_input · ") && lines[11] == "  + Lawn", "{ran:?}");
    assert!(home.run(&["diff", &session, "a2", "m3", "--full"]).stdout.contains("  - five\n"));
    let document = home.run(&["diff", &session, "a2", "m3", "--json"]).ends_with(1).json();
    assert_eq!(keys(&document), "a b changes common same version view");
    assert_eq!((&document["common"], &document["same"]), (&json!(2), &json!(false)));
    assert_eq!(whats(&document), ["onlyA", "onlyA", "onlyB"]);
    assert_eq!(document["changes"][0]["a"]["originalIds"][0], "m2");
}

#[test]
fn the_same_point_twice_is_the_same() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "Plan"), &assistant("a1", "Yes")]);
    let ran = home.run(&["diff", &session, "a1", &format!("{session}:")]).ends_with(0);
    assert!(ran.stdout.ends_with("  2 messages the same\n"), "{ran:?}");
    assert_eq!(home.run(&["diff", &session, "a1", "a1", "--json"]).ends_with(0).json()["same"], true);
}

#[test]
fn a_result_that_was_cleared_and_a_text_that_was_amended_show_their_changed_lines() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "look"),
        &call("c1", "k1"),
        &result("r1", "k1", "a long\nold result"),
        &assistant("a1", "first\nsecond\nthird"),
        r#"{"type":"amend","id":"e1","target":"a1","patch":{"content":"first\n2nd\nthird"}}"#,
        r#"{"type":"prune","id":"p1","targets":["r1"]}"#,
    ]);
    let document = home.run(&["diff", &session, "a1", "e1", "--json"]).ends_with(1).json();
    assert_eq!(whats(&document), ["changed"]);
    assert_eq!(document["changes"][0]["diff"], " first\n-second\n+2nd\n third\n");
    assert_eq!(document["common"], 3);
    let shown = home.run(&["diff", &session, "e1", "p1"]).ends_with(1).stdout;
    assert!(shown.contains("~ tool tool_result") && shown.contains("  - old result\n"), "{shown}");
    assert!(shown.contains("  2 messages the same\n") && shown.contains("  1 message the same\n"), "{shown}");
    // A person sees the result whole.
    let shown = home.run(&["diff", &session, "e1", "p1", "--view", "transcript"]);
    assert!(!shown.stdout.contains("- old result"), "{shown:?}");
}

#[test]
fn a_fork_is_compared_with_where_it_came_from() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "Plan"), &assistant("a1", "Yes"), &user("m2", "Beds")]);
    let fork = home.run(&["fork", &session, "--at", "a1", "--json"]).ends_with(0).json();
    let fork = fork["session"].as_str().unwrap();
    home.run_with(&["append", fork], &user("m3", "Lawn")).ends_with(0);
    let document = home.run(&["diff", &session, "m2", &format!("{fork}:m3"), "--json"]).ends_with(1).json();
    assert_eq!((&document["common"], whats(&document)), (&json!(2), vec!["onlyA", "onlyB"]));
    assert_eq!(document["b"]["session"], fork);
    home.run(&["diff", &session, "a1", &format!("{fork}:a1")]).ends_with(0);
}

#[test]
fn a_compaction_is_a_difference() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "Plan"),
        &assistant("a1", "Yes"),
        r#"{"type":"compaction","id":"b1","summary":{"id":"s1","text":"So far."},"keep":["a1"]}"#,
    ]);
    let document = home.run(&["diff", &session, "a1", &format!("{session}:"), "--json"]).ends_with(1).json();
    assert_eq!(document["common"], 0);
    assert_eq!(whats(&document).iter().filter(|what| **what == "onlyA").count(), 1, "{document}");
}

#[test]
fn what_is_not_there_is_told() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "Plan")]);
    assert!(home.run(&["diff", &session, "m1", "m9"]).ends_with(1).stderr.contains("no event `m9`"));
    let ran = home.run(&["diff", &session, "m1", "nosuch:m9"]).ends_with(1);
    assert!(ran.stderr.contains("no session before the colon"), "{ran:?}");
    home.run(&["diff", &session, "m1", ""]).ends_with(2);
    // One point is compared with now.
    assert!(home.run(&["diff", &session, "m1"]).ends_with(0).stdout.contains("1 message the same"));
}

#[test]
fn hostile_texts_are_shown_and_not_sent() {
    let home = Home::new();
    let bad = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}b\r\n\u{1b}[2J";
    let amend =
        json!({"type": "amend", "id": "e1", "target": "m2", "patch": {"content": format!("{bad}!")}}).to_string();
    let session = home.session(&[&user("m1", "Plan"), &user("m2", bad), &amend]);
    for points in [["m1", "m2"], ["m2", "m1"], ["m2", "e1"]] {
        for more in [&[][..], &["--full"], &["--json"], &["--color", "always"]] {
            let shown = home.run(&[&["diff", &session, points[0], points[1]], more].concat()).ends_with(1).stdout;
            let ours = shown.replace("\u{1b}[", "");
            let shown = if more.contains(&"always") { ours } else { shown };
            assert!(!shown.chars().any(|c| c != '\n' && seslog::interop::is_dangerous(c)), "{shown:?}");
        }
    }
}
