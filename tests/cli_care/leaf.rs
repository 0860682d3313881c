//! The leaf: what an import brings moves it only where the conversation goes on from it.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};
use seslog::event::{Kind, Uuid};
use seslog::interop::{ImportReport, claude_code, codex, pi};
use seslog::log::{Durability, RealFs, survey};
use seslog::projection::{Options, View, project};
use seslog::session::{Entry, Session, SessionOptions};

use crate::cli_support::{Home, Ran, run, user};

fn sample(name: &str) -> String {
    format!("{}/tests/data/{name}.jsonl", env!("CARGO_MANIFEST_DIR"))
}

fn import(session: &Session, name: &str) -> ImportReport {
    let text = std::fs::read(sample(name)).unwrap();
    match name.split('/').next().unwrap() {
        "claude-code" => {
            claude_code::read(&*text, &claude_code::Options::default()).unwrap().feed(session, "key").unwrap().0
        }
        "codex" => codex::read(&*text, &codex::Options::default()).unwrap().feed(session, "key").unwrap().0,
        _ => pi::read(&*text, &pi::Options::default()).unwrap().feed(session, "key").unwrap().0,
    }
}

/// The leaf, and all that a model sees.
fn seen(session: &Session) -> (Option<Uuid>, String) {
    let state = session.state().unwrap();
    let messages = project(&state, View::Model, &Options::default()).messages;
    let said: Vec<_> = messages.iter().map(|message| (&message.role, &message.content)).collect();
    (state.leaf().map(|leaf| leaf.event.id), format!("{said:?}"))
}

fn open(path: &Path) -> Session {
    Session::open(path, SessionOptions::default()).unwrap()
}

#[test]
fn what_a_salvage_lost_comes_back_into_its_place_and_moves_no_leaf_whatever_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = 0;
    for name in [
        "claude-code/modern-2.1",
        "claude-code/branching-2.0",
        "codex/resume-2026",
        "codex/rollback-over-compaction",
        "pi/v2-branch",
        "pi/v3-all-types",
    ] {
        let path = dir.path().join("a.seslog");
        _ = std::fs::remove_file(&path);
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        assert!(import(&session, name).written > 0, "{name}");
        let whole = seen(&session);
        session.close().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let found = survey(RealFs::shared(), &path).unwrap();
        for frame in found.frames.iter().filter(|frame| !frame.head.frame_type.is_own()) {
            let id = frame.head.id;
            let mut damaged = bytes.clone();
            damaged[(frame.at + frame.head.total_len() / 2) as usize] ^= 0xff;
            std::fs::write(&path, damaged).unwrap();
            let _ = Session::salvage_in_place(&path, &SessionOptions::default()).unwrap();
            let session = open(&path);
            let saved = seen(&session);
            let report = import(&session, name);
            let after = seen(&session);
            assert!(report.written > 0 && report.leaf_kept.is_none(), "{name} {id}: {report:?}");
            assert!(after.0 == saved.0 || after.0 == whole.0, "{name} {id}: the leaf went to {:?}", after.0);
            // A result that comes back is one that the model sees again.
            assert!(after.1 == saved.1 || after.1 == whole.1, "{name} {id}: {}", after.1);
            // What stays beside the chain, and so out of the model's view, is told.
            assert!(after.1 == whole.1 || report.came_late > 0 || saved.1 == whole.1, "{name} {id}: {report:?}");
            told += usize::from(report.came_late > 0);
            assert_eq!(import(&session, name).written, 0, "{name} {id}");
            session.close().unwrap();
            assert_eq!(seen(&open(&path)), after, "{name} {id}");
        }
    }
    assert!(told > 0, "no message came late");
}

/// Hits each of these records of a session, by their order in the file, in the middle or in the header, and salvages it.
fn lose(path: &Path, in_header: bool, which: impl Fn(usize, Uuid) -> bool) {
    let found = survey(RealFs::shared(), path).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    let records = found.frames.iter().filter(|frame| !frame.head.frame_type.is_own());
    for (_, frame) in records.enumerate().filter(|(index, frame)| which(*index, frame.head.id)) {
        let at = if in_header { 40 } else { frame.head.total_len() / 2 };
        bytes[(frame.at + at) as usize] ^= 0xff;
    }
    std::fs::write(path, bytes).unwrap();
    let _ = Session::salvage_in_place(path, &SessionOptions::default()).unwrap();
}

const SAMPLES: [&str; 6] = [
    "claude-code/classic-1.0",
    "claude-code/modern-2.1",
    "codex/bare-2025-08",
    "codex/resume-2026",
    "pi/v2-branch",
    "pi/v3-linear-2026",
];

/// The leaf went to the first message, since that seemed to go on from it.
#[test]
fn where_a_salvage_lost_the_beginning_its_return_moves_no_leaf() {
    let dir = tempfile::tempdir().unwrap();
    for name in SAMPLES {
        for lost in 1..6 {
            let path = dir.path().join(format!("{}-{lost}.seslog", name.replace('/', "-")));
            let session = Session::create(&path, SessionOptions::default()).unwrap();
            assert!(import(&session, name).written > 0);
            let whole = seen(&session).0;
            session.close().unwrap();
            lose(&path, false, |index, _| index < lost);
            let session = open(&path);
            let saved = seen(&session).0;
            assert!(import(&session, name).written >= lost, "{name} {lost}");
            let after = seen(&session).0;
            assert!(after == saved || after == whole, "{name} {lost}: the leaf went to {after:?}");
        }
    }
}

/// The file's end hangs on it, and a gap above it was taken for something that goes on from it.
#[test]
fn a_rewind_is_not_undone_by_what_a_salvage_lost_above_it() {
    let dir = tempfile::tempdir().unwrap();
    for name in SAMPLES {
        let path = dir.path().join(format!("{}.seslog", name.replace('/', "-")));
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        assert!(import(&session, name).written > 0);
        let chain: Vec<Uuid> =
            session.with_state(|state| state.chain().iter().map(|entry| entry.event.id).collect()).unwrap();
        let to = chain[chain.len() - 2];
        drop(session.rewind(Some(to), Durability::Os).unwrap());
        let before = seen(&session).0;
        session.close().unwrap();
        let lost = chain[chain.len() - 3];
        lose(&path, false, |_, id| id == lost);
        let session = open(&path);
        let report = import(&session, name);
        assert!(report.written > 0 && report.leaf_kept.is_none(), "{name}: {report:?}");
        assert_eq!(seen(&session).0, before, "{name}");
    }
}

/// A boundary's record is lost, and its summary is not: both came back, and the summary's id stood twice.
#[test]
fn no_id_stands_twice_where_a_salvage_saved_a_summary_without_its_boundary() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = 0;
    for name in
        ["claude-code/modern-2.1", "codex/resume-2026", "codex/envelope-2025-10", "pi/v1-linear", "pi/v3-all-types"]
    {
        let path = dir.path().join(format!("{}.seslog", name.replace('/', "-")));
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        assert!(import(&session, name).written > 0);
        let is_boundary =
            |entry: &&Entry| entry.event.message().is_some_and(|m| matches!(m.kind, Kind::CompactBoundary(_)));
        let boundaries: Vec<Uuid> = session
            .with_state(|state| state.entries().iter().filter(is_boundary).map(|entry| entry.event.id).collect())
            .unwrap();
        session.close().unwrap();
        lose(&path, true, |_, id| boundaries.contains(&id));
        let session = open(&path);
        let report = import(&session, name);
        told += report.renamed.len();
        assert_eq!(import(&session, name).written, 0, "{name}");
        session.close().unwrap();
        let found = survey(RealFs::shared(), &path).unwrap();
        let mut ids = HashSet::new();
        for frame in found.frames.iter().filter(|frame| !frame.head.frame_type.is_own()) {
            assert!(ids.insert(frame.head.id), "{name}: {} stands twice", frame.head.id);
        }
    }
    assert!(told >= 4, "that a summary has another id is told");
}

fn leaf(home: &Home, session: &str) -> Value {
    home.run(&["tree", session, "--json"]).ends_with(0).json()["leaf"].clone()
}

/// Runs a command as it is told in backticks.
fn run_told(home: &Home, told: &str, begins: &str) -> Ran {
    let at = told.find(&format!("`{begins}")).unwrap_or_else(|| panic!("{begins}: {told}"));
    let typed = told[at + 1..].split('`').next().unwrap();
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(typed.replacen("seslog", env!("CARGO_BIN_EXE_seslog"), 1));
    home.at_home(&mut command);
    run(command, "")
}

#[test]
fn where_a_session_has_gone_on_by_itself_its_leaf_stays_and_the_way_to_the_imported_end_is_told() {
    let home = Home::new();
    let text = std::fs::read_to_string(sample("claude-code/modern-2.1")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let file = home.write("grows.jsonl", lines[..10].concat());
    let session = home.run(&["import", &file, "--json"]).ends_with(0).json()["session"].as_str().unwrap().to_owned();
    home.run_with(&["append", &session], &user("own", "my own continuation")).ends_with(0);
    let own = leaf(&home, &session);
    // Nothing new: nothing to tell.
    let same = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!((&same["written"], same.get("leafKept")), (&json!(0), None));
    std::fs::write(&file, lines[..20].concat()).unwrap();
    let grown = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert!(grown["written"].as_u64() > Some(0), "{grown}");
    assert_eq!((&leaf(&home, &session), &grown["leafKept"]["leaf"]), (&own, &own));
    let to = grown["leafKept"]["imported"].clone();
    run_told(&home, &format!("`{}`", grown["rewind"].as_str().unwrap()), "seslog rewind").ends_with(0);
    assert_eq!(leaf(&home, &session), to);
    // From there on the file goes on, and the leaf with it.
    std::fs::write(&file, &text).unwrap();
    let rest = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!(rest.get("leafKept"), None, "{rest}");
    let fresh = Home::new();
    fresh.run(&["import", &file]).ends_with(0);
    assert_eq!(leaf(&home, &session), leaf(&fresh, &session));
}

#[test]
fn of_many_files_too_it_is_told_whose_leaf_stayed() {
    let home = Home::new();
    let first = user("a", "one");
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    let file = home.write("sessions/talk.jsonl", &first);
    let session = home.run(&["import", &file, "--json"]).ends_with(0).json()["session"].as_str().unwrap().to_owned();
    home.run_with(&["append", &session], &user("own", "mine")).ends_with(0);
    let own = leaf(&home, &session);
    std::fs::write(&file, format!("{first}\n{}", user("b", "theirs"))).unwrap();
    let ran = home.run(&["import", "sessions"]).ends_with(0);
    assert!(ran.stdout.contains("leaf stays"), "{ran:?}");
    assert_eq!(leaf(&home, &session), own);
    run_told(&home, &ran.stdout, "seslog rewind").ends_with(0);
    assert_ne!(leaf(&home, &session), own);
    std::fs::write(&file, format!("{first}\n{}\n{}", user("b", "theirs"), user("c", "more"))).unwrap();
    let ran = home.run(&["import", "sessions", "--json"]).ends_with(0).json();
    assert_eq!(ran.get("leavesKept"), None, "{ran}");
}

#[test]
fn what_came_after_what_goes_on_from_it_is_told_with_the_way_to_the_whole() {
    let home = Home::new();
    let said = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"role":"user","kind":"user_input","content":"{id}"}}"#
        )
    };
    let [a, b, c] = [said("a", "null"), said("b", "\"a\""), said("c", "\"b\"")];
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    let file = home.write("sessions/talk.jsonl", format!("{a}\n{c}\n"));
    let session = home.run(&["import", &file, "--json"]).json()["session"].as_str().unwrap().to_owned();
    std::fs::write(&file, format!("{a}\n{b}\n{c}\n")).unwrap();
    let ran = home.run(&["import", "sessions", "--json"]).ends_with(0).json();
    assert_eq!(
        (&ran["cameLate"][0]["session"], &ran["cameLate"][0]["messages"]),
        (&json!(session), &json!(1)),
        "{ran}"
    );
    // It is told once; a new start as it is told gives the whole, and has nothing to tell.
    assert_eq!(home.run(&["import", "sessions", "--json"]).ends_with(0).json().get("cameLate"), None);
    home.run(&["delete", &session, "--yes"]).ends_with(0);
    let ran = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!((ran.get("cameLate"), ran["repairs"].as_array().map(Vec::len)), (None, Some(0)), "{ran}");
}

#[test]
fn the_command_that_saves_what_is_whole_runs_as_it_is_told_wherever_it_is_told() {
    let talk = [user("a", "one"), user("b", "two"), user("c", "three")];
    for command in [
        &["show", "ID"][..],
        &["tree", "ID"],
        &["resume", "ID"],
        &["verify", "ID"],
        &["title", "ID", "x"],
        &["export", "ID"],
        &["list"],
        &["stat"],
        &["scan-secrets"],
        &["import", "talks"],
    ] {
        let home = Home::new();
        std::fs::create_dir(home.path().join("talks")).unwrap();
        let file = home.write("talks/a.jsonl", talk.join("\n"));
        let session = home.run(&["import", &file, "--json"]).ends_with(0).json()["session"].clone();
        let session = session.as_str().unwrap();
        crate::mend::damage(&home, session, "b");
        let command: Vec<&str> = command.iter().map(|word| if *word == "ID" { session } else { word }).collect();
        let ran = home.run(&command);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        run_told(&home, &format!("{}{}", ran.stdout, ran.stderr), "seslog salvage").ends_with(1);
        home.run(&["verify", session]).ends_with(0);
    }
}

#[test]
fn a_spoiled_header_is_told_as_one_and_written_anew() {
    let home = Home::new();
    let session = home.session(&[&user("a", "one"), &user("b", "two")]);
    let before = home.run(&["show", &session]).ends_with(0).stdout;
    let mut bytes = std::fs::read(home.file(&session)).unwrap();
    bytes[..100].fill(7);
    std::fs::write(home.file(&session), bytes).unwrap();
    let shown = home.run(&["show", &session]);
    assert_eq!(shown.stdout, before);
    assert!(shown.stderr.contains("the header is damaged") && !shown.stderr.contains("what lies before"), "{shown:?}");
    let refused = home.run_with(&["append", &session], &user("c", "three")).ends_with(1);
    assert!(refused.stderr.contains("its header") && !refused.stderr.contains("what lies before"), "{refused:?}");
    // Nothing is lost, so nothing is said to be.
    let saved = run_told(&home, &shown.stderr, "seslog salvage").ends_with(0);
    assert!(saved.stdout.contains("header") && !saved.stdout.contains("lost"), "{saved:?}");
    assert_eq!(home.run(&["show", &session]).ends_with(0).stdout, before);
    home.run(&["verify", &session]).ends_with(0);
}
