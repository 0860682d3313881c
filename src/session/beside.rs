//! What a transcript shows beside the messages of its chain, decided entry by entry in the order of the file.

use std::collections::HashMap;
use std::convert::Infallible;

use super::entry::{Entry, Link};
use super::state::State;
use crate::event::{Body, Event, Message};

/// What is known of the entries of a session without looking into them, by their numbers.
pub(super) trait Ground {
    /// What can go wrong when one is looked into after all.
    type Error;

    /// What this entry hangs on: of a participant its parent, of another its nearest participating ancestor.
    fn anchor(&self, index: usize) -> Option<usize>;

    /// Whether it hangs on nothing. (An anchor that is missing may also lie before what is known.)
    fn is_root(&self, index: usize) -> bool;

    fn is_living(&self, index: usize) -> bool;

    /// Whether it is a living message of the chain.
    fn is_on_spine(&self, index: usize) -> bool;

    /// Notes that it hangs beside the spine and holds the result of a call on it.
    fn put_beside(&mut self, index: usize);

    fn was_put_beside(&self, index: usize) -> bool;

    /// Whether its message holds a call of this id, as amended.
    fn holds_call(&self, index: usize, call_id: &str) -> Result<bool, Self::Error>;
}

/// Decides, entry by entry, which ones a transcript of the chain is made of. The entries are asked about in the order
/// of the file, and all living ones of the chain are.
#[derive(Debug, Default)]
pub(super) struct Choice {
    answers: Answers,
}

impl Choice {
    /// Whether a transcript is made of this living entry too:
    /// - a message of the chain,
    /// - one beside it that holds the first real result of a call on it,
    /// - one that takes no part by its kind, or is of an unknown kind, and hangs beside these.
    pub(super) fn takes<G: Ground>(&mut self, ground: &mut G, index: usize, event: &Event) -> Result<bool, G::Error> {
        let message = match &event.body {
            Body::Message(message) => message,
            Body::Unknown(unknown) => return Ok(unknown.kind.is_some() && is_beside(ground, index)),
            _ => return Ok(false),
        };
        let on_spine = ground.is_on_spine(index);
        if on_spine {
            self.answers.add_calls(message);
        }
        if message.metadata.sidechain {
            return Ok(on_spine);
        }
        let mut answers_one = false;
        for result in message.results() {
            let (call_id, synthetic) = (&result.call_id, message.metadata.synthetic);
            // On the spine the answer counts as taken, whatever it hangs on; beside it, only if it is this call's.
            if self.answers.is_wanted(call_id, synthetic)
                && (on_spine || !answers_off_the_spine(ground, index, call_id)?)
            {
                self.answers.take(call_id, synthetic);
                answers_one = true;
            }
        }
        if answers_one && !on_spine {
            ground.put_beside(index);
        }
        Ok(on_spine || answers_one || (!message.kind.takes_part() && is_beside(ground, index)))
    }
}

/// Whether the nearest living ancestor that takes part is on the spine or was put beside it, or there is none at all.
fn is_beside<G: Ground>(ground: &G, index: usize) -> bool {
    let mut at = index;
    while let Some(anchor) = ground.anchor(at) {
        if ground.is_on_spine(anchor) || ground.was_put_beside(anchor) {
            return true;
        }
        if ground.is_living(anchor) {
            return false;
        }
        at = anchor;
    }
    ground.is_root(at)
}

/// Whether an entry above this one that is not on the spine holds a call of that id: then that call is meant.
fn answers_off_the_spine<G: Ground>(ground: &G, index: usize, call_id: &str) -> Result<bool, G::Error> {
    let mut at = index;
    while let Some(anchor) = ground.anchor(at).filter(|&anchor| !ground.is_on_spine(anchor)) {
        if ground.holds_call(anchor, call_id)? {
            return Ok(true);
        }
        at = anchor;
    }
    Ok(false)
}

/// The calls on the spine that wait for a result, by id: of those that share one, the ones of the latest message.
#[derive(Debug, Default)]
struct Answers {
    open: HashMap<String, Vec<Open>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Nothing came yet.
    Unanswered,
    /// A result came that the runtime made up; a real one takes its place.
    MadeUp,
}

impl Answers {
    fn add_calls(&mut self, message: &Message) {
        for call in message.calls() {
            self.open.remove(&call.id);
        }
        for call in message.calls() {
            self.open.entry(call.id.clone()).or_default().push(Open::Unanswered);
        }
    }

    /// Whether a call of this id waits for such a result.
    fn is_wanted(&self, call_id: &str, synthetic: bool) -> bool {
        self.open.get(call_id).is_some_and(|calls| calls.iter().any(|call| waits(*call, synthetic)))
    }

    fn take(&mut self, call_id: &str, synthetic: bool) {
        let Some(calls) = self.open.get_mut(call_id) else { return };
        let Some(place) = calls.iter().position(|call| waits(*call, synthetic)) else { return };
        if synthetic {
            calls[place] = Open::MadeUp;
        } else {
            calls.remove(place);
            if calls.is_empty() {
                self.open.remove(call_id);
            }
        }
    }
}

fn waits(call: Open, synthetic: bool) -> bool {
    call == Open::Unanswered || !synthetic
}

/// A state, and which of its entries are on the spine or were put beside it.
pub(super) struct Held<'a> {
    entries: &'a [Entry],
    on_spine: Vec<bool>,
    beside: Vec<bool>,
}

impl Ground for Held<'_> {
    type Error = Infallible;

    fn anchor(&self, index: usize) -> Option<usize> {
        match self.entries[index].link {
            Link::At(anchor) => Some(anchor),
            Link::Root | Link::Outside(_) => None,
        }
    }

    fn is_root(&self, index: usize) -> bool {
        self.entries[index].link == Link::Root
    }

    fn is_living(&self, index: usize) -> bool {
        self.entries[index].is_living()
    }

    fn is_on_spine(&self, index: usize) -> bool {
        self.on_spine[index]
    }

    fn put_beside(&mut self, index: usize) {
        self.beside[index] = true;
    }

    fn was_put_beside(&self, index: usize) -> bool {
        self.beside[index]
    }

    fn holds_call(&self, index: usize, call_id: &str) -> Result<bool, Infallible> {
        Ok(self.entries[index].holds_call(call_id))
    }
}

impl State {
    /// The entries that a transcript of the current chain is made of, in file order, before anything is hidden:
    /// - the living participants from the root to the leaf, as in [`State::history`],
    /// - messages that hang beside them and hold the first real result of a call on the chain,
    /// - living messages that take no part in the chain by their kind (progress, system events, summaries of tool uses;
    ///   also those of a kind that this version does not know) and hang beside these.
    ///
    /// [`SessionReader::story`](super::SessionReader::story) gives the same without a state in memory.
    #[must_use]
    pub fn story(&self) -> Vec<&Entry> {
        let mut held = self.held();
        let mut choice = Choice::default();
        let takes = |(index, entry): &(usize, &Entry)| {
            let Ok(takes) = choice.takes(&mut held, *index, &entry.event);
            takes
        };
        let living = self.entries.iter().enumerate().filter(|(_, entry)| entry.is_living());
        living.filter(takes).map(|(_, entry)| entry).collect()
    }

    /// The entries, and which ones are on the spine.
    pub(super) fn held(&self) -> Held<'_> {
        let mut on_spine = vec![false; self.entries.len()];
        let mut at = self.raw_leaf();
        while let Link::At(index) = at {
            on_spine[index] = self.entries[index].is_living();
            at = self.entries[index].link;
        }
        Held { entries: &self.entries, on_spine, beside: vec![false; self.entries.len()] }
    }
}
