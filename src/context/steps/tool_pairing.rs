//! Every call has its result straight behind its message.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::context::{BoxError, Context, Processor, code};
use crate::event::{Kind, MISSING_TOOL_RESULT, Part, PartBody, Role};
use crate::projection::{Diagnostic, ProjectedMessage, Shared, code as seen};

/// The step's name.
pub const NAME: &str = "tool_pairing";

/// Puts the results of each message's calls straight behind it, in the order of the calls; what stood between moves
/// behind them. A result without a call, and a second one, are left out; a call without a result gets
/// [`MISSING_TOOL_RESULT`], flagged synthetic.
///
/// Ids of calls are no names, so a result belongs to the latest earlier message that holds a call of its id, and there to
/// the first call that has none: as in a request's body. A real result takes the place of a synthetic one. A call that a
/// person refused is answered by the refusal, which moves as a result does: a body says it in the provider's own way.
///
/// A window that is in order is only looked at. It runs behind every step that takes out or makes calls and results.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolPairing;

impl Processor for ToolPairing {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if !is_in_order(&context.messages) {
            let ties = Ties::of(&context.messages);
            let messages = std::mem::take(&mut context.messages);
            context.messages = rebuilt(messages, &ties, &mut context.diagnostics);
        }
        Ok(())
    }
}

/// Whether each call has its answer behind its message and nothing is left over.
fn is_in_order(messages: &[ProjectedMessage]) -> bool {
    let mut waiting = Calls::default();
    for message in messages {
        for part in &message.content {
            match (answer(part), waiting.next_id()) {
                (Some((id, _)), Some(next)) if id == next && message.role != Role::Assistant => waiting.pass(),
                (Some((_, true)), _) | (_, Some(_)) => return false,
                _ => {}
            }
        }
        if message.content.is_empty() && waiting.next_id().is_some() {
            return false;
        }
        let calls = Calls::of(message);
        if calls.clone().next_id().is_some() {
            waiting = calls;
        }
    }
    waiting.next_id().is_none()
}

/// The calls of a message that can have an answer.
#[derive(Debug, Clone, Default)]
struct Calls<'a> {
    parts: &'a [Shared<Part>],
}

impl<'a> Calls<'a> {
    fn of(message: &'a ProjectedMessage) -> Self {
        let parts = if message.role == Role::Assistant { message.content.as_slice() } else { &[] };
        Self { parts }
    }

    /// The id of the next call.
    fn next_id(&mut self) -> Option<&'a str> {
        let of_call = |part: &'a Shared<Part>| part.as_tool_call().filter(|call| !call.incomplete);
        while let Some((first, rest)) = self.parts.split_first() {
            if let Some(call) = of_call(first) {
                return Some(&call.id);
            }
            self.parts = rest;
        }
        None
    }

    /// Goes on behind it.
    fn pass(&mut self) {
        self.parts = self.parts.get(1..).unwrap_or_default();
    }
}

impl<'a> Iterator for Calls<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let id = self.next_id()?;
        self.pass();
        Some(id)
    }
}

/// The id of the call that this part answers, and whether it is a result; else it is a refusal.
fn answer(part: &Part) -> Option<(&str, bool)> {
    match &part.body {
        PartBody::ToolResult(result) => Some((&result.call_id, true)),
        PartBody::ToolApprovalResponse(response) if !response.approved => Some((&response.call_id, false)),
        _ => None,
    }
}

/// A part, by the places of its message and of itself.
type Place = (usize, usize);

/// What answers a call.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Missing,
    Refused(Place),
    Given(Place),
}

/// What belongs to what.
#[derive(Debug, Default)]
struct Ties {
    /// The answers to the calls of each message, in order.
    answers: HashMap<usize, Vec<Answer>>,
    /// Results that answer nothing, with whether their call has another one.
    left_out: HashMap<Place, bool>,
    /// Calls that share the id of a refused one: a result put in for them would be taken for that one's.
    refused_too: HashSet<Place>,
}

/// The calls of one id in the latest message that has any.
#[derive(Debug, Default)]
struct Sharing {
    turn: usize,
    /// Each by its message, and as the how-manyeth call of it.
    calls: Vec<Place>,
    /// So many of them have a result; results are given in this order.
    given: usize,
    /// Those whose result is a synthetic one.
    made_up: VecDeque<Place>,
    /// The first that has no result was refused.
    refused: bool,
}

impl Sharing {
    /// The calls behind the refused one.
    fn refused_too(&self) -> Vec<Place> {
        self.calls.get(self.given + 1..).filter(|_| self.refused).unwrap_or_default().to_vec()
    }
}

impl Ties {
    fn of(messages: &[ProjectedMessage]) -> Self {
        let mut ties = Self::default();
        let mut sharings: HashMap<&str, Sharing> = HashMap::new();
        let mut turn = 0;
        // The provider's message that the model's last one is of, while nobody else has spoken.
        let mut open: Option<&str> = None;
        for (at, message) in messages.iter().enumerate() {
            if message.role == Role::Assistant {
                let message_id = message.message_id.as_deref();
                if message_id.is_none() || message_id != open {
                    turn += 1;
                }
                open = message_id;
            } else if speaks(message) {
                open = None;
            }
            let mut count = 0;
            for (index, id) in Calls::of(message).enumerate() {
                let sharing = sharings.entry(id).or_default();
                if sharing.turn != turn {
                    let before = std::mem::replace(sharing, Sharing { turn, ..Sharing::default() });
                    ties.refused_too.extend(before.refused_too());
                }
                sharing.calls.push((at, index));
                count += 1;
            }
            if count > 0 {
                ties.answers.insert(at, vec![Answer::Missing; count]);
            }
            for (place, part) in message.content.iter().enumerate() {
                let Some((id, is_result)) = answer(part) else { continue };
                let sharing = sharings.get_mut(id);
                match is_result {
                    true => ties.give((at, place), sharing, message.metadata.synthetic),
                    false => ties.refuse((at, place), sharing),
                }
            }
        }
        ties.refused_too.extend(sharings.values().flat_map(Sharing::refused_too));
        ties
    }

    fn give(&mut self, result: Place, sharing: Option<&mut Sharing>, synthetic: bool) {
        let Some(sharing) = sharing else {
            self.left_out.insert(result, false);
            return;
        };
        let mut call = sharing.calls.get(sharing.given).copied();
        if call.is_some() {
            sharing.given += 1;
            sharing.refused = false;
        } else if !synthetic {
            call = sharing.made_up.pop_front();
        }
        let Some(call) = call else {
            self.left_out.insert(result, true);
            return;
        };
        if synthetic {
            sharing.made_up.push_back(call);
        }
        if let Some(answer) = self.answer(call)
            && let Answer::Given(made_up) = std::mem::replace(answer, Answer::Given(result))
        {
            self.left_out.insert(made_up, true);
        }
    }

    /// An answer of a person's to the first call that has none; a result that comes all the same goes before it.
    fn refuse(&mut self, refusal: Place, sharing: Option<&mut Sharing>) {
        let Some(sharing) = sharing else { return };
        let call = sharing.calls.get(sharing.given).copied();
        if let Some(answer @ Answer::Missing) = call.and_then(|call| self.answer(call)) {
            *answer = Answer::Refused(refusal);
            sharing.refused = true;
        }
    }

    fn answer(&mut self, (message, index): Place) -> Option<&mut Answer> {
        self.answers.get_mut(&message)?.get_mut(index)
    }
}

/// Whether it stands between two messages of the model's as something that was said.
fn speaks(message: &ProjectedMessage) -> bool {
    let is_answer = |body: &PartBody| matches!(body, PartBody::ToolResult(_) | PartBody::ToolApprovalResponse(_));
    !matches!(*message.kind, Kind::Attachment(_)) && message.content.iter().any(|part| !is_answer(&part.body))
}

/// The messages with each answer behind its call.
fn rebuilt(mut messages: Vec<ProjectedMessage>, ties: &Ties, say: &mut Vec<Diagnostic>) -> Vec<ProjectedMessage> {
    let lens: Vec<usize> = messages.iter().map(|message| message.content.len()).collect();
    let mut taken = taken_out(&mut messages, ties, say);
    let mut rebuilt = Vec::with_capacity(messages.len() + 1);
    for (at, message) in messages.into_iter().enumerate() {
        let answers = ties.answers.get(&at).map_or(&[][..], Vec::as_slice);
        let calls: Vec<String> = Calls::of(&message).take(answers.len()).map(str::to_owned).collect();
        let (view, ids) = (message.view, message.source_message_ids.clone());
        if !message.content.is_empty() || lens[at] == 0 {
            rebuilt.push(message);
        }
        // Where the next answer stood if nothing has to move, and the message that the last one is of.
        let mut next = (at + 1, 0);
        let mut before = None;
        for (index, (answer, id)) in answers.iter().zip(&calls).enumerate() {
            if matches!(answer, Answer::Missing) && ties.refused_too.contains(&(at, index)) {
                continue;
            }
            let place = match *answer {
                Answer::Given(place) | Answer::Refused(place) => Some(place),
                Answer::Missing => None,
            };
            let Some((place, part)) = place.and_then(|place| Some((place, taken.parts.remove(&place)?))) else {
                let result = vec![Part::tool_result(id, MISSING_TOOL_RESULT, true)];
                rebuilt.push(ProjectedMessage::made(view, Role::Tool, Kind::ToolResult, result));
                let item = Diagnostic::new(seen::MISSING_RESULT_FILLED, ids.iter().copied(), "no result came for it");
                say.push(item.about_call(id));
                before = None;
                continue;
            };
            while ties.left_out.contains_key(&next) {
                next = behind(next, &lens);
            }
            if place != next {
                let ids = taken.shells.get(&place.0).map(|shell| shell.source_message_ids.clone()).unwrap_or_default();
                let item =
                    Diagnostic::new(code::RESULT_MOVED, ids, "other messages stood before it, or its call did not");
                say.push(item.about_call(id));
            }
            next = behind(place, &lens);
            match (rebuilt.last_mut(), taken.shells.get(&place.0)) {
                // Results that one message held side by side stay one message.
                (Some(last), _) if before == Some(place.0) => last.content.push(part),
                (_, Some(shell)) => rebuilt.push(ProjectedMessage { content: vec![part], ..shell.clone() }),
                (_, None) => {}
            }
            before = Some(place.0);
        }
    }
    rebuilt
}

/// The place behind this one.
fn behind((message, part): Place, lens: &[usize]) -> Place {
    if lens.get(message).is_some_and(|len| part + 1 < *len) { (message, part + 1) } else { (message + 1, 0) }
}

/// Answers on their way to their calls.
#[derive(Debug, Default)]
struct Taken {
    parts: HashMap<Place, Shared<Part>>,
    /// The messages that they are of, without content.
    shells: HashMap<usize, ProjectedMessage>,
}

/// Takes all answers out of the messages, and what is left out.
fn taken_out(messages: &mut [ProjectedMessage], ties: &Ties, say: &mut Vec<Diagnostic>) -> Taken {
    let places = ties.answers.values().flatten().filter_map(|answer| match *answer {
        Answer::Given(place) | Answer::Refused(place) => Some(place),
        Answer::Missing => None,
    });
    let answers: HashSet<Place> = places.collect();
    let mut taken = Taken::default();
    for (at, message) in messages.iter_mut().enumerate() {
        let parts = std::mem::take(&mut message.content);
        let count = parts.len();
        let (mut rest, mut answered) = (Vec::with_capacity(count), false);
        for (place, part) in parts.into_iter().enumerate() {
            let here = (at, place);
            if let Some(has_another) = ties.left_out.get(&here) {
                let (code, reason) = match has_another {
                    true => (seen::DUPLICATE_RESULT_LEFT_OUT, "its call has a result already"),
                    false => (seen::ORPHAN_RESULT_LEFT_OUT, "no call before it has this id"),
                };
                let item = Diagnostic::new(code, message.source_message_ids.iter().copied(), reason);
                say.push(item.about_call(answer(&part).map_or("", |(id, _)| id)));
            } else if answers.contains(&here) {
                taken.parts.insert(here, part);
                answered = true;
            } else {
                rest.push(part);
            }
        }
        if answered {
            taken.shells.insert(at, ProjectedMessage { role: Role::Tool, ..message.clone() });
        }
        let is_less = rest.len() < count;
        if is_less && message.role == Role::Tool && !rest.iter().any(|part| is_about_approval(&part.body)) {
            // What else stood beside results is no result.
            message.role = Role::User;
        }
        message.content = rest;
    }
    taken
}

fn is_about_approval(body: &PartBody) -> bool {
    matches!(body, PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_))
}
