//! A step that says what the prompt costs, for the end of a pipeline.

use std::sync::Arc;

use serde::Serialize;

use super::account::{Account, account_of};
use super::counter::TokenCounter;
use super::estimate::Estimate;
use super::threshold::{Limits, Verdict, needs_compaction};
use super::usage::Reported;
use crate::context::{BoxError, Context, Entry, Processor};

/// The step's name.
pub const NAME: &str = "count_tokens";

/// Counts the messages and tools as they are, and says whether that is too much. It changes nothing, so it belongs at the
/// end, where they are what is sent. Without limits it does nothing.
#[derive(Debug, Clone)]
pub struct CountTokens {
    limits: Option<Limits>,
    counter: Arc<dyn TokenCounter>,
    reported: Option<Reported>,
}

/// What [`CountTokens`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counted {
    /// What the prompt costs.
    pub account: Account,
    /// Whether that is too much.
    pub verdict: Verdict,
}

impl Entry for Counted {
    const NAME: &'static str = "tokens";
}

impl CountTokens {
    /// A step that estimates, and holds the number against these limits.
    #[must_use]
    pub fn new(limits: Option<Limits>) -> Self {
        Self { limits, counter: Arc::new(Estimate), reported: None }
    }

    /// The same with another counter.
    #[must_use]
    pub fn with_counter(self, counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, ..self }
    }

    /// The same with what the provider reported last, as [`Reported::latest`] gives it for the session whose view goes
    /// through the pipeline.
    #[must_use]
    pub fn with_report(self, reported: Option<Reported>) -> Self {
        Self { reported, ..self }
    }
}

impl Processor for CountTokens {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let Context { messages, tools, diagnostics, .. } = &*context;
        let account = account_of(messages, tools, diagnostics, self.reported.as_ref(), &*self.counter);
        context.metadata.insert(Counted { account, verdict: needs_compaction(&account, limits) });
        Ok(())
    }
}
