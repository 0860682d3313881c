//! Tokens: what the program was told of each request, counted once.

use serde::Serialize;

use crate::event::{Fields, Value};

/// Numbers of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub struct Tokens {
    pub input: u64,
    /// Those of the input that came out of a cache.
    pub cached_input: u64,
    /// Those of the input that were written to a cache, as newer versions say.
    pub cache_write_input: u64,
    pub output: u64,
    /// Those of the output that are reasoning.
    pub reasoning_output: u64,
    pub total: u64,
}

impl Tokens {
    fn of(value: &Value) -> Self {
        let count = |name: &str| {
            let count = value.get(name).and_then(Value::as_i64).unwrap_or_default();
            u64::try_from(count).unwrap_or_default()
        };
        Self {
            input: count("input_tokens"),
            cached_input: count("cached_input_tokens"),
            cache_write_input: count("cache_write_input_tokens"),
            output: count("output_tokens"),
            reasoning_output: count("reasoning_output_tokens"),
            total: count("total_tokens"),
        }
    }

    fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached_input = self.cached_input.saturating_add(more.cached_input);
        self.cache_write_input = self.cache_write_input.saturating_add(more.cache_write_input);
        self.output = self.output.saturating_add(more.output);
        self.reasoning_output = self.reasoning_output.saturating_add(more.reasoning_output);
        self.total = self.total.saturating_add(more.total);
    }

    /// As a patch of the message that the request gave.
    pub(super) fn as_patch(self) -> Fields {
        let written = Some(self.cache_write_input).filter(|count| *count > 0);
        let fields = [
            ("input", Some(self.input)),
            ("output", Some(self.output)),
            ("cache_read", Some(self.cached_input)),
            ("cache_write", written),
            ("reasoning", Some(self.reasoning_output)),
            ("total", Some(self.total)),
        ];
        let fields = fields.into_iter().filter_map(|(name, count)| Some((name.to_owned(), Value::from(count?))));
        vec![("usage".to_owned(), Value::Map(fields.collect()))]
    }
}

/// Counts requests. The program repeats what it knows: only a total that has changed tells of one more.
#[derive(Debug, Default)]
pub(super) struct Counter {
    total: Option<Tokens>,
    pub(super) sum: Tokens,
}

impl Counter {
    /// What the request cost that this event tells of, if it is a new one.
    pub(super) fn add(&mut self, event: &Value) -> Option<Tokens> {
        let info = event.get("info")?;
        let total = Tokens::of(info.get("total_token_usage")?);
        if self.total == Some(total) {
            return None;
        }
        self.total = Some(total);
        let last = Tokens::of(info.get("last_token_usage")?);
        self.sum.add(last);
        Some(last)
    }
}
