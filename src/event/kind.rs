//! The closed list of message kinds, each with the fields of its own.
//!
//! The list is closed on purpose: a `match` over [`Kind`] has no wildcard, so that a new kind does not compile until
//! every view has decided about it.

use super::id::Uuid;
use super::value::Value;

/// What a message is, with the kind's own fields.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names are the documentation where a kind has no fields")]
pub enum Kind {
    SystemNote,
    UserInput,
    AssistantText,
    AssistantReasoning,
    ToolCall,
    ToolResult,
    ToolApprovalRequest,
    ToolApprovalResponse,
    CompactBoundary(CompactBoundary),
    CompactSummary(CompactSummary),
    RuntimeReminder,
    HandoffSummary,
    AgentSwitchNote,
    BashExecution(BashExecution),
    Custom(Custom),
    BranchSummary(BranchSummary),
    Progress(Progress),
    Attachment(Attachment),
    ToolUseSummary(ToolUseSummary),
    SystemEvent(SystemEvent),
    AssistantGroup(Children),
    AgentCouncil(AgentCouncil),
    Supervisor(Children),
    CompressedGroup(Children),
    Task(Task),
    Tasks(Tasks),
    GroupTasks(Tasks),
    TaskCallback(TaskCallback),
    Verify(Verify),
}

/// Marks where a compaction cut, and names what it kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompactBoundary {
    /// The kept messages in chain order, and those that the kept ones need (see [`Kept`]).
    pub keep: Vec<Kept>,
    /// Who asked for the compaction.
    pub trigger: Option<Trigger>,
    /// Frames that a replay from here must read beside the kept messages, in file order: the approvals and the
    /// `tool_started` of calls that are open. Offsets in the log.
    pub carried: Vec<Kept>,
    /// Offset of the session meta that holds, 0 if there is none.
    pub meta_offset: u64,
    /// The last id that this session made itself, nil if none.
    pub last_id: Uuid,
}

/// A message that a compaction keeps: its id, where it lies, and where it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The message's id.
    pub id: Uuid,
    /// Its offset in the log; a hint (0: not known), checked against the id.
    pub offset: u64,
    /// The changes (amend, prune, tombstone) that hold for it already, in file order.
    pub changed: Vec<Changed>,
}

/// A change that holds for a kept message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The change's id.
    pub id: Uuid,
    /// Its offset in the log; a hint like [`Kept::offset`].
    pub offset: u64,
}

/// Who asked for a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// The agent, because the window was full.
    Auto,
    /// A person.
    Manual,
    /// A name that this version does not know.
    Other(String),
}

/// What a compaction put in the place of what it left out. The text is the message's content, stored raw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompactSummary {
    /// Tokens in the window before the compaction.
    pub tokens_before: Option<u64>,
}

/// A command that the person ran beside the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BashExecution {
    /// The command line.
    pub command: String,
    /// What it printed.
    pub output: String,
    /// Its exit code, if it ended.
    pub exit_code: Option<i64>,
    /// The person stopped it.
    pub cancelled: bool,
    /// The output was cut.
    pub truncated: bool,
    /// The person does not want the model to see it.
    pub exclude_from_context: bool,
    /// Where the whole output lies.
    pub full_output_path: Option<String>,
}

/// An application's own message. Its content goes to the model as the user's.
#[derive(Debug, Clone, PartialEq)]
pub struct Custom {
    /// The application's name for the type.
    pub custom_type: String,
    /// Whether the transcript shows it.
    pub display: bool,
    /// Anything.
    pub details: Option<Value>,
}

/// A summary of a branch that was left.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BranchSummary {
    /// The leaf of that branch, as it was named.
    pub from_id: Option<String>,
}

/// How far a tool is; for a screen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// The call that it tells of.
    pub tool_use_id: Option<String>,
    /// The call above that one.
    pub parent_tool_use_id: Option<String>,
    /// Anything.
    pub data: Option<Value>,
    /// The hook that it tells of.
    pub hook_event: Option<HookPhase>,
}

/// Injected context that hangs beside what it belongs to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attachment {
    /// The attachment as it was recorded.
    pub attachment: Option<Value>,
    /// The call that it belongs to.
    pub tool_use_id: Option<String>,
    /// The hook that brought it.
    pub hook_event: Option<HookPhase>,
}

/// A short text in the place of several tool calls, for a screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolUseSummary {
    /// The text.
    pub summary: String,
    /// The calls.
    pub tool_use_ids: Vec<String>,
}

/// Something that the runtime tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SystemEvent {
    /// What it tells of, such as `local_command` or `api_error`; the list is open.
    pub subtype: String,
    /// How grave it is.
    pub level: Option<String>,
    /// The call that it tells of.
    pub tool_use_id: Option<String>,
    /// The hook that it tells of.
    pub hook_event: Option<HookPhase>,
    /// Anything.
    pub data: Option<Value>,
}

/// Whether a hook ran before or after its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookPhase {
    /// Before.
    Pre,
    /// After.
    Post,
    /// A name that this version does not know.
    Other(String),
}

/// A card that holds messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Children {
    /// The messages, as events without a parent.
    pub children: Vec<Value>,
}

/// A card that holds the answers of several agents.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentCouncil {
    /// The answers, as events without a parent.
    pub members: Vec<Value>,
}

/// A task that was given to another agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Task {
    /// Its title.
    pub title: Option<String>,
    /// What is to be done.
    pub instruction: Option<String>,
    /// How far it is.
    pub status: Option<String>,
}

/// A card that holds tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tasks {
    /// The tasks, as events without a parent.
    pub tasks: Vec<Value>,
}

/// A task reports back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskCallback {
    /// The task.
    pub task: String,
    /// How it ended.
    pub status: String,
}

/// A person or a program looks at a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verify {
    /// What was said; none: for the screen only.
    pub feedback: Option<String>,
}

impl Kind {
    /// The kind's name, in snake_case, as it stands in the log and in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::SystemNote => "system_note",
            Self::UserInput => "user_input",
            Self::AssistantText => "assistant_text",
            Self::AssistantReasoning => "assistant_reasoning",
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::ToolApprovalRequest => "tool_approval_request",
            Self::ToolApprovalResponse => "tool_approval_response",
            Self::CompactBoundary(_) => "compact_boundary",
            Self::CompactSummary(_) => "compact_summary",
            Self::RuntimeReminder => "runtime_reminder",
            Self::HandoffSummary => "handoff_summary",
            Self::AgentSwitchNote => "agent_switch_note",
            Self::BashExecution(_) => "bash_execution",
            Self::Custom(_) => "custom",
            Self::BranchSummary(_) => "branch_summary",
            Self::Progress(_) => "progress",
            Self::Attachment(_) => "attachment",
            Self::ToolUseSummary(_) => "tool_use_summary",
            Self::SystemEvent(_) => "system_event",
            Self::AssistantGroup(_) => "assistant_group",
            Self::AgentCouncil(_) => "agent_council",
            Self::Supervisor(_) => "supervisor",
            Self::CompressedGroup(_) => "compressed_group",
            Self::Task(_) => "task",
            Self::Tasks(_) => "tasks",
            Self::GroupTasks(_) => "group_tasks",
            Self::TaskCallback(_) => "task_callback",
            Self::Verify(_) => "verify",
        }
    }

    /// Whether a message of this kind takes part in the chain of parents. Those that do not (`progress`,
    /// `system_event`, `tool_use_summary`) never become the leaf.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        !matches!(self, Self::Progress(_) | Self::SystemEvent(_) | Self::ToolUseSummary(_))
    }
}

impl Trigger {
    /// The name, as it stands in the log and in JSON.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for Trigger {
    fn from(name: String) -> Self {
        match name.as_str() {
            "auto" => Self::Auto,
            "manual" => Self::Manual,
            _ => Self::Other(name),
        }
    }
}

impl HookPhase {
    /// The name, as it stands in the log and in JSON.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Pre => "pre",
            Self::Post => "post",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for HookPhase {
    fn from(name: String) -> Self {
        match name.as_str() {
            "pre" => Self::Pre,
            "post" => Self::Post,
            _ => Self::Other(name),
        }
    }
}
