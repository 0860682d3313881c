//! Events: the records of a session.

use super::id::Uuid;
use super::kind::{CompactBoundary, Kind};
use super::message::Message;
use super::value::{Fields, Value};

/// One record of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id, unique in the session.
    pub id: Uuid,
    /// The parent that it named; none: a root.
    pub parent: Option<Uuid>,
    /// What it really hangs on, where that is not the parent it named.
    pub hung_on: HungOn,
    /// When it happened, µs since the epoch (UTC). Never used for order.
    pub at: i64,
    /// The id that it had where it came from, if that was no id of ours.
    pub original_id: Option<String>,
    /// The parent's id where it came from, if that names no record of this session.
    pub original_parent: Option<String>,
    /// It takes part in the chain but did not move the leaf: a tool result whose call was not on the chain.
    pub off_chain: bool,
    /// What happened.
    pub body: Body,
    /// Fields that this version does not know, kept and written back.
    pub extra: Fields,
}

/// What an event hangs on in truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HungOn {
    /// The parent that it named.
    #[default]
    Named,
    /// Nothing: it is a root although it named a parent.
    Root,
    /// Another event, since the one it named is unknown or takes no part in the chain.
    Event(Uuid),
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Body {
    /// A message.
    Message(Box<Message>),
    /// Messages are taken back.
    Tombstone(Tombstone),
    /// Something became known late.
    Amend(Amend),
    /// Old tool results become a stub in the model's view.
    Prune(Prune),
    /// The current leaf moves.
    Head(Head),
    /// A tool is about to run.
    ToolStarted(ToolStarted),
    /// What a list of sessions shows.
    SessionMeta(SessionMeta),
    /// An application's own.
    Extension(Extension),
    /// A type, or a message's kind, that this version does not know: kept whole.
    Unknown(Unknown),
}

/// Takes messages back, on every branch, from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The messages.
    pub targets: Vec<Uuid>,
    /// Why.
    pub reason: Option<String>,
}

/// Completes a message: each field of the patch replaces the old one whole. Id, parent, role and kind can't change.
#[derive(Debug, Clone, PartialEq)]
pub struct Amend {
    /// The message.
    pub target: Uuid,
    /// Fields of a message, by their snake_case names.
    pub patch: Fields,
}

/// Old tool results become a stub in the model's view and stay whole elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// The messages that hold the results.
    pub targets: Vec<Uuid>,
}

/// The current leaf moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The new leaf; none: before the first message.
    pub leaf: Option<Uuid>,
}

/// Written ahead of running a tool, so that a resume knows that its effect may have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStarted {
    /// The call.
    pub call_id: String,
    /// A key by which the tool can be asked whether it ran.
    pub idempotency_key: Option<String>,
}

/// What a list of sessions shows. Each event holds the whole record, so the last one alone counts. Given as a change, a
/// field that is absent stays as it was, and an empty text (of the labels: one empty label) clears it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionMeta {
    /// A title.
    pub title: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// The folder that the agent works in.
    pub cwd: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// Anything else.
    pub extra: Fields,
}

/// An application's own event: carried, never interpreted.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// The application's name for it.
    pub name: String,
    /// Anything.
    pub payload: Value,
}

/// An event that this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Its type.
    pub event_type: String,
    /// Its kind, if it is a message of an unknown kind.
    pub kind: Option<String>,
    /// All of its fields but the envelope's, names as in the log.
    pub fields: Fields,
}

impl SessionMeta {
    /// The record after a change: a field that is given replaces the old one, an empty text clears it.
    #[must_use]
    pub fn changed_by(&self, change: &Self) -> Self {
        let text = |old: &Option<String>, new: &Option<String>| match new {
            Some(text) if text.is_empty() => None,
            Some(text) => Some(text.clone()),
            None => old.clone(),
        };
        let mut extra = self.extra.clone();
        for (name, value) in &change.extra {
            extra.retain(|(known, _)| known != name);
            if value.as_text() != Some("") {
                extra.push((name.clone(), value.clone()));
            }
        }
        Self {
            title: text(&self.title, &change.title),
            tags: match change.tags.as_slice() {
                [] => self.tags.clone(),
                [only] if only.is_empty() => Vec::new(),
                tags => tags.to_vec(),
            },
            cwd: text(&self.cwd, &change.cwd),
            model: text(&self.model, &change.model),
            agent: text(&self.agent, &change.agent),
            extra,
        }
    }

    /// The change that makes this record of the one before: [`SessionMeta::changed_by`] the other way round. A field that is the
    /// same is not in it, one that is gone is an empty text.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> Self {
        let text = |new: &Option<String>, old: &Option<String>| (new != old).then(|| new.clone().unwrap_or_default());
        let has = |record: &Self, name: &str| record.extra.iter().any(|(known, _)| known == name);
        let changed = self.extra.iter().filter(|field| !before.extra.contains(field)).cloned();
        let gone = before.extra.iter().filter(|(name, _)| !has(self, name));
        Self {
            title: text(&self.title, &before.title),
            tags: match self.tags.as_slice() {
                same if same == before.tags => Vec::new(),
                [] => vec![String::new()],
                tags => tags.to_vec(),
            },
            cwd: text(&self.cwd, &before.cwd),
            model: text(&self.model, &before.model),
            agent: text(&self.agent, &before.agent),
            extra: changed.chain(gone.map(|(name, _)| (name.clone(), Value::Text(String::new())))).collect(),
        }
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Event {
    /// What the event really hangs on; none: a root.
    #[must_use]
    pub fn effective_parent(&self) -> Option<Uuid> {
        match self.hung_on {
            HungOn::Named => self.parent,
            HungOn::Root => None,
            HungOn::Event(id) => Some(id),
        }
    }

    /// The message, if it is one.
    #[must_use]
    pub fn message(&self) -> Option<&Message> {
        match &self.body {
            Body::Message(message) => Some(message),
            _ => None,
        }
    }

    /// Whether it takes part in the chain of parents: messages do, but `progress`, `system_event`,
    /// `tool_use_summary` and a sub-agent's.
    #[must_use]
    pub fn takes_part(&self) -> bool {
        self.message().is_some_and(Message::takes_part)
    }

    /// The boundary, if it is one.
    #[must_use]
    pub fn boundary(&self) -> Option<&CompactBoundary> {
        match &self.message()?.kind {
            Kind::CompactBoundary(boundary) => Some(boundary),
            _ => None,
        }
    }
}
