//! What counts the tokens of a text.

use std::fmt::Debug;
use std::sync::Arc;

/// Counts the tokens of a text, exactly or by an estimate. The same text gives the same number.
pub trait TokenCounter: Debug + Send + Sync {
    /// The tokens of this text; 0 for an empty one.
    fn count(&self, text: &str) -> u64;

    /// Its name, such as that of its vocabulary.
    fn name(&self) -> &str;
}

impl<C: TokenCounter + ?Sized> TokenCounter for &C {
    fn count(&self, text: &str) -> u64 {
        (**self).count(text)
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}

impl<C: TokenCounter + ?Sized> TokenCounter for Box<C> {
    fn count(&self, text: &str) -> u64 {
        (**self).count(text)
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}

impl<C: TokenCounter + ?Sized> TokenCounter for Arc<C> {
    fn count(&self, text: &str) -> u64 {
        (**self).count(text)
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}
