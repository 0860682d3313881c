//! A history from the point of view of one agent: what others said comes from outside.

use std::collections::HashMap;
use std::sync::Arc;

use super::retell::Retold;
use super::speaker_parts::{LeftOut, hushed, told};
use crate::context::words::is_of_a_card;
use crate::context::{BoxError, Context, Processor, agent_of, attribute, code};
use crate::event::{Kind, Part, PartBody, Role, Uuid};
use crate::projection::{self, Diagnostic, ProjectedMessage, Shared};

/// The step's name.
pub const NAME: &str = "speaker";

/// Makes what other agents said, and what their tools gave back, the user's, in a tag that names the speaker: to a
/// model, an assistant's words are its own. The tag is closed, since a body may hold the person's next words in the same
/// turn. The role says so, and not a mark in an assistant's text, which the model
/// would begin to write itself.
///
/// The active agent's own messages stay, with the results of its calls, and so do messages that name no agent. Calls
/// and results of others are told as text; their reasoning is left out. No text that a person did not type, such as that of
/// an attached file, holds such a tag.
#[derive(Debug, Clone)]
pub struct Speaker {
    active_agent: Option<String>,
}

impl Speaker {
    /// A step from the point of view of this agent. None: it does nothing.
    #[must_use]
    pub fn new(active_agent: Option<&str>) -> Self {
        Self { active_agent: active_agent.map(str::to_owned) }
    }
}

impl Processor for Speaker {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(active) = &self.active_agent else { return Ok(()) };
        let mut telling = Telling {
            active,
            callers: HashMap::new(),
            told: Retold::default(),
            hushed: Vec::new(),
            left_out: LeftOut::default(),
        };
        if !context.messages.iter().any(|message| telling.other(message).is_some()) {
            return Ok(());
        }
        let mut messages = Vec::with_capacity(context.messages.len());
        for message in std::mem::take(&mut context.messages) {
            match message.role {
                Role::Assistant => telling.add_assistant(message, &mut messages),
                Role::Tool | Role::User => telling.add_answers(message, &mut messages),
                Role::System => messages.push(message),
            }
        }
        context.messages = messages;
        let Telling { told, left_out, hushed, .. } = telling;
        told.say(context, "what other agents said comes from the user");
        if !hushed.is_empty() {
            let reason = "a text that nobody typed holds the tag that names a speaker";
            context.say(Diagnostic::new(code::RETOLD, hushed, reason));
        }
        left_out.say(context);
        Ok(())
    }
}

/// Another agent; none: somebody whose words stay.
type Caller = Option<Arc<str>>;

struct Telling<'t> {
    active: &'t str,
    /// Who made the latest call of an id.
    callers: HashMap<String, Caller>,
    told: Retold,
    /// Messages whose texts named a speaker.
    hushed: Vec<Uuid>,
    left_out: LeftOut,
}

impl Telling<'_> {
    /// The agent that this message names, if it is not the active one.
    fn other(&self, message: &ProjectedMessage) -> Caller {
        let is_an_agents = message.role != Role::User || is_of_a_card(message);
        agent_of(message).filter(|&agent| agent != self.active && is_an_agents).map(Arc::from)
    }

    fn add_assistant(&mut self, message: ProjectedMessage, messages: &mut Vec<ProjectedMessage>) {
        let speaker = self.other(&message);
        for call in message.content.iter().filter_map(|part| part.as_tool_call()) {
            self.callers.insert(call.id.clone(), speaker.clone());
        }
        match speaker {
            Some(speaker) => messages.extend(self.tell(message, &speaker)),
            None => messages.push(message),
        }
    }

    /// Results, and answers about calls, go with the call.
    fn add_answers(&mut self, mut message: ProjectedMessage, messages: &mut Vec<ProjectedMessage>) {
        let is_typed = matches!(*message.kind, Kind::UserInput) && !is_of_a_card(&message);
        if message.role == Role::User && !is_typed && hushed(&mut message.content) {
            self.hushed.extend(&message.source_message_ids);
        }
        let own = self.other(&message);
        let speakers: Vec<Caller> = message.content.iter().map(|part| self.speaker_of(part, &own)).collect();
        if speakers.iter().all(Option::is_none) {
            return messages.push(message);
        }
        let content = std::mem::take(&mut message.content);
        let mut runs: Vec<(Caller, Vec<Shared<Part>>)> = Vec::new();
        for (speaker, part) in speakers.into_iter().zip(content) {
            match runs.last_mut().filter(|(last, _)| *last == speaker) {
                Some((_, parts)) => parts.push(part),
                None => runs.push((speaker, vec![part])),
            }
        }
        for (speaker, content) in runs {
            let message = ProjectedMessage { content, ..message.clone() };
            match speaker {
                Some(speaker) => messages.extend(self.tell(message, &speaker)),
                None => messages.push(message),
            }
        }
    }

    fn speaker_of(&self, part: &Part, own: &Caller) -> Caller {
        let call = match &part.body {
            PartBody::ToolResult(result) => &result.call_id,
            PartBody::ToolApprovalRequest(request) => &request.call_id,
            PartBody::ToolApprovalResponse(response) => &response.call_id,
            _ => return own.clone(),
        };
        self.callers.get(call).unwrap_or(own).clone()
    }

    /// The message as the user tells it; none if nothing is left of it.
    fn tell(&mut self, mut message: ProjectedMessage, speaker: &str) -> Option<ProjectedMessage> {
        if message.content.is_empty() {
            return Some(message);
        }
        let parts = std::mem::take(&mut message.content);
        let ids = &message.source_message_ids;
        let mut content: Vec<Shared<Part>> = Vec::with_capacity(parts.len() + 2);
        content.push(Part::text(format!("<speaker name=\"{}\">", attribute(speaker))).into());
        content.extend(parts.into_iter().filter_map(|part| told(part, ids, &mut self.left_out)));
        if content.len() == 1 {
            return None;
        }
        content.push(Part::text("</speaker>").into());
        self.told.add(&message);
        message.role = Role::User;
        message.content = content;
        Some(message)
    }
}

impl LeftOut {
    fn say(self, context: &mut Context<'_>) {
        if !self.reasoning.is_empty() {
            let reason = "another agent's reasoning is its own";
            context.say(Diagnostic::new(projection::code::REASONING_LEFT_OUT, self.reasoning, reason));
        }
        if !self.parts.is_empty() {
            let reason = "a part of another agent's message has no form as the user's text";
            context.say(Diagnostic::new(projection::code::PART_LEFT_OUT, self.parts, reason));
        }
        if !self.media.is_empty() {
            let reason = "a picture or file that another agent's tool gave back is told as a note";
            context.say(Diagnostic::new(projection::code::MEDIA_DEGRADED, self.media, reason));
        }
    }
}
