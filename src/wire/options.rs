//! What a caller can choose about a request body.

/// Choices of a request body. Begin with the default and set what differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Options {
    /// The provider that the request goes to behind an interface that serves several, such as `anthropic`, `openai`,
    /// `google` or `bedrock`. Reasoning, signatures and item ids go to the provider that made them and to no other;
    /// without a name they are left out, since no provider can be sure to be theirs.
    pub provider: Option<String>,
}

impl Options {
    /// Choices for a request that goes to this provider.
    #[must_use]
    pub fn for_provider(provider: impl Into<String>) -> Self {
        Self { provider: Some(provider.into()) }
    }
}
