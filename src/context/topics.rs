//! Other conversations that a person refers to: how they are written, and where they are found.

use std::borrow::Cow;
use std::fmt::Debug;

use super::error::BoxError;
use crate::event::{Kind, NO_CONTENT, Role, parse_id};
use crate::projection::{Options, ProjectedMessage, View, project};
use crate::session::{SessionError, SessionReader, Store};

/// Begins a reference in a person's text: `<refer_topic id="…" name="…" />`.
const TAG: &str = "<refer_topic";

/// What each reference holds, escaped or not.
const MARK: &str = "refer";

/// Most bytes of an attribute's value; a longer one is no reference.
const VALUE_BYTES_MAX: usize = 1024;

/// A reference to another conversation, as it stands in a person's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicReference {
    /// The conversation's id.
    pub id: String,
    /// Its name, as the person saw it.
    pub name: Option<String>,
}

/// A message of another conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMessage {
    /// Who said it.
    pub role: Role,
    /// Its text. What has none is left out.
    pub text: String,
}

/// Where other conversations are found.
pub trait TopicSource: Debug + Send + Sync {
    /// The summary of this conversation, if it has one.
    ///
    /// # Errors
    /// Whatever keeps it from being read. A conversation that is not there is no error.
    fn summary(&self, id: &str) -> Result<Option<String>, BoxError>;

    /// The last messages with a text, of the user and the model, at most so many, in order.
    ///
    /// # Errors
    /// As [`TopicSource::summary`].
    fn last_messages(&self, id: &str, count: usize) -> Result<Vec<TopicMessage>, BoxError>;
}

/// The sessions of a store as topics, by their whole ids: the summary is that of the latest compaction of the current
/// chain.
#[derive(Debug, Clone)]
pub struct StoreTopics {
    store: Store,
}

impl StoreTopics {
    /// Topics of this store.
    #[must_use]
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// The session of this id. Not of a path, and not of the beginning of an id: a person's text names it.
    fn open(&self, id: &str) -> Result<Option<SessionReader>, BoxError> {
        let Some(id) = parse_id(id) else { return Ok(None) };
        match self.store.read(&id.to_string()) {
            Ok(reader) => Ok(Some(reader)),
            Err(SessionError::NoSuchSession { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl TopicSource for StoreTopics {
    fn summary(&self, id: &str) -> Result<Option<String>, BoxError> {
        let Some(reader) = self.open(id)? else { return Ok(None) };
        let state = reader.state();
        let summary = state.boundary().and_then(|boundary| state.compaction_partner(boundary));
        let message = summary.filter(|entry| entry.is_living()).and_then(|entry| entry.event.message());
        Ok(message.map(crate::event::Message::joined_text).filter(|text| !text.trim().is_empty()))
    }

    fn last_messages(&self, id: &str, count: usize) -> Result<Vec<TopicMessage>, BoxError> {
        let Some(reader) = self.open(id)? else { return Ok(Vec::new()) };
        let view = project(reader.state(), View::Model, &Options::default());
        let mut last: Vec<TopicMessage> = view.messages.iter().rev().filter_map(said).take(count).collect();
        last.reverse();
        Ok(last)
    }
}

/// What the user or the model said in words.
fn said(message: &ProjectedMessage) -> Option<TopicMessage> {
    let kinds =
        matches!(*message.kind, Kind::UserInput | Kind::AssistantText | Kind::AssistantReasoning | Kind::ToolCall);
    let is_said = kinds && matches!(message.role, Role::User | Role::Assistant) && !message.metadata.synthetic;
    let texts: Vec<&str> = message.content.iter().filter(|_| is_said).filter_map(|part| part.as_text()).collect();
    let text = texts.join("\n");
    (!text.trim().is_empty() && text != NO_CONTENT).then_some(TopicMessage { role: message.role, text })
}

/// The references in a text, in order, also where an editor escaped them as markdown (`\<refer\_topic … /\>`). What is
/// no whole reference is passed over.
///
/// ```
/// let found = seslog::context::topic_references(r#"As in \<refer\_topic id="7" name="Bread" /\>?"#);
/// assert_eq!((found[0].id.as_str(), found[0].name.as_deref()), ("7", Some("Bread")));
/// ```
#[must_use]
pub fn topic_references(text: &str) -> Vec<TopicReference> {
    let mut found = Vec::new();
    if !text.contains(MARK) {
        return found;
    }
    let text = unescaped(text);
    let mut rest: &str = &text;
    while let Some(at) = rest.find(TAG) {
        rest = &rest[at + TAG.len()..];
        let (reference, behind) = attributes(rest);
        found.extend(reference);
        rest = behind;
    }
    found
}

/// A text without the backslashes that markdown takes away.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Reads what stands behind the tag's name, up to `>`; also gives where to go on.
fn attributes(text: &str) -> (Option<TopicReference>, &str) {
    let (mut id, mut name) = (None, None);
    let mut rest = text;
    loop {
        let inside = rest.trim_start();
        if let Some(behind) = inside.strip_prefix("/>").or_else(|| inside.strip_prefix('>')) {
            let id = id.filter(|id: &String| !id.trim().is_empty());
            return (id.map(|id| TopicReference { id, name }), behind);
        }
        let len = inside.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(inside.len());
        let (key, behind) = inside.split_at(len);
        // The name of an attribute stands behind white space, so `<refer_topics …>` is another tag.
        let value = if len > 0 && inside.len() < rest.len() { quoted(behind) } else { None };
        let Some((value, behind)) = value else { return (None, inside) };
        match key {
            "id" => id = Some(value),
            "name" => name = Some(value),
            _ => {}
        }
        rest = behind;
    }
}

/// A value in quotes behind `=`, and what stands behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start().strip_prefix('=')?.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let text = &text[1..];
    let len = text.bytes().take(VALUE_BYTES_MAX).position(|byte| byte == quote as u8)?;
    let value = &text[..len];
    let mut plain = value.to_owned();
    // `&` comes last, so that `&amp;lt;` is `&lt;`.
    for (entity, c) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        if plain.contains(entity) {
            plain = plain.replace(entity, c);
        }
    }
    (!value.contains(TAG)).then(|| (plain, &text[len + 1..]))
}
