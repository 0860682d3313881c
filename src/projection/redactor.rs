//! Applies the rules of an export to every text that a message holds.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::diagnostics::Diagnostics;
use super::message::ProjectedMessage;
use super::redact::Redact;
use super::shared::Shared;
use crate::event::{
    Fields, HookPhase, Kind, Media, MediaSource, Part, PartBody, ToolInput, ToolOutput, ToolResult, Trigger, Value,
    decode_base64, encode_base64,
};

/// Applies rules to one message after the other, and remembers what became of ids, so that results still find their calls.
#[derive(Debug)]
pub struct Redactor<'r> {
    rules: &'r [Arc<dyn Redact>],
    /// Ids that a rule changed. What had different ids keeps different ones, so that results still find their calls.
    ids: HashMap<String, String>,
    used_ids: HashSet<String>,
    changed: bool,
}

impl<'r> Redactor<'r> {
    /// One that applies these rules, in this order.
    #[must_use]
    pub fn new(rules: &'r [Arc<dyn Redact>]) -> Self {
        Self { rules, ids: HashMap::new(), used_ids: HashSet::new(), changed: false }
    }

    /// Applies the rules to a message. True if it was changed.
    pub fn message(&mut self, message: &mut ProjectedMessage) -> bool {
        if self.rules.is_empty() {
            return false;
        }
        let mut any = false;
        for part in &mut message.content {
            let mut own = Part::clone(part);
            if self.tells_of_change(|redactor| redactor.part(&mut own)) {
                *part = Shared::from(own);
                any = true;
            }
        }
        let mut kind = Kind::clone(&message.kind);
        if self.tells_of_change(|redactor| redactor.kind(&mut kind)) {
            message.kind = Shared::from(kind);
            any = true;
        }
        any | self.tells_of_change(|redactor| {
            message.original_ids.iter_mut().for_each(|id| redactor.id(id));
            redactor.maybe(&mut message.provider);
            redactor.maybe(&mut message.model);
            message.message_id.iter_mut().for_each(|id| redactor.id(id));
        })
    }

    /// Applies the rules to what is said about the messages.
    pub(super) fn diagnostics(&mut self, diagnostics: &mut Diagnostics) {
        for item in &mut diagnostics.items {
            item.call.iter_mut().for_each(|call| self.id(call));
            self.text(&mut item.reason);
        }
    }

    fn tells_of_change(&mut self, work: impl FnOnce(&mut Self)) -> bool {
        self.changed = false;
        work(self);
        std::mem::take(&mut self.changed)
    }

    fn redacted(&self, text: &str) -> Option<String> {
        let mut shown = Cow::Borrowed(text);
        for rule in self.rules {
            shown = match shown {
                Cow::Borrowed(text) => rule.redact(text),
                Cow::Owned(text) => Cow::Owned(rule.redact(&text).into_owned()),
            };
        }
        (shown != text).then(|| shown.into_owned())
    }

    fn text(&mut self, text: &mut String) {
        if let Some(redacted) = self.redacted(text) {
            *text = redacted;
            self.changed = true;
        }
    }

    fn maybe(&mut self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.text(text));
    }

    fn id(&mut self, id: &mut String) {
        if let Some(known) = self.ids.get(id) {
            self.changed = true;
            id.clone_from(known);
            return;
        }
        let Some(redacted) = self.redacted(id) else { return };
        let mut own = redacted.clone();
        let mut times = 1;
        while !self.used_ids.insert(own.clone()) {
            times += 1;
            own = format!("{redacted}-{times}");
        }
        self.ids.insert(std::mem::replace(id, own.clone()), own);
        self.changed = true;
    }

    fn part(&mut self, part: &mut Part) {
        let had_changed = std::mem::take(&mut self.changed);
        match &mut part.body {
            PartBody::Text(text) => self.text(&mut text.text),
            PartBody::Reasoning(reasoning) => {
                self.maybe(&mut reasoning.text);
                if self.changed {
                    // The signature is for the old words, and the sealed forms hold them.
                    (reasoning.signature, reasoning.redacted, reasoning.encrypted) = (None, None, None);
                }
                self.maybe(&mut reasoning.signature);
                self.maybe(&mut reasoning.redacted);
                self.maybe(&mut reasoning.encrypted);
            }
            PartBody::ToolCall(call) => {
                self.text(&mut call.name);
                match &mut call.input {
                    ToolInput::None => {}
                    ToolInput::Json(value) => self.value(value),
                    ToolInput::Text(text) => self.text(text),
                }
                if self.changed {
                    call.thought_signature = None;
                }
                self.maybe(&mut call.thought_signature);
                self.id(&mut call.id);
            }
            PartBody::ToolResult(result) => self.result(result),
            PartBody::ToolApprovalRequest(request) => {
                self.id(&mut request.call_id);
                self.maybe(&mut request.approval_id);
            }
            PartBody::ToolApprovalResponse(response) => {
                self.id(&mut response.call_id);
                self.maybe(&mut response.approval_id);
                self.maybe(&mut response.reason);
            }
            PartBody::Image(media) | PartBody::File(media) => self.media(media),
            PartBody::Opaque(opaque) => self.value(&mut opaque.value),
            PartBody::Json(value) => self.value(value),
            PartBody::Unknown(name) => self.text(name),
        }
        self.maybe(&mut part.provider);
        self.maybe(&mut part.item_id);
        self.fields(&mut part.extra);
        self.changed |= had_changed;
    }

    fn result(&mut self, result: &mut ToolResult) {
        self.id(&mut result.call_id);
        self.maybe(&mut result.name);
        match &mut result.output {
            ToolOutput::Text(text) => self.text(text),
            ToolOutput::Parts(parts) => parts.iter_mut().for_each(|part| self.part(part)),
        }
        result.raw.iter_mut().for_each(|raw| self.value(raw));
    }

    fn media(&mut self, media: &mut Media) {
        self.text(&mut media.media_type);
        self.maybe(&mut media.name);
        match &mut media.source {
            MediaSource::Data(data) => self.data(data, 0),
            MediaSource::Url(url) => {
                const MARK: &str = ";base64,";
                let start = if url.starts_with("data:") { url.find(MARK) } else { None };
                match start {
                    Some(at) => self.data(url, at + MARK.len()),
                    None => self.text(url),
                }
            }
            MediaSource::Path(path) => self.text(path),
            MediaSource::Missing => {}
        }
    }

    /// Base64 text from a place on: the rules read what it stands for, if that is text.
    fn data(&mut self, data: &mut String, from: usize) {
        let Some(bytes) = decode_base64(&data[from..]) else { return self.text(data) };
        let Some(redacted) = std::str::from_utf8(&bytes).ok().and_then(|text| self.redacted(text)) else { return };
        data.truncate(from);
        data.push_str(&encode_base64(redacted.as_bytes()));
        self.changed = true;
    }

    fn value(&mut self, value: &mut Value) {
        let number = match value {
            Value::Null | Value::Bool(_) => return,
            Value::Text(text) => return self.text(text),
            Value::List(items) => return items.iter_mut().for_each(|item| self.value(item)),
            Value::Map(fields) => return self.fields(fields),
            Value::Bytes(bytes) => {
                if let Some(redacted) = std::str::from_utf8(bytes).ok().and_then(|text| self.redacted(text)) {
                    *bytes = redacted.into_bytes();
                    self.changed = true;
                }
                return;
            }
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Number(text) => text.clone(),
        };
        if let Some(redacted) = self.redacted(&number) {
            *value = Value::Text(redacted);
            self.changed = true;
        }
    }

    fn values(&mut self, values: &mut [Value]) {
        values.iter_mut().for_each(|value| self.value(value));
    }

    fn fields(&mut self, fields: &mut Fields) {
        for index in 0..fields.len() {
            self.value(&mut fields[index].1);
            let Some(redacted) = self.redacted(&fields[index].0) else { continue };
            // Two names must not become one: only one of the values would be left.
            let mut name = redacted.clone();
            let mut times = 1;
            while fields.iter().any(|(other, _)| *other == name) {
                times += 1;
                name = format!("{redacted}-{times}");
            }
            fields[index].0 = name;
            self.changed = true;
        }
    }

    fn hook(&mut self, hook: &mut Option<HookPhase>) {
        if let Some(HookPhase::Other(name)) = hook {
            self.text(name);
        }
    }

    fn kind(&mut self, kind: &mut Kind) {
        match kind {
            Kind::SystemNote
            | Kind::UserInput
            | Kind::AssistantText
            | Kind::AssistantReasoning
            | Kind::ToolCall
            | Kind::ToolResult
            | Kind::ToolApprovalRequest
            | Kind::ToolApprovalResponse
            | Kind::CompactSummary(_)
            | Kind::RuntimeReminder
            | Kind::HandoffSummary
            | Kind::AgentSwitchNote => {}
            Kind::CompactBoundary(boundary) => {
                if let Some(Trigger::Other(name)) = &mut boundary.trigger {
                    self.text(name);
                }
            }
            Kind::BashExecution(bash) => {
                self.text(&mut bash.command);
                self.text(&mut bash.output);
                self.maybe(&mut bash.full_output_path);
            }
            Kind::Custom(custom) => {
                self.text(&mut custom.custom_type);
                custom.details.iter_mut().for_each(|details| self.value(details));
            }
            Kind::BranchSummary(summary) => self.maybe(&mut summary.from_id),
            Kind::Progress(progress) => {
                progress.tool_use_id.iter_mut().for_each(|id| self.id(id));
                progress.parent_tool_use_id.iter_mut().for_each(|id| self.id(id));
                progress.data.iter_mut().for_each(|data| self.value(data));
                self.hook(&mut progress.hook_event);
            }
            Kind::Attachment(attachment) => {
                attachment.attachment.iter_mut().for_each(|value| self.value(value));
                attachment.tool_use_id.iter_mut().for_each(|id| self.id(id));
                self.hook(&mut attachment.hook_event);
            }
            Kind::ToolUseSummary(summary) => {
                self.text(&mut summary.summary);
                summary.tool_use_ids.iter_mut().for_each(|id| self.id(id));
            }
            Kind::SystemEvent(event) => {
                self.text(&mut event.subtype);
                self.maybe(&mut event.level);
                event.tool_use_id.iter_mut().for_each(|id| self.id(id));
                self.hook(&mut event.hook_event);
                event.data.iter_mut().for_each(|data| self.value(data));
            }
            Kind::AssistantGroup(card) | Kind::Supervisor(card) | Kind::CompressedGroup(card) => {
                self.values(&mut card.children);
            }
            Kind::AgentCouncil(card) => self.values(&mut card.members),
            Kind::Tasks(card) | Kind::GroupTasks(card) => self.values(&mut card.tasks),
            Kind::Task(task) => {
                self.maybe(&mut task.title);
                self.maybe(&mut task.instruction);
                self.maybe(&mut task.status);
            }
            Kind::TaskCallback(callback) => {
                self.text(&mut callback.task);
                self.text(&mut callback.status);
            }
            Kind::Verify(verify) => self.maybe(&mut verify.feedback),
        }
    }
}
