//! The fuzz targets' promises on what is in the tree: golden logs, golden events, transcripts, each as it is and with
//! a few thousand changes, and what a fuzzer found once.

mod fuzz_support;

use std::path::{Path, PathBuf};

use fuzz_support::{claude_lines, event_decode, frames_of, neutral_lines, open_log, operations};

/// SplitMix64. The seed is in every message of a failure.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// One to four small changes.
    fn change(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.below(4) {
            let at = self.below(bytes.len());
            let to = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(6) {
                _ if bytes.is_empty() => bytes.push(self.next() as u8),
                0 => bytes[at] ^= 1 << self.below(8),
                1 => bytes[at] = self.next() as u8,
                2 => bytes.truncate(at),
                3 => drop(bytes.drain(at..to)),
                4 => {
                    let again = bytes[at..to].to_vec();
                    bytes.splice(at..at, again);
                }
                _ => bytes[at..to].fill(0),
            }
        }
        bytes
    }
}

fn files(dir: &str, ending: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let entries = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    files.sort();
    assert!(!files.is_empty(), "no seeds in {}", dir.display());
    files
}

/// Runs a promise on each seed as it is and with changes. A failure names seed and number.
fn with_changes(name: &str, seed: &[u8], rounds: usize, promise: fn(&[u8])) {
    promise(seed);
    for round in 0..rounds {
        let mut random = Random(round as u64);
        let changed = random.change(seed);
        let outcome = std::panic::catch_unwind(|| promise(&changed));
        assert!(outcome.is_ok(), "{name}, change {round}: {}", changed.escape_ascii());
    }
}

#[test]
fn no_change_of_a_golden_log_makes_an_open_panic_or_a_writer_lose_what_a_reader_saw() {
    for path in files("format-spec/vectors", "seslog") {
        let file = std::fs::read(&path).unwrap();
        for mode in 0..3_u8 {
            let seed = [&[mode], file.as_slice()].concat();
            with_changes(&path.display().to_string(), &seed, 8, open_log);
            // The page is large and empty: most changes belong behind it.
            for round in 0..40 {
                if seed.len() <= 4097 {
                    break;
                }
                let mut random = Random(round);
                let changed = [&seed[..4097], &random.change(&seed[4097..])].concat();
                let outcome = std::panic::catch_unwind(|| open_log(&changed));
                assert!(outcome.is_ok(), "{}, mode {mode}, change {round}", path.display());
            }
        }
    }
}

#[test]
fn what_can_be_decoded_has_one_encoding() {
    for path in files("tests/data/events", "hex") {
        let text = std::fs::read_to_string(&path).unwrap();
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let seed: Vec<u8> = digits.chunks(2).map(byte).collect();
        with_changes(&path.display().to_string(), &seed, 2000, event_decode);
    }
}

#[test]
fn no_change_of_neutral_lines_makes_an_import_panic_or_a_second_one_write() {
    for path in files("tests/data/events", "json") {
        let seed = std::fs::read(&path).unwrap();
        with_changes(&path.display().to_string(), &seed, 100, neutral_lines);
    }
}

#[test]
fn no_change_of_a_transcript_makes_an_import_panic_or_a_second_one_write() {
    for path in files("tests/data/claude-code", "jsonl") {
        let seed = [&[0], std::fs::read(&path).unwrap().as_slice()].concat();
        with_changes(&path.display().to_string(), &seed, 12, claude_lines);
    }
}

#[test]
fn random_histories_with_kills_and_power_cuts_lose_nothing_that_was_acknowledged() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let len = 20 + random.below(300);
        let bytes: Vec<u8> = (0..len).map(|_| random.next() as u8).collect();
        let outcome = std::panic::catch_unwind(|| operations(&bytes));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}

#[test]
fn the_frames_of_a_golden_log_are_found_by_the_fuzzers_own_walk() {
    let file = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/example.seslog")).unwrap();
    let mut sealed = file.clone();
    fuzz_support::seal(&mut sealed, true);
    let differ = sealed.iter().zip(&file).position(|(left, right)| left != right);
    assert_eq!(differ, None, "a log whose checksums are right stays as it is");
    assert_eq!(frames_of(&file).len(), 4);
}

/// A fuzzer's find: with a state block that names no frame as the last INDEX, appends went through and every look-up
/// by id failed.
#[test]
fn a_last_index_that_points_nowhere_costs_time_only() {
    let golden =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/example.seslog")).unwrap();
    for start in frames_of(&golden) {
        if !matches!(golden[start + 12], 16 | 17) {
            continue;
        }
        for last_index in [1_u64, 8, 1024, 4096, 4104, u64::MAX - 7] {
            let mut file = golden.clone();
            file[start + 64 + 24..start + 64 + 32].copy_from_slice(&last_index.to_le_bytes());
            open_log(&[&[2], file.as_slice()].concat());
        }
    }
}

/// A fuzzer's find: a head that names a later record was refused the first time and went through the second, when the
/// record was there, so that importing a file again moved the leaf.
#[test]
fn a_head_to_a_later_record_is_refused_each_time_a_file_is_imported() {
    let said = r#""type":"message","role":"user","kind":"user_input","content":"hi""#;
    let file = format!(
        "{{{said},\"id\":\"a\"}}\n{{\"type\":\"head\",\"leaf\":\"b\"}}\n{{{said},\"id\":\"b\"}}\n{{{said},\"id\":\"c\"}}\n"
    );
    neutral_lines(file.as_bytes());
}

/// A fuzzer's find: a result that stands in front of its call named it by the file's id the first time and by ours the
/// second, so that importing a file again wrote the result again.
#[test]
fn a_result_in_front_of_its_call_is_known_when_the_file_is_imported_again() {
    let result = r#"{"type":"message","id":"r","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"c","output":"ok"}],"metadata":{"sourceToolAssistantId":"a"}}"#;
    let call = r#"{"type":"message","id":"a","role":"assistant","kind":"tool_call","content":[{"type":"tool_call","id":"c","name":"n","input":{}}]}"#;
    neutral_lines(format!("{result}\n{call}\n").as_bytes());
}
