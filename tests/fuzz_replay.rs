//! The fuzz targets' promises on what is in the tree: golden logs, golden events, transcripts, each as it is and with
//! a few thousand changes, and what a fuzzer found once.

mod fuzz_support;

use std::path::{Path, PathBuf};

use fuzz_support::{
    Random, Seal, change_input, claude_lines, codex_lines, event_decode, frame, frames_of, neutral_lines, open_log,
    operations, pi_lines, salvage, two_readers,
};

/// One to four small changes.
fn change(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len());
        let to = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(6) {
            _ if bytes.is_empty() => bytes.push(random.next() as u8),
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
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
        let changed = change(&mut random, seed);
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
                let changed = [&seed[..4097], &change(&mut random, &seed[4097..])].concat();
                let outcome = std::panic::catch_unwind(|| open_log(&changed));
                assert!(outcome.is_ok(), "{}, mode {mode}, change {round}", path.display());
            }
        }
    }
}

/// Golden logs, sealed in each way, with one to three changes of whole frames and sometimes a small one of bytes.
fn changed_logs(rounds: u64, promise: fn(&[u8])) {
    for path in files("format-spec/vectors", "seslog") {
        let file = std::fs::read(&path).unwrap();
        for round in 0..rounds {
            let mut random = Random(round ^ file.len() as u64);
            let mut input = [&[(round % 4) as u8], file.as_slice()].concat();
            for _ in 0..1 + random.below(3) {
                input = change_input(&input, &mut random);
            }
            if random.below(4) == 0 && input.len() > 4097 {
                input = [&input[..4097], &change(&mut random, &input[4097..])].concat();
            }
            let outcome = std::panic::catch_unwind(|| promise(&input));
            assert!(outcome.is_ok(), "{}, round {round}", path.display());
        }
    }
}

/// `SESLOG_FUZZ_ROUNDS` is the number of changes of each golden log, for a longer run.
fn rounds(usual: u64) -> u64 {
    std::env::var("SESLOG_FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

#[test]
fn the_library_and_a_reader_made_from_the_text_of_the_format_agree_on_every_change_of_a_golden_log() {
    changed_logs(rounds(25), two_readers);
}

#[test]
fn whatever_is_salvaged_of_a_golden_log_with_changes_resumes_goes_on_and_is_exactly_what_was_whole() {
    changed_logs(rounds(6), salvage);
}

#[test]
fn whatever_is_salvaged_of_a_random_history_with_changes_resumes_goes_on_and_is_exactly_what_was_whole() {
    for seed in 0..rounds(300) {
        let mut random = Random(seed);
        let mut input: Vec<u8> = (0..20 + random.below(100)).map(|_| random.next() as u8).collect();
        input[0] = 8 | (seed % 4) as u8;
        let outcome = std::panic::catch_unwind(|| salvage(&input));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}

#[test]
fn the_decoder_and_the_rules_of_the_format_agree_on_every_frame_of_a_golden_log_with_changes() {
    for path in files("format-spec/vectors", "seslog") {
        let file = std::fs::read(&path).unwrap();
        for start in frames_of(&file) {
            for sealed in 0..2_u8 {
                let place = (start as u64).to_le_bytes();
                let seed = [&[sealed], &place[..], &file[start..(start + 512).min(file.len())]].concat();
                with_changes(&path.display().to_string(), &seed, 60, frame);
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
fn no_change_of_a_rollout_makes_an_import_panic_or_a_second_one_write() {
    for path in files("tests/data/codex", "jsonl") {
        let seed = [&[0], std::fs::read(&path).unwrap().as_slice()].concat();
        with_changes(&path.display().to_string(), &seed, 12, codex_lines);
    }
}

#[test]
fn no_change_of_a_file_of_pi_makes_an_import_panic_or_a_second_one_write() {
    for path in files("tests/data/pi", "jsonl") {
        let seed = [&[0], std::fs::read(&path).unwrap().as_slice()].concat();
        with_changes(&path.display().to_string(), &seed, 12, pi_lines);
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
    fuzz_support::seal(&mut sealed, Seal::Chained);
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

/// Seals a file's frames from one on, each behind the one before it.
fn seal_from(file: &mut [u8], start: usize) {
    let tag: [u8; 4] = file[92..96].try_into().unwrap();
    let mut next = fuzz_support::seal_frame(file, start, None, tag);
    let mut before = start;
    while let Some(at) = next {
        let chain = u32::from_le_bytes(file[before + 4..before + 8].try_into().unwrap());
        next = fuzz_support::seal_frame(file, at, Some(chain), tag);
        before = at;
    }
}

/// Found by the comparison with the reference: a batch that is whole, and stands behind a frame that its first one does
/// not name, was called incomplete and so left out of a salvage.
#[test]
fn a_whole_batch_behind_a_chain_that_does_not_fit_is_orphaned_and_not_incomplete() {
    use seslog::log::{FrameStatus, survey};
    let mut file =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/batch.seslog")).unwrap();
    let starts = frames_of(&file);
    let first = starts.iter().copied().find(|start| file[start + 13] & 1 == 1).expect("the golden log has a batch");
    file[first + 24] ^= 1;
    seal_from(&mut file, first);
    let disk = fuzz_support::disk_with(&file);
    let found = survey(disk.fs(), Path::new(fuzz_support::PATH)).unwrap();
    let behind: Vec<FrameStatus> =
        found.frames.iter().filter(|frame| frame.at >= first as u64).map(|frame| frame.status).collect();
    assert!(behind.iter().all(|status| *status == FrameStatus::Orphan), "{behind:?}");
    fuzz_support::compare(&file);
}

/// Found by the comparison with the reference: the payload of an OPEN with a hint class that puts a list in front of a
/// caller's payload was read from behind that list.
#[test]
fn an_open_says_what_it_steps_over_at_the_same_place_whatever_its_hint_class() {
    for path in files("format-spec/vectors", "seslog") {
        let golden = std::fs::read(&path).unwrap();
        for start in frames_of(&golden).into_iter().filter(|start| golden[start + 12] == 16) {
            for class in 1..=3 {
                let mut file = golden.clone();
                file[start + 15] = class;
                seal_from(&mut file, start);
                fuzz_support::compare(&file);
            }
        }
    }
}

/// A fuzzer's find: the walk back to the last record went in a circle over an OPEN, far from the end, that says to step
/// over what lies behind it.
#[test]
fn an_open_that_says_to_step_over_what_lies_behind_it_sends_nobody_in_a_circle() {
    let golden =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/example.seslog")).unwrap();
    let (open, mark) = (&golden[4096..4224], &golden[4400..4512]);
    assert_eq!((open[12], mark[12]), (16, 17), "the worked example has moved");
    let mut file = [&golden[..4096], open, mark].concat();
    for to in [4096, 4097, 4104, 4224, 4232, 4336, 4344, u64::MAX] {
        file[4096 + 64 + 40..4096 + 64 + 48].copy_from_slice(&to.to_le_bytes());
        seal_from(&mut file, 4096);
        open_log(&[&[0], file.as_slice()].concat());
    }
}

/// A fuzzer's find, in a history with power cuts: a file that lacks the last bytes of a frame. Recovery stepped over the
/// frame; what it wrote behind put zeros there, and where these were the right ones, the frame was whole again and all that
/// was acknowledged from then on lay behind damage. So a frame that lacks nothing but zeros counts from the start.
#[test]
fn a_frame_that_lacks_the_end_of_its_checksum_counts_if_that_is_zeros_and_is_stepped_over_for_good_if_not() {
    use seslog::log::{LogReader, LogWriter, Verdict};
    let vector = Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/killed.seslog");
    let golden = std::fs::read(vector).unwrap();
    let last = *frames_of(&golden).last().unwrap();
    let end = golden.len();
    let tag: [u8; 4] = golden[92..96].try_into().unwrap();
    for (missing, ending) in (1..=7).flat_map(|missing| [(missing, 0), (missing, 0xFF), (missing, 0x5A)]) {
        // Another id in the last frame until its checksum ends in such bytes.
        let mut file = golden.clone();
        for id in 0_u32.. {
            file[last + 32..last + 36].copy_from_slice(&id.to_le_bytes());
            fuzz_support::seal_frame(&mut file, last, None, tag).unwrap();
            if file[end - missing.min(2)..].iter().all(|byte| *byte == ending) {
                break;
            }
        }
        file.truncate(end - missing);
        fuzz_support::compare(&file);
        open_log(&[&[0], file.as_slice()].concat());

        let disk = fuzz_support::disk_with(&file);
        let path = Path::new(fuzz_support::PATH);
        let (writer, report) = LogWriter::open(disk.fs(), path, seslog::log::LogOptions::default()).unwrap();
        let expected = match missing <= 2 && ending == 0 {
            true => (Verdict::Clean, 0),
            false => (Verdict::Recovered, 1),
        };
        assert_eq!((report.verdict, report.set_aside.len()), expected, "{missing} bytes missing, {ending:#04x}");
        writer.close().unwrap();
        let (reader, report) = LogReader::open(disk.fs(), path).unwrap();
        assert_eq!(report.verdict, Verdict::Clean);
        assert!(reader.frames(0).all(|frame| frame.is_ok()), "{missing} bytes missing, {ending:#04x}");
        fuzz_support::compare(&disk.bytes(path));
    }
}

/// A fuzzer's find: an append behind a state block that counts as many records as there are numbers added one to that.
#[test]
fn a_state_that_counts_more_records_than_there_can_be_is_counted_no_further() {
    for path in files("format-spec/vectors", "seslog") {
        let golden = std::fs::read(&path).unwrap();
        let blocks = frames_of(&golden).into_iter().filter(|start| matches!(golden[start + 12], 16 | 17));
        for start in blocks.filter(|start| golden[start + 14] == 8) {
            for count in [u64::MAX, u64::MAX - 1, 1 << 63] {
                let mut file = golden.clone();
                file[start + 64 + 32..start + 64 + 40].copy_from_slice(&count.to_le_bytes());
                seal_from(&mut file, start);
                let input = [&[0], file.as_slice()].concat();
                open_log(&input);
                two_readers(&input);
                salvage(&input);
            }
        }
    }
}

/// A fuzzer's find: of a header with known and unknown bits the reference named both kinds.
#[test]
fn only_the_unknown_features_of_a_newer_log_are_named() {
    let golden =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("format-spec/vectors/example.seslog")).unwrap();
    for major in [0_u16, 1, 2] {
        for incompat in [0, 1, 2, 3, 0xffff_ffff_ffff, u64::MAX] {
            let mut file = golden.clone();
            for copy in [0, 2048] {
                file[copy + 8..copy + 10].copy_from_slice(&major.to_le_bytes());
                file[copy + 32..copy + 40].copy_from_slice(&u64::to_le_bytes(incompat));
            }
            two_readers(&[&[1], file.as_slice()].concat());
        }
    }
}
