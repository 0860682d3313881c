//! One entry of the tree: what the reader must know of it to link it, and all of its fields.

use crate::event::{Fields, Value};
use crate::interop::fields::field;

/// The families of entries, those of messages by their role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    User,
    Assistant,
    ToolResult,
    Bash,
    /// An extension's message: an entry of its own, or a message of role `custom`.
    Custom,
    /// Stored as an entry, or as a message.
    BranchSummary,
    /// A summary that is a message and cuts nothing.
    StoredSummary,
    System,
    Compaction,
    ModelChange,
    ThinkingChange,
    ContextEdit,
    Usage,
    /// Kept, and nothing of a conversation: labels, the session's name, an extension's state.
    Note,
    /// A type that this version does not know.
    Unknown,
}

/// An entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: u64,
    /// How much of the file it is, in bytes.
    pub(super) len: u64,
    pub(super) kind: Type,
    pub(super) id: String,
    /// The parent that it names; inside, none: it says that it is a root.
    pub(super) parent: Named,
    /// The entry before it that it means by a kept entry's or a target's id.
    pub(super) names: Option<usize>,
    /// Ids of the calls that it makes, and of the one that it answers.
    pub(super) calls: Vec<String>,
    pub(super) result: Option<String>,
    /// All fields as they came.
    pub(super) fields: Fields,
}

/// What an entry says of its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// That it is a root.
    Root,
    /// This id.
    Id(String),
    /// Nothing that could be one.
    Nothing,
}

impl Entry {
    pub(super) fn new(line: u64, len: u64, id: String, fields: Fields) -> Self {
        let parent = match field(&fields, "parentId") {
            Some(Value::Null) => Named::Root,
            Some(Value::Text(id)) => Named::Id(id.clone()),
            _ => Named::Nothing,
        };
        let (kind, calls) = (Type::Unknown, Vec::new());
        let mut entry = Self { line, len, kind, id, parent, names: None, calls, result: None, fields };
        entry.kind = entry.kind_of();
        if entry.kind == Type::Assistant {
            let blocks = entry.content().and_then(Value::as_list).unwrap_or_default();
            let calls = blocks.iter().filter(|block| block_type(block) == Some("toolCall"));
            entry.calls = calls.map(|block| text_in(block, "id").unwrap_or_default().to_owned()).collect();
        }
        if entry.kind == Type::ToolResult {
            entry.result = Some(entry.in_message("toolCallId").and_then(Value::as_text).unwrap_or_default().to_owned());
        }
        entry
    }

    fn kind_of(&self) -> Type {
        match self.text("type").unwrap_or_default() {
            "message" => match self.role() {
                Some("user") => Type::User,
                Some("assistant") => Type::Assistant,
                Some("toolResult") => Type::ToolResult,
                Some("bashExecution") => Type::Bash,
                Some("custom") => Type::Custom,
                Some("branchSummary") => Type::BranchSummary,
                Some("compactionSummary") => Type::StoredSummary,
                Some("system" | "developer") => Type::System,
                _ => Type::Unknown,
            },
            "custom_message" => Type::Custom,
            "branch_summary" => Type::BranchSummary,
            "compaction" => Type::Compaction,
            "model_change" => Type::ModelChange,
            "thinking_level_change" => Type::ThinkingChange,
            "context_edit" => Type::ContextEdit,
            "usage" => Type::Usage,
            "label" | "session_info" | "custom" => Type::Note,
            _ => Type::Unknown,
        }
    }

    /// Of an edit of the context: what it puts in the place of its target's content. Null alone means that the target is
    /// left out; another one is an object with the new content (so in 1.6), or is that itself.
    pub(super) fn replacement(&self) -> Option<&Value> {
        let replacement = self.get("replacement")?;
        let content = if replacement.as_map().is_some() { replacement.get("content")? } else { replacement };
        let is_content = matches!(content, Value::Text(_) | Value::List(_));
        (is_content || *replacement == Value::Null).then_some(content)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        field(&self.fields, name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_text)
    }

    pub(super) fn in_message(&self, name: &str) -> Option<&Value> {
        self.get("message")?.get(name)
    }

    pub(super) fn entry_type(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    pub(super) fn is_message(&self) -> bool {
        self.entry_type() == "message"
    }

    /// The same entry once more, to be taken apart.
    pub(super) fn copy(&self) -> Self {
        Self {
            id: self.id.clone(),
            parent: self.parent.clone(),
            calls: self.calls.clone(),
            result: self.result.clone(),
            fields: self.fields.clone(),
            ..*self
        }
    }

    /// A message's role, as the newest version calls it.
    pub(super) fn role(&self) -> Option<&str> {
        let role = self.is_message().then(|| self.in_message("role")).flatten().and_then(Value::as_text)?;
        Some(if role == "hookMessage" { "custom" } else { role })
    }

    /// A message's content, or that of an extension's own entry.
    pub(super) fn content(&self) -> Option<&Value> {
        if self.is_message() { self.in_message("content") } else { self.get("content") }
    }

    /// The name under which a type that nobody knows is counted.
    pub(super) fn type_name(&self) -> String {
        match self.is_message() {
            true => format!("message:{}", self.role().unwrap_or_default()),
            false => self.entry_type().to_owned(),
        }
    }

    /// Whether its event takes part in the chain of parents.
    pub(super) fn takes_part(&self) -> bool {
        match self.kind {
            Type::User
            | Type::Assistant
            | Type::ToolResult
            | Type::Bash
            | Type::Custom
            | Type::BranchSummary
            | Type::StoredSummary
            | Type::System
            | Type::Compaction => true,
            Type::ModelChange | Type::ThinkingChange | Type::ContextEdit | Type::Usage | Type::Note | Type::Unknown => {
                false
            }
        }
    }

    /// Whether the model sees it where it stands on the chain; of a compaction, what it left of it.
    pub(super) fn is_for_the_model(&self) -> bool {
        match self.kind {
            Type::Bash => self.in_message("excludeFromContext").and_then(Value::as_bool) != Some(true),
            Type::BranchSummary => self.summary().is_some_and(|summary| !summary.is_empty()),
            _ => self.takes_part(),
        }
    }

    /// The summary of a compaction or of a branch.
    pub(super) fn summary(&self) -> Option<&str> {
        let summary = if self.is_message() { self.in_message("summary") } else { self.get("summary") };
        summary.and_then(Value::as_text)
    }

    /// Whether the turn was broken off.
    pub(super) fn is_broken_off(&self) -> bool {
        let reason = self.in_message("stopReason").and_then(Value::as_text);
        self.kind == Type::Assistant && matches!(reason, Some("error" | "aborted"))
    }

    /// Whether any text in it is not blank.
    pub(super) fn says_something(&self) -> bool {
        texts(self.content()).iter().any(|text| !text.trim().is_empty())
    }

    /// The texts that the model sees of it.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self.kind {
            Type::Compaction | Type::BranchSummary | Type::StoredSummary => self.summary().into_iter().collect(),
            _ => texts(self.content()),
        }
    }

    /// Provider and model that it names: a change of them, or an answer.
    pub(super) fn model(&self) -> Option<(&str, &str)> {
        match self.kind {
            Type::ModelChange => Some((self.text("provider")?, self.text("modelId")?)),
            Type::Assistant => {
                let text = |name| self.in_message(name).and_then(Value::as_text);
                Some((text("provider")?, text("model")?))
            }
            _ => None,
        }
    }
}

/// The texts of a content, which is one text or a list of blocks.
pub(super) fn texts(content: Option<&Value>) -> Vec<&str> {
    match content {
        Some(Value::Text(text)) => vec![text],
        Some(Value::List(blocks)) => {
            let texts = blocks.iter().filter(|block| block_type(block) == Some("text"));
            texts.filter_map(|block| text_in(block, "text")).collect()
        }
        _ => Vec::new(),
    }
}

fn block_type(block: &Value) -> Option<&str> {
    text_in(block, "type")
}

fn text_in<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_text)
}
