//! Calls on the current chain and what answers them, wherever it hangs.

use std::collections::{HashMap, HashSet};

use super::entry::Entry;
use super::state::State;
use crate::event::{Body, Message, PartBody, ToolCall, ToolResult, ToolStarted, Uuid};

/// The calls of the current chain, each with its first real result.
#[derive(Debug, Clone, Default)]
pub struct Pairing<'a> {
    calls: Vec<PairedCall<'a>>,
    by_place: HashMap<(Uuid, usize), usize>,
    /// The calls of one message that share an id.
    by_call: HashMap<(Uuid, &'a str), Vec<usize>>,
    answers: HashSet<Uuid>,
}

/// A call and what is known of its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedCall<'a> {
    /// The message that holds the call.
    pub message: &'a Entry,
    /// The how-manyeth call of that message it is, from 0.
    pub index: usize,
    /// The call.
    pub call: &'a ToolCall,
    /// Its first real result; a synthetic one only where no real one came.
    pub result: Option<(&'a Entry, &'a ToolResult)>,
    /// The event that was written ahead of running the tool.
    pub started: Option<&'a Entry>,
    /// What is known of its approval.
    pub approval: Approval,
    /// The messages that asked for, or answered about, its approval.
    pub approval_messages: Vec<Uuid>,
}

/// What is known of a call's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approval {
    /// Nobody was asked.
    #[default]
    NotAsked,
    /// Somebody was asked and has not answered.
    Waiting,
    /// It may run.
    Approved,
    /// It must not run.
    Denied,
}

impl<'a> Pairing<'a> {
    /// The calls, in the order of the chain.
    #[must_use]
    pub fn calls(&self) -> &[PairedCall<'a>] {
        &self.calls
    }

    /// The result of the `call_index`-th call of this message.
    #[must_use]
    pub fn result_of(&self, message: Uuid, call_index: usize) -> Option<(&'a Entry, &'a ToolResult)> {
        self.by_place.get(&(message, call_index)).and_then(|&place| self.calls[place].result)
    }

    /// Whether this message holds the result that counts for a call on the chain.
    #[must_use]
    pub fn belongs(&self, message: Uuid) -> bool {
        self.answers.contains(&message)
    }

    /// Complete calls that have no result.
    pub fn dangling(&self) -> impl Iterator<Item = &PairedCall<'a>> {
        self.calls.iter().filter(|call| call.result.is_none() && !call.call.incomplete)
    }

    /// Calls in whose middle the stream ended.
    pub fn incomplete(&self) -> impl Iterator<Item = &PairedCall<'a>> {
        self.calls.iter().filter(|call| call.call.incomplete)
    }
}

impl State {
    /// The calls on the current chain and their results, wherever those hang. One pass over the window: what lies before
    /// the boundary that counts is looked at only as far as that boundary keeps it.
    #[must_use]
    pub fn pairing(&self) -> Pairing<'_> {
        let first = self.window_start();
        let before = self.kept.iter().chain(&self.started).copied().filter(|&index| index < first);
        let mut places: Vec<usize> = before.chain(first..self.entries.len()).collect();
        places.sort_unstable();
        // The first result is the first in the file; a trimmed state holds the kept messages in the chain's order.
        let mut in_file_order: Vec<(usize, &Entry)> =
            places.into_iter().map(|index| (index, &self.entries[index])).collect();
        in_file_order.sort_by_key(|(_, entry)| entry.offset);
        self.pair(self.chain(), in_file_order)
    }

    /// The events that say that a tool was started, in file order.
    pub(super) fn started(&self) -> impl Iterator<Item = (&Entry, &ToolStarted)> {
        let entries = self.started.iter().map(|&index| &self.entries[index]);
        entries.filter_map(|entry| match &entry.event.body {
            Body::ToolStarted(started) => Some((entry, started)),
            _ => None,
        })
    }

    /// Place of the boundary that counts among the entries, 0 without one.
    fn window_start(&self) -> usize {
        self.boundary().and_then(|boundary| self.by_id.get(&boundary.event.id).copied()).unwrap_or(0)
    }

    /// The pairing of the calls that stand at this place among the entries or behind it, which must lie behind the
    /// boundary that counts: what answers them lies behind them.
    pub(crate) fn pairing_since(&self, place: usize) -> Pairing<'_> {
        let chain = self.chain_since(place).map(|(_, entry)| entry).collect();
        self.pair(chain, self.entries.iter().enumerate().skip(place).collect())
    }

    fn pair<'a>(&'a self, chain: Vec<&'a Entry>, in_file_order: Vec<(usize, &'a Entry)>) -> Pairing<'a> {
        let mut pairing = Pairing::default();
        for entry in chain {
            for (index, call) in entry.event.message().into_iter().flat_map(Message::calls).enumerate() {
                let place = pairing.calls.len();
                pairing.by_place.insert((entry.event.id, index), place);
                pairing.by_call.entry((entry.event.id, call.id.as_str())).or_default().push(place);
                pairing.calls.push(PairedCall {
                    message: entry,
                    index,
                    call,
                    result: None,
                    started: None,
                    approval: Approval::NotAsked,
                    approval_messages: Vec::new(),
                });
            }
        }
        let first = self.window_start();
        for (index, entry) in in_file_order.into_iter().filter(|(_, entry)| entry.is_living()) {
            match &entry.event.body {
                // What lies before the boundary and was not kept answers nothing: a resume would not see it.
                Body::Message(_) if index < first && !self.is_on_chain(index) => {}
                Body::Message(message) => self.pair_message(&mut pairing, index, entry, message),
                Body::ToolStarted(started) => {
                    // Started events carry no message: the latest call of that id on the chain is meant.
                    let holders = self.calls.get(&started.call_id).map(Vec::as_slice).unwrap_or_default();
                    let earlier = &holders[..holders.partition_point(|&at| at < index)];
                    let holder = earlier.iter().rev().find(|&&at| self.is_on_chain(at));
                    // In a trimmed state what is carried may stand before the message that it speaks of.
                    let holder = holder.or_else(|| holders.iter().rev().find(|&&at| self.is_on_chain(at)));
                    if let Some(call) = holder.and_then(|&at| self.open_call(&mut pairing, at, &started.call_id)) {
                        call.started = Some(entry);
                    }
                }
                _ => {}
            }
        }
        pairing.answers =
            pairing.calls.iter().filter_map(|call| call.result).map(|(entry, _)| entry.event.id).collect();
        pairing
    }

    fn pair_message<'a>(&'a self, pairing: &mut Pairing<'a>, index: usize, entry: &'a Entry, message: &'a Message) {
        if message.metadata.sidechain {
            return;
        }
        for part in &message.content {
            let call_id = match &part.body {
                PartBody::ToolResult(result) => &result.call_id,
                PartBody::ToolApprovalRequest(request) => &request.call_id,
                PartBody::ToolApprovalResponse(response) => &response.call_id,
                _ => continue,
            };
            // A request stands in the message of its call, or behind it.
            let before = index + usize::from(matches!(part.body, PartBody::ToolApprovalRequest(_)));
            let Some(holder) = self.holder_of(call_id, message, before) else { continue };
            match &part.body {
                PartBody::ToolResult(result) => {
                    if let Some(call) = self.call_to_answer(pairing, holder, call_id, message.metadata.synthetic) {
                        call.result = Some((entry, result));
                    }
                }
                PartBody::ToolApprovalResponse(response) => {
                    if let Some(call) = self.open_call(pairing, holder, call_id) {
                        call.approval = if response.approved { Approval::Approved } else { Approval::Denied };
                        call.approval_messages.push(entry.event.id);
                    }
                }
                _ => {
                    if let Some(call) = self.open_call(pairing, holder, call_id) {
                        call.approval = Approval::Waiting;
                        call.approval_messages.push(entry.event.id);
                    }
                }
            }
        }
    }

    /// The first call of that id in this message without a result; where all have one, a call whose result is only
    /// synthetic gives way to a real one.
    fn call_to_answer<'p, 'a>(
        &self,
        pairing: &'p mut Pairing<'a>,
        holder: usize,
        call_id: &str,
        synthetic: bool,
    ) -> Option<&'p mut PairedCall<'a>> {
        let places = self.places(pairing, holder, call_id);
        let is_synthetic = |entry: &Entry| entry.event.message().is_some_and(|message| message.metadata.synthetic);
        let place = places.iter().copied().find(|&place| pairing.calls[place].result.is_none()).or_else(|| {
            places
                .iter()
                .copied()
                .find(|&place| !synthetic && pairing.calls[place].result.is_some_and(|(entry, _)| is_synthetic(entry)))
        })?;
        Some(&mut pairing.calls[place])
    }

    fn open_call<'p, 'a>(
        &self,
        pairing: &'p mut Pairing<'a>,
        holder: usize,
        call_id: &str,
    ) -> Option<&'p mut PairedCall<'a>> {
        let places = self.places(pairing, holder, call_id);
        let place =
            places.iter().copied().find(|&place| pairing.calls[place].result.is_none()).or(places.first().copied())?;
        Some(&mut pairing.calls[place])
    }

    /// The calls of that id in this message, in order.
    fn places<'s>(&self, pairing: &'s Pairing<'s>, holder: usize, call_id: &'s str) -> Vec<usize> {
        let id = self.entries[holder].event.id;
        pairing.by_call.get(&(id, call_id)).cloned().unwrap_or_default()
    }
}
