//! Which of the reasoning, the items of its own and the ids that OpenAI gave go back to it.
//!
//! Its server refuses reasoning without the item that it led to, an item by its id without the reasoning that led to
//! it, a call of its own kind without its answer, and an id that stands twice. So reasoning goes back directly before
//! what it led to or not at all, and ids go back behind their reasoning only: up to the place where something else
//! that the model made was left out.

use std::collections::{HashMap, HashSet, VecDeque};

use super::conversation::{AssistantTurn, Conversation, Piece, Said, Turn};
use super::openai_shapes::{Own, is_id, is_led_to, needs_id, part_of};
use super::target::{LeftOut, Target};
use super::turns::code_of;
use crate::event::Value;
use crate::projection::code;

const MESSAGE_ID: &str = "msg";
const CALL_ID: &str = "fc";
/// What the id of reasoning begins with.
pub(super) const REASONING_ID: &str = "rs";

const LED_NOWHERE: LeftOut = (code::TRAILING_REASONING_LEFT_OUT, "what it led to does not go back");
const NOT_ENCRYPTED: LeftOut =
    (code::UNSIGNED_REASONING_LEFT_OUT, "without its encrypted content a provider that stores nothing refuses it");
const STANDS_TWICE: LeftOut = (code::DUPLICATE_ITEM_LEFT_OUT, "an item of this id stands before");
const NOT_PAIRED: LeftOut = (code::PART_LEFT_OUT, "its call or its answer does not go back");
const WITHOUT_REASONING: LeftOut = (code::PART_LEFT_OUT, "the reasoning that it came with does not go back");

/// Decides turn by turn, in order.
#[derive(Debug)]
pub(super) struct Items<'a> {
    item_ids: bool,
    /// Of each item of the provider's own, in order: whether it has its counterpart.
    paired: VecDeque<bool>,
    /// Ids that stand in the request so far.
    seen: HashSet<&'a str>,
    /// Call ids of items that are left out although they have an answer.
    unasked: HashSet<&'a str>,
}

/// What becomes of a piece.
#[derive(Debug, Clone, Copy)]
enum Fate<'a> {
    /// It goes back, with this id.
    Kept(Option<&'a str>),
    LeftOut(LeftOut),
}

impl<'a> Items<'a> {
    pub(super) fn new(conversation: &Conversation<'a>, item_ids: bool) -> Self {
        let paired = pairs(conversation);
        Self { item_ids, paired, seen: HashSet::new(), unasked: HashSet::new() }
    }

    /// Takes out of a turn what can't go back, and says so. Returns for each piece that is left the id that goes with
    /// it.
    pub(super) fn settle(
        &mut self,
        turn: &mut AssistantTurn<'a>,
        target: &Target<'_>,
        conversation: &mut Conversation<'a>,
    ) -> Vec<Option<&'a str>> {
        let fates = self.fates(turn, target);
        let mut ids = Vec::with_capacity(fates.len());
        let said = std::mem::take(&mut turn.said);
        for (said, fate) in said.into_iter().zip(fates) {
            match fate {
                Fate::Kept(id) => {
                    ids.push(id);
                    turn.said.push(said);
                }
                Fate::LeftOut((code, reason)) => {
                    if let Some(source) = said.source {
                        let code = match said.piece {
                            Piece::Opaque(value) if code == code::PART_LEFT_OUT => code_of(value),
                            _ => code,
                        };
                        conversation.say(code, source, reason);
                    }
                }
            }
        }
        ids
    }

    /// Why an answer of a person's or a tool's to one of the provider's own items can't go back, if it can't.
    pub(super) fn refuses_answer(&mut self, answer: &'a Value) -> Option<LeftOut> {
        match self.opaque(answer, None) {
            Fate::Kept(_) => None,
            Fate::LeftOut(why) => Some(why),
        }
    }

    fn fates(&mut self, turn: &AssistantTurn<'a>, target: &Target<'_>) -> Vec<Fate<'a>> {
        let said = &turn.said;
        let mut fates: Vec<Fate<'a>> = Vec::with_capacity(said.len());
        // Whether the reasoning that led here goes back; none: there was none.
        let mut is_led = None;
        while let Some(next) = said.get(fates.len()) {
            let at = fates.len();
            if turn.gaps.binary_search(&at).is_ok() {
                is_led = Some(false);
            }
            match &next.piece {
                Piece::Reasoning(_) => {
                    let behind = &said[at + 1..];
                    let is_end = |(place, said): (usize, &Said<'_>)| {
                        turn.gaps.binary_search(&place).is_ok() || !matches!(said.piece, Piece::Reasoning(_))
                    };
                    let end = (at + 1..).zip(behind).position(is_end).map_or(said.len(), |len| at + 1 + len);
                    let led_to = said.get(end).filter(|_| turn.gaps.binary_search(&end).is_err());
                    let run = self.reasoning(&said[at..end], led_to);
                    is_led = Some(run.iter().all(|fate| matches!(fate, Fate::Kept(_))));
                    fates.extend(run);
                }
                Piece::Opaque(value) => fates.push(self.opaque(value, is_led)),
                Piece::Call(_) => fates.push(Fate::Kept(self.id(next, CALL_ID, is_led, target))),
                _ => {
                    let before = at.checked_sub(1).and_then(|before| said.get(before));
                    let goes_on = before.filter(|before| matches!(before.piece, Piece::Text(_))).and_then(id_of);
                    let is_same = goes_on.is_some() && goes_on == id_of(next);
                    let same = fates.last().copied().filter(|_| is_same && is_led == Some(true));
                    fates.push(same.unwrap_or_else(|| Fate::Kept(self.id(next, MESSAGE_ID, is_led, target))));
                }
            }
        }
        fates
    }

    /// Reasoning in a row goes back all together or not at all.
    fn reasoning(&mut self, run: &[Said<'a>], led_to: Option<&Said<'a>>) -> Vec<Fate<'a>> {
        let leads = led_to.is_some_and(|said| match &said.piece {
            Piece::Opaque(value) => {
                let is_twice = needs_id(value) && item_id(value).is_some_and(|id| self.has(id));
                is_led_to(value) && self.paired.front() == Some(&true) && !is_twice
            }
            _ => true,
        });
        let mut encrypted: HashSet<&str> = HashSet::new();
        let mut ids: Vec<&'a str> = Vec::new();
        let mut is_twice = false;
        for said in run {
            let Some(id) = id_of(said) else { continue };
            if ids.last() != Some(&id) {
                is_twice |= self.has(id) || ids.contains(&id);
                ids.push(id);
            }
            if matches!(said.piece, Piece::Reasoning(reasoning) if reasoning.encrypted.as_ref().is_some_and(|text| !text.is_empty()))
            {
                encrypted.insert(id);
            }
        }
        let why_not = match () {
            () if !leads => Some(LED_NOWHERE),
            () if is_twice => Some(STANDS_TWICE),
            () if !run.iter().all(|said| id_of(said).is_some_and(|id| encrypted.contains(id))) => Some(NOT_ENCRYPTED),
            () => None,
        };
        if why_not.is_none() {
            self.seen.extend(&ids);
        }
        run.iter().map(|said| why_not.map_or(Fate::Kept(id_of(said)), Fate::LeftOut)).collect()
    }

    /// An item that can do without its id keeps it under the same conditions as a text or call; any other goes or stays
    /// with it.
    fn opaque(&mut self, value: &'a Value, is_led: Option<bool>) -> Fate<'a> {
        let is_paired = self.paired.pop_front().unwrap_or_default();
        let is_new = |id: &&str| !self.has(id);
        let (id, needs_id) = (item_id(value), needs_id(value));
        let kept = match part_of(value) {
            Some(Own::Alone | Own::Asks { .. }) if is_paired => match id {
                _ if needs_id && is_led == Some(false) => Err(WITHOUT_REASONING),
                id if needs_id => id.filter(is_new).map(Some).ok_or(STANDS_TWICE),
                id => Ok(id.filter(is_new).filter(|_| self.item_ids && is_led == Some(true))),
            },
            Some(Own::Answers { call_id, .. }) if is_paired && !self.unasked.contains(call_id) => Ok(None),
            _ => Err(NOT_PAIRED),
        };
        match kept {
            Ok(id) => {
                self.seen.extend(id);
                Fate::Kept(id)
            }
            Err(why) => {
                if let (true, Some(Own::Asks { call_id, .. })) = (is_paired, part_of(value)) {
                    self.unasked.insert(call_id);
                }
                Fate::LeftOut(why)
            }
        }
    }

    /// The id of a text or call, if it goes back.
    fn id(&mut self, said: &Said<'a>, kind: &str, is_led: Option<bool>, target: &Target<'_>) -> Option<&'a str> {
        let is_owned = || said.source.zip(said.part).is_some_and(|(source, part)| target.owns(source, part));
        let id = id_of(said).filter(|id| is_of_kind(id, kind) && self.item_ids && is_led == Some(true))?;
        (is_owned() && self.seen.insert(id)).then_some(id)
    }

    fn has(&self, id: &str) -> bool {
        self.seen.contains(id)
    }
}

/// Whether an id can be that of an item of this kind.
pub(super) fn is_of_kind(id: &str, kind: &str) -> bool {
    id.starts_with(kind) && is_id(id)
}

fn id_of<'a>(said: &Said<'a>) -> Option<&'a str> {
    said.part.and_then(|part| part.item_id.as_deref())
}

fn item_id(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_text)
}

/// Of each item of the provider's own, in order: whether it needs no other, or stands with exactly one that answers it.
fn pairs<'a>(conversation: &Conversation<'a>) -> VecDeque<bool> {
    let mut used: HashSet<&str> = conversation.turns.iter().flat_map(calls).collect();
    let mut open: HashMap<&'a str, (usize, &'static str)> = HashMap::new();
    let mut paired = VecDeque::new();
    for (place, value) in conversation.turns.iter().flat_map(opaque).enumerate() {
        let is_paired = match part_of(value) {
            None => false,
            Some(Own::Alone) => true,
            Some(Own::Asks { answer, call_id }) => {
                if used.insert(call_id) {
                    open.insert(call_id, (place, answer));
                }
                false
            }
            Some(Own::Answers { kind, call_id }) => {
                let asked = open.get(call_id).filter(|(_, answer)| *answer == kind).map(|(asked, _)| *asked);
                if let Some(asked) = asked {
                    paired[asked] = true;
                    open.remove(call_id);
                }
                asked.is_some()
            }
        };
        paired.push_back(is_paired);
    }
    paired
}

fn calls<'t>(turn: &'t Turn<'_>) -> Vec<&'t str> {
    match turn {
        Turn::Assistant(turn) => turn.calls().map(|call| call.id.as_str()).collect(),
        Turn::User(_) | Turn::System(_) => Vec::new(),
    }
}

/// The items of the provider's own that a turn holds, in the order in which they are written.
fn opaque<'a>(turn: &Turn<'a>) -> Vec<&'a Value> {
    let of = |said: &Said<'a>| match said.piece {
        Piece::Opaque(value) => Some(value),
        _ => None,
    };
    match turn {
        Turn::User(turn) => turn.said().filter_map(of).collect(),
        Turn::Assistant(turn) => turn.said.iter().filter_map(of).collect(),
        Turn::System(said) => of(said).into_iter().collect(),
    }
}
