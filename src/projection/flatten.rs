//! Kinds that the model knows nothing of, as plain user text.

use super::cards;
use super::document::to_json;
use super::shared::Shared;
use crate::event::{Attachment, BashExecution, InJson, Kind, Message, Part, PartBody, Task, TaskCallback, Verify};

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
        Kind::CompactSummary(_) => wrapped(&own, COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX),
        Kind::BranchSummary(_) => wrapped(&own, BRANCH_SUMMARY_PREFIX, BRANCH_SUMMARY_SUFFIX),
        Kind::BashExecution(bash) => vec![Part::text(bash_as_text(bash)).into()],
        kind if stands_in(kind) && says_something(own.iter().map(|part| &**part)) => own,
        kind if stands_in(kind) => with_text(Vec::new(), in_words(kind)),
        kind => with_text(own, in_words(kind)),
    }
}

/// What a message of this kind says beside its parts: what stands in the kind's own fields, in the words in which the
/// model reads it. Where neither these nor the parts have any words, the fields are given as JSON. None if nothing is
/// left to be said.
#[must_use]
pub fn said_in_fields<'a>(kind: &Kind, parts: impl IntoIterator<Item = &'a Part>) -> Option<String> {
    let is_said = says_something(parts);
    // What the model is spared beside its summary is part of the story.
    let words = match kind {
        Kind::CompressedGroup(_) => in_words(kind),
        kind if stands_in(kind) => String::new(),
        kind => in_words(kind),
    };
    if is_said || !words.is_empty() {
        return Some(words).filter(|words| !words.is_empty());
    }
    match kind {
        Kind::ToolUseSummary(summary) if !summary.summary.is_empty() => Some(summary.summary.clone()),
        kind => serde_json::to_string(&InJson(kind)).ok().filter(|fields| fields != "{}"),
    }
}

/// Whether the fields of this kind say for the model what its parts do not, and nothing beside them.
fn stands_in(kind: &Kind) -> bool {
    matches!(kind, Kind::Attachment(_) | Kind::ToolUseSummary(_) | Kind::SystemEvent(_) | Kind::CompressedGroup(_))
}

/// What the fields of a kind say in words.
fn in_words(kind: &Kind) -> String {
    match kind {
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
        | Kind::BranchSummary(_)
        | Kind::RuntimeReminder
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote
        | Kind::Custom(_)
        | Kind::Progress(_) => String::new(),
        Kind::BashExecution(bash) => bash_as_text(bash),
        Kind::Attachment(attachment) => attached(attachment),
        Kind::ToolUseSummary(summary) => summary.summary.clone(),
        Kind::SystemEvent(event) => event.data.as_ref().map(to_json).unwrap_or_default(),
        Kind::AssistantGroup(card) => cards::lines("The answers of a group of agents:", &card.children),
        Kind::Supervisor(card) => cards::lines("A supervisor and its agents:", &card.children),
        Kind::CompressedGroup(card) => cards::lines("Compressed messages:", &card.children),
        Kind::AgentCouncil(card) => cards::lines("The answers of a council of agents:", &card.members),
        Kind::Tasks(card) => cards::lines("Tasks:", &card.tasks),
        Kind::GroupTasks(card) => cards::lines("Tasks of a group of agents:", &card.tasks),
        Kind::Task(task) => task_text(task),
        Kind::TaskCallback(callback) => callback_text(callback),
        Kind::Verify(verify) => verify_text(verify),
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

fn with_text(mut parts: Vec<Shared<Part>>, text: String) -> Vec<Shared<Part>> {
    if !text.is_empty() {
        parts.push(Part::text(text).into());
    }
    parts
}

fn says_something<'a>(parts: impl IntoIterator<Item = &'a Part>) -> bool {
    parts.into_iter().any(|part| part.as_text().is_none_or(|text| !text.trim().is_empty()))
}

fn attached(attachment: &Attachment) -> String {
    attachment.attachment.as_ref().map(|value| format!("Attachment: {}", to_json(value))).unwrap_or_default()
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
