//! How each view treats each event: shown, changed or hidden, and why. The debug view and explanations are made of it.

use std::collections::{HashMap, HashSet};

use super::diagnostics::{Diagnostic, code};
use super::options::Options;
use super::{Projection, View, project};
use crate::event::{Body, HungOn, Uuid};
use crate::session::{Entry, State};

/// Every view but the debug view, and what is known of the places of events.
#[derive(Debug)]
pub(super) struct Standings<'a> {
    pub(super) state: &'a State,
    pub(super) views: Vec<Seen>,
    places: HashMap<Uuid, usize>,
    /// The living participants from the root to the leaf, and those that a boundary kept.
    chain: HashSet<Uuid>,
    /// The leaf of the branch that each entry is on, by its place.
    branches: Vec<Option<Uuid>>,
}

/// One view, by event.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) view: View,
    pub(super) projection: Projection,
    /// Nothing is shown, since it would hold placeholders.
    is_refused: bool,
    /// The messages made of an event.
    shown: HashMap<Uuid, Vec<usize>>,
    /// The diagnostics about an event.
    said: HashMap<Uuid, Vec<usize>>,
}

impl Seen {
    fn of(state: &State, view: View, options: &Options) -> Self {
        let projection = project(state, view, options);
        let mut shown: HashMap<Uuid, Vec<usize>> = HashMap::new();
        for (index, message) in projection.messages.iter().enumerate() {
            for &id in &message.source_message_ids {
                shown.entry(id).or_default().push(index);
            }
        }
        let mut said: HashMap<Uuid, Vec<usize>> = HashMap::new();
        for (index, item) in projection.diagnostics.items.iter().enumerate() {
            for &id in &item.ids {
                said.entry(id).or_default().push(index);
            }
        }
        let is_refused = projection.diagnostics.items.iter().any(|item| item.code == code::PLACEHOLDER_REFUSED);
        Self { view, projection, is_refused, shown, said }
    }

    /// The places of the messages made of this event.
    pub(super) fn shown(&self, id: Uuid) -> &[usize] {
        self.shown.get(&id).map(Vec::as_slice).unwrap_or_default()
    }

    /// What the view says about this event.
    pub(super) fn said(&self, id: Uuid) -> impl Iterator<Item = &Diagnostic> {
        let said = self.said.get(&id).map(Vec::as_slice).unwrap_or_default();
        said.iter().map(|&index| &self.projection.diagnostics.items[index])
    }

    pub(super) fn has_said(&self, id: Uuid, code: &str) -> bool {
        self.said(id).any(|item| item.code == code)
    }
}

/// What an event hangs on, and why that is not the parent it named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hanging {
    pub(super) named: Option<Uuid>,
    pub(super) hung_on: Option<Uuid>,
    pub(super) reason: Option<String>,
}

impl<'a> Standings<'a> {
    pub(super) fn of(state: &'a State, options: &Options) -> Self {
        let views = View::ALL.into_iter().filter(|view| *view != View::Debug);
        let places: HashMap<Uuid, usize> =
            state.entries().iter().enumerate().map(|(place, entry)| (entry.event.id, place)).collect();
        let chain = state.history().into_iter().chain(state.chain()).map(|entry| entry.event.id).collect();
        let branches = branches(state, &places);
        Self { state, views: views.map(|view| Seen::of(state, view, options)).collect(), places, chain, branches }
    }

    /// The how-manyeth event of the file this is.
    pub(super) fn place(&self, id: Uuid) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// Whether it is on the current chain, or hangs beside it and takes no part itself.
    pub(super) fn is_on_chain(&self, entry: &Entry) -> bool {
        let takes_part = entry.takes_part();
        let holds = |entry: &Entry| self.chain.contains(&entry.event.id);
        holds(entry) || (!takes_part && self.state.anchor(entry).is_some_and(holds))
    }

    /// The leaf of the branch that it is on; none if nothing living is below it.
    pub(super) fn branch(&self, entry: &Entry) -> Option<Uuid> {
        self.place(entry.event.id).and_then(|place| self.branches[place])
    }

    pub(super) fn hanging(&self, entry: &Entry) -> Hanging {
        let event = &entry.event;
        let named = event.parent;
        let parent = named.and_then(|id| self.state.entry(id));
        let reason = match (event.hung_on, named, parent) {
            (HungOn::Named, ..) => None,
            (_, None, _) => Some("it names no parent and stands beside what was the leaf".to_owned()),
            (_, Some(_), None) => match &event.original_parent {
                Some(original) => Some(format!("the parent that it names, {original}, is not in the session")),
                None => Some("the parent that it names lies before what is held here".to_owned()),
            },
            (_, Some(_), Some(parent)) if parent.is_boundary() => Some("a boundary stands for its summary".to_owned()),
            (_, Some(_), Some(parent)) if !parent.takes_part() => {
                Some("the parent that it names takes no part in the chain".to_owned())
            }
            (_, Some(id), _) if self.place(id) >= self.place(event.id) => {
                Some("the parent that it names does not lie before it".to_owned())
            }
            _ if !entry.takes_part() => {
                Some("it takes no part in the chain and stands beside what was the leaf".to_owned())
            }
            _ => Some("it answers a call late, when other messages had followed; so they stay in the chain".to_owned()),
        };
        Hanging { named, hung_on: event.effective_parent(), reason }
    }

    /// Why a view has no message of this event, where it does not say so itself.
    pub(super) fn why_absent(&self, entry: &Entry, seen: &Seen) -> (&'static str, String) {
        if let Some(tombstone) = entry.tombstone {
            let reason = match self.state.entry(tombstone).map(|entry| &entry.event.body) {
                Some(Body::Tombstone(body)) => body.reason.as_ref().map(|reason| format!(": {reason}")),
                _ => None,
            };
            return (code::TAKEN_BACK, format!("the tombstone {tombstone} took it back{}", reason.unwrap_or_default()));
        }
        if matches!(&entry.event.body, Body::Unknown(unknown) if unknown.kind.is_some()) {
            return (code::UNKNOWN_KIND_LEFT_OUT, "this version does not know messages of its kind".to_owned());
        }
        if entry.event.message().is_none() {
            return (code::NO_MESSAGE, "it is no message".to_owned());
        }
        if !self.is_on_chain(entry) {
            return (code::NOT_ON_CHAIN, "it is not on the current chain".to_owned());
        }
        if let Some(boundary) = seen.projection.diagnostics.applied_compact_boundary_id
            && !self.state.on_chain(entry.event.id)
        {
            return (code::BEFORE_BOUNDARY, format!("it lies before the boundary {boundary}, which did not keep it"));
        }
        if seen.is_refused {
            return (code::PLACEHOLDER_REFUSED, "the whole export is refused for placeholders in it".to_owned());
        }
        (code::NOTHING_TO_SHOW, "nothing of it is for this view".to_owned())
    }
}

/// The leaf of the branch that each entry is on: the current one where it leads there, else the first in the file.
fn branches(state: &State, places: &HashMap<Uuid, usize>) -> Vec<Option<Uuid>> {
    let entries = state.entries();
    let anchor = |place: usize| state.anchor(&entries[place]).and_then(|entry| places.get(&entry.event.id).copied());
    let mut branches = vec![None; entries.len()];
    for leaf in state.leaf().map(|entry| entry.event.id).into_iter().chain(state.branches()) {
        let mut at = places.get(&leaf).copied();
        while let Some(place) = at.filter(|&place| branches[place].is_none()) {
            branches[place] = Some(leaf);
            at = anchor(place);
        }
    }
    for place in 0..entries.len() {
        if branches[place].is_none() && !entries[place].takes_part() {
            branches[place] = anchor(place).and_then(|place| branches[place]);
        }
    }
    branches
}
