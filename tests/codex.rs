//! The Codex reader against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

use std::fs;
use std::path::{Path, PathBuf};

use seslog::event::Value;
use seslog::interop::codex::{CodexReport, Imported, Options, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/codex")
}

fn read_sample(name: &str, options: Options) -> Imported {
    let bytes = fs::read(folder().join(name)).unwrap();
    read(bytes.as_slice(), &options).unwrap()
}

fn expectation(name: &str) -> Value {
    let text = fs::read(folder().join(name.replace(".jsonl", ".expect.json"))).unwrap();
    Value::parse_json(text).unwrap().0
}

/// The report by the names of the expectations.
fn report_fields(report: &CodexReport) -> Value {
    fn snake(name: &str) -> String {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        snake
    }
    let json = serde_json::to_string(report).unwrap();
    let Value::Map(fields) = Value::parse_json(json).unwrap().0 else { panic!("a report is an object") };
    let fields = fields.into_iter().map(|(name, value)| {
        let value = match value {
            Value::Map(inner) if name == "toolCalls" => {
                Value::Map(inner.into_iter().map(|(name, value)| (snake(&name), value)).collect())
            }
            other => other,
        };
        (snake(&name), value)
    });
    Value::Map(fields.collect())
}

/// Objects with their fields sorted, so that order does not count.
fn sorted(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        Value::Map(fields) => {
            let mut fields: Vec<_> = fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Map(fields)
        }
        other => other.clone(),
    }
}

/// How many keys were compared.
fn compare(sample: &str, expectations: &[&Value], report: &CodexReport) -> usize {
    let found = report_fields(report);
    let mut compared = std::collections::BTreeSet::new();
    for (which, expectation) in expectations.iter().enumerate().rev() {
        for (name, expected) in expectation.as_map().unwrap() {
            // A later expectation stands in the place of an earlier one.
            if !compared.insert(name.clone()) {
                continue;
            }
            let found = found.get(name).unwrap_or_else(|| panic!("{sample}: the report has no {name}"));
            assert_eq!(sorted(found), sorted(expected), "{sample}, expectation {which}: {name}");
        }
    }
    compared.len()
}

fn samples() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".jsonl"))
        .collect();
    names.sort();
    assert_eq!(names.len(), 7, "{names:?}");
    names
}

#[test]
fn every_sample_is_read_as_its_format_says() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options { skip_bad_lines: true });
        let compared = compare(&sample, &[expectation.get("expect").unwrap()], &imported.report);
        assert_eq!(compared, 15, "{sample}");
        assert_eq!(imported.session_id, imported.report.session_id);
    }
}

#[test]
fn whole_objects_inside_bad_lines_are_found() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options::default());
        let mut both = vec![expectation.get("expect").unwrap()];
        both.extend(expectation.get("expect_with_salvage"));
        compare(&sample, &both, &imported.report);
    }
}
