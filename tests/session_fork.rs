//! Forks: as a branch within the session, and into a new session that resumes alone.

#[allow(clippy::unwrap_used, reason = "a test may end at once")]
mod log_support;
#[path = "common/place.rs"]
mod place;

use log_support::{Call, Disk, Fault, names};
use place::{Place, append, append_under, assistant, calls, chain, ids, result, user};
use seslog::event::{Body, HungOn, Message, SessionMeta, ToolStarted};
use seslog::log::Durability;
use seslog::session::{CallState, Compaction, Session, SessionError, SessionOptions, SessionReader, Store};

fn name(session: &Session) -> String {
    session.id().to_string()
}

fn history(store: &Store, session: &Session) -> Vec<seslog::event::Uuid> {
    let reader = SessionReader::open(session.path(), store.options().fs.clone()).unwrap();
    let history = store.history(&reader).unwrap();
    assert_eq!(history.missing_parent, None);
    ids(history.state.history())
}

#[test]
fn a_fork_ends_at_its_event_and_the_parents_bytes_do_not_change() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let search = user(&parent, "search");
    let call = calls(&parent, &["f1"]);
    result(&parent, "f1", "3 hits");
    assistant(&parent, "Three.");
    user(&parent, "show the first");
    parent.sync().unwrap();
    let before = std::fs::read(parent.path()).unwrap();
    let fork = store.fork(&name(&parent), call).unwrap();
    assert_eq!(std::fs::read(parent.path()).unwrap(), before);
    assert_ne!(fork.id(), parent.id());
    assert_eq!(fork.info().parent.unwrap().log, parent.id());
    assert_eq!(fork.info().parent.unwrap().event, call);
    assert_eq!(fork.report().dangling_calls[0].call_id, "f1");
    let instead = append_under(&fork, call, Message::user("search for y instead"));
    assert_eq!(chain(&fork), [search, call, instead]);
    assert_eq!(history(&store, &fork), [search, call, instead]);
    assert_eq!(chain(&parent).len(), 5);
    let bytes = std::fs::read(fork.path()).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"3 hits"));
}

#[test]
fn a_fork_copies_the_live_window_only_and_its_story_follows_the_link() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let _ =
        parent.set_meta(SessionMeta { title: Some("garden".into()), ..Default::default() }, Durability::Os).unwrap();
    let secret = user(&parent, "a megabyte of history");
    let mut old = vec![secret];
    old.extend((0..20).map(|n| user(&parent, &format!("{n} {}", "x".repeat(50_000)))));
    let kept = user(&parent, "kept");
    let amended = vec![("model".to_owned(), seslog::event::Value::Text("m".into()))];
    let _ = parent.amend(kept, amended, Durability::Os).unwrap();
    let compacted = parent.compact(Compaction::new("history").keep(vec![kept]), Durability::Os).unwrap();
    let after = user(&parent, "after");
    let taken_back = user(&parent, "taken back later");
    let end = assistant(&parent, "end");
    let _ = parent.tombstone(&[taken_back], None, Durability::Os).unwrap();
    let _ = parent.prune(&[after], Durability::Os).unwrap();
    user(&parent, "not in the fork");

    let fork = store.fork(&name(&parent), end).unwrap();
    assert_eq!(chain(&fork), [compacted.boundary, compacted.summary, kept, after, end]);
    assert!(std::fs::metadata(fork.path()).unwrap().len() < 20_000);
    let state = fork.state().unwrap();
    assert_eq!(state.entry(kept).unwrap().event.message().unwrap().model.as_deref(), Some("m"));
    assert!(state.entry(after).unwrap().pruned_at.is_some());
    assert_eq!(state.meta().title.as_deref(), Some("garden"));
    assert!(state.entry(taken_back).is_none());
    let expected = [old, vec![kept, compacted.boundary, compacted.summary, after, end]].concat();
    assert_eq!(history(&store, &fork), expected);
    // It resumes alone, and says so when the parent is gone.
    let (parent_path, fork_path) = (parent.path().to_owned(), fork.path().to_owned());
    parent.close().unwrap();
    fork.close().unwrap();
    std::fs::rename(&parent_path, place.dir.path().join("elsewhere")).unwrap();
    let fork = Session::open(&fork_path, store.options().clone()).unwrap();
    assert_eq!(fork.state().unwrap(), state);
    assert!(fork.report().missing_kept.is_empty() && fork.report().missing_parents.is_empty());
    let more = user(&fork, "more");
    assert_eq!(chain(&fork), [compacted.boundary, compacted.summary, kept, after, end, more]);
    let reader = SessionReader::open(&fork_path, store.options().fs.clone()).unwrap();
    let gone = store.history(&reader).unwrap();
    assert!(gone.missing_parent.is_some());
    assert_eq!(ids(gone.state.history()).last(), Some(&more));
    // Compacting and rewinding work in it as anywhere.
    let again = fork.compact(Compaction::new("again").keep(vec![kept]), Durability::Os).unwrap();
    assert_eq!(chain(&fork), [again.boundary, again.summary, kept]);
    let _ = fork.rewind(Some(end), Durability::Os).unwrap();
    assert_eq!(chain(&fork), [compacted.boundary, compacted.summary, kept, after, end]);
}

#[test]
fn a_fork_from_before_a_compaction_sees_what_was_before() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    let two = assistant(&parent, "two");
    let compacted = parent.compact(Compaction::new("s"), Durability::Os).unwrap();
    let three = user(&parent, "three");
    let fork = store.fork(&name(&parent), two).unwrap();
    assert_eq!(chain(&fork), [one, two]);
    // After the compaction was taken back, a fork from behind it sees everything too.
    let _ = parent.tombstone(&[compacted.boundary], None, Durability::Os).unwrap();
    let fork = store.fork(&name(&parent), three).unwrap();
    assert_eq!(chain(&fork), [one, two, three]);
}

#[test]
fn a_fork_of_a_fork_tells_the_whole_story() {
    let place = Place::new();
    let store = place.store();
    let first = store.create().unwrap();
    let one = user(&first, "one");
    let a = first.compact(Compaction::new("one was said"), Durability::Os).unwrap();
    let two = user(&first, "two");
    let second = store.fork(&name(&first), two).unwrap();
    let b = second.compact(Compaction::new("two was said"), Durability::Os).unwrap();
    let three = user(&second, "three");
    let third = store.fork(&name(&second), three).unwrap();
    let four = user(&third, "four");
    assert_eq!(chain(&third), [b.boundary, b.summary, three, four]);
    let story = [one, a.boundary, a.summary, two, b.boundary, b.summary, three, four];
    assert_eq!(history(&store, &third), story);
}

#[test]
fn a_fork_at_something_that_is_not_there_makes_no_session() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    user(&parent, "one");
    let missing = store.fork(&name(&parent), seslog::event::Uuid::from_u128(5));
    assert!(matches!(missing, Err(SessionError::NoSuchEvent { .. })));
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn a_fork_where_nothing_living_is_left_is_refused() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    let _ = parent.tombstone(&[one], None, Durability::Os).unwrap();
    assert!(matches!(store.fork(&name(&parent), one), Err(SessionError::Refused { .. })));
}

#[test]
fn a_message_whose_parents_were_taken_back_is_a_root_in_a_fork() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    let two = assistant(&parent, "two");
    let _ = parent.tombstone(&[one], None, Durability::Os).unwrap();
    let fork = store.fork(&name(&parent), two).unwrap();
    assert_eq!(fork.event(two).unwrap().unwrap().hung_on, HungOn::Root);
    assert_eq!(chain(&fork), [two]);
}

#[test]
fn a_fork_knows_that_an_open_call_was_started() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    calls(&parent, &["x"]);
    append(&parent, ToolStarted { call_id: "x".into(), idempotency_key: None });
    let end = user(&parent, "well?");
    let fork = store.fork(&name(&parent), end).unwrap();
    assert_eq!(fork.report().dangling_calls[0].state, CallState::StartedOutcomeUnknown);
}

#[test]
fn a_fork_copies_no_change_of_what_it_does_not_copy() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    let other = assistant(&parent, "on another branch");
    let gone = append_under(&parent, one, Message::assistant("taken back"));
    let end = append_under(&parent, one, Message::user("end"));
    let model = vec![("model".to_owned(), seslog::event::Value::Text("m".into()))];
    let _ = parent.amend(other, model, Durability::Os).unwrap();
    let _ = parent.prune(&[other, end], Durability::Os).unwrap();
    let _ = parent.tombstone(&[gone], None, Durability::Os).unwrap();
    let fork = store.fork(&name(&parent), end).unwrap();
    let state = fork.state().unwrap();
    let changes: Vec<&Body> = state
        .entries()
        .iter()
        .map(|entry| &entry.event.body)
        .filter(|body| !matches!(body, Body::Message(_)))
        .collect();
    assert!(matches!(changes[..], [Body::Prune(prune)] if prune.targets == [end]), "{changes:?}");
}

#[test]
fn a_fork_has_no_sessions_name_before_it_is_whole_and_a_durable_one_then() {
    let disk = Disk::new();
    let store = Store::at("/sessions", SessionOptions { fs: disk.fs(), ..SessionOptions::default() });
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    parent.sync().unwrap();
    // The first name is that of the unfinished file.
    disk.fail(Call::Publish, 1, Fault::Errno(5));
    assert!(store.fork(&name(&parent), one).is_err());
    let sessions = names(&disk).iter().filter(|path| path.extension().is_some_and(|ending| ending == "seslog")).count();
    assert_eq!((sessions, store.list().unwrap().len()), (1, 1));
    let synced = disk.calls(Call::SyncDir);
    drop(store.fork(&name(&parent), one).unwrap());
    assert_eq!(disk.calls(Call::SyncDir) - synced, 2, "once for the unfinished name, once for the session's");
}

#[test]
fn a_fork_has_the_title_that_was_given_after_its_point() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    let one = user(&parent, "one");
    user(&parent, "two");
    let meta = SessionMeta { title: Some("late".into()), tags: vec!["a".into()], ..Default::default() };
    let _ = parent.set_meta(meta, Durability::Os).unwrap();
    let fork = store.fork(&name(&parent), one).unwrap();
    assert_eq!(fork.state().unwrap().meta().title.as_deref(), Some("late"));
    fork.close().unwrap();
    let listed = store.list().unwrap();
    assert!(listed.iter().all(|listed| listed.title.as_deref() == Some("late") && listed.tags == ["a"]));
}
