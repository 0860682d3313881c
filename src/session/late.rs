//! What comes late in an import: a message that is put back where it had been lost stands behind the changes that were made to it
//! since, and an old change behind newer ones. Those are made once more, so that nothing lost is undone by what gives it back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::commit::targets;
use super::draft::NewEvent;
use super::state::State;
use crate::event::{Amend, Body, Event, Prune, Tombstone, Uuid};

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
    /// The same of what is said of the session.
    meta_again: Option<Behind>,
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
        Self { known, passed: HashSet::new(), changes: None, metas: None, again: BTreeMap::new(), meta_again: None }
    }

    /// The file has this event here.
    pub(super) fn passes(&mut self, id: Uuid) {
        self.passed.insert(id);
    }

    /// This event was added; `fills_in`: it belongs before what is there.
    pub(super) fn came(&mut self, state: &State, event: &Event, fills_in: bool) {
        let before = &state.entries()[..self.known];
        let is_behind = |at: &usize| !self.passed.contains(&before[*at].event.id);
        if matches!(event.body, Body::SessionMeta(_)) {
            let is_meta = |at: &usize| matches!(before[*at].event.body, Body::SessionMeta(_));
            let metas = self.metas.get_or_insert_with(|| (0..self.known).filter(is_meta).collect());
            let events = metas.iter().copied().filter(is_behind).collect();
            self.meta_again = Some(Behind { events, is_sure: fills_in });
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

    /// The events that make all of it once more, each placed as it was; nothing is left to be made then.
    pub(super) fn take(&mut self, state: &State) -> Vec<NewEvent> {
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
        // Each says all of the session, so the last one is enough.
        if let Some(last) = self.meta_again.take().filter(is_late).and_then(|behind| behind.events.last().copied()) {
            places.entry(last).or_default();
        }
        places.into_iter().map(|(at, targets)| again(&state.entries()[at].event, targets)).collect()
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
