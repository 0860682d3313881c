//! `seslog tree`.

use crate::cli_support::{Home, Ran, assistant, call, result, run, user};
use crate::{below, id_of};

fn story(home: &Home) -> String {
    home.session(&[
        &user("m1", "Plan the garden"),
        &assistant("a1", "Beds or lawn?"),
        &user("m2", "Beds"),
        &assistant("a2", "Then beds."),
        &below("a1", &user("m3", "Lawn")),
        &assistant("a3", "Green."),
        &user("m4", "And a fence"),
        &below("a3", &user("m5", "No fence")),
        &below("a2", &user("m6", "How many?")),
        r#"{"type":"compaction","id":"b1","summary":{"id":"s1","text":"Beds are planned."},"keep":[]}"#,
        &user("m7", "Go on"),
        &user("m8", "slip"),
        r#"{"type":"tombstone","targets":["m8"]}"#,
        &below("m7", &user("m9", "Right")),
        r#"{"type":"extension","name":"pi.label","payload":{"targetId":"m7","label":"start"}}"#,
        r#"{"type":"meta","title":"A garden"}"#,
    ])
}

fn drawn(home: &Home, session: &str, args: &[&str], locale: &str) -> Ran {
    let mut command = home.command(&[&["tree", session], args].concat());
    command.env("LC_ALL", locale);
    run(command, "").ends_with(0)
}

/// The drawing without ids, which differ from run to run.
fn shape(ran: &Ran) -> Vec<String> {
    let is_id = |word: &str| word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    let words = |line: &str| line.split(' ').filter(|word| !is_id(word)).collect::<Vec<_>>().join(" ");
    ran.stdout.lines().skip(1).map(words).collect()
}

#[test]
fn branches_are_drawn_with_what_happened_on_them() {
    let home = Home::new();
    let session = story(&home);
    let drawn = drawn(&home, &session, &[], "C.UTF-8");
    assert!(drawn.stdout.starts_with(&format!("{session}  \"A garden\"  11 messages, 3 branches\n")), "{drawn:?}");
    assert_eq!(
        shape(&drawn),
        [
            r#"● 2 messages: user "Plan the garden" … assistant "Beds or lawn?""#,
            r#"├─○ 2 messages: user "Lawn" … assistant "Green.""#,
            r#"│ ├─○ user "And a fence""#,
            r#"│ ○ user "No fence""#,
            r#"◇ 3 messages: user "Beds" … compacted "Beds are planned.""#,
            r#"● user "Go on" [start]"#,
            r#"├─× taken back: user "slip""#,
            r#"● user "Right" ◀ current"#,
        ]
    );
}

#[test]
fn without_utf_8_it_is_drawn_in_ascii() {
    let home = Home::new();
    let session = story(&home);
    for locale in ["C", "POSIX", "de_DE.ISO-8859-1"] {
        let drawn = drawn(&home, &session, &[], locale);
        assert!(drawn.stdout.is_ascii(), "{drawn:?}");
        assert_eq!(
            shape(&drawn)[1..4],
            [
                r#"|-o 2 messages: user "Lawn" ... assistant "Green.""#,
                r#"| |-o user "And a fence""#,
                r#"| o user "No fence""#,
            ]
        );
    }
}

#[test]
fn with_all_each_message_has_a_line_and_its_short_id_is_an_event() {
    let home = Home::new();
    let session = story(&home);
    let all = drawn(&home, &session, &["--all"], "C.UTF-8").stdout;
    assert_eq!(all.lines().count(), 1 + 14, "{all}");
    for line in all.lines().skip(1) {
        let short =
            line.split(' ').find(|word| word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-'));
        home.run(&["explain", &session, short.unwrap()]).ends_with(0);
    }
    let document = home.run(&["tree", &session, "--all", "--json"]).ends_with(0).json();
    assert_eq!(document["lines"].as_array().unwrap().len(), 14);
    assert_eq!((&document["messages"], &document["branches"]), (&11.into(), &3.into()));
}

#[test]
fn json_has_the_same_lines_with_what_they_hang_on() {
    let home = Home::new();
    let session = story(&home);
    let document = home.run(&["tree", &session, "--json"]).ends_with(0).json();
    assert_eq!(
        crate::cli_support::keys(&document),
        "branches damage forkedFrom forks leaf lines messages session title version"
    );
    let lines = document["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 8);
    assert_eq!(
        crate::cli_support::keys(&lines[0]),
        "branches current excerpt first forks id label leaf messages parent resultsBeside role semanticType takenBack"
    );
    assert_eq!(document["leaf"], lines[7]["id"]);
    assert_eq!(
        (&lines[7]["leaf"], &lines[7]["current"], &lines[7]["parent"]),
        (&true.into(), &true.into(), &lines[5]["id"])
    );
    assert_eq!((&lines[5]["label"], &lines[6]["takenBack"]), (&"start".into(), &1.into()));
    assert_eq!(lines[0]["first"].as_str().unwrap(), id_of(&home, &session, "m1"));
}

#[test]
fn forks_are_shown_where_they_left_and_the_fork_says_where_it_came_from() {
    let home = Home::new();
    let session = story(&home);
    let at = id_of(&home, &session, "a3");
    let fork = home.run(&["fork", &session, "--at", "a3", "--json"]).ends_with(0).json();
    let fork = fork["session"].as_str().unwrap();
    let drawn = home.run(&["tree", &session]).ends_with(0).stdout;
    assert!(drawn.contains(&format!("forked: {fork} \"A garden\"\n")), "{drawn}");
    let document = home.run(&["tree", &session, "--json"]).json();
    assert_eq!(document["forks"][0]["at"].as_str(), Some(at.as_str()));
    assert_eq!(document["lines"][1]["forks"][0], fork);
    let there = home.run(&["tree", fork]).ends_with(0).stdout;
    assert!(there.contains(&format!("forked from {session} at {at}\n")), "{there}");
    std::fs::remove_file(home.file(&session)).unwrap();
    assert!(home.run(&["tree", fork]).ends_with(0).stdout.contains("which is not here"));
}

#[test]
fn results_are_no_branch_and_an_empty_session_has_no_lines() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "look"),
        &call("c1", "k1"),
        &result("r1", "k1", "seen"),
        &assistant("a1", "I saw it."),
        &below("c1", &result("r2", "k1", "seen again")),
    ]);
    let document = home.run(&["tree", &session, "--json"]).ends_with(0).json();
    assert_eq!(document["branches"], 1, "{document}");
    let empty = home.session(&[]);
    assert_eq!(home.run(&["tree", &empty]).ends_with(0).stdout.lines().count(), 1);
}

#[test]
fn hostile_texts_are_shown_and_not_sent() {
    let home = Home::new();
    let bad = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}b\r\n\u{1b}[2J";
    let label =
        serde_json::json!({"type": "extension", "name": "x.label", "payload": {"targetId": "m1", "label": bad}});
    let meta = serde_json::json!({"type": "meta", "title": bad});
    let session = home.session(&[&user("m1", bad), &assistant("a1", bad), &label.to_string(), &meta.to_string()]);
    home.run(&["fork", &session, "--at", "a1"]).ends_with(0);
    for args in [&["tree", &session][..], &["tree", &session, "--all"], &["tree", &session, "--json"]] {
        let shown = home.run(args).ends_with(0).stdout;
        assert!(!shown.chars().any(|c| c != '\n' && seslog::interop::is_dangerous(c)), "{shown:?}");
    }
}

#[test]
fn a_history_that_is_deep_and_wide_is_drawn_in_a_moment() {
    use seslog::event::Message;
    use seslog::log::Durability;
    use seslog::session::{NewEvent, Parent, SessionOptions, Store};
    const DEEP: usize = 20_000;
    const WIDE: usize = 2_000;
    let home = Home::new();
    let session = Store::at(home.store(), SessionOptions::default()).create().unwrap();
    let said = |number: usize| NewEvent::from(Message::user(format!("text {number}")));
    let chain: Vec<_> =
        (0..DEEP).map(|number| session.append(said(number), Durability::Buffered).unwrap().id).collect();
    for branch in 0..WIDE {
        let at = Parent::Of(chain[branch * (DEEP / WIDE)]);
        let _ = session.append(said(branch).with_parent(at), Durability::Buffered).unwrap();
    }
    let name = session.id().to_string();
    session.close().unwrap();
    let begun = std::time::Instant::now();
    let drawn = home.run(&["tree", &name]).ends_with(0).stdout;
    assert_eq!(drawn.lines().count(), 2 + 2 * WIDE, "header, points, branches, and the rest");
    assert_eq!(home.run(&["tree", &name, "--all"]).ends_with(0).stdout.lines().count(), 1 + DEEP + WIDE);
    assert!(drawn.lines().all(|line| line.len() < 300), "no line is set in far");
    // Linear, it takes well under a second.
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_command_that_a_person_ran_is_named_by_what_it_was() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "Plan the garden"),
        r#"{"type":"message","id":"m2","role":"user","kind":"bash_execution","command":"ls beds","output":"roses","exitCode":0,"content":""}"#,
    ]);
    let drawn = drawn(&home, &session, &["--all"], "C.UTF-8");
    assert_eq!(shape(&drawn)[1], "● user \"Ran `ls beds` ``` roses ```\" ◀ current");
}
