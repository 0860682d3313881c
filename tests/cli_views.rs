//! Looking at sessions: `list`, `show`, `resume`, `payload`, `verify`.

#![cfg(feature = "cli")]

mod cli_support;

use std::io::Read;
use std::process::Stdio;

use cli_support::{Home, Ran, assistant, call, keys, result, run, user};
use serde_json::{Value, json};

fn ids(messages: &Value) -> Vec<String> {
    let first = |message: &Value| message["originalIds"][0].as_str().unwrap_or("?").to_owned();
    messages.as_array().unwrap().iter().map(first).collect()
}

/// Overwrites some bytes of a session's file that had been durable.
fn damage(home: &Home, session: &str) -> u64 {
    let verified = home.run(&["verify", session, "--json"]).json();
    let frames = verified["frames"].as_array().unwrap();
    let offset = frames.iter().find(|frame| frame["originalId"] == "m2").unwrap()["offset"].as_u64().unwrap();
    let mut bytes = std::fs::read(home.file(session)).unwrap();
    bytes[offset as usize + 70..offset as usize + 90].fill(0xAA);
    std::fs::write(home.file(session), bytes).unwrap();
    offset
}

fn three(home: &Home) -> String {
    home.session(&[&user("m1", "one"), &assistant("m2", "two"), &user("m3", "three")])
}

#[test]
fn list_tells_of_every_session() {
    let home = Home::new();
    assert!(home.run(&["list"]).ends_with(0).stdout.starts_with("no sessions in "));
    let session = three(&home);
    home.run(&["meta", &session, "--title", "First", "--tag", "a", "--cwd", "/x"]).ends_with(0);
    let listed = home.run(&["list", "--json"]).ends_with(0).json();
    assert_eq!(keys(&listed), "sessions store version");
    assert_eq!(listed["version"], 1);
    let row = &listed["sessions"][0];
    assert_eq!(
        keys(row),
        "agent branches bytes createdAt cwd firstAt firstWords id lastAt lastEvent lastOriginalId messages model open parent path problem records state tags title"
    );
    assert_eq!((&row["id"], &row["open"], &row["title"]), (&json!(session), &json!("clean"), &json!("First")));
    let at = row["lastAt"].as_str().unwrap();
    assert!(at.len() == 27 && at.ends_with('Z') && at.as_bytes()[10] == b'T', "{at}");
    let human = home.run(&["list"]).ends_with(0).stdout;
    assert!(human.contains(&session) && human.contains("First") && human.contains("clean"), "{human}");
}

#[test]
fn a_limited_list_is_the_beginning_of_the_whole_one() {
    let home = Home::new();
    (0..3).for_each(|_| drop(three(&home)));
    let whole = home.run(&["list", "--json"]).ends_with(0).json();
    for (limit, count) in [("0", 0), ("2", 2), ("50", 3)] {
        let listed = home.run(&["list", "--json", "--limit", limit]).ends_with(0).json();
        assert_eq!(listed["sessions"].as_array().unwrap()[..], whole["sessions"].as_array().unwrap()[..count]);
        assert_eq!(home.run(&["list", "--json", "-n", limit]).ends_with(0).json(), listed);
    }
}

#[test]
fn list_flags_a_damaged_session_with_the_reason() {
    let home = Home::new();
    let (good, bad) = (three(&home), three(&home));
    std::fs::write(home.file(&bad), "no session at all").unwrap();
    std::fs::write(home.store().join("note.txt"), "not ours").unwrap();
    let listed = home.run(&["list", "--json"]).ends_with(1).json();
    let rows = listed["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(row(&good)["problem"], Value::Null);
    assert_eq!(row(&bad)["open"], "damaged");
    assert!(row(&bad)["problem"].as_str().unwrap().contains("is not a log"));
    assert!(home.run(&["list"]).ends_with(1).stdout.contains("is not a log"));
}

#[test]
fn show_gives_both_views_and_earlier_points() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":["m2"]}"#;
    let session = home.session(&[&user("m1", "one"), &assistant("m2", "two"), compaction, &user("m3", "three")]);
    let transcript = home.run(&["show", &session, "--json"]).ends_with(0).json();
    assert_eq!(
        keys(&transcript),
        "at branchPoints damage diagnostics messages missingParent originalIds session version view"
    );
    assert_eq!(ids(&transcript["messages"]), ["m1", "m2", "b", "s", "m3"]);
    let model = home.run(&["show", &session, "--view", "model", "--json"]).ends_with(0).json();
    assert_eq!(ids(&model["messages"]), ["s", "m2", "m3"]);
    let before = home.run(&["show", &session, "--view", "model", "--at", "m2", "--json"]).ends_with(0).json();
    assert_eq!(ids(&before["messages"]), ["m1", "m2"]);
    let before = home.run(&["show", &session, "--at", "m2", "--json"]).ends_with(0).json();
    assert_eq!(ids(&before["messages"]), ["m1", "m2"]);
    let then = home.run(&["show", &session, "--at", "b", "--json"]).ends_with(0).json();
    assert_eq!(ids(&then["messages"]), ["m1", "m2", "b", "s"]);
    let human = home.run(&["show", &session]).ends_with(0).stdout;
    let place = |text: &str| human.find(text).unwrap_or_else(|| panic!("{text} in {human}"));
    assert!(place("  one\n") < place("  two\n") && place("  two\n") < place("  three\n"));
    home.run(&["show", &session, "--at", "nobody"]).ends_with(1);
    home.run(&["show", &session, "--view", "nothing"]).ends_with(2);
}

#[test]
fn show_follows_a_fork_to_its_parent_and_says_when_that_is_gone() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":[]}"#;
    let session = home.session(&[&user("m1", "one"), compaction, &user("m2", "two"), &user("m3", "three")]);
    let forked = home.run(&["fork", &session, "--at", "m2", "--json"]).ends_with(0).json();
    assert_eq!(keys(&forked), "at originalIds parent path session version");
    let fork = forked["session"].as_str().unwrap();
    let shown = home.run(&["show", fork, "--json"]).ends_with(0);
    assert_eq!(ids(&shown.json()["messages"]), ["m1", "b", "s", "m2"]);
    std::fs::remove_file(home.file(&session)).unwrap();
    let shown = home.run(&["show", fork, "--json"]).ends_with(0);
    assert_eq!(shown.json()["missingParent"], json!(session));
    assert!(shown.stderr.contains(&session) && shown.stderr.contains("is gone"), "{shown:?}");
    assert_eq!(ids(&shown.json()["messages"]), ["b", "s", "m2"]);
}

#[test]
fn show_names_the_original_ids_of_what_it_hides_in_a_parent_too() {
    let home = Home::new();
    let hidden = r#"{"type":"message","id":"m2","role":"user","kind":"user_input","content":"for the model","metadata":{"meta":true}}"#;
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":[]}"#;
    let session = home.session(&[&user("m1", "one"), hidden, compaction, &user("m3", "three")]);
    let forked = home.run(&["fork", &session, "--at", "m3", "--json"]).ends_with(0).json();
    let fork = forked["session"].as_str().unwrap();
    let shown = home.run(&["show", fork, "--json"]).ends_with(0).json();
    assert_eq!(ids(&shown["messages"]), ["m1", "b", "s", "m3"]);
    let id = shown["diagnostics"]["hiddenMessageIds"][0].as_str().unwrap();
    assert_eq!(shown["originalIds"], json!({ id: "m2" }));
    let human = home.run(&["show", fork]).ends_with(0).stdout;
    let told = human.lines().last().unwrap();
    assert!(told.starts_with("(1 message is not shown in this view; `seslog explain "), "{human}");
    let command: Vec<&str> = told.split('`').nth(1).unwrap().split(' ').skip(1).collect();
    assert!(home.run(&command).ends_with(0).stdout.contains("m2"), "the command that is told explains that message");
}

#[test]
fn resume_says_what_a_writer_would_find_and_changes_nothing() {
    let home = Home::new();
    let started = r#"{"type":"tool_started","callId":"c1","idempotencyKey":"key"}"#;
    let session = home.session(&[&user("m1", "one"), &call("m2", "c1"), started]);
    let report = home.run(&["resume", &session, "--json"]).ends_with(0).json();
    assert_eq!(
        keys(&report),
        "boundary checkedFrom cutBytes cutEvents damage damagedBefore danglingCalls eventsReplayed incompleteCalls lastTurnInterrupted leaf \
         missingKept missingParents open originalIds path replayStart session setAside version zeroBytes"
    );
    assert_eq!((&report["open"], &report["lastTurnInterrupted"]), (&json!("clean"), &json!(true)));
    let call = &report["danglingCalls"][0];
    assert_eq!((&call["callId"], &call["state"]), (&json!("c1"), &json!("startedOutcomeUnknown")));
    // A torn tail is no fault, and looking at it leaves it as it is.
    let mut bytes = std::fs::read(home.file(&session)).unwrap();
    bytes.extend_from_slice(&[0xC1; 40]);
    std::fs::write(home.file(&session), &bytes).unwrap();
    let report = home.run(&["resume", &session, "--json"]).ends_with(0).json();
    assert_eq!((&report["open"], &report["cutBytes"]), (&json!("recovered"), &json!(40)));
    assert_eq!(std::fs::read(home.file(&session)).unwrap(), bytes);
    let human = home.run(&["resume", &session]).ends_with(0).stdout;
    assert!(human.contains("set aside: 40 bytes") && human.contains("ask by key key"), "{human}");
    // The next writer sets it aside and says so.
    let ran = home.run_with(&["append", &session], &result("m3", "c1", "done")).ends_with(0);
    assert!(ran.stderr.contains("set aside 40 bytes"), "{ran:?}");
    assert_eq!(home.run(&["resume", &session, "--json"]).ends_with(0).json()["danglingCalls"], json!([]));
}

#[test]
fn payload_is_pure_json_and_its_diagnostics_are_beside_it() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one"), &call("m2", "c1")]);
    let ran = home.run(&["payload", &session, "--provider", "ai-sdk"]).ends_with(0);
    let body = ran.json();
    assert_eq!(keys(&body), "messages");
    assert_eq!(body["messages"][0], json!({"role": "user", "content": "one"}));
    assert!(ran.stderr.contains("missing_result_filled"), "{ran:?}");
    let both = home.run(&["payload", &session, "--provider", "ai-sdk", "--json"]).ends_with(0);
    assert_eq!(keys(&both.json()), "body diagnostics originalIds renamed session version");
    assert_eq!(both.json()["body"], body);
    assert_eq!(both.stderr, "");
    let both = both.json();
    let mut diagnostics = both["diagnostics"].as_array().unwrap().iter();
    assert!(diagnostics.any(|diagnostic| diagnostic["code"] == "missing_result_filled"));
    let before = home.run(&["payload", &session, "--provider", "ai-sdk", "--at", "m1"]).ends_with(0).json();
    assert_eq!(before["messages"].as_array().unwrap().len(), 1);
    home.run(&["payload", &session, "--provider", "nobody"]).ends_with(2);
}

#[test]
fn payload_tells_under_which_other_names_calls_and_tools_go_out() {
    let home = Home::new();
    let session = home.session(&[
        &user("m1", "one"),
        &call("m2", "c.1").replace("\"ls\"", "\"files.run\""),
        &result("m3", "c.1", "done"),
    ]);
    let told = home.run(&["payload", &session, "--provider", "anthropic", "--json"]).ends_with(0).json();
    let sent = &told["body"]["messages"][1]["content"][0];
    let (id, name) = (sent["id"].as_str().unwrap(), sent["name"].as_str().unwrap());
    assert_eq!(told["renamed"], json!({"calls": {id: "c.1"}, "tools": {name: "files.run"}}));
}

#[test]
fn payload_of_another_branch_is_made_of_its_messages() {
    let home = Home::new();
    let session = three(&home);
    home.run(&["rewind", &session, "--to", "m1"]).ends_with(0);
    home.run_with(&["append", &session], &user("m4", "four")).ends_with(0);
    let last = |args: &[&str]| {
        let args = [&["payload", &session, "--provider", "openai-chat"], args].concat();
        let body = home.run(&args).ends_with(0).json();
        body["messages"].as_array().unwrap().last().unwrap()["content"].clone()
    };
    assert_eq!(last(&[]), "four");
    assert_eq!(last(&["--branch", "m3"]), "three");
    assert_eq!(last(&["--branch", "m2"]), "two");
}

#[test]
fn verify_shows_every_frame() {
    let home = Home::new();
    let session = three(&home);
    let verified = home.run(&["verify", &session, "--json"]).ends_with(0).json();
    assert_eq!(
        keys(&verified),
        "chains cleanClose damage durableEnd frameCount frames lostEvents lostRecords missingKept open path session setAside \
         size states version zeroBytes"
    );
    assert_eq!(verified["open"], "clean");
    let frames = verified["frames"].as_array().unwrap();
    assert_eq!(verified["frameCount"], frames.len());
    let summary = home.run(&["verify", &session, "--summary"]).ends_with(0).stdout;
    assert!(!summary.contains("accepted") && summary.contains(&format!("clean: {} frames", frames.len())), "{summary}");
    assert_eq!(keys(&frames[0]), "event len offset originalId state type what");
    let mut end = 4096;
    for frame in frames {
        assert_eq!(frame["offset"], end, "frames lie one behind the other");
        end += frame["len"].as_u64().unwrap();
    }
    assert_eq!(verified["size"], end);
    let events: Vec<&Value> =
        frames.iter().filter(|frame| frame["type"] == "event").map(|f| &f["originalId"]).collect();
    assert_eq!(events, [&json!("m1"), &json!("m2"), &json!("m3")]);
    let chain = &verified["chains"][0];
    assert_eq!(keys(chain), "beginsAt event leaf whole");
    assert_eq!((&chain["beginsAt"], &chain["whole"]), (&json!("root"), &json!(true)));
    // A copy elsewhere is named by its path, and human output says the same.
    let copy = home.path().join("copy");
    std::fs::copy(home.file(&session), &copy).unwrap();
    let human = home.run(&["verify", "copy"]).ends_with(0).stdout;
    assert!(human.contains("[m2]") && human.trim_end().lines().last().unwrap().starts_with("clean: "), "{human}");
}

#[test]
fn damage_is_told_with_its_place_and_exit_code_1() {
    let home = Home::new();
    let session = three(&home);
    let offset = damage(&home, &session);
    let verified = home.run(&["verify", &session, "--json"]).ends_with(1).json();
    assert_eq!(verified["open"], "damaged");
    assert_eq!(keys(&verified["damage"][0]), "expected found kind len offset");
    assert_eq!(verified["damage"][0]["offset"], offset);
    let states: Vec<&str> =
        verified["frames"].as_array().unwrap().iter().map(|f| f["state"].as_str().unwrap()).collect();
    assert!(states.iter().all(|state| *state == "accepted"), "one lost record cuts nothing off: {states:?}");
    assert!(home.run(&["verify", &session]).ends_with(1).stdout.contains("damaged: expected"));
    assert_eq!(home.run(&["resume", &session, "--json"]).ends_with(1).json()["open"], "damaged");
    let shown = home.run(&["show", &session, "--json"]).ends_with(1);
    assert_eq!(ids(&shown.json()["messages"]), ["m1"], "what lies before it is shown");
    assert!(shown.stderr.contains("damaged"));
    let refused = home.run_with(&["append", &session, "--json"], &user("m4", "x")).ends_with(1);
    assert_eq!(refused.json()["error"]["code"], "damaged");
    assert!(refused.stderr.contains("salvage"), "the cure is named: {refused:?}");
    std::fs::write(home.path().join("x.seslog"), "no session").unwrap();
    assert_eq!(home.run(&["verify", "x.seslog", "--json"]).ends_with(1).json()["error"]["code"], "notASession");
}

#[test]
fn damage_before_the_boundary_is_told_by_every_look_at_what_lies_there() {
    let home = Home::new();
    let session = three(&home);
    home.run(&["compact", &session, "--summary", "s", "--keep-from", "m3"]).ends_with(0);
    let offset = damage(&home, &session);
    let resumed = home.run(&["resume", &session, "--json"]).ends_with(0).json();
    assert_eq!(resumed["open"], "clean", "a resume does not read what lies before the boundary");
    let model = home.run(&["show", &session, "--view", "model", "--json"]).ends_with(0).json();
    assert_eq!((ids(&model["messages"]), &model["damage"]), (vec!["?".to_owned(), "m3".to_owned()], &json!([])));
    let shown = home.run(&["show", &session, "--json"]).ends_with(1);
    assert_eq!(ids(&shown.json()["messages"]), ["m1"], "what lies before it is shown");
    assert_eq!(shown.json()["damage"][0]["offset"], offset);
    assert!(shown.stderr.contains("damaged"));
    for view in ["model", "transcript"] {
        let at = home.run(&["show", &session, "--view", view, "--at", "m3", "--json"]).ends_with(1);
        assert_eq!(at.json()["error"]["code"], "damaged", "not that there is no m3");
    }
    let before = std::fs::read(home.file(&session)).unwrap();
    for change in [vec!["rewind", &session, "--to", "m1"], vec!["fork", &session, "--at", "m1"]] {
        home.run(&change).ends_with(1);
    }
    assert_eq!(std::fs::read(home.file(&session)).unwrap(), before);
}

#[test]
fn verify_names_what_was_set_aside_and_finds_frames_without_a_header() {
    let home = Home::new();
    let session = three(&home);
    let mut bytes = std::fs::read(home.file(&session)).unwrap();
    let whole = bytes.len();
    bytes.extend_from_slice(&[0xC1; 40]);
    std::fs::write(home.file(&session), &bytes).unwrap();
    let verified = home.run(&["verify", &session, "--json"]).ends_with(0).json();
    assert_eq!(verified["open"], "recovered");
    assert_eq!(verified["setAside"], json!([{"offset": whole, "len": 40, "cause": "tornTail", "events": []}]));
    assert!(home.run(&["verify", &session]).ends_with(0).stdout.contains("set aside, never durable: tornTail"));
    bytes[..4096].fill(0);
    std::fs::write(home.file(&session), &bytes).unwrap();
    let verified = home.run(&["verify", &session, "--json"]).ends_with(1).json();
    assert_eq!((&verified["session"], &verified["open"]), (&Value::Null, &json!("damaged")));
    let frames = verified["frames"].as_array().unwrap();
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "event").count(), 3);
}

#[test]
fn nothing_from_a_session_acts_on_the_terminal() {
    let home = Home::new();
    let evil = "a\u{1b}[31mred\u{9b}2Jb\u{7}c\u{202e}d\u{2066}e\u{8}f\rg\u{7f}";
    let session = home.session(&[&user(&format!("id{evil}"), &format!("{evil}\nnext\tline")), &call("m2", evil)]);
    home.run(&["meta", &session, "--title", evil]).ends_with(0);
    let is_safe = |ran: &Ran| {
        let all = format!("{}{}", ran.stdout, ran.stderr);
        let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}".contains(c);
        assert!(!all.chars().any(bad), "{all:?}");
    };
    for args in [
        &["list"][..],
        &["show", &session],
        &["show", &session, "--view", "model"],
        &["resume", &session],
        &["verify", &session],
        &["payload", &session, "--provider", "ai-sdk"],
        &["show", &session, "--at", evil],
        &["show", evil],
    ] {
        is_safe(&home.run(args));
        let mut json = args.to_vec();
        json.push("--json");
        let ran = home.run(&json);
        is_safe(&ran);
        ran.json();
    }
    let shown = home.run(&["show", &session]).stdout;
    assert!(shown.contains("\\u{1b}[31mred\\u{9b}2Jb\\u{7}c\\u{202e}d"), "{shown}");
    assert!(shown.contains("\n  next\tline\n"), "line breaks and tabs of a text are kept: {shown}");
    // JSON says the same, in escapes.
    let json = home.run(&["show", &session, "--json"]).json();
    assert_eq!(json["messages"][0]["content"][0]["text"], format!("{evil}\nnext\tline"));
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let home = Home::new();
    three(&home);
    let has_colour = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = home.command(args);
        command.envs(env.iter().copied());
        run(command, "").ends_with(0).stdout.contains('\u{1b}')
    };
    let check = |args: &[&str], env: &[(&str, &str)], expected| {
        assert_eq!(has_colour(args, env), expected, "{args:?} {env:?}");
    };
    check(&["list"], &[], false);
    check(&["list"], &[("CLICOLOR_FORCE", "1")], true);
    check(&["list"], &[("CLICOLOR_FORCE", "0")], false);
    check(&["list"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false);
    check(&["list"], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true);
    check(&["list", "--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")], true);
    check(&["list", "--color", "never"], &[("CLICOLOR_FORCE", "1")], false);
    check(&["list", "--json", "--color", "always"], &[], false);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = Home::new();
    let session = home.session(&[&user("m1", &"long ".repeat(400_000))]);
    for args in [&["show", &session][..], &["show", &session, "--json"], &["payload", &session, "--provider", "ai-sdk"]]
    {
        let mut child =
            home.command(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        pipe.read_exact(&mut [0; 1]).unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

/// Ids of our own in the document that have no original id anywhere in it.
fn nameless(document: &Value, originals: &[(String, String)]) -> Vec<String> {
    let text = document.to_string();
    let lacks = |(id, original): &&(String, String)| text.contains(id) && !text.contains(&format!("\"{original}\""));
    originals.iter().filter(lacks).map(|(_, original)| original.clone()).collect()
}

#[test]
fn every_document_that_names_an_event_names_its_original_id() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","id":"b","summary":{"id":"s","text":"so far"},"keep":["m2"]}"#;
    let hidden = r#"{"type":"message","id":"h","role":"system","kind":"system_event","subtype":"x","content":"y"}"#;
    let session = home.session(&[&user("m1", "one"), &assistant("m2", "two"), compaction, hidden, &call("m3", "c1")]);
    let verified = home.run(&["verify", &session, "--json"]).json();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let originals: Vec<(String, String)> = verified["frames"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|frame| Some((text(&frame["event"])?, text(&frame["originalId"])?)))
        .collect();
    assert_eq!(originals.len(), 6);
    for command in [
        vec!["show", &session, "--view", "model"],
        vec!["show", &session, "--view", "transcript"],
        vec!["show", &session, "--view", "model", "--at", "h"],
        vec!["payload", &session, "--provider", "ai-sdk"],
        vec!["resume", &session],
        vec!["list"],
        vec!["fork", &session, "--at", "m3"],
    ] {
        let document = home.run(&[command.as_slice(), &["--json"]].concat()).ends_with(0).json();
        assert_eq!(nameless(&document, &originals), Vec::<String>::new(), "{command:?}: {document}");
    }
}
