//! Which messages a view shows, kind by kind.
//!
//! Each `match` names every kind, so that a new one does not compile until both views have decided about it.

use super::diagnostics::code;
use super::options::Options;
use crate::event::{Kind, LOCAL_COMMAND, Message, Role};

/// Why a message is not shown: a code of [`code`] and words.
pub(super) type Hidden = (&'static str, &'static str);

/// The role in which the model sees a message, or why it does not.
pub(super) fn for_model(message: &Message, options: &Options) -> Result<Role, Hidden> {
    match message.metadata.sidechain {
        true => Err((code::SIDECHAIN_LEFT_OUT, "it belongs to a sub-agent's own line")),
        false => inside_card(message, options),
    }
}

/// The same of a message that a card holds: there, a sub-agent's line is what is to be seen.
pub(crate) fn inside_card(message: &Message, options: &Options) -> Result<Role, Hidden> {
    let metadata = &message.metadata;
    if !metadata.eligible_for_model_context {
        return Err((code::NOT_ELIGIBLE, "it is marked as not eligible for the model"));
    }
    if metadata.is_virtual {
        return Err((code::VIRTUAL_LEFT_OUT, "it is for the screen only"));
    }
    match &message.kind {
        Kind::SystemNote
        | Kind::UserInput
        | Kind::AssistantText
        | Kind::AssistantReasoning
        | Kind::ToolCall
        | Kind::ToolResult
        | Kind::ToolApprovalRequest
        | Kind::ToolApprovalResponse
        | Kind::HandoffSummary
        | Kind::AssistantGroup(_)
        | Kind::AgentCouncil(_)
        | Kind::Supervisor(_)
        | Kind::CompressedGroup(_)
        | Kind::Task(_)
        | Kind::Tasks(_)
        | Kind::GroupTasks(_) => Ok(message.role),
        Kind::CompactSummary(_)
        | Kind::Custom(_)
        | Kind::BranchSummary(_)
        | Kind::Attachment(_)
        | Kind::TaskCallback(_) => Ok(Role::User),
        Kind::CompactBoundary(_) => Err((code::KIND_LEFT_OUT, "a boundary only marks where the view begins")),
        Kind::RuntimeReminder if options.runtime_reminders => match (&metadata.agent_name, &options.active_agent) {
            (Some(named), Some(active)) if named != active => {
                Err((code::REMINDER_LEFT_OUT, "it is for another agent than the active one"))
            }
            _ => Ok(message.role),
        },
        Kind::RuntimeReminder => Err((code::REMINDER_LEFT_OUT, "the options leave out reminders")),
        Kind::AgentSwitchNote => Err((code::KIND_LEFT_OUT, "notes of a switch of agents are for people")),
        Kind::BashExecution(bash) if bash.exclude_from_context => {
            Err((code::EXCLUDED_BASH_LEFT_OUT, "the person kept the command from the model"))
        }
        Kind::BashExecution(_) => Ok(Role::User),
        Kind::Progress(_) => Err((code::KIND_LEFT_OUT, "progress is for the screen")),
        Kind::ToolUseSummary(_) => Err((code::KIND_LEFT_OUT, "summaries of tool uses are for the screen")),
        Kind::SystemEvent(event) if event.subtype == LOCAL_COMMAND => Ok(Role::User),
        Kind::SystemEvent(_) => Err((code::KIND_LEFT_OUT, "system events are for the screen")),
        Kind::Verify(verify) if verify.feedback.is_none() => {
            Err((code::KIND_LEFT_OUT, "a verification without feedback is for the screen"))
        }
        Kind::Verify(_) => Ok(Role::User),
    }
}

/// Whether the transcript shows a message, or why not.
pub(super) fn for_transcript(message: &Message) -> Result<(), Hidden> {
    let metadata = &message.metadata;
    if metadata.sidechain {
        return Err((code::SIDECHAIN_LEFT_OUT, "it belongs to a sub-agent's own line"));
    }
    if metadata.meta {
        return Err((code::META_LEFT_OUT, "it is for the model only"));
    }
    if !metadata.visible_in_transcript {
        return Err((code::NOT_VISIBLE, "it is marked as not visible in the transcript"));
    }
    match &message.kind {
        Kind::SystemNote
        | Kind::UserInput
        | Kind::AssistantText
        | Kind::AssistantReasoning
        | Kind::ToolCall
        | Kind::ToolResult
        | Kind::ToolApprovalRequest
        | Kind::ToolApprovalResponse
        | Kind::CompactBoundary(_)
        | Kind::CompactSummary(_)
        | Kind::RuntimeReminder
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote
        | Kind::BashExecution(_)
        | Kind::BranchSummary(_)
        | Kind::Progress(_)
        | Kind::Attachment(_)
        | Kind::ToolUseSummary(_)
        | Kind::SystemEvent(_)
        | Kind::AssistantGroup(_)
        | Kind::AgentCouncil(_)
        | Kind::Supervisor(_)
        | Kind::CompressedGroup(_)
        | Kind::Task(_)
        | Kind::Tasks(_)
        | Kind::GroupTasks(_)
        | Kind::TaskCallback(_)
        | Kind::Verify(_) => Ok(()),
        Kind::Custom(custom) if !custom.display => Err((code::NOT_VISIBLE, "its application does not display it")),
        Kind::Custom(_) => Ok(()),
    }
}
