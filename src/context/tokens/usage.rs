//! What providers reported: of a whole session, and of the window that is sent next.

use std::collections::{BTreeSet, HashSet};

use crate::event::{Fields, Message, Role, Usage, Uuid};
use crate::projection::{cached, input_holds_cached};
use crate::session::{Entry, State};

/// Which messages share one report: those of one request, else those of one message of the provider's, else none.
pub(super) fn request_of(message: &Message) -> Option<&str> {
    let named = |id: &'_ Option<String>| id.as_deref().is_some_and(|id| !id.is_empty());
    [&message.request_id, &message.message_id].into_iter().find(|id| named(id)).and_then(|id| id.as_deref())
}

/// All that the providers reported for a session: every message that the state holds, on every branch and of every
/// sub-agent, taken back or not, since all of it was paid for. A request whose usage stands on several messages counts
/// once, with the numbers of the last of them.
///
/// Hand in the whole state ([`Session::whole_state`](crate::session::Session::whole_state)); else it is the sum of the
/// window only. Of fields that no record has, the sum is none.
#[must_use]
pub fn usage_total(state: &State) -> Usage {
    let mut total = Usage { extra: Fields::new(), ..Usage::default() };
    let mut seen = HashSet::new();
    // A trimmed state holds what was kept in the order of the chain; behind it, and in a whole state, file order holds.
    for message in state.entries().iter().rev().filter_map(|entry| entry.event.message()) {
        let Some(usage) = &message.usage else { continue };
        if request_of(message).is_some_and(|request| !seen.insert(request)) {
            continue;
        }
        total.input = total.input.saturating_add(usage.input);
        total.output = total.output.saturating_add(usage.output);
        for (into, tokens) in [
            (&mut total.cache_read, usage.cache_read),
            (&mut total.cache_write, usage.cache_write),
            (&mut total.reasoning, usage.reasoning),
            (&mut total.total, usage.total),
        ] {
            if let Some(tokens) = tokens {
                *into = Some(into.unwrap_or(0).saturating_add(tokens));
            }
        }
    }
    total
}

/// The tokens of the window that a request was made with, its answer included, as its usage says it; none if the usage
/// says nothing of the input.
///
/// That is `total`, where it is recorded and covers input and output. Else it is `input`, `output`, and the cached tokens
/// (`cache_read`, `cache_write`) unless `input` holds them already: Anthropic and Bedrock report cached tokens beside
/// `input_tokens`, any other provider by name is taken to hold them in its `input`, as OpenAI and Google do, where that is large
/// enough to; where no provider is named they are added, since too much is safer than too little.
#[must_use]
pub fn window_of_usage(usage: &Usage, provider: Option<&str>) -> Option<u64> {
    let cached = cached(usage);
    // A request without any input there is not: such a record says what came out and no more.
    if usage.input == 0 && cached == 0 {
        return None;
    }
    let both = usage.input.saturating_add(usage.output);
    if let Some(total) = usage.total.filter(|total| *total >= both) {
        return Some(total);
    }
    let beside = if input_holds_cached(usage, provider) { 0 } else { cached };
    Some(both.saturating_add(beside))
}

/// What the provider said of the window with its latest answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Reported {
    /// The last message of that answer.
    pub message: Uuid,
    /// Tokens of the window up to it, its own output, tools and system prompt included.
    pub tokens: u64,
    /// The messages that were recorded since, so that the provider has not seen them.
    since: BTreeSet<Uuid>,
}

impl Reported {
    /// The latest report of the current chain, if it still says what the window is. None if
    ///
    /// - no answer behind the boundary that counts has one: what a compaction kept speaks of the window before it;
    /// - a message before it was amended, pruned or taken back since;
    /// - the answer's request also made messages that lie before that boundary.
    ///
    /// Only the session is looked at: where prompt assembly leaves messages out, the report does not hold either, and
    /// [`prompt_tokens`](super::prompt_tokens) knows. That tools or a system prompt are other ones now is not seen;
    /// nor is what was left out of the reported request itself, nor that another agent, with another view, made it.
    #[must_use]
    pub fn latest(state: &State) -> Option<Self> {
        let behind = state.boundary().and_then(|boundary| state.index_of(boundary.event.id)).map_or(0, |at| at + 1);
        let chain: Vec<&Entry> = state.chain_since(behind).map(|(_, entry)| entry).collect();
        let (last, answer, tokens) = chain.iter().enumerate().rev().find_map(|(place, entry)| {
            let message = entry.event.message().filter(|message| message.role == Role::Assistant)?;
            let tokens = window_of_usage(message.usage.as_ref()?, message.provider.as_deref())?;
            Some((place, message, tokens))
        })?;
        let request = request_of(answer);
        let is_of_it = |entry: &Entry| {
            let own = entry.event.message().and_then(request_of);
            entry.event.id == chain[last].event.id || (request.is_some() && own == request)
        };
        let kept = state.chain_head();
        if kept.iter().any(|entry| is_of_it(entry)) {
            return None;
        }
        // Results may stand between the messages of one answer; its request was made before them.
        let first = chain.iter().position(|entry| is_of_it(entry)).unwrap_or(last);
        let made_at = chain[first].offset;
        let window_from = state.boundary().map_or(0, |boundary| boundary.offset);
        let was_changed = |entry: &Entry| {
            entry.offset < made_at
                && entry.changes.iter().any(|change| change.offset > made_at)
                // The results of calls on the chain may hang beside it.
                && (state.on_chain(entry.event.id)
                    || entry.offset > window_from
                        && entry.event.message().is_some_and(|message| message.results().next().is_some()))
        };
        if state.entries().iter().any(was_changed) {
            return None;
        }
        let since = state.entries().iter().filter(|entry| entry.offset > made_at && !is_of_it(entry));
        Some(Self {
            message: chain
                .iter()
                .rev()
                .find(|entry| is_of_it(entry))
                .map_or(chain[last].event.id, |entry| entry.event.id),
            tokens,
            since: since.map(|entry| entry.event.id).collect(),
        })
    }

    /// Whether this message was recorded since.
    #[must_use]
    pub fn is_since(&self, message: Uuid) -> bool {
        self.since.contains(&message)
    }
}
