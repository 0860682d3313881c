//! The results and attachments that a model's view ends with.

use std::collections::HashMap;

use super::message::ProjectedMessage;
use crate::event::{Kind, Role};

/// The results and attachments that a view ends with, as far as they were looked at. Each message is looked at once,
/// however many attachments ask.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The place behind the last message that was looked at; none before the first look.
    seen: Option<usize>,
    /// For each call the place of its first result.
    results: HashMap<String, usize>,
}

impl Tail {
    /// The place of the first result of this call among the results and attachments at the end of these messages,
    /// which are those of the last time with more behind them.
    pub(super) fn result_of(&mut self, call: &str, messages: &[ProjectedMessage]) -> Option<usize> {
        let seen = self.seen.unwrap_or_else(|| {
            messages.len() - messages.iter().rev().take_while(|message| is_in_tail(message)).count()
        });
        for (at, message) in messages.iter().enumerate().skip(seen) {
            if !is_in_tail(message) {
                self.results.clear();
                continue;
            }
            for result in message.content.iter().filter_map(|part| part.as_tool_result()) {
                if !self.results.contains_key(&result.call_id) {
                    self.results.insert(result.call_id.clone(), at);
                }
            }
        }
        self.seen = Some(messages.len());
        self.results.get(call).copied()
    }

    /// A message without results was put in at this place, before one that was looked at.
    pub(super) fn put_in(&mut self, at: usize) {
        self.results.values_mut().filter(|place| **place >= at).for_each(|place| *place += 1);
        self.seen = self.seen.map(|seen| seen + 1);
    }
}

fn is_in_tail(message: &ProjectedMessage) -> bool {
    message.role == Role::Tool || matches!(*message.kind, Kind::Attachment(_))
}
