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

const CLASSIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/claude-code/classic-1.0.jsonl");

/// A file of another agent that grows: its title is said in a line that counts only once its last message is there.
fn grows(home: &Home, between: impl Fn(&str)) -> (String, serde_json::Value) {
    let text = std::fs::read_to_string(CLASSIC).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let file = home.write("grows.jsonl", lines[..8].concat());
    let session = home.run(&["import", &file, "--json"]).ends_with(0).json()["session"].as_str().unwrap().to_owned();
    between(&session);
    std::fs::write(&file, &text).unwrap();
    let told = home.run(&["import", &file, "--json"]).ends_with(0).json();
    assert_eq!(home.run(&["import", &file, "--json"]).ends_with(0).json()["written"], 0);
    (session, told)
}

#[test]
fn a_title_that_was_given_here_stays_whatever_a_later_copy_says_and_that_is_told() {
    for goes_on in [false, true] {
        let home = Home::new();
        let (session, told) = grows(&home, |session| {
            home.run(&["title", session, "Mine"]).ends_with(0);
            if goes_on {
                home.run_with(&["append", session], &user("own", "my own")).ends_with(0);
            }
        });
        assert_eq!(title(&home, &session)[0], "Mine");
        assert_eq!(
            told["metaKept"],
            json!([{"field": "title", "kept": "Mine", "copy": "Tide units in metres"}]),
            "{told}"
        );
    }
}

#[test]
fn a_later_copys_title_counts_where_none_was_given_here_though_the_session_has_gone_on() {
    let home = Home::new();
    let (session, told) = grows(&home, |session| {
        home.run_with(&["append", session], &user("own", "my own")).ends_with(0);
    });
    assert_eq!(
        (title(&home, &session)[0].as_str(), told.get("metaKept")),
        (Some("Tide units in metres"), None),
        "{told}"
    );
    // An earlier copy that comes after it takes nothing away.
    let text = std::fs::read_to_string(CLASSIC).unwrap();
    let earlier = home.write("earlier.jsonl", text.split_inclusive('\n').take(10).collect::<String>());
    home.run(&["import", &earlier]).ends_with(0);
    assert_eq!(title(&home, &session)[0], "Tide units in metres");
}

/// In JSON lines a field that is not there was taken for one that stays.
#[test]
fn lines_give_back_a_title_that_was_cleared_and_a_compaction_that_came_late() {
    let pi = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pi/v1-linear.jsonl");
    let home = Home::new();
    let text = std::fs::read_to_string(pi).unwrap();
    let file = home.write("grows.jsonl", text.split_inclusive('\n').take(5).collect::<String>());
    let session = home.run(&["import", &file, "--json"]).ends_with(0).json()["session"].as_str().unwrap().to_owned();
    for text in ["Something", ""] {
        home.run(&["title", &session, text]).ends_with(0);
    }
    home.run_with(&["append", &session], &user("own", "my own")).ends_with(0);
    std::fs::write(&file, &text).unwrap();
    home.run(&["import", &file]).ends_with(0);
    let lines = home.run(&["export", &session, "--format", "jsonl"]).ends_with(0).stdout;
    assert!(lines.contains("\"title\":\"\"") && lines.contains("\"kind\":\"compact_summary\""));
    let other = home.write("lines.jsonl", &lines);
    home.run(&["import", &other, "--store", "other"]).ends_with(0);
    let again = home.run(&["export", &session, "--format", "jsonl", "--store", "other"]).ends_with(0).stdout;
    assert_eq!(again, lines);
    let sent = |store: &str| {
        let body = ["payload", &session, "--provider", "anthropic", "--model", "m", "--store", store];
        home.run(&body).ends_with(0).stdout
    };
    assert_eq!(sent("other"), sent("store"));
}
