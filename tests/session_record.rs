//! Recording a list of which a part is known.

#[path = "common/place.rs"]
mod place;

use place::{Place, chain};
use seslog::event::{Body, CompactBoundary, CompactSummary, Event, HungOn, Kind, Message, Part, Role, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Recorded, Session};

fn event(n: u128, message: Message) -> Event {
    Event {
        id: Uuid::from_u128(n << 64 | 0x8000_0000_0000_0000),
        parent: None,
        hung_on: HungOn::Named,
        at: n as i64,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(message)),
        extra: Vec::new(),
    }
}

fn users(range: std::ops::Range<u128>) -> Vec<Event> {
    range.map(|n| event(n, Message::user(format!("message {n}")))).collect()
}

fn ids(events: &[Event]) -> Vec<Uuid> {
    events.iter().map(|event| event.id).collect()
}

fn record(session: &Session, events: &[Event]) -> Recorded {
    session.record(events, Durability::Os).unwrap()
}

#[test]
fn only_what_is_new_is_written_and_hangs_on_the_known_beginning() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..6);
    assert_eq!(record(&session, &list[..3]).written, ids(&list[..3]));
    let end = session.log().end();
    let nothing = record(&session, &list[..3]);
    assert_eq!((nothing.written.len(), nothing.known, session.log().end()), (0, 3, end));
    assert_eq!(record(&session, &list).written, ids(&list[3..]));
    assert_eq!(chain(&session), ids(&list));
}

#[test]
fn a_compaction_before_kept_messages_chains_rightly() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..6);
    let _ = record(&session, &list);
    let boundary = event(10, Message::new(Role::System, Kind::CompactBoundary(CompactBoundary::default()), vec![]));
    let kind = Kind::CompactSummary(CompactSummary::default());
    let summary = event(11, Message::new(Role::User, kind, vec![Part::text("so far")]));
    let next = event(12, Message::user("next"));
    let after: Vec<Event> = [vec![boundary, summary], list[3..].to_vec(), vec![next]].concat();
    let recorded = record(&session, &after);
    assert_eq!((recorded.written.len(), recorded.known), (3, 2));
    assert_eq!(chain(&session), ids(&after));
    session.close().unwrap();
    let session = place.open();
    assert_eq!(chain(&session), ids(&after));
    assert!(record(&session, &after).written.is_empty());
}

#[test]
fn a_known_message_whose_content_changed_is_told_and_left() {
    let place = Place::new();
    let session = place.create();
    let mut list = users(1..3);
    let _ = record(&session, &list);
    list[0].body = Body::Message(Box::new(Message::user("something else")));
    let recorded = record(&session, &list);
    assert_eq!(recorded.changed, [list[0].id]);
    assert!(recorded.written.is_empty());
}

#[test]
fn a_list_that_repeats_an_id_writes_it_once() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..3);
    let twice = [list.clone(), list.clone()].concat();
    assert_eq!(record(&session, &twice).written, ids(&list));
    assert_eq!(chain(&session), ids(&list));
}

#[test]
fn recording_what_the_window_holds_reads_nothing_of_the_file() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..3000);
    let _ = record(&session, &list);
    session.close().unwrap();
    let session = place.open();
    let before = session.log().io();
    assert_eq!(record(&session, &list).known, 2999);
    assert_eq!(session.log().io(), before);
}

#[test]
fn an_amended_message_is_known_as_it_was_written() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..3);
    let _ = record(&session, &list);
    let patch = vec![("model".to_owned(), Value::Text("m".to_owned()))];
    let _ = session.amend(list[0].id, patch, Durability::Os).unwrap();
    assert!(record(&session, &list).changed.is_empty());
}

#[test]
fn re_recording_is_a_no_op_when_the_messages_are_long_out_of_memory() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..3000);
    let _ = record(&session, &list);
    let _ = session.compact(seslog::session::Compaction::new("s"), Durability::Os).unwrap();
    session.close().unwrap();
    let session = place.open();
    let end = session.log().end();
    let again = record(&session, &list);
    assert_eq!((again.written.len(), again.known, session.log().end()), (0, 2999, end));
}

/// A compaction as an agent that compacts by itself records it.
fn compaction() -> [Event; 2] {
    let boundary = Message::new(Role::System, Kind::CompactBoundary(CompactBoundary::default()), vec![]);
    let summary = Message::new(Role::User, Kind::CompactSummary(CompactSummary::default()), vec![Part::text("so far")]);
    [event(10, boundary), event(11, summary)]
}

#[test]
fn known_messages_behind_a_new_one_are_no_beginning() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..4);
    let _ = record(&session, &list);
    let new = event(9, Message::user("new"));
    let _ = record(&session, &[vec![new.clone()], list[..2].to_vec()].concat());
    assert_eq!(chain(&session), [ids(&list), vec![new.id]].concat());
}

#[test]
fn what_comes_behind_a_compaction_hangs_on_its_summary_whatever_the_list_begins_with() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..3);
    let _ = record(&session, &list);
    let [boundary, summary] = compaction();
    let next = event(12, Message::user("next"));
    let _ = record(&session, &[list[0].clone(), boundary.clone(), summary.clone(), next.clone()]);
    assert_eq!(chain(&session), [boundary.id, summary.id, next.id]);
}

#[test]
fn a_known_message_that_left_the_chain_is_not_kept_and_stops_nothing() {
    let place = Place::new();
    let session = place.create();
    let list = users(1..4);
    let _ = record(&session, &list);
    let _ = session.rewind(Some(list[1].id), Durability::Os).unwrap();
    let [boundary, summary] = compaction();
    let _ = record(&session, &[boundary.clone(), summary.clone(), list[1].clone(), list[2].clone()]);
    assert_eq!(chain(&session), [boundary.id, summary.id, list[1].id]);
}

#[test]
fn a_boundary_without_a_summary_behind_it_is_refused() {
    let place = Place::new();
    let session = place.create();
    let [boundary, _] = compaction();
    let next = event(12, Message::user("next"));
    // By itself it would cut the window and put nothing in the place of what it cuts.
    let refused = session.record(&[boundary, next], Durability::Os);
    assert!(matches!(refused, Err(seslog::session::SessionError::Refused { .. })), "{refused:?}");
    assert!(chain(&session).is_empty());
}
