//! `seslog search`: what is found, and an index that is only a cache.

#![cfg(feature = "search")]

mod cli_support;

use std::path::PathBuf;

use cli_support::Home;
use serde_json::Value;

fn message(id: &str, text: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","role":"user","kind":"user_input","content":"{text}"}}"#)
}

fn index(home: &Home) -> PathBuf {
    home.store().join(".cache/search.db")
}

/// The ids that messages had where they came from, or the events' own, in the order in which they were found.
fn search(home: &Home, words: &[&str]) -> Vec<String> {
    let ran = home.run(&[&["search", "--json"], words].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let found = ran.json();
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(found["found"], matches.len(), "{found}");
    matches.iter().map(|found| found["excerpt"].as_str().unwrap().to_owned()).collect()
}

fn append(home: &Home, session: &str, lines: &[&str]) {
    home.run_with(&["append", session], &lines.join("\n")).ends_with(0);
}

#[test]
fn a_message_is_found_by_its_words_in_any_session_and_branch() {
    let home = Home::new();
    let first = home.session(&[&message("a", "The LAMP turns at dusk."), &message("b", "Nothing here.")]);
    let second = home.session(&[
        &message("c", "Which lamp?"),
        &message("d", "The old \u{202e}lamp\\u001b[31m of the tower turns."),
        r#"{"type":"tombstone","targets":["c"]}"#,
    ]);
    let found = home.run(&["search", "lamp", "TURNS", "--json"]).ends_with(0).json();
    assert_eq!(found["found"], 2);
    let sessions: Vec<&str> =
        found["matches"].as_array().unwrap().iter().map(|found| found["session"].as_str().unwrap()).collect();
    assert!(sessions.contains(&first.as_str()) && sessions.contains(&second.as_str()), "{found}");
    let ran = home.run(&["search", "lamp", "--color", "always"]).ends_with(0);
    assert!(!ran.stdout.contains("Which lamp"), "it was taken back: {ran:?}");
    assert!(!ran.stdout.contains('\u{202e}') && !ran.stdout.contains("\u{1b}[31m of"), "{ran:?}");
    home.run(&["search", "no such words"]).ends_with(1);
    home.run(&["search"]).ends_with(2);
    let one = home.run(&["search", "lamp", "-n", "1", "--json"]).ends_with(0).json();
    assert_eq!((one["matches"].as_array().unwrap().len(), &one["found"]), (1, &2.into()));
}

#[test]
fn words_are_found_by_their_beginning_whatever_their_case_accents_and_script() {
    let home = Home::new();
    home.session(&[
        &message("a", "Le café ferme à dix heures"),
        &message("b", "fn read_all(path: &str) in src/log/reader.rs"),
        &message("c", "灯台の光は回る"),
        &message("d", "no such file or directory"),
        &message("e", "such a file, no?"),
    ]);
    assert_eq!(search(&home, &["CAFE"]).len(), 1);
    assert_eq!(search(&home, &["ferm", "heur"]).len(), 1);
    assert_eq!(search(&home, &["read_all"]).len(), 1);
    assert_eq!(search(&home, &["log/reader.rs"]).len(), 1);
    assert_eq!(search(&home, &["灯台"]).len(), 1);
    assert_eq!(search(&home, &["光は"]).len(), 1);
    assert_eq!(search(&home, &["台灯"]).len(), 0);
    assert_eq!(search(&home, &["such", "file"]).len(), 2);
    assert_eq!(search(&home, &["no such file"]).len(), 1);
    // What a query language would take for its own.
    for odd in ["lamp OR", "NEAR(a b)", "text:lamp", "a*", "\"", "^fil", "-no", "{}"] {
        let code = home.run(&["search", "--", odd]).code;
        assert!(matches!(code, Some(0..=2)), "{odd}: {code:?}");
    }
    home.run(&["search", "--", "->"]).ends_with(2);
}

#[test]
fn what_says_it_best_comes_first() {
    let home = Home::new();
    let long = format!("{} lamp {}", "word ".repeat(200), "more ".repeat(200));
    home.session(&[
        &message("a", &long),
        &message("b", "lamp, lamp and lamp"),
        &message("c", "a lamp in a short text"),
    ]);
    let found = search(&home, &["lamp"]);
    assert_eq!(found.len(), 3);
    assert!(found[0].starts_with("lamp, lamp") && found[2].contains("word"), "{found:?}");
}

#[test]
fn what_is_appended_changed_taken_back_or_named_after_a_search_is_seen_by_the_next() {
    let home = Home::new();
    let session = home.session(&[&message("a", "the lamp"), &message("b", "the lens")]);
    assert_eq!(search(&home, &["the"]).len(), 2);
    append(&home, &session, &[&message("c", "the tower")]);
    assert_eq!(search(&home, &["the"]).len(), 3);
    append(&home, &session, &[r#"{"type":"amend","target":"b","patch":{"content":"the mirror"}}"#]);
    assert_eq!(search(&home, &["lens"]).len(), 0);
    assert_eq!(search(&home, &["mirror"]), ["the mirror"]);
    append(&home, &session, &[r#"{"type":"amend","target":"b","patch":{"content":"the shutter"}}"#]);
    assert_eq!((search(&home, &["mirror"]).len(), search(&home, &["shutter"]).len()), (0, 1));
    append(&home, &session, &[r#"{"type":"tombstone","targets":["a"]}"#]);
    assert_eq!(search(&home, &["the"]).len(), 2);
    home.run(&["meta", &session, "--title", "Keeper of the light"]).ends_with(0);
    let found = home.run(&["search", "keeper", "--json"]).ends_with(0).json();
    assert_eq!(found["matches"][0]["role"], "title");
    home.run(&["meta", &session, "--title", "Another name"]).ends_with(0);
    assert_eq!(search(&home, &["keeper"]).len(), 0, "an old title is none");
}

#[test]
fn a_session_that_is_gone_or_another_one_under_its_name_is_found_no_more() {
    let home = Home::new();
    let first = home.session(&[&message("a", "a lamp of glass and brass")]);
    let second = home.session(&[&message("b", "a lamp of tin")]);
    assert_eq!(search(&home, &["lamp"]).len(), 2);
    std::fs::remove_file(home.file(&second)).unwrap();
    assert_eq!(search(&home, &["lamp"]).len(), 1);
    // The same id, the same length, other words.
    let other = Home::new();
    let line = home.run(&["export", &first, "--format", "jsonl"]).ends_with(0).stdout;
    let file = other.write("other.jsonl", line.replace("lamp", "lens"));
    other.run(&["import", &file]).ends_with(0);
    std::fs::copy(other.file(&first), home.path().join("new")).unwrap();
    std::fs::rename(home.path().join("new"), home.file(&first)).unwrap();
    assert_eq!((search(&home, &["lamp"]).len(), search(&home, &["lens"]).len()), (0, 1));
}

/// An index is a cache: whatever becomes of it, the answer is the same.
#[test]
fn an_index_that_is_gone_damaged_cut_or_somebody_elses_is_made_anew() {
    let home = Home::new();
    let texts: Vec<String> = (0..300).map(|n| message(&format!("m{n}"), &format!("lamp number {n} of many"))).collect();
    home.session(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let answer = |what: &str| {
        let ran = home.run(&["search", "number 17 of", "--json"]);
        assert_eq!(ran.code, Some(0), "{what}: {ran:?}");
        let found: Value = ran.json();
        assert_eq!(found["found"], 1, "{what}: {found}");
        ran.stderr
    };
    answer("first");
    let whole = std::fs::read(index(&home)).unwrap();
    let spoil = |bytes: &[u8]| {
        for beside in ["search.db-wal", "search.db-shm"] {
            _ = std::fs::remove_file(home.store().join(".cache").join(beside));
        }
        std::fs::write(index(&home), bytes).unwrap();
    };
    spoil(&whole);
    assert_eq!(answer("as it was"), "", "a whole index is not made anew");
    std::fs::remove_file(index(&home)).unwrap();
    answer("gone");
    spoil(b"");
    answer("empty");
    spoil(b"no database at all, though it is long enough to be read as one");
    answer("a text");
    spoil(&whole[..whole.len() / 2]);
    answer("cut");
    for at in [100, 4_096 + 8, whole.len() / 2] {
        let mut hit = whole.clone();
        let to = (at + 3_000).min(hit.len());
        hit[at..to].fill(0xa5);
        spoil(&hit);
        answer(&format!("hit at {at}"));
    }
    std::fs::remove_file(index(&home)).unwrap();
    std::fs::create_dir(index(&home)).unwrap();
    assert!(answer("a directory").contains("no index can be kept"));
}

#[cfg(unix)]
#[test]
fn an_index_is_for_its_owner_alone_and_a_store_that_takes_none_is_searched_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.session(&[&message("a", "the lamp")]);
    assert_eq!(search(&home, &["lamp"]).len(), 1);
    for entry in std::fs::read_dir(home.store().join(".cache")).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{entry:?}");
    }
    std::fs::remove_dir_all(home.store().join(".cache")).unwrap();
    std::fs::write(home.store().join(".cache"), b"in the way").unwrap();
    let ran = home.run(&["search", "lamp", "--json"]).ends_with(0);
    assert_eq!(ran.json()["found"], 1);
    assert!(ran.stderr.contains("no index can be kept"), "{ran:?}");
}

#[test]
fn a_damaged_session_is_searched_up_to_the_damage_and_named_each_time() {
    let home = Home::new();
    let whole = home.session(&[&message("a", "a whole lamp")]);
    let hit = home.session(&[&message("b", "a lamp before"), &message("c", "a lamp behind"), &message("d", "an end")]);
    let mut bytes = std::fs::read(home.file(&hit)).unwrap();
    let at = bytes.windows(6).position(|window| window == b"behind").unwrap();
    bytes[at] ^= 1;
    std::fs::write(home.file(&hit), bytes).unwrap();
    for _ in 0..2 {
        let ran = home.run(&["search", "lamp", "--json"]).ends_with(0);
        let found = ran.json();
        assert_eq!(found["found"], 2, "{found}");
        assert!(found["unread"][0]["path"].as_str().unwrap().contains(&hit), "{found}");
        assert!(found["matches"].as_array().unwrap().iter().any(|found| found["session"] == whole.as_str()));
    }
}

/// What was not durable when it was read may be gone after a power cut: it is found, and nothing of it is kept.
#[test]
fn what_may_yet_vanish_is_found_while_it_is_there_and_not_when_it_is_gone() {
    let home = Home::new();
    let session = home.session(&[&message("a", "the lamp")]);
    let before = std::fs::read(home.file(&session)).unwrap();
    append(&home, &session, &[&message("b", "the lens")]);
    let file = home.file(&session);
    let bytes = std::fs::read(&file).unwrap();
    let survey = seslog::log::survey(seslog::log::RealFs::shared(), &file).unwrap();
    let last = survey.frames.iter().rev().find(|frame| !frame.head.frame_type.is_own()).unwrap();
    // As a kill right after the write leaves it: no MARK behind it.
    std::fs::write(&file, &bytes[..(last.at + last.head.total_len()) as usize]).unwrap();
    assert_eq!(search(&home, &["the"]).len(), 2);
    assert_eq!(search(&home, &["the"]).len(), 2, "and not twice");
    std::fs::write(&file, before).unwrap();
    assert_eq!(search(&home, &["the"]), ["the lamp"]);
    append(&home, &session, &[&message("c", "the tower")]);
    assert_eq!(search(&home, &["the"]).len(), 2);
}

#[test]
fn searches_at_the_same_time_give_the_same_answer() {
    let home = Home::new();
    for n in 0..20 {
        let texts: Vec<String> = (0..20).map(|m| message(&format!("m{m}"), &format!("lamp {n} {m}"))).collect();
        home.session(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let found: Vec<usize> = std::thread::scope(|scope| {
        let ask = || search(&home, &["lamp", "-n", "1000"]).len();
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(found, [400; 4]);
}

#[cfg(unix)]
#[test]
fn nothing_is_written_behind_a_link_and_nothing_that_an_index_says_acts_on_the_terminal() {
    let home = Home::new();
    home.session(&[&message("a", "the lamp")]);
    let theirs = home.write("theirs.db", b"not ours");
    std::fs::create_dir(home.store().join(".cache")).ok();
    std::os::unix::fs::symlink(&theirs, index(&home)).unwrap();
    assert_eq!(search(&home, &["lamp"]).len(), 1);
    assert_eq!(std::fs::read(&theirs).unwrap(), b"not ours");
    std::fs::remove_dir_all(home.store().join(".cache")).unwrap();
    std::os::unix::fs::symlink(home.path(), home.store().join(".cache")).unwrap();
    assert_eq!(search(&home, &["lamp"]).len(), 1);
    assert!(!home.path().join("search.db").exists());
}

#[test]
fn a_message_that_was_amended_very_often_is_written_into_the_index_once() {
    let home = Home::new();
    let mut lines = vec![message("a", "word")];
    for n in 0..3_000 {
        lines.push(format!(r#"{{"type":"amend","target":"a","patch":{{"content":"lamp {n} {}"}}}}"#, "x".repeat(500)));
    }
    home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let began = std::time::Instant::now();
    assert!(search(&home, &["lamp 2999"])[0].starts_with("lamp 2999"));
    assert_eq!(search(&home, &["lamp 2998"]).len(), 0);
    // Each change by itself would take minutes.
    assert!(began.elapsed().as_secs() < 60);
}
