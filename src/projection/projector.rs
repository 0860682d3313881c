//! A view that follows its session, event by event.

use super::model::{self, Rebuilt};
use super::model_made::Made;
use super::options::Options;
use super::transcript_follow::Followed;
use super::{Diagnostic, Diagnostics, ProjectedMessage, Projection, View, code, project};
use crate::event::{Body, Kind, Message, PartBody, Uuid};
use crate::session::{Entry, State};

/// A view that follows its session: after each update it is what [`project`] would give of the same state.
///
/// The model's views and the transcript are built on from the first entry that an event can have changed, so that an
/// append costs what is new, however long the session is. Other views, and a model's without its boundary
/// ([`Options::apply_compact_boundary`]), are projected anew.
#[derive(Debug, Clone)]
pub struct Projector {
    view: View,
    options: Options,
    built: Built,
    seen: Seen,
}

#[derive(Debug, Clone)]
enum Built {
    Model(Made),
    Transcript(Followed),
    Whole(Projection),
}

/// What of a state a view was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Seen {
    entries: usize,
    last: Option<Uuid>,
    /// The boundary that counts, and its place.
    boundary: Option<(Uuid, Option<usize>)>,
    /// The place of the last entry of the chain.
    chain_end: Option<usize>,
}

/// What an update did to the messages that a view had before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct Update {
    /// Where the first message stands that was changed, moved or taken out; none: all that was there still stands where
    /// it stood, and what a provider has read of it holds.
    pub first_changed: Option<usize>,
    /// Names that message, by the events that it came from, and says which events have changed something.
    pub diagnostic: Option<Diagnostic>,
}

impl Projector {
    /// A view of this state.
    pub fn new(state: &State, view: View, options: Options) -> Self {
        let options = model::options_for(view, options);
        let built = build(state, view, &options);
        Self { view, options, built, seen: Seen::of(state) }
    }

    /// The view as of the last update.
    pub fn projection(&self) -> Projection {
        match &self.built {
            Built::Model(made) => Projection { messages: made.messages.clone(), diagnostics: made.diagnostics.clone() },
            Built::Transcript(followed) => followed.projection.clone(),
            Built::Whole(projection) => projection.clone(),
        }
    }

    /// The messages as of the last update.
    #[must_use]
    pub fn messages(&self) -> &[ProjectedMessage] {
        match &self.built {
            Built::Model(made) => &made.messages,
            Built::Transcript(followed) => &followed.projection.messages,
            Built::Whole(projection) => &projection.messages,
        }
    }

    /// What is to be said about the view as of the last update.
    #[must_use]
    pub fn diagnostics(&self) -> &Diagnostics {
        match &self.built {
            Built::Model(made) => &made.diagnostics,
            Built::Transcript(followed) => &followed.projection.diagnostics,
            Built::Whole(projection) => &projection.diagnostics,
        }
    }

    /// Takes in what the session has got since: hand in its state after each event, or after several. Any state of the
    /// same session will do, trimmed or whole; events never change, so those that were seen are not looked at again.
    pub fn update(&mut self, state: &State) -> Update {
        let before = std::mem::replace(&mut self.seen, Seen::of(state));
        let affected = match &self.built {
            Built::Model(made) if self.options.apply_compact_boundary => first_affected(made, state, before),
            Built::Transcript(_) if before.goes_on_in(state) => Affected::From(before.entries),
            _ => Affected::All,
        };
        let rebuilt = match (affected, &mut self.built) {
            (Affected::Nothing, _) => return Update::default(),
            (Affected::From(place), Built::Model(made)) => model::rebuild(made, state, self.view, &self.options, place),
            (Affected::From(place), Built::Transcript(followed)) => {
                let told = followed.go_on(state, place);
                told.map(|(from, taken_back)| Rebuilt { taken_back, from, moved: None })
            }
            _ => None,
        };
        let rebuilt = rebuilt.unwrap_or_else(|| Rebuilt { taken_back: self.build_anew(state), from: 0, moved: None });
        let Some((index, ids)) = self.first_changed(rebuilt) else { return Update::default() };
        let reason = format!("it was changed, moved or taken out by {}", causes(state, before.entries));
        let diagnostic = Diagnostic::new(code::EARLIER_MESSAGE_CHANGED, ids, reason);
        Update { first_changed: Some(index), diagnostic: Some(diagnostic) }
    }

    fn first_changed(&self, rebuilt: Rebuilt) -> Option<(usize, Vec<Uuid>)> {
        if rebuilt.moved.is_some() {
            return rebuilt.moved;
        }
        let old = rebuilt.taken_back;
        let new = self.messages().get(rebuilt.from..).unwrap_or_default();
        let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        old.get(same).map(|first| (rebuilt.from + same, first.source_message_ids.clone()))
    }

    /// Projects the whole view and gives the messages that it had before.
    fn build_anew(&mut self, state: &State) -> Vec<ProjectedMessage> {
        match std::mem::replace(&mut self.built, build(state, self.view, &self.options)) {
            Built::Model(made) => made.messages,
            Built::Transcript(followed) => followed.projection.messages,
            Built::Whole(projection) => projection.messages,
        }
    }
}

fn build(state: &State, view: View, options: &Options) -> Built {
    match view {
        View::Model | View::Compact => Built::Model(model::build(state, view, options)),
        View::Transcript => Built::Transcript(Followed::new(state)),
        View::Debug | View::Export | View::Ui => Built::Whole(project(state, view, options)),
    }
}

impl Seen {
    fn of(state: &State) -> Self {
        let boundary = state.boundary().map(|boundary| boundary.event.id);
        Self {
            entries: state.entries().len(),
            last: state.entries().last().map(|entry| entry.event.id),
            boundary: boundary.map(|id| (id, state.index_of(id))),
            chain_end: state.chain_end(),
        }
    }

    /// Whether the state is the one that was seen, with more behind it, and the chain runs on from where it ended.
    fn goes_on_in(self, state: &State) -> bool {
        let now = Self::of(state);
        let last = self.entries.checked_sub(1).and_then(|at| state.entries().get(at)).map(|entry| entry.event.id);
        let end = self.chain_end.and_then(|at| state.entries().get(at));
        now.entries >= self.entries
            && last == self.last
            && now.boundary == self.boundary
            && (self.chain_end.is_none() || end.is_some_and(|entry| state.on_chain(entry.event.id)))
            // A chain that goes on may have taken in messages that were beside it before.
            && state
                .chain_since(self.chain_end.map_or(0, |end| end + 1))
                .next()
                .is_none_or(|(place, _)| place >= self.entries)
    }
}

/// From where on an event can have changed a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Affected {
    Nothing,
    /// From the entry at this place on.
    From(usize),
    All,
}

fn first_affected(made: &Made, state: &State, before: Seen) -> Affected {
    if !before.goes_on_in(state) {
        return Affected::All;
    }
    let new = state.entries().iter().enumerate().skip(before.entries);
    if new.clone().any(|(_, entry)| sends_results_elsewhere(state, entry)) {
        return Affected::All;
    }
    let Some(first) = new.filter_map(|(place, entry)| affected_by(made, state, place, entry)).min() else {
        return Affected::Nothing;
    };
    // What stands in the head does not stand in the order of the file.
    let in_head = state.boundary().is_some_and(|boundary| {
        let summary = state.compaction_partner(boundary).and_then(|summary| state.index_of(summary.event.id));
        state.index_of(boundary.event.id).is_some_and(|cut| first <= cut) || summary == Some(first)
    });
    if in_head { Affected::All } else { Affected::From(first) }
}

/// Whether it may send a result to another message that holds a call of the same id: it puts other calls or results
/// into a message that results follow.
fn sends_results_elsewhere(state: &State, entry: &Entry) -> bool {
    let Body::Amend(amend) = &entry.event.body else { return false };
    let Some(place) = state.index_of(amend.target) else { return false };
    let mut behind = state.entries().iter().skip(place + 1).filter_map(|entry| entry.event.message());
    amend.patch.iter().any(|(name, _)| name == "content") && behind.any(|message| message.results().next().is_some())
}

/// The place of the first entry that this one, which is new, can have changed in the view: often its own.
fn affected_by(made: &Made, state: &State, place: usize, entry: &Entry) -> Option<usize> {
    match &entry.event.body {
        Body::Message(message) => Some(with_holders(state, message, place)),
        Body::Unknown(_) => Some(place),
        Body::Amend(amend) => changed_at(made, state, amend.target),
        Body::Tombstone(tombstone) => tombstone.targets.iter().filter_map(|id| changed_at(made, state, *id)).min(),
        Body::Prune(prune) => prune.targets.iter().filter_map(|id| changed_at(made, state, *id)).min(),
        // A head that leads elsewhere shows in the chain.
        Body::Head(_) | Body::ToolStarted(_) | Body::SessionMeta(_) | Body::Extension(_) => None,
    }
}

/// The first place where a message shows: its own, or behind the calls that it answers.
fn with_holders(state: &State, message: &Message, place: usize) -> usize {
    let answers = message.content.iter().filter_map(|part| match &part.body {
        PartBody::ToolResult(result) => state.holder_for(&result.call_id, message, place),
        _ => None,
    });
    answers.fold(place, usize::min)
}

fn changed_at(made: &Made, state: &State, target: Uuid) -> Option<usize> {
    let place = state.index_of(target)?;
    let first = state.entry(target)?.event.message().map_or(place, |message| with_holders(state, message, place));
    // What it answered before the change.
    Some(made.holder_of(target).map_or(first, |holder| holder.min(first)))
}

/// The new events that can have changed something, in words.
fn causes(state: &State, from: usize) -> String {
    let new = state.entries().get(from..).unwrap_or_default();
    let words = new.iter().filter_map(|entry| {
        let what = match &entry.event.body {
            Body::Tombstone(_) => "the tombstone",
            Body::Amend(_) => "the amend",
            Body::Prune(_) => "the prune",
            Body::Head(_) => "the head",
            Body::Message(_) if entry.is_boundary() => "the compaction",
            Body::Message(message) if message.results().next().is_some() => "the late result",
            Body::Message(message) if matches!(message.kind, Kind::Attachment(_)) => "the attachment",
            _ => return None,
        };
        Some(format!("{what} {}", entry.event.id))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "another beginning of the state".to_owned() } else { words.join(", ") }
}
