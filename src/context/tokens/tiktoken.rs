//! Exact counts for the vocabularies of OpenAI's models (feature `tiktoken`).

use std::fmt;

use tiktoken_rs::CoreBPE;

use super::counter::TokenCounter;

/// A vocabulary of OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o, 4.1, 4.5 and 5, the o series, gpt-oss.
    O200k,
    /// `cl100k_base`: GPT-4 and 3.5 before them, and the embeddings.
    Cl100k,
}

impl Vocabulary {
    /// The vocabulary of the model of this name, with or without a route, a date or a tuning; none if it is not known
    /// to be one of OpenAI's.
    #[must_use]
    pub fn of_model(model: &str) -> Option<Self> {
        let model = model.to_ascii_lowercase();
        let name = model.rsplit('/').next().unwrap_or_default();
        let name = name.strip_prefix("ft:").unwrap_or(name);
        // The longer names come first: `gpt-4o` begins with `gpt-4`.
        let families = [
            ("gpt-4o", Self::O200k),
            ("gpt-4.1", Self::O200k),
            ("gpt-4.5", Self::O200k),
            ("gpt-5", Self::O200k),
            ("gpt-oss", Self::O200k),
            ("chatgpt-4o", Self::O200k),
            ("o1", Self::O200k),
            ("o3", Self::O200k),
            ("o4", Self::O200k),
            ("gpt-4", Self::Cl100k),
            ("gpt-3.5", Self::Cl100k),
            ("gpt-35", Self::Cl100k),
            ("text-embedding-3", Self::Cl100k),
            ("text-embedding-ada-002", Self::Cl100k),
        ];
        let is_of = |family: &str| {
            name.strip_prefix(family).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        families.iter().find(|(family, _)| is_of(family)).map(|(_, vocabulary)| *vocabulary)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    /// Made at the first use, which takes some 0.2 s, and shared by all from then on.
    fn encoder(self) -> &'static CoreBPE {
        match self {
            Self::O200k => tiktoken_rs::o200k_base_singleton(),
            Self::Cl100k => tiktoken_rs::cl100k_base_singleton(),
        }
    }
}

/// Counts by a vocabulary of OpenAI's, exactly. What looks like a special token counts as the text that it is.
///
/// A number of it is exact for a text; what a request costs is a little more, since each message has a frame. It counts
/// some 5 to 10 MB a second, far fewer than [`Estimate`](super::Estimate), and its first use takes some 0.2 s. Both
/// vocabularies add 7.5 MB to a program.
#[derive(Clone, Copy)]
pub struct Tiktoken {
    vocabulary: Vocabulary,
    encoder: &'static CoreBPE,
}

impl Tiktoken {
    /// A counter by this vocabulary.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self { vocabulary, encoder: vocabulary.encoder() }
    }

    /// A counter for the model of this name; none if its vocabulary is not known, and the estimate is what is left.
    #[must_use]
    pub fn for_model(model: &str) -> Option<Self> {
        Vocabulary::of_model(model).map(Self::new)
    }
}

impl TokenCounter for Tiktoken {
    fn count(&self, text: &str) -> u64 {
        self.encoder.count_ordinary(text) as u64
    }

    fn name(&self) -> &str {
        self.vocabulary.name()
    }
}

impl fmt::Debug for Tiktoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tiktoken").field("vocabulary", &self.vocabulary).finish_non_exhaustive()
    }
}
