//! A supervisor's own words, as an assistant's.

use super::retell::Retold;
use crate::context::{BoxError, Context, Processor};
use crate::event::{Kind, Role};

/// The step's name.
pub const NAME: &str = "supervisor_role";

/// Gives what a supervisor says itself the role of an assistant, whatever role its card was recorded with.
#[derive(Debug, Clone, Copy, Default)]
pub struct SupervisorRole;

impl SupervisorRole {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for SupervisorRole {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let mut retold = Retold::default();
        for message in &mut context.messages {
            // Results that its card held stay a tool's.
            if matches!(*message.kind, Kind::Supervisor(_)) && matches!(message.role, Role::System | Role::User) {
                message.role = Role::Assistant;
                retold.add(message);
            }
        }
        retold.say(context, "a supervisor speaks as an assistant");
        Ok(())
    }
}
