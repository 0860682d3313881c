//! What an import promises beside what its readers of other agents' files show, and how a store finds its sessions.

#[path = "common/place.rs"]
mod place;

use place::{Place, append, chain, ids, user};
use seslog::event::{Message, SessionMeta, Uuid};
use seslog::log::Durability;
use seslog::session::{Compaction, ImportedCompaction, NewEvent, Repair, SessionError};

fn compaction(keep: Vec<Uuid>) -> ImportedCompaction {
    use seslog::event::{CompactBoundary, Kind, Role};
    let kind = Kind::CompactBoundary(CompactBoundary::default());
    let boundary = NewEvent::from(Message::new(Role::System, kind, Vec::new()));
    let summary = NewEvent::from(Message::compact_summary("so far", None));
    ImportedCompaction { boundary, summary, keep, trigger: None }
}

#[test]
fn an_import_knows_what_lies_before_a_compaction_old_or_new_and_is_trimmed_afterwards() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let _ = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let two = user(&session, "two");
    let mut import = session.import().unwrap();
    assert!(import.event(one).unwrap().is_some());
    let lost = Uuid::from_u128(1);
    let (repairs, missing) = import.add_compaction(compaction(vec![two, lost])).unwrap();
    assert_eq!((repairs, missing), (Vec::new(), vec![lost]));
    assert!(import.event(one).unwrap().is_some());
    drop(import);
    let state = session.state().unwrap();
    assert!(!state.is_complete());
    let (boundary, summary) = (state.chain()[0], state.chain()[1]);
    assert_eq!(ids(state.chain())[2..], [two]);
    let named = summary.event.message().unwrap().metadata.summary_for_boundary_id.clone();
    assert_eq!(named, Some(boundary.event.id.to_string()));
}

#[test]
fn an_import_hangs_what_has_no_parent_on_the_leaf_and_says_so_and_ends_durable() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    append(&session, SessionMeta { title: Some("t".into()), ..SessionMeta::default() });
    let mut import = session.import().unwrap();
    let (id, named) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let event = NewEvent::from(Message::user("two")).with_id(id).with_parent(seslog::session::Parent::Of(named));
    let repairs = import.add(event).unwrap();
    assert_eq!(repairs, [Repair::MissingParent { event: id, named, hung_on: Some(one) }]);
    import.add(SessionMeta { cwd: Some("/".into()), ..SessionMeta::default() }.into()).unwrap();
    import.finish().unwrap();
    assert_eq!(session.log().durable_end(), session.log().end());
    assert_eq!(chain(&session), [one, id]);
    let meta = session.state().unwrap().meta().clone();
    assert_eq!((meta.title.as_deref(), meta.cwd.as_deref()), (Some("t"), Some("/")));
}

#[test]
fn a_store_lists_the_last_written_first_and_no_other_files_and_names_what_a_prefix_could_mean() {
    let place = Place::new();
    let store = place.store();
    let (older, newer) = (store.create().unwrap(), store.create().unwrap());
    append(&newer, NewEvent::from(Message::user("first")).at(1));
    append(&older, NewEvent::from(Message::user("then")).at(2));
    std::fs::write(store.dir().join(format!("{}.txt", Uuid::from_u128(1))), "notes").unwrap();
    let listed: Vec<Option<Uuid>> = store.list().unwrap().into_iter().map(|listed| listed.id).collect();
    assert_eq!(listed, [Some(older.id()), Some(newer.id())]);
    let Err(SessionError::AmbiguousSession { matches, .. }) = store.resolve("0") else { panic!("0 is both") };
    assert_eq!(matches.len(), 2);
}
