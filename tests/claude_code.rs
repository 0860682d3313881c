//! The Claude Code reader against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

use std::fs;
use std::path::{Path, PathBuf};

use seslog::event::Value;
use seslog::interop::claude_code::{ClaudeReport, Imported, Options, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code")
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
fn report_fields(report: &ClaudeReport) -> Value {
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

/// Some expectations name the records of a chain or of a repair by their ids alone.
fn as_expected(name: &str, expected: &Value, found: &Value) -> Value {
    let only_ids = expected.as_list().and_then(|items| items.first()).is_some_and(|item| item.as_text().is_some());
    let items = found.as_list().unwrap_or_default();
    match name {
        "live_chain" if only_ids => Value::List(items.iter().map(|item| item.get("id").unwrap().clone()).collect()),
        "hung_on" => Value::List(
            items
                .iter()
                .map(|item| {
                    let field = |name: &str| (name.to_owned(), item.get(name).unwrap().clone());
                    Value::Map(vec![field("record"), field("on")])
                })
                .collect(),
        ),
        _ => found.clone(),
    }
}

/// How many keys were compared.
fn compare(sample: &str, expectations: &[&Value], report: &ClaudeReport) -> usize {
    let found = report_fields(report);
    let mut compared = std::collections::BTreeSet::new();
    for (which, expectation) in expectations.iter().enumerate().rev() {
        for (name, expected) in expectation.as_map().unwrap() {
            // A later expectation stands in the place of an earlier one.
            if name.starts_with("if_") || !compared.insert(name.clone()) {
                continue;
            }
            let found = found.get(name).unwrap_or_else(|| panic!("{sample}: the report has no {name}"));
            let found = as_expected(name, expected, found);
            assert_eq!(sorted(&found), sorted(expected), "{sample}, expectation {which}: {name}");
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
    assert_eq!(names.len(), 9, "{names:?}");
    names
}

#[test]
fn every_sample_is_read_as_the_program_reads_it() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let options = Options { strict_parents: true, skip_bad_lines: true };
        let imported = read_sample(&sample, options);
        let compared = compare(&sample, &[expectation.get("expect").unwrap()], &imported.report);
        assert_eq!(compared, 24, "{sample}");
    }
}

#[test]
fn whole_objects_inside_bad_lines_are_found() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options { strict_parents: true, ..Options::default() });
        let mut both = vec![expectation.get("expect").unwrap()];
        both.extend(expectation.get("expect_with_salvage"));
        compare(&sample, &both, &imported.report);
    }
}

#[test]
fn a_lost_parent_is_repaired_with_the_record_before() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options::default());
        let expect = expectation.get("expect").unwrap();
        let mut all = vec![expect];
        all.extend(expectation.get("expect_with_salvage"));
        all.extend(expect.get("if_hung_on_previous"));
        // The keys that a repair changes and that the sample says nothing of.
        let repaired = ["live_chain", "context_ids", "assistant_api_messages", "context_first_text"];
        let report = &imported.report;
        if report.hung_on.is_empty() {
            compare(&sample, &all, report);
        } else {
            let without = |value: &Value| {
                let fields = value.as_map().unwrap().iter();
                Value::Map(fields.filter(|(name, _)| !repaired.contains(&name.as_str())).cloned().collect())
            };
            let mut kept: Vec<Value> = all.iter().map(|value| without(value)).collect();
            kept.extend(expect.get("if_hung_on_previous").cloned());
            compare(&sample, &kept.iter().collect::<Vec<_>>(), report);
        }
    }
    let lost = read_sample("lost-parent-2.1.jsonl", Options::default()).report;
    assert_eq!(lost.hung_on.len(), 1);
    assert_eq!(lost.hung_on[0].missing, "00000004-8008-4000-8000-000000000004");
    assert_eq!(lost.hung_on[0].messages_brought_back, 2);
    assert_eq!(lost.assistant_api_messages, ["msg_08A", "msg_08B", "msg_08C"]);
    assert_eq!(lost.context_first_text.as_deref(), Some("Count the ducks on the pond."));
    let damaged = read_sample("damaged.jsonl", Options::default()).report;
    assert_eq!(damaged.hung_on[0].on, "00000002-6006-4000-8000-000000000002");
    assert_eq!(damaged.context_ids.len(), 6);
}
