//! What was appended to an imported session under ids of other programs is no record of the file: it is written whole.

use crate::cli_support::Home;

const FILES: [(&str, &str); 3] = [
    ("codex", "codex/envelope-2025-10.jsonl"),
    ("claude-code", "claude-code/preserved-list-2.1.jsonl"),
    ("pi", "pi/v3-linear-2026.jsonl"),
];

const MORE: [&str; 6] = [
    r#"{"type":"message","id":"m2","role":"assistant","kind":"assistant_text","provider":"x","content":[{"type":"text","text":"Said beside a call."},{"type":"tool_call","id":"c1","name":"count","input":{"what":"bees"}}]}"#,
    r#"{"type":"message","id":"q#1","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"c1","output":"Twelve bees."},{"type":"text","text":"Text beside a result."}]}"#,
    r#"{"type":"message","id":"L3","role":"user","kind":"bash_execution","command":"wc -l bees","output":"12 bees in a file","exitCode":0,"content":[]}"#,
    r#"{"type":"message","id":"m4","originalId":"L4","role":"user","kind":"user_input","content":[{"type":"text","text":"See the file."},{"type":"file","mediaType":"text/plain","path":"/bees.txt","name":"bees.txt"}]}"#,
    r#"{"type":"message","id":"u1.message","role":"user","kind":"user_input","content":"Named like a part of a compaction."}"#,
    r#"{"type":"message","id":"e\u001b[1m","role":"assistant","kind":"assistant_text","content":"The end."}"#,
];

#[test]
fn appended_messages_of_foreign_ids_are_written_whole() {
    for (format, sample) in FILES {
        let home = Home::new();
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(sample);
        let imported = home.run(&["import", file.to_str().unwrap(), "--json"]).ends_with(0).json();
        let session = imported["session"].as_str().unwrap();
        home.run_with(&["append", session], &MORE.join("\n")).ends_with(0);
        let out = home.path().join("out.jsonl");
        let out = out.to_str().unwrap();
        home.run(&["export", session, "--format", format, "-o", out]).ends_with(0);
        let elsewhere = home.path().join("elsewhere");
        let there = elsewhere.to_str().unwrap();
        let again = home.run(&["--store", there, "import", out, "--json"]).ends_with(0).json();
        let shown = home.run(&["--store", there, "show", again["session"].as_str().unwrap()]).ends_with(0).stdout;
        for text in [
            "Said beside a call.",
            "count",
            "bees",
            "Twelve bees.",
            "Text beside a result.",
            "wc -l bees",
            "12 bees in a file",
            "See the file.",
            "bees.txt",
            "Named like a part of a compaction.",
            "The end.",
        ] {
            assert!(shown.contains(text), "{format}: {text}\n{shown}\n{}", std::fs::read_to_string(out).unwrap());
        }
    }
}

/// The size of the file, and how the report calls what it lacks, of a big message that each of many compactions keeps.
fn kept_often(format: &str) -> (u64, String) {
    const TIMES: usize = 50;
    let big = "b".repeat(20_000);
    let mut lines =
        vec![format!(r#"{{"type":"message","id":"root","role":"user","kind":"user_input","content":"{big}"}}"#)];
    for turn in 0..TIMES {
        lines.push(format!(
            r#"{{"type":"message","id":"u{turn}","role":"user","kind":"user_input","content":"Turn {turn}."}}"#
        ));
        lines.push(format!(
            r#"{{"type":"compaction","id":"c{turn}","summary":{{"text":"All so far."}},"keep":["root"]}}"#
        ));
    }
    let home = Home::new();
    let session = home.run_with(&["append", "--new"], &lines.join("\n")).ends_with(0).json_lines();
    let session = session[0]["session"].as_str().unwrap().to_owned();
    let out = home.path().join("out.jsonl");
    let name = out.to_str().unwrap();
    let report = home.run(&["export", &session, "--format", format, "-o", name, "--json"]).ends_with(0).json();
    let elsewhere = home.path().join("elsewhere");
    let there = elsewhere.to_str().unwrap();
    let again = home.run(&["--store", there, "import", name, "--json"]).ends_with(0).json();
    let again = again["session"].as_str().unwrap();
    let model = home.run(&["--store", there, "show", again, "--view", "model", "--full"]).ends_with(0).stdout;
    assert_eq!(model.matches(&big).count(), 1, "{format}: the last compaction keeps it");
    (std::fs::metadata(&out).unwrap().len(), report["agent"]["differences"].to_string())
}

#[test]
fn what_many_compactions_keep_is_written_whole_for_the_last_one() {
    for format in ["codex", "pi", "claude-code"] {
        let (len, differences) = kept_often(format);
        assert!(len < 200_000, "{format}: {len} bytes");
        assert_eq!(differences.contains("keptEarlier"), format != "claude-code", "{format}: {differences}");
    }
}

#[test]
fn a_rewind_behind_a_compaction_to_what_it_kept_takes_the_conversation_before_it_along() {
    let home = Home::new();
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/preserved-list-2.1.jsonl");
    let imported = home.run(&["import", file.to_str().unwrap(), "--json"]).ends_with(0).json();
    let session = imported["session"].as_str().unwrap();
    let lines = [
        r#"{"type":"message","id":"U0","role":"user","kind":"user_input","content":"The kept one."}"#,
        r#"{"type":"message","id":"U1","role":"user","kind":"user_input","content":"The dropped one."}"#,
        r#"{"type":"compaction","id":"C","summary":{"text":"All so far."},"keep":["U0"]}"#,
        r#"{"type":"head","leaf":"U0"}"#,
        r#"{"type":"message","id":"U2","role":"user","kind":"user_input","content":"On another way."}"#,
    ];
    home.run_with(&["append", session], &lines.join("\n")).ends_with(0);
    let texts = |store: &[&str], session: &str| {
        let shown = home.run(&[store, &["show", session, "--view", "model"]].concat()).ends_with(0).stdout;
        let lines = shown.lines().filter(|line| line.starts_with("  ")).map(str::to_owned);
        lines.collect::<Vec<String>>()
    };
    let out = home.path().join("out.jsonl");
    let out = out.to_str().unwrap();
    home.run(&["export", session, "--format", "claude-code", "-o", out]).ends_with(0);
    let elsewhere = home.path().join("elsewhere");
    let there = elsewhere.to_str().unwrap();
    let again = home.run(&["--store", there, "import", out, "--json"]).ends_with(0).json();
    assert_eq!(texts(&["--store", there], again["session"].as_str().unwrap()), texts(&[], session));
}
