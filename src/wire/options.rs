//! What a caller can choose about a request body.

use super::media::MediaLimits;
use crate::context::Tool;

/// Choices of a request body. Begin with the default and set what differs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The provider that a request of the AI SDK goes to, by [one of its names](super#who-made-it).
    /// Reasoning, signatures and item ids go to the provider that made them and to no other; without a name they are
    /// left out, since no provider can be sure to be theirs. The other bodies name their provider themselves.
    pub upstream: Option<String>,
    /// The model that the request goes to. Reasoning of another model is left out. Without a name it is the model of the
    /// provider's that answered last, if one is known: name it, as that may change from one body to the next.
    pub model: Option<String>,
    /// The tools that are declared to the model, in this order.
    pub tools: Vec<Tool>,
    /// Most tokens of the answer, where a provider must be told: Anthropic's. Default 8,192.
    pub max_tokens: u32,
    /// Limits on pictures in the place of the provider's own.
    pub media: Option<MediaLimits>,
    /// The ids that OpenAI gave to messages and calls go back with the reasoning that they came with. Default true.
    pub item_ids: bool,
    /// Chat Completions: the text of the model's reasoning goes back as `reasoning_content`, which some compatible
    /// servers want inside a row of calls. OpenAI's own has no such field. Default false.
    pub reasoning_content: bool,
    /// Where the provider refuses or ignores a request that ends with the model's own words, Gemini, a text of the
    /// user's is put behind them. Default true; false is for an application that adds the user's next words to the
    /// body itself.
    pub last_user: bool,
    /// The AI SDK's list of messages begins with the system prompt, for an application that allows it
    /// (`allowSystemInMessages`). Default false: the prompt stands beside the list, as version 7 wants it.
    pub system_in_messages: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            upstream: None,
            model: None,
            tools: Vec::new(),
            max_tokens: 8_192,
            media: None,
            item_ids: true,
            reasoning_content: false,
            last_user: true,
            system_in_messages: false,
        }
    }
}

impl Options {
    /// Choices for a request of the AI SDK that goes to this provider.
    #[must_use]
    pub fn for_upstream(provider: impl Into<String>) -> Self {
        Self { upstream: Some(provider.into()), ..Self::default() }
    }

    /// Choices for a request to this model.
    #[must_use]
    pub fn for_model(model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..Self::default() }
    }
}
