//! A transcript that is told on when its session goes on.

use super::diagnostics::Lens;
use super::transcript::{Telling, half_a_story};
use super::{Diagnostics, ProjectedMessage, Projection};
use crate::event::Body;
use crate::session::{Entry, State};

/// A transcript, and how far it is settled: behind that stand the results at its end, which may still change places.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    telling: Telling<Entry>,
    pub(super) projection: Projection,
    settled: usize,
    settled_diagnostics: Lens,
}

impl Followed {
    /// The transcript of this state.
    pub(super) fn new(state: &State) -> Self {
        let projection = Projection { messages: Vec::new(), diagnostics: Diagnostics::default() };
        let mut followed =
            Self { telling: Telling::default(), projection, settled: 0, settled_diagnostics: Lens::default() };
        let story = state.story();
        _ = followed.tell(story, state);
        followed
    }

    /// Tells on what the state has got from this place on. Gives the messages that were not settled before and where
    /// the first of them stood; none if the whole story has to be told anew.
    pub(super) fn go_on(&mut self, state: &State, from: usize) -> Option<(usize, Vec<ProjectedMessage>)> {
        let mut new = Vec::new();
        for entry in state.entries().get(from..)? {
            match belongs(state, entry) {
                Some(true) => new.push(entry),
                Some(false) => {}
                None => return None,
            }
        }
        Some(self.tell(new, state))
    }

    fn tell(&mut self, entries: Vec<&Entry>, state: &State) -> (usize, Vec<ProjectedMessage>) {
        let from = self.settled;
        let unsettled = self.projection.messages.split_off(from);
        let Projection { messages, diagnostics } = &mut self.projection;
        diagnostics.truncate(self.settled_diagnostics);
        for entry in entries {
            self.telling.take(entry.clone());
        }
        let told = std::mem::take(&mut self.telling.told);
        messages.extend(told.messages);
        diagnostics.extend(told.diagnostics);
        self.settled = messages.len();
        self.settled_diagnostics = diagnostics.lens();
        let rest = self.telling.rest();
        messages.extend(rest.messages);
        diagnostics.extend(rest.diagnostics);
        diagnostics.items.extend(half_a_story(state));
        (from, unsettled)
    }
}

/// Whether a new entry belongs to the story, where the chain runs on from where it ended; none if it can change what
/// was told before, or only a look at the whole story tells.
fn belongs(state: &State, entry: &Entry) -> Option<bool> {
    let message = match &entry.event.body {
        Body::Message(message) => message,
        // A head that leads elsewhere shows in the chain.
        Body::Head(_) | Body::ToolStarted(_) | Body::SessionMeta(_) | Body::Extension(_) => return Some(false),
        Body::Tombstone(_) | Body::Amend(_) | Body::Prune(_) | Body::Unknown(_) => return None,
    };
    // What a compaction kept is on the chain, and in the story only as far back as the state goes.
    let was_kept = |entry: &Entry| {
        state.boundary().is_some_and(|boundary| state.index_of(entry.event.id) < state.index_of(boundary.event.id))
    };
    let is_shown = |entry: &Entry| entry.is_living() && state.on_chain(entry.event.id) && !was_kept(entry);
    if entry.takes_part() {
        return is_shown(entry).then_some(true);
    }
    if message.results().next().is_some() {
        return None;
    }
    if message.metadata.sidechain {
        return Some(false);
    }
    state.anchor(entry).filter(|anchor| is_shown(anchor)).map(|_| true)
}
