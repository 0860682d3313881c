//! Whether what answers a call goes with it, where calls are left out.

use std::collections::BTreeMap;

use crate::event::ToolCall;
use crate::projection::ProjectedMessage;

/// By their id: whether the calls of the latest message that has any go, those that wait for a result.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, Waiting>);

#[derive(Debug)]
struct Waiting {
    /// In order.
    calls: Vec<bool>,
    /// How many of them have a result.
    answered: usize,
}

impl Answers {
    /// Takes note of the calls of a message, and which of them go.
    pub(super) fn note_calls(&mut self, message: &ProjectedMessage, goes: impl Fn(&ToolCall) -> bool) {
        let mut own: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        for call in message.content.iter().filter_map(|part| part.as_tool_call()).filter(|call| !call.incomplete) {
            own.entry(&call.id).or_default().push(goes(call));
        }
        self.0.extend(own.into_iter().map(|(id, calls)| (id.to_owned(), Waiting { calls, answered: 0 })));
    }

    /// Whether the call that the next answer of this id belongs to goes. A further answer belongs to the last call.
    pub(super) fn next_goes(&self, id: &str) -> bool {
        let waiting = self.0.get(id);
        waiting.is_some_and(|waiting| waiting.calls.get(waiting.answered).or(waiting.calls.last()) == Some(&true))
    }

    /// The same, for a result, which answers it.
    pub(super) fn result_goes(&mut self, id: &str) -> bool {
        let goes = self.next_goes(id);
        if let Some(waiting) = self.0.get_mut(id) {
            waiting.answered += 1;
        }
        goes
    }

    /// Whether all calls of this id go.
    pub(super) fn all_go(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|waiting| waiting.calls.iter().all(|goes| *goes))
    }
}
