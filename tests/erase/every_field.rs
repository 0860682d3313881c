//! No field of any kind of event keeps what is to go.

use proptest::prelude::*;
use serde_json::{Value as Json, json};
use seslog::event::{Body, Event, HungOn, Kind, REDACTED, Uuid, encode, to_json};
use seslog::interop::{import_events, read_events};
use seslog::log::{Durability, FrameType, IndexHint, LogOptions, LogWriter, NewLog, Note, Place, RealFs, Record};
use seslog::session::{Redaction, Session, Store};

use super::event_support;
use super::world::{SECRET, closed, events, file_holds, options, redact, skeleton};

/// An event of every kind, with the secret in every text that is no id.
fn lines() -> Vec<Json> {
    let s = |n: u32| format!("a {SECRET} b{n}");
    let json = json!({"k": [s(1), {SECRET: s(2), format!("{SECRET}x"): 1}], "deep": {"t": [[s(3)]]}});
    let escaped = format!("{{\"a\\u0062\": \"x\\\"{SECRET}\\\"\"}}");
    let text = |t: String| json!([{"type": "text", "text": t}]);
    let message = |role: &str, kind: &str, fields: Json| {
        let mut line = json!({"type": "message", "role": role, "kind": kind, "content": text(s(4)),
            "provider": s(5), "model": s(6), "stopReason": s(7), "unknown field": json, SECRET: s(8),
            "usage": {"input": 1, "output": 2, "more": s(9)},
            "metadata": {"agentName": s(10), "effectiveAgentName": s(11), "tags": [s(12)], "permissionMode": s(13),
                "origin": json, "extra": json, "mine": s(14), "source": s(15)}});
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        line
    };
    let parts = json!([
        {"type": "text", "text": s(20), "note": s(21)},
        {"type": "reasoning", "text": s(22), "signature": "c2ln", "encrypted": "ZW5j", "provider": "anthropic"},
        {"type": "reasoning", "redacted": s(23)},
        {"type": "tool_call", "id": "c1", "name": s(24), "input": json, "thoughtSignature": "c2ln"},
        {"type": "tool_call", "id": "c2", "name": "run", "inputText": escaped},
        {"type": "image", "mediaType": "image/png", "data": format!("QUJD{SECRET}"), "name": s(25)},
        {"type": "image", "mediaType": s(26), "url": format!("https://host/?key={SECRET}")},
        {"type": "file", "mediaType": "text/plain", "url": format!("data:text/plain,{SECRET}")},
        {"type": "file", "mediaType": "text/plain", "path": s(27)},
        {"type": "opaque", "value": {"type": "thinking", "thinking": s(28), "signature": "c2ln"}, "provider": "anthropic"},
        {"type": "hologram", "shape": s(29), SECRET: 7},
    ]);
    let result = json!([{"type": "tool_result", "callId": "c1", "name": s(30), "raw": json, "output": [
        {"type": "text", "text": s(31)}, {"type": "json", "value": json},
        {"type": "image", "mediaType": "image/png", "data": "QUJD"}]}]);
    let card = json!({"type": "message", "role": "user", "kind": "user_input", "content": text(s(40)), "id": "x",
        "metadata": {"agentName": s(41)}, "whatever": s(42)});
    vec![
        message("user", "user_input", json!({})),
        message("system", "system_note", json!({})),
        message("assistant", "assistant_text", json!({"content": parts})),
        message("assistant", "assistant_reasoning", json!({})),
        message("tool", "tool_result", json!({"content": result})),
        message(
            "tool",
            "tool_result",
            json!({"content": [{"type": "tool_result", "callId": "c2", "output": escaped}]}),
        ),
        message(
            "tool",
            "tool_approval_response",
            json!({"content": [
            {"type": "tool_approval_response", "callId": "c1", "approved": true, "reason": s(32)}]}),
        ),
        message("user", "runtime_reminder", json!({})),
        message("user", "handoff_summary", json!({})),
        message("user", "agent_switch_note", json!({})),
        message(
            "user",
            "bash_execution",
            json!({"command": s(50), "output": s(51), "fullOutputPath": s(52), "exitCode": 1}),
        ),
        message("user", "custom", json!({"customType": s(53), "details": json})),
        message("user", "branch_summary", json!({})),
        message("assistant", "progress", json!({"data": json, "hookEvent": s(54)})),
        message("user", "attachment", json!({"attachment": json})),
        message("assistant", "tool_use_summary", json!({"summary": s(55)})),
        message("system", "system_event", json!({"subtype": s(56), "level": s(57), "data": json})),
        message("assistant", "assistant_group", json!({"children": [card]})),
        message("assistant", "agent_council", json!({"members": [card]})),
        message("assistant", "supervisor", json!({"children": [card]})),
        message("assistant", "compressed_group", json!({"children": [card]})),
        message("assistant", "task", json!({"title": s(58), "instruction": s(59), "status": s(60)})),
        message("assistant", "tasks", json!({"tasks": [card]})),
        message("assistant", "group_tasks", json!({"tasks": [card]})),
        message("user", "task_callback", json!({"task": s(61), "status": s(62)})),
        message("user", "verify", json!({"feedback": s(63)})),
        message("user", "mind_read", json!({"thought": s(64)})),
        json!({"type": "message", "id": "to amend", "role": "user", "kind": "user_input", "content": "plain"}),
        json!({"type": "amend", "target": "to amend", "patch": {"content": parts, "model": s(70), "mine": json}}),
        json!({"type": "tombstone", "targets": ["to amend"], "reason": s(71)}),
        json!({"type": "meta", "title": s(72), "cwd": s(73), "tags": [s(74)], "model": s(75), "agent": s(76), "mine": json}),
        json!({"type": "extension", "name": s(77), "payload": json}),
        json!({"type": "telemetry", "heat": json}),
        json!({"type": "compaction", "summary": {"text": s(78)}, "keep": [], "trigger": s(79)}),
    ]
}

#[test]
fn no_field_of_any_kind_of_event_keeps_the_secret() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::at(dir.path(), options());
    let path = closed(&store, |session| {
        let lines: Vec<String> = lines().iter().map(Json::to_string).collect();
        let report = import_events(session, "test", read_events(lines.join("\n").as_bytes())).unwrap();
        assert!(report.bad_lines.is_empty(), "{report:?}");
    });
    assert!(file_holds(&path, SECRET));
    let (before, report) = (events(&path), redact(&path).unwrap());
    let after = events(&path);

    assert!(!file_holds(&path, SECRET));
    assert!(after.iter().all(|event| !to_json(event).contains(SECRET)));
    assert!(report.rewritten && report.left.is_empty(), "{report:?}");
    assert_eq!((report.events, report.changed.len()), (before.len() as u64, before.len() - 1), "all but the plain one");
    // Twice three in parts (in the message and in the patch), and one in each opaque part.
    assert_eq!((report.signatures_dropped, report.media_dropped), (2 * 5, 2 * 2));
    assert!(before.iter().map(skeleton).eq(after.iter().map(skeleton)));
    let texts = after.iter().map(to_json).filter(|json| json.contains(REDACTED)).count();
    assert_eq!(texts, report.changed.len());

    let again = redact(&path).unwrap();
    assert!(!again.rewritten && again.changed.is_empty(), "{again:?}");
    Session::open(&path, options()).unwrap().close().unwrap();
}

/// A log with these events, one a record, however little they fit each other.
fn log_of(dir: &std::path::Path, bodies: Vec<Body>) -> std::path::PathBuf {
    let id = Uuid::from_u128(0x0193_a000_0000_7000_8000_0000_0000_0001);
    let path = dir.join(format!("{id}.seslog"));
    let log = LogWriter::create(RealFs::shared(), &path, NewLog::new(id, 5), LogOptions::default()).unwrap();
    for (index, mut body) in bodies.into_iter().enumerate() {
        if let Body::Message(message) = &mut body
            && let Kind::CompactBoundary(boundary) = &mut message.kind
        {
            // One that names what is not there is refused.
            boundary.meta_offset = 0;
        }
        let event = Event {
            id: Uuid::from_u128(1000 + index as u128),
            parent: None,
            hung_on: HungOn::Named,
            at: index as i64,
            original_id: None,
            original_parent: None,
            off_chain: false,
            body,
            extra: Vec::new(),
        };
        let record = Record {
            frame_type: FrameType::Event,
            skippable: true,
            id: event.id,
            parent: Place::None,
            boundary: Place::None,
            payload: &encode(&event).unwrap(),
            index: IndexHint::Plain,
        };
        let _ = log.append(&[record], Note::default(), Durability::Os).unwrap();
    }
    log.close().unwrap();
    path
}

/// Fields of ours that hold ids, kinds and the like, by JSON's names.
const FIXED: &[&str] = &[
    "type",
    "id",
    "parentId",
    "role",
    "kind",
    "requestId",
    "messageId",
    "fromId",
    "toolUseId",
    "parentToolUseId",
    "toolUseIds",
    "callId",
    "itemId",
    "approvalId",
    "compactBoundaryId",
    "summaryForBoundaryId",
    "sourceToolAssistantId",
    "runId",
    "targets",
    "target",
    "leaf",
    "idempotencyKey",
    "keep",
    "at",
    "trigger",
    "hookEvent",
    "source",
];
/// Fields of ours that hold any JSON.
const FREE: &[&str] = &["input", "raw", "value", "details", "data", "attachment", "origin", "extra", "payload"];

/// Every text but ids is what was put in, and so is every name inside of JSON.
fn nothing_is_left(json: &Json, is_free: bool, whole: &Json) {
    match json {
        Json::String(text) => assert!(text.is_empty() || text == REDACTED, "`{text}` is left in {whole}"),
        Json::Array(items) => items.iter().for_each(|item| nothing_is_left(item, is_free, whole)),
        Json::Object(fields) => {
            for (name, value) in fields {
                assert!(!is_free || name.is_empty() || name.starts_with("[redacted"), "`{name}` is left in {whole}");
                if !is_free && name == "usage" {
                    const COUNTS: &[&str] = &["input", "output", "cacheRead", "cacheWrite", "reasoning", "total"];
                    let others = value.as_object().unwrap().iter().filter(|(name, _)| !COUNTS.contains(&name.as_str()));
                    others.for_each(|(_, value)| nothing_is_left(value, true, whole));
                } else if is_free || !FIXED.contains(&name.as_str()) {
                    nothing_is_left(value, is_free || FREE.contains(&name.as_str()), whole);
                }
            }
        }
        Json::Number(number) => assert!(!is_free, "{number} is left in {whole}"),
        Json::Null | Json::Bool(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_pattern_that_fits_all_leaves_no_text_but_ids(
        bodies in prop::collection::vec(event_support::body(), 1..8)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = log_of(dir.path(), bodies);
        let before = events(&path);
        let all = Redaction::new().pattern("(?s).+").unwrap();
        let report = Session::redact(&path, &all, &options()).unwrap();
        let after = events(&path);
        prop_assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!((before.id, before.at), (after.id, after.at));
            let json: Json = serde_json::from_str(&to_json(after)).unwrap();
            nothing_is_left(&json, false, &json);
        }
        let again = Session::redact(&path, &all, &options()).unwrap();
        prop_assert!(!again.rewritten, "{:?}", again);
        prop_assert!(report.changed.len() <= before.len());
    }

    #[test]
    fn an_event_that_is_taken_out_says_nothing_any_more(bodies in prop::collection::vec(event_support::body(), 1..5)) {
        let dir = tempfile::tempdir().unwrap();
        let path = log_of(dir.path(), bodies);
        let before = events(&path);
        let known = before.iter().filter(|event| !matches!(event.body, Body::Unknown(_)));
        let all = known.fold(Redaction::new(), |all, event| all.event(event.id));
        let Ok(report) = Session::redact(&path, &all, &options()) else { return Ok(()) };
        let after = events(&path);
        for (before, after) in before.iter().zip(&after) {
            if matches!(before.body, Body::Unknown(_)) {
                prop_assert_eq!(before, after);
                continue;
            }
            prop_assert_eq!((before.id, before.at, before.body.type_name()), (after.id, after.at, after.body.type_name()));
            // The places in a boundary are the new file's own.
            let is_changed = before.boundary().is_none() && before != after;
            prop_assert!(!is_changed || report.changed.contains(&before.id), "{before:#?} {after:#?}");
            if let (Some(before), Some(after)) = (before.message(), after.message()) {
                let pairs = |message: &seslog::event::Message| {
                    let calls: Vec<(String, String)> =
                        message.calls().map(|call| (call.id.clone(), call.name.clone())).collect();
                    (calls, message.results().map(|result| result.call_id.clone()).collect::<Vec<_>>())
                };
                prop_assert_eq!(pairs(before), pairs(after));
                prop_assert_eq!(before.content.len(), after.content.len());
                prop_assert!(after.content.iter().all(|part| part.as_text().is_none_or(|text| text.is_empty() || text == REDACTED)));
            }
        }
        prop_assert!(!Session::redact(&path, &all, &options()).map(|report| report.rewritten).unwrap_or(false));
    }
}
