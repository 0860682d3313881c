//! `seslog completions` and `seslog man`: every command is in them, and nothing that is hidden.

use std::process::Command;

use crate::cli_support::{Home, keys, user};

/// The commands that the help lists.
fn commands(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]).ends_with(0).stdout;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap().to_owned();
    let named = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    named.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn each_shells_script_names_every_command_and_none_that_is_hidden() {
    let home = Home::new();
    let commands = commands(&home);
    assert!(commands.len() > 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = home.run(&["completions", shell]).ends_with(0);
        assert!(ran.stderr.is_empty() && !ran.stdout.contains("demo-agent"), "{shell}");
        for command in &commands {
            assert!(ran.stdout.contains(command.as_str()), "{shell} {command}");
        }
        let document = home.run(&["completions", shell, "--json"]).ends_with(0).json();
        assert_eq!(keys(&document), "script shell version");
        assert_eq!(
            (document["shell"].as_str(), document["script"].as_str().map(str::trim_end)),
            (Some(shell), Some(ran.stdout.trim_end()))
        );
    }
    home.run(&["completions", "nosh"]).ends_with(2);
}

#[test]
fn a_shell_takes_its_script() {
    let home = Home::new();
    let script = home.write("seslog.bash", home.run(&["completions", "bash"]).stdout);
    // Where there is no bash there is nothing to be asked.
    let asked = format!("source '{script}' && complete -p seslog");
    let Ok(output) = Command::new("bash").args(["--norc", "-c", &asked]).output() else { return };
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("seslog"), "{output:?}");
}

#[test]
fn a_shell_offers_the_sessions_of_the_store_with_their_titles_where_one_is_asked_for() {
    let home = Home::new();
    let first = home.session(&[&user("a", "About * beetles")]);
    let second = home.session(&[&user("b", "About snails")]);
    home.run(&["title", &second, "Snails\tand \u{1b}[31mslugs"]).ends_with(0);
    let offered = |words: &[&str]| home.run(&[&["__sessions", "--"], words].concat()).ends_with(0).stdout;
    let all = offered(&["seslog", "show", ""]);
    assert!(
        all.contains(&format!("{first}\tAbout * beetles\n")) && all.contains(&format!("{second}\tSnails")),
        "{all}"
    );
    assert!(!all.contains('\u{1b}') && all.lines().all(|line| line.matches('\t').count() == 1), "{all}");
    assert_eq!(offered(&["seslog", "diff", &first, &second]).lines().count(), 1);
    let nowhere = home.path().join("nowhere");
    for words in [&["show", "--view", ""][..], &["list", ""], &["--store", nowhere.to_str().unwrap(), "show", ""]] {
        assert_eq!(offered(&[&["seslog"], words].concat()), "", "{words:?}");
    }

    // As bash asks for them; where there is none there is nothing to be asked.
    let script = home.write("seslog.bash", home.run(&["completions", "bash"]).stdout);
    let ask = |words: &str| {
        let asked = format!(
            "source '{script}' && COMP_WORDS=(\"$PROGRAM\" {words}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && COMP_TYPE=9 &&
            _seslog_or_sessions \"$PROGRAM\" \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" &&
            printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut command = Command::new("bash");
        home.at_home(&mut command);
        let output =
            command.args(["--norc", "-c", &asked]).env("PROGRAM", env!("CARGO_BIN_EXE_seslog")).output().ok()?;
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(String::from_utf8(output.stdout).unwrap())
    };
    let Some(both) = ask("show ''") else { return };
    assert!(both.contains(&format!("{first}  About * beetles\n")) && both.contains(&second), "{both}");
    assert_eq!(ask(&format!("show {first}")).unwrap(), format!("{first}\n"), "what is inserted is the id alone");
    assert_eq!(ask("sho").unwrap(), "show\n");
    // A variable of the shell that is none of the environment.
    let dir = home.store();
    for words in ["--store '$DIR' show ''", "--store '\"${DIR}\"' show ''", "--store = '$DIR' show ''"] {
        let there = ask(&format!("{words}) && DIR=('{}'", dir.display())).unwrap();
        assert_eq!(there, both, "{words}");
        let nowhere = ask(&format!("{words}) && DIR=('{}'", nowhere.display())).unwrap();
        assert!(!nowhere.contains(&first), "{words}: {nowhere}");
    }
    assert!(ask("show --view ''").unwrap().contains("transcript\n"));
}

#[test]
fn the_manual_has_a_page_for_the_program_and_one_for_each_command() {
    let home = Home::new();
    let page = home.run(&["man"]).ends_with(0).stdout;
    assert!(page.contains(".TH seslog 1") && page.contains("Exit codes:") && !page.contains("demo\\-agent"), "{page}");
    let dir = home.path().join("share/man/man1");
    let name = dir.to_str().unwrap();
    let document = home.run(&["man", "-o", name, "--json"]).ends_with(0).json();
    let mut expected: Vec<String> = commands(&home).iter().map(|command| format!("seslog-{command}.1")).collect();
    expected.push("seslog.1".to_owned());
    expected.sort();
    let mut written: Vec<String> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    written.sort();
    assert_eq!(written, expected);
    assert_eq!(document["pages"].as_array().unwrap().len(), written.len());
    let tail = std::fs::read_to_string(dir.join("seslog-tail.1")).unwrap();
    assert!(tail.contains(".SH EXAMPLES") && tail.contains("seslog tail 0192"), "{tail}");
    let human = home.run(&["man", "-o", name]).ends_with(0).stdout;
    assert!(human.contains(&format!("{} pages in", written.len())), "{human}");
}

#[test]
fn a_folder_that_can_not_be_written_is_told_with_the_cure() {
    let home = Home::new();
    let file = home.write("file", "");
    let ran = home.run(&["man", "-o", &format!("{file}/man1")]).ends_with(3);
    assert!(ran.stderr.contains("name another folder with -o"), "{ran:?}");
}
