//! The thin slice: append, close, open again, go on.

use seslog::event::{Message, Part, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Session, SessionOptions, SessionReader};

#[test]
fn what_was_appended_is_there_after_a_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.seslog");
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let user = session.append(Message::user("hello"), Durability::Sync).unwrap().id;
    let call = Message::assistant_calls(vec![Part::tool_call("c1", "ls", Value::Map(vec![]))]);
    let call = session.append(call, Durability::Group).unwrap().id;
    session.append(Message::tool_result("c1", "a.txt", false), Durability::Os).unwrap().receipt.wait().unwrap();
    let state = session.state().unwrap();
    session.close().unwrap();

    let session = Session::open(&path, SessionOptions::default()).unwrap();
    assert_eq!(session.state().unwrap(), state);
    let ids: Vec<_> = state.chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(ids[..2], [user, call]);
    assert!(session.report().dangling_calls.is_empty());
}

#[test]
fn a_compaction_resumes_with_the_kept_messages_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.seslog");
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let mut ids = Vec::new();
    for n in 0..10 {
        ids.push(session.append(Message::user(format!("message {n}")), Durability::Os).unwrap().id);
    }
    let compacted = session.compact(Compaction::new("ten messages").keep_from(ids[8]), Durability::Sync).unwrap();
    let after = session.append(Message::user("after"), Durability::Sync).unwrap().id;
    let state = session.state().unwrap();
    let chain: Vec<_> = state.chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(chain, [compacted.boundary, compacted.summary, ids[8], ids[9], after]);
    drop(session);
    let reader = SessionReader::open(&path, seslog::log::RealFs::shared()).unwrap();
    assert_eq!(reader.state(), &state);
    assert_eq!(reader.whole_state().unwrap().history().len(), 13);

    let session = Session::open(&path, SessionOptions::default()).unwrap();
    let _ = session.rewind(Some(ids[3]), Durability::Sync).unwrap();
    let state = session.state().unwrap();
    assert!(state.boundary().is_none());
    assert_eq!(state.leaf().unwrap().event.id, ids[3]);
    drop(session);
    let session = Session::open(&path, SessionOptions::default()).unwrap();
    assert_eq!(session.state().unwrap(), state);
    let _ = session.rewind(Some(after), Durability::Sync).unwrap();
    let chain: Vec<_> = session.state().unwrap().chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(chain, [compacted.boundary, compacted.summary, ids[8], ids[9], after]);
    let dup = NewEvent::from(Message::user("after")).with_id(after);
    assert!(session.append(dup.clone(), Durability::Sync).unwrap().known);
}
