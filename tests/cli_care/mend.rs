//! Damage: what a resume claims, how a session is mended where it lies, and how a saved one comes back.

use std::path::Path;

use serde_json::Value;

use crate::cli_support::{Home, assistant, user};

/// A session with a compaction, whose early part is long enough not to be read by a resume.
fn compacted(home: &Home) -> String {
    let lines: Vec<String> = (0..40)
        .map(|n| {
            let text = format!("number {n} {}", "words and words ".repeat(8));
            if n % 2 == 0 { user(&format!("m{n}"), &text) } else { assistant(&format!("m{n}"), &text) }
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let session = home.session(&lines);
    home.run(&["compact", &session, "--summary", "forty numbers", "--keep-from", "m38"]).ends_with(0);
    home.run_with(&["append", &session], &user("m40", "and what now?")).ends_with(0);
    session
}

/// Turns a byte in the record of this event.
pub(crate) fn damage(home: &Home, session: &str, original: &str) {
    let verified = home.run(&["verify", session, "--json"]).ends_with(0).json();
    let frames = verified["frames"].as_array().unwrap();
    let frame = frames.iter().find(|frame| frame["originalId"] == original).unwrap();
    let at = frame["offset"].as_u64().unwrap() + frame["len"].as_u64().unwrap() / 2;
    let mut bytes = std::fs::read(home.file(session)).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 0x55;
    std::fs::write(home.file(session), bytes).unwrap();
}

fn texts(home: &Home, session: &str) -> Vec<String> {
    let shown = home.run(&["show", session, "--json"]).json();
    let text = |message: &Value| message["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    shown["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn a_resume_does_not_call_clean_what_it_did_not_read() {
    let home = Home::new();
    let session = compacted(&home);
    let resumed = home.run(&["resume", &session]).ends_with(0);
    assert!(resumed.stdout.contains("clean from byte ") && resumed.stdout.contains("`seslog verify`"), "{resumed:?}");
    let checked = home.run(&["resume", &session, "--json"]).ends_with(0).json()["checkedFrom"].as_u64().unwrap();
    assert!(checked > 4096, "{checked}");
    damage(&home, &session, "m3");
    // Not listed since: it does not know, and does not say that all is well.
    let resumed = home.run(&["resume", &session]);
    assert!(!resumed.stdout.lines().any(|line| line.trim_end().ends_with(" clean")), "{resumed:?}");
    // What a list has seen counts once the file's times are over: a tick of the file system's clock.
    let ran = || {
        home.run(&["list"]).ends_with(1);
        home.run(&["resume", &session])
    };
    let resumed = (0..1000).map(|_| ran()).find(|ran| ran.code == Some(1)).expect("the list's damage is told");
    assert!(resumed.stdout.contains("damaged before byte"), "{resumed:?}");
    let document = home.run(&["resume", &session, "--json"]).ends_with(1).json();
    assert_eq!(document["open"], "clean", "the window is");
    assert!(document["damagedBefore"].as_str().unwrap().contains("damaged at byte"), "{document}");
}

#[test]
fn a_short_session_that_is_read_whole_is_called_clean() {
    let home = Home::new();
    let session = home.session(&[&user("a", "hello")]);
    let resumed = home.run(&["resume", &session]).ends_with(0);
    assert!(resumed.stdout.lines().any(|line| line == "state      clean"), "{resumed:?}");
}

#[test]
fn a_damaged_session_is_mended_where_it_lies_and_the_damaged_file_is_kept() {
    let home = Home::new();
    let session = compacted(&home);
    damage(&home, &session, "m3");
    let damaged = std::fs::read(home.file(&session)).unwrap();
    let ran = home.run(&["salvage", &session, "--in-place", "--json"]).ends_with(1);
    let report = ran.json();
    let backup = report["backup"].as_str().unwrap();
    assert_eq!(backup, format!("{}.damaged", home.file(&session).canonicalize().unwrap().display()));
    assert_eq!(std::fs::read(backup).unwrap(), damaged, "byte for byte");
    assert_eq!(report["lost"].as_array().unwrap().len(), 1);
    home.run(&["verify", &session]).ends_with(0);
    home.run(&["list"]).ends_with(0);
    let texts = texts(&home, &session);
    assert!(texts.iter().any(|text| text.starts_with("number 2 ")) && texts.last().unwrap() == "and what now?");
    home.run_with(&["append", &session], &user("m41", "it goes on")).ends_with(0);
    assert!(ran.stderr.contains("removes the damaged file"), "{}", ran.stderr);

    // The second damage takes the next free name, and touches no earlier copy.
    damage(&home, &session, "m5");
    let report = home.run(&["salvage", &session, "--in-place", "--json"]).ends_with(1).json();
    assert!(report["backup"].as_str().unwrap().ends_with(".damaged-2"), "{report}");
    assert_eq!(std::fs::read(backup).unwrap(), damaged);
}

/// Whoever deleted a session, or whose salvage was killed, was told to remove the damaged copy "once you miss nothing in the
/// session": of the one there was no session, of the other the session was damaged still.
#[test]
fn a_damaged_copy_is_told_by_what_has_become_of_its_session() {
    let home = Home::new();
    let session = compacted(&home);
    let note = |code: i32| {
        let ran = home.run(&["doctor", "--json"]).ends_with(code).json();
        let findings = ran["findings"].as_array().unwrap().clone();
        let note = findings.into_iter().find(|finding| finding["code"] == "keptDamaged").unwrap();
        (note["what"].as_str().unwrap().to_owned(), note["next"].as_str().unwrap().to_owned())
    };
    damage(&home, &session, "m3");
    // As a salvage leaves it that is killed before the new file has the name; the next one takes its unfinished file away.
    let copy = home.store().join(format!("{session}.seslog.damaged"));
    std::fs::copy(home.file(&session), &copy).unwrap();
    let unfinished = home.store().join(format!("{session}.seslog-unfinished-0123456789abcdef"));
    std::fs::write(&unfinished, "half").unwrap();
    let (what, next) = note(1);
    assert!(what.contains("damaged still") && next.starts_with("`seslog salvage"), "{what}: {next}");
    home.run(&["salvage", &session, "--in-place"]).ends_with(1);
    assert!(!unfinished.exists());
    let (what, next) = note(0);
    assert!(what.contains("was salvaged") && next.starts_with("once you miss nothing"), "{what}: {next}");
    std::fs::remove_file(home.file(&session)).unwrap();
    let (what, next) = note(0);
    assert!(what.contains("not in the store any more"), "{what}");
    // What is told runs as it stands.
    let file = next.split('\'').nth(1).unwrap();
    home.run(&["import", file]);
    assert!(home.file(&session).exists());
}

#[test]
fn what_is_whole_or_held_is_not_mended_and_stays_as_it_is() {
    let home = Home::new();
    let session = compacted(&home);
    let before = std::fs::read(home.file(&session)).unwrap();
    let ran = home.run(&["salvage", &session, "--in-place"]).ends_with(2);
    assert!(ran.stderr.contains("nothing in"), "{ran:?}");
    damage(&home, &session, "m3");
    let damaged = std::fs::read(home.file(&session)).unwrap();
    let held = std::fs::File::open(home.file(&session)).unwrap();
    fs2::FileExt::lock_exclusive(&held).unwrap();
    home.run(&["salvage", &session, "--in-place"]).ends_with(3);
    drop(held);
    assert_eq!(std::fs::read(home.file(&session)).unwrap(), damaged);
    assert_ne!(before, damaged);
    assert_eq!(home.file_count(), 1, "nothing is left beside it");
}

#[test]
fn a_salvaged_file_comes_into_a_store_and_importing_it_again_adds_nothing() {
    let home = Home::new();
    let session = compacted(&home);
    damage(&home, &session, "m3");
    let saved = home.run(&["salvage", &session, "-o", "whole.seslog"]).ends_with(1);
    assert!(saved.stderr.contains(&format!("`seslog salvage {session} --in-place`")), "{saved:?}");
    // The store's own is damaged: it says what to do, and does nothing.
    let refused = home.run(&["import", "whole.seslog"]).ends_with(1);
    assert!(refused.stderr.contains("--in-place"), "{refused:?}");
    let first = home.run(&["import", "whole.seslog", "--store", "other", "--json"]).ends_with(0).json();
    assert_eq!(
        (&first["format"], &first["created"], &first["session"]),
        (&"seslog".into(), &true.into(), &session.as_str().into())
    );
    let again = home.run(&["import", "whole.seslog", "--store", "other", "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], &again["known"], &again["created"]), (&0.into(), &again["read"], &false.into()));
    // From there on it can go back: the damaged one deleted, the saved one imported.
    home.run(&["delete", &session, "--yes"]).ends_with(0);
    home.run(&["import", "whole.seslog"]).ends_with(0);
    assert!(texts(&home, &session).len() > 38);
}

#[test]
fn a_file_of_our_own_is_known_by_its_content_and_only_read() {
    let home = Home::new();
    let session = compacted(&home);
    let copy = home.write("notes.bin", std::fs::read(home.file(&session)).unwrap());
    let before = std::fs::read(&copy).unwrap();
    let taken = home.run(&["import", &copy, "--store", "other", "--json"]).ends_with(0).json();
    assert_eq!(taken["written"], 43, "forty messages, a compaction of two, one more");
    assert_eq!(std::fs::read(&copy).unwrap(), before);
    let model = |store: &str| home.run(&["show", &session, "--view", "model", "--json", "--store", store]).stdout;
    assert_eq!(model("other"), model("store"), "what a model sees is the same to the byte");
    let ran = home.run(&["import", &copy, "--store", "other", "--session", &session]).ends_with(2);
    assert!(ran.stderr.contains("leave --session out"), "{ran:?}");
    let own = home.file(&session);
    home.run(&["import", own.to_str().unwrap()]).ends_with(2);
}

#[test]
fn what_two_copies_of_a_session_have_each_for_itself_is_merged() {
    let home = Home::new();
    let session = compacted(&home);
    let copy = home.write("copy.seslog", std::fs::read(home.file(&session)).unwrap());
    home.run_with(&["append", &session], &user("here", "said here")).ends_with(0);
    home.run_with(&["append", &copy], &user("there", "said there")).ends_with(0);
    let merged = home.run(&["import", &copy, "--json"]).ends_with(0).json();
    assert_eq!((&merged["written"], &merged["renamed"]), (&1.into(), &serde_json::json!([])), "{merged}");
    let all = home.run(&["tail", &session, "--json"]).ends_with(0).stdout;
    assert!(all.contains("said here") && all.contains("said there"));
    assert_eq!(home.run(&["import", &copy, "--json"]).ends_with(0).json()["written"], 0);
}

/// An older copy brought its title back over the newer one, untold; and a damaged copy could be imported once only.
#[test]
fn what_the_store_says_of_a_session_stays_where_an_older_copy_says_otherwise_and_a_newer_one_counts() {
    let home = Home::new();
    let session = compacted(&home);
    let copy = home.write("copy.seslog", std::fs::read(home.file(&session)).unwrap());
    home.run(&["title", &copy, "older"]).ends_with(0);
    home.run(&["title", &session, "mine"]).ends_with(0);
    let title = || home.run(&["title", &session, "--json"]).ends_with(0).json()["title"].clone();
    let merged = home.run(&["import", &copy, "--json"]).ends_with(0).json();
    let kept = serde_json::json!([{"field": "title", "kept": "mine", "copy": "older"}]);
    assert_eq!((&merged["metaKept"], title()), (&kept, "mine".into()), "{merged}");
    let again = home.run(&["import", &copy, "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], &again["metaKept"], title()), (&0.into(), &serde_json::Value::Null, "mine".into()));
    // A copy that has all that the session has goes on from it.
    let copy = home.write("newer.seslog", std::fs::read(home.file(&session)).unwrap());
    home.run(&["title", &copy, "newer"]).ends_with(0);
    let merged = home.run(&["import", &copy, "--json"]).ends_with(0).json();
    assert_eq!((&merged["metaKept"], title()), (&serde_json::Value::Null, "newer".into()), "{merged}");
}

#[test]
fn a_damaged_file_that_was_taken_in_adds_nothing_and_is_no_new_loss() {
    let home = Home::new();
    let session = compacted(&home);
    let whole = std::fs::read(home.file(&session)).unwrap();
    damage(&home, &session, "m3");
    let damaged = home.write("damaged.seslog", std::fs::read(home.file(&session)).unwrap());
    let taken = home.run(&["import", &damaged, "--store", "other", "--json"]).ends_with(1).json();
    assert!(taken["created"] == true && taken["salvage"]["lost"].as_array().is_some_and(|lost| !lost.is_empty()));
    let again = home.run(&["import", &damaged, "--store", "other", "--json"]).ends_with(0).json();
    assert_eq!((&again["written"], &again["known"], &again["oldLosses"]), (&0.into(), &again["read"], &true.into()));
    // Into a session that lacks what stands behind the damage.
    let first = home.session(&[&user("x", "another")]);
    home.run(&["delete", &session, "--yes"]).ends_with(0);
    home.write("whole.seslog", &whole);
    home.run(&["import", "whole.seslog"]).ends_with(0);
    let damaged_again = home.run(&["import", &damaged, "--json"]).ends_with(0).json();
    assert_eq!((&damaged_again["written"], &damaged_again["oldLosses"]), (&0.into(), &true.into()), "{damaged_again}");
    // Nothing is left beside the files.
    assert!(home.run(&["list", "--json"]).ends_with(0).stdout.contains(&first));
    let is_left = |name: &str| name.contains("unfinished");
    let names = std::fs::read_dir(home.store()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| is_left(&name.to_string_lossy())));
}

#[test]
fn what_is_gone_from_a_damaged_newer_copy_is_a_new_loss_though_all_else_in_it_is_known() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one"), &user("m2", "two")]);
    let older = std::fs::read(home.file(&session)).unwrap();
    home.run_with(&["append", &session], &user("m3", "three")).ends_with(0);
    damage(&home, &session, "m3");
    let newer = home.write("newer.seslog", std::fs::read(home.file(&session)).unwrap());
    home.run(&["delete", &session, "--yes"]).ends_with(0);
    home.write("older.seslog", &older);
    home.run(&["import", "older.seslog"]).ends_with(0);
    // The copy is newer than the session in the store, as it would be where it comes from another machine.
    let file = std::fs::File::options().write(true).open(&newer).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(60)).unwrap();
    let taken = home.run(&["import", &newer, "--json"]).ends_with(1).json();
    assert_eq!((&taken["written"], taken.get("oldLosses")), (&0.into(), None), "{taken}");
}

#[test]
fn other_content_under_an_id_that_is_there_is_told_and_kept_beside_it() {
    let home = Home::new();
    let session = home.session(&[&user("a", "one")]);
    let copy = home.write("copy.seslog", std::fs::read(home.file(&session)).unwrap());
    let id = "0192f3a0-7777-7000-8000-000000000001";
    home.run_with(&["append", &session], &user(id, "said here")).ends_with(0);
    home.run_with(&["append", &copy], &user(id, "said there")).ends_with(0);
    let merged = home.run(&["import", &copy, "--json"]).ends_with(0).json();
    assert_eq!(merged["renamed"].as_array().unwrap().len(), 1, "{merged}");
    let all = home.run(&["tail", &session, "--json"]).ends_with(0).stdout;
    assert!(all.contains("said here") && all.contains("said there"));
}

#[test]
fn a_whole_store_is_imported_and_one_damaged_session_in_it_stops_no_other() {
    let home = Home::new();
    let (first, second) = (compacted(&home), home.session(&[&user("a", "hello"), &user("b", "again")]));
    damage(&home, &first, "m3");
    let from = home.store();
    let ran = home.run(&["import", from.to_str().unwrap(), "--store", "other", "--json"]).ends_with(1);
    let report = ran.json();
    assert_eq!((&report["sessions"], &report["created"]), (&2.into(), &2.into()), "{report}");
    assert_eq!(report["problems"].as_array().unwrap().len(), 1, "{report}");
    home.run(&["verify", &second, "--store", "other"]).ends_with(0);
    home.run(&["verify", &first, "--store", "other"]).ends_with(0);
    // Into itself: nothing is there to be done.
    let into_itself = home.run(&["import", home.path().to_str().unwrap(), "--store", "other", "--json"]).json();
    assert_eq!(into_itself["files"], 2, "its own files are passed over");
}

#[test]
fn what_is_only_named_like_a_session_is_an_error_that_says_so() {
    let home = Home::new();
    for content in [&b""[..], b"garbage\n", &[0; 9000]] {
        let file = home.write("x.seslog", content);
        let ran = home.run(&["import", &file]).ends_with(1);
        assert!(!ran.stderr.contains("salvage"), "{ran:?}");
        assert!(!Path::new(&home.store()).exists() || home.file_count() == 0);
    }
}
