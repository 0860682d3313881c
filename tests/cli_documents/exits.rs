//! Exit codes, command by command: 0 done, 1 the answer is no, 2 wrong use, 3 reading or writing failed.

use std::collections::BTreeSet;

use seslog::session::{Session, SessionOptions};

use crate::cases::{DONE, Prepare};
use crate::cli_support::{Home, Ran, run};
use crate::fixture::{SMALL, damage, home, run_in};
use crate::page::commands;

/// Each command that takes a session.
const OF_A_SESSION: &[&[&str]] = &[
    &["append", "SESSION"],
    &["show", "SESSION"],
    &["tail", "SESSION"],
    &["tree", "SESSION"],
    &["diff", "SESSION", "a", "b"],
    &["explain", "SESSION", "a"],
    &["export", "SESSION"],
    &["resume", "SESSION"],
    &["payload", "SESSION", "--provider", "anthropic"],
    &["verify", "SESSION"],
    &["rewind", "SESSION", "--to-start"],
    &["fork", "SESSION", "--at", "a"],
    &["salvage", "SESSION", "-o", "new.seslog"],
    &["compact", "SESSION", "--summary", "x"],
    &["tombstone", "SESSION", "--target", "a"],
    &["prune", "SESSION", "--target", "a"],
    &["redact", "SESSION", "--literal", "beetles"],
    &["vacuum", "SESSION"],
    &["scan-secrets", "SESSION"],
    &["stat", "SESSION"],
    &["meta", "SESSION", "--title", "x"],
    &["title", "SESSION", "x"],
    &["delete", "SESSION", "--yes"],
];

/// Those that take none.
const OF_NO_SESSION: [&str; 8] = ["list", "demo", "import", "search", "doctor", "completions", "man", "stat"];

/// Those that write to one, or take it away.
const WRITERS: [&str; 10] =
    ["append", "rewind", "compact", "tombstone", "prune", "redact", "vacuum", "meta", "title", "delete"];

fn of(args: &[&str], session: &str, home: &Home) -> Ran {
    let args: Vec<&str> = args.iter().map(|arg| if *arg == "SESSION" { session } else { arg }).collect();
    run_in(home, &args, "")
}

#[test]
fn every_command_is_in_these_tests() {
    let named = OF_A_SESSION.iter().map(|args| args[0]).chain(OF_NO_SESSION);
    let named: BTreeSet<String> = named.map(str::to_owned).collect();
    assert_eq!(named, commands().into_iter().collect());
    let done: BTreeSet<String> =
        DONE.iter().filter(|case| case.code == 0).map(|case| case.command().to_owned()).collect();
    assert_eq!(done, named, "a case of each that ends with 0");
}

#[test]
fn what_is_not_there_is_1() {
    let home = home();
    for args in OF_A_SESSION {
        let ran = of(args, "0193", &home).ends_with(1);
        assert!(ran.stdout.is_empty() && ran.stderr.contains("seslog list"), "{args:?}: {ran:?}");
    }
    run_in(&home, &["import", "--all"], "").ends_with(1);
    run_in(&home, &["search", "zeppelin"], "").ends_with(1);
}

#[test]
fn damage_is_1() {
    let home = home();
    damage(&home, SMALL);
    let readers = ["show", "tail", "tree", "resume", "payload", "verify", "scan-secrets", "stat"];
    for args in OF_A_SESSION.iter().filter(|args| readers.contains(&args[0])) {
        of(args, SMALL, &home).ends_with(1);
    }
    for args in OF_A_SESSION.iter().filter(|args| WRITERS[..8].contains(&args[0]) && args.len() == 4) {
        let ran = of(args, SMALL, &home).ends_with(1);
        assert!(ran.stdout.is_empty(), "{args:?}: {ran:?}");
    }
    run_in(&home, &["list"], "").ends_with(1);
    run_in(&home, &["doctor"], "").ends_with(1);
}

#[test]
fn wrong_use_is_2() {
    let home = home();
    for command in commands() {
        for args in [&[&command, "--nonsense"][..], &[&command, "--color", "pink"]] {
            let ran = run_in(&home, args, "").ends_with(2);
            assert!(ran.stdout.is_empty() && ran.stderr.contains("--help"), "{args:?}: {ran:?}");
        }
        let ran = run_in(&home, &[&command, "--nonsense", "--json"], "").ends_with(2);
        assert_eq!(ran.json()["error"]["code"], "usage");
    }
    for args in OF_A_SESSION.iter().filter(|args| !["scan-secrets", "stat"].contains(&args[0])) {
        run_in(&home, &args[..1], "").ends_with(2);
    }
}

#[test]
fn a_session_that_somebody_writes_is_3_for_those_that_write_and_open_to_those_that_read() {
    let home = home();
    let held = Session::open(&home.file(SMALL), SessionOptions::default()).unwrap();
    for args in OF_A_SESSION {
        // Where an event is named it is looked for under the lock.
        let ran = of(args, SMALL, &home);
        match WRITERS.contains(&args[0]) {
            true => {
                assert_eq!(ran.code, Some(3), "{args:?}: {ran:?}");
                assert!(ran.stderr.contains("another process") || ran.stderr.contains("writes"), "{args:?}: {ran:?}");
            }
            false => assert_ne!(ran.code, Some(3), "{args:?}: {ran:?}"),
        }
    }
    drop(held);
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_takes_nothing_is_3() {
    for case in DONE.iter().filter(|case| case.code < 2 && matches!(case.prepare, Prepare::Nothing)) {
        for more in [&[][..], &["--json"]] {
            // What is talk only needs no output.
            if case.run(more).1.stdout.is_empty() {
                continue;
            }
            let home = home();
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let args: Vec<&str> = case.args.iter().chain(more).copied().collect();
            let mut command = home.command(&args);
            let input = home.write("input", case.stdin);
            command.stdin(std::fs::File::open(input).unwrap()).stdout(full).env("TMPDIR", home.path());
            let output = command.output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(3), "{}: {told}", case.name);
            assert!(told.contains("seslog: "), "{}: {told}", case.name);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    for case in DONE.iter().filter(|case| ["show", "list", "export", "man"].contains(&case.name)) {
        let home = home();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = home.command(case.args);
        command.stdin(std::process::Stdio::null()).stdout(writer);
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}: {output:?}", case.name);
    }
    drop(run(home().command(&["--version"]), "").ends_with(0));
}
