//! The answers of a council of agents, each as its member gave it.

use super::cards;
use crate::context::{BoxError, Context, Processor};
use crate::event::Kind;

/// The step's name.
pub const NAME: &str = "council_flatten";

/// Puts the members' messages in the place of a council. A member may be a group, or a council again.
///
/// Each message keeps its agent's name, by which [`speaker`](super::speaker) tells whose words it holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct CouncilFlatten;

impl CouncilFlatten {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for CouncilFlatten {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        cards::open(context, |kind| matches!(kind, Kind::AgentCouncil(_)));
        Ok(())
    }
}
