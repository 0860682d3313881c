//! Help, page and schema name the same commands; what the page shows is what the program gives.

use std::collections::BTreeSet;
use std::path::Path;

use regex_lite::Regex;
use serde_json::Value;

use crate::documents::{Checker, schema};
use crate::fixture::{home, run_in};
use crate::settled::settled;

fn page() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/format-spec/CLI.md")).unwrap()
}

/// The commands that `seslog --help` names.
pub(crate) fn commands() -> Vec<String> {
    let help = run_in(&home(), &["--help"], "").ends_with(0).stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn help_page_and_schema_name_the_same_commands() {
    let commands: BTreeSet<String> = commands().into_iter().collect();
    let schema = schema();
    let names = schema["$defs"].as_object().unwrap().keys();
    let defined: BTreeSet<String> =
        names.filter(|name| name.starts_with(|c: char| c.is_lowercase())).cloned().collect();
    assert_eq!(commands, defined, "one definition a command, one command a definition");
    let page = page();
    let told: BTreeSet<String> = page.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_owned).collect();
    assert_eq!(commands, told, "one heading a command in CLI.md");
    let one_of: BTreeSet<String> = schema["anyOf"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["$ref"].as_str()?.strip_prefix("#/$defs/"))
        .filter(|name| *name != "Error")
        .map(str::to_owned)
        .collect();
    assert_eq!(commands, one_of);
}

#[test]
fn the_page_names_every_error_code_that_the_schema_knows() {
    let (page, schema) = (page(), schema());
    let codes = schema["$defs"]["ErrorFields"]["properties"]["code"]["enum"].as_array().unwrap().clone();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once(" |"));
    let told: BTreeSet<&str> =
        rows.flat_map(|(codes, _)| codes.split(", ")).map(|code| code.trim_matches('`')).collect();
    let known: BTreeSet<&str> = codes.iter().map(|code| code.as_str().unwrap()).collect();
    assert!(known == told, "on one of both only: {:?}", known.symmetric_difference(&told));
}

/// Every code that the program's own sources give to an error is one that programs were promised.
#[test]
fn the_schema_knows_every_error_code_of_the_sources() {
    fn sources(dir: &Path, found: &mut String) {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => sources(&entry, found),
                false => found.push_str(&std::fs::read_to_string(entry).unwrap()),
            }
        }
    }
    let mut text = String::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin/seslog")), &mut text);
    let given = Regex::new(r#"(?:\bcode: |not_found\(\s*|\(Exit::\w+, )"(\w+)""#).unwrap();
    let given: BTreeSet<&str> = given.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
    let schema = schema();
    let known = schema["$defs"]["ErrorFields"]["properties"]["code"]["enum"].as_array().unwrap();
    let known: BTreeSet<&str> = known.iter().map(|code| code.as_str().unwrap()).collect();
    // Of the files of an `import --all`, which are no errors of the command.
    let of_files = BTreeSet::from(["losses"]);
    assert_eq!(given.difference(&known).copied().collect::<BTreeSet<_>>(), of_files, "not in the schema");
    let unused: Vec<_> = known.difference(&given).collect();
    assert!(unused.is_empty(), "promised and never given: {unused:?}");
}

#[test]
fn nothing_is_in_a_document_that_the_schema_does_not_name() {
    fn look(place: &str, value: &Value, open: &mut Vec<String>) {
        if let Value::Object(fields) = value {
            if fields.contains_key("properties") && fields.get("additionalProperties") != Some(&Value::Bool(false)) {
                open.push(place.to_owned());
            }
            fields.iter().for_each(|(name, value)| look(&format!("{place}/{name}"), value, open));
        }
        if let Value::Array(values) = value {
            values.iter().for_each(|value| look(place, value, open));
        }
    }
    let mut open = Vec::new();
    look("", &schema(), &mut open);
    // Events keep fields that nobody knows.
    assert_eq!(open, ["/$defs/Event", "/$defs/Part"]);
}

/// The examples: each a command line and what it gives.
fn examples() -> Vec<(String, Vec<Value>)> {
    let page = page();
    let blocks = page.split("```console\n").skip(1).filter_map(|block| block.split_once("```"));
    let example = |(block, _): (&str, &str)| {
        let (line, text) = block.split_once('\n').unwrap();
        let line = line.strip_prefix("$ seslog ").unwrap_or_else(|| panic!("{line}")).to_owned();
        let values = serde_json::Deserializer::from_str(text).into_iter().map(|value| value.expect(&line)).collect();
        (line, values)
    };
    blocks.map(example).collect()
}

/// Whether a value is as it is shown; of a long text the page shows the beginning.
fn fits(given: &Value, shown: &Value) -> bool {
    match (given, shown) {
        (Value::String(given), Value::String(shown)) => match shown.strip_suffix('…') {
            Some(beginning) => given.starts_with(beginning),
            None => given == shown,
        },
        (Value::Array(given), Value::Array(shown)) => {
            given.len() == shown.len() && given.iter().zip(shown).all(|(given, shown)| fits(given, shown))
        }
        (Value::Object(given), Value::Object(shown)) => {
            given.len() == shown.len()
                && given.iter().all(|(name, given)| shown.get(name).is_some_and(|shown| fits(given, shown)))
        }
        // What a search makes of logarithms may differ in the last digit.
        (Value::Number(given), Value::Number(shown)) if given.is_f64() => {
            (given.as_f64().unwrap() - shown.as_f64().unwrap()).abs() < 1e-6
        }
        _ => given == shown,
    }
}

#[test]
fn what_the_page_shows_is_what_the_program_gives() {
    let mut checker = Checker::new();
    let examples = examples();
    let shown: BTreeSet<&str> = examples.iter().filter_map(|(line, _)| line.split_whitespace().next()).collect();
    let missing: Vec<String> = commands().into_iter().filter(|command| !shown.contains(command.as_str())).collect();
    assert!(missing.is_empty(), "no example of {missing:?}");
    let mut faults = Vec::new();
    for (line, values) in &examples {
        let home = home();
        let (line, stdin) = line.split_once(" <<< ").unwrap_or((line, ""));
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = run_in(&home, &words, stdin.trim_matches('\''));
        let text = settled(&ran.stdout, &home);
        let given: Vec<Value> =
            serde_json::Deserializer::from_str(&text).into_iter().map(|value| value.expect(&text)).collect();
        let name = if ran.stdout.contains(r#""error":{"#) && words[0] != "append" { "Error" } else { words[0] };
        for value in values {
            faults.extend(checker.problem(name, value).map(|problem| format!("{line}: {problem}")));
        }
        let same = given.len() == values.len() && given.iter().zip(values).all(|(given, shown)| fits(given, shown));
        if !same && words[0] != "demo" {
            faults.push(format!("{line}: gives\n{text}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
