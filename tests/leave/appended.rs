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
