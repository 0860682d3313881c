//! A usage in the numbers of a program: some count what came from caches within the input, others beside it.

use crate::event::Usage;
use crate::projection::{cached, input_holds_cached};

/// With an input that leaves cached tokens out, as Claude Code and pi have it.
pub(super) fn beside_caches(usage: &Usage, provider: Option<&str>) -> Usage {
    let held = if input_holds_cached(usage, provider) { cached(usage) } else { 0 };
    Usage { input: usage.input - held, ..usage.clone() }
}

/// With an input that holds cached tokens, as Codex has it.
pub(super) fn within_input(usage: &Usage, provider: Option<&str>) -> Usage {
    let beside = if input_holds_cached(usage, provider) { 0 } else { cached(usage) };
    Usage { input: usage.input.saturating_add(beside), ..usage.clone() }
}
