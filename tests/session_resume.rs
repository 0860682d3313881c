//! What a resume tells, and what it makes of calls that have no result.

#[path = "common/place.rs"]
mod place;

use place::{Place, append, assistant, calls, chain, leaf, result, user};
use seslog::event::{
    ApprovalRequest, ApprovalResponse, Changed, CompactBoundary, Kept, Kind, MISSING_TOOL_RESULT, Message, Part,
    PartBody, Role, StopReason, ToolCall, ToolInput, Uuid, Value,
};
use seslog::log::{Durability, RealFs};
use seslog::session::{CallState, Compaction, NewEvent, Opened, Session, SessionReader};

fn ask(session: &Session, call: &str) {
    let request = ApprovalRequest { call_id: call.into(), approval_id: None };
    let part = Part::new(PartBody::ToolApprovalRequest(request));
    append(session, Message::new(Role::Assistant, Kind::ToolApprovalRequest, vec![part]));
}

fn answer(session: &Session, call: &str, approved: bool) {
    let response = ApprovalResponse { call_id: call.into(), approval_id: None, approved, reason: None };
    let part = Part::new(PartBody::ToolApprovalResponse(response));
    append(session, Message::new(Role::Tool, Kind::ToolApprovalResponse, vec![part]));
}

fn states(session: &Session) -> Vec<(String, CallState)> {
    session.report().dangling_calls.iter().map(|call| (call.call_id.clone(), call.state)).collect()
}

#[test]
fn a_call_that_came_by_an_amend_is_asked_for_started_and_answered_like_any_other() {
    let place = Place::new();
    let session = place.create();
    user(&session, "go");
    let mut early = Message::assistant("Let me");
    early.stop_reason = StopReason::StreamOpen;
    let streamed = append(&session, early);
    let call = |id: &str| {
        let fields = [("type", "tool_call"), ("id", id), ("name", "run")];
        Value::Map(fields.map(|(name, text)| (name.to_owned(), Value::Text(text.to_owned()))).to_vec())
    };
    let amend = |calls: &[&str]| {
        let content = Value::List(calls.iter().map(|id| call(id)).collect());
        let _ = session.amend(streamed, vec![("content".into(), content)], Durability::Sync).unwrap();
    };
    amend(&["gone"]);
    amend(&["done", "started", "denied", "silent"]);
    ask(&session, "denied");
    answer(&session, "denied", false);
    let answered = result(&session, "done", "ok");
    let _ = session.tool_started("started", Some("key-1"), Durability::Sync).unwrap();
    assert_eq!(session.with_state(|state| state.leaf().map(|leaf| leaf.event.id)).unwrap(), Some(answered));
    let expected = [
        ("started".to_owned(), CallState::StartedOutcomeUnknown),
        ("denied".to_owned(), CallState::Denied),
        ("silent".to_owned(), CallState::NotStarted),
    ];
    let live = session.state().unwrap();
    drop(session);
    let session = place.open();
    assert_eq!(states(&session), expected);
    assert!(session.state().unwrap() == live, "what was kept append by append is what is replayed");
    let _ = session.compact(Compaction::new("so far"), Durability::Sync).unwrap();
    let live = session.state().unwrap();
    drop(session);
    let session = place.open();
    assert_eq!(states(&session), expected, "and so behind a compaction");
    assert!(session.state().unwrap() == live);
}

#[test]
fn calls_without_a_result_are_sorted_by_what_is_known_of_them() {
    let place = Place::new();
    let session = place.create();
    user(&session, "go");
    calls(&session, &["waits", "denied", "approved", "started", "silent", "done"]);
    for call in ["waits", "denied", "approved", "started"] {
        ask(&session, call);
    }
    answer(&session, "denied", false);
    answer(&session, "approved", true);
    answer(&session, "started", true);
    let _ = session.tool_started("started", Some("key-1"), Durability::Sync).unwrap();
    let _ = session.tool_started("done", None, Durability::Sync).unwrap();
    result(&session, "done", "ok");
    let expected = [
        ("waits".to_owned(), CallState::WaitingForApproval),
        ("denied".to_owned(), CallState::Denied),
        ("approved".to_owned(), CallState::ApprovedNotStarted),
        ("started".to_owned(), CallState::StartedOutcomeUnknown),
        ("silent".to_owned(), CallState::NotStarted),
    ];
    // The same after a compaction that keeps nothing by itself: open calls are kept with all that is known of them.
    let compacted = session.compact(Compaction::new("so far"), Durability::Sync).unwrap();
    assert!(!compacted.kept_too.is_empty());
    session.close().unwrap();
    let session = place.open();
    assert_eq!(states(&session), expected);
    assert!(session.report().last_turn_interrupted);
    assert_eq!(session.report().boundary, Some(compacted.boundary));
    let started = session.report().dangling_calls.iter().find(|call| call.call_id == "started").unwrap();
    assert_eq!(started.idempotency_key.as_deref(), Some("key-1"));
    // And after a second one.
    let _ = session.compact(Compaction::new("again"), Durability::Sync).unwrap();
    session.close().unwrap();
    assert_eq!(states(&place.open()), expected);
}

#[test]
fn closing_dangling_calls_answers_each_once_and_a_real_result_still_counts() {
    let place = Place::new();
    let session = place.create();
    user(&session, "go");
    let message = calls(&session, &["a", "b"]);
    let closed = session.close_dangling_tool_calls(Durability::Sync).unwrap();
    assert_eq!(closed.len(), 2);
    assert!(session.close_dangling_tool_calls(Durability::Sync).unwrap().is_empty());
    let state = session.state().unwrap();
    let synthetic = state.entry(closed[0]).unwrap().event.message().unwrap();
    assert!(synthetic.metadata.synthetic);
    assert!(synthetic.results().next().unwrap().is_error);
    let text = seslog::event::ToolOutput::Text(MISSING_TOOL_RESULT.into());
    assert_eq!(synthetic.results().next().unwrap().output, text);
    let real = result(&session, "a", "it did run");
    let state = session.state().unwrap();
    assert_eq!(state.pairing().result_of(message, 0).unwrap().0.event.id, real);
    assert_eq!(state.pairing().result_of(message, 1).unwrap().0.event.id, closed[1]);
}

#[test]
fn half_a_call_is_told_and_never_counts_as_dangling() {
    let place = Place::new();
    let session = place.create();
    user(&session, "write the file");
    let call = ToolCall {
        id: "w7".into(),
        name: "write".into(),
        input: ToolInput::Text("{\"path\":\"a.md\",\"text\":\"half a sen".into()),
        incomplete: true,
        thought_signature: None,
    };
    let mut message = Message::assistant_calls(vec![Part::text("Writing now."), Part::new(PartBody::ToolCall(call))]);
    message.stop_reason = StopReason::StreamOpen;
    let half = append(&session, message.clone());
    session.close().unwrap();
    let session = place.open();
    assert!(session.report().dangling_calls.is_empty());
    assert_eq!(session.report().incomplete_calls[0].call_id, "w7");
    assert_eq!(session.report().incomplete_calls[0].state, CallState::Incomplete);
    assert!(session.report().last_turn_interrupted);
    assert_eq!(session.event(half).unwrap().unwrap().message(), Some(&message));
    assert!(session.close_dangling_tool_calls(Durability::Os).unwrap().is_empty());
}

#[test]
fn a_turn_is_interrupted_until_the_model_has_answered() {
    let place = Place::new();
    let session = place.create();
    let interrupted = |session: &Session| {
        SessionReader::open(session.path(), RealFs::shared()).unwrap().report().last_turn_interrupted
    };
    assert!(!interrupted(&session));
    user(&session, "question");
    assert!(interrupted(&session));
    calls(&session, &["a"]);
    assert!(interrupted(&session));
    result(&session, "a", "x");
    assert!(interrupted(&session));
    assistant(&session, "answer");
    assert!(!interrupted(&session));
}

#[test]
fn a_killed_session_says_what_was_set_aside_and_goes_on() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    session.sync().unwrap();
    let before = session.log().end();
    let two = append_synced(&session, "two");
    let end = session.log().end();
    drop(session);
    // The second frame was torn by a power cut: its last seven bytes, and all behind it, never reached the disk.
    let file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
    file.set_len(end - 7).unwrap();
    // The watermark of the clean close would tell of durable bytes that are gone; a killed writer wrote none.
    clear_watermark(&place);
    let session = place.open();
    let report = session.report();
    assert_eq!(report.open, Opened::Recovered);
    // Frames begin at multiples of eight, so the range reaches up to the next one.
    assert_eq!((report.cut_events, report.cut_bytes), (1, (end - 7 - before).next_multiple_of(8)));
    assert_eq!(report.set_aside[0].events, [two]);
    assert_eq!(leaf(&session), Some(one));
    let three = user(&session, "three");
    session.close().unwrap();
    let session = place.open();
    assert_eq!(session.report().open, Opened::Clean);
    assert_eq!(chain(&session), [one, three]);
}

fn append_synced(session: &Session, text: &str) -> seslog::event::Uuid {
    session.append(Message::user(text), Durability::Sync).unwrap().id
}

/// Zeroes the watermark slot at byte 1,024 (FORMAT.md, header page).
fn clear_watermark(place: &Place) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
    file.write_all_at(&[0; 64], 1024).unwrap();
}

#[test]
fn what_a_boundary_names_is_found_by_its_id_and_what_is_nowhere_is_told() {
    let place = Place::new();
    let session = place.create();
    let (one, two) = (user(&session, "one"), user(&session, "two"));
    let wrong = session.log().find(two).unwrap().unwrap().offset;
    let (lost, change) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let kept = |id, changed| Kept { id, offset: wrong, changed };
    let keep = vec![kept(one, vec![Changed { id: change, offset: wrong }]), kept(lost, Vec::new())];
    let boundary = Kind::CompactBoundary(CompactBoundary { keep, ..CompactBoundary::default() });
    // As a foreign or an older writer may have left it: an append refuses it.
    let event = NewEvent::from(Message::new(Role::System, boundary, Vec::new())).with_id(Uuid::from_u128(3));
    let boundary = Uuid::from_u128(3);
    let mut import = session.import().unwrap();
    import.add(event).unwrap();
    import.finish().unwrap();
    session.close().unwrap();
    let session = place.open();
    assert_eq!(chain(&session), [boundary, one], "an offset is a hint");
    assert_eq!(session.report().missing_kept, [change, lost]);
}

#[test]
fn a_point_inside_a_compaction_shows_all_of_it() {
    let place = Place::new();
    let session = place.create();
    user(&session, "one");
    let done = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    user(&session, "two");
    let state = session.at(done.boundary).unwrap();
    assert_eq!(place::ids(state.chain()), [done.boundary, done.summary]);
}

#[test]
fn a_reader_follows_a_writer_back_over_a_compaction() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let done = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let mut reader = SessionReader::open(&place.path(), RealFs::shared()).unwrap();
    assert_eq!(reader.report().leaf, Some(done.summary));
    let _ = session.rewind(Some(one), Durability::Os).unwrap();
    assert_eq!(reader.follow().unwrap(), 1);
    assert_eq!(place::ids(reader.state().chain()), [one]);
    assert_eq!((reader.report().leaf, reader.report().boundary), (Some(one), None));
}

#[test]
fn a_turn_is_interrupted_by_a_question_a_result_or_a_stream_without_an_end_and_not_by_what_a_program_said() {
    let ends: [(&str, Message, bool); 7] = [
        ("a question", Message::user("go"), true),
        ("a reminder", Message::reminder("x"), false),
        ("a stop by the person", Message::interrupted(false), false),
        ("a finished answer", Message::assistant("done"), false),
        ("an open stream", Message { stop_reason: StopReason::StreamOpen, ..Message::assistant("do") }, true),
        (
            "a stream cut at the limit",
            Message { stop_reason: StopReason::Said("length".into()), ..Message::assistant("do") },
            false,
        ),
        ("a result", Message::tool_result("c", "x", false), true),
    ];
    for (what, last, interrupted) in ends {
        let place = Place::new();
        let session = place.create();
        calls(&session, &["c"]);
        result(&session, "c", "first");
        session.append(last, Durability::Os).unwrap().wait().unwrap();
        session.close().unwrap();
        assert_eq!(place.open().report().last_turn_interrupted, interrupted, "{what}");
    }
}
