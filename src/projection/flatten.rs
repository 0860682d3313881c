//! Kinds that the model knows nothing of, as plain user text.

use super::cards;
use super::document::to_json;
use super::shared::Shared;
use crate::event::{
    Attachment, BashExecution, Children, Kind, Message, Part, PartBody, Task, TaskCallback, ToolUseSummary, Verify,
};

/// Stands before the summary of a compaction.
pub const COMPACT_SUMMARY_PREFIX: &str =
    "Earlier messages of this conversation were compacted. This summary stands in their place:\n\n<summary>\n";
/// Stands behind the summary of a compaction.
pub const COMPACT_SUMMARY_SUFFIX: &str = "\n</summary>";
/// Stands before the summary of a branch that was left.
pub const BRANCH_SUMMARY_PREFIX: &str =
    "The conversation came back here from another branch. This is a summary of that branch:\n\n<summary>\n";
/// Stands behind the summary of a branch.
pub const BRANCH_SUMMARY_SUFFIX: &str = "\n</summary>";

/// The parts of a message as the model reads them: its own (`own`, without what the view leaves out), and for a kind
/// with fields of its own what these say.
pub(crate) fn parts(message: &Message, own: Vec<Shared<Part>>) -> Vec<Shared<Part>> {
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
        | Kind::RuntimeReminder
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote
        | Kind::Custom(_)
        | Kind::Progress(_) => own,
        Kind::CompactSummary(_) => wrapped(&own, COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX),
        Kind::BranchSummary(_) => wrapped(&own, BRANCH_SUMMARY_PREFIX, BRANCH_SUMMARY_SUFFIX),
        Kind::BashExecution(bash) => vec![Part::text(bash_as_text(bash)).into()],
        Kind::Attachment(attachment) => attached(&own, attachment),
        Kind::ToolUseSummary(summary) => or_else(&own, || used(summary)),
        Kind::SystemEvent(event) => or_else(&own, || event.data.as_ref().map(to_json).unwrap_or_default()),
        Kind::AssistantGroup(card) => group(&own, "The answers of a group of agents:", card),
        Kind::Supervisor(card) => group(&own, "A supervisor and its agents:", card),
        Kind::CompressedGroup(card) => or_else(&own, || cards::lines("Compressed messages:", &card.children)),
        Kind::AgentCouncil(card) => with_text(&own, cards::lines("The answers of a council of agents:", &card.members)),
        Kind::Tasks(card) => with_text(&own, cards::lines("Tasks:", &card.tasks)),
        Kind::GroupTasks(card) => with_text(&own, cards::lines("Tasks of a group of agents:", &card.tasks)),
        Kind::Task(task) => with_text(&own, task_text(task)),
        Kind::TaskCallback(callback) => with_text(&own, callback_text(callback)),
        Kind::Verify(verify) => with_text(&own, verify_text(verify)),
    }
}

/// A command and what it printed, as text.
#[must_use]
pub fn bash_as_text(bash: &BashExecution) -> String {
    let mut text = format!("Ran `{}`\n", bash.command);
    if bash.output.is_empty() {
        text.push_str("(no output)");
    } else {
        let fence = "`".repeat(longest_run_of_backticks(&bash.output).saturating_add(1).max(3));
        text.push_str(&format!("{fence}\n{}\n{fence}", bash.output));
    }
    if bash.cancelled {
        text.push_str("\n\n(command cancelled)");
    } else if let Some(code) = bash.exit_code.filter(|&code| code != 0) {
        text.push_str(&format!("\n\nCommand exited with code {code}"));
    }
    if bash.truncated {
        match &bash.full_output_path {
            Some(path) => text.push_str(&format!("\n\n[Output truncated. Full output: {path}]")),
            None => text.push_str("\n\n[Output truncated.]"),
        }
    }
    text
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn wrapped(own: &[Shared<Part>], prefix: &str, suffix: &str) -> Vec<Shared<Part>> {
    let texts: Vec<&str> = own.iter().filter_map(|part| part.as_text()).collect();
    let mut parts = vec![Part::text(format!("{prefix}{}{suffix}", texts.join("\n\n"))).into()];
    // A summary is text; what else it may hold is not lost.
    parts.extend(own.iter().filter(|part| !matches!(part.body, PartBody::Text(_))).cloned());
    parts
}

fn or_else(own: &[Shared<Part>], text: impl FnOnce() -> String) -> Vec<Shared<Part>> {
    if says_something(own) { own.to_vec() } else { with_text(&[], text()) }
}

fn with_text(own: &[Shared<Part>], text: String) -> Vec<Shared<Part>> {
    let mut parts = own.to_vec();
    if !text.is_empty() {
        parts.push(Part::text(text).into());
    }
    parts
}

fn says_something(own: &[Shared<Part>]) -> bool {
    own.iter().any(|part| part.as_text().is_none_or(|text| !text.trim().is_empty()))
}

fn attached(own: &[Shared<Part>], attachment: &Attachment) -> Vec<Shared<Part>> {
    or_else(own, || {
        attachment.attachment.as_ref().map(|value| format!("Attachment: {}", to_json(value))).unwrap_or_default()
    })
}

fn used(summary: &ToolUseSummary) -> String {
    summary.summary.clone()
}

fn group(own: &[Shared<Part>], title: &str, card: &Children) -> Vec<Shared<Part>> {
    with_text(own, cards::lines(title, &card.children))
}

fn task_text(task: &Task) -> String {
    let fields = [("Task", &task.title), ("Instruction", &task.instruction), ("Status", &task.status)];
    let lines = fields.iter().filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}: {value}")));
    lines.collect::<Vec<_>>().join("\n")
}

fn callback_text(callback: &TaskCallback) -> String {
    format!("Task {} reports: {}", callback.task, callback.status)
}

fn verify_text(verify: &Verify) -> String {
    verify.feedback.as_ref().map(|feedback| format!("Feedback: {feedback}")).unwrap_or_default()
}
