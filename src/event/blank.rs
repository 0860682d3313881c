//! An event without its contents: a mark in their place, and all that other events, pairing and order hang on as it was.
//!
//! Kept are ids, role, kind, times, flags, numbers, who made it (provider, model, agent) and the names of tools.

use super::body::{Body, Event};
use super::card::CardMessage;
use super::error::EventError;
use super::kind::{Kind, Tasks};
use super::message::{Message, Metadata};
use super::names::Style;
use super::part::{Part, PartBody, Reasoning, ToolInput, ToolOutput, ToolResult};
use super::read::Reader;
use super::shape::{MESSAGE_FIELDS, read_content, read_metadata_field, to_value};
use super::value::{Fields, Value};

/// Takes the contents out of an event. Of a change they are what it brings: what an amend puts into its message.
///
/// # Errors
/// [`EventError::NotStorable`] for an event of a type or kind that this version does not know: what of it is content,
/// it can't tell.
pub(crate) fn blank(event: &mut Event, mark: &'static str) -> Result<(), EventError> {
    match &mut event.body {
        Body::Message(message) => blank_message(message, mark),
        Body::Tombstone(tombstone) => maybe(&mut tombstone.reason, mark),
        Body::Amend(amend) => blank_patch(&mut amend.patch, mark),
        Body::Prune(_) | Body::Head(_) | Body::ToolStarted(_) => {}
        Body::SessionMeta(meta) => {
            maybe(&mut meta.title, mark);
            maybe(&mut meta.cwd, mark);
            meta.tags.clear();
            meta.extra.clear();
        }
        Body::Extension(extension) => value(&mut extension.payload, mark),
        Body::Unknown(unknown) => {
            let name = unknown.kind.as_deref().unwrap_or(&unknown.event_type);
            let why = format!("`{name}` is not known to this version, which can't tell what of it is content");
            return Err(EventError::NotStorable { why });
        }
    }
    event.extra.clear();
    Ok(())
}

/// Takes the outputs of the tool results out of a message; all else stays.
pub(crate) fn blank_results(event: &mut Event, mark: &'static str) {
    if let Body::Message(message) = &mut event.body {
        message.content.iter_mut().for_each(|part| {
            if let PartBody::ToolResult(result) = &mut part.body {
                blank_result(result, mark);
                part.extra.clear();
            }
        });
    }
}

/// The mark without its brackets, as the name of a field.
fn word(mark: &'static str) -> &'static str {
    mark.trim_matches(['[', ']']).split(' ').next().unwrap_or_default()
}

fn text(text: &mut String, mark: &'static str) {
    if !text.is_empty() {
        *text = mark.to_owned();
    }
}

fn maybe(given: &mut Option<String>, mark: &'static str) {
    given.iter_mut().for_each(|one| text(one, mark));
}

fn value(given: &mut Value, mark: &'static str) {
    if !matches!(given, Value::Null) {
        *given = mark.into();
    }
}

fn blank_message(message: &mut Message, mark: &'static str) {
    message.content.iter_mut().for_each(|one| blank_part(one, mark));
    blank_kind(&mut message.kind, mark);
    blank_metadata(&mut message.metadata);
    message.usage.iter_mut().for_each(|usage| usage.extra.clear());
    message.extra.clear();
}

fn blank_part(part: &mut Part, mark: &'static str) {
    part.extra.clear();
    match &mut part.body {
        PartBody::Text(said) => text(&mut said.text, mark),
        PartBody::Reasoning(reasoning) => {
            *reasoning = Reasoning { text: Some(mark.to_owned()), ..Reasoning::default() };
        }
        PartBody::ToolCall(call) => {
            call.thought_signature = None;
            // Arguments are an object, to providers too.
            if call.input != ToolInput::None {
                call.input = ToolInput::Json(Value::from([(word(mark), Value::from(mark))]));
            }
        }
        PartBody::ToolResult(result) => blank_result(result, mark),
        PartBody::ToolApprovalRequest(_) => {}
        PartBody::ToolApprovalResponse(response) => maybe(&mut response.reason, mark),
        PartBody::Image(_) | PartBody::File(_) | PartBody::Opaque(_) | PartBody::Json(_) | PartBody::Unknown(_) => {
            *part = Part { provider: part.provider.take(), item_id: part.item_id.take(), ..Part::text(mark) };
        }
    }
}

fn blank_result(result: &mut ToolResult, mark: &'static str) {
    match &mut result.output {
        ToolOutput::Text(output) => text(output, mark),
        ToolOutput::Parts(parts) => parts.iter_mut().for_each(|one| blank_part(one, mark)),
    }
    result.raw = None;
}

fn blank_metadata(metadata: &mut Metadata) {
    metadata.tags.clear();
    metadata.origin = None;
    metadata.extra = None;
    metadata.unknown.clear();
}

fn blank_kind(kind: &mut Kind, mark: &'static str) {
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
        | Kind::RuntimeReminder
        | Kind::HandoffSummary
        | Kind::AgentSwitchNote
        | Kind::BranchSummary(_) => {}
        Kind::BashExecution(bash) => {
            text(&mut bash.command, mark);
            text(&mut bash.output, mark);
            maybe(&mut bash.full_output_path, mark);
        }
        Kind::Custom(custom) => custom.details.iter_mut().for_each(|one| value(one, mark)),
        Kind::Progress(progress) => progress.data.iter_mut().for_each(|one| value(one, mark)),
        Kind::Attachment(attachment) => attachment.attachment.iter_mut().for_each(|one| value(one, mark)),
        Kind::ToolUseSummary(summary) => text(&mut summary.summary, mark),
        Kind::SystemEvent(event) => event.data.iter_mut().for_each(|one| value(one, mark)),
        Kind::AssistantGroup(group) | Kind::Supervisor(group) | Kind::CompressedGroup(group) => {
            group.children.iter_mut().for_each(|one| card(one, mark));
        }
        Kind::AgentCouncil(council) => council.members.iter_mut().for_each(|one| card(one, mark)),
        Kind::Tasks(Tasks { tasks }) | Kind::GroupTasks(Tasks { tasks }) => {
            tasks.iter_mut().for_each(|one| card(one, mark))
        }
        Kind::Task(task) => {
            maybe(&mut task.title, mark);
            maybe(&mut task.instruction, mark);
        }
        Kind::TaskCallback(callback) => text(&mut callback.task, mark),
        Kind::Verify(verify) => maybe(&mut verify.feedback, mark),
    }
}

/// A message inside a card; what is none becomes a text.
fn card(item: &mut Value, mark: &'static str) {
    let blanked = CardMessage::read(item).and_then(|mut card| {
        blank_message(&mut card.message, mark);
        card.to_item()
    });
    match blanked {
        Ok(blanked) => *item = blanked,
        Err(_) => value(item, mark),
    }
}

fn blank_patch(patch: &mut Fields, mark: &'static str) {
    patch.retain(|(name, _)| MESSAGE_FIELDS.contains(&name.as_str()));
    for (name, given) in patch {
        // What could not be read stays what can't be read: an amend that was refused is refused.
        let unreadable = |_| Value::Bool(true);
        match (name.as_str(), &mut *given) {
            (_, Value::Null) => {}
            ("content", given) => {
                let blanked = read_content(&mut only(name, given)).and_then(|mut parts| {
                    parts.iter_mut().for_each(|one| blank_part(one, mark));
                    to_value(&parts, Style::Log)
                });
                *given = blanked.unwrap_or_else(unreadable);
            }
            ("metadata", given) => {
                let blanked = read_metadata_field(&mut only(name, given)).and_then(|mut metadata| {
                    blank_metadata(&mut metadata);
                    to_value(&metadata, Style::Log)
                });
                *given = blanked.unwrap_or_else(unreadable);
            }
            ("usage", Value::Map(usage)) => usage.retain(|(_, value)| value.as_i64().is_some()),
            ("children" | "members" | "tasks", Value::List(items)) => items.iter_mut().for_each(|one| card(one, mark)),
            (
                "details" | "data" | "attachment" | "command" | "output" | "full_output_path" | "summary" | "title"
                | "instruction" | "task" | "feedback",
                given,
            ) => value(given, mark),
            _ => {}
        }
    }
}

fn only(name: &str, value: &Value) -> Reader<'static> {
    Reader::new(vec![(name.to_owned(), value.clone())], Style::Log)
}
