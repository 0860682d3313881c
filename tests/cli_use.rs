//! How the program is used: names, places, errors, exit codes, the lock, the modes of files, the demo.

#![cfg(feature = "cli")]

mod cli_support;

use std::process::Command;

use cli_support::{Home, assistant, call, keys, result, run, user};
use serde_json::json;
use seslog::session::{Session, SessionOptions};

#[test]
fn the_demo_finds_all_that_was_acknowledged() {
    let home = Home::new();
    let mut command = home.command(&["demo", "--json"]);
    command.env("TMPDIR", home.path());
    let demo = run(command, "").ends_with(0).json();
    assert_eq!(keys(&demo), "kills model passed payload version");
    assert_eq!(demo["passed"], true);
    let (first, second) = (&demo["kills"][0], &demo["kills"][1]);
    assert_eq!(keys(first), "acknowledged closedCalls found missing report");
    assert_eq!(first["acknowledged"], first["found"]);
    let call = &first["report"]["danglingCalls"][0];
    assert_eq!((&call["callId"], &call["state"]), (&json!("call_2"), &json!("startedOutcomeUnknown")));
    assert_eq!(first["closedCalls"].as_array().unwrap().len(), 1);
    assert_eq!(second["report"]["danglingCalls"], json!([]));
    assert_eq!(second["report"]["lastTurnInterrupted"], true);
    assert!(second["report"]["boundary"].is_string());
    assert_eq!(demo["model"].as_array().unwrap().len(), 3);
    assert!(demo["payload"]["bytes"].as_u64().unwrap() > 100);
    let mut command = home.command(&["demo"]);
    command.env("TMPDIR", home.path());
    let human = run(command, "").ends_with(0).stdout;
    assert!(human.contains("every acknowledged event was found"), "{human}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn wrong_use_is_told_with_exit_code_2() {
    let home = Home::new();
    for args in [&["show"][..], &["nonsense"], &["list", "--color", "pink"], &[], &["rewind", "x"]] {
        let ran = home.run(args).ends_with(2);
        assert!(ran.stdout.is_empty() && !ran.stderr.is_empty(), "{args:?}: {ran:?}");
    }
    let ran = home.run(&["show", "--json"]).ends_with(2);
    let document = ran.json();
    assert_eq!(keys(&document), "error version");
    assert_eq!(document["error"]["code"], "usage");
    for args in [&["--help"][..], &["--version"], &["append", "--help"], &["help", "verify"]] {
        let ran = home.run(args).ends_with(0);
        assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{args:?}: {ran:?}");
    }
    let help = home.run(&["--help"]).stdout;
    assert!(help.contains("Examples:") && help.contains("Exit codes:") && !help.contains("demo-agent"), "{help}");
}

#[test]
fn an_error_is_one_line_and_with_json_a_document_too() {
    let home = Home::new();
    let ran = home.run(&["show", "0192", "--json"]).ends_with(1);
    assert_eq!(keys(&ran.json()), "error version");
    assert_eq!(keys(&ran.json()["error"]), "code message");
    assert_eq!((&ran.json()["version"], &ran.json()["error"]["code"]), (&json!(1), &json!("noSuchSession")));
    assert!(ran.stderr.starts_with("seslog: ") && ran.stderr.trim_end().lines().count() == 1, "{ran:?}");
    assert!(ran.stderr.contains("`seslog import --all`"), "the cure is named: {ran:?}");
    let ran = home.run(&["show", "0192"]).ends_with(1);
    assert_eq!(ran.stdout, "");
}

#[test]
fn a_session_that_is_not_there_is_never_made() {
    let home = Home::new();
    for args in [
        &["show", "0192"][..],
        &["append", "0192"],
        &["resume", "./x.seslog"],
        &["rewind", "0192", "--to-start"],
        &["meta", "x.seslog", "--title", "x"],
        &["fork", "0192", "--at", "x"],
        &["verify", "nothing"],
        &["import", "--session", "nothing", "-", "--format", "events"],
    ] {
        home.run(args).ends_with(1);
    }
    assert!(!home.store().exists() && std::fs::read_dir(home.path()).unwrap().count() == 0);
}

#[test]
fn sessions_are_named_by_id_unique_beginning_or_path() {
    let home = Home::new();
    let lines = |id: &str| format!("{}\n{}", json!({"type": "session", "id": id}), user("m1", "x"));
    let (one, two) = ("aaaa0001-0000-4000-8000-000000000001", "aaaa0002-0000-4000-8000-000000000002");
    home.run_with(&["import", "-"], &lines(one)).ends_with(0);
    home.run_with(&["import", "-"], &lines(two)).ends_with(0);
    let is =
        |name: &str, id: &str| assert_eq!(home.run(&["resume", name, "--json"]).ends_with(0).json()["session"], id);
    is(one, one);
    is("AAAA0001", one);
    is("aaaa0002-0000", two);
    is(home.file(two).to_str().unwrap(), two);
    let ran = home.run(&["resume", "aaaa", "--json"]).ends_with(2);
    assert_eq!(ran.json()["error"]["code"], "ambiguousSession");
    assert!(ran.stderr.contains(one) && ran.stderr.contains(two), "{ran:?}");
}

#[test]
fn the_store_is_where_the_user_says() {
    let home = Home::new();
    let store_of = |command: Command| run(command, "").ends_with(0).json()["store"].as_str().unwrap().to_owned();
    let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(store_of(home.command(&["list", "--json", "--store", &at("given")])), at("given"));
    assert_eq!(store_of(home.command(&["list", "--json"])), at("store"));
    let mut command = home.command(&["list", "--json"]);
    command.env_remove("SESLOG_HOME");
    if cfg!(unix) {
        assert_eq!(store_of(command), at("data/seslog"));
        let mut command = home.command(&["list", "--json"]);
        command.env_remove("SESLOG_HOME").env_remove("XDG_DATA_HOME");
        assert_eq!(store_of(command), at(".local/share/seslog"));
    }
}

#[test]
fn a_session_that_another_process_writes_is_refused_at_once_and_can_be_read() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "one")]);
    let writer = Session::open(&home.file(&session), SessionOptions::default()).unwrap();
    let ran = home.run_with(&["append", &session, "--json"], &user("m2", "two")).ends_with(3);
    assert_eq!(ran.json()["error"]["code"], "locked");
    let own = format!("process {} writes `", std::process::id());
    assert!(ran.stderr.contains(&own) || ran.stderr.contains("another process writes `"), "{ran:?}");
    home.run(&["rewind", &session, "--to-start"]).ends_with(3);
    home.run(&["show", &session]).ends_with(0);
    home.run(&["resume", &session]).ends_with(0);
    home.run(&["list"]).ends_with(0);
    writer.close().unwrap();
    home.run_with(&["append", &session], &user("m2", "two")).ends_with(0);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_reach_what_is_made_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let mut command = Command::new("sh");
    command.args(["-c", r#"umask 000; exec "$0" append --new"#, env!("CARGO_BIN_EXE_seslog")]);
    home.at_home(&mut command);
    command.env_remove("SESLOG_HOME");
    let ran = run(command, &user("m1", "secret")).ends_with(0);
    let session = ran.json_lines()[0]["session"].as_str().unwrap().to_owned();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let store = home.path().join("data/seslog");
    assert_eq!((mode(&home.path().join("data")), mode(&store)), (0o700, 0o700));
    for entry in std::fs::read_dir(&store).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    // A file that came to be wider is warned of.
    let file = store.join(format!("{session}.seslog"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = home.run(&["show", file.to_str().unwrap()]).ends_with(0);
    assert!(ran.stderr.contains("mode 644") && ran.stderr.contains("chmod 600"), "{ran:?}");
}

#[test]
fn a_change_is_one_event_with_its_receipt() {
    let home = Home::new();
    let session =
        home.session(&[&user("m1", "one"), &call("m2", "c1"), &result("m3", "c1", "listing"), &assistant("m4", "two")]);
    let model = || {
        let shown = home.run(&["show", &session, "--view", "model", "--json"]).ends_with(0).json();
        let first = |m: &serde_json::Value| m["originalIds"][0].as_str().unwrap_or("new").to_owned();
        shown["messages"].as_array().unwrap().iter().map(first).collect::<Vec<_>>()
    };
    let changed = home.run(&["prune", &session, "--target", "m3", "--json"]).ends_with(0).json();
    assert_eq!(keys(&changed), "changed durable id known session version");
    assert_eq!(
        (&changed["durable"], &changed["known"], &changed["session"]),
        (&json!(true), &json!(false), &json!(session))
    );
    let shown = home.run(&["show", &session, "--view", "model"]).stdout;
    assert!(!shown.contains("listing"), "{shown}");
    home.run(&["tombstone", &session, "--target", "m4", "--reason", "wrong window"]).ends_with(0);
    assert_eq!(model(), ["m1", "m2", "m3"]);
    home.run(&["rewind", &session, "--to", "m1"]).ends_with(0);
    assert_eq!(model(), ["m1"]);
    home.run(&["rewind", &session, "--to-start"]).ends_with(0);
    assert_eq!(model(), [""; 0]);
    home.run(&["rewind", &session, "--to", "m3"]).ends_with(0);
    let done = home.run(&["compact", &session, "--summary", "so far", "--keep", "m3", "--json"]).ends_with(0).json();
    assert_eq!(keys(&done), "boundary changed durable kept keptToo session summary version");
    assert_eq!((done["kept"].as_array().unwrap().len(), done["keptToo"].as_array().unwrap().len()), (2, 1));
    assert_eq!(model(), ["new", "m2", "m3"]);
    home.run(&["compact", &session, "--summary", " "]).ends_with(2);
    home.run(&["compact", &session, "--summary", "x", "--keep-from", "m1"]).ends_with(2);
    home.run(&["meta", &session]).ends_with(2);
    home.run(&["meta", &session, "--title", "T"]).ends_with(0);
    home.run(&["meta", &session, "--title", ""]).ends_with(0);
    assert_eq!(home.run(&["list", "--json"]).json()["sessions"][0]["title"], json!(null));
}

#[test]
fn events_are_named_by_id_unique_beginning_or_original_id() {
    let home = Home::new();
    let (one, two) = ("aaaa0001-0000-4000-8000-000000000001", "aaaa0002-0000-4000-8000-000000000002");
    let session = home.session(&[&user(one, "one"), &user(two, "two"), &user("mine", "three")]);
    for name in [one, "aaaa0001", "AAAA0002", "mine"] {
        home.run(&["rewind", &session, "--to", name]).ends_with(0);
    }
    let ran = home.run(&["rewind", &session, "--to", "aaaa", "--json"]).ends_with(2);
    assert_eq!(ran.json()["error"]["code"], "ambiguousEvent");
    let ran = home.run(&["rewind", &session, "--to", "bbbb", "--json"]).ends_with(1);
    assert_eq!(ran.json()["error"]["code"], "noSuchEvent");
}

#[test]
fn a_summary_comes_from_the_command_line_a_file_or_standard_input_and_is_never_empty() {
    let home = Home::new();
    let line = r#"{"type":"message","role":"user","kind":"user_input","content":"hello"}"#;
    let file = home.write("summary.txt", "so far\n");
    for (args, stdin) in
        [(["--summary", "so far"], ""), (["--summary-file", file.as_str()], ""), (["--summary-file", "-"], "so far\n")]
    {
        let id = home.session(&[line]);
        home.run_with(&[&["compact", &id], &args[..]].concat(), stdin).ends_with(0);
        let model = home.run(&["show", &id, "--view", "model"]).ends_with(0).stdout;
        assert!(model.contains("so far") && !model.contains("hello"), "{model}");
    }
    let id = home.session(&[line]);
    home.run_with(&["compact", &id, "--summary-file", "-"], " \n").ends_with(2);
    home.run(&["compact", &id, "--summary-file", "missing.txt"]).ends_with(1);
    home.run(&["compact", &id]).ends_with(2);
    home.run(&["compact", &id, "--summary", "a", "--summary-file", &file]).ends_with(2);
}
