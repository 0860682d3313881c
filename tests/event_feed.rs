//! Neutral lines into a session: ids, what is known, repairs, and an import done twice.

use std::path::PathBuf;

use seslog::event::*;
use seslog::interop::{ImportReport, import_events, read_events};
use seslog::log::RealFs;
use seslog::session::{Clock as _, Session, SessionOptions, SessionReader, SystemClock};

struct Fixture {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.seslog");
        Session::create(&path, SessionOptions::default()).unwrap().close().unwrap();
        Self { _dir: dir, path }
    }

    fn import(&self, lines: &str) -> ImportReport {
        let session = Session::open(&self.path, SessionOptions::default()).unwrap();
        let report = import_events(&session, "key", read_events(lines.as_bytes())).unwrap();
        session.close().unwrap();
        report
    }

    fn events(&self) -> Vec<Event> {
        let reader = SessionReader::open(&self.path, RealFs::shared()).unwrap();
        let state = reader.whole_state().unwrap();
        state.entries().iter().map(|entry| reader.event(entry.event.id).unwrap().unwrap()).collect()
    }

    fn export(&self) -> String {
        self.events().iter().map(|event| to_json(event) + "\n").collect()
    }
}

fn user(id: &str, parent: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"role":"user","kind":"user_input","content":"{text}"}}"#
    ) + "\n"
}

/// All sorts of records, among them each that needs a repair.
fn story() -> String {
    [
        r#"{"type":"session","id":"s"}"#,
        r#"{"type":"meta","at":4,"title":"A title","tags":["a"],"branch":"main"}"#,
        r#"{"type":"message","id":"u1","parentId":null,"role":"user","kind":"user_input","content":"hi","at":5}"#,
        r#"{"type":"message","id":"a1","role":"assistant","kind":"tool_call","content":[{"type":"tool_call","id":"c","name":"n","input":{"x":1.10}}],"stopReason":null,"newField":{"callId":1}}"#,
        r#"{"type":"tool_started","callId":"c"}"#,
        r#"{"type":"message","id":"r1","parentId":"a1","role":"tool","kind":"tool_result","content":[{"type":"tool_result","callId":"c","output":"ok"}],"metadata":{"sourceToolAssistantId":"a1"}}"#,
        r#"{"type":"message","id":"u2","parentId":"ghost","role":"user","kind":"user_input","content":"go on"}"#,
        r#"{"type":"amend","target":"a1","patch":{"stopReason":"tool_use","usage":{"input":1,"output":2,"cacheRead":3}}}"#,
        r#"{"type":"compaction","id":"b1","summary":{"id":"s1","text":"so far","by":"m"},"keep":["u2","nobody"],"tokensBefore":9,"trigger":"auto","why":"full"}"#,
        r#"{"type":"message","id":"u3","parentId":"b1","role":"user","kind":"user_input","content":"more"}"#,
        r#"{"type":"message","id":"u1","parentId":"u3","role":"user","kind":"user_input","content":"the id again"}"#,
        r#"{"type":"message","id":"u4","parentId":"u1","role":"user","kind":"user_input","content":"below"}"#,
        r#"{"type":"prune","targets":["r1"]}"#,
        r#"{"type":"tombstone","targets":["u4"],"reason":"typo"}"#,
        r#"{"type":"head","id":"h","leaf":"u3"}"#,
        r#"{"type":"message","id":"k","role":"user","kind":"hologram","content":[{"type":"beam"}]}"#,
        r#"{"type":"telemetry","callId":7}"#,
        r#"{"type":"extension","name":"x","payload":{"a":[1e400]}}"#,
        r#"{"type":"meta","title":"","cwd":"/w"}"#,
    ]
    .join("\n")
        + "\n"
}

#[test]
fn an_import_done_twice_writes_nothing_the_second_time() {
    let fixture = Fixture::new();
    let first = fixture.import(&story());
    assert_eq!((first.read, first.written, first.known), (18, 18, 0), "{first:#?}");
    let events = fixture.events();
    assert_eq!(events.len(), 19, "a compaction is two events");
    let second = fixture.import(&story());
    assert_eq!((second.read, second.written, second.known), (18, 0, 18), "{second:#?}");
    assert_eq!(fixture.events(), events);

    let other = Fixture::new();
    let _ = other.import(&story());
    assert_eq!(other.events(), events, "the same file gives the same events everywhere");
}

#[test]
fn an_export_read_back_is_known_in_its_session_and_whole_in_another() {
    let fixture = Fixture::new();
    let _ = fixture.import(&story());
    let export = fixture.export();
    let again = fixture.import(&export);
    assert_eq!((again.written, again.read), (0, again.known), "{again:#?}");

    let other = Fixture::new();
    let report = other.import(&export);
    assert!(report.bad_lines.is_empty() && report.refused.is_empty(), "{report:#?}");
    for (copy, event) in other.events().iter().zip(fixture.events()) {
        if let (Body::SessionMeta(copy), Body::SessionMeta(_)) = (&copy.body, &event.body) {
            assert_eq!(copy.tags, ["a"]);
            continue;
        }
        assert_eq!(without_places(copy), without_places(&event));
    }
    assert_eq!(other.events().len(), fixture.events().len());
}

/// A boundary's offsets and the named id of a parent that is not there differ from log to log.
fn without_places(event: &Event) -> Event {
    let mut event = event.clone();
    if event.original_parent.is_some() {
        event.parent = None;
    }
    if let Body::Message(message) = &mut event.body
        && let Kind::CompactBoundary(boundary) = &mut message.kind
    {
        let keep = boundary.keep.iter().map(|kept| Kept { id: kept.id, offset: 0, changed: Vec::new() }).collect();
        *boundary = CompactBoundary { keep, trigger: boundary.trigger.clone(), ..CompactBoundary::default() };
    }
    event
}

#[test]
fn ids_are_kept_or_follow_from_the_file() {
    let own = "01912345-6789-7abc-8def-0123456789ab";
    let fixture = Fixture::new();
    let began = SystemClock.now();
    let line = r#"{"type":"message","role":"user","kind":"user_input","content":"no id"}"#;
    let _ = fixture.import(&format!(
        "{}{}{line}\n",
        user(own, "null", "ours"),
        user("u1", &format!("\"{own}\""), "theirs")
    ));
    let events = fixture.events();
    assert_eq!((events[0].id.to_string().as_str(), &events[0].original_id), (own, &None));
    assert_eq!(events[1].id, foreign_id("events", "key", "u1", 1));
    assert_eq!((events[1].original_id.as_deref(), events[1].parent), (Some("u1"), Some(events[0].id)));
    assert_eq!((events[2].id, &events[2].original_id), (foreign_id("events", "key", "line 3", 1), &None));
    // Nothing in the file says when they happened: so now, as for an append.
    let times: Vec<i64> = events.iter().map(|event| event.at).collect();
    assert!(times.is_sorted() && times[0] >= began && times[2] <= SystemClock.now(), "{times:?}");
}

#[test]
fn the_same_id_with_other_content_is_another_event() {
    let own = "01912345-6789-7abc-8def-0123456789ab";
    let at = |line: String| line.replace("\"type\"", "\"at\":1,\"type\"");
    let fixture = Fixture::new();
    let lines = at([
        user("u1", "null", "one"),
        user("u1", "\"u1\"", "two"),
        user("u1", "null", "one"),
        user("below", "\"u1\"", "below the nearest"),
        user(own, "null", "a"),
        user(own, "null", "b"),
    ]
    .concat());
    let report = fixture.import(&lines);
    assert_eq!((report.written, report.known), (5, 1));
    let renamed: Vec<_> =
        report.renamed.iter().map(|renamed| (renamed.line, renamed.id.as_str(), renamed.nth)).collect();
    assert_eq!(renamed, [(2, "u1", 2), (6, own, 2)]);
    let events = fixture.events();
    assert_eq!(events[1].id, foreign_id("events", "key", "u1", 2));
    assert_eq!(events[1].parent, Some(events[0].id), "the nearest earlier one, not itself");
    assert_eq!(events[2].parent, Some(events[0].id), "line 3 was u1 again, the first one");
    assert_eq!(events[4].original_id.as_deref(), Some(own));
    assert_eq!(fixture.import(&lines).written, 0);
}

#[test]
fn very_many_records_of_one_id_are_each_kept_and_known_again_in_a_grown_file() {
    let lines = |count: usize| -> String {
        // Every tenth says what the one before it says.
        let text = |n: usize| if n % 10 == 9 { format!("text {}", n - 1) } else { format!("text {n}") };
        (0..count).map(|n| user("x", "null", &text(n))).collect()
    };
    let fixture = Fixture::new();
    let first = fixture.import(&lines(60));
    assert!(first.written >= 54 && first.refused.is_empty(), "{first:?}");
    assert_eq!(first.written + first.known, 60);
    assert_eq!(fixture.import(&lines(60)).written, 0);
    let grown = fixture.import(&lines(80));
    assert_eq!(grown.known, 60 + (20 - grown.written));
    assert_eq!(fixture.import(&lines(80)).written, 0);
}

#[test]
fn an_unknown_parent_is_told_and_kept() {
    let fixture = Fixture::new();
    let report = fixture.import(
        &[
            user("u1", "null", "a"),
            user("u2", "\"later\"", "b"),
            user("later", "\"u2\"", "c"),
            user("self", "\"self\"", "d"),
        ]
        .concat(),
    );
    let told: Vec<_> =
        report.repairs.iter().map(|repair| (repair.line, repair.reason, repair.named.as_deref())).collect();
    assert_eq!(told, [(2, "missing_parent", Some("later")), (4, "missing_parent", Some("self"))]);
    let events = fixture.events();
    assert_eq!(events[1].original_parent.as_deref(), Some("later"));
    assert_eq!(events[1].effective_parent(), Some(events[0].id));
    assert_eq!(events[3].effective_parent(), Some(events[2].id));
}

#[test]
fn what_is_new_in_a_grown_file_is_added() {
    let fixture = Fixture::new();
    let (old, new) = (user("u1", "null", "a"), user("u2", "\"u1\"", "b"));
    assert_eq!(fixture.import(&old).written, 1);
    let report = fixture.import(&format!("{old}{new}"));
    assert_eq!((report.written, report.known), (1, 1));
    let at = new.replace("\"type\"", "\"at\":9,\"type\"").replace("u2", "u3");
    let report = fixture.import(&at);
    assert_eq!((report.written, report.repairs.len()), (1, 0), "the parent is known from before");
}

#[test]
fn bad_lines_and_missing_targets_are_told_and_the_rest_is_written() {
    let fixture = Fixture::new();
    let lines = format!(
        "{}nonsense\n{}\n{}\n{}",
        user("u1", "null", "a\\ud83d"),
        r#"{"type":"tombstone","targets":["u1","nobody"]}"#,
        r#"{"type":"head","leaf":"nobody"}"#,
        user("u2", "\"u1\"", "b"),
    );
    let report = fixture.import(&lines);
    assert_eq!((report.read, report.written, report.bad_lines.len(), report.replaced_surrogates), (4, 3, 1, 1));
    let missing: Vec<_> = report.missing.iter().map(|missing| (missing.line, missing.field)).collect();
    assert_eq!(missing, [(3, "targets"), (4, "leaf")]);
    assert_eq!(report.refused.len(), 1);
    assert!(!report.is_clean());
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains(r#""badLines":[{"line":2,"offset":99,"#), "{json}");
}

#[test]
fn a_meta_changes_only_what_it_names() {
    let fixture = Fixture::new();
    let _ = fixture.import(
        "{\"type\":\"meta\",\"title\":\"a\",\"tags\":[\"x\"]}\n{\"type\":\"meta\",\"cwd\":\"/w\",\"tags\":[]}\n",
    );
    let Body::SessionMeta(meta) = &fixture.events()[1].body else { panic!("no meta") };
    assert_eq!((meta.title.as_deref(), meta.cwd.as_deref(), meta.tags.len()), (Some("a"), Some("/w"), 0));
}
