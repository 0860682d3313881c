//! What a person did not mean, or can't know: undone, refused, told.

use serde_json::{Value, json};

use crate::cli_support::{Home, assistant, user};
use crate::mend::damage;

fn talk(home: &Home) -> String {
    home.session(&[&user("a", "one"), &assistant("b", "two"), &user("c", "three"), &assistant("d", "four")])
}

fn transcript(home: &Home, session: &str) -> Value {
    home.run(&["show", session, "--view", "model", "--json"]).ends_with(0).json()["messages"].clone()
}

/// The command in backticks that is told behind this text, with its words.
fn told<'a>(stderr: &'a str, begins: &str) -> Vec<&'a str> {
    let at = stderr.find(&format!("`seslog {begins}")).unwrap_or_else(|| panic!("{begins}: {stderr}"));
    stderr[at + 8..].split('`').next().unwrap().split(' ').collect()
}

#[test]
fn a_rewind_says_how_to_go_back_and_that_goes_back() {
    let home = Home::new();
    let session = talk(&home);
    let before = transcript(&home, &session);
    for to in [&["--to", "b"][..], &["--to-start"]] {
        let ran = home.run(&[&["rewind", &session], to].concat()).ends_with(0);
        home.run(&told(&ran.stderr, "rewind")).ends_with(0);
        assert_eq!(transcript(&home, &session), before, "{to:?}");
    }
    home.run(&["rewind", &session, "--to-start"]).ends_with(0);
    let ran = home.run(&["rewind", &session, "--to", "b", "--json"]).ends_with(0);
    assert_eq!(ran.json()["leafBefore"], Value::Null);
    assert!(ran.stderr.contains("--to-start` goes back"), "{ran:?}");
}

#[test]
fn a_compaction_says_how_it_is_taken_back_and_that_takes_it_back() {
    let home = Home::new();
    let session = talk(&home);
    let before = transcript(&home, &session);
    let ran = home.run(&["compact", &session, "--summary", "all of it"]).ends_with(0);
    assert_ne!(transcript(&home, &session), before);
    home.run(&told(&ran.stderr, "tombstone")).ends_with(0);
    assert_eq!(transcript(&home, &session), before);
}

#[test]
fn a_fork_says_how_it_is_read_and_gone_on_with() {
    let home = Home::new();
    let session = talk(&home);
    let ran = home.run(&["fork", &session, "--at", "b"]).ends_with(0);
    home.run(&told(&ran.stderr, "show")).ends_with(0);
    home.run_with(&told(&ran.stderr, "append"), &user("e", "five")).ends_with(0);
}

#[test]
fn a_new_session_of_which_no_line_can_be_taken_is_not_left_behind() {
    let home = Home::new();
    let ran = home.run_with(&["append", "--new"], "not json\n{\"type\":\"message\"}\n").ends_with(1);
    assert!(ran.stderr.contains("removed again"), "{ran:?}");
    assert_eq!(home.file_count(), 0);
    home.run(&["list"]).ends_with(0);
    // With one that can be taken it stays, and so does one that was made without a line.
    home.run_with(&["append", "--new"], &format!("not json\n{}\n", user("a", "hello"))).ends_with(1);
    home.run_with(&["append", "--new"], "").ends_with(0);
    assert_eq!(home.file_count(), 2);
}

#[test]
fn who_writes_a_session_is_named_by_its_process_number() {
    let home = Home::new();
    let session = talk(&home);
    let held = std::fs::File::open(home.file(&session)).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    let who = match std::fs::read_to_string("/proc/locks").is_ok_and(|locks| locks.contains("FLOCK")) {
        true => format!("process {} writes", std::process::id()),
        false => "another process writes".to_owned(),
    };
    for args in
        [vec!["append", &session], vec!["meta", &session, "--title", "x"], vec!["redact", &session, "--literal", "x"]]
    {
        let ran = home.run_with(&args, &user("e", "five")).ends_with(3);
        assert!(ran.stderr.contains(&who), "{ran:?}");
    }
}

#[test]
fn the_last_day_of_the_calendar_is_a_date_like_any_other() {
    let home = Home::new();
    talk(&home);
    for (option, count) in [("--since", 0), ("--until", 1)] {
        for time in ["9999-12-31", "9999-12-31T23:59:59Z"] {
            let ran = home.run(&["list", option, time, "--json"]).ends_with(0).json();
            assert_eq!(ran["sessions"].as_array().unwrap().len(), count, "{option} {time}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_can_not_be_written_is_no_success() {
    let home = Home::new();
    for args in [&["help"][..], &["--help"], &["--version"], &["list", "--help"]] {
        let mut command = home.command(args);
        command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn a_payload_without_a_message_is_an_error_and_no_body() {
    let home = Home::new();
    let empty =
        home.run_with(&["append", "--new"], "").ends_with(0).json_lines()[0]["session"].as_str().unwrap().to_owned();
    let config = home.write("prompt.json", r#"{"systemRole": "You help.", "date": {}}"#);
    for more in [&[][..], &["--config", &config]] {
        for provider in ["ai-sdk", "anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"] {
            let args = [&["payload", &empty, "--provider", provider], more].concat();
            let ran = home.run(&args).ends_with(1);
            assert!(ran.stdout.is_empty() && ran.stderr.contains("`seslog append"), "{ran:?}");
        }
    }
    let ran = home.run(&["payload", &empty, "--provider", "anthropic", "--json"]).ends_with(1).json();
    assert_eq!(ran["error"]["code"], "empty");
}

#[test]
fn an_upstream_is_refused_where_a_provider_has_none() {
    let home = Home::new();
    let session = talk(&home);
    for provider in ["anthropic", "openai-chat", "openai-responses", "gemini", "bedrock"] {
        let ran = home.run(&["payload", &session, "--provider", provider, "--upstream", "anthropic"]).ends_with(2);
        assert!(ran.stderr.contains("--upstream is for --provider ai-sdk"), "{ran:?}");
    }
    home.run(&["payload", &session, "--provider", "ai-sdk", "--upstream", "anthropic"]).ends_with(0);
}

#[test]
fn the_date_of_a_prompt_is_todays_and_that_of_an_earlier_point_is_its_own() {
    let home = Home::new();
    let at = |id: &str, at: i64| {
        json!({"type": "message", "id": id, "role": "user", "kind": "user_input", "content": "x", "at": at}).to_string()
    };
    let session = home.session(&[&at("a", 1_709_287_200_000_000), &at("b", 1_709_373_600_000_000)]);
    let config = home.write("prompt.json", r#"{"date": {}}"#);
    let fixed = home.write("fixed.json", r#"{"date": {"now": 951826154000000}}"#);
    let date = |more: &[&str]| {
        let args = [&["payload", &session, "--provider", "anthropic"], more].concat();
        let body = home.run(&args).ends_with(0).json()["system"].to_string();
        let at = body.find("Current date: ").unwrap_or_else(|| panic!("{body}")) + 14;
        body[at..at + 10].to_owned()
    };
    let day = || {
        let ran = home.run_with(&["append", &session], &user("now", "x"));
        assert_eq!(ran.code, Some(0));
        let last = home.run(&["list", "--json"]).json()["sessions"][0]["lastAt"].as_str().unwrap().to_owned();
        last[..10].to_owned()
    };
    assert_eq!(date(&["--config", &config, "--at", "a"]), "2024-03-01");
    assert_eq!(date(&["--config", &fixed]), "2000-02-29");
    // Around midnight either day is right.
    let now = date(&["--config", &config]);
    let today = day();
    assert!(now == today || date(&["--config", &config]) == today, "{now} {today}");
}

#[test]
fn an_export_leaves_out_what_a_person_kept_from_the_model() {
    let home = Home::new();
    let bash = |id: &str, command: &str, excluded: bool| {
        json!({"type": "message", "id": id, "role": "user", "kind": "bash_execution", "command": command, "output": "o",
            "exitCode": 0, "excludeFromContext": excluded, "content": []})
        .to_string()
    };
    let session =
        home.session(&[&user("a", "hello"), &bash("b", "cat shown.txt", false), &bash("c", "cat secret.txt", true)]);
    for view in ["model", "export"] {
        let ran = home.run(&["show", &session, "--view", view, "--json"]).ends_with(0);
        let document = ran.json();
        let messages = document["messages"].to_string();
        assert!(messages.contains("shown.txt") && !messages.contains("secret.txt"), "{view}: {ran:?}");
        assert!(document["diagnostics"].to_string().contains("excluded_bash_left_out"), "{view}: {ran:?}");
    }
    assert!(home.run(&["show", &session]).stdout.contains("secret.txt"), "the person still has it");
}

#[test]
fn who_sums_up_is_told_that_pictures_are_left_out_and_not_that_the_model_refuses_their_type() {
    let home = Home::new();
    let picture = json!({"type": "message", "id": "p", "role": "user", "kind": "user_input", "content": [
        {"type": "image", "mediaType": "image/png", "data": "iVBORw0KGgo="}]});
    let session = home.session(&[&user("a", "look"), &picture.to_string()]);
    let shown = home.run(&["show", &session, "--view", "compact"]).ends_with(0).stdout;
    assert!(shown.contains("pictures and files are left out here") && !shown.contains("media type"), "{shown}");
}

#[test]
fn a_vacuum_says_in_its_own_words_what_went_and_how_many_bytes() {
    let home = Home::new();
    let long = "words ".repeat(200);
    let session = home.session(&[&user("a", "one"), &user("b", &long)]);
    home.run(&["tombstone", &session, "--target", "b"]).ends_with(0);
    let ran = home.run(&["vacuum", &session, "--tombstoned"]).ends_with(0);
    assert!(
        ran.stdout.contains("removed    the contents of 1 of 3 events") && ran.stdout.contains(" fewer"),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("changed") && !ran.stdout.contains("redact"), "{ran:?}");
    let events = home.run(&["tail", &session, "--json"]).ends_with(0).stdout;
    assert!(events.contains("[removed by vacuum]") && !events.contains("[redacted]"), "{events}");
}

#[test]
fn what_a_vacuum_has_removed_does_not_come_back_with_the_next_import() {
    let home = Home::new();
    let file = home.write("talk.jsonl", [user("a", "one"), user("b", "two words")].join("\n"));
    let first = home.run(&["import", &file, "--json"]).ends_with(0).json();
    let session = first["session"].as_str().unwrap();
    home.run(&["tombstone", session, "--target", "b"]).ends_with(0);
    home.run(&["vacuum", session, "--tombstoned"]).ends_with(0);
    let again = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], &again["erased"]), (&json!(0), &json!(1)), "{again}");
}

#[test]
fn a_damaged_copy_that_is_kept_is_named_by_who_erases() {
    let home = Home::new();
    let session = talk(&home);
    damage(&home, &session, "b");
    home.run(&["salvage", &session, "--in-place"]).ends_with(1);
    let redacted = home.run(&["redact", &session, "--literal", "three"]).ends_with(1);
    assert!(redacted.stderr.contains(".seslog.damaged'` removes it"), "{redacted:?}");
    let deleted = home.run(&["delete", &session, "--yes"]).ends_with(1);
    assert!(deleted.stderr.contains(".seslog.damaged'` removes it"), "{deleted:?}");
}

#[test]
fn a_deleted_session_whose_source_is_there_is_told_to_come_back_and_comes_back() {
    let home = Home::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/claude-code/modern-2.1.jsonl");
    let text = std::fs::read_to_string(source).unwrap();
    let id = "5b1e0a10-0003-4000-8000-0000000000a3";
    std::fs::create_dir_all(home.path().join(".claude/projects/x")).unwrap();
    let source = home.write(&format!(".claude/projects/x/{id}.jsonl"), text);
    home.run(&["import", "--all"]).ends_with(0);
    let ran = home.run(&["delete", id, "--yes", "--json"]).ends_with(0);
    assert_eq!(ran.json()["sources"], json!([source]));
    assert!(ran.stderr.contains("makes the session of it again"), "{ran:?}");
    assert_eq!(home.run(&["import", "--all", "--json"]).ends_with(0).json()["created"], 1);
    std::fs::remove_file(source).unwrap();
    assert_eq!(home.run(&["delete", id, "--yes", "--json"]).ends_with(0).json()["sources"], json!([]));
}

#[test]
fn two_conversations_in_one_session_are_told_and_the_same_one_again_is_not() {
    let home = Home::new();
    let session = talk(&home);
    let head = json!({"type": "session", "id": "other"}).to_string();
    let file = home.write("other.jsonl", [head, user("x", "quite another talk")].join("\n"));
    let ran = home.run(&["import", &file, "--session", &session]).ends_with(0);
    assert!(ran.stdout.contains("two conversations"), "{ran:?}");
    let again = home.run(&["import", &file, "--session", &session, "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], again.get("mixed")), (&json!(0), None));
}

#[test]
fn files_with_repairs_and_bad_lines_are_named_and_only_new_trouble_makes_a_1() {
    let home = Home::new();
    let orphan = json!({"type": "message", "id": "o", "parentId": "nobody", "role": "user", "kind": "user_input", "content": "x"});
    std::fs::create_dir(home.path().join("talks")).unwrap();
    home.write("talks/repaired.jsonl", [user("a", "one"), orphan.to_string()].join("\n"));
    let torn = [user("a", "one"), "{\"type\":\"mess".to_owned()].join("\n");
    let bad = home.write("talks/torn.jsonl", &torn);
    let first = home.run(&["import", "talks"]).ends_with(1);
    assert!(
        first.stdout.contains("talks/repaired.jsonl: 1") && first.stdout.contains("talks/torn.jsonl: 1 line could"),
        "{first:?}"
    );
    let second = home.run(&["import", "talks"]).ends_with(0);
    assert!(second.stdout.contains("as before") && second.stdout.contains("talks/torn.jsonl"), "{second:?}");
    // The torn line is still there, and something is new behind it.
    std::fs::write(&bad, format!("{torn}\n{}\n", user("b", "two"))).unwrap();
    home.run(&["import", "talks"]).ends_with(1);
    home.run(&["import", "talks"]).ends_with(0);
}

#[test]
fn the_name_of_a_file_says_as_what_a_session_is_exported_and_one_that_says_nothing_is_asked_about() {
    let home = Home::new();
    let session = talk(&home);
    for (name, begins) in [("page.html", "<!"), ("page.md", "# "), ("lines.jsonl", "{"), ("lines", "{")] {
        home.run(&["export", &session, "-o", name]).ends_with(0);
        let written = std::fs::read_to_string(home.path().join(name)).unwrap();
        assert!(written.starts_with(begins), "{name}: {written:.80}");
    }
    let ran = home.run(&["export", &session, "-o", "notes.pdf"]).ends_with(2);
    assert!(ran.stderr.contains("--format") && !home.path().join("notes.pdf").exists(), "{ran:?}");
    home.run(&["export", &session, "--format", "markdown", "-o", "notes.pdf"]).ends_with(0);
}

#[test]
fn an_export_says_when_a_file_lies_already_where_it_belongs() {
    let home = Home::new();
    let session = talk(&home);
    let told = home.run(&["export", &session, "--format", "codex"]).ends_with(0).stderr;
    assert!(told.contains("`mkdir -p`") && !told.contains("already"), "{told}");
    let place = told.split("put it at ~/").nth(1).unwrap().split(',').next().unwrap();
    let place = home.path().join(place);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "the agent's own").unwrap();
    let told = home.run(&["export", &session, "--format", "codex"]).ends_with(0).stderr;
    assert!(told.contains("is there already") && told.contains(place.to_str().unwrap()), "{told}");
}

/// The program that has these variables looks nowhere else.
#[test]
fn an_export_for_an_agent_is_told_to_go_where_its_variable_says_and_in_local_time() {
    let home = Home::new();
    let said = r#"{"type":"message","id":"a","role":"user","kind":"user_input","content":"hi","at":1730843201000000}"#;
    let session = home.session(&[said]);
    let run = |format: &str, more: &[&str]| {
        let mut command = home.command(&[&["export", &session, "--format", format], more].concat());
        command.env("CODEX_HOME", "/x/cx").env("CLAUDE_CONFIG_DIR", "/x/cl").env("TZ", "JST-9");
        crate::cli_support::run(command, "").ends_with(0)
    };
    let told = run("codex", &[]).stderr;
    assert!(told.contains("put it at /x/cx/sessions/2024/11/06/rollout-2024-11-06T06-46-41-"), "{told}");
    let told = run("claude-code", &[]).stderr;
    assert!(told.contains("put it at /x/cl/projects/"), "{told}");
    assert!(run("pi", &[]).stderr.contains("put it at ~/.pi/agent/sessions/"));
    let agent = run("codex", &["-o", "rollout.jsonl", "--json"]).json()["agent"].clone();
    assert_eq!(agent["home"], "/x/cx", "{agent}");
    assert!(
        agent["place"].as_str().unwrap().starts_with("sessions/2024/11/06/rollout-2024-11-06T06-46-41-"),
        "{agent}"
    );
}

#[test]
fn a_wrong_command_line_is_told_whole_in_json() {
    let home = Home::new();
    let message = |args: &[&str]| home.run(args).ends_with(2).json()["error"]["message"].as_str().unwrap().to_owned();
    let told = message(&["compact", "0192", "--json"]);
    assert!(told.contains("--summary <") && !told.contains("Usage:"), "{told}");
    let told = message(&["show", "0192", "--view", "foo", "--json"]);
    assert!(told.contains("'foo'") && told.contains("transcript"), "{told}");
}

#[test]
fn a_file_in_the_place_of_the_store_and_a_store_without_sessions_are_called_what_they_are() {
    let home = Home::new();
    let file = home.write("notes.txt", "notes");
    for command in ["doctor", "list"] {
        let ran = home.run(&[command, "--store", &file]).ends_with(2);
        assert!(ran.stderr.contains("is a file"), "{ran:?}");
    }
    let ran = home.run(&["search", "lamp"]).ends_with(1);
    assert!(ran.stderr.contains("there are no sessions"), "{ran:?}");
}

#[test]
fn a_session_whose_current_branch_is_empty_says_where_its_messages_are() {
    let home = Home::new();
    let session = talk(&home);
    home.run(&["rewind", &session, "--to-start"]).ends_with(0);
    let ran = home.run(&["show", &session]).ends_with(0);
    let shown = home.run(&told(&ran.stderr, "show")).ends_with(0);
    assert!(shown.stdout.contains("one") && shown.stdout.contains("four"), "{shown:?}");
}

#[test]
fn a_diff_with_one_point_compares_with_now_and_a_session_without_its_colon_is_told() {
    let home = Home::new();
    let session = talk(&home);
    let one = home.run(&["diff", &session, "b"]).ends_with(1).stdout;
    assert_eq!(one, home.run(&["diff", &session, "b", &format!("{session}:")]).ends_with(1).stdout);
    let told = home.run(&["diff", &session, &session]).ends_with(1).stderr;
    assert!(told.contains(&format!("`{session}:`")), "{told}");
}

#[test]
fn explain_takes_the_id_of_a_call_too() {
    let home = Home::new();
    let call = r#"{"type":"message","id":"m","role":"assistant","kind":"tool_call","content":[{"type":"tool_call","id":"toolu_1","name":"run","input":{}}]}"#;
    let session = home.session(&[&user("a", "one"), call]);
    let by_call = home.run(&["explain", &session, "toolu_1"]).ends_with(0).stdout;
    assert_eq!(by_call, home.run(&["explain", &session, "m"]).ends_with(0).stdout);
}

/// `list WORD` and the like were refused without a word of what does it, and a tip said how to pass an option as a value.
#[test]
fn an_argument_that_a_command_does_not_have_is_told_what_has_it() {
    let home = Home::new();
    for (args, hint) in [
        (&["list", "parser"][..], "`seslog list --text WORD`"),
        (&["show", "0192", "0193"], "`seslog show SESSION --at EVENT`"),
        (&["delete", "0192", "0193"], "do seslog delete"),
        (&["tree", "0192", "--branch", "x"], "`seslog show SESSION --branch EVENT`"),
        (&["list", "--limit", "-1"], "0 or more"),
        (&["compact", "0192"], "--summary-file <FILE>"),
    ] {
        let ran = home.run(args).ends_with(2);
        assert!(ran.stderr.contains(hint) && !ran.stderr.contains("as a value"), "{ran:?}");
        let ran = home.run(&[args, &["--json"]].concat()).ends_with(2).json();
        assert!(ran["error"]["message"].as_str().unwrap().contains(hint), "{ran}");
    }
    assert!(home.run(&["tree", "0192", "--al"]).ends_with(2).stderr.contains("'--all'"));
}
