//! Who made a part: what a provider signed or numbered goes back to it and to no other.

use crate::event::Part;
use crate::projection::ProjectedMessage;

/// A provider whose own data can be sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Anthropic,
    OpenAi,
    Google,
    Bedrock,
}

impl Owner {
    /// The provider of this name; none if it takes nothing back, or is not known here.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "anthropic" => Some(Self::Anthropic),
            "openai" | "openai-responses" | "openai_responses" | "openai.responses" => Some(Self::OpenAi),
            "google" | "gemini" | "google-generative-ai" | "google.generative-ai" => Some(Self::Google),
            "bedrock" | "amazon-bedrock" | "amazon_bedrock" | "amazonbedrock" => Some(Self::Bedrock),
            _ => None,
        }
    }

    /// The provider that made this part of this message.
    pub(super) fn of(source: &ProjectedMessage, part: &Part) -> Option<Self> {
        part.provider.as_deref().or(source.provider.as_deref()).and_then(Self::named)
    }
}
