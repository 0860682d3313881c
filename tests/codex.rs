//! The Codex reader against sample files whose meaning is written down beside them.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/expected.rs"]
mod expected;

use expected::{Samples, compare};
use seslog::event::Value;
use seslog::interop::codex::{Imported, Options, read};

const SAMPLES: Samples = Samples("codex");

fn read_sample(name: &str, options: Options) -> Imported {
    read(SAMPLES.bytes(name).as_slice(), &options).unwrap()
}

fn expectation(name: &str) -> Value {
    SAMPLES.expectation(name)
}

fn samples() -> Vec<String> {
    SAMPLES.names(7)
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
