//! The Claude Code reader on bytes that a crash, a power cut or two writers left.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "common/claude.rs"]
mod claude;

use claude::{Transcript, id, long_transcript};
use seslog::event::Value;
use seslog::interop::claude_code::{Imported, Options, read};
use seslog::interop::{IncomingBody, IncomingParent};

fn import(bytes: &[u8]) -> Imported {
    read(bytes, &Options::default()).unwrap()
}

fn small() -> Transcript {
    let mut made = Transcript::default();
    made.user(1, 0, "One {\"type\":\"user\"} \\ Ö.").calls(2, 1, "m", "x").result(3, 2, "x", "X {");
    made.line(r#"{"type":"ai-title","aiTitle":"A title","sessionId":"5b1e0a10-0c0c-4000-8000-0000000000ff"}"#);
    made.says(4, 3, "n", "End.");
    made
}

/// What was kept raw since it could not be read.
fn unplaced(imported: &Imported) -> Vec<Value> {
    let events = imported.events.iter();
    events
        .filter_map(|event| match &event.body {
            IncomingBody::Extension(extension) if extension.name == "claude_code.unplaced" => {
                Some(extension.payload.clone())
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_cut_at_any_byte_loses_no_earlier_record_and_keeps_the_rest_raw() {
    let bytes = small().text.into_bytes();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    for cut in 0..=bytes.len() {
        let imported = import(&bytes[..cut]);
        // A line is whole without its line break too.
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(imported.report.records, whole, "cut at {cut}");
        let torn = cut - ends.iter().map(|end| end + 1).filter(|&start| start <= cut).max().unwrap_or(0);
        let torn = if ends.contains(&cut) { 0 } else { torn };
        assert_eq!(imported.report.bad_lines.len(), usize::from(torn > 0), "cut at {cut}");
        let raw = unplaced(&imported);
        let kept: usize = raw
            .iter()
            .map(|value| match value {
                Value::Text(text) => text.len(),
                // What is no UTF-8 can be read as text, and its bytes stand beside that.
                value => match value.get("bytes") {
                    Some(Value::Bytes(bytes)) => bytes.len(),
                    _ => 0,
                },
            })
            .sum();
        assert_eq!(kept, bytes[cut - torn..cut].trim_ascii_end().len(), "cut at {cut}");
        if let Some(bad) = imported.report.bad_line_details.first() {
            assert_eq!(
                (bad.offset as usize, bad.len as usize),
                (cut - torn, bytes[cut - torn..cut].trim_ascii_end().len())
            );
            assert_eq!(bad.salvaged, 0, "cut at {cut}: {bad:?}");
        }
    }
}

#[test]
fn what_was_written_behind_a_cut_at_any_byte_is_found() {
    let made = small();
    let lines: Vec<&str> = made.text.lines().collect();
    for cut in 1..lines[2].len() {
        if !lines[2].is_char_boundary(cut) {
            continue;
        }
        let text = format!("{}\n{}\n{}{}\n{}\n", lines[0], lines[1], &lines[2][..cut], lines[4], lines[3]);
        let imported = import(text.as_bytes());
        assert_eq!(imported.report.records, 4, "cut at {cut}");
        assert_eq!(imported.report.salvaged, ["L3.0"], "cut at {cut}");
        assert_eq!(imported.report.title.as_deref(), Some("A title"));
        assert_eq!(imported.leaf, Some(id(4)));
        // Its parent was torn: it hangs on the record before it.
        assert_eq!(imported.report.hung_on[0].on, id(2), "cut at {cut}");
        assert_eq!(unplaced(&imported), [Value::Text(lines[2][..cut].to_owned())], "cut at {cut}");
    }
}

#[test]
fn two_whole_objects_on_one_line_are_both_taken() {
    let made = small();
    let lines: Vec<&str> = made.text.lines().collect();
    for between in ["", " ", "\0\0\0"] {
        let text = format!("{}{between}{}{between}{}\n{}\n", lines[0], lines[1], lines[2], lines[4]);
        let imported = import(text.as_bytes());
        assert_eq!(imported.report.bad_lines, [1]);
        assert_eq!(imported.report.salvaged, ["L1.0", "L1.1", "L1.2"]);
        assert_eq!(imported.report.live_chain.len(), 4);
        assert!(unplaced(&imported).is_empty());
        let skipped = read(text.as_bytes(), &Options { skip_bad_lines: true, ..Options::default() }).unwrap();
        assert_eq!(skipped.report.records, 1);
        assert_eq!(unplaced(&skipped).len(), 1);
    }
}

#[test]
fn runs_of_nul_bytes_are_told_and_hide_nothing() {
    let made = small();
    let lines: Vec<&str> = made.text.lines().collect();
    let nul = "\0".repeat(4096);
    let text = format!("{nul}\n{}\n{nul}{}\n{}{nul}\n{}\n{nul}", lines[0], lines[1], lines[2], lines[4]);
    let imported = import(text.as_bytes());
    assert_eq!(imported.report.records, 4);
    assert_eq!(imported.report.bad_lines, [1, 3, 4, 6]);
    assert_eq!(imported.report.bad_line_details[0].cause, "only NUL bytes");
    assert_eq!(imported.report.bad_line_details[0].len, 4096);
    assert_eq!(imported.report.live_chain.len(), 4);
    assert!(unplaced(&imported).is_empty());
}

#[test]
fn lines_that_are_no_object_are_kept_as_they_are() {
    let text = "null\n[1,2]\n  42  \n\"text\"\nwords\n\u{feff}\n{}\n";
    let imported = import(text.as_bytes());
    assert_eq!(imported.report.bad_lines, [1, 2, 3, 4, 5, 6]);
    let kept: Vec<Value> = unplaced(&imported);
    assert_eq!(kept[..5], ["null", "[1,2]", "42", "\"text\"", "words"].map(|text| Value::Text(text.to_owned())));
    assert_eq!(imported.report.warnings[0].code, "no_type");
    let broken = import(b"\xFF\xFE{\n");
    let kept = [("text", "\u{fffd}\u{fffd}{".into()), ("bytes", Value::Bytes(b"\xFF\xFE{".to_vec()))];
    assert_eq!(unplaced(&broken), [Value::from(kept)]);
}

#[test]
fn objects_inside_a_torn_record_are_no_records() {
    let mut made = Transcript::default();
    let copy = r#""data":{"type":"agent_progress","message":{"type":"user","message":{"role":"user","content":"x"},"uuid":"00000009-0c0c-4000-8000-000000000009"},"more":1}"#;
    made.record(1, 0, "progress", copy);
    for cut in 1..made.text.len() - 1 {
        let imported = import(&made.text.as_bytes()[..cut]);
        assert_eq!(imported.report.records, 0, "cut at {cut}");
    }
}

#[test]
fn half_a_letter_is_replaced_and_told() {
    let mut made = Transcript::default();
    made.user(1, 0, "MARK");
    let text = made.text.replace("MARK", r"cut \ud83d here");
    let imported = import(text.as_bytes());
    assert_eq!(imported.report.warnings[0].code, "lossy_text");
    assert_eq!(imported.report.context_first_text.as_deref(), Some("cut \u{fffd} here"));
}

#[test]
fn a_record_of_ours_that_says_that_a_call_has_no_result_is_no_stranger() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.");
    let result = r#"{"type":"tool_result","tool_use_id":"x","content":"none","is_error":true}"#;
    let message = format!(r#""noResultRecorded":true,"message":{{"role":"user","content":[{result}]}}"#);
    made.record(2, 1, "user", &message);
    made.says(3, 2, "m", "On.");
    let imported = import(made.text.as_bytes());
    assert!(imported.report.warnings.is_empty(), "{:?}", imported.report.warnings);
    assert_eq!(imported.report.context_ids, [id(1), id(3)]);
}

#[test]
fn records_without_an_id_and_records_of_later_versions_stay() {
    let mut made = Transcript::default();
    made.user(1, 0, "One.");
    made.line(r#"{"type":"user","message":{"role":"user","content":"No id."},"sessionId":"s"}"#);
    made.record(2, 1, "future-link", r#""anything":{"x":1}"#);
    made.says(3, 2, "m", "On.");
    made.line(r#"{"type":"marble-origami-collapse","x":1}"#);
    let imported = import(made.text.as_bytes());
    let codes: Vec<&str> = imported.report.warnings.iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["no_id", "unknown_type", "context_may_differ"]);
    assert_eq!(imported.report.live_chain.len(), 3);
    assert_eq!(imported.report.context_ids, [id(1), id(3)]);
    let last = imported.events.iter().find(|event| event.id == Some(id(3))).unwrap();
    assert_eq!(last.parent, IncomingParent::Id(id(1)));
    let names: Vec<&str> = imported
        .events
        .iter()
        .filter_map(|event| match &event.body {
            IncomingBody::Extension(extension) => Some(extension.name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["claude_code.user", "claude_code.marble-origami-collapse"]);
}

#[test]
fn a_line_of_tens_of_megabytes_is_read() {
    let mut made = Transcript::default();
    let long = "x".repeat(24 << 20);
    made.user(1, 0, "One.").calls(2, 1, "m", "x").result(3, 2, "x", &long).says(4, 3, "n", "End.");
    let imported = import(made.text.as_bytes());
    assert_eq!(imported.report.records, 4);
    assert!(imported.report.bad_lines.is_empty());
}

#[test]
fn a_bad_line_costs_a_few_looks_and_no_more() {
    // A torn record full of what looks like beginnings, none of which ends.
    let hostile = r#"{"type":"user","x":[{"type":"#.repeat(20_000);
    let imported = import(hostile.as_bytes());
    assert_eq!(imported.report.bad_lines, [1]);
    assert!(imported.cost.bytes < 20 * hostile.len() as u64, "{} bytes looked at", imported.cost.bytes);
    let deep = "[".repeat(100_000);
    assert_eq!(import(format!("{{\"type\":\"user\",\"x\":{deep}").as_bytes()).report.bad_lines, [1]);
}

#[test]
fn a_record_nested_too_deeply_for_the_log_is_kept_as_text() {
    let deep = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    let mut made = Transcript::default();
    made.user(1, 0, "One.").record(2, 1, "progress", &format!("\"data\":{deep}")).says(3, 2, "m", "On.");
    let imported = import(made.text.as_bytes());
    assert_eq!(imported.report.bad_lines, [2]);
    assert_eq!(imported.report.live_chain.len(), 2);
    assert_eq!(unplaced(&imported).len(), 1);
}

#[test]
fn a_shorter_file_gives_the_beginning_of_the_longer_ones_events() {
    // What was imported once must be found again when the file has grown.
    let bytes = long_transcript(30, 20);
    let whole = import(&bytes);
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').map(|at| at + 1).collect();
    let known: std::collections::HashMap<_, _> = whole.events.iter().map(|event| (event.id.clone(), event)).collect();
    for &end in ends.iter().step_by(7) {
        for event in import(&bytes[..end]).events {
            if let IncomingBody::SessionMeta(_) | IncomingBody::Head { .. } = event.body {
                continue;
            }
            let known = known[&event.id];
            assert_eq!(known.parent, event.parent, "{:?} of the first {end} bytes", event.id);
            assert_eq!(known.at, event.at);
            // What an answer cost stands in its last record, and the last one here may not be the last.
            if let (IncomingBody::Message(known), IncomingBody::Message(message)) = (&known.body, &event.body)
                && known.usage == message.usage
            {
                assert_eq!(known, message, "{:?} of the first {end} bytes", event.id);
            }
        }
    }
}

#[test]
fn a_changed_byte_anywhere_in_a_sample_is_no_panic_and_loses_one_line_at_most() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        let whole = import(&bytes).report.records;
        for at in (0..bytes.len()).step_by(41) {
            let old = bytes[at];
            for new in [0, b'"', b'{', b'\n', 0xFF] {
                bytes[at] = new;
                let records = import(&bytes).report.records;
                // A line end that is gone, or one too many, touches two lines.
                assert!(records + 2 >= whole, "{path:?}: byte {at} became {new}");
            }
            bytes[at] = old;
        }
    }
}
