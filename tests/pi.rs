//! The reader of pi's session files against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/expected.rs"]
mod expected;

use expected::{Samples, compare};
use seslog::event::Value;
use seslog::interop::pi::{Imported, Options, read};

const SAMPLES: Samples = Samples("pi");

fn read_sample(name: &str, options: Options) -> Imported {
    read(SAMPLES.bytes(name).as_slice(), &options).unwrap()
}

fn expectation(name: &str) -> Value {
    SAMPLES.expectation(name)
}

fn samples() -> Vec<String> {
    SAMPLES.names(6)
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
