//! The last repairs of a conversation: what can be said only once all turns are known.

use super::conversation::{Answer, AssistantTurn, Conversation, FIRST_USER_TEXT, Piece, Said, Turn, UserTurn};
use crate::event::PartBody;
use crate::projection::{Diagnostic, code};

impl Conversation<'_> {
    /// Joins reasoning with the message that it led to, takes it off the ends, drops turns that became empty, joins
    /// what then stands side by side, lets the user begin, and says which calls nobody answered.
    pub(super) fn tidy(&mut self) {
        self.join_reasoning();
        let mut turns: Vec<Turn<'_>> = Vec::with_capacity(self.turns.len());
        for mut turn in std::mem::take(&mut self.turns) {
            if let Turn::Assistant(assistant) = &mut turn {
                while let Some(Said::Part { source, .. }) =
                    assistant.pieces.last().filter(|_| ends_in_reasoning(assistant))
                {
                    let reason = "a message must not end in reasoning";
                    self.say(code::TRAILING_REASONING_LEFT_OUT, source, reason);
                    assistant.pieces.pop();
                }
                if assistant.pieces.is_empty() {
                    continue;
                }
            }
            match (turns.last_mut(), turn) {
                (Some(Turn::User(last)), Turn::User(next)) => last.pieces.extend(next.pieces),
                (_, turn) => turns.push(turn),
            }
        }
        self.turns = turns;
        self.let_the_user_begin();
        self.say_what_is_merged();
        self.say_what_is_missing();
    }

    /// Some agents record reasoning as a message of its own, before the message that it led to.
    fn join_reasoning(&mut self) {
        let mut turns: Vec<Turn<'_>> = Vec::with_capacity(self.turns.len());
        for turn in std::mem::take(&mut self.turns) {
            match (turns.last_mut(), turn) {
                (Some(Turn::Assistant(last)), Turn::Assistant(next))
                    if last.calls().next().is_none() && ends_in_reasoning(last) =>
                {
                    last.pieces.extend(next.pieces);
                }
                (_, turn) => turns.push(turn),
            }
        }
        self.turns = turns;
    }

    fn let_the_user_begin(&mut self) {
        let Some(Turn::Assistant(first)) = self.turns.first() else { return };
        let source = first.pieces.first().map(|said| match said {
            Said::Part { source, .. } => *source,
            Said::Call(call) => call.source,
        });
        let ids = source.map(|source| source.source_message_ids.clone()).unwrap_or_default();
        let reason = "providers want the user to begin";
        self.diagnostics.push(Diagnostic::new(code::FIRST_USER_PUT_IN, ids, reason));
        let text = Piece::Text { text: FIRST_USER_TEXT.to_owned(), source: None };
        self.turns.insert(0, Turn::User(UserTurn { pieces: vec![text], ..UserTurn::default() }));
    }

    fn say_what_is_merged(&mut self) {
        let mut items = Vec::new();
        for turn in &self.turns {
            let Turn::User(turn) = turn else { continue };
            let mut ids = Vec::new();
            for piece in &turn.pieces {
                let source = match piece {
                    Piece::Text { source, .. } => *source,
                    Piece::Part { source, .. } => Some(*source),
                };
                for id in source.into_iter().flat_map(|source| &source.source_message_ids) {
                    if ids.last() != Some(id) {
                        ids.push(*id);
                    }
                }
            }
            if ids.len() > 1 {
                items.push(Diagnostic::new(code::MESSAGES_MERGED, ids, "messages of the user's in a row became one"));
            }
        }
        self.diagnostics.append(&mut items);
    }

    fn say_what_is_missing(&mut self) {
        let mut items = Vec::new();
        for turn in &self.turns {
            let Turn::Assistant(turn) = turn else { continue };
            for call in turn.calls().filter(|call| matches!(call.answer, Answer::Missing)) {
                let ids = call.source.source_message_ids.iter().copied();
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

fn ends_in_reasoning(turn: &AssistantTurn<'_>) -> bool {
    matches!(turn.pieces.last(), Some(Said::Part { part, .. }) if matches!(part.body, PartBody::Reasoning(_)))
}
