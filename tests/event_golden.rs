//! The bytes and the JSON of a few events, held in files, so that the format cannot drift.
//!
//! A log written by any earlier version must read the same for ever: a change here is a change of the format.

use seslog::event::*;

fn event(id: u128, body: Body) -> Event {
    Event {
        id: Uuid::from_u128(id),
        parent: Some(Uuid::from_u128(id - 1)),
        hung_on: HungOn::Named,
        at: 1_764_450_000_000_000,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body,
        extra: Fields::new(),
    }
}

fn map(fields: &[(&str, Value)]) -> Value {
    Value::Map(fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn call() -> Event {
    let input = map(&[
        ("path", Value::Text("a.md".to_owned())),
        ("factor", Value::Number("1.10".to_owned())),
        ("ratio", Value::Float(0.5)),
        ("big", Value::UInt(u64::MAX)),
        ("small", Value::Int(-3)),
        ("none", Value::Null),
    ]);
    let mut signed = Part::reasoning("Let me see.", Some("c2ln".to_owned()));
    signed.provider = Some("anthropic".to_owned());
    let mut message = Message::assistant_calls(vec![signed, Part::tool_call("c1", "write", input)]);
    message.model = Some("m".to_owned());
    message.request_id = Some("q1".to_owned());
    message.usage = Some(Usage { input: 1000, output: 50, cache_read: Some(10), ..Usage::default() });
    message.stop_reason = StopReason::StreamOpen;
    message.extra = vec![("call_id".to_owned(), Value::Int(1)), ("parent".to_owned(), Value::Int(2))];
    event(2, Body::Message(Box::new(message)))
}

fn result() -> Event {
    let output = vec![Part::text("done"), Part::new(PartBody::Json(map(&[("lines", Value::Int(300))])))];
    let mut message = Message::tool_result_parts("c1", output, false);
    if let PartBody::ToolResult(result) = &mut message.content[0].body {
        result.raw = Some(map(&[("exitCode", Value::Int(0))]));
    }
    message.content[0].extra.push(("call_id".to_owned(), Value::Text("ours in another spelling".to_owned())));
    message.metadata.source_tool_assistant_id = Some(Uuid::from_u128(2).to_string());
    let event = event(3, Body::Message(Box::new(message)));
    Event {
        parent: None,
        hung_on: HungOn::Event(Uuid::from_u128(2)),
        original_parent: Some("ghost".to_owned()),
        ..event
    }
}

fn boundary() -> Event {
    let changed = Changed { id: Uuid::from_u128(0xA), offset: 4096 };
    let keep = vec![
        Kept { id: Uuid::from_u128(2), offset: 8192, changed: vec![changed] },
        Kept { id: Uuid::from_u128(3), offset: 0, changed: Vec::new() },
    ];
    let boundary = CompactBoundary {
        keep,
        trigger: Some(Trigger::Auto),
        carried: vec![Kept { id: Uuid::from_u128(5), offset: 9000, changed: Vec::new() }],
        meta_offset: 4096,
        last_id: Uuid::from_u128(0xB),
    };
    event(4, Body::Message(Box::new(Message::new(Role::System, Kind::CompactBoundary(boundary), Vec::new()))))
}

fn amend() -> Event {
    let patch = vec![
        ("stop_reason".to_owned(), Value::Text("end_turn".to_owned())),
        (
            "usage".to_owned(),
            map(&[("input", Value::Int(1)), ("output", Value::Int(2)), ("cache_read", Value::Int(3))]),
        ),
    ];
    event(6, Body::Amend(Amend::of(Uuid::from_u128(2), patch).unwrap()))
}

fn head() -> Event {
    Event { parent: None, off_chain: true, ..event(7, Body::Head(Head { leaf: None })) }
}

fn unknown() -> Event {
    let fields = vec![
        ("role".to_owned(), Value::Text("user".to_owned())),
        ("beam_width".to_owned(), Value::Int(3)),
        ("request_id".to_owned(), Value::Text("q2".to_owned())),
    ];
    let unknown = Unknown { event_type: "message".to_owned(), kind: Some("hologram".to_owned()), fields };
    Event { hung_on: HungOn::Root, ..event(8, Body::Unknown(unknown)) }
}

type Named = (&'static str, fn() -> Event);

const NAMES: [Named; 6] = [
    ("call", call),
    ("result", result),
    ("boundary", boundary),
    ("amend", amend),
    ("head", head),
    ("unknown_kind", unknown),
];

fn stored(name: &str, ending: &str) -> String {
    // The package that runs this test may be the one in `tests/unified`.
    let manifest = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = format!("tests/data/events/{name}.{ending}");
    let path = manifest.ancestors().map(|dir| dir.join(&file)).find(|path| path.exists()).expect(&file);
    std::fs::read_to_string(path).unwrap().trim_end().to_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn events_have_the_bytes_that_they_always_had() {
    for (name, event) in NAMES {
        let bytes = encode(&event()).unwrap();
        assert_eq!(hex(&bytes), stored(name, "hex"), "{name}");
        assert_eq!(decode(&bytes).unwrap(), event(), "{name}");
    }
}

#[test]
fn events_have_the_json_that_they_always_had() {
    for (name, event) in NAMES {
        assert_eq!(to_json(&event()), stored(name, "json"), "{name}");
    }
}
