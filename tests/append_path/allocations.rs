//! A warm append allocates what the state keeps of it, and nothing else.

use seslog::event::{Message, Part, Value};
use seslog::log::{Batch, Durability, LogOptions, LogWriter, NewLog, RealFs};
use seslog::session::Session;

use crate::counting_calls::allocations_of;
use crate::log_support::{event, id, leaf};
use crate::unhurried;

/// Records before the counting begins: an INDEX has been written by then, so that the tables in memory have the room that they
/// need up to the next one, and none of the state's lists grows soon.
const WARM: u128 = 1_100;

fn warm_session(dir: &std::path::Path) -> Session {
    let session = Session::create(&dir.join("a.seslog"), unhurried()).unwrap();
    for _ in 0..WARM {
        drop(session.append(Message::user("before"), Durability::Os).unwrap());
    }
    session.sync().unwrap();
    session
}

#[test]
fn a_warm_append_allocates_the_event_and_its_message_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let session = warm_session(dir.path());
    for durability in [Durability::Sync, Durability::Os, Durability::Group] {
        for n in 0..16 {
            let message = Message::user(format!("message {n}"));
            let (count, appended) = allocations_of(|| session.append(message, durability).unwrap());
            assert_eq!(
                count, 2,
                "allocations of append {n} with {durability:?}; the state keeps the message's box and the event"
            );
            drop(appended);
        }
    }
}

#[test]
fn a_call_adds_its_id_to_what_the_state_keeps_and_its_result_adds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let session = warm_session(dir.path());
    // The tables of calls and of what answers them grow at the first ones.
    for n in 0..40 {
        let call = Part::tool_call(format!("early-{n}"), "read", Value::Null);
        drop(session.append(Message::assistant_calls(vec![call]), Durability::Os).unwrap());
        drop(session.append(Message::tool_result(format!("early-{n}"), "content", false), Durability::Os).unwrap());
    }
    for n in 0..8 {
        let call = Part::tool_call(format!("call-{n}"), "read", Value::Null);
        let message = Message::assistant_calls(vec![call]);
        let (count, appended) = allocations_of(|| session.append(message, Durability::Sync).unwrap());
        assert_eq!(count, 4, "allocations of call {n}: box, event, the call's id, and the list of those who hold it");
        drop(appended);
        let message = Message::tool_result(format!("call-{n}"), "content", false);
        let (count, appended) = allocations_of(|| session.append(message, Durability::Sync).unwrap());
        assert_eq!(count, 2, "allocations of result {n}");
        drop(appended);
    }
}

#[test]
fn a_warm_log_allocates_nothing_for_records_that_are_encoded_in_a_batch() {
    let dir = tempfile::tempdir().unwrap();
    let new = NewLog::new(id(0), 0);
    let log = LogWriter::create(RealFs::shared(), &dir.path().join("a.seslog"), new, LogOptions::default()).unwrap();
    let mut batch = Batch::new();
    let mut append = |number: u128, durability: Durability| {
        batch.clear();
        batch.push(&event(number, b"the same room is used again and again"));
        drop(log.append_batch(&mut batch, leaf(0), durability).unwrap());
    };
    (1..=WARM).for_each(|number| append(number, Durability::Os));
    for number in WARM + 1..WARM + 32 {
        let durability = if number % 2 == 0 { Durability::Sync } else { Durability::Os };
        let (count, ()) = allocations_of(|| append(number, durability));
        assert_eq!(count, 0, "allocations of record {number}");
    }
}
