//! `seslog append`: a line in, a receipt out.

#![cfg(feature = "cli")]

mod cli_support;

#[cfg(unix)]
use std::io::{BufRead, BufReader, Write};
#[cfg(unix)]
use std::process::Stdio;

use cli_support::{Home, assistant, call, keys, result, user};
use serde_json::{Value, json};

fn texts(home: &Home, session: &str, view: &str) -> Vec<String> {
    let shown = home.run(&["show", session, "--view", view, "--json"]).ends_with(0).json();
    let text = |message: &Value| message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    shown["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn each_line_gets_its_receipt_in_order() {
    for level in ["sync", "group", "os"] {
        let home = Home::new();
        let input = format!("{}\n\n{}\n{}\n", user("", "one"), assistant("", "two"), user("", "three"));
        let ran = home.run_with(&["append", "--new", "--durability", level], &input).ends_with(0);
        let lines = ran.json_lines();
        assert_eq!(keys(&lines[0]), "session version");
        let session = lines[0]["session"].as_str().unwrap();
        assert_eq!(lines.len(), 4, "{level}");
        for receipt in &lines[1..] {
            assert_eq!(keys(receipt), "durable id known version");
            assert_eq!(receipt["known"], false);
            assert_eq!(receipt["durable"], level != "os", "{level}");
        }
        let shown = home.run(&["show", session, "--json"]).ends_with(0).json();
        let ids: Vec<&Value> =
            shown["messages"].as_array().unwrap().iter().map(|m| &m["sourceMessageIds"][0]).collect();
        assert_eq!(ids, lines[1..].iter().map(|receipt| &receipt["id"]).collect::<Vec<_>>());
        assert_eq!(texts(&home, session, "transcript"), ["one", "two", "three"]);
    }
}

#[test]
fn a_uuid_stays_and_any_other_id_becomes_one() {
    let home = Home::new();
    let own = "0192f3a0-0000-7000-8000-00000000000a";
    let ran = home.run_with(&["append", "--new"], &format!("{}\n{}", user(own, "a"), assistant("msg-1", "b")));
    let lines = ran.ends_with(0).json_lines();
    assert_eq!(lines[1], json!({"version": 1, "id": own, "durable": true, "known": false}));
    assert_eq!(keys(&lines[2]), "durable id known originalId version");
    assert_eq!(lines[2]["originalId"], "msg-1");
    assert_eq!(lines[2]["id"].as_str().unwrap().as_bytes()[14], b'5');
}

#[test]
fn the_same_lines_again_are_known() {
    let home = Home::new();
    let compaction = json!({"type": "compaction", "id": "b", "summary": {"id": "s", "text": "short"}, "keep": ["m2"]});
    let meta = json!({"type": "meta", "id": "meta", "title": "A title"});
    let lines = [user("m1", "a"), assistant("m2", "b"), compaction.to_string(), meta.to_string()];
    let session = home.session(&lines.each_ref().map(String::as_str));
    let bytes = std::fs::read(home.file(&session)).unwrap();
    let again = home.run_with(&["append", &session], &lines.join("\n")).ends_with(0).json_lines();
    assert!(again.iter().all(|receipt| receipt["known"] == true && receipt["durable"] == true), "{again:?}");
    assert_eq!(std::fs::read(home.file(&session)).unwrap(), bytes, "nothing was written");
}

#[test]
fn a_name_means_the_nearest_earlier_event_of_it_also_of_an_earlier_run() {
    let home = Home::new();
    let session = home.session(&[&user("m", "first"), &assistant("x", "second")]);
    let reply = r#"{"type":"message","role":"user","kind":"user_input","content":"third","parentId":"m"}"#;
    home.run_with(&["append", &session], &format!("{reply}\n{}", user("m", "other"))).ends_with(0);
    assert_eq!(texts(&home, &session, "transcript"), ["first", "third", "other"]);
    // The second event of that name got an id of its own, and the name means it from now on.
    let reply = r#"{"type":"message","role":"user","kind":"user_input","content":"fourth","parentId":"m"}"#;
    let rewind = r#"{"type":"head","leaf":"x"}"#;
    home.run_with(&["append", &session], &format!("{rewind}\n{reply}")).ends_with(0);
    assert_eq!(texts(&home, &session, "transcript"), ["first", "third", "other", "fourth"]);
}

#[test]
fn a_bad_line_is_told_in_its_place_and_the_run_goes_on() {
    let home = Home::new();
    let lines = [
        user("m1", "one"),
        "no JSON".to_owned(),
        r#"{"type":"message","role":"user","kind":"user_input","content":"x","parentId":"nobody"}"#.to_owned(),
        r#"{"type":"tombstone","targets":["nobody"]}"#.to_owned(),
        r#"{"type":"amend","target":"m1","patch":{"role":"tool"}}"#.to_owned(),
        r#"{"type":"compaction","summary":{"text":" "},"keep":[]}"#.to_owned(),
        r#"{"type":"compaction","summary":{"text":"sum"},"keep":["nobody"]}"#.to_owned(),
        assistant("m2", "two"),
    ];
    let ran = home.run_with(&["append", "--new"], &lines.join("\n")).ends_with(1);
    let out = ran.json_lines();
    let codes: Vec<&str> = out[1..].iter().map(|line| line["error"]["code"].as_str().unwrap_or("receipt")).collect();
    assert_eq!(
        codes,
        ["receipt", "badLine", "unknownParent", "noSuchEvent", "badLine", "badLine", "noSuchEvent", "receipt"]
    );
    for (index, line) in out.iter().enumerate().skip(2).take(6) {
        assert_eq!(keys(line), "error line version");
        assert_eq!(keys(&line["error"]), "code message");
        assert_eq!(line["line"], index);
    }
    assert_eq!(texts(&home, out[0]["session"].as_str().unwrap(), "transcript"), ["one", "two"]);
}

#[test]
fn an_own_id_with_other_content_is_refused() {
    let home = Home::new();
    let own = "0192f3a0-0000-7000-8000-00000000000a";
    let ran = home.run_with(&["append", "--new"], &format!("{}\n{}", user(own, "a"), user(own, "b"))).ends_with(1);
    assert_eq!(ran.json_lines()[2]["error"]["code"], "duplicateId");
}

#[test]
fn all_types_of_events_do_what_they_say() {
    let home = Home::new();
    let started = r#"{"type":"tool_started","callId":"c1","idempotencyKey":"key"}"#;
    let compaction = json!({
        "type": "compaction", "id": "b", "at": 77, "summary": {"id": "s", "text": "so far"}, "keep": ["m2"],
        "tokensBefore": 9, "trigger": "auto"
    });
    let lines = [
        user("m1", "question"),
        call("m2", "c1"),
        started.to_owned(),
        result("m3", "c1", "listing"),
        compaction.to_string(),
        r#"{"type":"message","role":"user","kind":"user_input","content":"next","parentId":"b"}"#.to_owned(),
        r#"{"type":"meta","title":"Title","tags":["a"]}"#.to_owned(),
        r#"{"type":"amend","target":"m1","patch":{"content":"a better question"}}"#.to_owned(),
        r#"{"type":"prune","targets":["m3"]}"#.to_owned(),
        r#"{"type":"extension","name":"mine","payload":{"x":1.10}}"#.to_owned(),
        r#"{"type":"novelty","x":1}"#.to_owned(),
    ];
    let out = home.run_with(&["append", "--new"], &lines.join("\n")).ends_with(0).json_lines();
    let receipt = &out[5];
    assert_eq!(keys(receipt), "durable id kept known originalId summary version");
    // The result belongs to the kept call.
    assert_eq!(receipt["kept"], json!([out[2]["id"], out[4]["id"]]));
    let session = out[0]["session"].as_str().unwrap();
    assert!(texts(&home, session, "transcript").contains(&"a better question".to_owned()));
    let model = texts(&home, session, "model");
    assert!(model[0].contains("so far"), "{model:?}");
    assert_eq!(model.last().unwrap(), "next");
    let verified = home.run(&["verify", session, "--json"]).ends_with(0).json();
    let whats: Vec<&str> = verified["frames"].as_array().unwrap().iter().filter_map(|f| f["what"].as_str()).collect();
    assert_eq!(
        whats,
        [
            "user_input",
            "tool_call",
            "tool_started",
            "tool_result",
            "compact_boundary",
            "compact_summary",
            "user_input",
            "meta",
            "amend",
            "prune",
            "extension mine",
            "novelty"
        ]
    );
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["sessions"][0]["title"], "Title");
    assert_eq!(listed["sessions"][0]["tags"], json!(["a"]));
}

/// The fields of the line that compacts stood nowhere; here the one of the page is appended.
#[test]
fn the_compaction_of_the_format_s_page_is_taken_as_it_stands() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/format-spec/FORMAT.md")).unwrap();
    let from = page.find("`{\"type\":\"compaction\"").unwrap() + 1;
    let line = &page[from..from + page[from..].find('`').unwrap()];
    let kept = "0192f3a0-0000-7000-8000-00000000000a";
    let home = Home::new();
    let lines = [user("m1", "question"), assistant(kept, "answer"), line.replace("0192…", kept)];
    let out = home.run_with(&["append", "--new"], &lines.join("\n")).ends_with(0).json_lines();
    assert_eq!(keys(&out[3]), "durable id kept known summary version");
    assert_eq!(out[3]["kept"], json!([kept]));
    let session = out[0]["session"].as_str().unwrap();
    let verified = home.run(&["export", session, "--format", "jsonl"]).ends_with(0).stdout;
    assert!(verified.contains("\"trigger\":\"auto\"") && verified.contains("\"tokensBefore\":91000"), "{verified}");
    assert!(texts(&home, session, "model")[0].contains("So far: …"));
}

#[test]
fn a_compaction_without_ids_gets_new_ones() {
    let home = Home::new();
    let compaction = r#"{"type":"compaction","summary":{"text":"so far"},"keep":[]}"#;
    let out =
        home.run_with(&["append", "--new"], &format!("{}\n{compaction}", user("", "a"))).ends_with(0).json_lines();
    assert_eq!(keys(&out[2]), "durable id kept known summary version");
    assert_ne!(out[2]["id"], out[2]["summary"]);
}

#[test]
fn a_session_has_to_be_named_or_made() {
    let home = Home::new();
    home.run(&["append"]).ends_with(2);
    home.run(&["append", "x", "--new"]).ends_with(2);
    let ran = home.run_with(&["append", "0192", "--json"], &user("", "lost")).ends_with(1);
    assert_eq!(ran.json()["error"]["code"], "noSuchSession");
    assert_eq!(home.file_count(), 0, "no session was made");
    let missing = home.store().join("x.seslog");
    home.run_with(&["append", missing.to_str().unwrap()], &user("", "lost")).ends_with(1);
    assert_eq!(home.file_count(), 0, "no session was made");
}

#[test]
fn an_event_of_an_unknown_type_is_kept_and_told_of_once() {
    let home = Home::new();
    let lines = [
        r#"{"type":"mesage","role":"user","kind":"user_input","content":"a"}"#,
        r#"{"type":"mesage","role":"user","kind":"user_input","content":"b"}"#,
        r#"{"type":"message","role":"user","kind":"user_imput","content":"c"}"#,
    ];
    let ran = home.run_with(&["append", "--new"], &lines.join("\n")).ends_with(0);
    assert_eq!(ran.json_lines().len(), 4, "each has its receipt");
    let told: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("line 1: no `mesage`") && told[1].contains("line 3: no `message` of kind `user_imput`"));
}

#[test]
fn a_session_is_compressed_where_it_is_made_so_and_so_is_what_is_made_of_it() {
    let home = Home::new();
    let text: String = (0..3_000).map(|n| format!("line {n} of what was said, ")).collect();
    let ran = home.run_with(&["append", "--new", "--compress"], &user("m1", &text)).ends_with(0);
    let lines = ran.json_lines();
    let session = lines[0]["session"].as_str().unwrap();
    let is_small = |session: &str| {
        assert_eq!(texts(&home, session, "transcript"), [text.as_str()]);
        std::fs::metadata(home.file(session)).unwrap().len() < 40_000
    };
    assert!(is_small(session));
    let forked = |session: &str, more: &[&str]| {
        let forked = home.run(&[&["fork", session, "--at", "m1", "--json"], more].concat()).ends_with(0).json();
        forked["session"].as_str().unwrap().to_owned()
    };
    assert!(is_small(&forked(session, &[])));
    let plain = home.session(&[&user("m1", &text)]);
    assert!(!is_small(&plain));
    assert!(!is_small(&forked(&plain, &[])));
    assert!(is_small(&forked(&plain, &["--compress"])));
    let imported = home.run_with(&["import", "-", "--compress", "--json"], &user("m1", &text)).ends_with(0).json();
    assert!(is_small(imported["session"].as_str().unwrap()));
    home.run_with(&["append", &plain, "--compress"], "").ends_with(2);
}

#[test]
fn an_event_is_named_by_its_original_id_in_the_same_run_too() {
    let home = Home::new();
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","originalId":"{id}","parentId":{parent},"role":"user","kind":"user_input","content":"x"}}"#
        )
    };
    let lines = [line("q1", "null"), line("q2", "\"q1\""), line("q3", "\"q2\""), line("q4", "\"q3\"")];
    let id = home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let shown = home.run(&["show", &id, "--view", "transcript", "--json"]).ends_with(0).json();
    assert_eq!(shown["messages"].as_array().unwrap().len(), 4, "{shown}");
}

#[test]
fn a_role_that_is_none_is_named_where_a_message_is_of_no_known_kind() {
    let home = Home::new();
    let line = r#"{"type":"message","role":"usr","kind":"user_input","content":"x"}"#;
    let ran = home.run_with(&["append", "--new"], line);
    assert!(ran.stderr.contains("role `usr`") && ran.stderr.contains("debug view"), "{ran:?}");
}

/// `append --new | head -1` wants the session's id, and lost all that came behind the first receipts, without a word.
#[cfg(unix)]
#[test]
fn what_comes_in_is_written_also_where_nobody_reads_the_receipts() {
    let home = Home::new();
    let mut command = home.command(&["append", "--new"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", user("a", "one")).unwrap();
    let mut receipts = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&receipts.next().unwrap().unwrap()).unwrap();
    receipts.next().unwrap().unwrap();
    drop(receipts);
    for line in [assistant("b", "two"), "no event".to_owned(), user("c", "three"), user("d", "four")] {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("nobody reads the receipts any more; 3 events were taken without one"), "{told}");
    assert!(told.contains("seslog: line 3: "), "who reads no receipts hears of the line that was not taken: {told}");
    assert_eq!(texts(&home, first["session"].as_str().unwrap(), "transcript"), ["one", "two", "three", "four"]);
}
