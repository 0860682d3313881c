//! What counts as one when a history is cut.

use std::collections::HashMap;
use std::ops::Range;

use super::agent::agent_of;
use crate::event::{Kind, PartBody, Role, Uuid};
use crate::projection::ProjectedMessage;

/// The label of answers that stand side by side, so that a person can compare them.
pub const COMPARE_TAG: &str = "compare";

/// The groups of these messages, in order: places that are only ever kept or left out together.
///
/// - **A turn of calls**: an assistant message with calls, their results, and on through the next assistant message of
///   the same agent that stands directly below a result. It stops at any card, so at a council and at tasks.
/// - **One message of the provider's**: blocks of one answer that were recorded as messages of their own.
/// - **Answers side by side**: messages with the label [`COMPARE_TAG`] in a row, each with its calls, that hang on one
///   parent. On a chain the second one hangs on the first, which counts as the same.
/// - **Tasks side by side**: the same for messages of the kind `task`.
/// - Any other message, a card among them, by itself.
///
/// Attachments, and questions and answers about whether a call may run, belong to what they stand behind. A result is
/// never parted from its call: where other messages stand between them, these are in the group too.
///
/// Messages of the [head](is_head) are in no group, unless they stand in the middle of one; a cut keeps them there too.
/// The time is in proportion to the number of messages.
#[must_use]
pub fn groups(messages: &[ProjectedMessage]) -> Vec<Range<usize>> {
    let mut grouping = Grouping::default();
    for (at, message) in messages.iter().enumerate() {
        grouping.add(at, message);
    }
    grouping.groups.into_iter().map(|group| group.places).collect()
}

/// Whether this message stands for all before it, so that no cut counts it or leaves it out: a system message, and the
/// summary of a compaction.
#[must_use]
pub fn is_head(message: &ProjectedMessage) -> bool {
    message.role == Role::System || matches!(*message.kind, Kind::CompactSummary(_))
}

#[derive(Debug, Default)]
struct Grouping<'a> {
    groups: Vec<Group<'a>>,
    /// The calls without a result, by id: the place of the latest message that has any, and how many it has.
    open: HashMap<&'a str, (usize, usize)>,
}

#[derive(Debug)]
struct Group<'a> {
    places: Range<usize>,
    /// It holds calls, of this agent.
    turn: Option<Option<&'a str>>,
    /// Its last message is a result, or stands behind one and belongs to it.
    below_result: bool,
    siblings: Option<Siblings>,
    /// The event that its last message was made from.
    last: Option<Uuid>,
    /// The provider's own message that its last answer is a block of.
    answer: Option<(Option<&'a str>, &'a str)>,
}

/// Messages that count as one since they hang side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Siblings {
    what: Side,
    parent: Option<Uuid>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Compare,
    Task,
}

impl<'a> Grouping<'a> {
    fn add(&mut self, at: usize, message: &'a ProjectedMessage) {
        if is_head(message) {
            return;
        }
        if is_result(message) {
            self.add_result(at, message);
        } else if is_aside(message) && self.before(at).is_some() {
            self.extend(at, message);
        } else {
            self.add_other(at, message);
        }
        for call in message.content.iter().filter_map(|part| part.as_tool_call()) {
            let (place, count) = self.open.entry(&call.id).or_insert((at, 0));
            // A model that uses an id again means the latest call.
            *count = if *place == at { *count + 1 } else { 1 };
            *place = at;
        }
    }

    /// The group that ends directly before this place.
    fn before(&mut self, at: usize) -> Option<&mut Group<'a>> {
        self.groups.last_mut().filter(|group| group.places.end == at)
    }

    /// Takes the message into the last group, and what stands between them.
    fn extend(&mut self, at: usize, message: &ProjectedMessage) {
        if let Some(group) = self.groups.last_mut() {
            group.places.end = at + 1;
            group.last = message.kind.event().map(|event| event.id);
        }
    }

    fn add_result(&mut self, at: usize, message: &'a ProjectedMessage) {
        let mut call = None;
        for result in message.content.iter().filter_map(|part| part.as_tool_result()) {
            if let Some((place, count)) = self.open.get_mut(result.call_id.as_str()) {
                call = Some(call.map_or(*place, |earlier: usize| earlier.min(*place)));
                *count -= 1;
                if *count == 0 {
                    self.open.remove(result.call_id.as_str());
                }
            }
        }
        match call {
            Some(call) => self.join(call),
            None if self.before(at).is_some_and(|group| group.turn.is_some()) => {}
            None => return self.push(at, message),
        }
        self.extend(at, message);
        if let Some(group) = self.groups.last_mut() {
            group.below_result = true;
        }
    }

    /// Makes one group of the one that holds this place and all behind it.
    fn join(&mut self, place: usize) {
        let Some(last) = self.groups.last() else { return };
        if last.places.start > place {
            let first = self.groups.partition_point(|group| group.places.start <= place).saturating_sub(1);
            self.groups.truncate(first + 1);
        }
    }

    fn add_other(&mut self, at: usize, message: &'a ProjectedMessage) {
        let siblings = siblings(message);
        let calls = has_calls(message);
        let agent = agent_of(message);
        let answer = one_message(message);
        let is_block = answer.is_some() && self.before(at).is_some_and(|group| group.answer == answer);
        let joins = is_block
            || self.before(at).is_some_and(|group| match siblings {
                Some(own) => group.siblings.is_some_and(|others| {
                    let is_side_by_side = own.parent.is_some() && own.parent == others.parent;
                    own.what == others.what && (is_side_by_side || (own.parent.is_some() && own.parent == group.last))
                }),
                None => group.below_result && group.turn == Some(agent) && is_answer(message),
            });
        if !joins {
            return self.push(at, message);
        }
        self.extend(at, message);
        if let Some(group) = self.groups.last_mut() {
            // A text behind a call, both blocks of one answer, leaves the results of that call to come.
            group.turn = calls.then_some(agent).or(group.turn.filter(|_| is_block));
            group.below_result = false;
            group.answer = answer;
        }
    }

    fn push(&mut self, at: usize, message: &'a ProjectedMessage) {
        self.groups.push(Group {
            places: at..at + 1,
            turn: has_calls(message).then(|| agent_of(message)),
            below_result: false,
            siblings: siblings(message),
            last: message.kind.event().map(|event| event.id),
            answer: one_message(message),
        });
    }
}

/// The provider's own message that this is a block of, where it is one: to the provider, such blocks are one message, and
/// its signatures hold for all of them.
pub(super) fn one_message(message: &ProjectedMessage) -> Option<(Option<&str>, &str)> {
    let id = message.message_id.as_deref().filter(|id| !id.is_empty())?;
    (message.role == Role::Assistant).then_some((message.provider.as_deref(), id))
}

/// Whether it is a tool's result, or was one before its tool was gone.
fn is_result(message: &ProjectedMessage) -> bool {
    matches!(message.role, Role::Tool | Role::User)
        && (matches!(*message.kind, Kind::ToolResult)
            || message.content.iter().any(|part| matches!(part.body, PartBody::ToolResult(_))))
}

/// Whether it only goes with what it stands behind.
fn is_aside(message: &ProjectedMessage) -> bool {
    matches!(*message.kind, Kind::Attachment(_) | Kind::ToolApprovalRequest | Kind::ToolApprovalResponse)
        && !message.content.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)))
}

/// Whether it holds calls, or did before their tools were gone.
fn has_calls(message: &ProjectedMessage) -> bool {
    message.role == Role::Assistant
        && (matches!(*message.kind, Kind::ToolCall)
            || message.content.iter().any(|part| matches!(part.body, PartBody::ToolCall(_))))
}

/// Whether an agent says it itself: no card.
fn is_answer(message: &ProjectedMessage) -> bool {
    message.role == Role::Assistant
        && matches!(*message.kind, Kind::AssistantText | Kind::AssistantReasoning | Kind::ToolCall)
}

fn siblings(message: &ProjectedMessage) -> Option<Siblings> {
    let event = message.kind.event()?;
    let what = match *message.kind {
        Kind::Task(_) => Side::Task,
        _ if event.message()?.metadata.tags.iter().any(|tag| tag == COMPARE_TAG) => Side::Compare,
        _ => return None,
    };
    Some(Siblings { what, parent: event.parent.or_else(|| event.effective_parent()) })
}
