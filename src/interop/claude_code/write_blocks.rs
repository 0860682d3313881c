//! Parts to the blocks of a message's content.

use super::parts::PROVIDER;
use crate::event::{
    BASE64_ALPHABET, Fields, Media, MediaSource, Part, PartBody, Reasoning, ToolCall, ToolInput, ToolOutput,
    ToolResult, Uuid, Value,
};
use crate::interop::fields::put;
use crate::interop::leaving_names::ToolNames;
use crate::interop::leaving_source::call_id;
use crate::interop::leaving_told::{Told, lost};
use crate::projection::media_note;

/// Stands for what a failed tool gave, where that is nothing: the provider takes no failure without a word.
const NO_OUTPUT: &str = "(no output)";

/// The pictures that the provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The documents that it takes as bytes.
const DOCUMENT_TYPE: &str = "application/pdf";

/// Whose parts they are, and who is told what gets lost.
pub(super) struct Blocks<'t> {
    /// Records of this format: everything goes back as it came.
    pub(super) is_own: bool,
    /// The message's provider, where a part names none.
    pub(super) provider: Option<String>,
    pub(super) event: Uuid,
    pub(super) tools: &'t ToolNames,
    pub(super) told: &'t mut Told,
}

impl Blocks<'_> {
    /// The blocks of these parts; a part that the provider can't take gives none.
    pub(super) fn of<'p>(&mut self, parts: impl IntoIterator<Item = &'p Part>) -> Vec<Value> {
        parts.into_iter().filter_map(|part| self.block(part)).collect()
    }

    fn is_the_providers(&self, part: &Part) -> bool {
        part.provider.as_ref().or(self.provider.as_ref()).is_some_and(|provider| provider == PROVIDER)
    }

    fn block(&mut self, part: &Part) -> Option<Value> {
        let fields = match &part.body {
            PartBody::Text(text) if text.text.trim().is_empty() && !self.is_own => {
                self.told.note(lost::BLANK, self.event);
                return None;
            }
            PartBody::Text(text) => object("text", [("text", text.text.clone().into())]),
            PartBody::Reasoning(reasoning) => match self.reasoning(part, reasoning) {
                Some(fields) => fields,
                None => {
                    self.told.note(lost::REASONING, self.event);
                    return None;
                }
            },
            PartBody::ToolCall(call) => self.call(call)?,
            PartBody::ToolResult(result) => self.result(result),
            PartBody::Image(media) => self.media("image", media),
            PartBody::File(media) => self.media("document", media),
            PartBody::Opaque(opaque) if self.is_own || self.is_the_providers(part) => {
                return Some(opaque.value.clone());
            }
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
        };
        Some(Value::Map(self.with_rest(fields, part)))
    }

    /// The fields of ours, and of our own records what else stood there.
    fn with_rest(&self, mut fields: Fields, part: &Part) -> Fields {
        if self.is_own {
            for (name, value) in &part.extra {
                put(&mut fields, name, value.clone());
            }
        }
        fields
    }

    fn reasoning(&self, part: &Part, reasoning: &Reasoning) -> Option<Fields> {
        if !self.is_own && !self.is_the_providers(part) {
            return None;
        }
        if let Some(data) = &reasoning.redacted {
            return Some(object("redacted_thinking", [("data", data.clone().into())]));
        }
        if !self.is_own && reasoning.signature.is_none() {
            return None;
        }
        let mut fields = object("thinking", []);
        for (name, text) in [("thinking", &reasoning.text), ("signature", &reasoning.signature)] {
            let text = text.clone().or_else(|| (!self.is_own).then(String::new));
            fields.extend(text.map(|text| (name.to_owned(), text.into())));
        }
        Some(fields)
    }

    fn call(&mut self, call: &ToolCall) -> Option<Fields> {
        if call.incomplete {
            self.told.note(lost::INCOMPLETE, self.event);
            return None;
        }
        let input = match &call.input {
            ToolInput::Json(input @ Value::Map(_)) => input.clone(),
            ToolInput::Json(input) if self.is_own => input.clone(),
            other => {
                if !self.is_own || *other != ToolInput::None {
                    self.told.note(lost::CALL_INPUTS, self.event);
                }
                match other {
                    ToolInput::Json(input) => Value::from([("input", input.clone())]),
                    ToolInput::Text(text) => Value::from([("input", text.clone().into())]),
                    ToolInput::None => Value::Map(Fields::new()),
                }
            }
        };
        let id = self.call_id(&call.id);
        // A tool without a name, no provider takes.
        let name = match self.is_own && !call.name.is_empty() {
            true => call.name.clone(),
            false => self.tools.fit(&call.name, self.event, self.told),
        };
        Some(object("tool_use", [("id", id.into()), ("name", name.into()), ("input", input)]))
    }

    /// The call's id as the provider takes it: always the same for the same id.
    fn call_id(&mut self, id: &str) -> String {
        let Some(made) = call_id(id, "toolu_").filter(|_| !self.is_own) else { return id.to_owned() };
        self.told.note(lost::CALL_IDS, self.event);
        made
    }

    fn result(&mut self, result: &ToolResult) -> Fields {
        let mut content = match &result.output {
            ToolOutput::Text(text) => Value::from(text.as_str()),
            ToolOutput::Parts(parts) if result.is_error && !self.is_own => {
                Value::List(parts.iter().filter_map(|part| self.of_failure(part)).collect())
            }
            ToolOutput::Parts(parts) => Value::List(self.of(parts)),
        };
        if result.is_error && !self.is_own && says_nothing(&content) {
            self.told.note(lost::NO_OUTPUT, self.event);
            content = NO_OUTPUT.into();
        }
        let id = self.call_id(&result.call_id);
        let mut fields = object("tool_result", [("tool_use_id", id.into()), ("content", content)]);
        if result.is_error {
            put(&mut fields, "is_error", true);
        }
        fields
    }

    /// Of what a failed tool gave the provider takes texts only.
    fn of_failure(&mut self, part: &Part) -> Option<Value> {
        match &part.body {
            PartBody::Image(media) | PartBody::File(media) => {
                Some(Value::Map(self.media_note(media, "a failed tool's output is text only")))
            }
            _ => self.block(part),
        }
    }

    fn media_note(&mut self, media: &Media, why: &str) -> Fields {
        self.told.note(lost::MEDIA, self.event);
        object("text", [("text", media_note(media, why).into())])
    }

    fn media(&mut self, kind: &str, media: &Media) -> Fields {
        let refused = if self.is_own { None } else { refused(kind, media) };
        let source = match &media.source {
            _ if refused.is_some() => Err(refused.unwrap_or_default()),
            MediaSource::Data(data) => Ok(Value::from([
                ("type", "base64".into()),
                ("media_type", media.media_type.clone().into()),
                ("data", data.clone().into()),
            ])),
            MediaSource::Url(url) => {
                let mut source = object("url", [("url", url.clone().into())]);
                // The provider refuses fields that it does not know.
                if !media.media_type.is_empty() && self.is_own {
                    put(&mut source, "media_type", media.media_type.clone());
                } else if !media.media_type.is_empty() {
                    self.told.note(lost::MEDIA_DETAILS, self.event);
                }
                Ok(Value::Map(source))
            }
            MediaSource::Path(_) | MediaSource::Missing => Err("the file is not in the session"),
        };
        let source = match source {
            Ok(source) => source,
            Err(why) => return self.media_note(media, why),
        };
        let mut fields = object(kind, [("source", source)]);
        if let Some(name) = &media.name {
            match self.is_own || kind == "document" {
                true => put(&mut fields, "title", name.clone()),
                false => self.told.note(lost::MEDIA_DETAILS, self.event),
            }
        }
        fields
    }
}

/// Why the provider would refuse the picture or file.
fn refused(kind: &str, media: &Media) -> Option<&'static str> {
    let is_base64 = |byte: u8| BASE64_ALPHABET.contains(&byte) || byte == b'=';
    let is_taken = match kind {
        "image" => IMAGE_TYPES.contains(&media.media_type.as_str()),
        _ => media.media_type == DOCUMENT_TYPE,
    };
    match &media.source {
        MediaSource::Data(_) if !is_taken => Some("the provider does not take this media type"),
        MediaSource::Data(data) if data.is_empty() || !data.bytes().all(is_base64) => {
            Some("its data is no base64 text")
        }
        MediaSource::Url(url) if !url.starts_with("https://") && !url.starts_with("http://") => {
            Some("its address is none of the web")
        }
        MediaSource::Url(url) if url.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Some("its address has characters that no address has")
        }
        _ => None,
    }
}

fn says_nothing(content: &Value) -> bool {
    match content {
        Value::List(blocks) => blocks.is_empty(),
        other => other.as_text().is_some_and(|text| text.trim().is_empty()),
    }
}

fn object<const N: usize>(kind: &str, rest: [(&str, Value); N]) -> Fields {
    let mut fields = vec![("type".to_owned(), Value::from(kind))];
    fields.extend(rest.into_iter().map(|(name, value)| (name.to_owned(), value)));
    fields
}
