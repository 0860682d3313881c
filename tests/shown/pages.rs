//! What a page shows when something was to be taken out of it.

use serde_json::json;

use crate::cli_support::{Home, assistant, user};

/// What a reader sees of a page.
fn seen(html: &str) -> String {
    let body = &html[html.find("<main>").unwrap()..html.find("</main>").unwrap()];
    let mut text = String::new();
    let mut is_tag = false;
    for c in body.chars() {
        match c {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            c if !is_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}

#[test]
fn nothing_that_a_page_shows_matches_what_was_to_be_taken_out() {
    let home = Home::new();
    let texts = [
        "first s&#69;crEt99 behind1",
        "a key ghp\\_AAAA\\_BBBB behind2",
        "said sEc**rE**t99 behind3",
        "said sEc~~rE~~t99 behind4",
        "see [this](https://a.b/s&#69;crEt99) behind5",
        "soft sEc\u{ad}rE\u{200b}t99 behind6",
        "| a | b |\n|---|---|\n| s&#69;crEt99 | behind7 |",
        "![s&#69;crEt99](https://a.b/p.png) behind8",
        "plain sEcrEt99 behind9",
    ];
    let call = json!({"type": "message", "id": "c", "role": "assistant", "kind": "tool_call", "content": [
        {"type": "tool_call", "id": "c1", "name": "open", "input": {"password": "hunter2", "door": "behind10"}}
    ]});
    let mut lines = vec![user("u", "hello, see what comes")];
    lines.extend(texts.iter().enumerate().map(|(index, text)| assistant(&format!("a{index}"), text)));
    lines.push(call.to_string());
    let session = home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let rules = ["--redact", "sEcrEt99", "--redact", "ghp_[A-Z_]+", "--redact", r"password: \w+"];
    for format in ["html", "markdown"] {
        let ran = home.run(&[&["export", &session, "--format", format], &rules[..]].concat()).ends_with(0);
        assert!(!ran.stderr.contains("matches nothing"), "{}", ran.stderr);
        let shown = if format == "html" { seen(&ran.stdout) } else { ran.stdout.clone() };
        for gone in ["sEcrEt99", "s&#69;crEt99", "ghp", "hunter2", "rE**t99", "rE~~t99", "sEc\u{ad}"] {
            // What no reader of this page would read as the secret may stay: a page knows no `~~`.
            if format == "html" && gone == "rE~~t99" {
                continue;
            }
            assert!(!shown.contains(gone) && !ran.stdout.contains("crEt99"), "{format} shows {gone}: {shown}");
        }
        for index in 1..=10 {
            assert!(shown.contains(&format!("behind{index}")), "{format} lacks behind{index}: {shown}");
        }
        assert!(shown.contains("hello, see what comes") && shown.contains("[redacted]"));
    }
    // Without a rule the page has it all, as what it means.
    let page = home.run(&["export", &session, "--format", "html"]).ends_with(0).stdout;
    assert!(page.contains("<strong>rE</strong>") && page.contains("<td>sEcrEt99</td>"), "{page}");
}
