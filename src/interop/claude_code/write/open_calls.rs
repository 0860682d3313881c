//! Answers none of whose calls has a result.
//!
//! The program (2.1.197) drops a record in which all calls are without a result, and with it what else the record says.
//! It writes each block as a record of its own, so that only the calls go. What stands beside such calls does so here too.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Writer;
use crate::event::{Event, Fields, Kind, Message, Role, Value, foreign_id};
use crate::interop::claude_code::FORMAT;
use crate::interop::fields::{field, put};

impl Writer<'_, '_> {
    /// Which calls have a result behind them in the file, with no other message between, by the message that holds them. `cut`
    /// has messages that are written with some of their results only, `parent` says what each hangs on.
    pub(super) fn find_answered(
        &self,
        written: &[bool],
        cut: &HashMap<usize, Arc<Event>>,
        parent: &[Option<usize>],
    ) -> HashSet<(usize, String)> {
        let mut answered = HashSet::new();
        // The answer behind which nothing but results stands.
        let mut behind: Vec<Option<usize>> = vec![None; written.len()];
        for index in (0..written.len()).filter(|&index| written[index]) {
            let Some(message) = cut.get(&index).map_or(self.source.message(index), |event| event.message()) else {
                continue;
            };
            behind[index] = match message.role {
                Role::Assistant => Some(index),
                _ if goes_along(message) => parent[index].and_then(|parent| behind[parent]),
                _ => None,
            };
            for result in message.results() {
                let holder = self.source.holder(index, &result.call_id).filter(|_| behind[index].is_some());
                answered.extend(holder.map(|holder| (holder, result.call_id.clone())));
            }
        }
        answered
    }

    /// Adds the record of a message; two, if it is an answer that has calls without a result and says more.
    pub(super) fn answer(&mut self, index: usize, mut said: Fields, parent: Value) {
        let mut hangs_on = parent;
        if let Some(rest) = self.apart_from_calls(index, &mut said) {
            let name = foreign_id(FORMAT, &self.session, &format!("{}.apart", self.names[index]), 1).to_string();
            self.record_as(&name, index, rest, hangs_on);
            hangs_on = name.as_str().into();
            self.apart.insert(index, name);
        }
        self.record(index, said, hangs_on);
    }

    /// Takes what stands beside the calls out of the record; none: there is nothing, or a call has its result.
    fn apart_from_calls(&self, index: usize, said: &mut Fields) -> Option<Fields> {
        let is_open = |id: &str| !self.answered.contains(&(index, id.to_owned()));
        let mut calls = self.source.message(index)?.calls().peekable();
        calls.peek()?;
        if !calls.all(|call| is_open(&call.id)) {
            return None;
        }
        let (_, Value::Map(inner)) = said.iter_mut().find(|(name, _)| name == "message")? else { return None };
        let Some(Value::List(blocks)) = field(inner, "content") else { return None };
        let is_call = |block: &Value| block.get("type").and_then(Value::as_text) == Some("tool_use");
        let (calls, rest): (Vec<Value>, Vec<Value>) = blocks.iter().cloned().partition(is_call);
        if calls.is_empty() || rest.is_empty() {
            return None;
        }
        put(inner, "content", calls);
        let mut apart = said.clone();
        if let Some((_, Value::Map(inner))) = apart.iter_mut().find(|(name, _)| name == "message") {
            put(inner, "content", rest);
        }
        Some(apart)
    }
}

/// Whether it stands between calls and their results without parting them.
fn goes_along(message: &Message) -> bool {
    message.results().next().is_some() || !message.kind.takes_part() || matches!(message.kind, Kind::Attachment(_))
}
