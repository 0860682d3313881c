//! What the program does on a terminal, and only there.

#![cfg(unix)]

mod cli_support;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cli_support::Home;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command with a terminal as its output; gives what the terminal was sent, and the exit code.
fn on_terminal(mut command: Command) -> (String, Option<i32>) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::from(theirs.try_clone().unwrap()))
        .stderr(Stdio::from(theirs))
        .spawn()
        .unwrap();
    drop(command);
    let (mut sent, mut piece) = (Vec::new(), [0; 4096]);
    let mut ours = File::from(ours);
    // Once nobody holds the other end, reading it is an error.
    while let Ok(count @ 1..) = ours.read(&mut piece) {
        sent.extend_from_slice(&piece[..count]);
    }
    (String::from_utf8(sent).unwrap(), child.wait().unwrap().code())
}

fn home() -> (Home, String) {
    let home = Home::new();
    let line = |n: usize| format!(r#"{{"type":"message","role":"user","kind":"user_input","content":"text {n}"}}"#);
    let lines: Vec<String> = (0..40).map(line).collect();
    let id = home.session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    (home, id)
}

#[test]
fn what_is_read_goes_through_the_pager_on_a_terminal_and_nothing_else_does() {
    let (home, id) = home();
    let with = |args: &[&str], pager: &str| {
        let mut command = home.command(args);
        command.env("SESLOG_PAGER", pager);
        on_terminal(command)
    };
    let (sent, code) = with(&["show", &id, "--view", "transcript"], "sed s/^/page:/");
    assert_eq!(code, Some(0));
    assert!(sent.contains("page:") && sent.contains("text 0") && sent.contains("text 39"), "{sent}");
    assert!(sent.lines().all(|line| line.starts_with("page:")), "{sent}");
    assert!(sent.contains("\u{1b}["), "a pager on a terminal has colours: {sent}");
    for pager in ["", "cat"] {
        assert!(!with(&["show", &id, "--view", "transcript"], pager).0.contains("page:"));
    }
    let (sent, _) = with(&["show", &id, "--view", "transcript", "--json"], "sed s/^/page:/");
    assert!(sent.starts_with('{'), "JSON is for programs: {sent}");
    let (sent, _) = with(&["verify", &id], "sed s/^/page:/");
    assert!(!sent.contains("page:"), "{sent}");
    let mut piped = home.command(&["show", &id, "--view", "transcript"]);
    piped.env("SESLOG_PAGER", "sed s/^/page:/");
    assert!(!cli_support::run(piped, "").stdout.contains("page:"), "a pipe is no terminal");
}

#[test]
fn a_pager_that_is_left_early_is_no_failure_and_an_error_is_seen_behind_it() {
    let (home, id) = home();
    let with = |args: &[&str], pager: &str| {
        let mut command = home.command(args);
        command.env("SESLOG_PAGER", pager);
        on_terminal(command)
    };
    let (sent, code) = with(&["show", &id, "--view", "transcript"], "head -n 1");
    assert_eq!((sent.lines().count(), code), (1, Some(0)), "{sent}");
    let (sent, code) = with(&["show", "ffff"], "sed s/^/page:/");
    assert_eq!(code, Some(1));
    assert!(sent.contains("seslog: ") && !sent.contains("page:"), "{sent}");
}

#[test]
fn a_list_on_a_terminal_is_made_for_it_with_a_pager_and_without() {
    let (home, id) = home();
    for pager in ["cat", "sed s/^/page:/"] {
        let mut command = home.command(&["list"]);
        command.env("SESLOG_PAGER", pager);
        let (sent, code) = on_terminal(command);
        assert_eq!(code, Some(0));
        assert!(sent.contains(&id[..8]) && !sent.contains(&id), "ids are short on a terminal: {sent}");
    }
    assert!(home.run(&["list"]).stdout.contains(&id), "and whole elsewhere");
}

#[test]
fn a_pager_that_is_not_there_swallows_nothing() {
    let (home, id) = home();
    for (variable, args) in [("SESLOG_PAGER", &["show", &id][..]), ("PAGER", &["list"])] {
        let mut command = home.command(args);
        command.env_remove("SESLOG_PAGER").env(variable, "no-such-pager -x");
        let (sent, code) = on_terminal(command);
        assert_eq!(code, Some(0));
        assert!(sent.contains("text 0") && sent.contains("no pager `no-such-pager`"), "{sent}");
    }
    // What only the shell can tell is noticed once it is over.
    let mut command = home.command(&["show", &id]);
    command.env("SESLOG_PAGER", "'./no such pager'");
    let (sent, code) = on_terminal(command);
    assert_eq!(code, Some(3), "{sent}");
    assert!(sent.contains("nothing was shown"), "{sent}");
}

/// The same on a terminal of so many cells in a line.
fn on_narrow(home: &Home, cells: usize, args: &[&str]) -> String {
    let mut command = Command::new("sh");
    home.at_home(&mut command);
    let script = format!("stty rows 24 cols {cells} <&1 && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_seslog"), "--color", "never"]).args(args);
    command.env("SESLOG_PAGER", "cat").env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
    on_terminal(command).0
}

#[test]
fn what_is_drawn_fits_a_narrow_terminal_and_a_dumb_one_gets_no_escapes() {
    let home = Home::new();
    let long = "what is said here goes on and on, lamp after lamp, until nobody can follow it any more";
    let said = |n: usize| cli_support::user(&format!("m{n}"), &format!("{n} {long}"));
    let call = r#"{"type":"message","role":"assistant","kind":"tool_call","content":[{"type":"tool_call","id":"c1","name":"a_tool_with_a_long_name","input":{}}]}"#;
    let result = r#"{"type":"message","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"c1","output":"done"}]}"#;
    let id = home.session(&[&said(1), &said(2), call, result, &said(3)]);
    home.run(&["title", &id, long]).ends_with(0);
    home.run(&["fork", &id, "--at", "m2"]).ends_with(0);
    home.run(&["rewind", &id, "--to", "m1"]).ends_with(0);
    for args in [&["tree", &id][..], &["tree", &id, "--all"], &["search", "lamp"], &["stat"], &["list"]] {
        let sent = on_narrow(&home, 70, args);
        assert!(sent.lines().count() > 2 && !sent.contains('\u{1b}'), "{args:?}: {sent}");
        let tables = sent.lines().filter(|line| args != ["stat"] || !line.starts_with(char::is_lowercase));
        for line in tables {
            assert!(line.chars().count() <= 70, "{args:?}: {line}");
        }
    }
    assert!(on_narrow(&home, 70, &["tree", &id]).contains("current"), "the mark of the leaf stays");
}

/// Each search of some milliseconds wrote a line for each session, twice, with "0 s left".
#[test]
fn what_is_done_in_a_moment_shows_no_progress() {
    let (home, _) = home();
    let mut command = home.command(&["search", "text", "39"]);
    command.env("SESLOG_PAGER", "cat");
    let (sent, code) = on_terminal(command);
    assert_eq!(code, Some(0));
    assert!(sent.contains("text") && !sent.contains("sessions, ") && !sent.contains(" left"), "{sent}");
}

/// At 40 cells each session took a line and a half.
#[test]
fn a_list_fits_a_terminal_of_any_width_and_one_of_unknown_size_is_as_wide_as_it_is_told() {
    let (home, id) = home();
    home.run(&["title", &id, &"a long title ".repeat(20)]).ends_with(0);
    for cells in [20, 24, 30, 40, 50, 60, 64, 80, 120] {
        let sent = on_narrow(&home, cells, &["list"]);
        assert!(sent.contains(&id[..4]) && sent.contains("TITLE") && sent.contains("…"), "{cells}: {sent}");
        for line in sent.lines() {
            assert!(line.trim_end().chars().count() <= cells, "{cells}: {line}");
        }
    }
    for (columns, most) in [("44", 44), ("200", 200), ("", 80), ("none", 80)] {
        let mut command = home.command(&["list", "--color", "never"]);
        command.env("SESLOG_PAGER", "cat").env("COLUMNS", columns);
        let (sent, _) = on_terminal(command);
        let widest = sent.lines().map(|line| line.trim_end().chars().count()).max();
        assert_eq!(widest, Some(most), "{columns}: {sent}");
    }
}

#[test]
fn help_and_errors_are_as_colourful_as_is_asked_for() {
    let home = Home::new();
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = home.command(args);
        command.envs(variables.iter().copied());
        on_terminal(command).0.contains("\u{1b}[")
    };
    for args in [&["--help"][..], &["bogus"], &["show", "--help"], &["show", "--bogus"]] {
        let with = |more: &[&'static str]| [args, more].concat();
        let before = |more: &[&'static str]| [more, args].concat();
        assert!(coloured(args, &[]), "{args:?}");
        assert!(!coloured(&before(&["--color", "never"]), &[]), "{args:?}");
        assert!(!coloured(&with(&["--color=never"]), &[]), "{args:?}");
        assert!(!coloured(args, &[("NO_COLOR", "1")]) && !coloured(args, &[("TERM", "dumb")]), "{args:?}");
        let ran = home.run(&before(&["--color", "always"]));
        assert!((ran.stdout + &ran.stderr).contains("\u{1b}["), "{args:?}");
        let ran = home.run(args);
        assert!(!(ran.stdout + &ran.stderr).contains("\u{1b}["), "{args:?}");
    }
    // 0 forces nothing, and forbids nothing.
    home.session(&[&cli_support::user("m1", "one")]);
    assert!(coloured(&["list"], &[("CLICOLOR_FORCE", "0"), ("SESLOG_PAGER", "cat")]));
    let mut piped = home.command(&["list"]);
    piped.env("CLICOLOR_FORCE", "0");
    assert!(!cli_support::run(piped, "").stdout.contains('\u{1b}'));
}

/// It had to be said twice, and nothing said that anything was waited for.
#[test]
fn what_is_typed_for_an_import_ends_at_the_first_end_of_it() {
    let home = Home::new();
    let line = cli_support::user("m1", "one") + "\n";
    for (typed, code) in [("\u{4}", 1), (&format!("{line}\u{4}"), 0)] {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = home.command(&["import", "-"]);
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut ours = File::from(ours);
        ours.write_all(typed.as_bytes()).unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        while child.try_wait().unwrap().is_none() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
        _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains("Ctrl-D"), "{told}");
    }
}
