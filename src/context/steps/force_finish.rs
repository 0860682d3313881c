//! The end of a run: a last answer, and no more tools.

use serde::Deserialize;

use crate::context::{BoxError, Context, Processor, code};
use crate::event::{Custom, Kind, Part, Role};
use crate::projection::{Diagnostic, ProjectedMessage, View, is_blank};

/// The step's name, and the custom type of its message.
pub const NAME: &str = "force_finish";

/// What the model is told.
pub const FINISH_NOTE: &str = "The limit of steps for this run is reached. Do not call any tool now. Sum up what was \
done and found, say what is still open, and give your final answer.";

/// Whether the run has to end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ForceFinishConfig {
    /// It has to.
    pub finish: bool,
    /// What the model is told in the place of [`FINISH_NOTE`].
    pub note: Option<String>,
}

/// Puts a system message at the end that asks for a final answer, and offers no tool: a note alone does not keep a model
/// from calling, and tools that are gone without a word make it call all the same.
///
/// It runs behind all steps that write messages or offer tools, before the clean-up.
#[derive(Debug, Clone, Default)]
pub struct ForceFinish {
    config: ForceFinishConfig,
}

impl ForceFinish {
    /// A step that ends the run if this says so.
    #[must_use]
    pub fn new(config: ForceFinishConfig) -> Self {
        Self { config }
    }
}

impl Processor for ForceFinish {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        if !self.config.finish {
            return Ok(());
        }
        let note = self.config.note.as_deref().filter(|note| !is_blank(note)).unwrap_or(FINISH_NOTE);
        let kind = Kind::Custom(Custom { custom_type: NAME.to_owned(), display: false, details: None });
        context.messages.push(ProjectedMessage::made(View::Model, Role::System, kind, vec![Part::text(note)]));
        let reason = "the run has to end, so no tool is offered";
        context.tools.clear();
        context.say(Diagnostic::new(code::FINISH_FORCED, [], reason));
        Ok(())
    }
}
