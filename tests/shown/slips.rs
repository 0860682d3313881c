//! What is told when something was named wrongly.

use std::io::Write as _;
use std::process::Stdio;

use crate::cli_support::{Home, user};

#[test]
fn each_error_says_what_to_do_next_and_names_only_what_was_named() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    home.run(&["title", &session, "T"]).ends_with(0);
    let title = home.run(&["list", "--json"]).json()["sessions"][0]["lastEvent"].as_str().unwrap().to_owned();
    std::fs::create_dir(home.path().join("dir.seslog")).unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["salvage", &session, "-o", "no/x.seslog"], 3, "`mkdir -p 'no'`"),
        (&["export", &session, "-o", "no/x.html"], 3, "`mkdir -p 'no'`"),
        (&["export", &session, "-o", "dir.seslog"], 2, "name a file in it"),
        (&["export", &session, "-o", "dir.seslog", "--force"], 2, "name a file in it"),
        (&["compact", &session, "--summary-file", "dir.seslog"], 3, "name a file in it"),
        (&["show", "./dir.seslog"], 3, "`seslog list`"),
        (&["vacuum", "./none.seslog"], 1, "`seslog list`"),
        (&["tombstone", &session, "--target", &title], 2, "`seslog tree"),
        (&["prune", &session, "--target", &title], 2, "`seslog tree"),
    ];
    for (args, code, next) in cases {
        let ran = home.run(args).ends_with(code);
        assert!(ran.stderr.contains(next) && !ran.stderr.contains("unfinished"), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_file_without_a_record_makes_no_session() {
    let home = Home::new();
    let file = home.write("list.json", "[{\"type\":\"message\"}]\n");
    let ran = home.run(&["import", &file, "--format", "events"]).ends_with(1);
    assert!(ran.stderr.contains("holds no record of a session; line 1"), "{}", ran.stderr);
    assert_eq!(home.file_count(), 0);
    // An empty session that says its name is one.
    let head = r#"{"type":"session","id":"0192aaaa-0000-7000-8000-000000000001"}"#;
    let file = home.write("empty.jsonl", format!("{head}\n"));
    home.run(&["import", &file]).ends_with(0);
    assert_eq!(home.file_count(), 1);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_line() {
    let home = Home::new();
    let file = home.write("marked.jsonl", format!("\u{feff}{}\n", user("m1", "one")));
    let ran = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!((&ran["written"], &ran["format"]), (&1.into(), &"events".into()), "{ran}");
}

#[test]
fn a_session_from_standard_input_is_asked_for_as_a_file() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    for args in [&["import", "-"][..], &["import", "-", "--format", "seslog"]] {
        let mut command = home.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let bytes = std::fs::read(home.file(&session)).unwrap();
        // It may be gone before it has read all.
        _ = child.stdin.take().unwrap().write_all(&bytes);
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("name the file"), "{args:?}: {told}");
    }
}

#[test]
fn a_configuration_of_a_prompt_is_an_object_and_its_clock_one_of_this_world() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    for text in ["[]", "", "7", r#"{"date":{"offsetMinutes":99999999}}"#] {
        let file = home.write("prompt.json", text);
        let ran = home.run(&["payload", &session, "--provider", "anthropic", "--config", &file]).ends_with(2);
        assert!(ran.stderr.contains("is no configuration of a prompt: "), "{text}: {}", ran.stderr);
    }
}
