//! What the model reads does not depend on how much of the log was replayed.

mod common;

use common::story::calling;
use proptest::prelude::*;
use seslog::event::*;
use seslog::log::{Durability, RealFs};
use seslog::projection::{Options, View, project};
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionOptions, SessionReader};

#[derive(Debug, Clone)]
enum Step {
    User,
    Calls(u8, u8),
    Result(u8, Option<usize>),
    LocalCommand(Option<usize>),
    Attachment(u8),
    Unknown(Option<usize>),
    Tombstone(usize),
    Prune(usize),
    Rewind(usize),
    Compact(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let beside = || prop::option::weighted(0.3, 0_usize..60);
    prop_oneof![
        4 => Just(Step::User),
        4 => (0_u8..4, 0_u8..4).prop_map(|(a, b)| Step::Calls(a, b)),
        6 => (0_u8..4, beside()).prop_map(|(call, beside)| Step::Result(call, beside)),
        2 => beside().prop_map(Step::LocalCommand),
        1 => (0_u8..4).prop_map(Step::Attachment),
        1 => beside().prop_map(Step::Unknown),
        1 => (0_usize..60).prop_map(Step::Tombstone),
        1 => (0_usize..60).prop_map(Step::Prune),
        1 => (0_usize..60).prop_map(Step::Rewind),
        2 => (0_usize..60).prop_map(Step::Compact),
    ]
}

fn local_command() -> Message {
    let kind = Kind::SystemEvent(SystemEvent { subtype: "local_command".to_owned(), ..SystemEvent::default() });
    Message::new(Role::System, kind, vec![Part::text("out")])
}

fn attachment(call: &str) -> Message {
    let kind = Kind::Attachment(Attachment { tool_use_id: Some(call.to_owned()), ..Attachment::default() });
    Message::new(Role::User, kind, vec![Part::text("attached")])
}

fn unknown() -> Body {
    let event_type = "message".to_owned();
    let fields = vec![("role".to_owned(), Value::Text("user".to_owned()))];
    Body::Unknown(Unknown { event_type, kind: Some("hologram".to_owned()), fields })
}

/// Writes the steps into a session. A step that the session refuses does nothing.
fn write(session: &Session, steps: &[Step]) {
    let mut ids: Vec<Uuid> = Vec::new();
    let pick = |ids: &[Uuid], at: usize| ids.get(at % ids.len().max(1)).copied();
    for step in steps {
        let append = |event: NewEvent, beside: Option<Uuid>| {
            let event = beside.map_or(event.clone(), |id| event.with_parent(Parent::Of(id)));
            session.append(event, Durability::Os).ok().map(|appended| appended.id)
        };
        let call = |n: u8| format!("c{n}");
        let appended = match step {
            Step::User => append(Message::user("u").into(), None),
            Step::Calls(a, b) => append(calling(&[&call(*a), &call(*b)]).into(), None),
            Step::Result(n, beside) => {
                let message = Message::tool_result(call(*n), "a long result", false);
                append(message.into(), beside.and_then(|at| pick(&ids, at)))
            }
            Step::LocalCommand(beside) => append(local_command().into(), beside.and_then(|at| pick(&ids, at))),
            Step::Attachment(n) => append(attachment(&call(*n)).into(), None),
            Step::Unknown(beside) => append(NewEvent::new(unknown()), beside.and_then(|at| pick(&ids, at))),
            Step::Tombstone(at) => {
                let _ = pick(&ids, *at).map(|id| session.tombstone(&[id], None, Durability::Os));
                None
            }
            Step::Prune(at) => {
                let _ = pick(&ids, *at).map(|id| session.prune(&[id], Durability::Os));
                None
            }
            Step::Rewind(at) => {
                let _ = pick(&ids, *at).map(|id| session.rewind(Some(id), Durability::Os));
                None
            }
            Step::Compact(at) => {
                let chain: Vec<Uuid> = session.state().unwrap().chain().iter().map(|entry| entry.event.id).collect();
                let kept = pick(&chain, *at);
                let compaction = Compaction::new("so far");
                let compaction = kept.map_or(compaction.clone(), |id| compaction.keep_from(id));
                let _ = session.compact(compaction, Durability::Os);
                None
            }
        };
        ids.extend(appended);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_models_view_is_the_same_from_the_boundary_and_from_the_first_event(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.seslog");
        let session = Session::create(&path, SessionOptions::default()).unwrap();
        write(&session, &steps);
        session.close().unwrap();
        let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
        let mut options = Options::default();
        options.tool_result_soft_limit_chars = Some(5);
        let trimmed = project(reader.state(), View::Model, &options);
        let whole = project(&reader.whole_state().unwrap(), View::Model, &options);
        prop_assert_eq!(trimmed, whole);
    }
}
