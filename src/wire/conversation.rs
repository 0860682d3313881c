//! The turns of a conversation, in the order that every provider takes: what all serializers share.
//!
//! System texts at the beginning are set apart. Then each turn is the user's or the model's, and a model's turn holds
//! its calls with their answers, so that a serializer cannot part them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::call_id::CallIds;
use super::tool_name::legal_name;
use crate::event::{ApprovalResponse, Kind, Part, PartBody, Role, ToolCall, ToolResult, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage, code};

/// Stands before the text of a system message that came after the beginning and goes out as the user's.
pub const SYSTEM_NOTE_PREFIX: &str = "<system-note>\n";
/// Stands behind the text of such a message.
pub const SYSTEM_NOTE_SUFFIX: &str = "\n</system-note>";
/// The user's text in front of a history that begins with the model: providers want the user to begin.
pub const FIRST_USER_TEXT: &str = "(the conversation begins with the assistant)";

/// A conversation, ready to be written in a provider's form.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    /// System texts from before the first turn.
    pub(super) system: Vec<String>,
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    ids: CallIds,
    calls: HashMap<&'a str, Calls>,
}

/// The calls of one id in the latest turn that has any.
#[derive(Debug, Default)]
struct Calls {
    turn: usize,
    /// Their places among the turn's pieces.
    places: Vec<usize>,
    /// So many of them have a result; results are given in this order.
    given: usize,
}

#[derive(Debug)]
pub(super) enum Turn<'a> {
    User(UserTurn<'a>),
    Assistant(AssistantTurn<'a>),
}

#[derive(Debug, Default)]
pub(super) struct UserTurn<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    /// It holds nothing but attachments, which may stand between blocks of one message of the model's.
    pub(super) only_attachments: bool,
}

#[derive(Debug)]
pub(super) struct AssistantTurn<'a> {
    pub(super) pieces: Vec<Said<'a>>,
    message_id: Option<&'a str>,
}

/// A part of the user's, and the message that it comes from.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    Text { text: String, source: Option<&'a ProjectedMessage> },
    Part { part: &'a Part, source: &'a ProjectedMessage },
}

/// A part of the model's.
#[derive(Debug)]
pub(super) enum Said<'a> {
    Part { part: &'a Part, source: &'a ProjectedMessage },
    Call(Call<'a>),
}

/// A call and its answer.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The id that it goes out with.
    pub(super) id: String,
    /// The name of the tool that it goes out with.
    pub(super) name: Cow<'a, str>,
    pub(super) call: &'a ToolCall,
    pub(super) part: &'a Part,
    pub(super) source: &'a ProjectedMessage,
    pub(super) answer: Answer<'a>,
}

/// What answers a call.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// Nothing came.
    Missing,
    /// A person refused it.
    Denied(&'a ApprovalResponse),
    /// The tool's result.
    Given { result: &'a ToolResult, source: &'a ProjectedMessage },
}

/// Whether a provider takes reasoning: if not, a code and why.
pub(super) type TakesReasoning<'f> = &'f dyn Fn(&ProjectedMessage, &Part) -> Result<(), (&'static str, &'static str)>;

impl<'a> Conversation<'a> {
    /// Puts messages into turns.
    pub(super) fn of(messages: &'a [ProjectedMessage], takes_reasoning: TakesReasoning<'_>) -> Self {
        let mut conversation = Self::default();
        for message in messages {
            match message.role {
                Role::System => conversation.add_system(message),
                Role::User | Role::Tool => conversation.add_user(message),
                Role::Assistant => conversation.add_assistant(message, takes_reasoning),
            }
        }
        conversation.tidy();
        conversation
    }

    pub(super) fn say(&mut self, code: &'static str, source: &ProjectedMessage, reason: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, source.source_message_ids.iter().copied(), reason));
    }

    pub(super) fn say_of_call(&mut self, code: &'static str, source: &ProjectedMessage, call: &str, reason: &str) {
        let item = Diagnostic::new(code, source.source_message_ids.iter().copied(), reason);
        self.diagnostics.push(item.about_call(call));
    }

    fn add_system(&mut self, message: &'a ProjectedMessage) {
        let mut texts = Vec::new();
        for part in &message.content {
            match part.as_text() {
                Some(text) if is_blank(text) => self.say(code::BLANK_TEXT_LEFT_OUT, message, "a text is blank"),
                Some(text) => texts.push(text),
                None => self.say(code::PART_LEFT_OUT, message, "a system message is text only"),
            }
        }
        if texts.is_empty() {
            return;
        }
        let text = texts.join("\n\n");
        if self.turns.is_empty() {
            self.system.push(text);
            return;
        }
        let reason = "not every provider takes a system message behind the beginning";
        self.say(code::SYSTEM_NOTE_AS_USER_TEXT, message, reason);
        let text = format!("{SYSTEM_NOTE_PREFIX}{text}{SYSTEM_NOTE_SUFFIX}");
        self.add_user_pieces(vec![Piece::Text { text, source: Some(message) }], false);
    }

    fn add_user(&mut self, message: &'a ProjectedMessage) {
        let mut pieces = Vec::new();
        for part in &message.content {
            match &part.body {
                PartBody::ToolResult(result) => self.answer(message, result),
                PartBody::ToolApprovalResponse(response) => self.deny(message, response),
                PartBody::Text(text) if is_blank(&text.text) => {
                    self.say(code::BLANK_TEXT_LEFT_OUT, message, "a text is blank");
                }
                PartBody::Text(_) | PartBody::Image(_) | PartBody::File(_) | PartBody::Json(_) => {
                    pieces.push(Piece::Part { part, source: message });
                }
                PartBody::Reasoning(_)
                | PartBody::ToolCall(_)
                | PartBody::ToolApprovalRequest(_)
                | PartBody::Opaque(_)
                | PartBody::Unknown(_) => self.say(code::PART_LEFT_OUT, message, "a user's message has no such part"),
            }
        }
        if message.content.is_empty() {
            self.say(code::BLANK_TEXT_LEFT_OUT, message, "the message has no content");
        }
        self.add_user_pieces(pieces, matches!(message.kind, Kind::Attachment(_)));
    }

    fn add_user_pieces(&mut self, pieces: Vec<Piece<'a>>, is_attachment: bool) {
        if pieces.is_empty() {
            return;
        }
        if let Some(Turn::User(turn)) = self.turns.last_mut() {
            turn.pieces.extend(pieces);
            turn.only_attachments &= is_attachment;
        } else {
            self.turns.push(Turn::User(UserTurn { pieces, only_attachments: is_attachment }));
        }
    }

    fn add_assistant(&mut self, message: &'a ProjectedMessage, takes_reasoning: TakesReasoning<'_>) {
        let id = message.source_message_ids.first().copied().unwrap_or_default();
        let mut pieces = Vec::new();
        let mut results = Vec::new();
        let mut calls = 0;
        for part in &message.content {
            match &part.body {
                PartBody::ToolCall(call) if call.incomplete => {
                    let reason = "the stream ended inside its arguments";
                    self.say_of_call(code::INCOMPLETE_CALL_LEFT_OUT, message, &call.id, reason);
                }
                PartBody::ToolCall(call) => {
                    pieces.push(Said::Call(self.call(message, part, call, id, calls)));
                    calls += 1;
                }
                PartBody::ToolResult(result) => results.push(result),
                PartBody::Text(text) if is_blank(&text.text) => {
                    self.say(code::BLANK_TEXT_LEFT_OUT, message, "a text is blank");
                }
                PartBody::Reasoning(_) => match takes_reasoning(message, part) {
                    Ok(()) => pieces.push(Said::Part { part, source: message }),
                    Err((code, reason)) => self.say(code, message, reason),
                },
                PartBody::Text(_) | PartBody::Image(_) | PartBody::File(_) | PartBody::Json(_) => {
                    pieces.push(Said::Part { part, source: message });
                }
                PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_) => {
                    let reason = "a question about a call is not sent, since each call goes out answered";
                    self.say(code::PART_LEFT_OUT, message, reason);
                }
                PartBody::Opaque(_) | PartBody::Unknown(_) => {
                    self.say(code::PART_LEFT_OUT, message, "the part has no form in this request");
                }
            }
        }
        if message.content.is_empty() {
            self.say(code::BLANK_TEXT_LEFT_OUT, message, "the message has no content");
        }
        self.add_said(message, pieces);
        // Of tools that the provider ran itself: the result stands in the message of its call.
        for result in results {
            self.answer(message, result);
        }
    }

    fn call(
        &mut self,
        source: &'a ProjectedMessage,
        part: &'a Part,
        call: &'a ToolCall,
        message: Uuid,
        index: usize,
    ) -> Call<'a> {
        let id = self.ids.assign(&call.id, message, index);
        if id != call.id {
            let reason = format!("its id is empty, used before or not legal everywhere; it goes out as {id}");
            self.say_of_call(code::CALL_ID_MAPPED, source, &call.id, &reason);
        }
        let name = legal_name(&call.name);
        if name != call.name {
            let reason = format!("the name of its tool is not legal everywhere; it goes out as {name}");
            self.say_of_call(code::TOOL_NAME_MAPPED, source, &call.id, &reason);
        }
        Call { id, name, call, part, source, answer: Answer::Missing }
    }

    fn add_said(&mut self, message: &'a ProjectedMessage, pieces: Vec<Said<'a>>) {
        if pieces.is_empty() {
            return;
        }
        let message_id = message.message_id.as_deref();
        let same = self.turn_of_message(message_id);
        let turn = same.unwrap_or(self.turns.len());
        let first = match same.map(|turn| &self.turns[turn]) {
            Some(Turn::Assistant(turn)) => turn.pieces.len(),
            _ => 0,
        };
        for (place, said) in (first..).zip(&pieces) {
            let Said::Call(call) = said else { continue };
            let calls = self.calls.entry(call.call.id.as_str()).or_default();
            if calls.turn != turn {
                *calls = Calls { turn, ..Calls::default() };
            }
            calls.places.push(place);
        }
        if let Some(Turn::Assistant(turn)) = same.and_then(|index| self.turns.get_mut(index)) {
            turn.pieces.extend(pieces);
            self.say(code::MESSAGES_MERGED, message, "it is a block of the message before");
        } else {
            self.turns.push(Turn::Assistant(AssistantTurn { pieces, message_id }));
        }
    }

    /// The last turn of the model's, if it is of this message of the provider's and nobody has spoken since.
    fn turn_of_message(&self, message_id: Option<&str>) -> Option<usize> {
        let message_id = message_id?;
        let last = self.turns.len().checked_sub(1)?;
        let at = match &self.turns[last] {
            Turn::User(turn) if turn.only_attachments => last.checked_sub(1)?,
            _ => last,
        };
        match &self.turns[at] {
            Turn::Assistant(turn) if turn.message_id == Some(message_id) => Some(at),
            _ => None,
        }
    }

    /// Gives a result to its call: to the first open one of that id, in the latest turn that has one of that id.
    fn answer(&mut self, source: &'a ProjectedMessage, result: &'a ToolResult) {
        match self.open_call(&result.call_id, true) {
            Some(call) => call.answer = Answer::Given { result, source },
            None => {
                let known = self.calls.contains_key(result.call_id.as_str());
                let (code, reason) = if known {
                    (code::DUPLICATE_RESULT_LEFT_OUT, "its call has a result already")
                } else {
                    (code::ORPHAN_RESULT_LEFT_OUT, "no call before it has this id")
                };
                self.say_of_call(code, source, &result.call_id, reason);
            }
        }
    }

    fn deny(&mut self, source: &'a ProjectedMessage, response: &'a ApprovalResponse) {
        if response.approved {
            let reason = "an approval is not sent, since its call goes out answered";
            self.say_of_call(code::PART_LEFT_OUT, source, &response.call_id, reason);
        } else if let Some(call) = self.open_call(&response.call_id, false) {
            call.answer = Answer::Denied(response);
        } else {
            let reason = "the call that was refused is not there, or has a result";
            self.say_of_call(code::PART_LEFT_OUT, source, &response.call_id, reason);
        }
    }

    /// The first call of this id that has no result yet, and whether it is to get one now.
    fn open_call(&mut self, call_id: &str, gives: bool) -> Option<&mut Call<'a>> {
        let calls = self.calls.get_mut(call_id)?;
        let place = *calls.places.get(calls.given)?;
        calls.given += usize::from(gives);
        match self.turns.get_mut(calls.turn)? {
            Turn::Assistant(turn) => match turn.pieces.get_mut(place)? {
                Said::Call(call) => Some(call),
                Said::Part { .. } => None,
            },
            Turn::User(_) => None,
        }
    }
}

impl<'a> AssistantTurn<'a> {
    /// Its calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.pieces.iter().filter_map(|said| match said {
            Said::Call(call) => Some(call),
            Said::Part { .. } => None,
        })
    }
}

/// Whether a text has nothing but white space, as providers see it.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
