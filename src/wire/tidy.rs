//! The last repairs of a conversation: what can be said only once all turns are known.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::conversation::{
    AssistantTurn, Conversation, FIRST_USER_TEXT, LAST_USER_TEXT, Outcome, Piece, Said, Turn, UserMessage, UserTurn,
};
use super::target::{Opaque, Target};
use super::text::is_white_space;
use crate::event::{Role, Uuid};
use crate::projection::{Diagnostic, code};

/// A turn of the user's that nobody said.
fn put_in(text: &'static str) -> Turn<'static> {
    let text = Said { piece: Piece::Text(Cow::Borrowed(text)), part: None, source: None };
    let message = UserMessage { said: vec![text] };
    Turn::User(UserTurn { messages: vec![message], only_attachments: false })
}

impl Conversation<'_> {
    /// Joins reasoning with the message that it led to and what else stands side by side, leaves out parts whose other
    /// half is missing, takes reasoning off the ends, drops turns that became empty, lets the user begin, and says which
    /// calls nobody answered.
    pub(super) fn tidy(&mut self, target: &Target<'_>) {
        let merges = target.merges;
        self.join(|last| merges || last.ends_in_reasoning());
        self.leave_out_halves_of_pairs(target);
        if !target.ends_in_reasoning {
            self.cut_reasoning_off_the_ends();
        }
        self.drop_what_became_empty();
        if target.user_begins {
            self.let_the_user_begin();
        }
        if target.user_ends {
            self.let_the_user_end();
        }
        if target.merges {
            self.say_what_is_merged();
        }
        self.say_what_is_missing();
    }

    /// Joins turns of one side that stand side by side; the model's where this says so. (Some agents record reasoning
    /// as a message of its own, before the message that it led to.) A turn with calls ends with their results.
    fn join(&mut self, may: impl Fn(&AssistantTurn<'_>) -> bool) {
        let mut turns: Vec<Turn<'_>> = Vec::with_capacity(self.turns.len());
        let mut last_calls = false;
        for turn in std::mem::take(&mut self.turns) {
            let calls = matches!(&turn, Turn::Assistant(turn) if turn.calls().next().is_some());
            match (turns.last_mut(), turn) {
                (Some(Turn::Assistant(last)), Turn::Assistant(next)) if !last_calls && may(last) => {
                    last.append(next.said, &next.gaps);
                    // It is more than that message of the provider's now.
                    last.message_id = None;
                }
                (Some(Turn::User(last)), Turn::User(next)) => last.messages.extend(next.messages),
                (_, turn) => turns.push(turn),
            }
            last_calls = calls;
        }
        self.turns = turns;
    }

    /// Leaves out parts of the provider's own that go back in pairs and are half of one, or came about in a pair that is
    /// not there.
    fn leave_out_halves_of_pairs(&mut self, target: &Target<'_>) {
        let mut turns = std::mem::take(&mut self.turns);
        let mut known = HashSet::new();
        for turn in &mut turns {
            let Turn::Assistant(turn) = turn else { continue };
            let kept = whole_pairs(&turn.said, target, &mut known);
            turn.retain(|place, said| {
                let stays = !is_half(said, target) || kept.contains(&place);
                if let (false, Some(source)) = (stays, said.source) {
                    let reason = "it goes back only with the other part of its pair, in the same turn and once";
                    self.say(code::PART_LEFT_OUT, source, reason);
                }
                stays
            });
        }
        self.turns = turns;
    }

    fn cut_reasoning_off_the_ends(&mut self) {
        let mut turns = std::mem::take(&mut self.turns);
        for turn in &mut turns {
            let Turn::Assistant(turn) = turn else { continue };
            while turn.ends_in_reasoning() {
                let source = turn.cut().and_then(|said| said.source);
                if let Some(source) = source {
                    let reason = "a message must not end in reasoning";
                    self.say(code::TRAILING_REASONING_LEFT_OUT, source, reason);
                }
            }
        }
        self.turns = turns;
    }

    fn drop_what_became_empty(&mut self) {
        self.turns.retain(|turn| !matches!(turn, Turn::Assistant(turn) if turn.said.is_empty()));
        self.join(|_| false);
    }

    /// White space at the end of a body that ends with the model's text is refused.
    pub(super) fn trim_the_last_text(&mut self) {
        let Some(Turn::Assistant(turn)) = self.turns.last_mut() else { return };
        let Some(Said { piece: Piece::Text(text), source, .. }) = turn.said.last_mut() else { return };
        let len = text.trim_end_matches(is_white_space).len();
        if len == text.len() {
            return;
        }
        match text {
            Cow::Borrowed(text) => *text = &text[..len],
            Cow::Owned(text) => text.truncate(len),
        }
        if let Some(source) = *source {
            self.say(
                code::TRAILING_SPACE_TRIMMED,
                source,
                "the last text is the model's, and must not end in white space",
            );
        }
    }

    fn let_the_user_begin(&mut self) {
        let first = match self.turns.first() {
            Some(Turn::Assistant(first)) => first.said.first(),
            Some(Turn::System(said)) => Some(said),
            Some(Turn::User(_)) | None => return,
        };
        let ids = first.and_then(|said| said.source).map(|source| source.source_message_ids.clone());
        let reason = "the provider wants the user to begin";
        self.diagnostics.push(Diagnostic::new(code::FIRST_USER_PUT_IN, ids.unwrap_or_default(), reason));
        self.turns.insert(0, put_in(FIRST_USER_TEXT));
    }

    /// Calls end with their results, which count as the user's.
    fn let_the_user_end(&mut self) {
        let Some(Turn::Assistant(last)) = self.turns.last() else { return };
        if last.calls().next().is_some() {
            return;
        }
        let source = last.said.last().and_then(|said| said.source);
        let ids = source.map(|source| source.source_message_ids.clone()).unwrap_or_default();
        let reason = "the provider wants the user to have the last word";
        self.diagnostics.push(Diagnostic::new(code::LAST_USER_PUT_IN, ids, reason));
        self.turns.push(put_in(LAST_USER_TEXT));
    }

    fn say_what_is_merged(&mut self) {
        let mut items = Vec::new();
        for turn in &self.turns {
            let (said, whose): (Vec<&Said<'_>>, _) = match turn {
                Turn::User(turn) => (turn.said().collect(), "the user's"),
                Turn::Assistant(turn) => (turn.said.iter().collect(), "the model's"),
                Turn::System(_) => continue,
            };
            let mut ids: Vec<Uuid> = Vec::new();
            for id in said.iter().filter_map(|said| said.source).flat_map(|source| &source.source_message_ids) {
                if ids.last() != Some(id) {
                    ids.push(*id);
                }
            }
            let is_said = matches!(turn, Turn::Assistant(turn) if turn.message_id.is_some());
            if ids.len() > 1 && !is_said {
                let reason = format!("messages of {whose} in a row became one");
                items.push(Diagnostic::new(code::MESSAGES_MERGED, ids, reason));
            }
        }
        self.diagnostics.append(&mut items);
    }

    fn say_what_is_missing(&mut self) {
        let mut items = Vec::new();
        for turn in &self.turns {
            let Turn::Assistant(turn) = turn else { continue };
            for said in &turn.said {
                let (Piece::Call(call), Some(source)) = (&said.piece, said.source) else { continue };
                if call.answer.outcome != Outcome::Missing {
                    continue;
                }
                let ids = source.source_message_ids.iter().copied();
                let reason = "no result was recorded; an error that says so stands in its place";
                items.push(Diagnostic::new(code::MISSING_RESULT_FILLED, ids, reason).about_call(&call.call.id));
            }
        }
        if self.turns.is_empty() {
            items.push(Diagnostic::new(code::NOTHING_TO_SEND, [], "no message has anything to send"));
        }
        self.diagnostics.append(&mut items);
    }
}

fn is_half(said: &Said<'_>, target: &Target<'_>) -> bool {
    let Piece::Opaque(value) = said.piece else { return false };
    matches!((target.takes_opaque)(value, Role::Assistant), Opaque::Asks(_) | Opaque::Answers(_))
}

/// The places of the parts of whole pairs among what a turn says. Their ids are new, and are known from now on.
fn whole_pairs<'a>(said: &[Said<'a>], target: &Target<'_>, known: &mut HashSet<&'a str>) -> HashSet<usize> {
    let mut asked = HashMap::new();
    let mut pairs = Vec::new();
    for (place, said) in said.iter().enumerate() {
        let Piece::Opaque(value) = said.piece else { continue };
        match (target.takes_opaque)(value, Role::Assistant) {
            Opaque::No(_) | Opaque::Alone => {}
            Opaque::Asks(pair) => {
                asked.insert(pair.id, (pair, place));
            }
            Opaque::Answers(pair) => {
                let question = asked.remove(pair.id).filter(|(asks, _)| asks.kind == pair.kind);
                if let Some((asks, at)) = question.filter(|_| known.insert(pair.id)) {
                    pairs.push((asks, at, place));
                }
            }
        }
    }
    let goes = that_go(pairs.iter().map(|(pair, ..)| (pair.id, pair.within)).collect());
    pairs.retain(|(pair, ..)| goes.contains(pair.id));
    pairs.iter().flat_map(|(_, asks, answers)| [*asks, *answers]).collect()
}

/// The pairs that go: each stands within none, or within one that goes. Each is looked at once.
fn that_go<'a>(within: HashMap<&'a str, Option<&'a str>>) -> HashSet<&'a str> {
    let mut settled: HashMap<&str, bool> = HashMap::new();
    for &id in within.keys() {
        let mut path = Vec::new();
        let mut at = id;
        let goes = loop {
            if let Some(&goes) = settled.get(at) {
                break goes;
            }
            // Those that stand within one another in a ring are not settled before they are met again.
            settled.insert(at, false);
            path.push(at);
            match within.get(at) {
                None => break false,
                Some(None) => break true,
                Some(Some(outer)) => at = outer,
            }
        };
        settled.extend(path.into_iter().map(|id| (id, goes)));
    }
    settled.into_iter().filter(|(_, goes)| *goes).map(|(id, _)| id).collect()
}
