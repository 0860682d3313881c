//! `seslog search`.

use crate::cli_support::Home;

fn message(id: &str, text: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","role":"user","kind":"user_input","content":"{text}"}}"#)
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
