//! `seslog show` for a person and in every view, and `seslog explain`.

#![cfg(feature = "cli")]

mod cli_support;

use cli_support::{Home, assistant, call, keys, result, run, user};
use serde_json::{Value, json};

fn ids(document: &Value) -> Vec<String> {
    let first = |message: &Value| message["originalIds"][0].as_str().unwrap_or("?").to_owned();
    document["messages"].as_array().unwrap().iter().map(first).collect()
}

fn below(parent: &str, line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["parentId"] = json!(parent);
    line.to_string()
}

/// The id that an event has here.
fn id_of(home: &Home, session: &str, original: &str) -> String {
    let verified = home.run(&["verify", session, "--json"]).json();
    let frames = verified["frames"].as_array().unwrap();
    frames.iter().find(|frame| frame["originalId"] == original).unwrap()["event"].as_str().unwrap().to_owned()
}

#[test]
fn every_view_can_be_shown() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one"), &call("m2", "c1"), &result("m3", "c1", "done")]);
    for view in ["transcript", "model", "compact", "debug", "export", "ui"] {
        let shown = home.run(&["show", &session, "--view", view, "--json"]).ends_with(0).json();
        assert_eq!(shown["view"], view);
        assert_eq!(ids(&shown)[..3], ["m1", "m2", "m3"], "{view}");
        assert!(home.run(&["show", &session, "--view", view]).ends_with(0).stdout.contains("  one\n"), "{view}");
    }
}

#[test]
fn a_long_result_is_folded_unless_all_of_it_is_asked_for() {
    let home = Home::new();
    let lines: Vec<String> = (0..130).map(|line| format!("line {line}")).collect();
    let session =
        home.session(&[&user("m1", &lines.join("\n")), &call("m2", "c1"), &result("m3", "c1", &lines.join("\n"))]);
    let shown = home.run(&["show", &session]).ends_with(0).stdout;
    assert_eq!(shown.matches("line 129").count(), 1, "what a person said is never folded");
    assert_eq!(shown.matches("line 9\n").count(), 2);
    assert!(shown.contains("… 120 more lines; --full shows them"), "{shown}");
    let full = home.run(&["show", &session, "--full"]).ends_with(0).stdout;
    assert_eq!(full.matches("line 129").count(), 2);
    assert!(!full.contains("--full"));
}

#[test]
fn a_result_that_is_a_little_too_long_is_shown_whole() {
    let home = Home::new();
    let lines = ["x"; 11].join("\n");
    let session = home.session(&[&call("m2", "c1"), &result("m3", "c1", &lines)]);
    assert!(!home.run(&["show", &session]).stdout.contains("more line"));
}

#[test]
fn one_endless_line_of_a_result_is_folded_too() {
    let home = Home::new();
    let session = home.session(&[&call("m2", "c1"), &result("m3", "c1", &"é".repeat(50_000))]);
    let shown = home.run(&["show", &session]).stdout;
    assert!(shown.len() < 10_000 && shown.contains("more characters; --full shows them"), "{}", shown.len());
    assert!(home.run(&["show", &session, "--full"]).stdout.len() > 100_000);
}

#[test]
fn a_compaction_is_a_rule_that_counts_what_it_left_out() {
    let home = Home::new();
    let compaction = |n: u8, keep: &str| {
        json!({"type": "compaction", "id": format!("b{n}"), "summary": {"id": format!("s{n}"), "text": "so far"}, "keep": [keep]})
            .to_string()
    };
    let session = home.session(&[
        &user("m1", "one"),
        &assistant("m2", "two"),
        &user("m3", "three"),
        &compaction(1, "m3"),
        &assistant("m4", "four"),
        &compaction(2, "m4"),
    ]);
    let shown = home.run(&["show", &session]).ends_with(0).stdout;
    assert!(shown.contains("── compacted: 2 messages, summary below ──"), "{shown}");
    // The kept one, the first summary and m4 were in the window; m4 was kept.
    assert_eq!(shown.matches("── compacted: 2 messages, summary below ──").count(), 2, "{shown}");
    assert!(!shown.contains("\"keep\""));
}

#[test]
fn branch_points_are_named_and_each_branch_can_be_shown() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "one"),
        &assistant("a1", "first try"),
        &below("m1", &assistant("a2", "second try")),
        &below("m1", &assistant("a3", "third try")),
        &user("m4", "on"),
    ]);
    let (a1, a2, m1) = (id_of(&home, &session, "a1"), id_of(&home, &session, "a2"), id_of(&home, &session, "m1"));
    let shown = home.run(&["show", &session]).ends_with(0).stdout;
    let line = format!("◇ 2 other branches from here: {a1}, {a2}");
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} in {shown}"));
    assert!(place("  one\n") < place(&line) && place(&line) < place("  third try\n"));
    let document = home.run(&["show", &session, "--json"]).ends_with(0).json();
    assert_eq!(document["branchPoints"], json!([{"at": m1, "leaves": [a1, a2]}]));
    let other = home.run(&["show", &session, "--branch", "a1", "--json"]).ends_with(0).json();
    assert_eq!((ids(&other), &other["branch"]), (vec!["m1".to_owned(), "a1".to_owned()], &json!(a1)));
    let m4 = id_of(&home, &session, "m4");
    assert_eq!(other["branchPoints"], json!([{"at": m1, "leaves": [a2, m4]}]));
    let human = home.run(&["show", &session, "--branch", &a1]).ends_with(0).stdout;
    assert!(human.contains("first try") && !human.contains("third try") && human.contains("◇ 2 other branches"));
    let model = home.run(&["show", &session, "--branch", "a1", "--view", "model", "--json"]).ends_with(0).json();
    assert_eq!(ids(&model), ["m1", "a1"]);
    home.run(&["show", &session, "--branch", "nobody"]).ends_with(1);
}

#[test]
fn a_branch_that_leaves_at_a_hidden_message_is_named_where_that_would_stand() {
    let home = Home::new();
    let hidden = json!({"type": "message", "id": "h", "role": "user", "kind": "user_input", "content": "hidden words", "metadata": {"meta": true}});
    let session = home.session(&[
        &user("m1", "one"),
        &hidden.to_string(),
        &assistant("a1", "first try"),
        &below("h", &assistant("a2", "second try")),
    ]);
    let shown = home.run(&["show", &session]).ends_with(0).stdout;
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text} in {shown}"));
    assert!(place("  one\n") < place("◇ 1 other branch") && place("◇ 1 other branch") < place("  second try\n"));
    assert!(!shown.contains("hidden words"));
}

#[test]
fn each_role_has_a_colour_of_its_own_where_colour_is_wanted() {
    let home = Home::new();
    let note =
        json!({"type": "message", "id": "n", "role": "system", "kind": "system_note", "content": "note"}).to_string();
    let session = home.session(&[&note, &user("m1", "one"), &call("m2", "c1"), &result("m3", "c1", "done")]);
    let coloured = home.run(&["show", &session, "--color", "always"]).ends_with(0).stdout;
    let headings: Vec<&str> = coloured.lines().filter(|line| line.starts_with('\u{1b}')).collect();
    let of_role = |line: &&str| line.split_once("\u{1b}[0m").unwrap().0.to_owned();
    let roles: std::collections::HashSet<String> = headings.iter().map(of_role).collect();
    assert_eq!(roles.len(), 4, "{headings:?}");
    assert!(!home.run(&["show", &session]).stdout.contains('\u{1b}'));
    let mut command = home.command(&["show", &session]);
    command.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!run(command, "").stdout.contains('\u{1b}'));
}

#[test]
fn nothing_from_a_session_acts_on_the_terminal_in_any_view() {
    let home = Home::new();
    let evil = "a\u{1b}[31mred\u{9b}2Jb\u{7}c\u{202e}d\u{2066}e\u{8}f\rg\u{7f}";
    let bash = json!({"type": "message", "id": "x", "role": "user", "kind": "bash_execution", "command": evil, "output": evil});
    let session = home.session(&[
        &user(evil, evil),
        &call("m2", evil),
        &result("m3", evil, &format!("{evil}\n").repeat(40)),
        &bash.to_string(),
        &below(evil, &assistant("b", evil)),
    ]);
    let mut runs: Vec<Vec<&str>> = ["transcript", "model", "compact", "debug", "export", "ui"]
        .into_iter()
        .map(|view| vec!["show", &session, "--view", view])
        .collect();
    runs.push(vec!["show", &session, "--branch", "m3"]);
    runs.push(vec!["explain", &session, evil]);
    runs.push(vec!["explain", &session, "m2"]);
    for args in runs {
        for json in [false, true] {
            let args = if json { [args.as_slice(), &["--json"]].concat() } else { args.clone() };
            let ran = home.run(&args).ends_with(0);
            let all = format!("{}{}", ran.stdout, ran.stderr);
            let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
            assert!(!all.chars().any(bad), "{args:?}: {all:?}");
        }
    }
}

#[test]
fn an_export_is_redacted_everywhere_in_the_document() {
    let home = Home::new();
    let hidden = json!({"type": "message", "id": "h-s3cret", "role": "system", "kind": "system_event", "subtype": "x", "content": "y"});
    let session = home.session(&[
        &user("m1", "my s3cret"),
        &call("m2", "call-s3cret"),
        &result("m3", "call-s3cret", "the s3cret and hunter2"),
        &hidden.to_string(),
    ]);
    let args = ["show", &session, "--view", "export", "--redact", "s3cret", "--redact", "hunter2"];
    for json in [false, true] {
        let args = if json { [args.as_slice(), &["--json"]].concat() } else { args.to_vec() };
        let ran = home.run(&args).ends_with(0);
        assert!(!ran.stdout.contains("s3cret") && !ran.stdout.contains("hunter2"), "{ran:?}");
        assert!(ran.stdout.contains("[redacted]"));
    }
    home.run(&["show", &session, "--view", "ui", "--redact", "x"]).ends_with(2);
    home.run(&["show", &session, "--placeholders", "drop"]).ends_with(2);
}

#[test]
fn placeholders_are_kept_dropped_or_refused() {
    let home = Home::new();
    let missing = result("m3", "c1", seslog::event::MISSING_TOOL_RESULT);
    let session = home.session(&[&user("m1", "one"), &call("m2", "c1"), &missing]);
    let export = |choice: &str| home.run(&["show", &session, "--view", "export", "--placeholders", choice, "--json"]);
    assert_eq!(ids(&export("keep").ends_with(0).json()), ["m1", "m2", "m3"]);
    assert_eq!(ids(&export("drop").ends_with(0).json()), ["m1"]);
    let refused = export("refuse").ends_with(1);
    assert_eq!(ids(&refused.json()), Vec::<String>::new());
    assert_eq!(refused.json()["diagnostics"]["items"][0]["code"], "placeholder_refused");
    assert!(refused.stderr.contains("1 placeholder"), "{refused:?}");
}

#[test]
fn explain_says_for_each_view_whether_and_why() {
    let home = Home::new();
    let hidden =
        json!({"type": "message", "id": "e", "role": "system", "kind": "system_event", "subtype": "x", "content": "y"});
    let session =
        home.session(&[&user("m1", "one"), &hidden.to_string(), &call("m2", "c1"), &result("m3", "c1", "done")]);
    let explained = home.run(&["explain", &session, "e", "--json"]).ends_with(0).json();
    assert_eq!(keys(&explained), "at explanation originalIds session version");
    let views = explained["explanation"]["views"].as_array().unwrap();
    assert_eq!(views.len(), 6);
    let view = |name: &str| views.iter().find(|view| view["view"] == name).unwrap();
    assert_eq!((&view("transcript")["shown"], &view("model")["shown"]), (&json!(true), &json!(false)));
    assert_eq!(view("model")["reasons"][0]["code"], "kind_left_out");
    let human = home.run(&["explain", &session, "e"]).ends_with(0).stdout;
    assert!(human.contains("model      out\n    kind_left_out: "), "{human}");
    assert!(human.contains("transcript in as message 1 (system, system_event)"), "{human}");
    // By its id and by the beginning of it, too.
    let id = id_of(&home, &session, "e");
    for name in [&id, &id[..13]] {
        assert_eq!(home.run(&["explain", &session, name, "--json"]).ends_with(0).json(), explained);
    }
    let result = home.run(&["explain", &session, "m3"]).ends_with(0).stdout;
    assert!(result.contains(&format!("call       {} [c1]", id_of(&home, &session, "m2"))), "{result}");
    let unknown = home.run(&["explain", &session, "nobody", "--json"]).ends_with(1);
    assert_eq!(unknown.json()["error"]["code"], "noSuchEvent");
    let unknown = home.run(&["explain", &session, "00000000-0000-4000-8000-000000000000"]).ends_with(1);
    assert!(unknown.stderr.contains("no event of this session"), "{unknown:?}");
}

#[test]
fn explain_names_the_original_id_of_every_event() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":["m2"]}"#;
    let session = home.session(&[&user("m1", "one"), &assistant("m2", "two"), compaction, &user("m3", "three")]);
    let explained = home.run(&["explain", &session, "m1", "--json"]).ends_with(0).json();
    let originals = explained["originalIds"].as_object().unwrap();
    for original in ["m1", "b", "m3"] {
        let id = id_of(&home, &session, original);
        assert_eq!(explained.to_string().contains(&id), originals.contains_key(&id), "{original}: {explained}");
    }
}

#[test]
fn a_fork_explains_what_its_parent_holds() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":[]}"#;
    let session = home.session(&[&user("m1", "one"), compaction, &user("m2", "two")]);
    let forked = home.run(&["fork", &session, "--at", "m2", "--json"]).ends_with(0).json();
    let fork = forked["session"].as_str().unwrap();
    let explained = home.run(&["explain", fork, "m1"]).ends_with(0).stdout;
    assert!(explained.contains("transcript in") && explained.contains("before_boundary"), "{explained}");
}
