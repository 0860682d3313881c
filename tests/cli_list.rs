//! What the commands around a list do: list, title, stat, doctor, delete; and that a command which changes nothing says so.

mod cli_support;

use std::time::{Duration, SystemTime};

use cli_support::{Home, Ran, assistant, call, keys, user};
use serde_json::{Value, json};

/// A message of a person at this time, in seconds since the epoch.
fn said_at(id: &str, seconds: i64, text: &str) -> String {
    json!({"type": "message", "id": id, "at": seconds * 1_000_000, "role": "user", "kind": "user_input", "content": text}).to_string()
}

fn rows(ran: &Ran) -> Vec<Vec<String>> {
    ran.stdout.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

fn ids(listed: &Value) -> Vec<String> {
    let sessions = listed["sessions"].as_array().unwrap();
    sessions.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_counts_messages_and_branches_and_shows_what_was_said_first() {
    let home = Home::new();
    let session = home.session(&[&user("m1", "sow the\n beans"), &assistant("m2", "two"), &user("m3", "three")]);
    home.run(&["rewind", &session, "--to", "m1"]).ends_with(0);
    home.run_with(&["append", &session], &user("m4", "another way")).ends_with(0);
    let row = &home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0];
    assert_eq!((&row["messages"], &row["branches"], &row["state"]), (&json!(4), &json!(2), &json!("clean")));
    assert_eq!((&row["firstWords"], &row["title"]), (&json!("sow the beans"), &Value::Null));
    home.run(&["tombstone", &session, "--target", "m4"]).ends_with(0);
    let row = &home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0];
    assert_eq!((&row["messages"], &row["branches"]), (&json!(3), &json!(1)));
    // Elsewhere than on a terminal: tabs, whole ids, always the same fields.
    let ran = home.run(&["list"]).ends_with(0);
    assert!(ran.stdout.starts_with("ID\tLAST\tSTATE\tMESSAGES\tBRANCHES\tBYTES\tAGENT\tMODEL\tBEGAN\tFOLDER\tTITLE"));
    let row = &rows(&ran)[0];
    assert_eq!((&row[0], &row[2][..], &row[3][..], &row[10][..]), (&session, "clean", "3", "“sow the beans”"));
}

#[test]
fn a_list_is_in_the_order_of_last_events_not_of_writing_and_in_local_time() {
    let home = Home::new();
    let old = home.session(&[&said_at("a", 1_740_871_800, "long ago")]);
    let new = home.session(&[&said_at("b", 1_772_366_400, "lately")]);
    let older = home.session(&[&said_at("c", 1_709_294_400, "written last")]);
    let order = [new.clone(), old.clone(), older.clone()];
    assert_eq!(ids(&home.run(&["list", "--json"]).ends_with(0).json()), order);
    let mut command = home.command(&["list"]);
    // A zone by its rule: a machine need not have a table of names.
    command.env("TZ", "JST-9");
    let listed = cli_support::run(command, "").ends_with(0);
    assert_eq!(rows(&listed)[1][1], "2025-03-02 08:30:00");
    let only = |args: &[&str]| ids(&home.run(&[&["list", "--json"], args].concat()).ends_with(0).json());
    assert_eq!(only(&["--since", "2025-01-01"]), order[..2]);
    assert_eq!(only(&["--until", "2025-06-01T00:00:00Z"]), order[1..]);
    assert_eq!(only(&["--since", "2025-01-01", "--until", "2025-12-31"]), order[1..2]);
    assert_eq!(only(&["--since", "1d"]), Vec::<String>::new());
    assert_eq!(only(&["--until", "2025-12-31", "-n", "1"]), order[1..2]);
    let refused = home.run(&["list", "--since", "soon"]).ends_with(2);
    assert!(refused.stderr.contains("`soon` is no time"), "{refused:?}");
}

/// Times of a zone that was given by its name were those of UTC.
#[cfg(unix)]
#[test]
fn a_zone_by_its_name_is_the_local_time() {
    let home = Home::new();
    let session = home.session(&[&said_at("a", 1_740_871_800, "in winter"), &said_at("b", 1_751_326_200, "in summer")]);
    let zones = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/zoneinfo");
    for zone in ["Europe/Berlin", ":Europe/Berlin"] {
        let run = |args: &[&str]| {
            let mut command = home.command(args);
            command.env("TZ", zone).env("TZDIR", zones);
            cli_support::run(command, "")
        };
        assert_eq!(rows(&run(&["list"]).ends_with(0))[0][1], "2025-07-01 01:30:00", "{zone}");
        let shown = run(&["show", &session]).ends_with(0).stdout;
        assert!(shown.contains("2025-03-02 00:30:00") && shown.contains("2025-07-01 01:30:00"), "{zone}: {shown}");
        let only = |args: &[&str]| ids(&run(&[&["list", "--json"], args].concat()).json()).len();
        assert_eq!((only(&["--since", "2025-07-01"]), only(&["--since", "2025-07-02"])), (1, 0), "{zone}");
    }
}

#[test]
fn a_list_is_filtered_by_folder_agent_model_and_words() {
    let home = Home::new();
    let one = home.session(&[&user("a", "prune the Roses")]);
    home.run(&["meta", &one, "--cwd", "/home/garden/beds", "--agent", "Gardener", "--model", "m-large"]).ends_with(0);
    let two = home.session(&[&user("b", "mend the roof")]);
    home.run(&["meta", &two, "--cwd", "/home/gardenhouse", "--title", "Roof", "--tag", "roses"]).ends_with(0);
    let only = |args: &[&str]| ids(&home.run(&[&["list", "--json"], args].concat()).ends_with(0).json());
    assert_eq!(only(&["--cwd", "/home/garden"]), std::slice::from_ref(&one));
    assert_eq!(only(&["--agent", "garden"]), std::slice::from_ref(&one));
    assert_eq!(only(&["--model", "LARGE"]), std::slice::from_ref(&one));
    assert_eq!(only(&["--text", "roses"]).len(), 2);
    assert_eq!(only(&["--text", "roof"]), [two]);
    let none = home.run(&["list", "--text", "nobody said this"]).ends_with(0);
    assert!(none.stdout.is_empty() && none.stderr.contains("none of the 2 sessions"), "{none:?}");
    let none = home.run(&["list", "-n", "0"]).ends_with(0);
    assert!(none.stdout.is_empty() && none.stderr.contains("-n 0"), "{none:?}");
}

#[test]
fn an_empty_store_and_an_empty_session_say_so_and_what_to_do() {
    let home = Home::new();
    let ran = home.run(&["list"]).ends_with(0);
    assert!(ran.stderr.contains("seslog import --all") && ran.stderr.contains("seslog demo"), "{ran:?}");
    let session = home.session(&[&user("a", "x")]);
    home.run(&["tombstone", &session, "--target", "a"]).ends_with(0);
    assert_eq!(rows(&home.run(&["list"]).ends_with(0))[0][10], "(empty)");
    let payload = home.run(&["payload", &session, "--provider", "anthropic"]).ends_with(1);
    assert!(payload.stderr.contains("no message to send"), "{payload:?}");
    assert!(home.run(&["show", &session, "--view", "model"]).ends_with(0).stderr.contains("no messages yet"));
}

#[test]
fn a_fork_without_a_title_shows_its_parents() {
    let home = Home::new();
    let parent = home.session(&[&user("a", "one"), &assistant("b", "two")]);
    let fork = home.run(&["fork", &parent, "--at", "b", "--json"]).ends_with(0).json();
    home.run(&["title", &parent, "Roses"]).ends_with(0);
    let listed = home.run(&["list"]).ends_with(0);
    let row = rows(&listed).into_iter().find(|row| row[0] == fork["session"].as_str().unwrap()).unwrap();
    assert_eq!(row[10], "Roses (fork)");
    // A fork made now has it for its own.
    let fork = home.run(&["fork", &parent, "--at", "b", "--json"]).ends_with(0).json();
    assert_eq!(home.run(&["title", fork["session"].as_str().unwrap()]).ends_with(0).stdout, "Roses\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_is_written_is_open_and_is_not_deleted() {
    let home = Home::new();
    let session = home.session(&[&user("a", "one")]);
    let held = seslog::session::Session::open(&home.file(&session), Default::default()).unwrap();
    let row = &home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0];
    assert_eq!((&row["state"], &row["open"]), (&json!("open"), &json!("clean")));
    let refused = home.run(&["delete", &session, "--yes"]).ends_with(3);
    assert!(refused.stderr.contains("end it first"), "{refused:?}");
    let noted = home.run(&["doctor", "--json"]).ends_with(0).json();
    assert_eq!((&noted["findings"][0]["code"], &noted["openFaults"]), (&json!("open"), &json!(0)));
    drop(held);
    home.run(&["delete", &session, "--yes"]).ends_with(0);
}

#[test]
fn a_title_is_shown_set_and_taken_away_and_the_rest_stays() {
    let home = Home::new();
    let session = home.session(&[&user("a", "one")]);
    assert!(home.run(&["title", &session]).ends_with(0).stderr.contains("it has no title"));
    home.run(&["meta", &session, "--tag", "x", "--cwd", "/y"]).ends_with(0);
    let set = home.run(&["title", &session, "Two", "\u{1b}[31mwords", "--json"]).ends_with(0).json();
    assert_eq!((&set["changed"], &set["durable"]), (&json!(true), &json!(true)));
    assert!(!home.run(&["title", &session]).ends_with(0).stdout.contains('\u{1b}'));
    let again = home.run(&["title", &session, "Two \u{1b}[31mwords", "--json"]).ends_with(0).json();
    assert_eq!((&again["changed"], &again["id"]), (&json!(false), &Value::Null));
    let row = &home.run(&["list", "--json"]).ends_with(0).json()["sessions"][0];
    assert_eq!((&row["tags"], &row["cwd"]), (&json!(["x"]), &json!("/y")));
    home.run(&["title", &session, "--clear"]).ends_with(0);
    assert!(home.run(&["title", &session, "--clear"]).ends_with(0).stdout.starts_with("nothing to do"));
    assert_eq!(home.run(&["title", &session, "--json"]).ends_with(0).json()["title"], Value::Null);
}

#[test]
fn a_change_that_changes_nothing_says_so_and_writes_nothing() {
    let home = Home::new();
    let result = json!({"type": "message", "id": "r", "role": "tool", "kind": "tool_result", "content": [
        {"type": "tool_result", "callId": "c", "output": "x", "isError": false}]});
    let session = home.session(&[&user("a", "one"), &call("b", "c"), &result.to_string(), &user("d", "two")]);
    let twice = |args: &[&str], says: &str| {
        home.run(args).ends_with(0);
        let before = std::fs::read(home.file(&session)).unwrap();
        let again = home.run(args).ends_with(0);
        assert!(again.stdout.starts_with("nothing to do: ") && again.stdout.contains(says), "{args:?}: {again:?}");
        let json = home.run(&[args, &["--json"]].concat()).ends_with(0).json();
        assert_eq!((&json["changed"], &json["id"]), (&json!(false), &Value::Null), "{args:?}");
        assert!(json["reason"].as_str().unwrap().contains(says));
        assert_eq!(std::fs::read(home.file(&session)).unwrap(), before, "{args:?}");
    };
    twice(&["prune", &session, "--target", "r"], "is pruned already");
    twice(&["tombstone", &session, "--target", "d"], "taken back already");
    twice(&["rewind", &session, "--to", "a"], "is the current leaf");
    twice(&["rewind", &session, "--to-start"], "at the start");
    let nothing = home.run(&["prune", &session, "--target", "a", "--json"]).ends_with(0).json();
    assert!(nothing["reason"].as_str().unwrap().contains("holds no results"));
    let nothing = home.run(&["compact", &session, "--summary", "s", "--json"]).ends_with(0).json();
    assert_eq!(nothing["changed"], false);
    home.run(&["rewind", &session, "--to", "r"]).ends_with(0);
    home.run(&["compact", &session, "--summary", "s"]).ends_with(0);
    let refused = home.run(&["compact", &session, "--summary", "t", "--keep-from", "a"]).ends_with(2);
    assert!(refused.stderr.contains("before the latest compaction"), "{refused:?}");
}

#[test]
fn stat_counts_by_kind_role_tool_and_model_each_request_once() {
    let home = Home::new();
    let said = |id: &str, seconds: i64, tokens: u64| {
        json!({"type": "message", "id": id, "at": seconds * 1_000_000, "role": "assistant", "kind": "assistant_text", "content": "x",
            "model": "m1", "requestId": "q", "usage": {"input": 100, "output": tokens}})
        .to_string()
    };
    let call = json!({"type": "message", "id": "c", "at": 1_767_225_720_000_000_i64, "role": "assistant", "kind": "tool_call",
        "content": [{"type": "tool_call", "id": "k", "name": "run", "input": {}}]});
    let result = json!({"type": "message", "id": "r", "at": 1_767_225_723_000_000_i64, "role": "tool", "kind": "tool_result",
        "content": [{"type": "tool_result", "callId": "k", "output": "four", "isError": true}]});
    let session = home.session(&[
        &said_at("u", 1_767_225_600, "go"),
        &said("a1", 1_767_225_660, 5),
        &said("a2", 1_767_225_690, 7),
        &call.to_string(),
        &result.to_string(),
        &said_at("v", 1_767_229_200, "an hour later"),
    ]);
    let stat = home.run(&["stat", &session, "--json"]).ends_with(0).json();
    assert_eq!(
        keys(&stat),
        "activeSeconds branches bytes compactions firstAt forks kinds lastAt messages models roles session sessions takenBack tokens \
         tools unread version"
    );
    let size = std::fs::metadata(home.file(&session)).unwrap().len();
    let kinds = stat["kinds"].as_object().unwrap();
    let bytes: u64 = kinds.values().map(|kind| kind["bytes"].as_u64().unwrap()).sum();
    assert_eq!((stat["bytes"].as_u64(), bytes), (Some(size), size), "every byte belongs to a kind");
    assert_eq!(stat["roles"], json!({"assistant": 3, "tool": 1, "user": 2}));
    let tool = json!({"calls": 1, "results": 1, "errors": 1, "resultBytes": 4, "seconds": 3.0, "timed": 1});
    assert_eq!(stat["tools"], json!({"run": tool}));
    let tokens = &stat["tokens"];
    assert_eq!((&tokens["requests"], &tokens["input"], &tokens["output"]), (&json!(1), &json!(100), &json!(7)));
    assert_eq!(stat["models"], json!({"m1": {"messages": 2, "input": 100, "output": 7}}));
    assert_eq!((&stat["activeSeconds"], &stat["branches"]), (&json!(123.0), &json!(1)));
    let all = home.run(&["stat", "--json"]).ends_with(0).json();
    assert_eq!((&all["session"], &all["sessions"], &all["tools"]), (&Value::Null, &json!(1), &stat["tools"]));
    let human = home.run(&["stat", &session]).ends_with(0).stdout;
    assert!(human.contains("1 branch,") && human.contains("run") && human.contains("2 min 3 s"), "{human}");
    home.run(&["stat", "nobody"]).ends_with(1);
}

#[cfg(unix)]
#[test]
fn doctor_names_each_fault_with_what_to_do_and_mends_what_is_safe() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    assert!(home.run(&["doctor"]).ends_with(0).stdout.starts_with("there is no store"));
    let session = home.session(&[&user("a", "one")]);
    assert!(home.run(&["doctor"]).ends_with(0).stdout.contains("in order"));
    let fork = home.run(&["fork", &session, "--at", "a", "--json"]).ends_with(0).json();
    std::fs::set_permissions(home.store(), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(home.file(&session), std::fs::Permissions::from_mode(0o644)).unwrap();
    let left = home.store().join(".x.seslog.0123456789abcdef.tmp");
    std::fs::write(&left, "half").unwrap();
    std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o600)).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    std::fs::File::options().write(true).open(&left).unwrap().set_modified(long_ago).unwrap();
    let codes = |ran: &Value| -> Vec<String> {
        let findings = ran["findings"].as_array().unwrap().iter();
        let mut codes: Vec<String> = findings
            .filter(|finding| finding["fixed"] == false)
            .map(|f| f["code"].as_str().unwrap().to_owned())
            .collect();
        codes.sort();
        codes
    };
    let found = home.run(&["doctor", "--json"]).ends_with(1).json();
    assert_eq!(codes(&found), ["leftOver", "openToOthers", "openToOthers"]);
    assert!(found["findings"].as_array().unwrap().iter().all(|finding| finding["next"].is_string()));
    assert!(left.exists());
    let fixed = home.run(&["doctor", "--fix", "--json"]).ends_with(0).json();
    assert_eq!((codes(&fixed), &fixed["openFaults"]), (vec![], &json!(0)));
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home.store()), mode(&home.file(&session)), left.exists()), (0o700, 0o600, false));
    assert!(home.run(&["doctor"]).ends_with(0).stdout.contains("in order"));
    // A copy under another name, one that is no session, and a parent that is gone.
    let (copy, broken) = ("01920000-0000-7000-8000-000000000001", "01920000-0000-7000-8000-000000000002");
    std::fs::copy(home.file(fork["session"].as_str().unwrap()), home.file(copy)).unwrap();
    std::fs::write(home.file(broken), "no session").unwrap();
    std::fs::set_permissions(home.file(broken), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::remove_file(home.file(&session)).unwrap();
    let found = home.run(&["doctor", "--json"]).ends_with(1).json();
    // That the copy has another name is told with what to do about it, once.
    let expected = ["damaged", "missingParent", "missingParent", "sameSessionTwice"];
    assert_eq!(codes(&found), expected, "{found}");
    let no_log = found["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "damaged").unwrap();
    assert!(no_log["next"].as_str().unwrap().starts_with("nothing can be saved"), "{no_log}");
    // Nothing of that is mended by a program.
    assert_eq!(codes(&home.run(&["doctor", "--fix", "--json"]).ends_with(1).json()), expected);
}

#[test]
fn a_session_is_deleted_with_what_caches_hold_of_it_and_not_by_chance() {
    let home = Home::new();
    let keep = home.session(&[&user("k", "kept words")]);
    let session = home.session(&[&user("a", "SECRETWORD")]);
    // So that the cache may vouch for them.
    for id in [&keep, &session] {
        let file = std::fs::File::options().write(true).open(home.file(id)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    home.run(&["title", &session, "SECRETWORD"]).ends_with(0);
    home.run(&["list"]).ends_with(0);
    // An index of ours says whose it is.
    let mut index = b"SQLite format 3\0".to_vec();
    index.resize(68, 0);
    index.extend_from_slice(b"\x5e\x51\x06\x01SECRETWORD");
    std::fs::write(home.store().join(".cache/search.db"), index).unwrap();
    let asked = home.run(&["delete", &session]).ends_with(2);
    assert!(asked.stderr.contains("--yes"), "{asked:?}");
    let fork = home.run(&["fork", &session, "--at", "a", "--json"]).ends_with(0).json();
    let refused = home.run(&["delete", &session, "--yes"]).ends_with(1);
    assert!(refused.stderr.contains("--force") && home.file(&session).exists(), "{refused:?}");
    home.run(&["delete", fork["session"].as_str().unwrap(), "--yes"]).ends_with(0);
    let deleted = home.run(&["delete", &session, "--yes", "--json"]).ends_with(0).json();
    assert_eq!((&deleted["session"], &deleted["deleted"]), (&json!(session), &json!(true)));
    assert!(!home.file(&session).exists());
    for entry in std::fs::read_dir(home.store().join(".cache")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(10).any(|window| window == b"SECRETWORD"));
    }
    assert_eq!(ids(&home.run(&["list", "--json"]).ends_with(0).json()), [keep]);
    home.run(&["delete", &session, "--yes"]).ends_with(1);
}

#[cfg(unix)]
#[test]
fn only_a_file_of_the_store_is_deleted_with_all_that_is_left_of_it() {
    let home = Home::new();
    let session = home.session(&[&user("a", "SECRETWORD")]);
    let (other, pipe) = ("01920000-0000-7000-8000-000000000001", "01920000-0000-7000-8000-000000000002");
    // A link holds nothing, and a pipe is never opened.
    std::os::unix::fs::symlink(home.file(&session), home.file(other)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(home.file(pipe)).status().unwrap().success());
    let linked = home.run(&["delete", other, "--yes"]).ends_with(2);
    assert!(linked.stderr.contains("is a link") && home.file(&session).exists(), "{linked:?}");
    assert!(home.run(&["delete", pipe, "--yes"]).ends_with(2).stderr.contains("is no file"));
    std::fs::remove_file(home.file(pipe)).unwrap();
    std::fs::remove_file(home.file(other)).unwrap();
    // A file that is named for another session is told by its own name.
    std::fs::copy(home.file(&session), home.file(other)).unwrap();
    assert!(home.run(&["delete", other, "--yes"]).ends_with(0).stdout.contains(other));
    // What a killed program has left goes too, names of others stay, and another name of the file is told.
    home.run(&["list"]).ends_with(0);
    let cache = home.store().join(".cache");
    std::fs::create_dir(cache.join("search.db-x")).unwrap();
    std::fs::write(cache.join("search.db-notes"), "another's").unwrap();
    let left = home.store().join(format!("{session}.seslog-unfinished-0123456789abcdef"));
    std::fs::write(&left, "SECRETWORD").unwrap();
    std::fs::hard_link(home.file(&session), home.store().join("copy")).unwrap();
    let deleted = home.run(&["delete", &session, "--yes"]).ends_with(1);
    assert!(deleted.stderr.contains("another name (a hard link)"), "{deleted:?}");
    assert!(!left.exists() && !home.file(&session).exists() && !cache.join("catalogue").exists());
    assert!(cache.join("search.db-notes").exists());
}

#[cfg(unix)]
#[test]
fn nothing_is_removed_through_a_cache_that_is_a_link() {
    let home = Home::new();
    let session = home.session(&[&user("a", "SECRETWORD")]);
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for name in ["x.tmp", "search.db", ".catalogue.0123456789abcdef.tmp"] {
        std::fs::write(elsewhere.join(name), "another's").unwrap();
    }
    let cache = home.store().join(".cache");
    let _ = std::fs::remove_dir_all(&cache);
    std::os::unix::fs::symlink(&elsewhere, &cache).unwrap();
    home.run(&["list"]).ends_with(0);
    for args in [vec!["redact", &session, "--literal", "SECRETWORD"], vec!["delete", &session, "--yes"]] {
        let refused = home.run(&args).ends_with(3);
        assert!(refused.stderr.contains("it is a link"), "{refused:?}");
    }
    for name in ["x.tmp", "search.db", ".catalogue.0123456789abcdef.tmp"] {
        assert!(elsewhere.join(name).exists(), "{name}");
    }
    assert!(home.file(&session).exists());
}

#[cfg(unix)]
#[test]
fn doctor_mends_nothing_but_what_is_a_stores_own() {
    use std::os::unix::fs::PermissionsExt;
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let make = |path: &std::path::Path| {
        std::fs::write(path, "text").unwrap();
        set(path, 0o644);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    };
    let home = Home::new();
    // A directory without a session.
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".cache")).unwrap();
    set(&project, 0o755);
    let theirs = project.join(".x.0123456789abcdef.tmp");
    make(&theirs);
    let ran = home.run(&["--store", project.to_str().unwrap(), "doctor", "--fix"]).ends_with(0);
    assert!(ran.stdout.contains("this is no store"), "{ran:?}");
    assert_eq!((mode(&project), mode(&theirs)), (0o755, 0o644));
    // What a link leads to, what is not ours in the cache, and a directory that many write to.
    let session = home.session(&[&user("a", "one")]);
    let cache = home.store().join(".cache");
    let _ = std::fs::remove_dir_all(&cache);
    make(&project.join("search.db"));
    std::os::unix::fs::symlink(&project, &cache).unwrap();
    home.run(&["doctor", "--fix"]);
    assert_eq!((mode(&project), mode(&project.join("search.db")), theirs.exists()), (0o755, 0o644, true));
    std::fs::remove_file(&cache).unwrap();
    std::fs::create_dir(&cache).unwrap();
    make(&cache.join("notes"));
    set(&home.store(), 0o1777);
    assert!(home.run(&["doctor", "--fix"]).ends_with(1).stdout.contains("not this user's alone"));
    assert_eq!((mode(&home.store()), mode(&cache.join("notes"))), (0o1777, 0o644));
    set(&home.store(), 0o700);
    // What a killed redaction, fork or salvage has left.
    let left = home.store().join(format!("{session}.seslog-unfinished-0123456789abcdef"));
    make(&left);
    set(&left, 0o600);
    assert!(home.run(&["doctor"]).ends_with(1).stdout.contains("an unfinished session file was left over"));
    home.run(&["doctor", "--fix"]).ends_with(0);
    assert!(!left.exists() && home.file(&session).exists());
    // No advice for what is no session.
    make(&project.join("text.seslog"));
    let shown = home.run(&["show", project.join("text.seslog").to_str().unwrap()]);
    assert!(!shown.stderr.contains("chmod"), "{shown:?}");
}

/// What `show` draws of a session: its messages without compactions and what stands beside.
fn drawn(home: &Home, session: &str) -> usize {
    let shown = home.run(&["show", session, "--json"]).json();
    let aside = ["compact_boundary", "compact_summary", "progress", "system_event", "tool_use_summary"];
    let messages = shown["messages"].as_array().unwrap().iter();
    let said = messages.filter(|message| !aside.contains(&message["semanticType"].as_str().unwrap()));
    said.map(|message| message["sourceMessageIds"].as_array().unwrap().len()).sum()
}

#[test]
fn list_tree_stat_and_show_count_the_same_messages_and_branches() {
    let samples = [
        "claude-code/branching-2.0",
        "claude-code/classic-1.0",
        "claude-code/interleaved-2.1",
        "claude-code/modern-2.1",
        "claude-code/preserved-list-2.1",
        "codex/envelope-2025-10",
        "codex/replacement-rollback-2026",
        "codex/rollback-over-compaction",
        "pi/v2-branch",
        "pi/v3-all-types",
        "pi/v3-linear-2026",
    ];
    let mut compared = 0;
    for sample in samples {
        let home = Home::new();
        let file = format!("{}/tests/data/{sample}.jsonl", env!("CARGO_MANIFEST_DIR"));
        home.run(&["import", &file]);
        let listed = home.run(&["list", "--json"]).ends_with(0).json();
        for row in listed["sessions"].as_array().unwrap() {
            let session = row["id"].as_str().unwrap();
            let (messages, branches) = (&row["messages"], &row["branches"]);
            let tree = home.run(&["tree", session, "--json"]).ends_with(0).json();
            assert_eq!((&tree["messages"], &tree["branches"]), (messages, branches), "{sample}: tree");
            let stat = home.run(&["stat", session, "--json"]).ends_with(0).json();
            assert_eq!((&stat["messages"], &stat["branches"]), (messages, branches), "{sample}: stat");
            let roles: u64 = stat["roles"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(&json!(roles), messages, "{sample}: roles");
            let of = |name: &str| -> u64 {
                let lines = tree["lines"].as_array().unwrap().iter();
                lines.map(|line| line[name].as_u64().unwrap()).sum()
            };
            assert_eq!(&json!(of("messages") - of("takenBack") + of("resultsBeside")), messages, "{sample}: lines");
            if *branches == json!(1) && row["parent"].is_null() {
                assert_eq!(&json!(drawn(&home, session)), messages, "{sample}: show");
                compared += 1;
            }
        }
    }
    assert!(compared >= 3, "{compared} sessions of one branch");
}

#[test]
fn tokens_that_a_fork_has_copied_count_once_over_the_store() {
    let home = Home::new();
    let answer = json!({"type": "message", "id": "b", "role": "assistant", "kind": "assistant_text", "content": "yes",
        "model": "m-1", "usage": {"input": 100, "output": 7}});
    let session = home.session(&[&user("a", "is it?"), &answer.to_string()]);
    let fork = home.run(&["fork", &session, "--at", "b", "--json"]).ends_with(0).json();
    let tokens = |args: &[&str]| {
        let stat = home.run(args).ends_with(0).json();
        (stat["tokens"]["input"].as_u64().unwrap(), stat["tokens"]["requests"].as_u64().unwrap())
    };
    assert_eq!(tokens(&["stat", fork["session"].as_str().unwrap(), "--json"]), (100, 1));
    assert_eq!(tokens(&["stat", "--json"]), (100, 1));
}
