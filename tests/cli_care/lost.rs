//! What is told of a session that can't be read to its end: never that it is hopeless where it is not.

use crate::cli_support::{Home, assistant, user};
use crate::mend::damage;

fn session(home: &Home) -> String {
    home.session(&[&user("a", "one lamp"), &assistant("b", "two lamps"), &user("c", "three lamps")])
}

/// Takes the header away; all events stay whole.
fn behead(home: &Home, session: &str) {
    let mut bytes = std::fs::read(home.file(session)).unwrap();
    bytes[..4096].fill(0);
    std::fs::write(home.file(session), bytes).unwrap();
}

/// Whoever followed "nothing can be saved, delete it" lost a session of which every event was whole.
#[test]
fn a_session_whose_header_is_lost_is_told_to_be_saved_and_never_to_be_deleted() {
    let home = Home::new();
    let lost = session(&home);
    behead(&home, &lost);
    let commands: &[&[&str]] = &[
        &["show", &lost],
        &["tree", &lost],
        &["tail", &lost],
        &["resume", &lost],
        &["payload", &lost, "--provider", "anthropic"],
        &["export", &lost, "--format", "jsonl"],
        &["append", &lost],
        &["title", &lost, "lamps"],
        &["stat", &lost],
        &["redact", &lost, "--literal", "one"],
        &["rewind", &lost, "--to-start"],
    ];
    for command in commands {
        let ran = home.run(command).ends_with(1);
        assert!(ran.stderr.contains("--in-place` saves what is whole"), "{ran:?}");
        assert!(!ran.stderr.contains("delete") && !ran.stderr.contains("nothing can be saved"), "{ran:?}");
    }
    assert_eq!(home.run(&["show", &lost, "--json"]).ends_with(1).json()["error"]["code"], "damaged");
    for command in [&["list"][..], &["stat"], &["scan-secrets"], &["scan-secrets", &lost]] {
        let ran = home.run(command).ends_with(1);
        let told = ran.stdout.clone() + &ran.stderr;
        assert!(told.contains("--in-place` saves what is whole") && !told.contains("delete"), "{ran:?}");
    }
    home.run(&["salvage", &lost, "--in-place"]).ends_with(0);
    assert_eq!(home.run(&["show", &lost, "--json"]).ends_with(0).json()["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_file_that_is_named_like_a_session_and_holds_nothing_of_one_is_still_told_to_be_hopeless() {
    let home = Home::new();
    let lost = session(&home);
    std::fs::write(home.file(&lost), [0; 9000]).unwrap();
    let ran = home.run(&["show", &lost]).ends_with(1);
    assert!(ran.stderr.contains("nothing can be saved from it") && !ran.stderr.contains("salvage"), "{ran:?}");
    let ran = home.run(&["list"]).ends_with(1);
    assert!(ran.stdout.contains("nothing can be saved from it") && !ran.stdout.contains("salvage"), "{ran:?}");
}

#[test]
fn a_scan_for_secrets_counts_only_what_it_has_looked_through() {
    let home = Home::new();
    let (lost, hurt) = (session(&home), session(&home));
    session(&home);
    behead(&home, &lost);
    damage(&home, &hurt, "b");
    let ran = home.run(&["scan-secrets"]).ends_with(1);
    assert!(ran.stderr.contains("secret in 1 session, nor in what could be read of the others"), "{ran:?}");
    let told = |id: &str, what: &str| ran.stderr.lines().any(|line| line.contains(id) && line.contains(what));
    assert!(told(&lost, "was not looked through at all"), "{ran:?}");
    assert!(told(&hurt, "was looked through up to its damage only"), "{ran:?}");
}

/// `if seslog search WORD` asks whether it was found; that another session is damaged is told beside it.
#[cfg(feature = "search")]
#[test]
fn a_search_that_finds_something_succeeds_whatever_else_is_damaged() {
    let home = Home::new();
    let hurt = session(&home);
    damage(&home, &hurt, "b");
    let ran = home.run(&["search", "one"]).ends_with(0);
    assert!(ran.stderr.contains("was searched up to its damage only"), "{ran:?}");
    let ran = home.run(&["search", "three"]).ends_with(1);
    assert!(ran.stderr.contains("was searched up to its damage only"), "{ran:?}");
}

/// It showed nothing of what is whole, a place where nothing is wrong, and no way on.
#[test]
fn the_tail_of_a_damaged_session_shows_what_is_whole_and_how_it_is_saved() {
    let home = Home::new();
    for name in ["b", "c"] {
        let hurt = session(&home);
        damage(&home, &hurt, name);
        let whole: Vec<&str> = [("a", "one lamp"), ("b", "two lamps"), ("c", "three lamps")]
            .iter()
            .filter(|(id, _)| *id != name)
            .map(|(_, text)| *text)
            .collect();
        let ran = home.run(&["tail", &hurt, "-n", "2"]).ends_with(1);
        assert!(whole.iter().all(|text| ran.stdout.contains(text)), "{ran:?}");
        assert!(ran.stderr.contains("damaged") && ran.stderr.contains("--in-place` saves what is whole"), "{ran:?}");
        assert_eq!(home.run(&["tail", &hurt, "--json"]).ends_with(1).json_lines().len(), 2);
        assert!(home.run(&["tail", &hurt, "-f"]).ends_with(1).stdout.contains(whole[1]));
        let offset = home.run(&["verify", &hurt, "--json"]).json()["damage"][0]["offset"].clone();
        assert!(ran.stderr.contains(&format!("at byte {offset}:")), "{ran:?}");
    }
}

#[test]
fn a_branch_that_came_later_is_told_to_have_come_later() {
    let home = Home::new();
    let own = home.session(&[&user("first", "one"), &user("later", "two")]);
    let ran = home.run(&["show", &own, "--at", "first", "--branch", "later"]).ends_with(1);
    assert!(ran.stderr.contains("came later than") && ran.stderr.contains("leave --at out"), "{ran:?}");
    let ran = home.run(&["show", &own, "--at", "first", "--branch", "zeppelin"]).ends_with(1);
    assert!(ran.stderr.contains("no event `zeppelin`"), "{ran:?}");
}

/// A redaction leaves ids, so the command that was told took nothing out, and the next scan told it again for ever.
#[test]
fn no_command_is_told_for_a_secret_that_it_would_leave() {
    let home = Home::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).chars().take(36).collect::<String>());
    home.session(&[&user("a", "one"), &assistant(&token, &format!("it is {token}"))]);
    let found = home.run(&["scan-secrets", "--json"]).ends_with(1).json()["found"].clone();
    let of = |field: &str| found.as_array().unwrap().iter().find(|found| found["field"] == field).unwrap();
    assert!(of("original_id")["command"].is_null(), "{found}");
    let command = of("content[0].text")["command"].as_str().unwrap().to_owned();
    let pattern = command.split('\'').nth(1).unwrap();
    let session = of("original_id")["session"].as_str().unwrap();
    home.run(&["redact", session, "--pattern", pattern]);
    let ran = home.run(&["scan-secrets"]).ends_with(1);
    assert!(ran.stdout.contains("only `seslog delete` takes it away"), "{ran:?}");
}
