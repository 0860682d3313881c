//! The story of a chain, streamed from the log: the same entries as those of a whole state, one at a time.

#[path = "common/history.rs"]
mod history;
#[path = "common/place.rs"]
mod place;

use history::{Run, odd_step};
use place::{Place, append, append_under, assistant, calls, result, user};
use proptest::prelude::*;
use seslog::event::{Amend, Kind, Message, Part, SystemEvent, Uuid, Value, patch_between};
use seslog::log::{Durability, LogError, RealFs};
use seslog::session::{Compaction, Entry, Session, SessionError, SessionReader, State, Story};

fn reader(session: &Session) -> SessionReader {
    SessionReader::open(session.path(), RealFs::shared()).unwrap()
}

/// All that a story's entry tells.
fn told(entry: &Entry) -> String {
    let Entry { event, offset, tombstone, pruned_at, changes, refused_amends, .. } = entry;
    format!("{offset} {tombstone:?} {pruned_at:?} {changes:?} {refused_amends:?} {event:?}")
}

/// The streamed entries are those of the state.
fn same(mut story: Story<'_>, state: &State, what: &str) {
    assert_eq!(story.branch_points().unwrap(), state.branch_points(), "{what}");
    let (certain, possible) = story.counts();
    let streamed: Vec<Entry> = story.collect::<Result<_, _>>().unwrap();
    let expected = state.story();
    assert!((certain..=possible).contains(&streamed.len()), "{what}: {} of {certain} to {possible}", streamed.len());
    for (streamed, expected) in streamed.iter().zip(&expected) {
        assert_eq!(told(streamed), told(expected), "{what}");
        assert_eq!(state.is_root(streamed), state.is_root(expected), "{what}");
        assert!(state.anchor(streamed).is_none(), "a streamed entry is no part of a state");
    }
    assert_eq!(streamed.len(), expected.len(), "{what}");
}

/// A session's story, with its parents' part, at its end and once each of these events was in.
fn check(run: &Run) {
    let (store, reader) = (run.store(), reader(run.session()));
    let history = store.history(&reader).unwrap();
    same(store.story(reader.log()).unwrap(), &history.state, "at the end");
    same(reader.story().unwrap(), &reader.whole_state().unwrap(), "at the end, of this log alone");
    for (event, _) in &run.seen {
        let history = store.history_at(&reader, *event).unwrap();
        same(store.story_at(reader.log(), *event).unwrap(), &history.state, &format!("as it was at {event}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_streamed_entries_are_those_of_the_whole_state(steps in prop::collection::vec(odd_step(), 1..60)) {
        let mut run = Run::new();
        steps.iter().for_each(|step| run.apply(step));
        check(&run);
        let reader = reader(run.session());
        for (event, _) in &run.seen {
            let state = run.store().history_at(&reader, *event).unwrap().state;
            same(reader.story_at(*event).unwrap(), &state, &format!("as it was at {event}"));
        }
    }

    #[test]
    fn a_forks_story_goes_on_into_its_parents(
        generations in prop::collection::vec((prop::collection::vec(odd_step(), 1..25), any::<usize>()), 2..4),
    ) {
        let mut run = Run::new();
        for (steps, at) in &generations {
            steps.iter().for_each(|step| run.apply(step));
            check(&run);
            run.fork(*at);
            check(&run);
        }
    }
}

/// The ids of the streamed story, which is that of the whole state.
fn story(session: &Session) -> Vec<Uuid> {
    let reader = reader(session);
    same(reader.story().unwrap(), &reader.whole_state().unwrap(), "the whole state");
    reader.story().unwrap().map(|entry| entry.unwrap().event.id).collect()
}

fn side() -> Message {
    let mut message = Message::system_note("side");
    message.kind = Kind::SystemEvent(SystemEvent { subtype: "turn_duration".to_owned(), ..SystemEvent::default() });
    message
}

#[test]
fn a_story_goes_through_all_compactions_and_tells_kept_messages_at_their_own_place() {
    let place = Place::new();
    let session = place.create();
    let (one, two) = (user(&session, "one"), assistant(&session, "two"));
    let first = session.compact(Compaction::new("s1").keep(vec![two]), Durability::Os).unwrap();
    let three = append_under(&session, first.boundary, Message::user("three"));
    let side = append(&session, side());
    let second = session.compact(Compaction::new("s2").keep(vec![two, three]), Durability::Os).unwrap();
    let four = user(&session, "four");
    let told = [one, two, first.boundary, first.summary, three, side, second.boundary, second.summary, four];
    assert_eq!(story(&session), told);
    let _ = session.tombstone(&[second.summary], None, Durability::Os).unwrap();
    assert_eq!(story(&session), [&told[..6], &told[8..]].concat(), "a boundary that was taken back");
}

#[test]
fn results_that_hang_beside_are_told_once_and_those_of_another_branch_are_not() {
    let place = Place::new();
    let session = place.create();
    let call = calls(&session, &["a", "b", "c"]);
    let beside = append_under(&session, call, Message::tool_result("b", "1", false));
    let on_it = append_under(&session, call, Message::tool_result("a", "2", false));
    let again = append_under(&session, call, Message::tool_result("b", "again", false));
    let on_again = append_under(&session, again, side());
    let talk = append_under(&session, on_it, Message::user("talk"));
    let late = append_under(&session, call, Message::tool_result("c", "late", false));
    assert_eq!(story(&session), [call, beside, on_it, talk, late]);
    assert!(!story(&session).contains(&on_again));
    let _ = session.rewind(Some(call), Durability::Os).unwrap();
    let other = user(&session, "another branch");
    // The real results were of calls that are on this chain too.
    assert_eq!(story(&session), [call, beside, on_it, late, other]);
    let _ = session.tombstone(&[beside], None, Durability::Os).unwrap();
    assert_eq!(story(&session), [call, on_it, again, on_again, late, other]);
}

#[test]
fn a_call_that_was_amended_in_has_its_result_and_a_pruned_result_its_mark() {
    let place = Place::new();
    let session = place.create();
    let call = assistant(&session, "let me see");
    let beside = append_under(&session, call, Message::tool_result("x", "1", false));
    let talk = append_under(&session, call, Message::user("talk"));
    assert_eq!(story(&session), [call, talk]);
    let before = Message::assistant("let me see");
    let mut after = before.clone();
    after.content.push(Part::tool_call("x", "tool", Value::Map(Vec::new())));
    let amend = append(&session, Amend { target: call, patch: patch_between(&before, &after).unwrap() });
    let prune = session.prune(&[beside, talk], Durability::Os).unwrap().id;
    assert_eq!(story(&session), [call, beside, talk]);
    let entries: Vec<Entry> = reader(&session).story().unwrap().map(Result::unwrap).collect();
    assert_eq!(entries[0].event.message().unwrap().calls().count(), 1);
    assert_eq!(entries[0].changes.iter().map(|change| change.id).collect::<Vec<_>>(), [amend]);
    assert!(entries[1].pruned_at.is_some());
    assert_eq!(entries[2].changes.iter().map(|change| change.id).collect::<Vec<_>>(), [prune]);
    let before: Vec<Uuid> = reader(&session).story_at(talk).unwrap().map(|entry| entry.unwrap().event.id).collect();
    assert_eq!(before, [call, talk]);
}

#[test]
fn damage_ends_a_story_with_an_error_behind_what_lies_before_it() {
    let place = Place::new();
    let store = place.store();
    let session = store.create().unwrap();
    let mut ids: Vec<Uuid> = (0..20).map(|n| user(&session, &format!("text {n}"))).collect();
    let path = session.path().to_owned();
    let hit = reader(&session).whole_state().unwrap().entry(ids[12]).unwrap().offset as usize + 80;
    session.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[hit] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    ids.truncate(12);

    let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    let mut told = reader.story().unwrap();
    let before: Vec<Uuid> = told.by_ref().take(12).map(|entry| entry.unwrap().event.id).collect();
    assert_eq!(before, ids);
    assert!(matches!(told.next(), Some(Err(SessionError::Log(LogError::Damaged { .. })))));
    assert!(told.next().is_none());

    let told = store.story(reader.log()).unwrap();
    assert_eq!(told.damage(), store.history(&reader).unwrap().damage);
    assert_eq!(told.damage().len(), 1);
    assert_eq!(told.map(|entry| entry.unwrap().event.id).collect::<Vec<_>>(), ids);
}

#[test]
fn a_parent_that_is_gone_is_named_and_the_story_begins_at_the_fork() {
    let place = Place::new();
    let store = place.store();
    let parent = store.create().unwrap();
    user(&parent, "old");
    let compacted = parent.compact(Compaction::new("so far"), Durability::Os).unwrap();
    let end = user(&parent, "end");
    let fork = store.fork(&parent.id().to_string(), end).unwrap();
    let (id, path) = (parent.id(), parent.path().to_owned());
    parent.close().unwrap();
    std::fs::remove_file(path).unwrap();
    let reader = reader(&fork);
    let told = store.story(reader.log()).unwrap();
    assert_eq!(told.missing_parent(), Some(id));
    let told: Vec<Uuid> = told.map(|entry| entry.unwrap().event.id).collect();
    assert_eq!(told, [compacted.boundary, compacted.summary, end]);
}

#[test]
fn a_story_at_an_event_that_is_not_there_is_an_error() {
    let place = Place::new();
    let session = place.create();
    user(&session, "one");
    result(&session, "nobody's", "r");
    assert!(matches!(reader(&session).story_at(Uuid::from_u128(9)), Err(SessionError::NoSuchEvent { .. })));
}
