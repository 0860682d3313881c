//! `seslog redact`, `vacuum` and `scan-secrets`, as a person and a program use them.

mod cli_support;

use cli_support::{Home, assistant, call, keys, result, user};

const SECRET: &str = "s3cr3t-K3Y-0123456789";

/// Made here, so that no scanner takes this file for one with a key.
fn token() -> String {
    format!("gh{}_{}", 'p', "q7Zt3KmX9vRb2LwYc8NfJ5hGd4SxP6uA1eTk")
}

fn holds(home: &Home, session: &str, text: &str) -> bool {
    let bytes = std::fs::read(home.file(session)).unwrap();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn talk() -> (Home, String) {
    let home = Home::new();
    let said = format!("use key {SECRET}");
    let session =
        home.session(&[&user("u1", &said), &assistant("a1", "fine"), &call("c", "c1"), &result("r", "c1", SECRET)]);
    (home, session)
}

#[test]
fn a_text_is_taken_out_for_good_and_the_rest_is_as_it_was() {
    let (home, session) = talk();
    let before = home.run(&["show", &session, "--json"]).ends_with(0).json();
    let dry = home.run(&["redact", &session[..8], "--literal", SECRET, "--dry-run"]).ends_with(0);
    assert!(dry.stdout.contains("would change 2 of 4 events, 2 matches"), "{dry:?}");
    assert!(holds(&home, &session, SECRET));

    let ran = home.run(&["redact", &session, "--literal", SECRET]).ends_with(0);
    assert!(ran.stdout.contains("changed    2 of 4 events, 2 matches"), "{ran:?}");
    assert!(!holds(&home, &session, SECRET) && !ran.stdout.contains(SECRET));
    let after = home.run(&["show", &session, "--json"]).ends_with(0).json();
    let expected = before["messages"].to_string().replace(SECRET, "[redacted]");
    assert_eq!(after["messages"].to_string(), expected);
    home.run(&["verify", &session]).ends_with(0);

    let again = home.run(&["redact", &session, "--literal", SECRET]).ends_with(1);
    assert!(again.stderr.contains("nothing matched; the session is as it was"), "{again:?}");
}

#[test]
fn a_pattern_and_an_event_and_their_report_for_programs() {
    let (home, session) = talk();
    let ran =
        home.run(&["redact", &session, "--pattern", "s3cr3t-[A-Z0-9a-z-]+", "--event", "a1", "--json"]).ends_with(0);
    let json = ran.json();
    let expected = "bytesAfter bytesBefore cacheLeft changed dryRun elsewhere events left matches mediaDropped oldFileNamed path \
                    rewritten sealed session signaturesDropped version";
    assert_eq!(keys(&json), expected);
    assert_eq!((&json["matches"], &json["events"], &json["rewritten"]), (&2.into(), &4.into(), &true.into()));
    assert_eq!(json["changed"].as_array().unwrap().len(), 3);
    let shown = home.run(&["show", &session]).ends_with(0);
    assert!(!shown.stdout.contains("fine") && !shown.stdout.contains(SECRET), "{shown:?}");
    let nothing = home.run(&["redact", &session, "--event", "a1", "--json"]).ends_with(1).json();
    assert_eq!((&nothing["rewritten"], &nothing["version"]), (&false.into(), &1.into()));
}

#[test]
fn what_stays_is_told_on_standard_error() {
    let (home, session) = talk();
    let fork = home.run(&["fork", &session, "--at", "r", "--json"]).ends_with(0).json();
    let fork = fork["session"].as_str().or(fork["id"].as_str()).unwrap().to_owned();
    let ran = home.run(&["redact", &session, "--literal", SECRET, "--literal", "c1"]).ends_with(1);
    assert!(ran.stderr.contains(&format!("session {fork} shares events with this one")), "{ran:?}");
    assert!(ran.stderr.contains("1 match in `call_id` stays, since other things hang on it"), "{ran:?}");
    assert!(holds(&home, &fork, SECRET));
}

#[test]
fn wrong_use_says_what_to_do() {
    let (home, session) = talk();
    for (args, code, told) in [
        (vec!["redact", &session], 2, "give --pattern, --literal or --event"),
        (vec!["redact", &session, "--pattern", "("], 2, "`(` is no regular expression"),
        (vec!["redact", &session, "--literal", ""], 2, "give the text that is to go"),
        (vec!["redact", &session, "--event", "nobody"], 1, "no event `nobody` in this session"),
        (vec!["redact", "ffff", "--literal", "x"], 1, "no session `ffff`"),
        (vec!["vacuum", "ffff"], 1, "no session `ffff`"),
        (vec!["scan-secrets", "ffff"], 1, "no session `ffff`"),
    ] {
        let ran = home.run(&args).ends_with(code);
        assert!(ran.stderr.contains(told), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_session_that_is_being_written_and_a_damaged_one_are_refused() {
    let (home, session) = talk();
    let writer = seslog::session::Session::open(&home.file(&session), Default::default()).unwrap();
    let ran = home.run(&["redact", &session, "--literal", SECRET, "--json"]).ends_with(3);
    assert_eq!(ran.json()["error"]["code"], "locked");
    home.run(&["redact", &session, "--literal", SECRET, "--dry-run"]).ends_with(0);
    writer.close().unwrap();
    let mut bytes = std::fs::read(home.file(&session)).unwrap();
    bytes[4096 + 300] ^= 1;
    std::fs::write(home.file(&session), bytes).unwrap();
    for args in [vec!["redact", &session, "--literal", SECRET], vec!["vacuum", &session]] {
        let ran = home.run(&args).ends_with(1);
        assert!(ran.stderr.contains("salvage"), "{ran:?}");
    }
}

#[test]
fn a_vacuum_takes_out_what_was_taken_back() {
    let (home, session) = talk();
    home.run(&["tombstone", &session, "--target", "u1", "--target", "r"]).ends_with(0);
    home.run(&["vacuum", &session]).ends_with(0);
    assert!(holds(&home, &session, SECRET), "it was not asked for");
    let before = home.run(&["show", &session, "--json"]).ends_with(0).json();
    let ran = home.run(&["vacuum", &session, "--tombstoned", "--json"]).ends_with(0).json();
    assert_eq!(ran["changed"].as_array().unwrap().len(), 2);
    assert!(!holds(&home, &session, SECRET));
    let after = home.run(&["show", &session, "--json"]).ends_with(0).json();
    assert_eq!(before["messages"], after["messages"]);
    let again = home.run(&["vacuum", &session, "--tombstoned"]).ends_with(0);
    assert!(again.stderr.contains("nothing to leave out; the session is as it was"), "{again:?}");
}

#[test]
fn secrets_are_pointed_at_and_never_shown_and_the_command_that_is_named_takes_them_out() {
    let home = Home::new();
    let (token, password) = (token(), "hunter2andmore");
    let pem =
        format!("-----BEGIN {k}-----\\n{}\\n-----END {k}-----", "QUJDq7Zt3KmX9vRb2LwYc8NfJ5hGd4Sx", k = "PRIVATE KEY");
    let session = home.session(&[
        &user("u1", &format!("my token is {token}, keep it")),
        &user("u2", &format!("postgres://me:{password}@db/x and {pem} and {token}")),
        &assistant("a1", "nothing here: sk-xxxxxxxxxxxxxxxxxxxxxxxx"),
    ]);
    let clean = home.session(&[&user("u1", "nothing to see")]);
    let ran = home.run(&["scan-secrets"]).ends_with(1);
    for secret in [token.as_str(), password, &pem, &token[..10]] {
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran:?}");
    }
    assert!(ran.stdout.contains("GitHub token: ghp_…Tk (40 characters) in content[0].text"), "{ran:?}");

    let json = home.run(&["scan-secrets", "--json"]).ends_with(1).json();
    assert_eq!(keys(&json), "found sessions unread version");
    assert_eq!(keys(&json["found"][0]), "command event field kind length session shown");
    let kinds: Vec<&str> =
        json["found"].as_array().unwrap().iter().map(|found| found["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["GitHub token", "password in a URL", "private key", "GitHub token"]);
    assert!(json["found"].as_array().unwrap().iter().all(|found| found["session"] == session.as_str()));
    home.run(&["scan-secrets", &clean]).ends_with(0);

    for found in json["found"].as_array().unwrap() {
        // As a shell takes it apart: the pattern stands in quotes.
        let command = found["command"].as_str().unwrap();
        let (start, pattern) = command.split_once(" '").unwrap();
        let mut args: Vec<&str> = start.split(' ').skip(1).collect();
        args.push(pattern.trim_end_matches('\''));
        let ran = home.run(&args);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    }
    for secret in [token.as_str(), password, "QUJDq7Zt"] {
        assert!(!holds(&home, &session, secret), "{secret}");
    }
    let ran = home.run(&["scan-secrets"]).ends_with(0);
    assert!(ran.stderr.contains("nothing that looks like a secret in 2 sessions"), "{ran:?}");
}

#[test]
fn a_session_that_can_not_be_read_stops_no_scan_and_is_told() {
    let (home, session) = talk();
    home.write("store/0193a000-0000-7000-8000-000000000001.seslog", "no session");
    let other = home.session(&[&user("u1", &token())]);
    let ran = home.run(&["scan-secrets", "--json"]).ends_with(1);
    assert_eq!(ran.json()["unread"].as_array().unwrap().len(), 1);
    assert_eq!(ran.json()["found"][0]["session"], other.as_str());
    assert!(ran.stderr.contains("0193a000-0000-7000-8000-000000000001"), "{ran:?}");
    drop(session);
}

/// A session with a secret in every place that an export shows: title, folder, call, result, another branch.
fn to_export() -> (Home, String) {
    let home = Home::new();
    let meta = format!(r#"{{"type":"meta","title":"about {SECRET}","cwd":"/home/{SECRET}"}}"#);
    let input = format!(
        r#"{{"type":"message","id":"c","role":"assistant","kind":"tool_call","content":[
        {{"type":"tool_call","id":"c1","name":"run","input":{{"{SECRET}":"{SECRET}"}}}}]}}"#
    );
    let branch = format!(
        r#"{{"type":"message","id":"b","parentId":"u1","role":"user","kind":"user_input","content":"or {SECRET}"}}"#
    );
    let lines = [
        meta,
        user("u1", &format!("use {SECRET}")),
        branch,
        input.replace('\n', ""),
        result("r", "c1", &format!("\"{SECRET}\"")),
    ];
    let session = home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    (home, session)
}

#[test]
fn an_export_leaves_out_what_matches_in_every_format_and_place() {
    let (home, session) = to_export();
    for format in ["jsonl", "markdown", "html"] {
        let whole = home.run(&["export", &session, "--format", format]).ends_with(0);
        assert!(whole.stdout.matches(SECRET).count() > 3, "{whole:?}");
        let ran = home
            .run(&["export", &session, "--format", format, "--redact", "s3cr3t-[A-Z0-9-]+[a-z]?[0-9-]*"])
            .ends_with(0);
        assert!(!ran.stdout.contains("s3cr3t") && ran.stdout.contains("[redacted]"), "{ran:?}");
        assert_eq!(ran.stderr, "", "it was met, and nothing is left");
        let file = home.path().join(format!("out.{format}"));
        let into = file.to_str().unwrap();
        let ran = home.run(&["export", &session, "--format", format, "--redact", SECRET, "-o", into]).ends_with(0);
        assert!(!std::fs::read_to_string(&file).unwrap().contains(SECRET), "{ran:?}");
    }
    assert!(holds(&home, &session, SECRET), "the session is as it was");
}

#[test]
fn what_was_exported_without_a_secret_is_imported_like_any_other() {
    let (home, session) = to_export();
    let lines = home.run(&["export", &session, "--redact", SECRET]).ends_with(0).stdout;
    let elsewhere = home.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    home.run_with(&["--store", elsewhere, "import", "-"], &lines).ends_with(0);
    let shown = home.run(&["--store", elsewhere, "show", &session, "--json"]).ends_with(0).json();
    let before = home.run(&["show", &session, "--json"]).ends_with(0).json();
    assert_eq!(shown["messages"].to_string(), before["messages"].to_string().replace(SECRET, "[redacted]"));
}

#[test]
fn a_redaction_that_takes_nothing_out_says_so() {
    let (home, session) = to_export();
    for format in ["jsonl", "markdown", "html"] {
        let args =
            ["export", &session, "--format", format, "--redact", SECRET, "--redact", "nowhere", "--redact", "x*"];
        let ran = home.run(&args).ends_with(0);
        assert!(ran.stderr.contains("--redact `nowh…` matches nothing here"), "{ran:?}");
        assert!(ran.stderr.contains("--redact `x*` matches nothing here"), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
    }
    let args = ["show", &session, "--view", "export", "--redact", SECRET, "--redact", "nowhere"];
    let ran = home.run(&args).ends_with(0);
    assert!(!ran.stdout.contains(SECRET) && ran.stderr.contains("--redact `nowh…` matches nothing here"), "{ran:?}");
    assert!(!ran.stderr.contains("s3cr"), "{ran:?}");
    let refused = home.run(&["export", &session, "--redact", "("]).ends_with(2);
    assert!(refused.stderr.contains("`(` is no regular expression"), "{refused:?}");
}

#[test]
fn json_lines_keep_a_match_in_an_id_and_say_so() {
    let (home, session) = to_export();
    let ran = home.run(&["export", &session, "--redact", "c1"]).ends_with(0);
    assert!(ran.stdout.contains(r#""callId":"c1""#) && ran.stderr.contains("2 matches stay, in ids"), "{ran:?}");
}
