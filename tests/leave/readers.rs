//! Faults of readers that were found in review, each with what a user would have lost.

use seslog::event::{Body, Kind, Message, Value};
use seslog::interop::{claude_code, codex, import_events, pi, read_events};
use seslog::projection::{Options, View, project};
use seslog::session::Session;
use seslog::wire::{self, Provider};

use crate::shown::{Shown, shown};
use crate::world::{World, whole};

fn pi_entry(id: &str, parent: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-20T07:00:07.037Z","message":{message}}}"#
    )
}

fn pi_file(entries: &[String]) -> Vec<u8> {
    let header = r#"{"type":"session","version":3,"id":"6c0e0009-0000-4000-8000-0000000000b9","timestamp":"2026-03-20T07:00:00.000Z","cwd":"/home/dev/loom"}"#;
    let mut lines = vec![header.to_owned()];
    lines.extend_from_slice(entries);
    (lines.join("\n") + "\n").into_bytes()
}

fn said(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}","timestamp":1}}"#)
}

fn feed_pi(session: &Session, file: &[u8]) -> (seslog::interop::ImportReport, pi::PiReport) {
    pi::read(file, &pi::Options::default()).unwrap().feed(session, "key").unwrap()
}

fn texts(session: &Session) -> Vec<String> {
    let all = shown(&whole(session), View::Model).into_iter();
    all.filter_map(|one| if let Shown::Text(_, text) = one { Some(text) } else { None }).collect()
}

/// An id of a megabyte that a thousand entries name would have cost a gigabyte.
#[test]
fn an_id_that_is_too_long_counts_as_none_and_is_told() {
    let long = "x".repeat(300);
    let file = pi_file(&[pi_entry(&long, "", &said("One.")), pi_entry("a2", &long, &said("Two."))]);
    let world = World::new();
    let session = world.store.create().unwrap();
    let (report, found) = feed_pi(&session, &file);
    assert_eq!(texts(&session), ["One.", "Two."]);
    assert!(found.warnings.iter().any(|warning| warning.code == "long_id"), "{found:?}");
    assert!(report.repairs.iter().any(|repair| repair.reason == "missing_parent"), "{report:?}");
    let line = format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"Hi."}},"uuid":"{long}","timestamp":"2026-03-20T07:00:07.037Z","sessionId":"s"}}"#
    );
    let read = claude_code::read(line.as_bytes(), &claude_code::Options::default()).unwrap();
    assert!(read.report.warnings.iter().any(|warning| warning.code == "long_id"), "{:?}", read.report);
}

/// The name of a model stood whole in each message that it made, and a directory's in each change of the session's meta.
#[test]
fn a_long_word_is_not_copied_whole_into_each_event() {
    let long = "m".repeat(100_000);
    let mut lines = vec![
        r#"{"timestamp":"2026-07-21T09:00:00.000Z","type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-0000000000a1","timestamp":"2026-07-21T09:00:00.000Z","cwd":"/","originator":"x","cli_version":"1"}}"#.to_owned(),
        format!(r#"{{"timestamp":"2026-07-21T09:00:01.000Z","type":"turn_context","payload":{{"cwd":"/{long}","model":"{long}"}}}}"#),
    ];
    for number in 0..50 {
        lines.push(format!(
            r#"{{"timestamp":"2026-07-21T09:00:02.000Z","type":"response_item","payload":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{number}"}}]}}}}"#
        ));
    }
    let file = lines.join("\n");
    let world = World::new();
    let session = world.store.create().unwrap();
    let _ = codex::read(file.as_bytes(), &codex::Options::default()).unwrap().feed(&session, "key").unwrap();
    let path = session.path().to_owned();
    session.close().unwrap();
    let len = std::fs::metadata(path).unwrap().len();
    assert!(len < 2 * file.len() as u64, "{len} bytes for a file of {}", file.len());
}

/// Both entries would have had one name, and the second branch hung on the first entry.
#[test]
fn of_two_entries_with_one_id_the_later_one_is_meant_by_what_follows() {
    let file = pi_file(&[
        pi_entry("a1", "", &said("One.")),
        pi_entry("a2", "a1", &said("Early.")),
        pi_entry("a3", "a2", &said("Below early.")),
        pi_entry("a2", "a1", &said("Late.")),
        pi_entry("a4", "a2", &said("Below late.")),
    ]);
    let world = World::new();
    let session = world.store.create().unwrap();
    let (report, found) = feed_pi(&session, &file);
    assert_eq!(texts(&session), ["One.", "Late.", "Below late."]);
    assert!(report.renamed.is_empty(), "{report:?}");
    let told = found.warnings.iter().find(|warning| warning.code == "duplicate_id").unwrap();
    assert!(told.text.contains("a2@L5"), "{told:?}");
    let again = feed_pi(&session, &file).0;
    assert_eq!(again.written, 0);
    let (out, _) = world.export(&session, seslog::interop::Agent::Pi);
    let there = World::new();
    assert_eq!(texts(&there.import(seslog::interop::Agent::Pi, &out)), ["One.", "Late.", "Below late."]);
}

/// All events of such lines were of the first of January 1970, and a list by time had the session at its end.
#[test]
fn events_without_a_time_have_that_of_the_one_before_or_now() {
    let lines = [
        r#"{"type":"message","id":"a","role":"user","kind":"user_input","content":"One."}"#,
        r#"{"type":"message","id":"b","role":"user","kind":"user_input","content":"Two.","at":1790000000000000}"#,
        r#"{"type":"message","id":"c","role":"user","kind":"user_input","content":"Three."}"#,
    ]
    .join("\n");
    let world = World::new();
    let session = world.store.create().unwrap();
    let report = import_events(&session, "key", read_events(lines.as_bytes())).unwrap();
    assert_eq!(report.undated, 2, "{report:?}");
    let state = whole(&session);
    let times: Vec<i64> = state.entries().iter().map(|entry| entry.event.at).collect();
    assert!(times[0] > 1_700_000_000_000_000, "now: {times:?}");
    assert_eq!(times[1..], [1_790_000_000_000_000; 2]);
    assert_eq!(import_events(&session, "key", read_events(lines.as_bytes())).unwrap().written, 0);
}

const BROKEN: &str = r#"{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"api":"anthropic-messages","provider":"anthropic","model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2},"stopReason":"aborted","timestamp":2}"#;
const LATE: &str = r#"{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"Late."}],"isError":false,"timestamp":3}"#;

/// The turn came out otherwise once its result was there, so the session had it twice.
#[test]
fn a_late_result_of_a_turn_that_was_broken_off_is_added_to_it() {
    let mut entries = vec![pi_entry("a1", "", &said("Read it.")), pi_entry("a2", "a1", BROKEN)];
    let world = World::new();
    let session = world.store.create().unwrap();
    let _ = feed_pi(&session, &pi_file(&entries));
    assert_eq!(shown(&whole(&session), View::Model).len(), 1, "nothing of the turn can be sent yet");
    entries.push(pi_entry("a3", "a2", LATE));
    let (report, _) = feed_pi(&session, &pi_file(&entries));
    assert!(report.renamed.is_empty(), "{report:?}");
    let messages =
        |session: &Session| whole(session).entries().iter().filter(|entry| entry.event.message().is_some()).count();
    assert_eq!(messages(&session), 3);
    let model = shown(&whole(&session), View::Model);
    assert!(
        matches!(&model[1..], [Shown::Call { .. }, Shown::Result { output, .. }] if output == "Late."),
        "{model:?}"
    );
    let at_once = world.store.create().unwrap();
    let _ = feed_pi(&at_once, &pi_file(&entries));
    assert_eq!(shown(&whole(&at_once), View::Model), model, "the same as when the whole file is read at once");
    assert_eq!(feed_pi(&session, &pi_file(&entries)).0.written, 0);
}

/// People looked for their words and found base64.
#[test]
fn a_piece_that_is_no_utf8_can_be_read_and_its_bytes_are_kept() {
    let mut file = pi_file(&[pi_entry("a1", "", &said("One."))]);
    file.extend_from_slice(b"torn \xff words\n");
    let world = World::new();
    let session = world.store.create().unwrap();
    let (_, found) = feed_pi(&session, &file);
    assert!(found.bad_line_details[0].cause.contains("U+FFFD"), "{found:?}");
    let state = whole(&session);
    let kept = state.entries().iter().find_map(|entry| match &entry.event.body {
        Body::Extension(extension) if extension.name == "pi.unplaced" => Some(&extension.payload),
        _ => None,
    });
    let kept = kept.unwrap();
    assert_eq!(kept.get("text").and_then(Value::as_text), Some("torn \u{fffd} words"));
    assert_eq!(kept.get("bytes"), Some(&Value::Bytes(b"torn \xff words".to_vec())));
}

/// A payload without it lacks all that was said before, and nothing told that from a part of no weight.
#[test]
fn a_summary_of_the_providers_that_is_left_out_has_a_code_of_its_own() {
    let item = Value::from([("type", "context_compaction".into()), ("encrypted_content", "b3BhcXVl".into())]);
    let mut message = Message::new(
        seslog::event::Role::Assistant,
        Kind::AssistantText,
        vec![seslog::event::Part::new(seslog::event::PartBody::Opaque(seslog::event::Opaque { value: item }))],
    );
    message.provider = Some("openai".to_owned());
    message.content[0].provider = Some("openai".to_owned());
    let world = World::new();
    let session = world.store.create().unwrap();
    let durability = seslog::log::Durability::Os;
    let _ = session.append(message, durability).unwrap();
    let _ = session.append(Message::user("Go on."), durability).unwrap();
    let messages = project(&whole(&session), View::Model, &Options::default()).messages;
    let options = wire::Options::default();
    for provider in [Provider::OpenAiResponses, Provider::Anthropic] {
        let body = wire::payload(&messages, provider, &options);
        let codes: Vec<_> = body.diagnostics.iter().map(|item| item.code).collect();
        assert!(codes.contains(&"compaction_item_left_out"), "{codes:?}");
    }
}

/// Reads as they reach the operating system.
#[derive(Debug, Default)]
struct Reads(std::sync::atomic::AtomicU64);

impl crate::wrapped_fs::Calls for Reads {
    fn read(&self, file: &dyn seslog::log::FsFile, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        file.read_at(buffer, offset)
    }
}

/// A file that had not changed took two to three times as long as one that was new: each event was looked up in the log, and
/// what it hangs on as well.
#[test]
fn a_file_that_is_known_is_compared_without_a_read_for_each_event() {
    let lines: Vec<String> = (0..2000)
        .map(|number| format!(r#"{{"type":"message","id":"m{number}","at":{number},"role":"user","kind":"user_input","content":"{number}"}}"#))
        .collect();
    let lines = lines.join("\n");
    let fs = crate::wrapped_fs::Wrapped::over(seslog::log::RealFs::shared(), Reads::default());
    let dir = tempfile::tempdir().unwrap();
    let options = seslog::session::SessionOptions { fs: fs.clone(), ..Default::default() };
    let session = seslog::session::Store::at(dir.path(), options).create().unwrap();
    for expected in [2000, 0] {
        let before = fs.0.load(std::sync::atomic::Ordering::Relaxed);
        let report = import_events(&session, "key", read_events(lines.as_bytes())).unwrap();
        assert_eq!(report.written, expected);
        let reads = fs.0.load(std::sync::atomic::Ordering::Relaxed) - before;
        assert!(reads < 200, "{reads} reads for 2000 events, {expected} of them new");
    }
}
