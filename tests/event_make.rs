//! What callers make is what a projection can read, and a patch replaces what it names.

use seslog::event::*;

#[test]
fn a_message_is_never_without_words() {
    for message in [
        Message::user(""),
        Message::assistant(" \n"),
        Message::system_note("\t"),
        Message::reminder(""),
        Message::handoff_summary(""),
        Message::branch_summary("", None),
    ] {
        assert_eq!(message.content, [Part::text(NO_CONTENT)], "{:?}", message.kind);
    }
    assert_eq!(Message::bash(BashExecution::default()).content, [], "its fields stand for it");
    let summary = Message::compact_summary("", None);
    assert_eq!(summary.content, [Part::text("")], "left blank, so that a compaction refuses it");
}

#[test]
fn what_the_runtime_says_counts_as_nobodys_words() {
    for message in
        [Message::interrupted(true), Message::interrupted(false), Message::missing_result("c"), Message::reminder("x")]
    {
        assert!(message.is_synthetic() && message.metadata.synthetic);
    }
    assert!(Message::user(INTERRUPTED).is_synthetic(), "an import does not flag it");
    assert!(Message::tool_result("c", MISSING_TOOL_RESULT, true).is_synthetic());
    assert!(!Message::user("[Request interrupted by user] why?").is_synthetic());
    assert!(!Message::bash(BashExecution::default()).is_synthetic());
}

#[test]
fn a_change_must_change_something() {
    assert!(Tombstone::of([], None).is_err());
    assert!(Prune::of([]).is_err());
    assert!(Amend::of(Uuid::nil(), Fields::new()).is_err());
    let patch = vec![("kind".to_owned(), Value::Text("user_input".to_owned()))];
    assert_eq!(Amend::of(Uuid::nil(), patch), Err(EventError::FixedField { field: "kind".to_owned() }));
    assert_eq!(Tombstone::of([Uuid::max()], None).unwrap().targets, [Uuid::max()]);
}

fn patch(fields: &[(&str, Value)]) -> Fields {
    fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn a_patch_replaces_each_field_whole() {
    let mut message = Message::assistant("half an ans");
    message.usage = Some(Usage { input: 5, output: 1, cache_read: Some(4), ..Usage::default() });
    message.metadata.run_id = Some("r".to_owned());
    message.extra = patch(&[("a", Value::Int(1)), ("b", Value::Int(2))]);
    let usage = Value::Map(patch(&[("input", Value::Int(6)), ("output", Value::Int(2))]));
    let after = apply_patch(
        &message,
        &patch(&[
            ("usage", usage),
            ("stop_reason", Value::Text("end".to_owned())),
            ("content", Value::Text("half an answer and the rest".to_owned())),
            ("b", Value::Int(3)),
            ("c", Value::Int(4)),
        ]),
    )
    .unwrap();
    assert_eq!(after.usage, Some(Usage { input: 6, output: 2, ..Usage::default() }), "the old cache_read is gone");
    assert_eq!(after.content, [Part::text("half an answer and the rest")]);
    assert_eq!(after.stop_reason, StopReason::Said("end".to_owned()));
    assert_eq!(after.metadata, message.metadata, "what is not named stays");
    assert_eq!(after.extra, patch(&[("a", Value::Int(1)), ("b", Value::Int(3)), ("c", Value::Int(4))]));

    let cleared = apply_patch(&after, &patch(&[("usage", Value::Null), ("stop_reason", Value::Null)])).unwrap();
    assert_eq!((cleared.usage, cleared.stop_reason), (None, StopReason::StreamOpen));
}

#[test]
fn a_patch_reaches_the_kinds_own_fields() {
    let running =
        Message::bash(BashExecution { command: "make".to_owned(), truncated: true, ..BashExecution::default() });
    let change =
        patch(&[("exit_code", Value::Int(2)), ("output", Value::Text("no".to_owned())), ("subtype", Value::Int(1))]);
    let done = apply_patch(&running, &change).unwrap();
    let Kind::BashExecution(bash) = &done.kind else { panic!("the kind changed") };
    assert_eq!(
        (bash.command.as_str(), bash.output.as_str(), bash.exit_code, bash.truncated),
        ("make", "no", Some(2), true)
    );
    assert_eq!(done.extra, patch(&[("subtype", Value::Int(1))]), "a field of another kind's is none of ours");
}

#[test]
fn a_patch_of_the_wrong_type_changes_nothing() {
    let message = Message::user("x");
    for (change, expected) in [
        (patch(&[("content", Value::Int(1))]), "field `content`: expected text or a list of parts, found 1"),
        (
            patch(&[("role", Value::Text("user".to_owned()))]),
            "a patch can't change `role`: append a new message instead",
        ),
        (patch(&[("metadata", Value::Text(String::new()))]), "field `metadata`: expected an object, found \"\""),
    ] {
        assert_eq!(apply_patch(&message, &change).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_message_in_a_card_comes_back() {
    let mut message = Message::assistant_calls(vec![Part::tool_call("c", "n", Value::Null)]);
    message.extra =
        patch(&[("id", Value::Int(1)), ("at", Value::Int(2)), ("exit_code", Value::Int(3)), ("x", Value::Null)]);
    let card = CardMessage { id: Some("x1".to_owned()), at: Some(3), message };
    let item = card.to_item().unwrap();
    assert_eq!(CardMessage::read(&item).unwrap(), card);
    let group =
        Message::new(Role::Assistant, Kind::AssistantGroup(Children { children: vec![item.clone()] }), Vec::new());
    let text = serde_json::to_string(&InJson(&group)).unwrap();
    assert!(
        text.contains(r#""children":[{"type":"message","id":"x1","at":3,"role":"assistant","kind":"tool_call","#),
        "{text}"
    );
    assert!(CardMessage::read(&Value::Null).is_err());
}

#[test]
fn values_are_made_of_what_an_application_has() {
    let made = Value::from([("text", "a".into()), ("n", Value::from(3_i64)), ("text", Value::from(String::from("b")))]);
    assert_eq!(made, Value::parse_json(r#"{"text":"b","n":3}"#).unwrap().0, "a name given twice keeps the last value");
    assert_eq!(Value::from(7_u64), Value::Int(7), "as the parser reads it");
    assert_eq!(Value::from(u64::MAX), Value::UInt(u64::MAX));
    assert_eq!(Value::from(vec![Value::from(true)]), Value::List(vec![Value::Bool(true)]));
    let map = std::collections::BTreeMap::from([("a", vec![1.5]), ("b", vec![])]);
    assert_eq!(Value::from_serialize(&map).unwrap(), Value::parse_json(r#"{"a":[1.5],"b":[]}"#).unwrap().0);
    assert_eq!(Value::from_serialize(&made).unwrap(), made);
    let no_json = std::collections::BTreeMap::from([(vec![1], 2)]);
    assert!(matches!(Value::from_serialize(&no_json), Err(EventError::NotStorable { .. })));
}
