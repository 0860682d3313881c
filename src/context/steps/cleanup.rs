//! The last look: what no provider takes goes, and what failed says so.

use crate::context::{BoxError, Context, Processor, code};
use crate::event::{Part, PartBody, Role, ToolOutput, ToolResult, Value};
use crate::projection::{Diagnostic, ProjectedMessage, Shared, code as seen, is_blank};

/// The step's name.
pub const NAME: &str = "cleanup";

/// Leaves in each message the parts that its role can have, and drops texts without words and messages without parts.
///
/// | role | parts |
/// | --- | --- |
/// | system | text |
/// | user, tool | text, json, picture, file, result, answer about a call, a provider's own |
/// | assistant | text, json, picture, file, reasoning, call, result, a provider's own |
///
/// These are the parts that a request's body can be made of; which of them a provider takes is decided there. A
/// result without output whose `raw` holds an error (`error`: a text, or an object with a `message`) gets that text for
/// its output and counts as failed.
///
/// It runs last.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cleanup;

impl Processor for Cleanup {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let say = &mut context.diagnostics;
        context.messages.retain_mut(|message| {
            clean(message, say);
            !message.content.is_empty()
        });
        Ok(())
    }
}

fn clean(message: &mut ProjectedMessage, say: &mut Vec<Diagnostic>) {
    let ProjectedMessage { role, content, source_message_ids: ids, .. } = message;
    if content.is_empty() {
        say.push(Diagnostic::new(seen::BLANK_TEXT_LEFT_OUT, ids.iter().copied(), "the message has no content"));
    }
    content.retain_mut(|part| {
        if part.as_text().is_some_and(is_blank) {
            say.push(Diagnostic::new(seen::BLANK_TEXT_LEFT_OUT, ids.iter().copied(), "a text is blank"));
            return false;
        }
        if !can_hold(*role, &part.body) {
            let reason =
                format!("a message of the role {} has no part of the type {}", role.name(), part.body.type_name());
            say.push(Diagnostic::new(seen::PART_LEFT_OUT, ids.iter().copied(), reason));
            return false;
        }
        if let Some(failed) = part.as_tool_result().and_then(failed) {
            let item = Diagnostic::new(code::ERROR_AS_OUTPUT, ids.iter().copied(), "it failed and had no output");
            say.push(item.about_call(&failed.call_id));
            let (provider, item_id, extra) = (part.provider.clone(), part.item_id.clone(), part.extra.clone());
            *part = Shared::from(Part { body: PartBody::ToolResult(failed), provider, item_id, extra });
        }
        true
    });
}

/// Whether a message of this role can have such a part.
fn can_hold(role: Role, body: &PartBody) -> bool {
    match (body, role) {
        (PartBody::Text(_), _) => true,
        (_, Role::System) => false,
        (PartBody::Json(_) | PartBody::Image(_) | PartBody::File(_) | PartBody::Opaque(_), _) => true,
        // An assistant message may hold the result of a tool that its provider ran.
        (PartBody::ToolResult(_), _) => true,
        (PartBody::ToolApprovalResponse(_), _) => role != Role::Assistant,
        (PartBody::Reasoning(_) | PartBody::ToolCall(_), _) => role == Role::Assistant,
        _ => false,
    }
}

/// The result with its error for its output, if it has an error and no output.
fn failed(result: &ToolResult) -> Option<ToolResult> {
    let is_empty = match &result.output {
        ToolOutput::Text(text) => is_blank(text),
        ToolOutput::Parts(parts) => parts.iter().all(|part| part.as_text().is_some_and(is_blank)),
    };
    let error = result.raw.as_ref().filter(|_| is_empty)?.get("error")?;
    let text =
        error.as_text().or_else(|| error.get("message").and_then(Value::as_text)).filter(|text| !is_blank(text))?;
    let (call_id, name) = (result.call_id.clone(), result.name.clone());
    Some(ToolResult { call_id, name, output: ToolOutput::Text(text.to_owned()), is_error: true, raw: None })
}
