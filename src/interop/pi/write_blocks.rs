//! Parts to the blocks of a message's content.

use crate::event::{
    Fields, Media, MediaSource, Part, PartBody, Reasoning, ToolCall, ToolInput, ToolOutput, Uuid, Value,
};
use crate::interop::fields::put;
use crate::interop::leaving_names::ToolNames;
use crate::interop::leaving_source::call_id;
use crate::interop::leaving_told::{Told, lost};
use crate::projection::media_note;

/// Whose parts they are, and who is told what gets lost.
pub(super) struct Blocks<'t> {
    /// Entries of this format: everything goes back as it came.
    pub(super) is_own: bool,
    /// The message's provider: only what is its own has a signature.
    pub(super) provider: Option<String>,
    /// Names of tools as providers take them; none: they stay as they are.
    pub(super) tools: Option<&'t ToolNames>,
    pub(super) event: Uuid,
    pub(super) told: &'t mut Told,
}

impl Blocks<'_> {
    /// The blocks of these parts; a result is none.
    pub(super) fn of<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) -> Vec<Value> {
        parts.into_iter().filter_map(|part| self.block(part)).collect()
    }

    /// A content that is one text stands so.
    pub(super) fn content<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) -> Value {
        let mut blocks = self.of(parts);
        match blocks.as_slice() {
            [Value::Map(fields)] if fields.len() == 2 && fields[0].1.as_text() == Some("text") => {
                let Some(Value::Map(fields)) = blocks.pop() else { return Value::Null };
                fields.into_iter().nth(1).map(|(_, text)| text).unwrap_or_default()
            }
            _ => Value::List(blocks),
        }
    }

    pub(super) fn output(&mut self, output: &ToolOutput) -> Value {
        match output {
            ToolOutput::Text(text) if self.is_own => text.as_str().into(),
            ToolOutput::Text(text) => vec![Value::Map(object("text", [("text", text.as_str().into())]))].into(),
            ToolOutput::Parts(parts) => Value::List(self.of(parts)),
        }
    }

    fn block(&mut self, part: &Part) -> Option<Value> {
        let mut fields = match &part.body {
            PartBody::Text(text) => object("text", [("text", text.text.as_str().into())]),
            PartBody::Reasoning(reasoning) => {
                let fields = self.reasoning(part, reasoning);
                if fields.is_none() {
                    self.told.note(lost::REASONING, self.event);
                }
                fields?
            }
            PartBody::ToolCall(call) if call.incomplete && !self.is_own => {
                self.told.note(lost::INCOMPLETE, self.event);
                return None;
            }
            PartBody::ToolCall(call) => self.call(call),
            PartBody::Image(Media { media_type, source: MediaSource::Data(data), name, .. }) => {
                if name.is_some() && !self.is_own {
                    self.told.note(lost::MEDIA_DETAILS, self.event);
                }
                object("image", [("data", data.as_str().into()), ("mimeType", media_type.as_str().into())])
            }
            PartBody::Image(media) | PartBody::File(media) => {
                self.told.note(lost::MEDIA, self.event);
                object("text", [("text", media_note(media, "the format has no place for it").into())])
            }
            PartBody::Opaque(opaque) if self.is_own => return Some(opaque.value.clone()),
            PartBody::Json(value) if self.is_own => return Some(value.clone()),
            PartBody::Json(value) => {
                object("text", [("text", serde_json::to_string(value).unwrap_or_default().into())])
            }
            PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_) => {
                self.told.note(lost::APPROVALS, self.event);
                return None;
            }
            PartBody::Opaque(_) | PartBody::Unknown(_) => {
                self.told.note(lost::OPAQUE, self.event);
                return None;
            }
            PartBody::ToolResult(_) => return None,
        };
        if self.is_own {
            for (name, value) in &part.extra {
                put(&mut fields, name, value.clone());
            }
        }
        Some(Value::Map(fields))
    }

    fn reasoning(&self, part: &Part, reasoning: &Reasoning) -> Option<Fields> {
        let mut fields = object("thinking", []);
        let text = reasoning.text.clone().or_else(|| (!self.is_own).then(String::new));
        fields.extend(text.map(|text| ("thinking".to_owned(), text.into())));
        let is_the_providers = self.provider.is_some() && (part.provider.is_none() || part.provider == self.provider);
        if !self.is_own && !is_the_providers {
            return None;
        }
        if let Some(data) = &reasoning.redacted {
            if reasoning.text.is_none() {
                put(&mut fields, "thinking", "");
            }
            put(&mut fields, "thinkingSignature", data.as_str());
            put(&mut fields, "redacted", true);
        } else if let Some(signature) = &reasoning.signature {
            put(&mut fields, "thinkingSignature", signature.as_str());
        } else if !self.is_own {
            // At OpenAI's interfaces the whole item stands in the signature's place.
            let (id, encrypted) = part.item_id.as_ref().zip(reasoning.encrypted.as_ref())?;
            let summary = reasoning
                .text
                .iter()
                .map(|text| Value::from([("type", "summary_text".into()), ("text", text.as_str().into())]));
            let item = Value::from([
                ("type", "reasoning".into()),
                ("id", id.as_str().into()),
                ("summary", summary.collect::<Vec<_>>().into()),
                ("encrypted_content", encrypted.as_str().into()),
            ]);
            put(&mut fields, "thinkingSignature", serde_json::to_string(&item).unwrap_or_default());
        }
        Some(fields)
    }

    /// The program cuts ids that are too long, so two may become one.
    pub(super) fn call_id(&mut self, id: &str) -> String {
        let Some(made) = call_id(id, "call_").filter(|_| !self.is_own) else { return id.to_owned() };
        self.told.note(lost::CALL_IDS, self.event);
        made
    }

    fn call(&mut self, call: &ToolCall) -> Fields {
        let arguments = match &call.input {
            ToolInput::Json(input) if self.is_own || input.as_map().is_some() => input.clone(),
            ToolInput::Text(text) if self.is_own => text.as_str().into(),
            ToolInput::None => Value::Map(Fields::new()),
            other => {
                self.told.note(lost::CALL_INPUTS, self.event);
                match other {
                    ToolInput::Json(input) => Value::from([("input", input.clone())]),
                    ToolInput::Text(text) => Value::from([("input", text.as_str().into())]),
                    ToolInput::None => Value::Map(Fields::new()),
                }
            }
        };
        let name = match self.tools {
            Some(tools) => tools.fit(&call.name, self.event, self.told),
            None => call.name.clone(),
        };
        let id = self.call_id(&call.id);
        let mut fields = object("toolCall", [("id", id.into()), ("name", name.into()), ("arguments", arguments)]);
        if let Some(signature) = call.thought_signature.as_deref().filter(|_| self.is_own || self.provider.is_some()) {
            put(&mut fields, "thoughtSignature", signature);
        }
        fields
    }
}

fn object<const N: usize>(kind: &str, rest: [(&str, Value); N]) -> Fields {
    let mut fields = vec![("type".to_owned(), Value::from(kind))];
    fields.extend(rest.into_iter().map(|(name, value)| (name.to_owned(), value)));
    fields
}
