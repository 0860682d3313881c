//! The reader of pi's session files against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use seslog::event::Value;
use seslog::interop::pi::{Imported, Options, PiReport, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pi")
}

fn read_sample(name: &str, options: Options) -> Imported {
    let bytes = fs::read(folder().join(name)).unwrap();
    read(bytes.as_slice(), &options).unwrap()
}

fn expectation(name: &str) -> Value {
    let text = fs::read(folder().join(name.replace(".jsonl", ".expect.json"))).unwrap();
    Value::parse_json(text).unwrap().0
}

fn samples() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter(|name| name.ends_with(".jsonl")).collect();
    names.sort();
    assert_eq!(names.len(), 6, "{names:?}");
    names
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
fn report_fields(report: &PiReport) -> Value {
    let Value::Map(fields) = Value::from_serialize(report).unwrap() else { panic!("a report is an object") };
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

/// How many keys were compared; a later expectation stands in the place of an earlier one.
fn compare(sample: &str, expectations: &[&Value], report: &PiReport) -> usize {
    let found = report_fields(report);
    let mut compared = BTreeSet::new();
    for (which, expectation) in expectations.iter().enumerate().rev() {
        for (name, expected) in expectation.as_map().unwrap() {
            if !compared.insert(name.clone()) {
                continue;
            }
            let found = found.get(name).unwrap_or_else(|| panic!("{sample}: the report has no {name}"));
            assert_eq!(sorted(found), sorted(expected), "{sample}, expectation {which}: {name}");
        }
    }
    compared.len()
}

#[test]
fn every_sample_is_read_as_the_program_reads_it() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options { strict_parents: true, skip_bad_lines: true });
        assert_eq!(compare(&sample, &[expectation.get("expect").unwrap()], &imported.report), 21, "{sample}");
        assert!(imported.report.hung_on.is_empty(), "{sample}");
    }
}

#[test]
fn whole_objects_inside_bad_lines_are_found() {
    let mut differ = 0;
    for sample in samples() {
        let expectation = expectation(&sample);
        let imported = read_sample(&sample, Options { strict_parents: true, ..Options::default() });
        let mut both = vec![expectation.get("expect").unwrap()];
        both.extend(expectation.get("expect_with_salvage"));
        differ += both.len() - 1;
        compare(&sample, &both, &imported.report);
    }
    assert_eq!(differ, 1);
}

#[test]
fn a_lost_parent_is_repaired_with_the_entry_before() {
    for sample in samples() {
        let expectation = expectation(&sample);
        let report = read_sample(&sample, Options::default()).report;
        if report.hung_on.is_empty() {
            let mut both = vec![expectation.get("expect").unwrap()];
            both.extend(expectation.get("expect_with_salvage"));
            compare(&sample, &both, &report);
        }
    }
    let fork = read_sample("v3-fork-dropped-label.jsonl", Options::default()).report;
    let ids: Vec<&str> = fork.live_chain.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["c0000001", "c0000002", "c0000004", "c0000005", "c0000006"]);
    assert_eq!(fork.orphan_roots, ["c0000004"]);
    let hung = &fork.hung_on[0];
    assert_eq!((hung.entry.as_str(), hung.on.as_str(), hung.missing.as_str()), ("c0000004", "c0000002", "c0000003"));
    assert_eq!((fork.hung_on.len(), hung.line), (1, 4));
    assert_eq!(fork.context_first_text.as_deref(), Some("Card the fleece."));
    let damaged = read_sample("damaged.jsonl", Options { skip_bad_lines: true, ..Options::default() }).report;
    let ids: Vec<&str> = damaged.context.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["d0000001", "d0000002", "d0000005"]);
}

#[test]
fn what_a_version_does_not_know_is_named_with_its_count() {
    let report = read_sample("v3-all-types.jsonl", Options::default()).report;
    assert_eq!(report.unknown_types.into_iter().collect::<Vec<_>>(), [("future_entry".to_owned(), 1)]);
    assert_eq!(report.entry_types["label"], 2);
    assert_eq!(report.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["unknown_type"]);
}
