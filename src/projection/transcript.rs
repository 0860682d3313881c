//! The transcript: the whole story of the current chain, for a person.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;

use super::decide::{for_model, for_transcript};
use super::diagnostics::{Diagnostic, Diagnostics, code};
use super::message::ProjectedMessage;
use super::oddities::{hide_unknown, rehung};
use super::options::Options;
use super::shared::Shared;
use super::{Projection, View};
use crate::event::{Kind, Message, Part, PartBody, Role};
use crate::session::{Entry, State};

/// Stands on a message whose results are cleared for the model.
const CLEARED_FOR_MODEL: &str = "the model sees a stub in the place of this result";

/// Projects the current chain for a person: every boundary, summary and side record at its place, nothing shortened.
pub(super) fn project(state: &State) -> Projection {
    let mut stream = TranscriptStream::new(state.story().into_iter().map(Ok::<_, Infallible>));
    let messages = stream.by_ref().map(|Ok(message)| message).collect();
    let mut diagnostics = stream.take_diagnostics();
    diagnostics.items.extend(half_a_story(state));
    Projection { messages, diagnostics }
}

/// Says that a state does not hold the whole story.
pub(super) fn half_a_story(state: &State) -> Option<Diagnostic> {
    if state.is_complete() {
        return None;
    }
    let boundary = state.boundary().map(|boundary| boundary.event.id);
    let reason = "the state holds nothing from before this compaction; a whole state has the whole story";
    Some(Diagnostic::new(code::STORY_BEGINS_AT_BOUNDARY, boundary, reason))
}

/// The transcript of a story, message by message as its entries come: those of
/// [`State::story`](crate::session::State::story), or a [`Story`](crate::session::Story) that is read from the log. It is
/// what [`project`](super::project) gives for [`View::Transcript`].
///
/// The order is that of the file, but results that follow one another stand in the order of their calls. So what is held
/// is one run of results, and the ids of calls that no real result came for.
///
/// An error of the entries is handed on, behind the messages before it.
#[derive(Debug)]
pub struct TranscriptStream<I, B, E> {
    entries: I,
    telling: Telling<B>,
    ready: VecDeque<ProjectedMessage>,
    failed: Option<E>,
    ended: bool,
}

impl<I: Iterator<Item = Result<B, E>>, B: Borrow<Entry>, E> TranscriptStream<I, B, E> {
    /// The transcript of these entries, which come in the order of the file.
    pub fn new(entries: I) -> Self {
        Self { entries, telling: Telling::default(), ready: VecDeque::new(), failed: None, ended: false }
    }

    /// What is to be said about the messages that came since this was asked last.
    pub fn take_diagnostics(&mut self) -> Diagnostics {
        std::mem::take(&mut self.telling.told.diagnostics)
    }
}

impl<I: Iterator<Item = Result<B, E>>, B: Borrow<Entry>, E> Iterator for TranscriptStream<I, B, E> {
    type Item = Result<ProjectedMessage, E>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(Ok(ready));
            }
            if self.ended {
                return self.failed.take().map(Err);
            }
            match self.entries.next() {
                Some(Ok(entry)) => self.telling.take(entry),
                end => {
                    self.ended = true;
                    self.failed = end.and_then(Result::err);
                    self.telling.end_run();
                }
            }
            self.ready.extend(self.telling.told.messages.drain(..));
        }
    }
}

/// Tells a story entry by entry.
#[derive(Debug, Clone)]
pub(super) struct Telling<B> {
    /// Results that follow one another, and what stands between them: not told yet.
    run: Vec<B>,
    calls: Calls,
    pub(super) told: Told,
}

/// What a transcript says so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    pub(super) messages: Vec<ProjectedMessage>,
    pub(super) diagnostics: Diagnostics,
}

impl<B> Default for Telling<B> {
    fn default() -> Self {
        Self { run: Vec::new(), calls: Calls::default(), told: Told::default() }
    }
}

impl<B: Borrow<Entry>> Telling<B> {
    /// Takes the next entry of a story.
    pub(super) fn take(&mut self, entry: B) {
        match entry.borrow().event.message().map(role_in_run) {
            Some(InRun::Result) => self.run.push(entry),
            Some(InRun::Between) | None if !self.run.is_empty() => self.run.push(entry),
            Some(InRun::Between) | None => self.told.show(entry.borrow()),
            Some(InRun::End) => {
                self.end_run();
                if let Some(message) = entry.borrow().event.message() {
                    self.calls.forget_answered(message);
                    self.calls.add(message);
                }
                self.told.show(entry.borrow());
            }
        }
    }

    /// What would be told if the story ended here, behind what is told already.
    pub(super) fn rest(&self) -> Told {
        let mut rest = Told::default();
        for index in self.calls.in_call_order(&self.run) {
            rest.show(self.run[index].borrow());
        }
        rest
    }

    fn end_run(&mut self) {
        let rest = self.rest();
        self.told.extend(rest);
        for message in self.run.drain(..).collect::<Vec<_>>().iter().filter_map(|entry| entry.borrow().event.message())
        {
            self.calls.forget_answered(message);
        }
    }
}

impl Told {
    fn extend(&mut self, other: Self) {
        self.messages.extend(other.messages);
        self.diagnostics.extend(other.diagnostics);
    }

    fn show(&mut self, entry: &Entry) {
        let Some(message) = entry.event.message() else {
            hide_unknown(&entry.event, &mut self.diagnostics);
            return;
        };
        if message.kind.takes_part()
            && let Some(item) = rehung(&entry.event)
        {
            self.diagnostics.say(item);
        }
        match for_transcript(message) {
            Ok(()) => self.messages.extend(shown_whole(entry, message)),
            Err((code, reason)) => self.diagnostics.hide(entry.event.id, code, reason),
        }
    }
}

fn shown_whole(entry: &Entry, message: &Message) -> Option<ProjectedMessage> {
    let event = &entry.event;
    let parts = Shared::parts_of(event).collect();
    let mut projected = ProjectedMessage::of(View::Transcript, event, message.role, parts)?;
    projected.metadata.hidden_from_model = for_model(message, &Options::default()).is_err();
    let pruned = entry.pruned_at.is_some() || message.metadata.compacted_at.is_some();
    if pruned && message.results().next().is_some() {
        projected.metadata.compacted = true;
        projected.metadata.notes.push(CLEARED_FOR_MODEL.to_owned());
    }
    Some(projected)
}

/// What a message is to a run of results.
enum InRun {
    Result,
    /// It does not part the results before and behind it.
    Between,
    End,
}

fn role_in_run(message: &Message) -> InRun {
    let is_answer = |part: &Part| matches!(part.body, PartBody::ToolResult(_) | PartBody::ToolApprovalResponse(_));
    if message.role != Role::Assistant && !message.content.is_empty() && message.content.iter().all(is_answer) {
        InRun::Result
    } else if !message.kind.takes_part() || matches!(message.kind, Kind::Attachment(_)) {
        InRun::Between
    } else {
        InRun::End
    }
}

/// Where the calls stand that no real result came for yet.
#[derive(Debug, Clone, Default)]
struct Calls {
    /// The how-manyeth message with calls holds it, and as which of its calls.
    places: HashMap<String, (usize, usize)>,
    messages: usize,
}

impl Calls {
    fn add(&mut self, message: &Message) {
        self.messages += 1;
        for (place, call) in message.calls().enumerate() {
            self.places.insert(call.id.clone(), (self.messages, place));
        }
    }

    fn forget_answered(&mut self, message: &Message) {
        if !message.metadata.synthetic {
            message.results().for_each(|result| _ = self.places.remove(&result.call_id));
        }
    }

    fn place_of(&self, message: &Message) -> Option<(usize, usize)> {
        message.results().filter_map(|result| self.places.get(&result.call_id).copied()).min()
    }

    /// The order of a run: the results of each message's calls are sorted within the slots that they take. A result that
    /// came late, behind something else, is in another run and stays where it is.
    fn in_call_order<B: Borrow<Entry>>(&self, run: &[B]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..run.len()).collect();
        let mut by_holder: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        for (slot, entry) in run.iter().enumerate() {
            let is_result = |message: &&Message| matches!(role_in_run(message), InRun::Result);
            let message = entry.borrow().event.message().filter(is_result);
            if let Some((holder, place)) = message.and_then(|message| self.place_of(message)) {
                by_holder.entry(holder).or_default().push((place, slot));
            }
        }
        for slots in by_holder.into_values() {
            let mut sorted = slots.clone();
            // Stable: several results of one call keep their order.
            sorted.sort_by_key(|(place, _)| *place);
            for ((_, slot), (_, from)) in slots.into_iter().zip(sorted) {
                order[slot] = from;
            }
        }
        order
    }
}
