//! The Claude Code reader against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/expected.rs"]
mod expected;

use expected::{Samples, compare_as};
use seslog::event::Value;
use seslog::interop::claude_code::{ClaudeReport, Imported, Options, read};

const SAMPLES: Samples = Samples("claude-code");

fn read_sample(name: &str, options: Options) -> Imported {
    read(SAMPLES.bytes(name).as_slice(), &options).unwrap()
}

fn expectation(name: &str) -> Value {
    SAMPLES.expectation(name)
}

fn samples() -> Vec<String> {
    SAMPLES.names(9)
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

fn compare(sample: &str, expectations: &[&Value], report: &ClaudeReport) -> usize {
    compare_as(sample, expectations, report, as_expected)
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
