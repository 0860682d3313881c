//! Events and messages as callers make them, one constructor for each that needs more than [`Message::new`].
//!
//! Each keeps the invariants of what it makes: role and kind fit each other, a text is never empty, what the runtime
//! makes is flagged so, and a change has something that it changes.

use super::body::{Amend, Prune, Tombstone};
use super::constants::{INTERRUPTED, INTERRUPTED_FOR_TOOL_USE, MISSING_TOOL_RESULT, SYNTHETIC_TEXTS};
use super::error::EventError;
use super::id::Uuid;
use super::kind::{
    Attachment, BashExecution, BranchSummary, CompactSummary, Custom, Kind, Progress, SystemEvent, ToolUseSummary,
};
use super::message::{Message, Role, Source};
use super::part::{ApprovalRequest, ApprovalResponse, Media, MediaSource, Part, PartBody, Reasoning, ToolOutput};
use super::patch::check_patch;
use super::value::{Fields, Value};

impl Message {
    /// The model's reasoning without an answer.
    #[must_use]
    pub fn assistant_reasoning(parts: Vec<Part>) -> Self {
        Self::new(Role::Assistant, Kind::AssistantReasoning, parts)
    }

    /// A person is asked whether a call may run.
    #[must_use]
    pub fn approval_request(call_id: impl Into<String>, approval_id: Option<String>) -> Self {
        let body = PartBody::ToolApprovalRequest(ApprovalRequest { call_id: call_id.into(), approval_id });
        Self::new(Role::Assistant, Kind::ToolApprovalRequest, vec![Part::new(body)])
    }

    /// The answer to the question whether a call may run.
    #[must_use]
    pub fn approval_response(call_id: impl Into<String>, approved: bool, reason: Option<String>) -> Self {
        let response = ApprovalResponse { call_id: call_id.into(), approval_id: None, approved, reason };
        Self::new(Role::Tool, Kind::ToolApprovalResponse, vec![Part::new(PartBody::ToolApprovalResponse(response))])
    }

    /// A tool's result of several parts.
    #[must_use]
    pub fn tool_result_parts(call_id: impl Into<String>, output: Vec<Part>, is_error: bool) -> Self {
        let mut part = Part::tool_result(call_id, String::new(), is_error);
        if let PartBody::ToolResult(result) = &mut part.body {
            result.output = ToolOutput::Parts(output);
        }
        Self::new(Role::Tool, Kind::ToolResult, vec![part])
    }

    /// The result of a call whose real one never came: [`MISSING_TOOL_RESULT`], an error, flagged synthetic.
    #[must_use]
    pub fn missing_result(call_id: impl Into<String>) -> Self {
        Self::tool_result(call_id, MISSING_TOOL_RESULT, true).made_by_runtime()
    }

    /// The person stopped the model, while a tool was to run or not.
    #[must_use]
    pub fn interrupted(for_tool_use: bool) -> Self {
        Self::user(if for_tool_use { INTERRUPTED_FOR_TOOL_USE } else { INTERRUPTED }).made_by_runtime()
    }

    /// A note of the runtime's for the model, in a user's place.
    #[must_use]
    pub fn reminder(text: impl Into<String>) -> Self {
        Self::new(Role::User, Kind::RuntimeReminder, vec![Part::text(text)]).made_by_runtime()
    }

    /// What another agent must know to take over.
    #[must_use]
    pub fn handoff_summary(text: impl Into<String>) -> Self {
        Self::new(Role::User, Kind::HandoffSummary, vec![Part::text(text)]).made_by_runtime()
    }

    /// A mark that another agent goes on from here.
    #[must_use]
    pub fn agent_switch_note(text: impl Into<String>) -> Self {
        Self::new(Role::System, Kind::AgentSwitchNote, vec![Part::text(text)]).made_by_runtime()
    }

    /// The summary of a compaction, stored raw: views put their marks around it.
    #[must_use]
    pub fn compact_summary(text: impl Into<String>, tokens_before: Option<u64>) -> Self {
        let kind = Kind::CompactSummary(CompactSummary { tokens_before });
        Self::new(Role::User, kind, vec![Part::text(text)]).made_by_runtime()
    }

    /// The summary of a branch that was left, stored raw.
    #[must_use]
    pub fn branch_summary(text: impl Into<String>, from_id: Option<Uuid>) -> Self {
        let kind = Kind::BranchSummary(BranchSummary { from_id: from_id.map(|id| id.to_string()) });
        Self::new(Role::User, kind, vec![Part::text(text)]).made_by_runtime()
    }

    /// A command that the person ran beside the model.
    #[must_use]
    pub fn bash(execution: BashExecution) -> Self {
        Self::new(Role::User, Kind::BashExecution(execution), Vec::new())
    }

    /// An application's own message, which goes to the model as the user's.
    #[must_use]
    pub fn custom(custom_type: impl Into<String>, content: Vec<Part>, details: Option<Value>) -> Self {
        let kind = Kind::Custom(Custom { custom_type: custom_type.into(), display: true, details });
        Self::new(Role::User, kind, content)
    }

    /// Injected context that belongs to what it hangs beside.
    #[must_use]
    pub fn attachment(attachment: Attachment, content: Vec<Part>) -> Self {
        Self::new(Role::User, Kind::Attachment(attachment), content).made_by_runtime()
    }

    /// How far a tool is; for a screen.
    #[must_use]
    pub fn progress(progress: Progress) -> Self {
        Self::new(Role::Tool, Kind::Progress(progress), Vec::new()).made_by_runtime()
    }

    /// A short text in the place of several tool calls; for a screen.
    #[must_use]
    pub fn tool_use_summary(summary: impl Into<String>, tool_use_ids: Vec<String>) -> Self {
        let kind = Kind::ToolUseSummary(ToolUseSummary { summary: summary.into(), tool_use_ids });
        Self::new(Role::System, kind, Vec::new()).made_by_runtime()
    }

    /// Something that the runtime tells; `subtype` says of what, as in `local_command` or `api_error`.
    #[must_use]
    pub fn system_event(subtype: impl Into<String>, text: impl Into<String>) -> Self {
        let kind = Kind::SystemEvent(SystemEvent { subtype: subtype.into(), ..SystemEvent::default() });
        let text = text.into();
        let content = if text.is_empty() { Vec::new() } else { vec![Part::text(text)] };
        Self::new(Role::System, kind, content).made_by_runtime()
    }

    /// Whether all that the message says is one of the [`SYNTHETIC_TEXTS`], or it is flagged as made by the runtime.
    #[must_use]
    pub fn is_synthetic(&self) -> bool {
        let text = |part: &Part| match &part.body {
            PartBody::Text(text) => SYNTHETIC_TEXTS.contains(&text.text.as_str()),
            PartBody::ToolResult(result) => {
                matches!(&result.output, ToolOutput::Text(text) if SYNTHETIC_TEXTS.contains(&text.as_str()))
            }
            _ => false,
        };
        self.metadata.synthetic || (!self.content.is_empty() && self.content.iter().all(text))
    }

    fn made_by_runtime(mut self) -> Self {
        self.metadata.synthetic = true;
        self.metadata.source = Some(Source::Runtime);
        self
    }
}

impl Part {
    /// Reasoning as the provider gave it, with its signature if it has one.
    #[must_use]
    pub fn reasoning(text: impl Into<String>, signature: Option<String>) -> Self {
        let text = Some(text.into());
        Self::new(PartBody::Reasoning(Reasoning { text, signature, ..Reasoning::default() }))
    }

    /// A picture.
    #[must_use]
    pub fn image(media_type: impl Into<String>, source: MediaSource) -> Self {
        Self::new(PartBody::Image(media(media_type.into(), source)))
    }

    /// Any other file.
    #[must_use]
    pub fn file(media_type: impl Into<String>, source: MediaSource) -> Self {
        Self::new(PartBody::File(media(media_type.into(), source)))
    }
}

fn media(media_type: String, source: MediaSource) -> Media {
    Media { media_type, source, name: None, width: None, height: None }
}

impl Tombstone {
    /// Takes these messages back.
    ///
    /// # Errors
    /// [`EventError::NotStorable`] if there is none.
    pub fn of(targets: impl IntoIterator<Item = Uuid>, reason: Option<String>) -> Result<Self, EventError> {
        Ok(Self { targets: one_at_least(targets, "a tombstone")?, reason })
    }
}

impl Prune {
    /// Makes the results in these messages a stub for the model.
    ///
    /// # Errors
    /// [`EventError::NotStorable`] if there is none.
    pub fn of(targets: impl IntoIterator<Item = Uuid>) -> Result<Self, EventError> {
        Ok(Self { targets: one_at_least(targets, "a prune")? })
    }
}

impl Amend {
    /// Completes this message; the patch's names are a message's in snake_case.
    ///
    /// # Errors
    /// [`EventError::FixedField`] if the patch names what never changes, [`EventError::NotStorable`] if it is empty.
    pub fn of(target: Uuid, patch: Fields) -> Result<Self, EventError> {
        check_patch(&patch)?;
        match patch.is_empty() {
            true => Err(EventError::NotStorable { why: "an amend with an empty patch changes nothing".to_owned() }),
            false => Ok(Self { target, patch }),
        }
    }
}

fn one_at_least(targets: impl IntoIterator<Item = Uuid>, what: &str) -> Result<Vec<Uuid>, EventError> {
    let targets: Vec<Uuid> = targets.into_iter().collect();
    match targets.is_empty() {
        true => Err(EventError::NotStorable { why: format!("{what} names one message at least") }),
        false => Ok(targets),
    }
}
