//! What lies in the way or is somebody else's: links, pipes, files under another's name, copies.

use crate::cli_support::{Home, assistant, user};

fn session(home: &Home) -> String {
    home.session(&[&user("a", "one"), &assistant("b", "two")])
}

#[cfg(unix)]
#[test]
fn behind_a_cache_that_is_a_link_nothing_is_removed_and_the_link_is_named() {
    let home = Home::new();
    session(&home);
    let elsewhere = home.store().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("catalogue"), "mine").unwrap();
    std::fs::remove_dir_all(home.store().join(".cache")).ok();
    std::os::unix::fs::symlink(&elsewhere, home.store().join(".cache")).unwrap();
    let ran = home.run(&["doctor", "--fix"]).ends_with(1);
    assert_eq!(std::fs::read(elsewhere.join("catalogue")).unwrap(), b"mine");
    assert!(ran.stdout.contains("`rm '") && ran.stdout.contains("/.cache'` takes it away"), "{ran:?}");
    std::fs::remove_file(home.store().join(".cache")).unwrap();
    home.run(&["doctor"]).ends_with(0);
}

#[test]
fn what_stands_in_the_place_of_the_cache_keeps_no_erasure_from_its_work() {
    let home = Home::new();
    let erased = session(&home);
    std::fs::remove_dir_all(home.store().join(".cache")).ok();
    std::fs::write(home.store().join(".cache"), "a file").unwrap();
    home.run(&["redact", &erased, "--pattern", "two"]).ends_with(0);
    assert!(!home.run(&["show", &erased]).stdout.contains("two"));
    assert_eq!(std::fs::read(home.store().join(".cache")).unwrap(), b"a file");
}

#[test]
fn a_first_list_that_was_killed_is_no_fault_of_the_store() {
    let home = Home::new();
    session(&home);
    home.run(&["list"]).ends_with(0);
    std::fs::write(home.store().join(".cache/catalogue"), "").unwrap();
    home.run(&["doctor", "--fix"]);
    home.run(&["doctor"]).ends_with(0);
    std::fs::write(home.store().join(".cache/catalogue"), "").unwrap();
    home.run(&["doctor"]).ends_with(0);
}

#[test]
fn what_a_killed_erasure_left_of_a_search_goes_with_the_next_list() {
    let home = Home::new();
    session(&home);
    let cache = home.store().join(".cache");
    std::fs::create_dir_all(&cache).unwrap();
    // An index of ours says whose it is.
    let mut index = b"SQLite format 3\0".to_vec();
    index.resize(68, 0);
    std::fs::write(cache.join("search.db"), [&index, &b"\x5e\x51\x06\x01words"[..]].concat()).unwrap();
    std::fs::write(cache.join("catalogue"), b"SLcat\xffER").unwrap();
    home.run(&["list"]).ends_with(0);
    assert!(!cache.join("search.db").exists());
    std::fs::write(cache.join("search.db"), &index).unwrap();
    std::fs::write(cache.join("catalogue"), b"SLcat\xffER").unwrap();
    home.run(&["list"]).ends_with(0);
    assert_eq!(std::fs::read(cache.join("search.db")).unwrap(), index, "another program's");
}

/// Any directory may be named as the store, and have a `.cache` of other programs.
#[cfg(feature = "search")]
#[test]
fn a_search_writes_over_no_file_that_is_none_of_its_own() {
    let home = Home::new();
    let own = session(&home);
    let cache = home.store().join(".cache");
    std::fs::create_dir_all(&cache).unwrap();
    let mut database = b"SQLite format 3\0".to_vec();
    database.resize(4096, 7);
    for theirs in [&b"their own words"[..], &database] {
        std::fs::write(cache.join("search.db"), theirs).unwrap();
        let found = home.run(&["search", "two"]).ends_with(0);
        assert!(found.stdout.contains(&own[..8]), "{found:?}");
        assert!(found.stderr.contains("is no index of Seslog's and is left as it is; move it elsewhere"), "{found:?}");
        assert_eq!(std::fs::read(cache.join("search.db")).unwrap(), theirs);
    }
}

#[cfg(feature = "search")]
#[test]
fn a_list_that_keeps_nothing_leaves_what_a_search_keeps() {
    let home = Home::new();
    session(&home);
    home.run(&["search", "one"]).ends_with(0);
    let index = home.store().join(".cache/search.db");
    assert!(index.exists());
    for command in [&["list"][..], &["doctor"], &["stat"], &["list"]] {
        home.run(command).ends_with(0);
        assert!(index.exists(), "{command:?}");
    }
}

#[test]
fn a_session_under_anothers_name_takes_nothing_of_that_one_in() {
    let home = Home::new();
    let (first, other) = (session(&home), home.session(&[&user("c", "something else")]));
    let copy = home.store().with_file_name("copy.seslog");
    std::fs::rename(home.file(&first), &copy).unwrap();
    std::fs::rename(home.file(&other), home.file(&first)).unwrap();
    let before = std::fs::read(home.file(&first)).unwrap();
    let ran = home.run(&["import", copy.to_str().unwrap()]).ends_with(1);
    assert!(ran.stderr.contains("mv -n '") && ran.stderr.contains(&other), "{ran:?}");
    assert_eq!(std::fs::read(home.file(&first)).unwrap(), before);
    std::fs::rename(home.file(&first), home.file(&other)).unwrap();
    home.run(&["import", copy.to_str().unwrap()]).ends_with(0);
}

#[test]
fn lines_that_are_named_like_a_session_are_imported_as_lines() {
    let home = Home::new();
    let exported = session(&home);
    let file = home.store().with_file_name("lines.seslog");
    home.run(&["export", &exported, "--format", "jsonl", "-o", file.to_str().unwrap()]).ends_with(0);
    let ran = home.run(&["import", file.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert_eq!((&ran["session"], &ran["written"]), (&exported.as_str().into(), &0.into()), "{ran}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_whole() {
    let home = Home::new();
    let exported = session(&home);
    let lines = home.run(&["export", &exported, "--format", "jsonl"]).ends_with(0).stdout;
    let pipe = home.store().with_file_name("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::write(pipe, lines).unwrap()
    });
    let ran = home.run(&["import", pipe.to_str().unwrap(), "--json"]).ends_with(0).json();
    writer.join().unwrap();
    assert_eq!(ran["session"], exported, "{ran}");
}

#[test]
fn what_is_told_of_a_session_that_was_given_by_its_path_names_that_file() {
    let home = Home::new();
    let own = session(&home);
    let copy = home.store().with_file_name("copy.seslog");
    std::fs::copy(home.file(&own), &copy).unwrap();
    let path = copy.to_str().unwrap();
    for command in [&["rewind", path, "--to", "a"][..], &["compact", path, "--summary", "both"]] {
        let told = home.run(command).ends_with(0).stderr;
        assert!(told.contains(&format!("'{path}'")), "{told}");
    }
    home.run(&["rewind", path, "--to-start"]).ends_with(0);
    let told = home.run(&["payload", path, "--provider", "anthropic"]).ends_with(1).stderr;
    assert!(told.contains(&format!("`seslog append '{path}'`")), "{told}");
    assert!(home.run(&["rewind", &own, "--to", "a"]).stderr.contains(&format!("`seslog rewind {own} --to ")));
}

#[test]
fn a_secret_in_a_damaged_copy_that_is_kept_is_pointed_at_or_told_to_be_unseen() {
    let home = Home::new();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).chars().take(36).collect::<String>());
    let own = home.session(&[&user("a", "one"), &user("b", &format!("the key is {token}")), &user("c", "three")]);
    home.run(&["scan-secrets"]).ends_with(1);
    crate::mend::damage(&home, &own, "b");
    home.run(&["salvage", &own, "--in-place"]).ends_with(1);
    let ran = home.run(&["scan-secrets"]).ends_with(1);
    assert!(ran.stderr.contains(".seslog.damaged"), "{ran:?}");
    // The way on is not to mend a copy that was kept as it is.
    assert!(ran.stderr.contains("`rm '") && !ran.stderr.contains("--in-place"), "{ran:?}");
}

#[test]
fn a_file_without_its_header_is_one_session_however_often_it_is_imported() {
    let home = Home::new();
    let own = session(&home);
    let mut bytes = std::fs::read(home.file(&own)).unwrap();
    bytes[..4096].fill(0);
    std::fs::remove_file(home.file(&own)).unwrap();
    let file = home.store().with_file_name("headless.seslog");
    std::fs::write(&file, bytes).unwrap();
    for _ in 0..2 {
        home.run(&["import", file.to_str().unwrap()]);
    }
    let listed = home.run(&["list", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_delete_takes_nothing_away_but_sessions() {
    let home = Home::new();
    let own = session(&home);
    for (name, content) in [("thesis.txt", "my thesis"), ("empty", ""), ("zeros", "\0\0\0\0")] {
        home.write(name, content);
        let ran = home.run(&["delete", name, "--yes", "--json"]).ends_with(1);
        assert_eq!(ran.json()["error"]["code"], "notASession", "{ran:?}");
        assert_eq!(std::fs::read(home.path().join(name)).unwrap(), content.as_bytes());
    }
    // A session is one under any name, damaged or not; and what a salvage has kept is a session's.
    let mut bytes = std::fs::read(home.file(&own)).unwrap();
    let whole = home.write("whole.bak", &bytes);
    bytes[..4096].fill(0);
    let headless = home.write("headless.bak", &bytes);
    let kept = home.write("0192.seslog.damaged", "nothing");
    let named = home.write("named.seslog", "nothing");
    for path in [whole, headless, kept, named] {
        home.run(&["delete", &path, "--yes"]).ends_with(0);
        assert!(!std::path::Path::new(&path).exists(), "{path}");
    }
}

/// Where the store's path is no text, reports were lost after the file had been rewritten, and no session could be forked.
#[cfg(unix)]
#[test]
fn a_store_whose_path_is_no_text_is_worked_with_like_any_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let own = session(&home);
    let store = home.path().join(OsStr::from_bytes(b"n\xffon\nutf"));
    std::fs::rename(home.store(), &store).unwrap();
    let run = |args: &[&str]| {
        let mut command = home.command(args);
        command.env("SESLOG_HOME", &store);
        crate::cli_support::run(command, "")
    };
    let commands: &[&[&str]] = &[
        &["list"],
        &["show", &own],
        &["resume", &own],
        &["redact", &own, "--literal", "one"],
        &["vacuum", &own],
        &["fork", &own, "--at", "a"],
        &["verify", &own],
        &["stat"],
        &["salvage", &own, "-o", "whole.seslog"],
        &["doctor"],
        &["scan-secrets"],
        &["delete", &own, "--yes", "--force"],
    ];
    for command in commands {
        let ran = run(&[*command, &["--json"]].concat()).ends_with(0);
        ran.json();
    }
}

/// A command that is told is pasted: a newline or an escape in the path was shown in a form that names another file.
#[cfg(unix)]
#[test]
fn a_command_that_is_told_names_the_file_whatever_is_in_its_path() {
    let home = Home::new();
    let own = home.session(&[&user("a", "one"), &user("b", "two"), &user("c", "three")]);
    crate::mend::damage(&home, &own, "b");
    let odd = home.path().join("it's\na \u{1b}[1m \\ store");
    std::fs::rename(home.store(), &odd).unwrap();
    let ran = home.run(&["show", odd.join(format!("{own}.seslog")).to_str().unwrap()]).ends_with(1);
    let told = ran.stderr.split('`').find(|told| told.starts_with("seslog salvage ")).unwrap();
    let command = told.replacen("seslog", env!("CARGO_BIN_EXE_seslog"), 1);
    let output = std::process::Command::new("bash").args(["-c", &command]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "what is damaged is gone: {output:?}");
    assert_eq!(std::fs::read_dir(&odd).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_file()).count(), 2);
}

/// A name that is no text was refused by the parser of the arguments, in its own words.
#[cfg(unix)]
#[test]
fn a_session_is_named_by_a_path_of_any_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new();
    let own = session(&home);
    let file = home.path().join(OsStr::from_bytes(b"m\xffine.seslog"));
    std::fs::copy(home.file(&own), &file).unwrap();
    let run = |args: &[&str], file: &OsStr, behind: &[&str]| {
        let mut command = home.command(&args[..1]);
        command.arg(file).args(&args[1..]).args(behind);
        crate::cli_support::run(command, &user("c", "three"))
    };
    let commands: &[(&[&str], &[&str])] = &[
        (&["show"], &[]),
        (&["tail"], &[]),
        (&["tree"], &[]),
        (&["stat"], &[]),
        (&["resume"], &[]),
        (&["explain"], &["a"]),
        (&["payload", "--provider", "anthropic"], &[]),
        (&["export", "--format", "jsonl"], &[]),
        (&["append"], &[]),
        (&["title"], &["three"]),
        (&["meta", "--tag", "t"], &[]),
        (&["tombstone", "--target", "c"], &[]),
        (&["prune", "--target", "b"], &[]),
        (&["compact", "--summary", "short", "--keep-from", "b"], &[]),
        (&["rewind", "--to", "b"], &[]),
        (&["scan-secrets"], &[]),
        (&["redact", "--literal", "one"], &[]),
        (&["vacuum"], &[]),
        (&["verify"], &[]),
        (&["diff"], &["b"]),
        (&["salvage", "-o", "whole.seslog"], &[]),
    ];
    for (args, behind) in commands {
        let ran = run(args, file.as_os_str(), behind);
        assert!(matches!(ran.code, Some(0 | 1)) && !ran.stderr.contains("Usage"), "{args:?} {ran:?}");
        assert!(!ran.stderr.contains("does not exist"), "{args:?} {ran:?}");
    }
    let told = run(&["show"], file.as_os_str(), &[]).ends_with(0);
    assert!(told.stdout.contains("[redacted]") && !told.stdout.contains("one"), "{told:?}");
    let ran = run(&["show"], OsStr::from_bytes(b"n\xff\x1bo.seslog"), &[]).ends_with(1);
    assert!(ran.stderr.contains('\u{fffd}') && !ran.stderr.contains('\u{1b}'), "{ran:?}");
    run(&["delete", "--yes"], file.as_os_str(), &[]).ends_with(0);
    assert!(!file.exists());
}
