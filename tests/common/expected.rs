//! Sample files whose meaning is written down beside them, and the comparison of a reader's report with that.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part of it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use seslog::event::Value;

/// The samples of one format.
#[derive(Debug, Clone, Copy)]
pub struct Samples(pub &'static str);

impl Samples {
    fn path(self, name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(self.0).join(name)
    }

    pub fn bytes(self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn expectation(self, name: &str) -> Value {
        let text = fs::read(self.path(&name.replace(".jsonl", ".expect.json"))).unwrap();
        Value::parse_json(text).unwrap().0
    }

    /// Their names; there are so many.
    pub fn names(self, count: usize) -> Vec<String> {
        let files = fs::read_dir(self.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = files.filter(|name| name.ends_with(".jsonl")).collect();
        names.sort();
        assert_eq!(names.len(), count, "{names:?}");
        names
    }
}

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

/// The report by the names of the expectations.
fn report_fields(report: &impl Serialize) -> Value {
    let json = serde_json::to_string(report).unwrap();
    let Value::Map(fields) = Value::parse_json(json).unwrap().0 else { panic!("a report is an object") };
    let fields = fields.into_iter().map(|(name, value)| match value {
        Value::Map(inner) if name == "toolCalls" => {
            (snake(&name), Value::Map(inner.into_iter().map(|(name, value)| (snake(&name), value)).collect()))
        }
        other => (snake(&name), other),
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

/// How many keys were compared; a later expectation stands in the place of an earlier one. `shown` gives what was found of a
/// key in the form in which it is expected.
pub fn compare_as(
    sample: &str,
    expectations: &[&Value],
    report: &impl Serialize,
    shown: impl Fn(&str, &Value, &Value) -> Value,
) -> usize {
    let found = report_fields(report);
    let mut compared = BTreeSet::new();
    for (which, expectation) in expectations.iter().enumerate().rev() {
        for (name, expected) in expectation.as_map().unwrap() {
            if name.starts_with("if_") || !compared.insert(name.clone()) {
                continue;
            }
            let found = found.get(name).unwrap_or_else(|| panic!("{sample}: the report has no {name}"));
            let found = shown(name, expected, found);
            assert_eq!(sorted(&found), sorted(expected), "{sample}, expectation {which}: {name}");
        }
    }
    compared.len()
}

pub fn compare(sample: &str, expectations: &[&Value], report: &impl Serialize) -> usize {
    compare_as(sample, expectations, report, |_, _, found| found.clone())
}
