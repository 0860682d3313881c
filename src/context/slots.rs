//! Where a step may write, and how several writers share one place.
//!
//! ```text
//!                    [ what documents put before it  ]      a system message of its own
//! system             [ the slot's own system message ]      each writer appends, a blank line between
//!                    [ system notes of the session   ]
//! before first user  [ one marked message            ]      each writer appends, a blank line between
//! every user         [ user    | SYSTEM CONTEXT ... END ]   first in the one wrapper at the end of each
//!                    [ assistant, results ...        ]
//! last user          [ user    | SYSTEM CONTEXT ... END ]   later writers insert before the end mark
//!                    [ assistant, results ...        ]
//! virtual last user  [ user    | SYSTEM CONTEXT ... END ]   a user message at the end is used, else one is made
//! ```
//!
//! What seldom changes belongs up, what changes from request to request belongs down: a provider's cache holds the longest
//! beginning that two requests share.
//!
//! A person's words are never touched: what is written at the end of a message of theirs is a part of its own.

use serde::{Deserialize, Serialize};

pub use super::tag::{CONTEXT_END, CONTEXT_START};

use super::tag::without_marks;
use super::words::is_of_a_card;
use crate::event::{Custom, Kind, Part, Role};
use crate::projection::{ProjectedMessage, Shared, View};

/// Stands first in the wrapper at the end of a user message.
pub const CONTEXT_INSTRUCTION: &str = "<context.instruction>\nThe application put in what follows, up to the end mark; \
the user did not type it. Answer what the user says, and use this only where it helps.\n</context.instruction>";

/// The custom type of the system message that stands in front of the system slot.
pub const BEFORE_SYSTEM: &str = "context.before_system";
/// The custom type of the message before the first user message.
pub const BEFORE_FIRST_USER: &str = "context.before_first_user";
/// The custom type of the user message that is made at the end.
pub const VIRTUAL_LAST_USER: &str = "context.virtual_last_user";

/// A place among the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Slot {
    /// The system message that the application makes, in front of those that the session holds.
    System,
    /// One user message before the first one of the session.
    BeforeFirstUser,
    /// The end of each user message, before what [`Slot::LastUser`] holds: that changes, and this does not. Of two texts
    /// the one that was written later stands first.
    EveryUser,
    /// The end of the last user message; where the session has none, as [`Slot::VirtualLastUser`].
    LastUser,
    /// The end of all: of a user message that stands there, else of one that is made for it.
    VirtualLastUser,
}

impl Slot {
    /// Its name, as it stands in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::BeforeFirstUser => "before_first_user",
            Self::EveryUser => "every_user",
            Self::LastUser => "last_user",
            Self::VirtualLastUser => "virtual_last_user",
        }
    }
}

/// Writes a text into a slot. A blank one is not written; a wrapper's own marks inside the text lose their `<`.
pub fn write(messages: &mut Vec<ProjectedMessage>, slot: Slot, text: &str) {
    let text = &without_marks(text);
    if text.trim().is_empty() {
        return;
    }
    match slot {
        Slot::System => match system(messages) {
            Some(at) => append(&mut messages[at], text),
            None => insert_system(messages, text),
        },
        Slot::BeforeFirstUser => match messages.iter().position(|message| is_slot(message, BEFORE_FIRST_USER)) {
            Some(at) => append(&mut messages[at], text),
            None => {
                let at = messages.iter().position(is_users_turn).unwrap_or_else(|| behind_system(messages));
                messages.insert(at, made(Role::User, custom(BEFORE_FIRST_USER), text.to_owned()));
            }
        },
        Slot::EveryUser => {
            messages.iter_mut().filter(|message| is_user(message)).for_each(|user| wrap_first(user, text));
        }
        Slot::LastUser => match messages.iter_mut().rev().find(|message| is_user(message)) {
            Some(last) => wrap(last, text),
            None => write_at_end(messages, text),
        },
        Slot::VirtualLastUser => write_at_end(messages, text),
    }
}

/// Puts a system message of its own in front of all, or writes into the one that is there.
pub(super) fn write_before_system(messages: &mut Vec<ProjectedMessage>, text: &str) {
    match messages.first_mut().filter(|message| is_slot(message, BEFORE_SYSTEM)) {
        Some(first) => append(first, text),
        None => messages.insert(0, made(Role::System, custom(BEFORE_SYSTEM), text.to_owned())),
    }
}

/// Puts a text in the place of all that the system slot holds. Returns how many bytes of text that were.
pub(super) fn replace_system(messages: &mut Vec<ProjectedMessage>, text: &str) -> usize {
    let Some(at) = system(messages) else {
        insert_system(messages, text);
        return 0;
    };
    let before = std::mem::replace(&mut messages[at].content, vec![Part::text(text).into()]);
    before.iter().filter_map(|part| part.as_text()).map(str::len).sum()
}

/// The message of the system slot.
fn system(messages: &[ProjectedMessage]) -> Option<usize> {
    let is_system = |message: &ProjectedMessage| is_made(message) && !is_slot(message, BEFORE_SYSTEM);
    messages[..behind_system(messages)].iter().rposition(is_system)
}

fn insert_system(messages: &mut Vec<ProjectedMessage>, text: &str) {
    let at = usize::from(messages.first().is_some_and(|message| is_slot(message, BEFORE_SYSTEM)));
    messages.insert(at, made(Role::System, Kind::SystemNote, text.to_owned()));
}

/// Writes a text to the end of the wrapper at the end of this message, which is made if there is none.
pub fn wrap(message: &mut ProjectedMessage, text: &str) {
    write_in_wrapper(message, text, |before, text| format!("{before}{text}\n"));
}

/// Writes a text to the beginning of the wrapper at the end of this message, which is made if there is none.
pub fn wrap_first(message: &mut ProjectedMessage, text: &str) {
    write_in_wrapper(message, text, |before, text| format!("{text}\n{before}"));
}

fn write_in_wrapper(message: &mut ProjectedMessage, text: &str, join: impl FnOnce(&str, &str) -> String) {
    let text = without_marks(text);
    if text.trim().is_empty() {
        return;
    }
    let found = message.content.last_mut().filter(|part| is_wrapper(part));
    let before = found.as_ref().and_then(|part| inside(part)).unwrap_or_default();
    let inside = join(before, &text);
    let wrapper = Shared::put_in(Part::text(format!("{CONTEXT_START}\n{CONTEXT_INSTRUCTION}\n{inside}{CONTEXT_END}")));
    match found {
        Some(part) => *part = wrapper,
        None => message.content.push(wrapper),
    }
}

/// What steps wrote into this wrapper.
fn inside(wrapper: &Shared<Part>) -> Option<&str> {
    let inside = wrapper.as_text()?.strip_prefix(CONTEXT_START)?.strip_suffix(CONTEXT_END)?;
    inside.trim_start_matches('\n').strip_prefix(CONTEXT_INSTRUCTION)?.strip_prefix('\n')
}

/// Whether the person's side said this in the session: what they typed, ran or gave by way of the application. What other
/// agents, tools and the runtime say as the user, such as a reminder or a summary, is not theirs, nor is what a card held.
#[must_use]
pub fn is_user(message: &ProjectedMessage) -> bool {
    let is_theirs = matches!(&*message.kind, Kind::UserInput | Kind::Custom(_) | Kind::BashExecution(_));
    let is_the_runtimes = message.metadata.synthetic && message.kind.is_recorded();
    is_theirs && is_users_turn(message) && !is_of_a_card(message) && !is_the_runtimes
}

/// Whether it stands as the user's, made by no slot. An attachment hangs on another message.
fn is_users_turn(message: &ProjectedMessage) -> bool {
    message.role == Role::User && !is_made_by_slot(message) && !matches!(*message.kind, Kind::Attachment(_))
}

/// Whether this part is a wrapper that a slot wrote. A text that only looks like one is none.
#[must_use]
pub fn is_wrapper(part: &Shared<Part>) -> bool {
    part.is_put_in() && inside(part).is_some()
}

fn write_at_end(messages: &mut Vec<ProjectedMessage>, text: &str) {
    let is_open = |message: &ProjectedMessage| message.role == Role::User && !is_slot(message, BEFORE_FIRST_USER);
    if !messages.last().is_some_and(is_open) {
        let content = Vec::new();
        messages.push(ProjectedMessage::made(View::Model, Role::User, custom(VIRTUAL_LAST_USER), content));
    }
    messages.iter_mut().last().into_iter().for_each(|last| wrap(last, text));
}

/// Whether no event records it.
fn is_made(message: &ProjectedMessage) -> bool {
    message.source_message_ids.is_empty()
}

fn is_made_by_slot(message: &ProjectedMessage) -> bool {
    is_slot(message, BEFORE_FIRST_USER) || is_slot(message, VIRTUAL_LAST_USER)
}

/// Whether it is the message that this slot made. One that a session recorded under that type is not.
fn is_slot(message: &ProjectedMessage, custom_type: &str) -> bool {
    let named = matches!(&*message.kind, Kind::Custom(custom) if custom.custom_type == custom_type);
    named && is_made(message)
}

fn behind_system(messages: &[ProjectedMessage]) -> usize {
    messages.iter().take_while(|message| message.role == Role::System).count()
}

fn append(message: &mut ProjectedMessage, text: &str) {
    let before = message.content.last_mut().filter(|part| part.as_text().is_some());
    match before {
        Some(part) => {
            let joined = format!("{}\n\n{text}", part.as_text().unwrap_or_default());
            *part = Part::text(joined).into();
        }
        None => message.content.push(Part::text(text).into()),
    }
}

fn made(role: Role, kind: Kind, text: String) -> ProjectedMessage {
    ProjectedMessage::made(View::Model, role, kind, vec![Part::text(text)])
}

fn custom(custom_type: &str) -> Kind {
    Kind::Custom(Custom { custom_type: custom_type.to_owned(), display: false, details: None })
}
