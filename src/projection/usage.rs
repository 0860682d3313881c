//! What a usage's numbers of tokens cover: providers count those that came from a cache within the input, or beside it.

use super::owner::Owner;
use crate::event::Usage;

/// Tokens that were read from caches or written to them.
pub(crate) fn cached(usage: &Usage) -> u64 {
    usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0))
}

/// Whether `input` holds the cached tokens, rather than leaving them out.
///
/// The total tells where it is one sum or the other. Else Anthropic and Bedrock report cached tokens beside `input_tokens`, and
/// any other provider by name is taken to hold them in its input, as OpenAI and Google do, where that is large enough to; where
/// no provider is named they are beside, since too much is safer than too little.
pub(crate) fn input_holds_cached(usage: &Usage, provider: Option<&str>) -> bool {
    let cached = cached(usage);
    if usage.input < cached {
        return false;
    }
    let both = usage.input.saturating_add(usage.output);
    match usage.total {
        Some(total) if cached > 0 && total == both => true,
        Some(total) if total == both.saturating_add(cached) => false,
        _ => provider.is_some_and(|name| !matches!(Owner::named(name), Some(Owner::Anthropic | Owner::Bedrock))),
    }
}
