//! A task that reports back, as a turn of the user's.

use super::retell::{Retold, put_in_tag, without_view_text};
use crate::context::{BoxError, Context, Processor, tagged};
use crate::event::{Kind, Role};

/// The step's name.
pub const NAME: &str = "task_callback";

/// The tag around what the task reports.
pub const TAG: &str = "task_result";

/// Puts a task's report into a tag that names the task and how it ended, in a user message: the agent that gave the task
/// is to read it as a report, and not as something that it said itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskCallback;

impl TaskCallback {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for TaskCallback {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let mut retold = Retold::default();
        for message in &mut context.messages {
            let Kind::TaskCallback(callback) = &*message.kind else { continue };
            // The result of a call of its own.
            if message.role == Role::Tool {
                continue;
            }
            let callback = callback.clone();
            without_view_text(message);
            message.role = Role::User;
            let attributes = [("task", callback.task.as_str()), ("status", callback.status.as_str())];
            put_in_tag(message, |text| tagged(TAG, &attributes, text));
            retold.add(message);
        }
        retold.say(context, "a task's report is a turn of the user's");
        Ok(())
    }
}
