//! An event without its contents: [`REDACTED`] in their place, and all that other events, pairing and order hang on as it was.
//!
//! Kept are ids, role, kind, times, flags, numbers, who made it (provider, model, agent) and the names of tools.

use super::body::{Body, Event};
use super::card::CardMessage;
use super::constants::REDACTED;
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
pub(crate) fn blank(event: &mut Event) -> Result<(), EventError> {
    match &mut event.body {
        Body::Message(message) => blank_message(message),
        Body::Tombstone(tombstone) => maybe(&mut tombstone.reason),
        Body::Amend(amend) => blank_patch(&mut amend.patch),
        Body::Prune(_) | Body::Head(_) | Body::ToolStarted(_) => {}
        Body::SessionMeta(meta) => {
            maybe(&mut meta.title);
            maybe(&mut meta.cwd);
            meta.tags.clear();
            meta.extra.clear();
        }
        Body::Extension(extension) => value(&mut extension.payload),
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
pub(crate) fn blank_results(event: &mut Event) {
    if let Body::Message(message) = &mut event.body {
        message.content.iter_mut().for_each(|part| {
            if let PartBody::ToolResult(result) = &mut part.body {
                blank_result(result);
                part.extra.clear();
            }
        });
    }
}

fn text(text: &mut String) {
    if !text.is_empty() {
        *text = REDACTED.to_owned();
    }
}

fn maybe(given: &mut Option<String>) {
    given.iter_mut().for_each(text);
}

fn value(given: &mut Value) {
    if !matches!(given, Value::Null) {
        *given = REDACTED.into();
    }
}

fn blank_message(message: &mut Message) {
    message.content.iter_mut().for_each(blank_part);
    blank_kind(&mut message.kind);
    blank_metadata(&mut message.metadata);
    message.usage.iter_mut().for_each(|usage| usage.extra.clear());
    message.extra.clear();
}

fn blank_part(part: &mut Part) {
    part.extra.clear();
    match &mut part.body {
        PartBody::Text(said) => text(&mut said.text),
        PartBody::Reasoning(reasoning) => {
            *reasoning = Reasoning { text: Some(REDACTED.to_owned()), ..Reasoning::default() };
        }
        PartBody::ToolCall(call) => {
            call.thought_signature = None;
            // Arguments are an object, to providers too.
            if call.input != ToolInput::None {
                call.input = ToolInput::Json(Value::from([("redacted", Value::from(REDACTED))]));
            }
        }
        PartBody::ToolResult(result) => blank_result(result),
        PartBody::ToolApprovalRequest(_) => {}
        PartBody::ToolApprovalResponse(response) => maybe(&mut response.reason),
        PartBody::Image(_) | PartBody::File(_) | PartBody::Opaque(_) | PartBody::Json(_) | PartBody::Unknown(_) => {
            *part = Part { provider: part.provider.take(), item_id: part.item_id.take(), ..Part::text(REDACTED) };
        }
    }
}

fn blank_result(result: &mut ToolResult) {
    match &mut result.output {
        ToolOutput::Text(output) => text(output),
        ToolOutput::Parts(parts) => parts.iter_mut().for_each(blank_part),
    }
    result.raw = None;
}

fn blank_metadata(metadata: &mut Metadata) {
    metadata.tags.clear();
    metadata.origin = None;
    metadata.extra = None;
    metadata.unknown.clear();
}

fn blank_kind(kind: &mut Kind) {
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
            text(&mut bash.command);
            text(&mut bash.output);
            maybe(&mut bash.full_output_path);
        }
        Kind::Custom(custom) => custom.details.iter_mut().for_each(value),
        Kind::Progress(progress) => progress.data.iter_mut().for_each(value),
        Kind::Attachment(attachment) => attachment.attachment.iter_mut().for_each(value),
        Kind::ToolUseSummary(summary) => text(&mut summary.summary),
        Kind::SystemEvent(event) => event.data.iter_mut().for_each(value),
        Kind::AssistantGroup(group) | Kind::Supervisor(group) | Kind::CompressedGroup(group) => {
            group.children.iter_mut().for_each(card);
        }
        Kind::AgentCouncil(council) => council.members.iter_mut().for_each(card),
        Kind::Tasks(Tasks { tasks }) | Kind::GroupTasks(Tasks { tasks }) => tasks.iter_mut().for_each(card),
        Kind::Task(task) => {
            maybe(&mut task.title);
            maybe(&mut task.instruction);
        }
        Kind::TaskCallback(callback) => text(&mut callback.task),
        Kind::Verify(verify) => maybe(&mut verify.feedback),
    }
}

/// A message inside a card; what is none becomes a text.
fn card(item: &mut Value) {
    let blanked = CardMessage::read(item).and_then(|mut card| {
        blank_message(&mut card.message);
        card.to_item()
    });
    match blanked {
        Ok(blanked) => *item = blanked,
        Err(_) => value(item),
    }
}

fn blank_patch(patch: &mut Fields) {
    patch.retain(|(name, _)| MESSAGE_FIELDS.contains(&name.as_str()));
    for (name, given) in patch {
        // What could not be read stays what can't be read: an amend that was refused is refused.
        let unreadable = |_| Value::Bool(true);
        match (name.as_str(), &mut *given) {
            (_, Value::Null) => {}
            ("content", given) => {
                let blanked = read_content(&mut only(name, given)).and_then(|mut parts| {
                    parts.iter_mut().for_each(blank_part);
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
            ("children" | "members" | "tasks", Value::List(items)) => items.iter_mut().for_each(card),
            (
                "details" | "data" | "attachment" | "command" | "output" | "full_output_path" | "summary" | "title"
                | "instruction" | "task" | "feedback",
                given,
            ) => value(given),
            _ => {}
        }
    }
}

fn only(name: &str, value: &Value) -> Reader<'static> {
    Reader::new(vec![(name.to_owned(), value.clone())], Style::Log)
}
