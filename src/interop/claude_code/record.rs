//! One transcript record: what the reader must know of it to link it, and all of its fields.

use crate::event::{Fields, Value};
use crate::interop::fields::field;
use crate::interop::limits::ID_LEN_MAX;

/// The families of transcript records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
    /// A type of later versions that has an id and a parent, so that others may hang on it.
    Other,
}

/// A transcript record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) line: u64,
    pub(super) kind: Type,
    pub(super) uuid: String,
    /// The parent that it names.
    pub(super) parent: Option<String>,
    /// A sub-agent's line, and whose.
    pub(super) sidechain: bool,
    pub(super) agent: Option<String>,
    pub(super) in_team: bool,
    pub(super) is_meta: bool,
    pub(super) is_summary: bool,
    pub(super) is_api_error: bool,
    pub(super) message_id: Option<String>,
    /// Ids of the calls that it makes, and of those that it answers.
    pub(super) calls: Vec<String>,
    pub(super) results: Vec<String>,
    /// All fields as they came.
    pub(super) fields: Fields,
}

/// The field of a record that was written by us for the program, which drops calls without a result: it says that there is none.
pub(super) const NO_RESULT: &str = "noResultRecorded";
/// The answer of which a block is, by its `message.id`, where a record written by us has another one: it hangs on a branch that was
/// left within the answer.
pub(super) const ANSWER_OF: &str = "answerMessageId";

impl Record {
    /// The record, if the object is one: it has an id, and a type of the transcript or a field for a parent.
    pub(super) fn from_object(line: u64, value: Value) -> Result<Self, Value> {
        let kind = match value.get("type").and_then(Value::as_text) {
            // The call that it is for is open here, as it is.
            Some("user") if value.get(NO_RESULT).is_some() => Type::Other,
            Some("user") => Type::User,
            Some("assistant") => Type::Assistant,
            Some("system") => Type::System,
            Some("attachment") => Type::Attachment,
            Some("progress") => Type::Progress,
            Some(_) if matches!(value.get("parentUuid"), Some(Value::Text(_) | Value::Null)) => Type::Other,
            _ => return Err(value),
        };
        let text = |name| value.get(name).and_then(Value::as_text).map(str::to_owned);
        let flag = |name| value.get(name).and_then(Value::as_bool).unwrap_or(false);
        let Some(uuid) = text("uuid").filter(|uuid| !uuid.is_empty() && uuid.len() <= ID_LEN_MAX) else {
            return Err(value);
        };
        let message = value.get("message");
        let ids = |type_name: &str, id: &str| -> Vec<String> {
            blocks(message)
                .iter()
                .filter(|block| block_type(block) == Some(type_name))
                .map(|block| block.get(id).and_then(Value::as_text).unwrap_or_default().to_owned())
                .collect()
        };
        let (calls, results) = match kind {
            Type::Assistant => (ids("tool_use", "id"), Vec::new()),
            Type::User => (Vec::new(), ids("tool_result", "tool_use_id")),
            _ => (Vec::new(), Vec::new()),
        };
        let message_id = match kind {
            Type::Assistant => message.and_then(|message| message.get("id")).and_then(Value::as_text),
            _ => None,
        };
        Ok(Self {
            line,
            kind,
            parent: text("parentUuid"),
            sidechain: flag("isSidechain"),
            agent: text("agentId"),
            in_team: text("teamName").is_some(),
            is_meta: flag("isMeta"),
            is_summary: kind == Type::User && flag("isCompactSummary"),
            is_api_error: kind == Type::Assistant && flag("isApiErrorMessage"),
            message_id: message_id.filter(|id| !id.is_empty() && id.len() <= ID_LEN_MAX).map(str::to_owned),
            calls,
            results,
            uuid,
            fields: match value {
                Value::Map(fields) => fields,
                _ => Fields::new(),
            },
        })
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        field(&self.fields, name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_text)
    }

    /// The answer of which it is a block.
    pub(super) fn answer(&self) -> Option<&str> {
        self.text(ANSWER_OF).or(self.message_id.as_deref())
    }

    /// A user's or an assistant's record.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Type::User | Type::Assistant)
    }

    /// One of ours, behind a call that was open when its file was written.
    pub(super) fn says_no_result(&self) -> bool {
        self.get(NO_RESULT).is_some()
    }

    pub(super) fn is_boundary(&self) -> bool {
        self.kind == Type::System && self.text("subtype") == Some("compact_boundary")
    }

    /// The text that stands for what a person typed while the agent worked: it is in no user record.
    pub(super) fn queued_prompt(&self) -> Option<&Value> {
        let attachment = (self.kind == Type::Attachment).then(|| self.get("attachment")).flatten()?;
        let queued = attachment.get("type").and_then(Value::as_text) == Some("queued_command");
        queued.then(|| attachment.get("prompt")).flatten()
    }

    /// Output of a command that ran beside the model, which the program sends as the user's text.
    pub(super) fn is_local_command(&self) -> bool {
        self.kind == Type::System && self.text("subtype") == Some("local_command")
    }

    /// The types of its content's blocks; plain text is one of type `text`.
    pub(super) fn block_types(&self) -> Vec<String> {
        match self.get("message").and_then(|message| message.get("content")) {
            Some(Value::Text(_)) => vec!["text".to_owned()],
            Some(Value::List(items)) => {
                items.iter().map(|block| block_type(block).unwrap_or("unknown").to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The texts that the model sees of it, results left out.
    pub(super) fn texts(&self) -> Vec<&str> {
        let content = match self.kind {
            Type::User | Type::Assistant => self.get("message").and_then(|message| message.get("content")),
            Type::Attachment => self.queued_prompt(),
            Type::System => self.get("content"),
            Type::Progress | Type::Other => None,
        };
        match content {
            Some(Value::Text(text)) => vec![text],
            Some(Value::List(items)) => items
                .iter()
                .filter(|block| block_type(block) == Some("text"))
                .filter_map(|block| block.get("text").and_then(Value::as_text))
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Tokens that the model wrote, as this record has it.
    pub(super) fn output_tokens(&self) -> Option<i64> {
        self.get("message")?.get("usage")?.get("output_tokens")?.as_i64()
    }

    /// Whether two records of one id say the same, whatever they hang on.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let said = |record: &'_ Self| record.fields.len() - usize::from(record.get("parentUuid").is_some());
        let differs = |(name, value): &(String, Value)| name != "parentUuid" && other.get(name) != Some(value);
        said(self) == said(other) && !self.fields.iter().any(differs)
    }
}

/// Takes the field of this name out.
pub(super) fn take(fields: &mut Fields, name: &str) -> Option<Value> {
    let at = fields.iter().position(|(key, _)| key == name)?;
    Some(fields.remove(at).1)
}

fn blocks(message: Option<&Value>) -> &[Value] {
    message.and_then(|message| message.get("content")).and_then(Value::as_list).unwrap_or_default()
}

fn block_type(block: &Value) -> Option<&str> {
    block.get("type").and_then(Value::as_text)
}
