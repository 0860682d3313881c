//! Messages in order, each result behind its call.

use std::collections::{HashMap, VecDeque};

use crate::event::Role;
use crate::projection::ProjectedMessage;

/// Messages as they are added, but for results, which stand behind their call, in the order of the calls.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    said: Vec<Said>,
    /// The calls without a result, by id: those of the latest message that has any. Each is the message's place and its
    /// own among that one's calls.
    open: HashMap<String, VecDeque<(usize, usize)>>,
}

#[derive(Debug)]
struct Said {
    message: ProjectedMessage,
    results: Vec<(usize, ProjectedMessage)>,
}

impl Sequence {
    /// Adds what is no result.
    pub(super) fn push(&mut self, message: ProjectedMessage) {
        let place = self.said.len();
        for (index, call) in message.content.iter().filter_map(|part| part.as_tool_call()).enumerate() {
            let open = self.open.entry(call.id.clone()).or_default();
            // A model that uses an id again means the latest call. All that wait are of one message.
            if open.front().is_some_and(|(earlier, _)| *earlier != place) {
                open.clear();
            }
            open.push_back((place, index));
        }
        self.said.push(Said { message, results: Vec::new() });
    }

    /// Adds a message of one result. Where no call waits for it, it stays where it is.
    pub(super) fn push_result(&mut self, message: ProjectedMessage) {
        let result = message.content.iter().find_map(|part| part.as_tool_result());
        let call = result.and_then(|result| self.open.get_mut(&result.call_id)?.pop_front());
        match call.and_then(|(place, index)| Some((self.said.get_mut(place)?, index))) {
            Some((said, index)) => said.results.push((index, message)),
            None => self.said.push(Said { message, results: Vec::new() }),
        }
    }

    /// The messages. Results that one message holds side by side are one.
    pub(super) fn finish(self) -> Vec<ProjectedMessage> {
        let mut messages: Vec<ProjectedMessage> = Vec::with_capacity(self.said.len());
        for Said { message, mut results } in self.said {
            messages.push(message);
            results.sort_by_key(|(index, _)| *index);
            for (_, result) in results {
                let is_same = |last: &&mut ProjectedMessage| last.role == Role::Tool && last.id == result.id;
                match messages.last_mut().filter(is_same) {
                    Some(last) => last.content.extend(result.content),
                    None => messages.push(result),
                }
            }
        }
        messages
    }
}
