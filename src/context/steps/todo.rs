//! What the agent has done and has still to do.

use serde::Deserialize;

use super::element::in_tag;
use crate::context::slots::Slot;
use crate::context::{BoxError, Context, Inject, Source};

/// The step's name.
pub const NAME: &str = "todo";

/// The tag that the list stands in.
pub const TAG: &str = "todos";

/// A list of things to do, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Todos {
    /// The list.
    pub items: Vec<Todo>,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Todo {
    /// What.
    pub text: String,
    /// How far it is. Default: not begun.
    #[serde(default)]
    pub status: TodoStatus,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Open,
    /// Begun.
    InProgress,
    /// Finished.
    Done,
}

/// A step that writes the list at the end of the last user message: a change costs no more of a provider's cache than what
/// stands from there on.
#[must_use]
pub fn step(todos: Option<Todos>) -> Inject<Option<Todos>> {
    Inject::new(NAME, Slot::LastUser, todos)
}

impl Source for Todos {
    fn content(&self, _context: &Context<'_>) -> Result<Option<String>, BoxError> {
        if self.items.is_empty() {
            return Ok(None);
        }
        let count = |status| self.items.iter().filter(|item| item.status == status).count();
        let (done, begun) = (count(TodoStatus::Done), count(TodoStatus::InProgress));
        let mut text = format!("Progress: {done} of {} done, {begun} in progress", self.items.len());
        for item in &self.items {
            let mark = match item.status {
                TodoStatus::Open => ' ',
                TodoStatus::InProgress => '~',
                TodoStatus::Done => 'x',
            };
            // On one line each, so that no text looks like another item.
            let words: Vec<&str> = item.text.split_whitespace().collect();
            text.push_str(&format!("\n- [{mark}] {}", words.join(" ")));
        }
        Ok(in_tag(TAG, &text))
    }
}
