//! The tools of the call.

use serde::Serialize;

use crate::context::tools::{Filtered, ToolSet};
use crate::context::{BoxError, Context, Entry, Processor, Tool};

/// The step's name.
pub const NAME: &str = "offer_tools";

/// Offers tools to the model. It runs early, so that any later step may take some away.
#[derive(Debug, Clone, Default)]
pub struct OfferTools {
    tools: Vec<Tool>,
    filtered: Vec<Filtered>,
}

/// What was asked for and is not offered, each with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct NotOffered(pub Vec<Filtered>);

impl Entry for NotOffered {
    const NAME: &'static str = "not_offered";
}

impl OfferTools {
    /// Offers these tools, and those of the set behind them; none at all where the set says that the call has none
    /// ([`ToolSet::why_none`]).
    #[must_use]
    pub fn new(tools: &[Tool], set: &ToolSet) -> Self {
        let Some(why) = set.why_none() else {
            return Self { tools: [tools, set.tools()].concat(), filtered: set.filtered().to_vec() };
        };
        let plain = tools.iter().map(|tool| Filtered { id: tool.name.clone(), why: why.clone() });
        Self { tools: Vec::new(), filtered: plain.chain(set.filtered().iter().cloned()).collect() }
    }
}

impl Processor for OfferTools {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        context.tools.extend_from_slice(&self.tools);
        if !self.filtered.is_empty() {
            context.metadata.insert(NotOffered(self.filtered.clone()));
        }
        Ok(())
    }
}
