//! Messages that were compressed in a card, as a summary in the user's place.

use super::retell::{Retold, put_in_tag};
use crate::context::{BoxError, Context, Processor, tagged};
use crate::event::{Kind, Role};

/// The step's name.
pub const NAME: &str = "compressed_group";

/// The tag around the summary.
pub const TAG: &str = "compressed_history_summary";

/// Puts the summary of a compressed group into a tag, in a user message: nobody says it, it tells what was said. Where
/// the group has no summary, the messages that it holds stand there as lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompressedGroup;

impl CompressedGroup {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for CompressedGroup {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let mut retold = Retold::default();
        for message in &mut context.messages {
            if matches!(*message.kind, Kind::CompressedGroup(_)) && !message.content.is_empty() {
                message.role = Role::User;
                put_in_tag(message, |text| tagged(TAG, &[], text));
                retold.add(message);
            }
        }
        retold.say(context, "compressed messages are a summary in the user's place");
        Ok(())
    }
}
