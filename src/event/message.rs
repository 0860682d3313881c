//! Messages and what is recorded about them.

use super::constants::NO_CONTENT;
use super::kind::Kind;
use super::part::{Part, ToolCall, ToolResult};
use super::value::{Fields, Value};

/// A message: who says it, what it is, and its parts.
///
/// One assistant message may hold text, reasoning and several tool calls, as the provider gave them.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What it mainly is, with the kind's own fields.
    pub kind: Kind,
    /// Its parts.
    pub content: Vec<Part>,
    /// The provider that made it, such as `anthropic`, `openai`, `google` or `bedrock`. Without it no signed reasoning
    /// goes back.
    pub provider: Option<String>,
    /// The model that made it.
    pub model: Option<String>,
    /// The request that it came with; usage counts once for each.
    pub request_id: Option<String>,
    /// The provider's id of the message; messages that share it are one API message.
    pub message_id: Option<String>,
    /// Tokens used.
    pub usage: Option<Usage>,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What else is known of it.
    pub metadata: Metadata,
    /// Fields that this version does not know, kept and written back.
    pub extra: Fields,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// Why a model stopped. "Not said" and "the stream had not ended" are two values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum StopReason {
    /// Nothing is said about it.
    #[default]
    NotSaid,
    /// The stream had not ended when the message was recorded.
    StreamOpen,
    /// The provider's word.
    Said(String),
}

/// Tokens used by one request.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
    pub reasoning: Option<u64>,
    pub total: Option<u64>,
    /// Fields that this version does not know.
    pub extra: Fields,
}

/// Where a message comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Source {
    User,
    Runtime,
    Hook,
    Tool,
    System,
    /// A name that this version does not know.
    Other(String),
}

/// What is known of a message beside its content.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// The agent that the message belongs to.
    pub agent_name: Option<String>,
    /// The agent that really acted.
    pub effective_agent_name: Option<String>,
    /// Made by the runtime, not by a person or a model.
    pub synthetic: bool,
    /// Whether the transcript shows it; true where not said.
    pub visible_in_transcript: bool,
    /// Whether the model may see it; true where not said.
    pub eligible_for_model_context: bool,
    /// For the model only.
    pub meta: bool,
    /// For the screen only.
    pub is_virtual: bool,
    /// A sub-agent's line: takes no part in the session's own chain.
    pub sidechain: bool,
    /// When it was compacted, µs since the epoch.
    pub compacted_at: Option<i64>,
    /// The boundary that compacted it.
    pub compact_boundary_id: Option<String>,
    /// The boundary that this summary belongs to.
    pub summary_for_boundary_id: Option<String>,
    /// Where it comes from.
    pub source: Option<Source>,
    /// On a tool result: the message that holds the call.
    pub source_tool_assistant_id: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// The run that it belongs to.
    pub run_id: Option<String>,
    /// What the agent was allowed to do then.
    pub permission_mode: Option<String>,
    /// Where the input came from, as the application says it.
    pub origin: Option<Value>,
    /// Anything of the application's.
    pub extra: Option<Value>,
    /// Fields that this version does not know, kept and written back.
    pub unknown: Fields,
}

impl Default for Metadata {
    fn default() -> Self {
        Self {
            agent_name: None,
            effective_agent_name: None,
            synthetic: false,
            visible_in_transcript: true,
            eligible_for_model_context: true,
            meta: false,
            is_virtual: false,
            sidechain: false,
            compacted_at: None,
            compact_boundary_id: None,
            summary_for_boundary_id: None,
            source: None,
            source_tool_assistant_id: None,
            tags: Vec::new(),
            run_id: None,
            permission_mode: None,
            origin: None,
            extra: None,
            unknown: Fields::new(),
        }
    }
}

impl Message {
    /// A message of this role and kind; empty content becomes [`NO_CONTENT`] where the kind has no fields that
    /// stand for it.
    #[must_use]
    pub fn new(role: Role, kind: Kind, content: Vec<Part>) -> Self {
        Self {
            role,
            kind,
            content,
            provider: None,
            model: None,
            request_id: None,
            message_id: None,
            usage: None,
            stop_reason: StopReason::NotSaid,
            metadata: Metadata::default(),
            extra: Fields::new(),
        }
        .with_content_filled()
    }

    fn with_content_filled(mut self) -> Self {
        // A blank summary of a compaction stays blank, so that the session can refuse it: it stands for all before it.
        let needs_words = matches!(
            self.kind,
            Kind::SystemNote
                | Kind::UserInput
                | Kind::AssistantText
                | Kind::RuntimeReminder
                | Kind::HandoffSummary
                | Kind::AgentSwitchNote
                | Kind::BranchSummary(_)
        );
        let blank = self.content.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()));
        if needs_words && blank {
            self.content = vec![Part::text(NO_CONTENT)];
        }
        self
    }

    /// What a person typed.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, Kind::UserInput, vec![Part::text(text)])
    }

    /// What the model answered, as text only.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, Kind::AssistantText, vec![Part::text(text)])
    }

    /// What the model answered, with at least one tool call among the parts.
    #[must_use]
    pub fn assistant_calls(parts: Vec<Part>) -> Self {
        Self::new(Role::Assistant, Kind::ToolCall, parts)
    }

    /// One tool's result.
    #[must_use]
    pub fn tool_result(call_id: impl Into<String>, text: impl Into<String>, is_error: bool) -> Self {
        Self::new(Role::Tool, Kind::ToolResult, vec![Part::tool_result(call_id, text, is_error)])
    }

    /// A note of the application's for the model.
    #[must_use]
    pub fn system_note(text: impl Into<String>) -> Self {
        Self::new(Role::System, Kind::SystemNote, vec![Part::text(text)])
    }

    /// Whether the message takes part in the chain of parents: by its kind, and not a sub-agent's.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        self.kind.takes_part() && !self.metadata.sidechain
    }

    /// Whether it counts as a message, where messages are counted: it takes part in the conversation, is no half of a compaction,
    /// and a transcript shows it. (Whether it was taken back is another question.)
    #[must_use]
    pub fn is_said(&self) -> bool {
        let is_shown = !self.metadata.meta && self.metadata.visible_in_transcript;
        let is_aside = match &self.kind {
            Kind::CompactBoundary(_) | Kind::CompactSummary(_) => true,
            Kind::Custom(custom) => !custom.display,
            _ => false,
        };
        is_shown && !is_aside && self.takes_part()
    }

    /// The tool calls among the parts, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(Part::as_tool_call)
    }

    /// The tool results among the parts, in order.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.content.iter().filter_map(Part::as_tool_result)
    }

    /// The texts among the parts, joined by line breaks.
    #[must_use]
    pub fn joined_text(&self) -> String {
        self.content.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
    }
}

impl Role {
    /// The role's name, as it stands in the log and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = super::error::EventError;

    /// The role of this name.
    ///
    /// # Errors
    /// [`EventError::Field`](super::EventError::Field) if there is none.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "system" => Ok(Self::System),
            "user" => Ok(Self::User),
            "assistant" => Ok(Self::Assistant),
            "tool" => Ok(Self::Tool),
            _ => Err(super::error::EventError::Field {
                field: "role".to_owned(),
                expected: "system, user, assistant or tool",
                found: format!("{name:?}"),
            }),
        }
    }
}

impl Source {
    /// The name, as it stands in the log and in JSON.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Runtime => "runtime",
            Self::Hook => "hook",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for Source {
    fn from(name: String) -> Self {
        match name.as_str() {
            "user" => Self::User,
            "runtime" => Self::Runtime,
            "hook" => Self::Hook,
            "tool" => Self::Tool,
            "system" => Self::System,
            _ => Self::Other(name),
        }
    }
}
