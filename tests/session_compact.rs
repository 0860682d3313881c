//! What a compaction promises.

#[path = "common/place.rs"]
mod place;

use std::sync::atomic::Ordering;

use place::{Place, append, append_under, assistant, calls, chain, result, user, with_clock};
use seslog::event::{Message, NO_CONTENT, Part, PartBody, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, Session, SessionError};

fn garden(session: &Session) -> [Uuid; 4] {
    [
        user(session, "Plan the garden"),
        assistant(session, "Beds or lawn?"),
        user(session, "Beds"),
        assistant(session, "Four beds then."),
    ]
}

#[test]
fn an_empty_summary_is_refused() {
    let place = Place::new();
    let session = place.create();
    let ids = garden(&session);
    for blank in ["", " \n\t", NO_CONTENT] {
        let refused = session.compact(Compaction::new(blank), Durability::Os);
        assert!(matches!(refused, Err(SessionError::Refused { .. })), "{refused:?}");
    }
    let refused = session.compact(Compaction::with_message(Message::user("no summary")), Durability::Os);
    assert!(matches!(refused, Err(SessionError::Refused { .. })), "{refused:?}");
    assert_eq!(chain(&session), ids);
}

#[test]
fn the_preserved_messages_are_named_not_copied() {
    let place = Place::new();
    let session = place.create();
    let big = user(&session, &"x".repeat(1 << 20));
    let end = session.log().end();
    let done = session.compact(Compaction::new("short").keep(vec![big]), Durability::Os).unwrap();
    assert!(session.log().end() - end < 2_000);
    assert_eq!(chain(&session), [done.boundary, done.summary, big]);
}

#[test]
fn a_window_never_begins_between_a_call_and_its_result() {
    let place = Place::new();
    let session = place.create();
    garden(&session);
    let call = calls(&session, &["a", "b"]);
    let first = result(&session, "a", "1");
    let second = result(&session, "b", "2");
    let end = assistant(&session, "done");
    let done = session.compact(Compaction::new("s").keep_from(second), Durability::Os).unwrap();
    assert_eq!(done.kept, [call, first, second, end]);
    assert_eq!(done.kept_too, [call, first]);
}

#[test]
fn compacting_twice_is_harmless_and_keeps_may_reach_behind_the_older_boundary() {
    let place = Place::new();
    let session = place.create();
    user(&session, "Deploy");
    let call = calls(&session, &["dep"]);
    let first = session.compact(Compaction::new("User wants a deploy."), Durability::Sync).unwrap();
    assert_eq!(first.kept, [call]);
    let answer = append_under(&session, first.boundary, Message::tool_result("dep", "deployed", false));
    let told = assistant(&session, "Deployed to test.");
    let next = user(&session, "Now production");
    let keep = vec![call, answer, told, next];
    let second = session.compact(Compaction::new("Test is deployed.").keep(keep.clone()), Durability::Sync).unwrap();
    let expected = [vec![second.boundary, second.summary], keep].concat();
    assert_eq!(chain(&session), expected);
    session.close().unwrap();
    let session = place.open();
    assert_eq!(chain(&session), expected);
    let again = session.compact(Compaction::new("again").keep_from(next), Durability::Sync).unwrap();
    assert_eq!(chain(&session), [again.boundary, again.summary, next]);
}

#[test]
fn what_hangs_on_the_boundary_hangs_on_its_summary() {
    let place = Place::new();
    let session = place.create();
    let [_, _, beds, four] = garden(&session);
    let keep = vec![beds, four];
    let done = session.compact(Compaction::new("four beds").keep(keep), Durability::Os).unwrap();
    let plants = append_under(&session, done.boundary, Message::user("Which plants?"));
    assert_eq!(chain(&session), [done.boundary, done.summary, beds, four, plants]);
}

#[test]
fn a_rewind_to_before_a_compaction_sees_everything_and_can_be_undone() {
    let place = Place::new();
    let session = place.create();
    let [plan, lawn, _, four] = garden(&session);
    let done = session.compact(Compaction::new("four beds").keep(vec![four]), Durability::Os).unwrap();
    let plants = user(&session, "Which plants?");
    let beans = assistant(&session, "Beans.");
    let _ = session.rewind(Some(lawn), Durability::Os).unwrap();
    session.close().unwrap();
    let session = place.open();
    let instead = user(&session, "A lawn instead");
    assert_eq!(chain(&session), [plan, lawn, instead]);
    assert!(session.state().unwrap().branches().contains(&beans));
    let compacted = [done.boundary, done.summary, four, plants, beans];
    let then: Vec<_> = session.at(beans).unwrap().chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(then, compacted);
    let _ = session.rewind(Some(beans), Durability::Os).unwrap();
    assert_eq!(chain(&session), compacted);
    let _ = session.rewind(None, Durability::Os).unwrap();
    assert!(chain(&session).is_empty());
    let fresh = user(&session, "start over");
    assert_eq!(chain(&session), [fresh]);
}

#[test]
fn a_message_that_is_not_on_the_chain_cant_be_kept() {
    let place = Place::new();
    let session = place.create();
    let [plan, _, _, _] = garden(&session);
    let _ = session.rewind(Some(plan), Durability::Os).unwrap();
    let other = user(&session, "other");
    let _ = session.rewind(Some(plan), Durability::Os).unwrap();
    let refused = session.compact(Compaction::new("s").keep(vec![other]), Durability::Os);
    assert!(matches!(refused, Err(SessionError::Refused { .. })));
}

#[test]
fn changes_before_and_after_the_boundary_hold_for_kept_messages() {
    let place = Place::new();
    let session = place.create();
    let [_, _, beds, four] = garden(&session);
    let _ = session.prune(&[beds, four], Durability::Os).unwrap();
    let patch = |model: &str| vec![("model".to_owned(), seslog::event::Value::Text(model.into()))];
    let _ = session.amend(four, patch("first"), Durability::Os).unwrap();
    let _ = session.compact(Compaction::new("s").keep(vec![beds, four]), Durability::Os).unwrap();
    let _ = session.amend(four, patch("second"), Durability::Os).unwrap();
    let _ = session.tombstone(&[beds], None, Durability::Os).unwrap();
    session.close().unwrap();
    let session = place.open();
    let state = session.state().unwrap();
    assert!(state.entry(beds).unwrap().tombstone.is_some());
    let four = state.entry(four).unwrap();
    assert!(four.pruned_at.is_some());
    assert_eq!(four.event.message().unwrap().model.as_deref(), Some("second"));
}

#[test]
fn a_compaction_under_an_id_that_is_known_is_refused() {
    let place = Place::new();
    let session = place.create();
    let known = garden(&session);
    for (boundary, summary) in [(Some(known[0]), None), (None, Some(known[0]))] {
        let refused = session.compact(Compaction::new("s").with_ids(boundary, summary), Durability::Os);
        assert!(matches!(refused, Err(SessionError::DuplicateId { .. })), "{refused:?}");
    }
    assert_eq!(chain(&session), known);
}

#[test]
fn the_summary_names_its_boundary() {
    let place = Place::new();
    let session = place.create();
    garden(&session);
    let done = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let summary = session.event(done.summary).unwrap().unwrap();
    let named = summary.message().unwrap().metadata.summary_for_boundary_id.clone();
    assert_eq!(named, Some(done.boundary.to_string()));
}

#[test]
fn what_is_told_to_hang_on_a_boundary_says_in_the_log_that_its_summary_stands_for_it() {
    let place = Place::new();
    let session = place.create();
    garden(&session);
    let done = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let next = append_under(&session, done.boundary, Message::user("next"));
    let event = session.event(next).unwrap().unwrap();
    assert_eq!((event.parent, event.hung_on), (Some(done.boundary), seslog::event::HungOn::Event(done.summary)));
}

#[test]
fn a_call_that_the_stream_cut_is_not_kept_as_an_open_one() {
    let place = Place::new();
    let session = place.create();
    let mut part = Part::tool_call("x", "tool", Value::Map(Vec::new()));
    if let PartBody::ToolCall(call) = &mut part.body {
        call.incomplete = true;
    }
    append(&session, Message::assistant_calls(vec![part]));
    let open = calls(&session, &["y"]);
    assert_eq!(session.compact(Compaction::new("s"), Durability::Os).unwrap().kept, [open]);
}

#[test]
fn a_result_beside_the_chain_is_kept_with_its_call() {
    let place = Place::new();
    let session = place.create();
    let first = user(&session, "first");
    let call = calls(&session, &["x"]);
    let _ = session.rewind(Some(first), Durability::Os).unwrap();
    let beside = append_under(&session, call, Message::tool_result("x", "1", false));
    let _ = session.rewind(Some(call), Durability::Os).unwrap();
    assert_eq!(chain(&session), [first, call]);
    let done = session.compact(Compaction::new("s").keep(vec![call]), Durability::Os).unwrap();
    assert_eq!((done.kept, done.kept_too), (vec![call, beside], vec![beside]));
}

#[test]
fn ids_rise_over_a_compaction_whose_own_ids_are_foreign_and_a_clock_that_goes_back() {
    let place = Place::new();
    let (options, clock) = with_clock();
    clock.micros.store(1_700_000_000_000_000, Ordering::Relaxed);
    let session = Session::create(&place.path(), options.clone()).unwrap();
    let before = user(&session, "before");
    let foreign = (Some(Uuid::from_u128(1)), Some(Uuid::from_u128(2)));
    let _ = session.compact(Compaction::new("s").with_ids(foreign.0, foreign.1), Durability::Os).unwrap();
    let state = session.state().unwrap();
    session.close().unwrap();
    clock.micros.store(0, Ordering::Relaxed);
    let session = Session::open(&place.path(), options).unwrap();
    assert_eq!(session.state().unwrap(), state);
    assert!(user(&session, "after") > before);
}

#[test]
fn a_boundary_is_written_by_a_compaction_only() {
    use seslog::event::{CompactBoundary, Kind, Role};
    let place = Place::new();
    let session = place.create();
    let ids = garden(&session);
    let boundary = || Message::new(Role::System, Kind::CompactBoundary(CompactBoundary::default()), Vec::new());
    let alone = session.append(boundary(), Durability::Os);
    assert!(matches!(alone, Err(SessionError::Refused { .. })), "{alone:?}");
    let batch = session.append_batch(vec![boundary().into(), Message::user("x").into()], Durability::Os);
    assert!(matches!(batch, Err(SessionError::Refused { .. })), "{batch:?}");
    assert_eq!(chain(&session), ids);
}
