//! A model's view as far as it is built.
//!
//! It knows how far it was before each entry, so that it can be taken back to there and built on when an event has
//! changed something.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::diagnostics::{Diagnostics, Lens};
use super::message::ProjectedMessage;
use crate::event::Uuid;

/// A part of a message, by the message's id and its place there.
pub(super) type PartPlace = (Uuid, usize);

/// A model's view as far as it is built.
#[derive(Debug, Clone, Default)]
pub(super) struct Made {
    pub(super) messages: Vec<ProjectedMessage>,
    pub(super) diagnostics: Diagnostics,
    /// How far it was before each entry behind the head, in order.
    pub(super) marks: Vec<Mark>,
    pub(super) answered: Answered,
}

/// The results that stand behind a call that is shown, and the places of the messages that hold the calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered {
    /// By message: the places of its results among its parts, each with the holder of its call.
    results: HashMap<Uuid, BTreeSet<(usize, usize)>>,
    /// By holder: the messages with results for it.
    messages: BTreeMap<usize, Vec<Uuid>>,
}

impl Answered {
    pub(super) fn insert(&mut self, (message, index): PartPlace, holder: usize) {
        self.results.entry(message).or_default().insert((index, holder));
        self.messages.entry(holder).or_default().push(message);
    }

    pub(super) fn holds(&self, (message, index): PartPlace) -> bool {
        let results = self.results.get(&message);
        results.is_some_and(|results| results.range((index, 0)..=(index, usize::MAX)).next().is_some())
    }

    /// The holders of the calls that results of this message stand behind.
    pub(super) fn holders(&self, message: Uuid) -> impl Iterator<Item = usize> {
        self.results.get(&message).into_iter().flatten().map(|(_, holder)| *holder)
    }

    /// Forgets the calls of messages at this place or behind it.
    fn cut_at(&mut self, place: usize) {
        let changed: HashSet<Uuid> = self.messages.split_off(&place).into_values().flatten().collect();
        for message in changed {
            if let Some(results) = self.results.get_mut(&message) {
                results.retain(|(_, holder)| *holder < place);
            }
        }
    }
}

/// How far a view was before an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The entry's place in the state.
    pub(super) place: usize,
    pub(super) messages: usize,
    pub(super) lens: Lens,
    /// Where the first message of the entry was put.
    pub(super) first_put: usize,
}

impl Made {
    /// Takes back all that comes from entries at this place or behind it, and as much more as is needed for nothing of
    /// them to stand among what is left. Returns the place from which to build on, and the messages that were taken
    /// back; none if that place is in the head.
    pub(super) fn cut_at(&mut self, place: usize) -> Option<(usize, Vec<ProjectedMessage>)> {
        let wanted = self.marks.partition_point(|mark| mark.place < place);
        if wanted == self.marks.len() {
            return Some((place, Vec::new()));
        }
        // An attachment of a later entry may have been put before an earlier one's result.
        let mut first_put = usize::MAX;
        let at = (0..self.marks.len()).rev().find(|&index| {
            first_put = first_put.min(self.marks[index].first_put);
            index <= wanted && self.marks[index].messages <= first_put
        })?;
        let mark = self.marks[at];
        self.marks.truncate(at);
        let taken_back = self.messages.split_off(mark.messages);
        self.diagnostics.truncate(mark.lens);
        let from = mark.place.min(place);
        self.answered.cut_at(from);
        Some((from, taken_back))
    }

    /// The place of the first message whose calls the results of this message stand behind, if they stand behind any.
    pub(super) fn holder_of(&self, message: Uuid) -> Option<usize> {
        self.answered.holders(message).min()
    }
}
