//! What people see is what they saw: the text of each run against a file in `snapshots/`.
//!
//! A test never writes into the tree, unless SESLOG_SNAPSHOTS=write asks for it; then look at what `git diff` shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cases::{Case, DONE, FAILED};
use crate::fixture::{home, run_in};
use crate::page::commands;
use crate::settled::{settled, settled_demo};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli_documents/snapshots")
}

/// Holds texts against their files, and finds files of which there is no text any more.
fn hold(prefix: &[&str], texts: Vec<(String, String)>) {
    let is_writing = std::env::var_os("SESLOG_SNAPSHOTS").is_some_and(|what| what == "write");
    let mut faults = Vec::new();
    let mut named = BTreeSet::new();
    for (name, text) in texts {
        // A blank at the end of a line is nobody's to see, and editors take it away.
        let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let path = dir().join(format!("{name}.txt"));
        named.insert(format!("{name}.txt"));
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        if before == text {
            continue;
        }
        if is_writing {
            std::fs::create_dir_all(dir()).unwrap();
            std::fs::write(&path, text).unwrap();
            continue;
        }
        let diff = similar::TextDiff::from_lines(&before, &text);
        faults.push(format!("{name}:\n{}", diff.unified_diff().context_radius(2).header("before", "now")));
    }
    for entry in std::fs::read_dir(dir()).into_iter().flatten().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let is_ours = prefix.iter().any(|prefix| name.starts_with(prefix));
        let is_others = ["error-", "help"].iter().any(|other| name.starts_with(other)) && !is_ours;
        if !named.contains(&name) && (is_ours || prefix.is_empty()) && !is_others {
            match is_writing {
                true => std::fs::remove_file(entry.path()).unwrap(),
                false => faults.push(format!("{name}: nothing gives this any more")),
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{}\nif that is meant: SESLOG_SNAPSHOTS=write cargo test --test cli_documents, and look at `git diff`",
        faults.join("\n")
    );
}

/// The command line, then all that it gives.
fn text_of(case: &Case) -> (String, String) {
    let (home, ran) = case.run(&[]);
    let shown = |text: &str| match case.command() {
        // Made by others from the commands; that it is there is what counts here.
        "completions" => text.lines().take(3).map(|line| format!("{line}\n")).collect(),
        "demo" => settled_demo(&settled(text, &home)),
        _ => settled(text, &home),
    };
    let mut text = format!("$ seslog {}\n{}", words(case.args), shown(&ran.stdout));
    if !ran.stderr.is_empty() {
        text += &format!("-- standard error\n{}", shown(&ran.stderr));
    }
    text += &format!("-- exit code {}\n", case.code);
    (case.name.to_owned(), text)
}

fn words(args: &[&str]) -> String {
    let word = |arg: &&str| if arg.contains([' ', '(', '[']) { format!("'{arg}'") } else { (*arg).to_owned() };
    args.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_people_read_is_what_it_was() {
    hold(&[], DONE.iter().map(text_of).collect());
}

#[test]
fn what_people_read_of_failures_is_what_it_was() {
    hold(&["error-"], FAILED.iter().map(text_of).collect());
}

#[test]
fn the_help_of_each_command_is_what_it_was() {
    let home = home();
    let mut texts = vec![("help".to_owned(), run_in(&home, &["--help"], "").ends_with(0).stdout)];
    for command in commands() {
        let ran = run_in(&home, &[&command, "--help"], "").ends_with(0);
        assert!(ran.stdout.contains("Example"), "the help of {command} has no example");
        texts.push((format!("help-{command}"), ran.stdout));
    }
    hold(&["help"], texts);
}
