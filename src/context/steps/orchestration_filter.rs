//! How a supervisor directs its agents, left out of what these read.

use std::collections::HashSet;

use serde::Deserialize;

use super::answers::Answers;
use super::cards::OpenedCards;
use crate::context::tools::api_part;
use crate::context::{BoxError, Context, Processor, agent_of, code};
use crate::event::{Kind, PartBody, ToolCall, Uuid};
use crate::projection::{self, Diagnostic, ProjectedMessage};

/// The step's name.
pub const NAME: &str = "orchestration_filter";

/// The tools by which a supervisor directs its agents, unless the configuration names others. Case and underscores do
/// not count: `executeTask` is `execute_task`.
pub const ORCHESTRATION_TOOLS: &[&str] = &[
    "broadcast",
    "speak",
    "delegate",
    "execute_task",
    "execute_tasks",
    "execute_agent_task",
    "execute_agent_tasks",
    "interrupt",
    "create_workflow",
    "vote",
];

/// Who directs, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OrchestrationConfig {
    /// The agent that directs the others. What a supervisor's card holds is a supervisor's, too.
    pub supervisor: Option<String>,
    /// The tools by which it does. None: [`ORCHESTRATION_TOOLS`].
    pub tools: Option<Vec<String>>,
}

/// Leaves out a supervisor's calls of orchestration tools, and their results: to the agents that are directed they are
/// noise. What it says, and its calls of other tools, stay; so does everything where the supervisor itself reads.
///
/// A result belongs to the latest earlier message that holds a call of its id, there to the first that has none, as in
/// [`tool_pairing`](super::tool_pairing).
///
/// A tool is known by the name of its API, by itself or as in `identifier____api____type`.
#[derive(Debug, Clone)]
pub struct OrchestrationFilter {
    active_agent: Option<String>,
    supervisor: Option<String>,
    /// As [`plain`] makes them.
    tools: HashSet<String>,
}

impl OrchestrationFilter {
    /// A step from the point of view of this agent. None: it does nothing.
    #[must_use]
    pub fn new(active_agent: Option<&str>, config: &OrchestrationConfig) -> Self {
        let tools = match &config.tools {
            Some(tools) => tools.iter().map(|name| plain(name)).collect(),
            None => ORCHESTRATION_TOOLS.iter().map(|name| plain(name)).collect(),
        };
        let (active_agent, supervisor) = (active_agent.map(str::to_owned), config.supervisor.clone());
        Self { active_agent, supervisor, tools }
    }

    fn is_orchestration(&self, call: &ToolCall) -> bool {
        self.tools.contains(&plain(api_part(&call.name)))
    }

    /// Whether a supervisor made this message, and another agent reads it.
    fn is_directing(&self, message: &ProjectedMessage, cards: &HashSet<Uuid>) -> bool {
        let agent = agent_of(message);
        let is_supervisor = (agent.is_some() && agent == self.supervisor.as_deref())
            || matches!(*message.kind, Kind::Supervisor(_))
            || (!cards.is_empty() && message.source_message_ids.iter().any(|id| cards.contains(id)));
        is_supervisor && agent != self.active_agent.as_deref()
    }
}

impl Processor for OrchestrationFilter {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if self.active_agent.is_none() || self.active_agent == self.supervisor {
            return Ok(());
        }
        let opened = context.metadata.get::<OpenedCards>();
        let cards: HashSet<Uuid> = opened.into_iter().flat_map(|cards| cards.supervisors.iter().copied()).collect();
        let mut filter = Filter {
            step: self,
            cards: &cards,
            answers: Answers::default(),
            has_left_out: false,
            ids: Vec::new(),
            thought: Vec::new(),
        };
        context.messages.retain_mut(|message| filter.pass(message));
        let Filter { ids, thought, .. } = filter;
        if !ids.is_empty() {
            let reason = "calls by which a supervisor directs its agents, and their results, are not for these";
            context.say(Diagnostic::new(code::ORCHESTRATION_LEFT_OUT, ids, reason));
        }
        if !thought.is_empty() {
            let reason = "a call that it led to was left out";
            context.say(Diagnostic::new(projection::code::REASONING_LEFT_OUT, thought, reason));
        }
        Ok(())
    }
}

struct Filter<'f> {
    step: &'f OrchestrationFilter,
    cards: &'f HashSet<Uuid>,
    answers: Answers,
    /// A call was left out.
    has_left_out: bool,
    ids: Vec<Uuid>,
    /// Messages that lost their reasoning.
    thought: Vec<Uuid>,
}

impl Filter<'_> {
    /// Whether the message stays, with what of it is left.
    fn pass(&mut self, message: &mut ProjectedMessage) -> bool {
        if self.belongs_to_left_out(message) {
            self.ids.extend(&message.source_message_ids);
            return false;
        }
        let has_calls = message.content.iter().any(|part| matches!(part.body, PartBody::ToolCall(_)));
        let is_directing = has_calls && self.step.is_directing(message, self.cards);
        if !has_calls && !self.has_left_out {
            return true;
        }
        let goes = |call: &ToolCall| is_directing && self.step.is_orchestration(call);
        self.answers.note_calls(message, goes);
        let found = message.content.len();
        message.content.retain(|part| match &part.body {
            PartBody::ToolCall(call) => {
                self.has_left_out |= goes(call);
                !goes(call)
            }
            PartBody::ToolResult(result) => !self.answers.result_goes(&result.call_id),
            PartBody::ToolApprovalRequest(request) => !self.answers.next_goes(&request.call_id),
            PartBody::ToolApprovalResponse(response) => !self.answers.next_goes(&response.call_id),
            _ => true,
        });
        if message.content.len() == found {
            return true;
        }
        self.ids.extend(&message.source_message_ids);
        let left = message.content.len();
        message.content.retain(|part| !matches!(part.body, PartBody::Reasoning(_)));
        if message.content.len() < left {
            self.thought.extend(&message.source_message_ids);
        }
        !message.content.is_empty()
    }

    /// Whether it hangs beside a call that was left out.
    fn belongs_to_left_out(&self, message: &ProjectedMessage) -> bool {
        let Kind::Attachment(attachment) = &*message.kind else { return false };
        attachment.tool_use_id.as_ref().is_some_and(|id| self.answers.all_go(id))
    }
}

/// The name without what does not count.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}
