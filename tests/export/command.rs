//! `seslog export`.

use crate::cli_support::Home;

const STORY: [&str; 6] = [
    r#"{"type":"message","id":"u1","role":"user","kind":"user_input","content":[{"type":"text","text":"Count the bees."}]}"#,
    r#"{"type":"message","id":"a1","role":"assistant","kind":"assistant_text","content":[{"type":"text","text":"Twelve."}]}"#,
    r#"{"type":"message","id":"u2","role":"user","kind":"user_input","content":[{"type":"text","text":"And wasps?"}]}"#,
    r#"{"type":"message","id":"a2","role":"assistant","kind":"assistant_text","content":[{"type":"text","text":"No wasps."}]}"#,
    r#"{"type":"message","id":"u3","parentId":"a1","role":"user","kind":"user_input","content":[{"type":"text","text":"And <b>moths</b>?"}]}"#,
    r#"{"type":"meta","title":"Bees & co"}"#,
];

#[test]
fn what_is_exported_can_be_imported_elsewhere_and_is_the_same() {
    let home = Home::new();
    let session = home.session(&STORY);
    let lines = home.run(&["export", &session]).ends_with(0).stdout;
    assert_eq!(lines.lines().count(), 1 + STORY.len());
    let elsewhere = home.path().join("elsewhere");
    let there = elsewhere.to_str().unwrap();
    let ran = home.run_with(&["--store", there, "import", "-", "--json"], &lines).ends_with(0).json();
    assert_eq!(ran["session"].as_str(), Some(session.as_str()));
    assert_eq!(home.run(&["--store", there, "export", &session]).ends_with(0).stdout, lines);
}

#[test]
fn a_page_shows_both_branches_and_its_title_as_text() {
    let home = Home::new();
    let session = home.session(&STORY);
    let file = home.path().join("page.html");
    let name = file.to_str().unwrap();
    let ran = home.run(&["export", &session, "--format", "html", "--output", name, "--json"]).ends_with(0).json();
    assert_eq!(ran["written"], 5);
    let page = std::fs::read_to_string(&file).unwrap();
    for text in ["<title>Bees &amp; co</title>", "Count the bees.", "And &lt;b&gt;moths&lt;/b&gt;?", "No wasps."] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("Twelve.").count(), 1, "a branch shows its own messages only");
    assert!(page.find("class=\"branch\"").unwrap() < page.find("No wasps.").unwrap());
    assert!(page.contains("<summary>another branch from here: And wasps?</summary>"), "{page}");
    assert!(page.contains("<dt>held</dt>"), "{page}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = home.run(&["export", &session, "--format", "html", "--output", name]).ends_with(2);
    assert!(again.stderr.contains("--force"), "{again:?}");
    home.run(&["export", &session, "--format", "html", "--output", name, "--force"]).ends_with(0);
    let text = home.run(&["export", &session, "--format", "markdown"]).ends_with(0).stdout;
    assert!(text.starts_with("# Bees \\& co\n"), "{text}");
    assert!(text.contains("> And &lt;b>moths&lt;/b>?"), "{text}");
}

#[test]
fn an_output_that_fails_is_named_and_leaves_nothing_behind() {
    let home = Home::new();
    let session = home.session(&STORY);
    let ran = home.run(&["export", &session, "--output", "no/such/dir.jsonl"]).ends_with(3);
    assert!(ran.stderr.contains("no/such/dir.jsonl"), "{ran:?}");
    home.run(&["export", &session, "--json"]).ends_with(2);
    if std::path::Path::new("/dev/full").exists() {
        let command = format!("{} export {session} > /dev/full", env!("CARGO_BIN_EXE_seslog"));
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &command]);
        home.at_home(&mut shell);
        assert_eq!(shell.status().unwrap().code(), Some(3));
    }
}

#[test]
fn a_fork_comes_back_as_the_fork_that_it_is() {
    let home = Home::new();
    let session = home.session(&STORY);
    let forked = home.run(&["fork", &session, "--at", "a1", "--json"]).ends_with(0).json();
    let forked = forked["session"].as_str().unwrap();
    let more = r#"{"type":"message","id":"f1","role":"user","kind":"user_input","content":"And ants?"}"#;
    home.run_with(&["append", forked], more).ends_with(0);
    let elsewhere = home.path().join("elsewhere");
    let there = elsewhere.to_str().unwrap();
    for id in [session.as_str(), forked] {
        let lines = home.run(&["export", id]).ends_with(0).stdout;
        home.run_with(&["--store", there, "import", "-"], &lines).ends_with(0);
        assert_eq!(home.run(&["--store", there, "export", id]).ends_with(0).stdout, lines, "{id}");
        let shown = |place: &[&str]| home.run(&[place, &["show", id]].concat()).ends_with(0).stdout;
        assert_eq!(shown(&[]), shown(&["--store", there]));
    }
}

#[test]
fn a_session_without_a_title_is_named_by_its_first_words_and_no_secret_is_in_a_name() {
    let home = Home::new();
    let session = home.session(&STORY[..5]);
    let page = home.run(&["export", &session, "--format", "html"]).ends_with(0).stdout;
    assert!(page.contains("<h1>Count the bees.</h1>"), "{page}");
    let page = home.run(&["export", &session, "--format", "html", "--redact", "bees|wasps"]).ends_with(0).stdout;
    assert!(page.contains("<h1>Count the ") && !page.contains("bees") && !page.contains("wasps"), "{page}");
}

#[test]
fn markdown_of_messages_is_shown_as_what_it_means() {
    let home = Home::new();
    let said = r###"{"type":"message","id":"u1","role":"assistant","kind":"assistant_text","content":"## Two\n\n- *one* [a](https://a.example)\n- `two`\n\n```rust\nfn a() {}\n```"}"###;
    let session = home.session(&[said]);
    let page = home.run(&["export", &session, "--format", "html"]).ends_with(0).stdout;
    let markup =
        "<h4>Two</h4><ul><li><em>one</em> <a href=\"https://a.example\">a</a></li><li><code>two</code></li></ul><pre>";
    assert!(page.contains(markup), "{page}");
}
