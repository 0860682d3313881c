//! Messages of the model's view, put into turns: results to their calls, blocks of one message together.

use std::borrow::Cow;
use std::collections::HashMap;

use super::call_id::CallIds;
use super::conversation::{
    Answer, Arguments, AssistantTurn, Call, Conversation, NO_OUTPUT, Outcome, Piece, SYSTEM_NOTE_PREFIX,
    SYSTEM_NOTE_SUFFIX, Said, Turn, UserMessage, UserTurn,
};
use super::media::{Form, MediaPlan, Place};
use super::target::{Opaque, Target};
use super::text::{clean, has_controls, is_blank, value_has_controls};
use super::tool_name::legal_name;
use crate::event::{
    ApprovalResponse, Kind, MISSING_TOOL_RESULT, Media, Part, PartBody, REJECTED, Role, ToolCall, ToolOutput,
    ToolResult, Uuid, Value,
};
use crate::projection::{ProjectedMessage, code, media_note};

/// Puts messages into turns and makes them ready for this provider.
pub(super) fn conversation<'a>(messages: &'a [ProjectedMessage], target: &Target<'_>) -> Conversation<'a> {
    let mut turns = Turns {
        target,
        plan: MediaPlan::new(messages, target.media),
        made: Conversation::default(),
        ids: CallIds::default(),
        calls: HashMap::new(),
    };
    for message in messages {
        if message.content.is_empty() {
            turns.made.say(code::BLANK_TEXT_LEFT_OUT, message, "the message has no content");
        }
        match message.role {
            Role::System => turns.add_system(message),
            Role::User | Role::Tool => turns.add_user(message),
            Role::Assistant => turns.add_assistant(message),
        }
    }
    let mut conversation = turns.made;
    conversation.tidy(target);
    conversation
}

struct Turns<'t, 'a> {
    target: &'t Target<'t>,
    plan: MediaPlan<'a>,
    made: Conversation<'a>,
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

impl<'a> Turns<'_, 'a> {
    fn add_system(&mut self, message: &'a ProjectedMessage) {
        let mut texts = Vec::new();
        for part in &message.content {
            match part.as_text() {
                Some(text) if is_blank(text) => self.made.say(code::BLANK_TEXT_LEFT_OUT, message, "a text is blank"),
                Some(text) => texts.push(self.clean(message, text)),
                None => self.made.say(code::PART_LEFT_OUT, message, "a system message is text only"),
            }
        }
        let text = match texts.len() {
            0 => return,
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n\n")),
        };
        if self.made.turns.is_empty() {
            return self.made.system.push(text);
        }
        let said = |text| Said { piece: Piece::Text(text), part: None, source: Some(message) };
        if self.target.later_system {
            return self.made.turns.push(Turn::System(said(text)));
        }
        let reason = "this provider takes no system message behind the beginning";
        self.made.say(code::SYSTEM_NOTE_AS_USER_TEXT, message, reason);
        let text = format!("{SYSTEM_NOTE_PREFIX}{text}{SYSTEM_NOTE_SUFFIX}");
        self.add_user_said(vec![said(Cow::Owned(text))], false);
    }

    fn add_user(&mut self, message: &'a ProjectedMessage) {
        let mut said = Vec::new();
        for part in message.content.iter().map(|part| &**part) {
            let piece = match &part.body {
                PartBody::ToolResult(result) => {
                    self.answer(message, result);
                    continue;
                }
                PartBody::ToolApprovalResponse(response) => {
                    self.deny(message, response);
                    continue;
                }
                PartBody::Opaque(opaque) => self.opaque(message, part, &opaque.value, Role::User),
                _ => self.shown(message, part, Place::User),
            };
            said.extend(piece.map(|piece| Said { piece, part: Some(part), source: Some(message) }));
        }
        self.add_user_said(said, matches!(*message.kind, Kind::Attachment(_)));
    }

    /// Text, JSON, pictures and files as the provider takes them; nothing of what is blank or has no form there.
    fn shown(&mut self, message: &'a ProjectedMessage, part: &'a Part, place: Place) -> Option<Piece<'a>> {
        match &part.body {
            PartBody::Text(text) if is_blank(&text.text) => {
                self.made.say(code::BLANK_TEXT_LEFT_OUT, message, "a text is blank");
                None
            }
            PartBody::Text(text) => Some(Piece::Text(self.clean(message, &text.text))),
            PartBody::Json(value) => {
                if value_has_controls(value) {
                    self.say_cleaned(message);
                }
                Some(Piece::Json(value))
            }
            PartBody::Image(media) | PartBody::File(media) => Some(self.media(message, media, place)),
            _ => {
                self.made.say(code::PART_LEFT_OUT, message, "the part has no form here");
                None
            }
        }
    }

    /// A provider's own part, if this provider made it and takes it back.
    fn opaque(
        &mut self,
        message: &'a ProjectedMessage,
        part: &Part,
        value: &'a Value,
        role: Role,
    ) -> Option<Piece<'a>> {
        let left_out = match (self.target.owns(message, part), (self.target.takes_opaque)(value, role)) {
            (false, _) => "a part of another provider's, or another model's, has no form here",
            (true, Opaque::No(reason)) => reason,
            (true, _) => return Some(Piece::Opaque(value)),
        };
        self.made.say(code_of(value), message, left_out);
        None
    }

    fn media(&mut self, message: &'a ProjectedMessage, media: &'a Media, place: Place) -> Piece<'a> {
        let name = media.name.as_deref().filter(|name| !is_blank(name) && !has_controls(name));
        match self.plan.form(media, place) {
            Form::Inline { media_type, data } => {
                self.say_corrected(message, media, media_type);
                Piece::Inline { media_type, data, name }
            }
            Form::Link { media_type, url } => {
                self.say_corrected(message, media, media_type);
                Piece::Link { media_type, url, name }
            }
            Form::Note(reason) => self.noted(message, media, reason),
        }
    }

    fn say_corrected(&mut self, message: &ProjectedMessage, media: &Media, media_type: &str) {
        if media_type != media.media_type {
            let reason = format!("it is {media_type}, not {:?} as recorded", media.media_type);
            self.made.say(code::MEDIA_TYPE_CORRECTED, message, reason);
        }
    }

    fn noted(&mut self, message: &'a ProjectedMessage, media: &'a Media, reason: &str) -> Piece<'a> {
        self.made.say(code::MEDIA_DEGRADED, message, reason);
        Piece::Text(Cow::Owned(clean(&media_note(media, reason)).into_owned()))
    }

    fn clean(&mut self, message: &ProjectedMessage, text: &'a str) -> Cow<'a, str> {
        let text = clean(text);
        if matches!(text, Cow::Owned(_)) {
            self.say_cleaned(message);
        }
        text
    }

    fn say_cleaned(&mut self, message: &ProjectedMessage) {
        self.made.say(code::CONTROL_CHARACTERS_REPLACED, message, "servers refuse a text with control characters");
    }

    fn add_user_said(&mut self, said: Vec<Said<'a>>, is_attachment: bool) {
        if said.is_empty() {
            return;
        }
        let message = UserMessage { said };
        match self.made.turns.last_mut() {
            Some(Turn::User(turn)) => {
                turn.messages.push(message);
                turn.only_attachments &= is_attachment;
            }
            _ => {
                let turn = UserTurn { messages: vec![message], only_attachments: is_attachment };
                self.made.turns.push(Turn::User(turn));
            }
        }
    }

    fn add_assistant(&mut self, message: &'a ProjectedMessage) {
        let id = message.source_message_ids.first().copied().unwrap_or_default();
        let mut said = Vec::new();
        let mut gaps = Vec::new();
        let left_out = message.left_out();
        let mut left_out = left_out.iter().filter(|(_, part)| is_the_models(&part.body)).peekable();
        let mut results = Vec::new();
        let mut calls = 0;
        for (place, part) in message.content.iter().map(|part| &**part).enumerate() {
            while left_out.next_if(|(before, _)| *before <= place).is_some() {
                gaps.push(said.len());
            }
            let piece = match &part.body {
                PartBody::ToolCall(call) if call.incomplete => {
                    let reason = "the stream ended inside its arguments";
                    self.made.say_of_call(code::INCOMPLETE_CALL_LEFT_OUT, message, &call.id, reason);
                    None
                }
                PartBody::ToolCall(call) => {
                    calls += 1;
                    Some(Piece::Call(Box::new(self.call(message, part, call, (id, calls - 1)))))
                }
                PartBody::ToolResult(result) => {
                    results.push(result);
                    None
                }
                PartBody::Reasoning(reasoning) => match self.target.takes_reasoning(message, part, reasoning) {
                    Ok(()) => Some(Piece::Reasoning(reasoning)),
                    Err((code, reason)) => {
                        self.made.say(code, message, reason);
                        None
                    }
                },
                PartBody::Image(media) | PartBody::File(media) => {
                    Some(self.noted(message, media, "a picture or file of the model's own is not sent back"))
                }
                PartBody::Opaque(opaque) => self.opaque(message, part, &opaque.value, Role::Assistant),
                PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_) => {
                    let reason = "a question about a call is not sent, since each call goes out answered";
                    self.made.say(code::PART_LEFT_OUT, message, reason);
                    None
                }
                _ => self.shown(message, part, Place::User),
            };
            match piece {
                Some(piece) => said.push(Said { piece, part: Some(part), source: Some(message) }),
                None if is_the_models(&part.body) => gaps.push(said.len()),
                None => {}
            }
        }
        gaps.extend(left_out.map(|_| said.len()));
        self.add_assistant_said(message, said, gaps);
        // Of tools that the provider ran itself: the result stands in the message of its call.
        for result in results {
            self.answer(message, result);
        }
    }

    fn call(
        &mut self,
        source: &'a ProjectedMessage,
        part: &Part,
        call: &'a ToolCall,
        (message, index): (Uuid, usize),
    ) -> Call<'a> {
        let id = self.ids.assign(&call.id, message, index);
        if id != call.id {
            let reason = format!("its id is empty, used before or not legal everywhere; it goes out as {id}");
            self.made.say_of_call(code::CALL_ID_MAPPED, source, &call.id, &reason);
            self.made.renamed.calls.push((id.clone(), call.id.clone()));
        }
        let name = legal_name(&call.name);
        if name != call.name {
            let reason = format!("the name of its tool is not legal everywhere; it goes out as {name}");
            self.made.say_of_call(code::TOOL_NAME_MAPPED, source, &call.id, &reason);
            self.made.renamed.add_tool(&name, &call.name);
        }
        let arguments = Arguments::of(call);
        let stays_raw = self.target.owns(source, part) && (self.target.takes_raw_input)(part, call);
        if arguments.is_wrapped() && !stays_raw {
            self.made.say_of_call(code::CALL_INPUT_WRAPPED, source, &call.id, "its arguments are no object");
        }
        let cleaned = match arguments {
            Arguments::Empty => false,
            Arguments::Object(value) | Arguments::Value(value) => value_has_controls(value),
            Arguments::Text(text) => has_controls(text),
        };
        if cleaned {
            self.say_cleaned(source);
        }
        let pieces = vec![Piece::Text(Cow::Borrowed(MISSING_TOOL_RESULT))];
        Call { id, name, call, answer: Answer { outcome: Outcome::Missing, pieces, source: None } }
    }

    fn add_assistant_said(&mut self, message: &'a ProjectedMessage, said: Vec<Said<'a>>, gaps: Vec<usize>) {
        if said.is_empty() {
            if let Some(Turn::Assistant(last)) = self.made.turns.last_mut() {
                last.append(said, &gaps);
            }
            return;
        }
        let message_id = message.message_id.as_deref();
        let same = self.turn_of_message(message_id);
        let turn = same.unwrap_or(self.made.turns.len());
        let first = match same.map(|turn| &self.made.turns[turn]) {
            Some(Turn::Assistant(turn)) => turn.said.len(),
            _ => 0,
        };
        for (place, said) in (first..).zip(&said) {
            let Piece::Call(call) = &said.piece else { continue };
            let calls = self.calls.entry(call.call.id.as_str()).or_default();
            if calls.turn != turn {
                *calls = Calls { turn, ..Calls::default() };
            }
            calls.places.push(place);
        }
        if let Some(Turn::Assistant(turn)) = same.and_then(|index| self.made.turns.get_mut(index)) {
            turn.append(said, &gaps);
            self.made.say(code::MESSAGES_MERGED, message, "it is a block of the message before");
        } else {
            self.made.turns.push(Turn::Assistant(AssistantTurn { said, message_id, gaps }));
        }
    }

    /// The last turn of the model's, if it is of this message of the provider's and nobody has spoken since.
    fn turn_of_message(&self, message_id: Option<&str>) -> Option<usize> {
        let message_id = message_id?;
        let last = self.made.turns.len().checked_sub(1)?;
        let at = match &self.made.turns[last] {
            Turn::User(turn) if turn.only_attachments => last.checked_sub(1)?,
            _ => last,
        };
        match &self.made.turns[at] {
            Turn::Assistant(turn) if turn.message_id == Some(message_id) => Some(at),
            _ => None,
        }
    }

    /// Gives a result to its call: to the first open one of that id, in the latest turn that has one of that id.
    fn answer(&mut self, source: &'a ProjectedMessage, result: &'a ToolResult) {
        if self.open_call(&result.call_id).is_none() {
            let known = self.calls.contains_key(result.call_id.as_str());
            let (code, reason) = if known {
                (code::DUPLICATE_RESULT_LEFT_OUT, "its call has a result already")
            } else {
                (code::ORPHAN_RESULT_LEFT_OUT, "no call before it has this id")
            };
            return self.made.say_of_call(code, source, &result.call_id, reason);
        }
        let is_refused = |call: &mut Call<'_>| matches!(call.answer.outcome, Outcome::Denied(Some(_)));
        if self.open_call(&result.call_id).is_some_and(is_refused) {
            let reason = "the words of refusal give way to a result that came all the same";
            self.made.say_of_call(code::PART_LEFT_OUT, source, &result.call_id, reason);
        }
        let pieces = self.output(source, result);
        let outcome = match result.is_error {
            // Put in by a session or a pipeline: the tool reported nothing, and the body is the one that it is without.
            true if is_missing(result) => Outcome::Missing,
            true => Outcome::Failed,
            false => Outcome::Done,
        };
        if let Some(call) = self.open_call(&result.call_id) {
            call.answer = Answer { outcome, pieces, source: Some(source) };
        }
        if let Some(calls) = self.calls.get_mut(result.call_id.as_str()) {
            calls.given += 1;
        }
    }

    fn output(&mut self, source: &'a ProjectedMessage, result: &'a ToolResult) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        match &result.output {
            ToolOutput::Text(text) if is_blank(text) => {}
            ToolOutput::Text(text) => pieces.push(Piece::Text(self.clean(source, text))),
            ToolOutput::Parts(parts) => {
                for part in parts {
                    match &part.body {
                        // Tools give back blank lines all the time; that is no news.
                        PartBody::Text(text) if is_blank(&text.text) => {}
                        _ => pieces.extend(self.shown(source, part, Place::of(result))),
                    }
                }
            }
        }
        if pieces.is_empty() {
            pieces.push(Piece::Text(Cow::Borrowed(NO_OUTPUT)));
        }
        pieces
    }

    fn deny(&mut self, source: &'a ProjectedMessage, response: &'a ApprovalResponse) {
        if response.approved {
            let reason = "an approval is not sent, since its call goes out answered";
            return self.made.say_of_call(code::PART_LEFT_OUT, source, &response.call_id, reason);
        }
        if self.open_call(&response.call_id).is_none() {
            let reason = "the call that was refused is not there, or has a result";
            return self.made.say_of_call(code::PART_LEFT_OUT, source, &response.call_id, reason);
        }
        let given = response.reason.as_deref().filter(|reason| !is_blank(reason));
        let text = given.map_or(Cow::Borrowed(REJECTED), |reason| self.clean(source, reason));
        if let Some(call) = self.open_call(&response.call_id) {
            let pieces = vec![Piece::Text(text)];
            call.answer = Answer { outcome: Outcome::Denied(given), pieces, source: Some(source) };
        }
    }

    /// The first call of this id that has no result yet.
    fn open_call(&mut self, call_id: &str) -> Option<&mut Call<'a>> {
        let calls = self.calls.get(call_id)?;
        let place = *calls.places.get(calls.given)?;
        match self.made.turns.get_mut(calls.turn)? {
            Turn::Assistant(turn) => match &mut turn.said.get_mut(place)?.piece {
                Piece::Call(call) => Some(call),
                _ => None,
            },
            Turn::User(_) | Turn::System(_) => None,
        }
    }
}

/// Whether the result only says that there is none.
fn is_missing(result: &ToolResult) -> bool {
    matches!(&result.output, ToolOutput::Text(text) if text == MISSING_TOOL_RESULT)
}

/// Whether the model made such a part as an item of its own: not what a tool or a person answered, or was asked.
fn is_the_models(body: &PartBody) -> bool {
    !matches!(body, PartBody::ToolResult(_) | PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_))
}

/// The code that says that a provider's own part is left out: what stands for a whole conversation has one of its own.
pub(super) fn code_of(value: &Value) -> &'static str {
    match value.get("type").and_then(Value::as_text) {
        Some("compaction" | "compaction_summary" | "context_compaction") => code::COMPACTION_ITEM_LEFT_OUT,
        _ => code::PART_LEFT_OUT,
    }
}
