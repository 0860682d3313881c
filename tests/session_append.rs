//! What an append promises.

#[path = "common/place.rs"]
mod place;

use place::{Place, append, append_under, assistant, calls, chain, leaf, user, with_clock};
use seslog::event::{Message, SessionMeta, Uuid, Value};
use seslog::log::{Durability, LogError};
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionError, SessionOptions};

#[test]
fn an_unknown_parent_is_refused_and_nothing_is_written() {
    let place = Place::new();
    let session = place.create();
    let first = user(&session, "one");
    let ghost = Uuid::from_u128(7);
    let error = session.append(NewEvent::from(Message::user("two")).with_parent(Parent::Of(ghost)), Durability::Os);
    assert!(matches!(error, Err(SessionError::UnknownParent { parent, .. }) if parent == ghost));
    let own = NewEvent::from(Message::user("two")).with_id(ghost).with_parent(Parent::Of(ghost));
    assert!(matches!(session.append(own, Durability::Os), Err(SessionError::UnknownParent { .. })));
    assert_eq!(chain(&session), [first]);
}

#[test]
fn the_same_event_again_writes_nothing_and_other_content_under_its_id_is_refused() {
    let place = Place::new();
    let session = place.create();
    let event = NewEvent::from(Message::user("one")).at(5);
    let id = append(&session, event.clone());
    let end = session.log().end();
    let again = session.append(event.clone().with_id(id), Durability::Sync).unwrap();
    assert!(again.known && again.receipt.is_durable());
    assert_eq!(session.log().end(), end);
    let other = session.append(NewEvent::from(Message::user("two")).with_id(id), Durability::Os);
    assert!(matches!(other, Err(SessionError::DuplicateId { id: found, .. }) if found == id));
    // Also when the event is no longer in memory, and after an amend.
    let patch = vec![("model".to_owned(), Value::Text("m".into()))];
    let _ = session.amend(id, patch, Durability::Os).unwrap();
    let _ = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    session.close().unwrap();
    assert!(place.open().append(event.with_id(id), Durability::Os).unwrap().known);
}

#[test]
fn an_event_repeats_a_known_one_only_if_all_that_it_says_is_the_same() {
    let place = Place::new();
    let session = place.create();
    user(&session, "before");
    let event = NewEvent::from(Message::user("one")).with_id(Uuid::from_u128(9)).at(5);
    append(&session, event.clone());
    assert!(session.append(event.clone(), Durability::Os).unwrap().known);
    let others = [
        event.clone().with_parent(Parent::Root),
        event.clone().at(6),
        NewEvent { original_id: Some("o".to_owned()), ..event.clone() },
        NewEvent { extra: vec![("more".to_owned(), Value::Null)], ..event },
    ];
    for other in others {
        let refused = session.append(other.clone(), Durability::Os);
        assert!(matches!(refused, Err(SessionError::DuplicateId { .. })), "{other:?}");
    }
    let title = SessionMeta { title: Some("t".into()), ..SessionMeta::default() };
    let cwd = SessionMeta { cwd: Some("/".into()), ..SessionMeta::default() };
    append(&session, title);
    let cwd = NewEvent::from(cwd).with_id(Uuid::from_u128(10));
    append(&session, cwd.clone());
    assert!(session.append(cwd, Durability::Os).unwrap().known, "the record is whole, the change says the same");
}

#[test]
fn an_empty_batch_and_one_with_an_id_twice_or_known_are_refused() {
    let place = Place::new();
    let session = place.create();
    let known = user(&session, "known");
    let refused = session.append_batch(Vec::new(), Durability::Os);
    assert!(matches!(refused, Err(SessionError::Refused { .. })));
    for id in [known, Uuid::from_u128(1)] {
        let event = NewEvent::from(Message::user("known")).with_id(id);
        let refused = session.append_batch(vec![event.clone(), event], Durability::Os);
        assert!(matches!(refused, Err(SessionError::DuplicateId { id: found, .. }) if found == id));
    }
    let again = NewEvent::from(Message::user("known")).with_id(known);
    assert!(matches!(session.append_batch(vec![again], Durability::Os), Err(SessionError::DuplicateId { .. })));
    assert_eq!(chain(&session), [known]);
}

#[test]
fn a_rewind_to_what_is_not_there_is_refused() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let refused = session.rewind(Some(Uuid::from_u128(1)), Durability::Os);
    assert!(matches!(refused, Err(SessionError::NoSuchEvent { .. })));
    assert_eq!(chain(&session), [one]);
}

#[test]
fn the_frames_say_by_themselves_what_an_event_hangs_on_and_is_about() {
    let place = Place::new();
    let session = place.create();
    let place_of = |id| session.log().find(id).unwrap().unwrap().offset;
    let call = calls(&session, &["x"]);
    let result = append(&session, Message::tool_result("x", "1", false));
    assert_eq!(session.log().targets_of(call).unwrap(), [place_of(result)]);
    let title = append(&session, SessionMeta { title: Some("t".into()), ..SessionMeta::default() });
    let head = session.rewind(Some(call), Durability::Os).unwrap().id;
    assert_eq!(session.log().header(place_of(head)).unwrap().parent_off, place_of(call));
    let first = session.compact(Compaction::new("one"), Durability::Os).unwrap();
    let second = session.compact(Compaction::new("two"), Durability::Os).unwrap();
    let boundary_of = |id| session.log().header(place_of(id)).unwrap().boundary_off;
    assert_eq!((boundary_of(first.boundary), boundary_of(second.boundary)), (0, place_of(first.boundary)));
    assert_eq!(boundary_of(second.summary), place_of(second.boundary));
    let meta = session.log().header(place_of(title)).unwrap();
    assert_eq!(meta.hint, seslog::log::HintClass::Meta);
}

#[test]
fn a_batch_is_written_whole_or_not_at_all_and_may_name_its_own_events() {
    let place = Place::new();
    let session = place.create();
    let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let first = NewEvent::from(Message::user("a")).with_id(a);
    let second = NewEvent::from(Message::assistant("b")).with_id(b).with_parent(Parent::Of(a));
    let bad = NewEvent::from(Message::user("c")).with_parent(Parent::Of(Uuid::from_u128(3)));
    let refused = session.append_batch(vec![first.clone(), second.clone(), bad], Durability::Os);
    assert!(matches!(refused, Err(SessionError::UnknownParent { .. })));
    assert!(chain(&session).is_empty());
    let ids = session.append_batch(vec![first, second], Durability::Sync).unwrap().ids;
    assert_eq!(ids, [a, b]);
    assert_eq!(chain(&session), [a, b]);
    session.close().unwrap();
    assert_eq!(chain(&place.open()), [a, b]);
}

#[test]
fn ids_rise_in_their_first_80_bits_over_a_clock_that_goes_back_and_a_reopen() {
    let place = Place::new();
    let (options, clock) = with_clock();
    let mut last = 0;
    for opening in 0..3 {
        let session = match opening {
            0 => Session::create(&place.path(), options.clone()).unwrap(),
            _ => Session::open(&place.path(), options.clone()).unwrap(),
        };
        for at in [5_000_000, 1_000_000, 4_000_000, 900_000, -7, i64::MAX / 2] {
            clock.micros.store(at - opening, std::sync::atomic::Ordering::Relaxed);
            let id = user(&session, "x");
            assert!(id.as_u128() >> 48 > last, "{id}");
            last = id.as_u128() >> 48;
        }
        session.close().unwrap();
    }
}

#[test]
fn the_order_of_the_file_decides_whatever_the_clock_says() {
    let place = Place::new();
    let session = place.create();
    let mut expected = Vec::new();
    for at in [5_000_000, 1_000_000, 4_000_000, 900_000] {
        expected.push(append(&session, NewEvent::from(Message::user("x")).at(at)));
    }
    assert_eq!(chain(&session), expected);
    session.close().unwrap();
    assert_eq!(leaf(&place.open()), expected.last().copied());
}

#[test]
fn a_side_record_never_hides_what_was_said_beside_it() {
    let place = Place::new();
    let session = place.create();
    let question = user(&session, "fix the typo");
    let answer = append_under(&session, question, Message::assistant("fixed"));
    let mut hook = Message::system_note("1 hook ran");
    hook.kind = seslog::event::Kind::SystemEvent(Default::default());
    let hook = append_under(&session, question, hook);
    assert_eq!(leaf(&session), Some(answer));
    let thanks = append_under(&session, hook, Message::user("thanks"));
    assert_eq!(chain(&session), [question, answer, thanks]);
    session.close().unwrap();
    assert_eq!(chain(&place.open()), [question, answer, thanks]);
}

#[test]
fn a_result_for_a_call_that_is_not_on_the_chain_does_not_move_the_leaf() {
    let place = Place::new();
    let session = place.create();
    let begin = user(&session, "begin");
    let call = calls(&session, &["old"]);
    let _ = session.rewind(Some(begin), Durability::Os).unwrap();
    let other = assistant(&session, "without the tool then");
    let late = append_under(&session, call, Message::tool_result("old", "granted", false));
    assert_eq!(leaf(&session), Some(other));
    assert!(session.state().unwrap().branches().contains(&late));
    session.close().unwrap();
    let session = place.open();
    assert_eq!(leaf(&session), Some(other));
    // The branch can be opened: there the result is the leaf.
    let _ = session.rewind(Some(late), Durability::Os).unwrap();
    assert_eq!(chain(&session), [begin, call, late]);
}

#[test]
fn a_late_result_never_takes_a_persons_words_out_of_the_chain() {
    let place = Place::new();
    let session = place.create();
    let build = user(&session, "build it");
    let call = calls(&session, &["t9"]);
    let also = user(&session, "also run the tests");
    let late = append_under(&session, call, Message::tool_result("t9", "ok", false));
    assert_eq!(chain(&session), [build, call, also, late]);
    let _ = session.compact(Compaction::new("built").keep(vec![call]), Durability::Os).unwrap();
    // Nor does one that hangs on a call from before the boundary undo the compaction.
    let open = calls(&session, &["u1"]);
    let compacted = session.compact(Compaction::new("more"), Durability::Os).unwrap();
    assert_eq!(compacted.kept, [open]);
    append_under(&session, open, Message::tool_result("u1", "done", false));
    assert_eq!(session.state().unwrap().boundary().unwrap().event.id, compacted.boundary);
}

#[test]
fn parallel_results_that_hang_on_their_call_stay_siblings() {
    let place = Place::new();
    let session = place.create();
    user(&session, "weather?");
    let call = calls(&session, &["oslo", "rome", "lima"]);
    for city in ["rome", "oslo", "lima"] {
        append_under(&session, call, Message::tool_result(city, "sun", false));
    }
    let state = session.state().unwrap();
    let pairing = state.pairing();
    assert_eq!(pairing.calls().len(), 3);
    assert_eq!(pairing.dangling().count(), 0);
}

#[test]
fn a_tombstoned_leaf_hands_on_to_its_nearest_living_ancestor() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let two = assistant(&session, "two");
    let three = user(&session, "three");
    let _ = session.tombstone(&[two, three], Some("taken back"), Durability::Os).unwrap();
    assert_eq!(leaf(&session), Some(one));
    let four = user(&session, "four");
    assert_eq!(chain(&session), [one, four]);
    let missing = session.tombstone(&[Uuid::from_u128(9)], None, Durability::Os);
    assert!(matches!(missing, Err(SessionError::NoSuchEvent { .. })));
}

#[test]
fn a_tombstoned_compaction_gives_the_history_back() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let compacted = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let two = user(&session, "two");
    let _ = session.tombstone(&[compacted.summary], None, Durability::Os).unwrap();
    assert_eq!(chain(&session), [one, two]);
    session.close().unwrap();
    assert_eq!(chain(&place.open()), [one, two]);
}

#[test]
fn a_patch_that_would_change_what_a_message_is_is_refused() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    for field in ["role", "kind", "id", "parent"] {
        let patch = vec![(field.to_owned(), Value::Text("tool".into()))];
        assert!(session.amend(one, patch, Durability::Os).is_err(), "{field}");
    }
}

#[test]
fn what_is_not_given_of_the_session_meta_stays_and_an_empty_text_clears() {
    let place = Place::new();
    let session = place.create();
    let set = |meta| drop(session.set_meta(meta, Durability::Os).unwrap());
    set(SessionMeta { title: Some("garden".into()), cwd: Some("/home".into()), ..SessionMeta::default() });
    set(SessionMeta { title: Some(String::new()), model: Some("m".into()), ..SessionMeta::default() });
    let expected = SessionMeta { cwd: Some("/home".into()), model: Some("m".into()), ..SessionMeta::default() };
    assert_eq!(session.state().unwrap().meta(), &expected);
    let _ = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    session.close().unwrap();
    assert_eq!(place.open().state().unwrap().meta(), &expected);
}

#[test]
fn a_record_over_the_limit_is_refused_and_the_session_goes_on() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let huge = session.append(Message::user("x".repeat(65 << 20)), Durability::Os);
    assert!(matches!(huge, Err(SessionError::Log(LogError::RecordTooLarge { .. }))));
    let two = user(&session, "two");
    assert_eq!(chain(&session), [one, two]);
}

#[test]
fn a_session_that_does_not_exist_is_never_created() {
    let place = Place::new();
    let error = Session::open(&place.path(), SessionOptions::default());
    assert!(matches!(error, Err(SessionError::Log(LogError::NotFound { .. }))));
    assert!(!place.path().exists());
    let store = place.store();
    assert!(matches!(store.open("0199"), Err(SessionError::NoSuchSession { .. })));
    assert!(!store.dir().exists());
}

#[test]
fn a_second_writer_is_refused_at_once_and_readers_are_not() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    assert!(matches!(
        Session::open(&place.path(), SessionOptions::default()),
        Err(SessionError::Log(LogError::Locked { .. }))
    ));
    let mut reader = seslog::session::SessionReader::open(&place.path(), seslog::log::RealFs::shared()).unwrap();
    assert_eq!(reader.state().leaf().unwrap().event.id, one);
    let two = user(&session, "two");
    assert_eq!(reader.follow().unwrap(), 1);
    assert_eq!(reader.state().leaf().unwrap().event.id, two);
    let (three, four) = (user(&session, "three"), user(&session, "four"));
    let mut shown = Vec::new();
    assert_eq!(reader.follow_with(|event| shown.push(event.id)).unwrap(), 2);
    assert_eq!(shown, [three, four]);
}

#[test]
fn threads_share_a_session_and_no_append_is_lost() {
    let place = Place::new();
    let session = place.create();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    session.append(Message::user("x"), Durability::Group).unwrap().receipt.wait().unwrap();
                }
            });
        }
    });
    assert_eq!(chain(&session).len(), 200);
    session.close().unwrap();
    assert_eq!(chain(&place.open()).len(), 200);
}

const fn shared<T: Send + Sync>() {}
const _: () = shared::<Session>();
const _: () = shared::<seslog::session::SessionReader>();
const _: () = shared::<seslog::session::Store>();

#[test]
fn a_reader_can_leave_out_what_a_power_cut_may_still_take() {
    use seslog::session::SessionReader;
    let place = Place::new();
    // A window so long that nothing is synced by itself while the test runs.
    let log = seslog::log::LogOptions::default().window(std::time::Duration::from_secs(3600));
    let session = Session::create(&place.path(), SessionOptions { log, ..SessionOptions::default() }).unwrap();
    let durable = session.append(Message::user("durable"), Durability::Sync).unwrap().id;
    // The next frame vouches for what was synced before it.
    let visible = user(&session, "visible");
    let reader = SessionReader::open(&place.path(), seslog::log::RealFs::shared()).unwrap();
    let seen = |state: &seslog::session::State| state.chain().iter().map(|entry| entry.event.id).collect::<Vec<_>>();
    assert_eq!(seen(reader.state()), [durable, visible]);
    assert_eq!(seen(&reader.durable_state().unwrap()), [durable]);
    session.close().unwrap();
    let reader = SessionReader::open(&place.path(), seslog::log::RealFs::shared()).unwrap();
    assert_eq!(reader.durable_state().unwrap(), *reader.state());
}

#[test]
fn an_answer_under_a_reused_id_goes_to_the_call_that_was_not_taken_back() {
    let place = Place::new();
    let session = place.create();
    user(&session, "go");
    let first = calls(&session, &[""]);
    user(&session, "and?");
    let second = calls(&session, &[""]);
    let _ = session.tombstone(&[second], None, Durability::Os).unwrap();
    let answer = append(&session, Message::tool_result("", "x", false));
    let answered = |session: &Session| {
        let state = session.state().unwrap();
        state.pairing().result_of(first, 0).map(|(entry, _)| entry.event.id)
    };
    assert_eq!(answered(&session), Some(answer));
    assert_eq!(leaf(&session), Some(answer));
    session.close().unwrap();
    assert_eq!(answered(&place.open()), Some(answer));
}

#[test]
fn an_answer_stays_with_its_call_when_that_is_taken_back_later() {
    let place = Place::new();
    let session = place.create();
    let first = calls(&session, &[""]);
    let second = calls(&session, &[""]);
    append(&session, Message::tool_result("", "the second's", false));
    let _ = session.tombstone(&[second], None, Durability::Os).unwrap();
    assert_eq!(session.state().unwrap().pairing().result_of(first, 0), None);
}

/// Each once held the session while it synced: eight threads made a sync each for every append, and a look at the state
/// waited for the disk.
#[test]
fn appends_that_wait_for_the_disk_share_their_syncs_and_do_not_hold_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::create(&dir.path().join("s.seslog"), SessionOptions::default()).unwrap();
    const THREADS: u64 = 8;
    const EACH: u64 = 40;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let session = &session;
            scope.spawn(move || {
                for count in 0..EACH {
                    let said = Message::user(format!("{thread} {count}"));
                    assert!(session.append(said, Durability::Sync).unwrap().receipt.is_durable());
                }
            });
        }
    });
    let (syncs, appends) = (session.log().io().syncs, THREADS * EACH);
    assert!(syncs < appends, "{syncs} syncs for {appends} appends of {THREADS} threads");
    assert_eq!(session.with_state(|state| state.entries().len()).unwrap() as u64, appends);
}
