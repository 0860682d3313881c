//! What a rollout says beside its items: who made them, what that cost, and how the session is called.

use crate::event::{Usage, Value};
use crate::interop::leaving_usage::within_input;

/// The settings of a turn, of which the model alone is known; what the program may do is as little as there is.
pub(super) fn settings(cwd: &str, model: &str) -> Value {
    Value::from([
        ("cwd", cwd.into()),
        ("approval_policy", "on-request".into()),
        ("sandbox_policy", Value::from([("type", "read-only".into())])),
        ("model", model.into()),
        ("summary", "auto".into()),
    ])
}

pub(super) fn thread_name(session: &str, name: &str) -> Value {
    Value::from([("type", "thread_name_updated".into()), ("thread_id", session.into()), ("thread_name", name.into())])
}

/// Tokens of all requests so far.
#[derive(Debug, Default)]
pub(super) struct Totals([i64; 6]);

const NAMES: [&str; 6] =
    ["input_tokens", "cached_input_tokens", CACHE_WRITE, "output_tokens", "reasoning_output_tokens", "total_tokens"];

/// What only newer versions count.
const CACHE_WRITE: &str = "cache_write_input_tokens";

impl Totals {
    /// Takes over what a record says.
    pub(super) fn read(&mut self, event: &Value) {
        let Some(total) = event.get("info").and_then(|info| info.get("total_token_usage")) else { return };
        self.0 = NAMES.map(|name| total.get(name).and_then(Value::as_i64).unwrap_or_default().max(0));
    }

    /// One more request. None: it cost nothing, of which a reader would not know that it is another one.
    pub(super) fn add(&mut self, usage: &Usage, provider: Option<&str>) -> Option<Value> {
        let Usage { input, output, cache_read, cache_write, reasoning, total, .. } = within_input(usage, provider);
        let total = total.unwrap_or_else(|| input.saturating_add(output));
        let [cache_read, cache_write, reasoning] = [cache_read, cache_write, reasoning].map(Option::unwrap_or_default);
        let counts = [input, cache_read, cache_write, output, reasoning, total];
        let last = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        if last.iter().all(|count| *count == 0) {
            return None;
        }
        for (total, last) in self.0.iter_mut().zip(last) {
            *total = total.saturating_add(last);
        }
        let tokens = |counts: [i64; 6]| {
            let said = NAMES.iter().zip(counts).filter(|(name, count)| **name != CACHE_WRITE || *count > 0);
            Value::Map(said.map(|(name, count)| ((*name).to_owned(), Value::Int(count))).collect())
        };
        let info = Value::from([
            ("total_token_usage", tokens(self.0)),
            ("last_token_usage", tokens(last)),
            ("model_context_window", Value::Null),
        ]);
        Some(Value::from([("type", "token_count".into()), ("info", info), ("rate_limits", Value::Null)]))
    }
}

/// Whether the format says all that is known of the cost.
pub(super) fn says_all(usage: &Usage) -> bool {
    usage.extra.is_empty()
}
