//! What belongs to which call, over a whole story: its result, its hooks and what was asked about it.
//!
//! A call's id is no name: providers use one again, or give none. So a result belongs to the call that the session's
//! pairing gives it. Where that says nothing (it ends at the boundary that counts), and for hooks and approvals, which
//! name an id only, the latest earlier message that holds a call of the id is meant, and where there is none the next
//! later one.

use std::collections::{HashMap, VecDeque};

use super::message::ProjectedMessage;
use crate::event::{HookPhase, Kind, Message, Part, PartBody, ToolCall, ToolResult, Uuid};
use crate::session::{Pairing, State};

/// One part of a story, or a message without parts.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    /// The how-manyeth message it is of.
    pub(super) message: usize,
    /// The part and its place in the message.
    pub(super) part: Option<(usize, &'a Part)>,
    /// What it belongs to.
    pub(super) tie: Tie,
}

/// What a part belongs to. Calls are numbered in the order of the story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// Nothing that is in the story.
    Loose,
    /// It is this call.
    Call(usize),
    /// It belongs to this call.
    Of(usize, Rank),
}

/// The order of what belongs to a call, behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// A question whether it may run, or the answer.
    Approval,
    /// A hook that ran before it.
    PreHook,
    /// The result that counts.
    Result,
    /// A hook that ran after it.
    PostHook,
}

/// The parts of a story, in order, each with what it belongs to. Two passes over it.
pub(super) fn tie<'a>(state: &'a State, story: &'a [ProjectedMessage]) -> Vec<Slot<'a>> {
    let pairing = state.pairing();
    let mut ties = Ties::new(state, story, &pairing);
    let mut slots: Vec<Slot<'a>> = Vec::with_capacity(story.len());
    for (index, message) in story.iter().enumerate() {
        ties.pass(index, &mut slots);
        let hook = hook_of(&message.kind);
        let source = ties.source(message);
        let mut add = |part: Option<(usize, &'a Part)>| {
            let at = slots.len();
            slots.push(Slot { message: index, part, tie: Tie::Loose });
            let claim = match part.map(|(_, part)| &part.body) {
                Some(PartBody::ToolCall(call)) => {
                    slots[at].tie = ties.number(call).map_or(Tie::Loose, Tie::Call);
                    return;
                }
                _ if hook.is_some() => hook.map(|(id, rank)| Claim { call_id: id, rank, result: None }),
                Some(PartBody::ToolResult(result)) => {
                    Some(Claim { call_id: &result.call_id, rank: Rank::Result, result: Some(result) })
                }
                Some(PartBody::ToolApprovalRequest(request)) => Some(Claim::about(&request.call_id)),
                Some(PartBody::ToolApprovalResponse(response)) => Some(Claim::about(&response.call_id)),
                _ => None,
            };
            if let Some(claim) = claim {
                ties.claim(at, &claim, source, message.metadata.synthetic, &mut slots);
            }
        };
        match message.content.is_empty() {
            true => add(None),
            false => message.content.iter().enumerate().for_each(|(place, part)| add(Some((place, part)))),
        }
    }
    slots
}

/// A part says that it belongs to a call of this id.
#[derive(Debug, Clone, Copy)]
struct Claim<'a> {
    call_id: &'a str,
    rank: Rank,
    result: Option<&'a ToolResult>,
}

impl<'a> Claim<'a> {
    fn about(call_id: &'a str) -> Self {
        Self { call_id, rank: Rank::Approval, result: None }
    }
}

/// The call that a hook ran for, and on which side of it.
fn hook_of(kind: &Kind) -> Option<(&str, Rank)> {
    let (id, phase) = match kind {
        Kind::Attachment(attachment) => (&attachment.tool_use_id, &attachment.hook_event),
        Kind::Progress(progress) => (&progress.tool_use_id, &progress.hook_event),
        Kind::SystemEvent(event) => (&event.tool_use_id, &event.hook_event),
        _ => return None,
    };
    let rank = match phase.as_ref()? {
        HookPhase::Pre => Rank::PreHook,
        HookPhase::Post => Rank::PostHook,
        HookPhase::Other(_) => return None,
    };
    Some((id.as_deref()?, rank))
}

/// The calls of one message that share an id.
#[derive(Debug, Default)]
struct Sharing {
    calls: Vec<usize>,
    /// The first that may have no result yet.
    next: usize,
    /// Those whose result is only a made-up one that a real one may replace, with the part that holds it.
    made_up: VecDeque<(usize, usize)>,
}

struct Ties<'a> {
    state: &'a State,
    story: &'a [ProjectedMessage],
    numbers: HashMap<*const ToolCall, usize>,
    /// The result that the session's pairing gives a call.
    answers: HashMap<*const ToolResult, *const ToolCall>,
    /// Calls that have their result, by number.
    taken: Vec<bool>,
    sharings: Vec<Sharing>,
    /// Which of the sharings each call is in, by number.
    sharing_of: Vec<usize>,
    by_holder: HashMap<(usize, &'a str), usize>,
    /// The sharings of each message, in the order of the story; those passed so far are the earlier ones.
    of_message: HashMap<usize, Vec<(&'a str, usize)>>,
    latest: HashMap<&'a str, usize>,
    /// Claims that found no earlier call: part, claim, whether synthetic.
    pending: HashMap<&'a str, Vec<(usize, Claim<'a>, bool)>>,
    /// The names of messages that hold calls, each with its place in the story if it is in it.
    holders: HashMap<String, Option<usize>>,
}

/// Where the message says that its call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It does not say, or names nothing that holds a call.
    NotSaid,
    /// In a message that is not in the story.
    Elsewhere,
    /// In this message of the story.
    In(usize),
}

impl<'a> Ties<'a> {
    fn new(state: &'a State, story: &'a [ProjectedMessage], pairing: &Pairing<'a>) -> Self {
        let paired = pairing.calls().iter().filter_map(|call| Some((call.result?.1, call.call)));
        let answers: HashMap<*const ToolResult, *const ToolCall> =
            paired.map(|(result, call)| (std::ptr::from_ref(result), std::ptr::from_ref(call))).collect();
        let mut ties = Self {
            state,
            story,
            numbers: HashMap::new(),
            answers,
            taken: Vec::new(),
            sharings: Vec::new(),
            sharing_of: Vec::new(),
            by_holder: HashMap::new(),
            of_message: HashMap::new(),
            latest: HashMap::new(),
            pending: HashMap::new(),
            holders: HashMap::new(),
        };
        for (index, message) in story.iter().enumerate() {
            for call in message.content.iter().filter_map(|part| part.as_tool_call()) {
                ties.add_call(index, call);
            }
        }
        for call in ties.answers.values() {
            if let Some(&number) = ties.numbers.get(call) {
                ties.taken[number] = true;
            }
        }
        ties.note_holders();
        ties
    }

    fn add_call(&mut self, message: usize, call: &'a ToolCall) {
        let number = self.taken.len();
        self.numbers.insert(std::ptr::from_ref(call), number);
        self.taken.push(false);
        let id = call.id.as_str();
        let sharing = *self.by_holder.entry((message, id)).or_insert_with(|| {
            self.sharings.push(Sharing::default());
            let sharing = self.sharings.len() - 1;
            self.of_message.entry(message).or_default().push((id, sharing));
            sharing
        });
        self.sharings[sharing].calls.push(number);
        self.sharing_of.push(sharing);
    }

    fn note_holders(&mut self) {
        let places: HashMap<Uuid, usize> =
            self.of_message.keys().filter_map(|&at| Some((*self.story[at].source_message_ids.first()?, at))).collect();
        let holds_calls = |message: &Message| message.calls().next().is_some();
        for entry in self.state.entries().iter().filter(|entry| entry.event.message().is_some_and(holds_calls)) {
            let place = places.get(&entry.event.id).copied();
            self.holders.insert(entry.event.id.to_string(), place);
            if let Some(original) = &entry.event.original_id {
                self.holders.insert(original.clone(), place);
            }
        }
    }

    fn number(&self, call: &ToolCall) -> Option<usize> {
        self.numbers.get(&std::ptr::from_ref(call)).copied()
    }

    fn source(&self, message: &ProjectedMessage) -> Source {
        let entry = message.source_message_ids.first().and_then(|&id| self.state.entry(id));
        let message = entry.and_then(|entry| entry.event.message());
        let named = message.and_then(|message| message.metadata.source_tool_assistant_id.as_ref());
        match named.and_then(|named| self.holders.get(named)) {
            None => Source::NotSaid,
            Some(None) => Source::Elsewhere,
            Some(&Some(at)) => Source::In(at),
        }
    }

    /// From here on the calls of this message are earlier ones. Whoever waited for one of their ids gets it.
    fn pass(&mut self, message: usize, slots: &mut [Slot<'a>]) {
        for (id, sharing) in self.of_message.remove(&message).unwrap_or_default() {
            self.latest.insert(id, sharing);
            for (slot, claim, synthetic) in self.pending.remove(id).unwrap_or_default() {
                self.give(slot, &claim, sharing, synthetic, slots);
            }
        }
    }

    fn claim(&mut self, at: usize, claim: &Claim<'a>, source: Source, synthetic: bool, slots: &mut [Slot<'a>]) {
        if let Some(call) = claim.result.and_then(|result| self.answers.get(&std::ptr::from_ref(result))) {
            // A call that is hidden takes its result out of every group.
            let Some(&number) = self.numbers.get(call) else { return };
            slots[at].tie = Tie::Of(number, Rank::Result);
            let sharing = &mut self.sharings[self.sharing_of[number]];
            let place = sharing.calls.iter().skip(sharing.next).position(|&call| call == number);
            sharing.next += place.map_or(0, |place| place + 1);
            return;
        }
        if claim.call_id.is_empty() && claim.result.is_none() {
            return;
        }
        let named = match source {
            Source::Elsewhere => return,
            Source::In(message) => self.by_holder.get(&(message, claim.call_id)).copied(),
            Source::NotSaid => None,
        };
        match named.or_else(|| self.latest.get(claim.call_id).copied()) {
            Some(sharing) => self.give(at, claim, sharing, synthetic, slots),
            None => self.pending.entry(claim.call_id).or_default().push((at, *claim, synthetic)),
        }
    }

    /// Ties a part to one of the calls that share its id.
    fn give(&mut self, at: usize, claim: &Claim<'a>, sharing: usize, synthetic: bool, slots: &mut [Slot<'a>]) {
        let sharing = &mut self.sharings[sharing];
        if claim.rank != Rank::Result {
            // A hook before stands with the call that has no result yet, one after with the last that has.
            let place = match claim.rank {
                Rank::PostHook => sharing.next.saturating_sub(1),
                _ => sharing.next.min(sharing.calls.len() - 1),
            };
            slots[at].tie = Tie::Of(sharing.calls[place], claim.rank);
            return;
        }
        while sharing.calls.get(sharing.next).is_some_and(|&call| self.taken[call]) {
            sharing.next += 1;
        }
        let call = match sharing.calls.get(sharing.next) {
            Some(&call) => {
                sharing.next += 1;
                call
            }
            // A real result takes the place of one that was made up.
            None if !synthetic => match sharing.made_up.pop_front() {
                Some((call, made_up)) => {
                    slots[made_up].tie = Tie::Loose;
                    call
                }
                None => return,
            },
            None => return,
        };
        self.taken[call] = true;
        slots[at].tie = Tie::Of(call, Rank::Result);
        if synthetic {
            sharing.made_up.push_back((call, at));
        }
    }
}
