//! Several tasks of one card, each a message of its own.

use super::cards;
use crate::context::{BoxError, Context, Processor};
use crate::event::Kind;

/// The step's name.
pub const NAME: &str = "tasks_flatten";

/// Puts one message for each task in the place of a card of tasks. What a task does not say, its agent, time, model and
/// run, is its card's.
#[derive(Debug, Clone, Copy, Default)]
pub struct TasksFlatten;

impl TasksFlatten {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for TasksFlatten {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        cards::open(context, |kind| matches!(kind, Kind::Tasks(_) | Kind::GroupTasks(_)));
        Ok(())
    }
}
