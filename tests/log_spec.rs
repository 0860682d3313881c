//! `format-spec/FORMAT.md` and the code say the same: every number of its tables, and its worked example, byte for byte.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use log_support::*;
use seslog::log::{Durability, FrameType, LogOptions, LogWriter, NewLog, Record, format as f};
use uuid::Uuid;

fn spec_path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("format-spec").join(name)
}

fn spec() -> String {
    std::fs::read_to_string(spec_path("FORMAT.md")).expect("the specification is there")
}

/// Rows of the form ``| `NAME` | number | … |``.
fn numbers(spec: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for line in spec.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, value, ..] = cells[..] else { continue };
        let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
        let value = value.replace(',', "");
        let Ok(value) = value.parse() else { continue };
        if name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_') {
            assert_eq!(found.insert(name.to_string(), value), None, "{name} stands there twice");
        }
    }
    found
}

#[test]
fn every_number_of_the_specification_equals_the_codes() {
    let code: BTreeMap<String, u64> = [
        ("FORMAT_MAJOR", u64::from(f::FORMAT_MAJOR)),
        ("FORMAT_MINOR", u64::from(f::FORMAT_MINOR)),
        ("HEADER_PAGE_LEN", f::HEADER_PAGE_LEN),
        ("HEADER_COPY_A", f::HEADER_COPY_A),
        ("HEADER_COPY_B", f::HEADER_COPY_B),
        ("HEADER_LEN", u64::from(f::HEADER_LEN)),
        ("HEADER_LEN_MAX", u64::from(f::HEADER_LEN_MAX)),
        ("WATERMARK_OFFSET", f::WATERMARK_OFFSET),
        ("WATERMARK_LEN", f::WATERMARK_LEN as u64),
        ("CHECKSUM_CRC32", u64::from(f::CHECKSUM_CRC32)),
        ("COMPAT_KNOWN", f::COMPAT_KNOWN),
        ("RO_COMPAT_KNOWN", f::RO_COMPAT_KNOWN),
        ("INCOMPAT_COMPRESSED", f::INCOMPAT_COMPRESSED),
        ("INCOMPAT_KNOWN", f::INCOMPAT_KNOWN),
        ("FRAME_HEADER_LEN", f::FRAME_HEADER_LEN),
        ("FRAME_HEADER_LEN_MAX", f::FRAME_HEADER_LEN_MAX),
        ("FRAME_TRAILER_LEN", f::FRAME_TRAILER_LEN),
        ("FRAME_ALIGN", f::FRAME_ALIGN),
        ("FRAME_LEN_MIN", f::FRAME_LEN_MIN),
        ("TYPE_EVENT", u64::from(f::TYPE_EVENT)),
        ("TYPE_BOUNDARY", u64::from(f::TYPE_BOUNDARY)),
        ("TYPE_CHANGE", u64::from(f::TYPE_CHANGE)),
        ("TYPE_HEAD", u64::from(f::TYPE_HEAD)),
        ("TYPE_OPEN", u64::from(f::TYPE_OPEN)),
        ("TYPE_MARK", u64::from(f::TYPE_MARK)),
        ("TYPE_INDEX", u64::from(f::TYPE_INDEX)),
        ("FLAG_BATCH", u64::from(f::FLAG_BATCH)),
        ("FLAG_LEAF", u64::from(f::FLAG_LEAF)),
        ("FLAG_SKIPPABLE", u64::from(f::FLAG_SKIPPABLE)),
        ("FLAGS_KNOWN", u64::from(f::FLAGS_KNOWN)),
        ("HINT_PLAIN", u64::from(f::HINT_PLAIN)),
        ("HINT_TARGETS", u64::from(f::HINT_TARGETS)),
        ("HINT_RESULT", u64::from(f::HINT_RESULT)),
        ("HINT_META", u64::from(f::HINT_META)),
        ("RECORD_LEN_DEFAULT", u64::from(f::RECORD_LEN_DEFAULT)),
        ("RECORD_LEN_CAP", u64::from(f::RECORD_LEN_CAP)),
        ("RECORD_LEN_FLOOR", u64::from(f::RECORD_LEN_FLOOR)),
        ("STATE_LEN", f::STATE_LEN as u64),
        ("OPEN_LEN", f::OPEN_LEN as u64),
        ("MARK_LEN", f::MARK_LEN as u64),
        ("INDEX_HEAD_LEN", f::INDEX_HEAD_LEN as u64),
        ("INDEX_ROW_LEN", f::INDEX_ROW_LEN as u64),
        ("INDEX_PAGE_ROWS", f::INDEX_PAGE_ROWS as u64),
        ("INDEX_LEVELS", f::INDEX_LEVELS as u64),
        ("INDEX_FANOUT", u64::from(f::INDEX_FANOUT)),
        ("INDEX_RECORDS", f::INDEX_RECORDS),
        ("INDEX_BYTES", f::INDEX_BYTES),
        ("BLOOM_BLOCK_LEN", f::BLOOM_BLOCK_LEN as u64),
        ("BLOOM_BLOCK_BITS", f::BLOOM_BLOCK_BITS),
        ("BLOOM_BITS_PER_KEY", f::BLOOM_BITS_PER_KEY),
        ("BLOOM_PROBES", u64::from(f::BLOOM_PROBES)),
        ("WINDOW_BYTES", f::WINDOW_BYTES),
        ("WINDOW_MS", f::WINDOW_MS),
        ("ZEROED_MAX", f::ZEROED_MAX),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_string(), value))
    .collect();
    assert_eq!(
        numbers(&spec()),
        code,
        "left: FORMAT.md, right: src/log/format.rs; a change of the format touches both"
    );
}

#[test]
fn the_magic_bytes_of_the_specification_are_the_codes() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(" ");
    for magic in [hex(&f::HEADER_MAGIC), hex(&f::FRAME_MAGIC)] {
        assert!(spec().contains(&magic), "{magic}");
    }
}

/// The log of the worked example: an opening, a batch of a message and a result, a MARK.
fn example() -> Vec<u8> {
    let uuid = |text: &str| Uuid::parse_str(text).unwrap();
    let disk = Disk::new();
    let new = NewLog::new(uuid("018bcfe5-6800-7000-8000-00000000a001"), 1_700_000_000_000_000);
    let log = LogWriter::create(disk.fs(), &path(), new, LogOptions::default()).unwrap();
    let (message, result) =
        (uuid("018bcfe5-6801-7000-8000-00000000b001"), uuid("018bcfe5-6802-7000-8000-00000000b002"));
    let first = Record { id: message, ..event(0, b"hello") };
    let second = Record {
        id: result,
        frame_type: FrameType::Event,
        skippable: true,
        parent: seslog::log::Place::InBatch(0),
        index: seslog::log::IndexHint::ResultOf(message),
        ..event(0, b"42")
    };
    let note = seslog::log::Note { last_id: result, head: seslog::log::Place::InBatch(1), ..Default::default() };
    log.append(&[first, second], note, Durability::Sync).unwrap();
    log.close().unwrap();
    disk.bytes(&path())
}

/// As in the specification: sixteen bytes a line, runs of zero lines left out.
fn dump(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).enumerate().filter(|(_, line)| line.iter().any(|byte| *byte != 0));
    lines
        .map(|(index, line)| {
            let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{:06x}  {}\n", index * 16, hex.join(" "))
        })
        .collect()
}

#[test]
fn the_worked_example_is_what_the_writer_writes() {
    let bytes = example();
    let golden = spec_path("vectors/example.seslog");
    if std::env::var_os("SESLOG_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &bytes).unwrap();
        println!("{}", dump(&bytes));
    }
    assert!(
        std::fs::read(&golden).expect("the golden file is there") == bytes,
        "the format has changed:\n{}",
        dump(&bytes)
    );
    let spec = spec();
    let example =
        spec.split("```hex\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the example is there");
    assert_eq!(example, dump(&bytes));
}
