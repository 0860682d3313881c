//! What comes late in an import: a message that is put back where it had been lost stands behind the changes that were made to it
//! since, and an old change behind newer ones. Those are made once more, so that nothing lost is undone by what gives it back.
//! What is said of the session field by field, so that a copy that has gone on elsewhere brings what is new in it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::commit::targets;
use super::draft::NewEvent;
use super::entry::Entry;
use super::state::State;
use crate::event::{Amend, Body, Event, Prune, SessionMeta, Tombstone, Uuid};

/// What an import will have to make once more. Events are named by their places in the state.
#[derive(Debug)]
pub(super) struct Late {
    /// How many events there were before the import.
    known: usize,
    /// Those that the file has in front of what comes.
    passed: HashSet<Uuid>,
    /// The changes of each message from before the import, in file order, and what was said of the session. Made at first need.
    changes: Option<HashMap<Uuid, Vec<usize>>>,
    metas: Option<Vec<usize>>,
    /// Of each message of which something came: the changes that may belong behind that.
    again: BTreeMap<Uuid, Behind>,
    /// What was said of the session and may belong behind what came of that.
    meta_behind: Option<Vec<usize>>,
}

/// Events from before the import which the file did not have in front of something that came.
#[derive(Debug)]
struct Behind {
    events: Vec<usize>,
    /// They belong behind it in any case; else if the file has one of them later.
    is_sure: bool,
}

impl Late {
    pub(super) fn new(known: usize) -> Self {
        Self { known, passed: HashSet::new(), changes: None, metas: None, again: BTreeMap::new(), meta_behind: None }
    }

    /// The file has this event here.
    pub(super) fn passes(&mut self, id: Uuid) {
        self.passed.insert(id);
    }

    pub(super) fn has_passed(&self, id: Uuid) -> bool {
        self.passed.contains(&id)
    }

    /// This event was added; `fills_in`: it belongs before what is there.
    pub(super) fn came(&mut self, state: &State, event: &Event, fills_in: bool) {
        let before = &state.entries()[..self.known];
        let is_behind = |at: &usize| !self.passed.contains(&before[*at].event.id);
        if matches!(event.body, Body::SessionMeta(_)) {
            let is_meta = |at: &usize| matches!(before[*at].event.body, Body::SessionMeta(_));
            let metas = self.metas.get_or_insert_with(|| (0..self.known).filter(is_meta).collect());
            let events = metas.iter().copied().filter(is_behind).collect();
            self.meta_behind = Some(events);
        }
        let changes = self.changes.get_or_insert_with(|| {
            let mut changes: HashMap<Uuid, Vec<usize>> = HashMap::new();
            for (at, entry) in before.iter().enumerate() {
                targets(&entry.event).iter().for_each(|target| changes.entry(*target).or_default().push(at));
            }
            changes
        });
        // A new change may go on from what is there; a message comes before each change of it.
        let changed = targets(event).iter().map(|target| (target, fills_in));
        for (message, is_sure) in changed.chain([(&event.id, true)]) {
            let Some(all) = changes.get(message) else { continue };
            let behind = || Behind { events: all.iter().copied().filter(is_behind).collect(), is_sure };
            self.again.entry(*message).or_insert_with(behind);
        }
    }

    /// The events that make all of it once more, each placed as it was, and the change that says of the session what only it says
    /// itself. Nothing is left to be made then.
    pub(super) fn take(&mut self, state: &State) -> (Vec<NewEvent>, SessionMeta) {
        let is_late = |behind: &Behind| {
            let is_in_the_file = |at: &usize| self.passed.contains(&state.entries()[*at].event.id);
            behind.is_sure || behind.events.iter().any(is_in_the_file)
        };
        let mut places: BTreeMap<usize, Vec<Uuid>> = BTreeMap::new();
        for (message, behind) in std::mem::take(&mut self.again).into_iter().filter(|(_, behind)| is_late(behind)) {
            // One event may name a message twice.
            let events: BTreeSet<usize> = behind.events.into_iter().collect();
            events.into_iter().for_each(|at| places.entry(at).or_default().push(message));
        }
        let again = |(at, targets): (usize, Vec<Uuid>)| again(&state.entries()[at].event, targets);
        let mut all: Vec<NewEvent> = places.into_iter().map(again).collect();
        let behind = self.meta_behind.take().unwrap_or_default();
        // The file has one later than what came, and each says all of the session: so what stood last holds.
        if behind.iter().any(|at| self.passed.contains(&state.entries()[*at].event.id)) {
            all.extend(behind.last().map(|at| again((*at, Vec::new()))));
            return (all, SessionMeta::default());
        }
        (all, self.said_here(state, &behind))
    }

    /// What only this session says of itself. It holds if it was said here; what came with an earlier copy gives way to a later one,
    /// which has all that came before.
    fn said_here(&self, state: &State, behind: &[usize]) -> SessionMeta {
        let before = &state.entries()[..self.known];
        let is_passed = |entry: &Entry| self.passed.contains(&entry.event.id);
        let came = before.iter().filter(|entry| entry.event.original_id.is_some());
        let is_later_copy = came.filter(|entry| entry.event.message().is_some()).all(is_passed);
        let metas = self.metas.iter().flatten();
        let mut said = state.meta().clone();
        let mut held = &SessionMeta::default();
        for at in metas {
            let Entry { event, .. } = &before[*at];
            let Body::SessionMeta(meta) = &event.body else { continue };
            if behind.contains(at) && !(is_later_copy && event.original_id.is_some()) {
                said = said.changed_by(&meta.changes_since(held));
            }
            held = meta;
        }
        said.changes_since(state.meta())
    }
}

/// The same once more, of these messages only.
fn again(event: &Event, targets: Vec<Uuid>) -> NewEvent {
    let body = match &event.body {
        Body::Tombstone(Tombstone { reason, .. }) => Body::Tombstone(Tombstone { targets, reason: reason.clone() }),
        Body::Prune(_) => Body::Prune(Prune { targets }),
        Body::Amend(Amend { target, patch }) => Body::Amend(Amend { target: *target, patch: patch.clone() }),
        other => other.clone(),
    };
    let placed = Some((event.hung_on, event.off_chain));
    NewEvent { id: None, original_id: None, body, placed, ..NewEvent::from_event(event.clone()) }
}
