//! What a group of agents, or a supervisor, did in one card, message by message.

use super::cards;
use crate::context::{BoxError, Context, Processor};
use crate::event::Kind;

/// The step's name.
pub const NAME: &str = "group_flatten";

/// Puts the messages of a group or of a supervisor in the place of its card: assistant messages, and behind each call its
/// result. A child that is a card again is opened too.
///
/// What a child does not say, its agent above all, is its card's.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupFlatten;

impl GroupFlatten {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for GroupFlatten {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        cards::open(context, |kind| matches!(kind, Kind::AssistantGroup(_) | Kind::Supervisor(_)));
        Ok(())
    }
}
