//! What a step of a pipeline is, and what it works on.

use std::fmt::Debug;

use serde::Serialize;

use super::error::BoxError;
use super::metadata::Metadata;
use super::tool::Tool;
use crate::projection::{Diagnostic, ProjectedMessage};

/// A step of a pipeline.
///
/// A step that only adds text is written faster as a [`Source`](super::Source) in an [`Inject`](super::Inject).
pub trait Processor: Debug + Send + Sync {
    /// Its name, unique in its pipeline: what it is inserted by, timed by and named by in an error.
    fn name(&self) -> &str;

    /// Does its work on the messages and tools.
    ///
    /// # Errors
    /// Whatever keeps the whole prompt from being sent. What concerns one message is better a diagnostic: a prompt with
    /// less in it is better than none.
    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError>;
}

/// A step that a pipeline gave back, to be put in again.
impl<P: Processor + ?Sized> Processor for Box<P> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        (**self).process(context)
    }
}

/// What goes through a pipeline.
///
/// The messages are this run's own: no step can change what the session or the caller holds. Parts are shared, so a
/// step that changes one puts another in its place; what it leaves alone is never copied.
#[derive(Debug)]
pub struct Context<'i> {
    /// The messages, in order, as they are so far.
    pub messages: Vec<ProjectedMessage>,
    /// The tools that are offered to the model, in order.
    pub tools: Vec<Tool>,
    /// What steps tell each other and the caller, each under a type of its own.
    pub metadata: Metadata,
    /// What was left out, changed or put in, and why.
    pub diagnostics: Vec<Diagnostic>,
    input: &'i [ProjectedMessage],
    /// Why the step at hand ends the run.
    stopped: Option<String>,
}

/// A step ended the run. That is no error: what was done so far counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stopped {
    /// The step.
    pub step: String,
    /// Why, in its words.
    pub reason: String,
}

/// The codes of the [`Diagnostic`]s of this floor.
pub mod code {
    /// Messages were left out since there are more groups than are to be kept, or more tokens.
    pub const TRUNCATED: &str = "truncated";
    /// What is always kept costs more tokens than it may.
    pub const OVER_BUDGET: &str = "over_budget";
    /// A card of several agents became the messages that it holds.
    pub const CARD_OPENED: &str = "card_opened";
    /// What a card holds can't be read, or lies too deep, and stays the text that the view made.
    pub const CARD_LEFT_AS_TEXT: &str = "card_left_as_text";
    /// How a supervisor directs its agents is left out for these.
    pub const ORCHESTRATION_LEFT_OUT: &str = "orchestration_left_out";
    /// Messages go out in another role or wording, as their reader is to take them.
    pub const RETOLD: &str = "retold";
    /// A call of a tool that is off was left out.
    pub const DISABLED_CALL_LEFT_OUT: &str = "disabled_call_left_out";
    /// A result stands at another place than before: behind its call.
    pub const RESULT_MOVED: &str = "result_moved";
    /// A result without output got the text of its error.
    pub const ERROR_AS_OUTPUT: &str = "error_as_output";
    /// The texts of user inputs stand in the application's template.
    pub const TEMPLATE_APPLIED: &str = "template_applied";
    /// The application's template has no place for the person's text.
    pub const TEMPLATE_BROKEN: &str = "template_broken";
    /// Names in double braces were replaced.
    pub const PLACEHOLDERS_FILLED: &str = "placeholders_filled";
    /// Names in double braces that nothing is known of, or that lie too deep.
    pub const PLACEHOLDER_UNRESOLVED: &str = "placeholder_unresolved";
    /// A name has no value since its generator failed, or a text would become too long.
    pub const PLACEHOLDER_FAILED: &str = "placeholder_failed";
    /// A manifest or skill of the configuration is wrong, or has the identifier of another one.
    pub const CONFIGURATION_REFUSED: &str = "configuration_refused";
    /// A step wrote text into a slot.
    pub const INJECTED: &str = "injected";
    /// A conversation that the person refers to could not be read, or has nothing to tell.
    pub const TOPIC_LEFT_OUT: &str = "topic_left_out";
    /// A document whose rule can't be judged.
    pub const DOCUMENT_LEFT_OUT: &str = "document_left_out";
    /// Documents stand in the place of all that the system slot held.
    pub const SYSTEM_REPLACED: &str = "system_replaced";
    /// A recorded page selection without text.
    pub const SELECTION_LEFT_OUT: &str = "selection_left_out";
    /// The run has to end, so no tool is offered.
    pub const FINISH_FORCED: &str = "finish_forced";
}

impl<'i> Context<'i> {
    /// A context over these messages.
    pub(super) fn new(input: &'i [ProjectedMessage]) -> Self {
        let (tools, diagnostics) = (Vec::new(), Vec::new());
        Self { messages: input.to_vec(), tools, metadata: Metadata::default(), diagnostics, input, stopped: None }
    }

    /// The messages that the run began with.
    #[must_use]
    pub fn input(&self) -> &'i [ProjectedMessage] {
        self.input
    }

    /// Ends the run behind this step, without an error.
    pub fn stop(&mut self, reason: impl Into<String>) {
        self.stopped = Some(reason.into());
    }

    /// Says what happened to these messages.
    pub fn say(&mut self, item: Diagnostic) {
        self.diagnostics.push(item);
    }

    /// Takes the end of the run, by this step.
    pub(super) fn take_stopped(&mut self, step: &str) -> Option<Stopped> {
        self.stopped.take().map(|reason| Stopped { step: step.to_owned(), reason })
    }
}
