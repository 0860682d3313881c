//! What a window costs, and where the number comes from.

use std::collections::HashMap;

use serde::Serialize;

use super::counter::TokenCounter;
use super::sources::{BySource, message_tokens, parts_tokens, tool_tokens};
use super::usage::{Reported, request_of};
use crate::context::{Prompt, Tool, code};
use crate::event::{Kind, Message, Part, PartBody, Role, Uuid};
use crate::projection::{Diagnostic, ProjectedMessage, Shared};
use crate::session::State;

/// Where the number of a window comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// The provider reported it with its latest answer, and nothing has come since.
    Reported,
    /// The provider reported the window of its latest answer; what has come since is counted.
    Mixed,
    /// No report speaks of this window: it is the sum of its messages and tools, counted, or for answers that the
    /// provider reported the output of, that output.
    Estimate,
}

impl Source {
    /// Its name, as it stands in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reported => "reported",
            Self::Mixed => "mixed",
            Self::Estimate => "estimate",
        }
    }
}

/// What a window costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
pub struct Account {
    /// What was counted, by what it comes from.
    pub counted: BySource,
    /// What the provider reported, so that it was not counted.
    pub reported: u64,
    /// Where the number comes from.
    pub source: Source,
}

impl Account {
    /// All tokens, as they were counted and reported: the number to show.
    #[must_use]
    pub fn raw(&self) -> u64 {
        self.counted.total().saturating_add(self.reported)
    }

    /// The number to decide on: what was counted times `drift`, since counting is mostly too low, and what was reported
    /// as it is. A drift that is less than 1 or no number counts as 1.
    #[must_use]
    pub fn adjusted(&self, drift: f64) -> u64 {
        let counted = self.counted.total();
        // A float becomes the nearest whole number that there is, and no number 0.
        let drifted = (counted as f64 * drift).ceil() as u64;
        drifted.max(counted).saturating_add(self.reported)
    }
}

/// What one message costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// What was counted of it, by what it comes from.
    pub counted: BySource,
    /// The output that the provider reported for its request, in the place of counting it. It stands with the first
    /// message of the request; the others cost nothing.
    pub reported: u64,
}

impl Cost {
    /// Both together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted.total().saturating_add(self.reported)
    }
}

/// What each of these messages costs, in their order.
///
/// For an answer whose usage was recorded, the reported output stands in for the count of its parts, if all of them are
/// there as they were recorded; what a step put into it is counted beside. It does not if the model thought and no
/// message holds what, since that is in the output and does not go back. A request's output counts once, however many
/// messages it made; hand in all of them, since the whole output is charged to those that are here.
#[must_use]
pub fn message_costs(messages: &[ProjectedMessage], counter: &dyn TokenCounter) -> Vec<Cost> {
    costs(&messages.iter().collect::<Vec<_>>(), counter)
}

/// What these messages and tools cost: the window that will be sent, so hand in what has gone through the pipeline.
///
/// With a report, only what was recorded since, and what was put in behind its message, is counted; the rest is the
/// provider's number, and is not told by source. Without one, or if its message is not among these, all is counted.
pub fn window_tokens(
    messages: &[ProjectedMessage],
    tools: &[Tool],
    reported: Option<&Reported>,
    counter: &dyn TokenCounter,
) -> Account {
    let holds = |reported: &Reported| {
        messages.iter().rposition(|message| message.source_message_ids.contains(&reported.message))
    };
    match reported.and_then(|reported| Some((reported, holds(reported)?))) {
        Some((reported, last)) => since_report(messages, reported, last, counter),
        None => {
            let mut account = sum(&message_costs(messages, counter), Source::Estimate);
            account.counted += tool_tokens(tools, counter);
            account
        }
    }
}

/// What a prompt costs that was assembled for the session of this state.
///
/// What its provider reported last is used where it still holds: see [`Reported::latest`]. It does not hold if a step
/// truncated the prompt, or left out calls of tools that are off or how a supervisor directs, since the report speaks of
/// another window then.
pub fn prompt_tokens(state: &State, prompt: &Prompt, counter: &dyn TokenCounter) -> Account {
    let Prompt { messages, tools, diagnostics, .. } = prompt;
    account_of(messages, tools, diagnostics, Reported::latest(state).as_ref(), counter)
}

/// What a step says that left messages out by its configuration, which may be another one than the reported request's.
const LEFT_OUT: [&str; 3] = [code::TRUNCATED, code::DISABLED_CALL_LEFT_OUT, code::ORCHESTRATION_LEFT_OUT];

/// The window, of which this was said when it was assembled.
pub(super) fn account_of(
    messages: &[ProjectedMessage],
    tools: &[Tool],
    diagnostics: &[Diagnostic],
    reported: Option<&Reported>,
    counter: &dyn TokenCounter,
) -> Account {
    let is_less = |item: &Diagnostic| LEFT_OUT.contains(&item.code);
    window_tokens(messages, tools, reported.filter(|_| !diagnostics.iter().any(is_less)), counter)
}

/// The report, and the messages that it does not cover: those recorded since, wherever they stand, and those that
/// nobody recorded behind its message.
fn since_report(
    messages: &[ProjectedMessage],
    reported: &Reported,
    last: usize,
    counter: &dyn TokenCounter,
) -> Account {
    let is_new = |(place, message): &(usize, &ProjectedMessage)| match message.source_message_ids.as_slice() {
        [] => *place > last,
        ids => ids.iter().any(|id| reported.is_since(*id)),
    };
    let new: Vec<&ProjectedMessage> = messages.iter().enumerate().filter(is_new).map(|(_, message)| message).collect();
    let source = if new.is_empty() { Source::Reported } else { Source::Mixed };
    let mut account = sum(&costs(&new, counter), source);
    account.reported = account.reported.saturating_add(reported.tokens);
    account
}

fn sum(costs: &[Cost], source: Source) -> Account {
    let mut account = Account { counted: BySource::default(), reported: 0, source };
    for cost in costs {
        account.counted += cost.counted;
        account.reported = account.reported.saturating_add(cost.reported);
    }
    account
}

fn costs<'a>(messages: &[&'a ProjectedMessage], counter: &dyn TokenCounter) -> Vec<Cost> {
    let mut outputs = outputs(messages);
    let cost = |&message: &&'a ProjectedMessage| {
        let output = answer(message).and_then(|(request, _)| outputs.get_mut(&request));
        match output.and_then(Output::stands_in) {
            Some(tokens) => {
                let is_beside = |part: &&Shared<Part>| !part.is_recorded() || part.as_tool_result().is_some();
                let beside = message.content.iter().filter(is_beside).map(|part| &**part);
                Cost { counted: parts_tokens(beside, counter), reported: std::mem::take(tokens) }
            }
            None => Cost { counted: message_tokens(message, counter), reported: 0 },
        }
    };
    messages.iter().map(cost).collect()
}

/// A request, by its own name or by the one message that came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Request<'a> {
    Named(&'a str),
    Of(Uuid),
}

/// The output of a request.
#[derive(Debug, Default)]
struct Output {
    /// As the last of its messages with any says it.
    tokens: Option<u64>,
    /// A message of it that is here is not as it was recorded. One that is not here is not missed.
    cut: bool,
    /// What the model thought is part of the reported output.
    thought: bool,
    /// A message of it holds what the model thought.
    holds_thought: bool,
}

impl Output {
    /// The reported tokens, if they are what goes back to the model: reasoning that nobody recorded does not.
    fn stands_in(&mut self) -> Option<&mut u64> {
        let goes_back = !self.cut && (self.holds_thought || !self.thought);
        self.tokens.as_mut().filter(|_| goes_back)
    }
}

fn outputs<'a>(messages: &[&'a ProjectedMessage]) -> HashMap<Request<'a>, Output> {
    let mut outputs: HashMap<Request<'a>, Output> = HashMap::new();
    for message in messages {
        let Some((request, recorded)) = answer(message) else { continue };
        let output = outputs.entry(request).or_default();
        output.cut |= !is_whole(message, recorded);
        output.holds_thought |= recorded.content.iter().any(|part| matches!(part.body, PartBody::Reasoning(_)));
        if let Some(usage) = recorded.usage.as_ref().filter(|usage| usage.output > 0) {
            output.tokens = Some(usage.output);
            output.thought = usage.reasoning.is_some_and(|tokens| tokens > 0);
        }
    }
    outputs
}

/// The recorded answer of a model that this message shows, and its request.
fn answer(message: &ProjectedMessage) -> Option<(Request<'_>, &Message)> {
    let recorded = message.recorded().filter(|recorded| recorded.role == Role::Assistant)?;
    // A card's usage is that of the messages in it, and what the view shows of it is a text of the view's.
    if !matches!(recorded.kind, Kind::AssistantText | Kind::AssistantReasoning | Kind::ToolCall) {
        return None;
    }
    Some((request_of(recorded).map_or(Request::Of(message.id), Request::Named), recorded))
}

/// Whether all parts of the answer are there, none changed. The results that it may hold stand elsewhere.
fn is_whole(message: &ProjectedMessage, recorded: &Message) -> bool {
    let shown = message.content.iter().filter(|part| part.is_recorded() && part.as_tool_result().is_none()).count();
    let said = recorded.content.iter().filter(|part| !matches!(part.body, PartBody::ToolResult(_))).count();
    message.source_message_ids.len() == 1 && message.role == Role::Assistant && shown == said
}
