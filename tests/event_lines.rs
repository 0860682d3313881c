//! Neutral JSON Lines: every rule of what a field means, and damaged files that give back what is whole.

use std::io::{BufReader, Read};

use seslog::event::*;
use seslog::interop::{Incoming, IncomingBody, IncomingParent, LineError, read_events};

fn read(text: impl AsRef<[u8]>) -> Vec<Result<(usize, Incoming), LineError>> {
    read_events(text.as_ref()).collect()
}

fn one(line: &str) -> Incoming {
    match &read(line)[..] {
        [Ok((1, record))] => record.clone(),
        other => panic!("{line}: {other:?}"),
    }
}

fn message(line: &str) -> Message {
    match one(line).body {
        IncomingBody::Message(message) => *message,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    match &read(line)[..] {
        [Err(error)] => error.to_string(),
        other => panic!("{line}: {other:?}"),
    }
}

const USER: &str = r#""type":"message","role":"user","kind":"user_input""#;

#[test]
fn an_absent_parent_is_the_leaf_and_null_is_a_root() {
    for (parent, expected) in [
        ("", IncomingParent::Leaf),
        (r#","parentId":null"#, IncomingParent::Root),
        (r#","parentId":"u1""#, IncomingParent::Id("u1".to_owned())),
        (r#","parentId":"""#, IncomingParent::Leaf),
    ] {
        assert_eq!(one(&format!("{{{USER}{parent}}}")).parent, expected, "{parent}");
    }
}

#[test]
fn an_empty_id_is_none_and_null_is_absent() {
    let record = one(&format!("{{{USER},\"id\":\"\",\"at\":null,\"provider\":null,\"metadata\":null,\"usage\":null}}"));
    assert_eq!((record.id, record.at), (None, None));
    assert_eq!(
        record.body,
        IncomingBody::Message(Box::new(Message { content: Vec::new(), ..message(&format!("{{{USER}}}")) }))
    );
}

#[test]
fn content_that_is_a_string_is_one_text_part() {
    assert_eq!(message(&format!("{{{USER},\"content\":\"hi\"}}")).content, [Part::text("hi")]);
    let blank = message(&format!("{{{USER},\"content\":\"\"}}"));
    assert_eq!(blank.content, [Part::text("")], "what came from elsewhere is stored as it came");
}

#[test]
fn a_stop_reason_of_null_is_not_an_absent_one() {
    assert_eq!(message(&format!("{{{USER}}}")).stop_reason, StopReason::NotSaid);
    assert_eq!(message(&format!("{{{USER},\"stopReason\":null}}")).stop_reason, StopReason::StreamOpen);
    assert_eq!(message(&format!("{{{USER},\"stopReason\":\"x\"}}")).stop_reason, StopReason::Said("x".to_owned()));
}

#[test]
fn a_calls_input_may_be_json_text_or_none() {
    let call = |fields: &str| {
        let part = format!(r#"{{"type":"tool_call","id":"","name":"n"{fields}}}"#);
        let line = format!(r#"{{"type":"message","role":"assistant","kind":"tool_call","content":[{part}]}}"#);
        message(&line).content[0].as_tool_call().unwrap().clone()
    };
    assert_eq!(call("").input, ToolInput::None);
    assert_eq!(call(r#","input":null"#).input, ToolInput::None);
    assert_eq!(call(r#","input":{"a":1.10}"#).input, ToolInput::Json(Value::parse_json(r#"{"a":1.10}"#).unwrap().0));
    let cut = call(r#","inputText":"{\"a","incomplete":true"#);
    assert_eq!((cut.input, cut.incomplete), (ToolInput::Text("{\"a".to_owned()), true));
}

#[test]
fn a_compaction_is_a_boundary_and_its_summary() {
    let line = r#"{"type":"compaction","id":"b","parentId":"u1","at":5,"summary":{"id":"s","text":"so far","by":"m"},"keep":["u1","x"],"tokensBefore":9,"trigger":"manual","content":"mine"}"#;
    let IncomingBody::Compaction { summary_id, summary, keep, trigger, boundary_extra, .. } = one(line).body else {
        panic!("no compaction")
    };
    assert_eq!(
        (summary_id.as_deref(), keep, trigger),
        (Some("s"), vec!["u1".to_owned(), "x".to_owned()], Some(Trigger::Manual))
    );
    assert_eq!(summary.kind, Kind::CompactSummary(CompactSummary { tokens_before: Some(9) }));
    assert_eq!((summary.content, summary.extra.len()), (vec![Part::text("so far")], 1));
    assert_eq!(boundary_extra, [("~content".to_owned(), Value::Text("mine".to_owned()))], "no field of a compaction's");
    for (line, expected) in [
        (r#"{"type":"compaction","keep":[]}"#, "line 1, byte 0: field `summary`: expected an object, found nothing"),
        (
            r#"{"type":"compaction","summary":{"text":" \n"},"keep":[]}"#,
            "line 1, byte 0: field `summary.text`: expected text that is not blank, found \" \\n\"",
        ),
    ] {
        assert_eq!(error(line), expected);
    }
}

#[test]
fn an_exported_boundary_without_its_summary_is_reported() {
    let boundary = r#"{"type":"message","id":"b","role":"system","kind":"compact_boundary","keep":["u1"]}"#;
    let read = read(format!("{boundary}\n{{{USER},\"content\":\"next\"}}\n"));
    assert_eq!(read.len(), 2);
    let text = read[0].as_ref().unwrap_err().to_string();
    assert_eq!(
        text,
        "line 1, byte 0: expected the boundary's summary on the next line, found another event or the end"
    );
    assert_eq!(read[1].as_ref().unwrap().0, 2);
    assert!(error(boundary).contains("the boundary's summary"));
}

#[test]
fn a_head_may_name_none_but_must_say_so() {
    assert_eq!(one(r#"{"type":"head","leaf":null}"#).body, IncomingBody::Head { leaf: None });
    assert_eq!(one(r#"{"type":"head","leaf":"u1"}"#).body, IncomingBody::Head { leaf: Some("u1".to_owned()) });
    assert_eq!(error(r#"{"type":"head"}"#), "line 1, byte 0: field `leaf`: expected an id or null, found nothing");
}

#[test]
fn a_meta_changes_what_it_names_and_an_empty_text_clears() {
    let IncomingBody::SessionMeta(meta) = one(r#"{"type":"meta","title":"","cwd":"/w","tags":[],"branch":"b"}"#).body
    else {
        panic!("no meta")
    };
    assert_eq!((meta.title.as_deref(), meta.cwd.as_deref(), meta.model), (Some(""), Some("/w"), None));
    assert_eq!((meta.tags, meta.extra.len()), (vec![String::new()], 1));
}

#[test]
fn the_other_events_are_read_field_by_field() {
    assert_eq!(
        one(r#"{"type":"tombstone","targets":["a"],"reason":"r"}"#).body,
        IncomingBody::Tombstone { targets: vec!["a".to_owned()], reason: Some("r".to_owned()) }
    );
    assert!(error(r#"{"type":"tombstone","targets":[]}"#).contains("one id at least"));
    assert_eq!(one(r#"{"type":"prune","targets":["a"]}"#).body, IncomingBody::Prune { targets: vec!["a".to_owned()] });
    let started = ToolStarted { call_id: "c".to_owned(), idempotency_key: Some("k".to_owned()) };
    assert_eq!(
        one(r#"{"type":"tool_started","callId":"c","idempotencyKey":"k"}"#).body,
        IncomingBody::ToolStarted(started)
    );
    let record = one(r#"{"type":"telemetry","id":"t","parentId":null,"kind":3,"callId":"x"}"#);
    let IncomingBody::Unknown(unknown) = record.body else { panic!("not unknown") };
    assert_eq!((unknown.event_type.as_str(), unknown.kind, unknown.fields.len()), ("telemetry", None, 2));
    let record = one(r#"{"type":"prune","targets":[],"hungOn":null,"offChain":true,"later":1}"#);
    assert_eq!(record.extra, [("later".to_owned(), Value::Int(1))], "repairs are made anew");
}

#[test]
fn an_amend_has_the_names_of_the_log() {
    let line = r#"{"type":"amend","target":"a","patch":{"stopReason":"end","usage":{"input":1,"output":2,"cacheRead":3},"content":[{"type":"tool_call","id":"c","name":"n","thoughtSignature":"t"}],"newField":{"callId":1}}}"#;
    let IncomingBody::Amend { patch, .. } = one(line).body else { panic!("no amend") };
    let names: Vec<&str> = patch.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["stop_reason", "usage", "content", "newField"]);
    assert_eq!(patch[1].1.get("cache_read"), Some(&Value::Int(3)));
    let amended = apply_patch(&Message::assistant("old"), &patch).unwrap();
    assert_eq!(amended.usage.unwrap().cache_read, Some(3));
    assert_eq!(amended.content[0].as_tool_call().unwrap().thought_signature.as_deref(), Some("t"));
    assert_eq!(amended.extra.len(), 1);
    for (patch, expected) in [
        (r#"{"role":"user"}"#, "field `patch.role`: expected fields that may change"),
        (r#"{"parentId":"x"}"#, "field `patch.parent_id`: expected fields that may change"),
        (r#"{"content":[{"type":"text"}]}"#, "field `patch.content[0].text`: expected text, found nothing"),
    ] {
        let text = error(&format!(r#"{{"type":"amend","target":"a","patch":{patch}}}"#));
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn an_original_id_is_read_at_both_of_its_places() {
    assert_eq!(one(&format!("{{{USER},\"originalId\":\"x\"}}")).original_id.as_deref(), Some("x"));
    let record = one(&format!("{{{USER},\"metadata\":{{\"originalId\":\"x\"}}}}"));
    assert_eq!(record.original_id.as_deref(), Some("x"));
    let IncomingBody::Message(message) = record.body else { panic!("no message") };
    assert_eq!(message.metadata, Metadata::default());
}

#[test]
fn a_session_line_names_the_session_where_it_comes_first() {
    let text = format!(
        "\u{FEFF}\n  \n{{\"type\":\"session\",\"id\":\"s\",\"v\":1}}\r\n{{{USER}}}\r\n{{\"type\":\"session\"}}"
    );
    let mut reader = read_events(text.as_bytes());
    assert_eq!(reader.head().and_then(|head| head.id.clone()).as_deref(), Some("s"));
    assert_eq!(reader.next().unwrap().unwrap().0, 4);
    assert!(reader.next().unwrap().unwrap_err().to_string().contains("expected an event"));
    assert!(reader.next().is_none());
    assert_eq!(read_events(format!("{{{USER}}}").as_bytes()).head(), None);
}

#[test]
fn a_bad_line_is_told_and_the_next_one_is_read() {
    let good = format!("{{{USER},\"content\":\"fine\"}}");
    for (bad, expected) in [
        ("nonsense", "line 2, byte 70: expected a value, found `n`"),
        ("[1]", "line 2, byte 70: field `event`: expected an object, found a list"),
        ("{\"id\":\"a\"}", "line 2, byte 70: field `type`: expected text, found nothing"),
        (
            "{\"type\":\"message\",\"role\":\"user\",\"kind\":\"user_input\",\"content\":5}",
            "line 2, byte 70: field `content`: expected text or a list of parts, found 5",
        ),
        (
            "{\"type\":\"message\",\"role\":\"user\",\"kind\":\"user_input\",\"id\":5}",
            "line 2, byte 70: field `id`: expected text, found 5",
        ),
        (
            "{\"type\":\"message\",\"kind\":\"user_input\"}",
            "line 2, byte 70: field `role`: expected text, found nothing",
        ),
        ("{\"type\":\"head\",\"leaf\":", "line 2, byte 92: expected a value, found the end"),
    ] {
        let read = read(format!("{good}\n{bad}\n{good}\n"));
        assert_eq!(read.len(), 3, "{bad}");
        let error = read[1].as_ref().unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!((error.raw.as_slice(), error.recovered), (bad.as_bytes(), 0));
        assert_eq!(read[2].as_ref().unwrap().0, 3);
    }
}

/// Agents that were killed while they wrote leave runs of NUL, and the next start writes behind a torn line. A
/// reader that drops such a line loses whole messages.
#[test]
fn whole_records_of_a_damaged_line_are_read() {
    let first = format!("{{{USER},\"id\":\"a\",\"content\":\"one\"}}");
    let second = format!("{{{USER},\"id\":\"b\",\"content\":\"two {{\\\"type\\\"\"}}");
    let torn = "{\"type\":\"message\",\"role\":\"tool\",\"content\":[{\"type\":\"tool_result\",\"raw\":{\"a\":{}},\"output\":\"hal";
    for (line, ids) in [
        (format!("{first}{second}"), vec!["a", "b"]),
        (format!("\0\0\0{first}"), vec!["a"]),
        (format!("{first}\0\0\0\0{second}\0"), vec!["a", "b"]),
        (format!("{torn}{first}"), vec!["a"]),
        (format!("{torn}\0\0{first}{second}"), vec!["a", "b"]),
        (format!("{first}{torn}"), vec!["a"]),
        ("\0\0\0\0".to_owned(), vec![]),
        (torn.to_owned(), vec![]),
    ] {
        let read = read(&line);
        let found: Vec<&str> = read.iter().filter_map(|item| item.as_ref().ok()?.1.id.as_deref()).collect();
        assert_eq!(found, ids, "{line:?}");
        let error = read.last().unwrap().as_ref().unwrap_err();
        assert_eq!((error.recovered, read.len()), (ids.len(), ids.len() + 1), "{line:?}");
    }
}

#[test]
fn a_torn_line_of_many_braces_takes_no_square_time() {
    let line = "{\"a\":[".repeat(40).repeat(20_000);
    let start = std::time::Instant::now();
    assert!(read(&line)[0].is_err());
    assert!(start.elapsed().as_secs() < 20, "{:?} for {} bytes", start.elapsed(), line.len());
}

#[test]
fn a_line_over_the_limit_is_an_error_and_a_large_one_is_not() {
    let large = format!("{{{USER},\"content\":\"{}\"}}", "x".repeat(20_000_000));
    let text = format!("{large}\n{{{USER},\"id\":\"b\"}}\n");
    assert_eq!(read(&text).iter().filter(|item| item.is_ok()).count(), 2);
    let input = BufReader::with_capacity(1000, text.as_bytes());
    let read: Vec<_> = read_events(input).with_line_len_max(1_000_000).collect();
    let error = read[0].as_ref().unwrap_err();
    assert_eq!((error.expected.as_str(), error.raw.len()), ("a shorter line", 64 * 1024));
    assert_eq!(read[1].as_ref().unwrap().1.id.as_deref(), Some("b"));
}

#[test]
fn an_error_of_the_input_ends_the_reading() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the cable is out"))
        }
    }
    let line = format!("{{{USER}}}\n");
    let read: Vec<_> = read_events(BufReader::new(line.as_bytes().chain(Broken))).collect();
    assert!(read[0].is_ok());
    assert_eq!(read[1].as_ref().unwrap_err().found, "the cable is out");
    assert_eq!(read.len(), 2);
}

#[test]
fn what_had_to_be_replaced_is_counted() {
    let text = format!("{{{USER},\"content\":\"caf\\ud83d\"}}\n{{{USER},\"content\":\"\\udc00\"}}");
    let mut reader = read_events(text.as_bytes());
    assert_eq!(reader.by_ref().count(), 2);
    assert_eq!(reader.lossy().surrogates, 2);
}
