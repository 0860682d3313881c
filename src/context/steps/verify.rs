//! A check of what was delivered, as a turn of the user's, or as nothing.

use super::retell::{Retold, put_in_tag, without_view_text};
use crate::context::{BoxError, Context, Processor, tagged};
use crate::event::{Kind, Role, Uuid};
use crate::projection::{self, Diagnostic, ProjectedMessage};

/// The step's name.
pub const NAME: &str = "verify";

/// The tag around the feedback.
pub const TAG: &str = "delivery_check_feedback";

/// Puts the feedback of a check into a tag, in a user message. A check that says nothing is for the screen, and is left
/// out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Verify;

impl Verify {
    /// The step.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl Processor for Verify {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let (mut retold, mut left_out) = (Retold::default(), Vec::<Uuid>::new());
        context.messages.retain_mut(|message| {
            let Kind::Verify(verify) = &*message.kind else { return true };
            // The result of a call of its own.
            if message.role == Role::Tool {
                return true;
            }
            let verify = verify.clone();
            without_view_text(message);
            let feedback = verify.feedback.as_deref().unwrap_or_default();
            if feedback.trim().is_empty() && says_nothing(message) {
                left_out.extend(&message.source_message_ids);
                return false;
            }
            message.role = Role::User;
            put_in_tag(message, |text| {
                let texts = [text, feedback].into_iter().filter(|text| !text.trim().is_empty());
                tagged(TAG, &[], &texts.collect::<Vec<_>>().join("\n\n"))
            });
            retold.add(message);
            true
        });
        if !left_out.is_empty() {
            let reason = "a check without feedback is for the screen";
            context.say(Diagnostic::new(projection::code::KIND_LEFT_OUT, left_out, reason));
        }
        retold.say(context, "the feedback of a check is a turn of the user's");
        Ok(())
    }
}

fn says_nothing(message: &ProjectedMessage) -> bool {
    message.content.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
}
