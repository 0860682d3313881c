//! On random histories: everything but what was asked to go is as it was, at every point, and the session goes on.

use std::path::PathBuf;

use proptest::prelude::*;
use seslog::event::{Body, Event, REDACTED, Uuid};
use seslog::log::Durability;
use seslog::projection::{Options, View, project};
use seslog::session::{Redaction, Session, SessionError, SessionReader, State, Vacuum};

use super::history::{Run, odd_step};
use super::world::{events, file_holds, frames, options, skeleton};

const VIEWS: [View; 6] = [View::Transcript, View::Model, View::Compact, View::Export, View::Ui, View::Debug];

/// Closes a history's session; gives its file.
fn closed(run: &mut Run) -> PathBuf {
    let session = run.session.take().unwrap();
    let path = session.path().to_owned();
    session.close().unwrap();
    path
}

fn state(path: &std::path::Path) -> State {
    let session = Session::open(path, options()).unwrap();
    let state = session.whole_state().unwrap();
    session.close().unwrap();
    state
}

fn ids(entries: &[&seslog::session::Entry]) -> Vec<Uuid> {
    entries.iter().map(|entry| entry.event.id).collect()
}

/// What hangs where, and what counts.
fn shape(state: &State) -> impl PartialEq + std::fmt::Debug + use<> {
    let of = |id: Uuid| state.entry(id).map(|entry| (entry.tombstone, entry.pruned_at, entry.refused_amends.clone()));
    let entries: Vec<_> = state.entries().iter().map(|entry| (entry.event.id, of(entry.event.id))).collect();
    let leaf = state.leaf().map(|leaf| leaf.event.id);
    let boundary = state.boundary().map(|entry| entry.event.id);
    let open: Vec<String> = state.pairing().dangling().map(|call| call.call.id.clone()).collect();
    (entries, leaf, boundary, ids(&state.chain()), ids(&state.history()), open, state.last_id())
}

/// An event without the places in the log that a boundary names.
fn placeless(event: &Event) -> Event {
    let mut event = event.clone();
    if let Body::Message(message) = &mut event.body
        && let seslog::event::Kind::CompactBoundary(boundary) = &mut message.kind
    {
        boundary.meta_offset = 0;
        for kept in boundary.keep.iter_mut().chain(&mut boundary.carried) {
            kept.offset = 0;
            kept.changed.iter_mut().for_each(|changed| changed.offset = 0);
        }
    }
    event
}

/// What the views show, with the texts of a pattern taken out here instead.
fn shown(state: &State, view: View, redacted: &str) -> String {
    let projection = project(state, view, &Options::default());
    let json = serde_json::to_string(&(&projection.messages, &projection.diagnostics)).unwrap();
    json.replace(redacted, REDACTED)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn nothing_but_the_matches_changes(steps in prop::collection::vec(odd_step(), 1..50)) {
        let mut run = Run::new();
        steps.iter().for_each(|step| run.apply(step));
        let seen: Vec<Uuid> = run.seen.iter().map(|(id, _)| *id).collect();
        let path = closed(&mut run);
        let (before, whole, then) = (events(&path), state(&path), frames(&path));
        // Texts of the history are "text 1", "text 2" and so on.
        let redaction = Redaction::new().pattern("text 1[0-9]*").unwrap();
        let report = Session::redact(&path, &redaction, &options()).unwrap();
        let (after, now) = (events(&path), state(&path));

        // A key by which a tool is asked whether it ran is no text.
        let left: Vec<&str> = report.left.iter().map(|left| left.field.as_str()).collect();
        prop_assert!(left.iter().all(|field| *field == "idempotency_key"), "{left:?}");
        prop_assert!(!left.is_empty() || !file_holds(&path, "text 1"));
        prop_assert_eq!(&then, &frames(&path), "the frames say the same");
        prop_assert!(before.iter().map(skeleton).eq(after.iter().map(skeleton)));
        for (before, after) in before.iter().zip(&after) {
            let is_changed = report.changed.contains(&before.id);
            prop_assert_eq!(placeless(before) != placeless(after), is_changed, "{}", before.id);
        }
        prop_assert!(shape(&whole) == shape(&now), "{:#?}\n{:#?}", shape(&whole), shape(&now));
        let (reader, session) = (SessionReader::open(&path, options().fs).unwrap(), Session::open(&path, options()).unwrap());
        prop_assert!(*reader.state() == session.state().unwrap());
        prop_assert!(session.report().damage.is_empty());
        for id in seen {
            let (at, was) = (session.at(id).unwrap(), run.seen.iter().find(|(seen, _)| *seen == id).unwrap());
            prop_assert!(ids(&at.chain()) == ids(&was.1.chain()), "as it was at {}", id);
        }
        let said = session.append(seslog::event::Message::user("and on"), Durability::Sync).unwrap();
        prop_assert!(said.id > whole.last_id());
        session.close().unwrap();
        let again = Session::redact(&path, &redaction, &options()).unwrap();
        prop_assert!(!again.rewritten && again.matches == 0);
    }

    #[test]
    fn a_vacuum_changes_no_view_of_what_is_living(steps in prop::collection::vec(odd_step(), 1..60)) {
        let mut run = Run::new();
        steps.iter().for_each(|step| run.apply(step));
        let path = closed(&mut run);
        let (before, whole) = (events(&path), state(&path));
        let plain = Session::vacuum(&path, Vacuum::new(), &options()).unwrap();
        prop_assert!(plain.changed.is_empty());
        prop_assert!(before.iter().map(placeless).eq(events(&path).iter().map(placeless)), "a plain one changes nothing");

        let report = match Session::vacuum(&path, Vacuum::new().tombstoned(true), &options()) {
            // A message of a kind that nobody knows was taken back.
            Err(SessionError::Refused { .. }) => return Ok(()),
            other => other.unwrap(),
        };
        let (after, now) = (events(&path), state(&path));
        prop_assert!(before.iter().map(skeleton).eq(after.iter().map(skeleton)));
        prop_assert!(shape(&whole) == shape(&now));
        for (before, after) in whole.entries().iter().zip(now.entries()) {
            let is_shown = before.is_living() && before.event.message().is_some();
            prop_assert!(!is_shown || placeless(&before.event) == placeless(&after.event));
        }
        for view in VIEWS.into_iter().filter(|view| *view != View::Debug) {
            prop_assert_eq!(shown(&whole, view, ""), shown(&now, view, ""), "{:?}", view);
        }
        let again = Session::vacuum(&path, Vacuum::new().tombstoned(true), &options()).unwrap();
        prop_assert!(again.changed.is_empty());
        prop_assert!(report.changed.len() <= before.len());

        // Of a pruned result a model sees a stub anyway.
        let pruned = Session::vacuum(&path, Vacuum::new().pruned(true), &options()).unwrap();
        prop_assert_eq!(shown(&now, View::Model, ""), shown(&state(&path), View::Model, ""), "{:?}", pruned.changed);
    }
}
