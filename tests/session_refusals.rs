//! What the session's calls refuse, and that a refusal changes nothing and costs nothing.

use seslog::event::{Body, Head, Message, SessionMeta, Uuid};
use seslog::log::{Durability, RealFs};
use seslog::session::{NewEvent, Parent, Session, SessionError, SessionOptions, SessionReader};

const OS: Durability = Durability::Os;

struct Fixture {
    dir: tempfile::TempDir,
    session: Session,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::create(&dir.path().join("s.seslog"), SessionOptions::default()).unwrap();
        Self { dir, session }
    }

    fn say(&self, text: &str) -> Uuid {
        self.session.append(Message::user(text), OS).unwrap().id
    }

    fn reader(&self) -> SessionReader {
        SessionReader::open(&self.dir.path().join("s.seslog"), RealFs::shared()).unwrap()
    }
}

const NOBODY: Uuid = Uuid::from_u128(0x0193_a000_0000_7000_8000_0000_0000_0007);

#[test]
fn a_head_to_an_event_that_is_not_there_is_refused_and_hides_nothing() {
    let fixture = Fixture::new();
    let said = fixture.say("hello");
    let head = NewEvent::new(Body::Head(Head { leaf: Some(NOBODY) }));
    let refused = fixture.session.append(head, OS);
    assert!(matches!(refused, Err(SessionError::NoSuchEvent { id, .. }) if id == NOBODY), "{refused:?}");
    let leaf = fixture.session.with_state(|state| state.leaf().map(|leaf| leaf.event.id)).unwrap();
    assert_eq!(leaf, Some(said));
    assert_eq!(fixture.reader().state(), &fixture.session.state().unwrap());
}

#[test]
fn a_head_may_name_an_event_of_its_own_batch_and_one_before_the_boundary() {
    let fixture = Fixture::new();
    let first = fixture.say("hello");
    let _ = fixture.session.compact(seslog::session::Compaction::new("so far"), OS).unwrap();
    let head = |leaf| NewEvent::new(Body::Head(Head { leaf: Some(leaf) }));
    let own = NewEvent::from(Message::user("of the batch")).with_id(NOBODY);
    let _ = fixture.session.append_batch(vec![own, head(NOBODY)], OS).unwrap();
    let _ = fixture.session.append(head(first), OS).unwrap();
    let leaf = fixture.session.with_state(|state| state.leaf().map(|leaf| leaf.event.id)).unwrap();
    assert_eq!(leaf, Some(first));
}

/// Each refusal once made the next call read the whole window again: a hundred of them in a session of 20,000
/// messages took eight seconds.
#[test]
fn a_refused_append_does_not_make_the_session_read_its_log_again() {
    let fixture = Fixture::new();
    for count in 0..200 {
        fixture.say(&format!("text {count}"));
    }
    let before = fixture.session.log().io().bytes_read;
    for _ in 0..50 {
        let orphan = NewEvent::from(Message::user("x")).with_parent(Parent::Of(NOBODY));
        assert!(matches!(fixture.session.append(orphan, OS), Err(SessionError::UnknownParent { .. })));
        fixture.session.with_state(|_| ()).unwrap();
    }
    assert_eq!(fixture.session.log().io().bytes_read, before);
    assert_eq!(fixture.reader().state(), &fixture.session.state().unwrap());
}

#[test]
fn a_message_over_the_limit_is_refused_and_the_session_goes_on_as_if_nothing_had_been() {
    let fixture = Fixture::new();
    fixture.say("before");
    let (state, read) = (fixture.session.state().unwrap(), fixture.session.log().io().bytes_read);
    let refused = fixture.session.append(Message::user("x".repeat(64 << 20)), OS);
    assert!(refused.is_err_and(|error| error.is_of_the_event()));
    assert_eq!(fixture.session.state().unwrap(), state);
    assert_eq!(fixture.session.log().io().bytes_read, read);
    fixture.say("behind");
    assert_eq!(fixture.reader().state(), &fixture.session.state().unwrap());
}

/// A batch once stored the change as the whole record: title and labels were gone from every list.
#[test]
fn session_meta_in_a_batch_keeps_what_it_does_not_name() {
    let fixture = Fixture::new();
    let titled = SessionMeta { title: Some("A title".into()), tags: vec!["a".into()], ..SessionMeta::default() };
    let _ = fixture.session.set_meta(titled, OS).unwrap();
    let model = SessionMeta { model: Some("m".into()), ..SessionMeta::default() };
    let cwd = SessionMeta { cwd: Some("/w".into()), ..SessionMeta::default() };
    let batch = vec![NewEvent::from(model), NewEvent::from(Message::user("hi")), NewEvent::from(cwd)];
    let _ = fixture.session.append_batch(batch, OS).unwrap();
    let reader = fixture.reader();
    let meta = reader.state().meta();
    let shown = (meta.title.as_deref(), meta.tags.len(), meta.model.as_deref(), meta.cwd.as_deref());
    assert_eq!(shown, (Some("A title"), 1, Some("m"), Some("/w")));
    assert_eq!(fixture.session.with_state(|state| state.meta().clone()).unwrap(), *meta);
}

/// One id for both halves of a compaction once made a log whose boundary nothing could find again.
#[test]
fn a_boundary_and_its_summary_never_get_one_id() {
    let fixture = Fixture::new();
    fixture.say("hello");
    let compaction = seslog::session::Compaction::new("so far").with_ids(Some(NOBODY), Some(NOBODY));
    let refused = fixture.session.compact(compaction, OS);
    assert!(matches!(refused, Err(SessionError::DuplicateId { id, .. }) if id == NOBODY), "{refused:?}");

    let said = r#"{"type":"message","id":"a","role":"user","kind":"user_input","content":"hi"}"#;
    let compaction = r#"{"type":"compaction","id":"c","summary":{"id":"c","text":"so far"},"keep":["a"]}"#;
    let behind = r#"{"type":"message","id":"b","parentId":"c","role":"user","kind":"user_input","content":"go on"}"#;
    let lines = format!("{said}\n{compaction}\n{behind}\n");
    let import = || {
        let lines = seslog::interop::read_events(lines.as_bytes());
        seslog::interop::import_events(&fixture.session, "key", lines).unwrap()
    };
    assert_eq!((import().written, import().written), (3, 0));
    let reader = fixture.reader();
    assert_eq!(reader.state(), &fixture.session.state().unwrap());
    assert_eq!(reader.state().chain().len(), 4, "boundary, summary, what is kept, what follows");
}

#[test]
fn the_nil_id_is_nobodys() {
    let fixture = Fixture::new();
    let nil = fixture.session.append(NewEvent::from(Message::user("x")).with_id(Uuid::nil()), OS);
    assert!(matches!(nil, Err(SessionError::Refused { .. })), "{nil:?}");
    assert_eq!(seslog::event::parse_id("00000000-0000-0000-0000-000000000000"), None);
}

#[test]
fn only_messages_are_taken_back_or_pruned() {
    let fixture = Fixture::new();
    let meta = SessionMeta { title: Some("A title".into()), ..SessionMeta::default() };
    let meta = fixture.session.set_meta(meta, OS).unwrap().id;
    for refused in [fixture.session.tombstone(&[meta], None, OS), fixture.session.prune(&[meta], OS)] {
        assert!(matches!(refused, Err(SessionError::Refused { .. })), "{refused:?}");
    }
}
