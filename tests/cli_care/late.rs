//! What a salvage had to leave out, and an import of a whole copy gives back: it undoes nothing.

use serde_json::json;

use crate::cli_support::{Home, assistant, call, result, user};
use crate::mend::damage;

/// What the model is sent.
fn sent(home: &Home, session: &str) -> String {
    home.run(&["payload", session, "--provider", "anthropic", "--model", "m"]).ends_with(0).stdout
}

fn title(home: &Home, session: &str) -> serde_json::Value {
    let listed = home.run(&["list", "--json"]).json();
    let sessions = listed["sessions"].as_array().unwrap();
    let found = sessions.iter().find(|listed| listed["id"] == *session).unwrap();
    json!([found["title"], found["cwd"], found["model"]])
}

#[test]
fn what_comes_back_after_a_salvage_is_taken_back_amended_pruned_and_named_as_it_was() {
    let amend = |text: &str| json!({"type": "amend", "target": "c", "patch": {"content": text}}).to_string();
    let prune = json!({"type": "prune", "id": "p", "targets": ["r"]}).to_string();
    let meta = |id: &str, title: &str| json!({"type": "meta", "id": id, "title": title}).to_string();
    let cases: [(&str, &str, Vec<String>); 5] = [
        ("a message that was taken back", "c", vec![json!({"type": "tombstone", "targets": ["c"]}).to_string()]),
        ("a message that was amended twice", "c", vec![amend("WRONG"), amend("RIGHT")]),
        ("a result that was pruned", "r", vec![call("k", "call-1"), result("r", "call-1", "A long output."), prune]),
        ("an old title", "t", vec![meta("t", "Old"), assistant("d", "Yes."), meta("n", "New")]),
        (
            "an old amend",
            "o",
            vec![
                json!({"type": "amend", "id": "o", "target": "c", "patch": {"content": "OLD"}}).to_string(),
                amend("NEW"),
            ],
        ),
    ];
    for (what, lost, lines) in cases {
        let home = Home::new();
        let mut all = vec![user("a", "One."), assistant("b", "Two."), user("c", "Three.")];
        all.extend(lines);
        let lines: Vec<&str> = all.iter().map(String::as_str).collect();
        let session = home.session(&lines);
        let (was, named) = (sent(&home, &session), title(&home, &session));
        let copy = home.file(&session).with_file_name("copy.bak");
        std::fs::copy(home.file(&session), &copy).unwrap();
        damage(&home, &session, lost);
        home.run(&["salvage", &session, "--in-place"]).ends_with(1);
        let import = ["import", "--format", "seslog", copy.to_str().unwrap(), "--json"];
        let told = home.run(&import).ends_with(0).json();
        assert_eq!(told["written"], 1, "{what}");
        assert!(told["changedAgain"].as_u64().is_some_and(|count| count > 0), "{what}: {told}");
        assert_eq!((sent(&home, &session), title(&home, &session)), (was.clone(), named.clone()), "{what}");
        // It is all there now.
        let again = home.run(&import).ends_with(0).json();
        assert_eq!((&again["written"], again.get("changedAgain")), (&json!(0), None), "{what}");
        assert_eq!((sent(&home, &session), title(&home, &session)), (was, named), "{what}");
    }
}

fn leaf(home: &Home, session: &str) -> serde_json::Value {
    home.run(&["tree", session, "--json"]).ends_with(0).json()["leaf"].clone()
}

/// A salvage aims it at what is there; it is the same all the same.
#[test]
fn a_rewind_to_what_was_lost_leads_there_again_and_is_not_taken_in_a_second_time() {
    let home = Home::new();
    let rewind = json!({"type": "head", "id": "h", "leaf": "b"}).to_string();
    let session = home.session(&[&user("a", "One."), &assistant("b", "Two."), &user("c", "Three."), &rewind]);
    let was = leaf(&home, &session);
    let copy = home.file(&session).with_file_name("copy.bak");
    std::fs::copy(home.file(&session), &copy).unwrap();
    damage(&home, &session, "b");
    home.run(&["salvage", &session, "--in-place"]).ends_with(1);
    let import = ["import", "--format", "seslog", copy.to_str().unwrap(), "--json"];
    let told = home.run(&import).ends_with(0).json();
    assert_eq!((&told["written"], &told["renamed"]), (&json!(1), &json!([])), "{told}");
    assert_eq!(leaf(&home, &session), was);
    let again = home.run(&import).ends_with(0).json();
    assert_eq!((&again["written"], again.get("changedAgain")), (&json!(0), None));
    assert_eq!(leaf(&home, &session), was);
}
