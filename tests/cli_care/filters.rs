//! `seslog search`: only what was asked for besides the words.

use serde_json::{Value, json};

use crate::cli_support::Home;

const DAY: i64 = 86_400_000_000;
/// The first of March 2024 at ten, UTC.
const MARCH: i64 = 1_709_287_200_000_000;

fn said(id: &str, role: &str, at: i64, text: &str) -> String {
    let kind = if role == "user" { "user_input" } else { "assistant_text" };
    json!({"type": "message", "id": id, "role": role, "kind": kind, "content": text, "at": at}).to_string()
}

/// Two sessions in two folders, by two agents.
fn home() -> (Home, String, String) {
    let home = Home::new();
    let garden = home.session(&[
        &said("a", "user", MARCH, "the lamp in the garden"),
        &said("b", "assistant", MARCH + DAY, "a lamp was lit"),
    ]);
    let tower = home.session(&[&said("c", "user", MARCH + 2 * DAY, "the lamp of the tower turns")]);
    for (session, dir, agent) in [(&garden, "/home/ada/garden/beds", "flora"), (&tower, "/home/ada/tower", "keeper")] {
        home.run(&["meta", session, "--cwd", dir, "--agent", agent, "--title", "about a lamp", "--model", "m-1"])
            .ends_with(0);
    }
    (home, garden, tower)
}

/// The texts that are found, in the order of time; titles aside, unless they are asked for.
fn found(home: &Home, filters: &[&str]) -> Vec<String> {
    let mut ran = home.command(&[&["search", "lamp", "--json"], filters].concat());
    ran.env("TZ", "UTC");
    let ran = crate::cli_support::run(ran, "");
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let document = ran.json();
    let matches = document["matches"].as_array().unwrap();
    assert_eq!(document["found"], matches.len(), "{document}");
    assert_eq!(ran.code == Some(1), matches.is_empty());
    let mut matches: Vec<&Value> = matches.iter().collect();
    matches.sort_by_key(|found| found["at"].as_str().unwrap().to_owned());
    let is_wanted = |found: &&&Value| found["role"] != "title" || filters.contains(&"title");
    matches.iter().filter(is_wanted).map(|found| found["excerpt"].as_str().unwrap().to_owned()).collect()
}

const ALL: [&str; 3] = ["the lamp in the garden", "a lamp was lit", "the lamp of the tower turns"];

#[test]
fn a_search_takes_only_messages_of_the_time_the_role_and_the_sessions_that_are_asked_for() {
    let (home, garden, tower) = home();
    let check = |filters: &[&str], expected: &[&str]| assert_eq!(found(&home, filters), expected, "{filters:?}");
    check(&[], &ALL);
    check(&["--since", "2024-03-02"], &ALL[1..]);
    check(&["--until", "2024-03-02"], &ALL[..2]);
    check(&["--since", "2024-03-02", "--until", "2024-03-02"], &ALL[1..2]);
    check(&["--since", "2024-03-01T10:00:01Z"], &ALL[1..]);
    check(&["--until", "2024-03-01T10:00:00Z"], &ALL[..1]);
    check(&["--role", "user"], &[ALL[0], ALL[2]]);
    check(&["--role", "title"], &["about a lamp", "about a lamp"]);
    check(&["--cwd", "/home/ada/garden"], &ALL[..2]);
    check(&["--cwd", "/home/ada/gard"], &[]);
    check(&["--agent", "KEEP"], &ALL[2..]);
    check(&["--model", "M-1"], &ALL);
    check(&["--session", &garden], &ALL[..2]);
    check(&["--session", &tower], &ALL[2..]);
    check(&["--session", &garden, "--role", "assistant", "--cwd", "/home/ada"], &ALL[1..2]);
    check(&["--session", &garden, "--agent", "keeper"], &[]);
}

#[test]
fn the_limit_counts_what_is_left_by_the_filters() {
    let (home, garden, _) = home();
    let ran = home.run(&["search", "lamp", "--session", &garden, "--role", "user", "-n", "1", "--json"]).ends_with(0);
    assert_eq!(ran.json()["found"], 1, "{ran:?}");
    let ran = home.run(&["search", "lamp", "--cwd", "/home/ada/garden", "-n", "1", "--json"]).ends_with(0).json();
    assert_eq!((&ran["found"], ran["matches"].as_array().unwrap().len()), (&3.into(), 1), "title and two messages");
}

#[test]
fn a_filter_that_makes_no_sense_is_refused_and_one_that_fits_nothing_is_told() {
    let (home, ..) = home();
    home.run(&["search", "lamp", "--since", "tomorrow"]).ends_with(2);
    home.run(&["search", "lamp", "--role", "nobody"]).ends_with(2);
    home.run(&["search", "lamp", "--session", "ffff"]).ends_with(1);
    let ran = home.run(&["search", "lamp", "--agent", "nobody"]).ends_with(1);
    assert!(ran.stderr.contains("without the filters"), "{ran:?}");
}
