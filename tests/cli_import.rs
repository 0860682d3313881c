//! `seslog import`: other agents' files and neutral events, once and again.

#![cfg(feature = "cli")]

mod cli_support;

use cli_support::{Home, assistant, keys, user};
use serde_json::{Value, json};

const SAMPLES: [&str; 9] = [
    "branching-2.0",
    "classic-1.0",
    "cleared-2.1",
    "damaged",
    "interleaved-2.1",
    "lost-parent-2.1",
    "modern-2.1.agent-a77c01",
    "modern-2.1",
    "preserved-list-2.1",
];

fn sample(name: &str) -> String {
    format!("{}/tests/data/claude-code/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn importing_a_transcript_again_writes_no_byte() {
    let home = Home::new();
    for name in SAMPLES {
        let code = if name == "damaged" { 1 } else { 0 };
        let first = home.run(&["import", &sample(name), "--json"]).ends_with(code).json();
        // Of a sub-agent's own file it says whether its call is known.
        let of_agent = if name.contains(".agent-") { "subAgents " } else { "" };
        let expected = format!(
            "badLines claudeCode created erased format known missing originalIds path read refused renamed repairs replacedBytes \
             replacedSurrogates session {of_agent}undated version written"
        );
        assert_eq!(keys(&first), expected);
        assert_eq!((&first["format"], &first["created"]), (&json!("claude-code"), &json!(true)));
        assert!(
            first["written"].as_u64().unwrap() > 0 && first["known"] == 0 && first["renamed"] == json!([]),
            "{name}"
        );
        let session = first["session"].as_str().unwrap();
        let bytes = std::fs::read(home.file(session)).unwrap();
        // What could not be read was told, and nothing is new.
        let again = home.run(&["import", &sample(name), "--json"]).ends_with(0).json();
        assert_eq!(again["oldLosses"] == true, code == 1, "{name}");
        assert_eq!((&again["session"], &again["created"]), (&json!(session), &json!(false)));
        assert_eq!((&again["written"], &again["known"]), (&json!(0), &first["read"]), "{name}");
        assert_eq!(std::fs::read(home.file(session)).unwrap(), bytes, "{name}");
        home.run(&["verify", session]).ends_with(0);
        let model = home.run(&["show", session, "--view", "model", "--json"]).ends_with(0).json();
        let is_empty = model["messages"] == json!([]);
        home.run(&["payload", session, "--provider", "ai-sdk"]).ends_with(i32::from(is_empty));
    }
    assert_eq!(home.file_count(), SAMPLES.len());
}

#[test]
fn a_transcript_is_called_by_its_session_id() {
    let home = Home::new();
    let text = std::fs::read_to_string(sample("modern-2.1")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let imported = home.run(&["import", &sample("modern-2.1"), "--json"]).json();
    assert_eq!(imported["session"], first["sessionId"]);
    // A sub-agent's file names the session that it worked for, and is another session.
    let agent = home.run(&["import", &sample("modern-2.1.agent-a77c01"), "--json"]).json();
    assert_ne!(agent["session"], first["sessionId"]);
    // The same bytes from elsewhere are the same session; another one can be named.
    let again = home.run_with(&["import", "-", "--json"], &text).ends_with(0).json();
    assert_eq!((&again["session"], &again["written"]), (&imported["session"], &json!(0)));
    let own = "aaaa0001-0000-4000-8000-000000000001";
    let other = home.run(&["import", &sample("modern-2.1"), "--session", own, "--json"]).ends_with(0).json();
    assert_eq!((&other["session"], &other["created"]), (&json!(own), &json!(true)));
}

#[test]
fn of_a_file_that_has_grown_the_new_records_are_added() {
    let home = Home::new();
    let text = std::fs::read_to_string(sample("preserved-list-2.1")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let half = home.write("grows.jsonl", lines[..lines.len() / 2].concat());
    let first = home.run(&["import", &half, "--json"]).ends_with(0).json();
    std::fs::write(&half, &text).unwrap();
    let second = home.run(&["import", &half, "--json"]).ends_with(0).json();
    assert_eq!(second["session"], first["session"]);
    assert!(second["known"].as_u64() >= Some(1) && second["written"].as_u64() >= Some(1), "{second}");
    let fresh = Home::new();
    let whole = fresh.run(&["import", &sample("preserved-list-2.1"), "--json"]).ends_with(0).json();
    let session = whole["session"].as_str().unwrap();
    let model = |home: &Home| {
        let shown = home.run(&["show", session, "--view", "model", "--json"]).ends_with(0).json();
        shown["messages"].as_array().unwrap().iter().map(|m| m["content"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(model(&home), model(&fresh));
}

#[test]
fn repairs_and_what_is_set_aside_are_named_with_line_and_ids() {
    let home = Home::new();
    let ran = home.run(&["import", &sample("damaged")]).ends_with(1);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let has = |start: &str, text: &str| lines.iter().any(|line| line.starts_with(start) && line.contains(text));
    assert!(has("repaired   line 5: ", "named 00000063-6006-4000-8000-000000000063"), "{ran:?}");
    for line in [4, 7, 8, 10] {
        assert!(has(&format!("set aside  line {line}: "), ""), "{line}: {ran:?}");
    }
    let neutral = format!(
        "{}\nno JSON\n{}",
        user("m1", "a"),
        r#"{"type":"message","id":"m2","parentId":"nobody","role":"user","kind":"user_input","content":"b"}"#
    );
    let ran = home.run_with(&["import", "-", "--json"], &neutral).ends_with(1).json();
    assert_eq!((&ran["written"], &ran["badLines"][0]["line"]), (&json!(2), &json!(2)));
    let repair = &ran["repairs"][0];
    assert_eq!(
        (&repair["line"], &repair["named"], &repair["reason"]),
        (&json!(3), &json!("nobody"), &json!("missing_parent"))
    );
    assert!(repair["event"].is_string() && repair["hungOn"].is_string());
    for id in ["event", "hungOn"] {
        assert!(ran["originalIds"][repair[id].as_str().unwrap()].is_string(), "{id}: {ran}");
    }
}

#[test]
fn strict_parents_reads_a_lost_parent_as_a_beginning() {
    let lenient = Home::new();
    let strict = Home::new();
    let path = sample("lost-parent-2.1");
    let one = lenient.run(&["import", &path, "--json"]).ends_with(0).json();
    let two = strict.run(&["import", &path, "--strict-parents", "--json"]).ends_with(0).json();
    let count = |home: &Home, imported: &Value| {
        let session = imported["session"].as_str().unwrap();
        home.run(&["show", session, "--view", "model", "--json"]).json()["messages"].as_array().unwrap().len()
    };
    assert!(count(&lenient, &one) > count(&strict, &two));
    assert_eq!(two["repairs"], json!([]));
}

#[test]
fn neutral_events_are_called_by_their_head_or_their_path() {
    let home = Home::new();
    let events = [user("m1", "a"), assistant("m2", "b")].join("\n");
    let own = "aaaa0001-0000-4000-8000-000000000001";
    let import = |args: &[&str], input: &str| home.run_with(args, input).ends_with(0).json();
    let named = import(&["import", "-", "--json"], &format!("{{\"type\":\"session\",\"id\":\"{own}\"}}\n{events}"));
    assert_eq!((&named["session"], &named["format"]), (&json!(own), &json!("events")));
    assert_eq!(
        keys(&named),
        "badLines created erased format known missing originalIds path read refused renamed repairs replacedBytes \
         replacedSurrogates session undated version written"
    );
    let head = format!("{{\"type\":\"session\",\"id\":\"a name\"}}\n{events}");
    let one = import(&["import", "-", "--json"], &head);
    let two = import(&["import", "-", "--json"], &head);
    assert_eq!((&one["session"], &two["written"]), (&two["session"], &json!(0)));
    let file = home.write("events.jsonl", &events);
    let one = import(&["import", &file, "--json"], "");
    let two = import(&["import", "events.jsonl", "--json"], "");
    assert_eq!((&one["session"], &two["written"], &two["known"]), (&two["session"], &json!(0), &json!(2)));
    // Standard input that names no session is a new one each time.
    let one = import(&["import", "-", "--json"], &events);
    let two = import(&["import", "-", "--json"], &events);
    assert_ne!(one["session"], two["session"]);
    assert_eq!((&two["created"], &two["written"]), (&json!(true), &json!(2)));
    // What was imported is known to `append` by the same names.
    let session = two["session"].as_str().unwrap();
    let receipts = home
        .run_with(&["append", session], &user("m3", "c").replace("\"id\"", "\"parentId\":\"m1\",\"id\""))
        .ends_with(0);
    assert_eq!(receipts.json_lines()[0]["known"], false);
    let shown = home.run(&["show", session, "--json"]).json();
    assert_eq!(shown["messages"].as_array().unwrap().len(), 2, "it hangs on the first");
}

#[test]
fn nothing_to_import_makes_no_session() {
    let home = Home::new();
    let empty = home.write("empty.jsonl", "\n \n");
    assert_eq!(home.run(&["import", &empty, "--json"]).ends_with(1).json()["error"]["code"], "empty");
    let other = home.write("other.txt", "some text\nand more");
    home.run(&["import", &other]).ends_with(2);
    home.run(&["import", &other, "--format", "claude-code"]).ends_with(1);
    let missing = home.run(&["import", "missing.jsonl", "--json"]).ends_with(1);
    assert_eq!(missing.json()["error"]["code"], "noSuchFile");
    assert!(missing.stderr.contains("missing.jsonl"), "{missing:?}");
    assert_eq!(home.file_count(), 0);
}

#[test]
fn of_a_session_without_messages_an_import_says_so() {
    let home = Home::new();
    let elsewhere = home.path().join("elsewhere");
    let session = seslog::session::Store::at(&elsewhere, Default::default()).create().unwrap();
    let (id, path) = (session.id().to_string(), session.path().to_owned());
    session.close().unwrap();
    let told = home.run(&["import", path.to_str().unwrap()]).ends_with(0).stdout;
    assert!(told.contains("empty") && told.contains(&format!("`seslog delete {id}`")), "{told}");
    let again = home.run(&["import", path.to_str().unwrap()]).ends_with(0).stdout;
    assert!(!again.contains("empty"), "{again}");
}

const PI_SAMPLES: [&str; 6] =
    ["damaged", "v1-linear", "v2-branch", "v3-all-types", "v3-fork-dropped-label", "v3-linear-2026"];

#[test]
fn a_session_file_of_pi_is_recognised_and_importing_it_again_writes_no_byte() {
    let home = Home::new();
    for name in PI_SAMPLES {
        let path = format!("{}/tests/data/pi/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let code = if name == "damaged" { 1 } else { 0 };
        let first = home.run(&["import", &path, "--json"]).ends_with(code).json();
        assert_eq!((&first["format"], &first["created"]), (&json!("pi"), &json!(true)), "{name}");
        assert_eq!(first["session"], first["pi"]["sessionId"], "{name}");
        let session = first["session"].as_str().unwrap();
        let bytes = std::fs::read(home.file(session)).unwrap();
        let again = home.run(&["import", &path, "--format", "pi", "--json"]).ends_with(0).json();
        assert_eq!((&again["session"], &again["written"]), (&json!(session), &json!(0)), "{name}");
        assert_eq!(std::fs::read(home.file(session)).unwrap(), bytes, "{name}");
        home.run(&["verify", session]).ends_with(0);
        home.run(&["payload", session, "--provider", "anthropic"]).ends_with(0);
        // Without its header, by what its entries look like.
        let text = std::fs::read_to_string(&path).unwrap();
        let rest = text.split_once('\n').unwrap().1;
        let headless = home.run_with(&["import", "-", "--json"], rest).ends_with(code).json();
        assert_eq!((&headless["format"], &headless["created"]), (&json!("pi"), &json!(true)), "{name}");
    }
}

#[test]
fn an_import_of_pi_says_what_it_did() {
    let home = Home::new();
    let of = |name: &str| format!("{}/tests/data/pi/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let all = home.run(&["import", &of("v3-all-types")]).ends_with(0).stdout;
    assert!(all.contains("unknown") && all.contains("1 of type `future_entry`, kept as they stand"), "{all}");
    let fork = home.run(&["import", &of("v3-fork-dropped-label")]).ends_with(0).stdout;
    assert!(fork.contains("c0000004 named c0000003, hangs on c0000002 (missing_parent)"), "{fork}");
    let damaged = home.run(&["import", &of("damaged")]).ends_with(1).stdout;
    assert!(damaged.contains("line 4: ") && damaged.contains("1 whole records saved"), "{damaged}");
}

#[test]
fn rollouts_of_codex_are_known_by_their_content_and_imported_once() {
    let home = Home::new();
    let sample = |name: &str| format!("{}/tests/data/codex/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    for (name, code) in [("bare-2025-08", 0), ("envelope-2025-10", 0), ("resume-2026", 0), ("damaged", 1)] {
        let first = home.run(&["import", &sample(name), "--json"]).ends_with(code).json();
        assert_eq!((&first["format"], &first["created"]), (&json!("codex"), &json!(true)), "{name}");
        assert_eq!(first["session"], first["codex"]["sessionId"], "{name}");
        let again = home.run(&["import", &sample(name), "--json"]).ends_with(0).json();
        assert_eq!((&again["session"], &again["written"]), (&first["session"], &json!(0)), "{name}");
        let session = first["session"].as_str().unwrap();
        home.run(&["verify", session]).ends_with(0);
        home.run(&["payload", session, "--provider", "openai-responses"]).ends_with(0);
    }
    let object = json!({"session": {"timestamp": "2025-04-20T10:00:00.000Z", "id": "e"}, "items": []});
    let early = home.write("rollout-early.json", serde_json::to_string_pretty(&object).unwrap());
    assert_eq!(home.run(&["import", &early, "--json"]).ends_with(0).json()["format"], "codex");
    let told = home.run(&["import", &sample("fork-paginated-2026")]).ends_with(0).stdout;
    assert!(told.contains("1 of type `future_kind`, kept as they stand"), "{told}");
}

#[test]
fn what_was_erased_does_not_come_back_with_the_next_import() {
    let home = Home::new();
    let file = sample("modern-2.1");
    let first = home.run(&["import", &file, "--json"]).ends_with(0).json();
    let id = first["session"].as_str().unwrap();
    let word = "the";
    home.run(&["redact", id, "--literal", word]).ends_with(0);
    let before = std::fs::read(home.file(id)).unwrap();
    for _ in 0..2 {
        let again = home.run(&["import", &file, "--json"]).ends_with(0).json();
        assert_eq!((&again["written"], &again["known"]), (&json!(0), &first["read"]), "{again}");
        assert!(again["erased"].as_u64().unwrap() > 0, "it is told: {again}");
    }
    assert_eq!(std::fs::read(home.file(id)).unwrap(), before, "nothing was written");
    assert!(home.run(&["import", &file]).ends_with(0).stdout.contains("it stays erased"));
}

#[test]
fn a_packed_rollout_is_the_session_that_it_was_before_it_was_packed() {
    let home = Home::new();
    let plain = format!("{}/tests/data/codex/resume-2026.jsonl", env!("CARGO_MANIFEST_DIR"));
    let packed = zstd::encode_all(std::fs::File::open(&plain).unwrap(), 3).unwrap();
    let dir = home.path().join(".codex/sessions");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("rollout-x.jsonl.zst"), &packed).unwrap();
    std::fs::write(dir.join("rollout-cut.jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    let report = home.run(&["import", "--all", "--json"]).ends_with(1).json();
    assert_eq!((&report["imported"], &report["failed"]), (&1.into(), &1.into()), "{report}");
    assert!(report["problems"][0]["file"].as_str().unwrap().contains("rollout-cut"), "{report}");
    let again = home.run(&["import", &plain, "--json"]).ends_with(0).json();
    assert_eq!((&again["created"], &again["written"]), (&json!(false), &json!(0)), "{again}");
}

/// A home with sessions of three agents in it, one of them damaged, and files that are none. Gives how many session files.
fn home_of_agents() -> (Home, usize) {
    let home = Home::new();
    let mut count = 0;
    let places = [
        ("claude-code", ".claude/projects/-home-dev"),
        ("codex", ".codex/sessions/2026/07/21"),
        ("pi", ".pi/agent/sessions/--home-dev--"),
    ];
    for (format, place) in places {
        let place = home.path().join(place);
        std::fs::create_dir_all(&place).unwrap();
        let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format);
        for entry in std::fs::read_dir(samples).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                std::fs::copy(&path, place.join(path.file_name().unwrap())).unwrap();
                count += 1;
            }
        }
    }
    home.write(".claude/projects/-home-dev/notes.txt", "no session");
    home.write(".claude/projects/-home-dev/empty.jsonl", "");
    home.write(".codex/sessions/2026/strange.jsonl", "{\"strange\":1}\n");
    (home, count)
}

#[test]
fn a_whole_home_is_imported_at_once_and_again_without_a_byte() {
    let (home, count) = home_of_agents();
    let first = home.run(&["import", "--all", "--json"]).ends_with(1).json();
    assert_eq!(
        keys(&first),
        "badLines created failed files imported known messages passedOver problems read refused repaired repairedFiles sessions subAgents version written"
    );
    assert_eq!((first["files"].as_u64(), first["imported"].as_u64()), (Some(count as u64 + 2), Some(count as u64)));
    assert_eq!((&first["passedOver"], &first["failed"], &first["known"]), (&json!(2), &json!(0), &json!(0)));
    assert_eq!(first["created"], first["sessions"]);
    assert_eq!(home.file_count() as u64, first["sessions"].as_u64().unwrap());
    let damaged = first["problems"].as_array().unwrap().iter().map(|problem| problem["file"].as_str().unwrap());
    let damaged: Vec<&str> = damaged.collect();
    assert!(damaged.len() >= 3 && damaged.iter().all(|file| file.ends_with(".jsonl")), "{damaged:?}");
    assert!(first["problems"].as_array().unwrap().iter().all(|problem| problem["isOld"] == false));
    // The same lines are still bad, and are named; but nothing has happened since they were told.
    let second = home.run(&["import", "--all", "--json"]).ends_with(0).json();
    assert_eq!(second["problems"].as_array().unwrap().len(), first["problems"].as_array().unwrap().len());
    assert!(second["problems"].as_array().unwrap().iter().all(|problem| problem["isOld"] == true));
    assert_eq!((&second["written"], &second["created"]), (&json!(0), &json!(0)));
    assert_eq!((&second["known"], &second["read"]), (&first["written"], &first["read"]));
    // The same files one by one are the same sessions.
    let alone = home.path().join(".codex/sessions/2026/07/21/resume-2026.jsonl");
    let alone = home.run(&["import", alone.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert_eq!((&alone["written"], &alone["created"]), (&json!(0), &json!(false)));
}

#[test]
fn one_bad_file_stops_no_other_and_is_named() {
    let (home, count) = home_of_agents();
    // A directory by the name of a session's file can't be written to.
    let place = home.path().join(".codex/sessions");
    std::fs::create_dir_all(home.store().join("019cb000-5555-7aaa-8bbb-000000000005.seslog")).unwrap();
    let ran = home.run(&["import", place.to_str().unwrap()]).ends_with(1);
    assert!(ran.stdout.contains("rollback-over-compaction.jsonl"), "{ran:?}");
    assert!(!ran.stderr.contains('\u{1b}'), "no progress where there is no terminal");
    let claude = home.path().join(".claude");
    let ran = home.run(&["import", claude.to_str().unwrap(), "--json"]).ends_with(1).json();
    assert!(ran["imported"].as_u64().unwrap() < count as u64);
    home.run(&["import", claude.to_str().unwrap(), "--session", "x"]).ends_with(2);
    home.run(&["import", "--all", claude.to_str().unwrap()]).ends_with(2);
    home.run(&["import"]).ends_with(2);
}

#[test]
fn bad_lines_and_messages_are_counted_alike_wherever_they_are_told() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("talks")).unwrap();
    let file = home.write("talks/damaged.jsonl", std::fs::read(sample("damaged")).unwrap());
    let one = home.run(&["import", &file, "--json"]).ends_with(1).json();
    let bad = one["badLines"].as_array().unwrap();
    assert_eq!(bad.len(), one["claudeCode"]["badLines"].as_array().unwrap().len(), "{one}");
    assert!(!bad.is_empty() && bad.iter().all(|bad| bad["line"].as_u64() > Some(0)), "{one}");
    let many = home.run(&["import", "talks", "--json"]).ends_with(0).json();
    assert_eq!(many["badLines"], bad.len(), "{many}");
    let counted = home.run(&["stat", "--json"]).ends_with(0).json();
    assert_eq!(many["messages"], counted["messages"]);
    assert_eq!(many["repaired"], 0, "nothing is written");
    let told = home.run(&["import", "talks"]).ends_with(0).stdout;
    assert!(told.contains("could not be read as written") && !told.contains("not be stored"), "{told}");
}

#[test]
fn a_machine_without_agents_is_told_where_was_looked() {
    let home = Home::new();
    let ran = home.run(&["import", "--all"]).ends_with(1);
    assert!(ran.stderr.contains(".claude/projects") && ran.stderr.contains(".pi/agent/sessions"), "{ran:?}");
}

#[test]
fn a_file_of_another_format_makes_no_session() {
    let (home, _) = home_of_agents();
    let claude = home.path().join(".claude/projects/-home-dev/modern-2.1.jsonl");
    let pi = home.path().join(".pi/agent/sessions/--home-dev--/v1-linear.jsonl");
    for (format, file) in [("claude-code", &pi), ("codex", &pi), ("codex", &claude), ("pi", &claude)] {
        let ran = home.run(&["import", "--format", format, file.to_str().unwrap()]);
        assert_eq!((ran.code, home.file_count()), (Some(1), 0), "{format}: {ran:?}");
        assert!(ran.stderr.contains("--format"), "{ran:?}");
    }
}

#[test]
fn a_file_without_one_readable_record_is_refused_with_what_is_wrong_in_it() {
    let home = Home::new();
    let deep = format!("{}1{}\n", "[".repeat(5_000), "]".repeat(5_000));
    let file = home.write("deep.jsonl", deep);
    let ran = home.run(&["import", &file, "--format", "claude-code"]).ends_with(1);
    assert!(ran.stderr.contains("line 1: nested deeper than"), "{}", ran.stderr);
}
