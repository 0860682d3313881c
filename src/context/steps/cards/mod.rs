//! Cards of several agents, opened: the messages that they hold, as messages of their own.
//!
//! A view shows a card as one text. Here the text makes room for what it was made from, so that later steps see who
//! speaks, and calls and results go out as such.

mod sequence;

use std::sync::Arc;

use serde::Serialize;

use self::sequence::Sequence;
use crate::context::slots::is_wrapper;
use crate::context::{Context, Entry, code};
use crate::event::{
    Body, CardMessage, DEPTH_MAX, Event, Fields, HungOn, Kind, Message, Part, PartBody, Role, Uuid, Value, derive_id,
    parse_id,
};
use crate::projection::{
    self, Diagnostic, Options, ProjectedMessage, Shared, View, card_lines, inside_card, readable_parts,
};

/// What became of the cards that were opened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedCards {
    /// The cards, those inside others too.
    pub opened: usize,
    /// What they held, a card inside a card too.
    pub items: usize,
    /// Of these, those that could not be read and stayed text.
    pub unread: usize,
    /// The ids of the cards that were a supervisor's.
    pub supervisors: Vec<Uuid>,
}

impl Entry for OpenedCards {
    const NAME: &'static str = "opened_cards";
}

/// Stands among the notes of a message that was a card and holds no more than its own words, or that stays a text.
const OPENED: &str = "a card whose messages were taken out of it";

/// The messages that a card holds; none of any other message, and of a compressed group, which is text.
fn items(kind: &Kind) -> &[Value] {
    match kind {
        Kind::AssistantGroup(card) | Kind::Supervisor(card) => &card.children,
        Kind::AgentCouncil(card) => &card.members,
        Kind::Tasks(card) | Kind::GroupTasks(card) => &card.tasks,
        _ => &[],
    }
}

/// The text in a card's message that the view made: what the card is, in words. Notes in the place of what a view
/// leaves out of a message begin with a bracket, and stay.
pub(super) fn view_text(message: &ProjectedMessage) -> Option<usize> {
    let is_text = |part: &Shared<Part>| part.as_text().is_some_and(|text| !text.starts_with('['));
    message.content.iter().rposition(|part| !part.is_recorded() && is_text(part) && !is_wrapper(part))
}

/// Puts the messages of these cards, and of all cards inside them, in their place.
pub(super) fn open(context: &mut Context<'_>, opens: fn(&Kind) -> bool) {
    let is_closed = |message: &ProjectedMessage| {
        opens(&message.kind)
            && !items(&message.kind).is_empty()
            && !message.metadata.notes.iter().any(|note| note == OPENED)
    };
    if !context.messages.iter().any(is_closed) {
        return;
    }
    let mut told = context.metadata.remove::<OpenedCards>().unwrap_or_default();
    let mut messages = Vec::with_capacity(context.messages.len());
    for message in std::mem::take(&mut context.messages) {
        match is_closed(&message) {
            true => open_card(message, &mut messages, &mut context.diagnostics, &mut told),
            false => messages.push(message),
        }
    }
    context.messages = messages;
    context.metadata.insert(told);
}

fn open_card(
    mut message: ProjectedMessage,
    messages: &mut Vec<ProjectedMessage>,
    diagnostics: &mut Vec<Diagnostic>,
    told: &mut OpenedCards,
) {
    if let Some(text) = view_text(&message) {
        message.content.remove(text);
    }
    message.metadata.notes.push(OPENED.to_owned());
    let (kind, sources, at) = (message.kind.clone(), message.source_message_ids.clone(), message.at);
    let card = Card { id: message.id, at, sources: &sources, message: kind.event().and_then(|event| event.message()) };
    let mut opening = Opening {
        view: message.view,
        from: message.id,
        count: 0,
        options: Options::default(),
        sequence: Sequence::default(),
        diagnostics,
        told,
    };
    if !message.content.is_empty() {
        opening.sequence.push(message);
    }
    opening.add_items(&kind, &card, 1);
    let (count, made) = (opening.count, opening.sequence.finish());
    let reason = format!("a card, {}, became the {count} messages that it holds", kind.name());
    diagnostics.push(Diagnostic::new(code::CARD_OPENED, sources, reason));
    messages.extend(made);
}

/// A card whose messages are taken out.
struct Card<'c> {
    id: Uuid,
    at: i64,
    /// The ids that its messages come from, beside their own.
    sources: &'c [Uuid],
    message: Option<&'c Message>,
}

/// A message that was taken out.
struct Item<'i> {
    event: &'i Arc<Event>,
    role: Role,
    sources: &'i [Uuid],
    /// It is a card itself.
    is_card: bool,
}

impl Item<'_> {
    fn projected(&self, view: View, role: Role, content: Vec<Shared<Part>>) -> Option<ProjectedMessage> {
        let mut projected = ProjectedMessage::of(view, self.event, role, content)?;
        projected.source_message_ids = self.sources.to_vec();
        projected.metadata.notes.extend(self.is_card.then(|| OPENED.to_owned()));
        Some(projected)
    }
}

/// The opening of one card of the view, with all cards inside.
struct Opening<'o> {
    view: View,
    /// The card of the view.
    from: Uuid,
    /// The items so far, which number the ids that are made.
    count: u64,
    options: Options,
    sequence: Sequence,
    diagnostics: &'o mut Vec<Diagnostic>,
    told: &'o mut OpenedCards,
}

impl Opening<'_> {
    fn add_items(&mut self, kind: &Kind, card: &Card<'_>, depth: usize) {
        self.told.opened += 1;
        if matches!(kind, Kind::Supervisor(_)) {
            self.told.supervisors.push(card.id);
        }
        let items = items(kind);
        self.told.items += items.len();
        // The members of a council are several agents; what a group or a task lacks is its card's.
        let lender = card.message.filter(|_| !matches!(kind, Kind::AgentCouncil(_)));
        for item in items {
            self.add_item(item, card, lender, depth);
        }
    }

    fn add_item(&mut self, item: &Value, card: &Card<'_>, lender: Option<&Message>, depth: usize) {
        let made_id = derive_id(self.from, self.count);
        self.count += 1;
        let child = match CardMessage::read(item) {
            Ok(child) => child,
            Err(error) => return self.add_as_text(item, card, &error.to_string()),
        };
        let event = Arc::new(event_of(child, made_id, card, lender));
        let Some(message) = event.message() else { return };
        let mut sources = vec![event.id];
        sources.extend(card.sources);
        let role = match inside_card(message, &self.options) {
            // Only the session's own application speaks as the system.
            Ok(Role::System) => {
                self.say(code::RETOLD, &sources, "a system message that a card holds is told as the user's");
                Role::User
            }
            Ok(role) => role,
            Err((code, reason)) => return self.say(code, &sources, reason),
        };
        let own = Shared::parts_of(&event).filter(|part| !self.is_incomplete(part, &sources)).collect();
        let is_card = !items(&message.kind).is_empty();
        let item = Item { event: &event, role, sources: &sources, is_card };
        if is_card && depth < DEPTH_MAX {
            self.add(&item, own);
            let inner = Card { id: event.id, at: event.at, sources: &sources, message: Some(message) };
            self.add_items(&message.kind, &inner, depth + 1);
        } else {
            if is_card {
                let reason = format!("a card {DEPTH_MAX} levels inside others stays a text");
                self.say(code::CARD_LEFT_AS_TEXT, &sources, reason);
            }
            let mut parts = readable_parts(message, own);
            // What the message's own fields say is no later than what it says first.
            if let Some(result) = parts.iter().position(|part| matches!(part.body, PartBody::ToolResult(_)))
                && let Some(text) = parts.pop_if(|part| !part.is_recorded())
            {
                parts.insert(result, text);
            }
            self.add(&item, parts);
        }
    }

    fn is_incomplete(&mut self, part: &Part, sources: &[Uuid]) -> bool {
        let Some(call) = part.as_tool_call().filter(|call| call.incomplete) else { return false };
        let reason = "the stream ended inside its arguments";
        let item = Diagnostic::new(projection::code::INCOMPLETE_CALL_LEFT_OUT, sources.iter().copied(), reason);
        self.diagnostics.push(item.about_call(&call.id));
        true
    }

    /// Adds what a message says, each result behind its call. A text behind a result was said later, so it begins a
    /// message of its own.
    fn add(&mut self, item: &Item<'_>, parts: Vec<Shared<Part>>) {
        let (mut said, mut results) = (Vec::new(), Vec::new());
        let mut is_first = true;
        for part in parts {
            match part.body {
                PartBody::ToolResult(_) => {
                    results.push(part);
                    continue;
                }
                PartBody::ToolCall(_) => {}
                _ if results.is_empty() => {}
                _ => {
                    self.add_turn(item, is_first, std::mem::take(&mut said), std::mem::take(&mut results));
                    is_first = false;
                }
            }
            said.push(part);
        }
        self.add_turn(item, is_first, said, results);
    }

    fn add_turn(&mut self, item: &Item<'_>, is_first: bool, said: Vec<Shared<Part>>, results: Vec<Shared<Part>>) {
        if !said.is_empty() {
            let role = if item.role == Role::Tool && !is_about_approvals(&said) { Role::User } else { item.role };
            if let Some(mut message) = item.projected(self.view, role, said) {
                // What follows a result is no more the provider's one message.
                message.message_id = message.message_id.filter(|_| is_first);
                self.sequence.push(message);
            }
        }
        for result in results {
            if let Some(message) = item.projected(self.view, Role::Tool, vec![result]) {
                self.sequence.push_result(message);
            }
        }
    }

    /// An item that can't be read, as the view's text.
    fn add_as_text(&mut self, item: &Value, card: &Card<'_>, why: &str) {
        self.told.unread += 1;
        self.say(code::CARD_LEFT_AS_TEXT, card.sources, format!("what a card holds can't be read: {why}"));
        let text = card_lines("", std::slice::from_ref(item));
        let mut message = ProjectedMessage::made(
            self.view,
            Role::Assistant,
            Kind::AssistantText,
            vec![Part::text(text.trim_start_matches('\n'))],
        );
        message.id = self.from;
        message.at = card.at;
        message.source_message_ids = card.sources.to_vec();
        self.sequence.push(message);
    }

    fn say(&mut self, code: &'static str, ids: &[Uuid], reason: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, ids.iter().copied(), reason));
    }
}

/// The event that stands for what a card holds. It is in no log.
fn event_of(child: CardMessage, made_id: Uuid, card: &Card<'_>, lender: Option<&Message>) -> Event {
    let CardMessage { id, at, mut message } = child;
    if let Some(lender) = lender {
        lend(lender, &mut message);
    }
    let own_id = id.as_deref().and_then(parse_id);
    Event {
        id: own_id.unwrap_or(made_id),
        parent: Some(card.id),
        hung_on: HungOn::Named,
        at: at.unwrap_or(card.at),
        original_id: id.filter(|_| own_id.is_none()),
        original_parent: None,
        // It hangs in a card and on no chain: what it holds is no word of the session's own person.
        off_chain: true,
        body: Body::Message(Box::new(message)),
        extra: Fields::new(),
    }
}

/// Gives a message of a card what it lacks.
fn lend(card: &Message, message: &mut Message) {
    let (from, to) = (&card.metadata, &mut message.metadata);
    if to.agent_name.is_none() && to.effective_agent_name.is_none() {
        to.agent_name.clone_from(&from.agent_name);
        to.effective_agent_name.clone_from(&from.effective_agent_name);
    }
    if to.run_id.is_none() {
        to.run_id.clone_from(&from.run_id);
    }
    if message.role == Role::Assistant && message.provider.is_none() && message.model.is_none() {
        message.provider.clone_from(&card.provider);
        message.model.clone_from(&card.model);
    }
}

fn is_about_approvals(parts: &[Shared<Part>]) -> bool {
    parts.iter().any(|part| matches!(part.body, PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_)))
}
