//! The largest size of a file that a process may write (RLIMIT_FSIZE). Without the signal it is an error like a full disk.

use std::process::Command;

use seslog::log::RealFs;
use seslog::session::{Opened, SessionReader};

use crate::cli_support::{Home, Ran, run, user};

/// The program under a limit of so many blocks (of 512 or 1,024 bytes, as the shell counts them).
fn limited(home: &Home, blocks: u64, args: &[&str], input: &str) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f \"$1\" && shift && exec \"$@\"", "sh", &blocks.to_string()])
        .arg(env!("CARGO_BIN_EXE_seslog"))
        .args(args);
    home.at_home(&mut command);
    run(command, input)
}

#[test]
fn a_file_that_may_not_grow_ends_the_append_with_the_cure_and_goes_on_under_a_larger_limit() {
    let home = Home::new();
    let mut torn = 0;
    for blocks in [9, 10, 12, 17, 33, 40] {
        for level in ["sync", "group", "os"] {
            let session = home.session(&[&user("", "the first")]);
            let lines: Vec<String> = (0..200).map(|n| user("", &format!("{n} {}", "x".repeat(n * 7)))).collect();
            let ran = limited(&home, blocks, &["append", &session, "--durability", level], &lines.join("\n"));
            assert_eq!(ran.code, Some(3), "{ran:?}");
            assert!(ran.stderr.contains("no space for") && ran.stderr.contains("free some"), "{}", ran.stderr);
            let ids = |ran: &Ran| -> Vec<String> {
                ran.json_lines().iter().filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
            };
            let mut acknowledged = ids(&ran);
            // Under the same limit nothing fits, and nothing is lost.
            let again = limited(&home, blocks, &["append", &session], &lines[199]);
            assert_eq!(again.code, Some(3), "{again:?}");
            let whole = home.run_with(&["append", &session, "--durability", level], &lines.join("\n")).ends_with(0);
            torn += usize::from(whole.stderr.contains("set aside"));
            acknowledged.extend(ids(&whole));
            let reader = SessionReader::open(&home.file(&session), RealFs::shared()).unwrap();
            assert_eq!(reader.report().open, Opened::Clean);
            let state = reader.whole_state().unwrap();
            let mut found = state.entries().iter().map(|entry| entry.event.id.to_string());
            assert!(acknowledged.iter().all(|id| found.any(|found| found == *id)), "{blocks} blocks, {level}");
        }
    }
    println!("18 sessions met the limit, {torn} torn ends were set aside");
}

#[test]
fn a_session_that_may_not_be_written_is_not_made_and_leaves_nothing() {
    let home = Home::new();
    for blocks in 0..4 {
        let ran = limited(&home, blocks, &["append", "--new"], &user("", "the first"));
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.stderr.contains("no space for"), "{}", ran.stderr);
        assert_eq!(home.file_count(), 0);
    }
}

#[test]
fn an_import_or_a_fork_that_meets_the_limit_says_so_and_can_be_done_again() {
    let home = Home::new();
    let lines: Vec<String> = (0..60).map(|n| user(&format!("m{n}"), &format!("{n} {}", "x".repeat(500)))).collect();
    let file = home.write("lines.jsonl", lines.join("\n"));
    let imported = limited(&home, 30, &["import", &file], "");
    assert_eq!(imported.code, Some(3), "{imported:?}");
    assert!(imported.stderr.contains("no space for"), "{}", imported.stderr);
    for _ in 0..2 {
        home.run(&["import", &file]).ends_with(0);
        assert_eq!(home.file_count(), 1);
    }
    let listed = home.run(&["list", "--json"]).ends_with(0).json();
    let session = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    let reader = SessionReader::open(&home.file(&session), RealFs::shared()).unwrap();
    let state = reader.whole_state().unwrap();
    assert_eq!(state.entries().len(), 60);
    let last = state.entries().last().unwrap().event.id.to_string();
    let forked = limited(&home, 30, &["fork", &session, "--at", &last], "");
    assert_eq!(forked.code, Some(3), "{forked:?}");
    assert!(forked.stderr.contains("no space for"), "{}", forked.stderr);
    assert_eq!(home.file_count(), 1);
    home.run(&["fork", &session, "--at", &last]).ends_with(0);
    assert_eq!(home.file_count(), 2);
}
