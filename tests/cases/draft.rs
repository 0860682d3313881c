//! From an event as a case tells it to the session, through the public append. (What is given raw goes through the
//! import, which takes the lines as they are.)

use serde_json::Value as Json;
use seslog::event::{Amend, Body, CompactSummary, Head, Kind, Prune, Tombstone, Uuid};
use seslog::interop::{Incoming, IncomingBody, IncomingParent, read_events};
use seslog::log::Durability;
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionError};

use super::names::{Names, fixed};

/// Who gives an event its id and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// The case: fixed ids, and this time where the event says none.
    ByCase { at: i64 },
    /// The session: new ids, and its clock's time.
    BySession,
}

/// The one record in a line.
pub fn record(line: &str) -> Incoming {
    let mut records = read_events(line.as_bytes());
    let record = records.next().unwrap_or_else(|| panic!("{line} holds no event"));
    assert!(records.next().is_none(), "{line} holds more than one event");
    record.unwrap_or_else(|error| panic!("{line}: {error}")).1
}

/// Appends an event as an application does, and learns the ids that its words mean from then on.
pub fn append(
    session: &Session,
    names: &mut Names,
    event: &Json,
    made: Made,
    durability: Durability,
) -> Result<Uuid, SessionError> {
    let record = record(&event.to_string());
    let id_of = |word: &Option<String>| match made {
        Made::ByCase { .. } => word.as_deref().map(fixed),
        Made::BySession => None,
    };
    let id = id_of(&record.id);
    if let IncomingBody::Compaction { summary_id, summary, keep, trigger, .. } = &record.body {
        let leaf = session.with_state(|state| state.leaf().map(|leaf| leaf.event.id))?;
        if let IncomingParent::Id(parent) = &record.parent {
            assert_eq!(leaf, Some(names.id(parent)), "a compaction is made at the leaf");
        }
        let mut compaction = Compaction::new(summary.joined_text())
            .keep(keep.iter().map(|word| names.id(word)).collect())
            .with_ids(id, id_of(summary_id));
        if let Some(trigger) = trigger {
            compaction = compaction.trigger(trigger.clone());
        }
        if let Kind::CompactSummary(CompactSummary { tokens_before: Some(tokens) }) = summary.kind {
            compaction = compaction.tokens_before(tokens);
        }
        let done = session.compact(compaction, durability)?;
        learn(names, &record.id, done.boundary);
        learn(names, summary_id, done.summary);
        return Ok(done.boundary);
    }
    let word = record.id.clone();
    let mut event = new_event(record, names);
    event.id = id;
    event.at = match made {
        Made::ByCase { at } => event.at.or(Some(at)),
        Made::BySession => None,
    };
    let appended = session.append(event, durability)?;
    learn(names, &word, appended.id);
    Ok(appended.id)
}

fn learn(names: &mut Names, word: &Option<String>, id: Uuid) {
    if let Some(word) = word {
        names.learn(word, id);
    }
}

fn parent(parent: &IncomingParent, names: &Names) -> Parent {
    match parent {
        IncomingParent::Leaf => Parent::Leaf,
        IncomingParent::Root => Parent::Root,
        IncomingParent::Id(word) => Parent::Of(names.id(word)),
    }
}

fn new_event(record: Incoming, names: &Names) -> NewEvent {
    let ids = |words: &[String]| words.iter().map(|word| names.id(word)).collect::<Vec<_>>();
    let body = match record.body {
        IncomingBody::Message(message) => Body::Message(message),
        IncomingBody::Tombstone { targets, reason } => Body::Tombstone(Tombstone { targets: ids(&targets), reason }),
        IncomingBody::Amend { target, patch } => Body::Amend(Amend { target: names.id(&target), patch }),
        IncomingBody::Prune { targets } => Body::Prune(Prune { targets: ids(&targets) }),
        IncomingBody::Head { leaf } => Body::Head(Head { leaf: leaf.map(|leaf| names.id(&leaf)) }),
        IncomingBody::ToolStarted(started) => Body::ToolStarted(started),
        IncomingBody::SessionMeta(meta) => Body::SessionMeta(meta),
        IncomingBody::Extension(extension) => Body::Extension(extension),
        IncomingBody::Unknown(unknown) => Body::Unknown(unknown),
        other => panic!("{other:?} can't be told"),
    };
    NewEvent {
        id: None,
        parent: parent(&record.parent, names),
        at: record.at,
        original_id: None,
        original_parent: None,
        body,
        extra: record.extra,
        placed: None,
    }
}
