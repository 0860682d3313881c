//! What stands behind calls: their results, and where there is none a record that says so.
//!
//! The program (2.1.197) drops a record in which all calls are without a result right behind it, and with it what else the record
//! says. A model is told of each call, be it by the result that stands elsewhere or by a word for the one that never came.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Writer;
use crate::event::{Event, Fields, Kind, MISSING_TOOL_RESULT, Message, Part, Role, ToolCall, Value, foreign_id};
use crate::interop::claude_code::FORMAT;
use crate::interop::claude_code::record::NO_RESULT;
use crate::interop::fields::put;
use crate::interop::leaving_source::call_id;
use crate::interop::leaving_told::{Told, lost};
use crate::session::PairedCall;

/// What stands behind messages of a file.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// Which calls have a result behind them in the file, with no other message between, by the message that holds them.
    pub(super) answered: HashSet<(usize, String)>,
    /// Results that stand elsewhere and are put behind their calls, by the message that holds those.
    put: HashMap<usize, Vec<usize>>,
    /// All of these, each with what goes on in its place where it was.
    moved: HashMap<usize, Option<usize>>,
    /// The result behind a message that holds calls, or behind another result of those.
    next: HashMap<usize, usize>,
    /// The record which says that no result came, by the message behind which it stands.
    said: HashMap<usize, String>,
    /// Of which calls such a record tells, by the message that holds them.
    said_of: HashSet<(usize, String)>,
}

impl Behind {
    /// `cut` has messages that are written with some of their results only, `parent` says what each hangs on.
    pub(super) fn of(
        writer: &Writer<'_, '_>,
        written: &[bool],
        cut: &HashMap<usize, Arc<Event>>,
        parent: &[Option<usize>],
    ) -> Self {
        let mut found = Self::default();
        // The answer behind which nothing but results stands.
        let mut behind: Vec<Option<usize>> = vec![None; written.len()];
        for index in (0..written.len()).filter(|&index| written[index]) {
            let Some(message) = cut.get(&index).map_or(writer.source.message(index), |event| event.message()) else {
                continue;
            };
            behind[index] = match message.role {
                Role::Assistant => Some(index),
                _ if goes_along(message) => parent[index].and_then(|parent| behind[parent]),
                _ => None,
            };
            for result in message.results() {
                let holder = writer.source.holder(index, &result.call_id).filter(|_| behind[index].is_some());
                found.answered.extend(holder.map(|holder| (holder, result.call_id.clone())));
            }
        }
        found
    }

    /// Of a session that came from a file finds the results that are new to that and stand apart from their calls: they are put
    /// behind these.
    pub(super) fn find_parted(&mut self, writer: &Writer<'_, '_>, above: &mut [Option<usize>]) {
        let source = writer.source;
        let is_new = |index: usize| {
            let message = source.message(index).filter(|_| writer.written[index]);
            message.is_some_and(|message| writer.is_native(index, message))
        };
        for index in (0..above.len()).filter(|&index| is_new(index)) {
            above[index] = above[index].and_then(|above| self.moved.get(&above).copied().unwrap_or(Some(above)));
            let Some(message) = source.message(index).filter(|message| is_only_results(message)) else { continue };
            let holders: HashSet<Option<usize>> =
                message.results().map(|result| source.holder(index, &result.call_id)).collect();
            let [Some(holder)] = holders.into_iter().collect::<Vec<_>>()[..] else { continue };
            let is_answered = |id: &str| self.answered.contains(&(holder, id.to_owned()));
            if writer.written[holder] && !message.results().any(|result| is_answered(&result.call_id)) {
                self.answered.extend(message.results().map(|result| (holder, result.call_id.clone())));
                self.put.entry(holder).or_default().push(index);
                self.moved.insert(index, above[index]);
            }
        }
    }

    pub(super) fn is_moved(&self, index: usize) -> bool {
        self.moved.contains_key(&index)
    }

    /// Where the conversation goes on from this message: the last result behind it.
    pub(super) fn end(&self, index: usize) -> usize {
        let mut at = self.moved.get(&index).copied().flatten().unwrap_or(index);
        while let Some(&next) = self.next.get(&at) {
            at = next;
        }
        at
    }

    /// The record right behind this message that stands for results that never came.
    pub(super) fn said(&self, index: usize) -> Option<&String> {
        self.said.get(&index)
    }

    /// Forgets what was written.
    pub(super) fn begin(&mut self) {
        self.said.clear();
        self.next.clear();
    }
}

impl Writer<'_, '_> {
    /// The record that stands last behind this message: what goes on from there hangs on it.
    pub(super) fn end(&self, index: usize) -> Value {
        let end = self.behind.end(index);
        self.behind.said(end).map_or_else(|| self.node(end), |said| said.as_str().into())
    }

    /// Takes note of a result that has been written right behind its call, or another result of the same message.
    pub(super) fn follow(&mut self, index: usize, above: Option<usize>) {
        let source = self.source;
        let holder = |index: usize| {
            let message = source.message(index).filter(|message| is_only_results(message))?;
            source.holder(index, &message.results().next()?.call_id)
        };
        let above = above.map(|above| self.behind.end(above));
        if let (Some(above), Some(of)) = (above, holder(index))
            && above != index
            && (above == of || holder(above) == Some(of))
        {
            self.behind.next.insert(above, index);
        }
    }

    /// Adds the record of a message, and behind an answer what its calls need there.
    pub(super) fn answer(&mut self, index: usize, said: Fields, parent: Value, told: &mut Told) {
        self.record(index, said, parent);
        self.put_results(index, told);
        self.say_of_no_results(&[index], told);
    }

    /// Adds the results that belong right behind this message and stood elsewhere.
    pub(super) fn put_results(&mut self, index: usize, told: &mut Told) {
        for result in self.behind.put.remove(&index).unwrap_or_default() {
            let event = Arc::clone(self.cut.get(&result).unwrap_or(&self.source.entry(result).event));
            if let Some(message) = event.message() {
                self.own_message(result, &event, message, Some(index), true, told);
            }
        }
    }

    /// Where a message that was added since goes on behind an answer of the file's own with calls to which no result ever came, a
    /// record says so first: what was a broken end is in the middle now.
    pub(super) fn say_before(&mut self, message: &Message, above: usize, told: &mut Told) {
        let (source, mut at) = (self.source, self.behind.end(above));
        if goes_along(message) || self.behind.said(at).is_some() {
            return;
        }
        let parent = |index: usize| source.event(index).parent.and_then(|parent| source.place(parent));
        while let Some(over) = parent(at).filter(|_| source.message(at).is_some_and(is_only_results)) {
            at = over;
        }
        let answer = |index: usize| source.message(index).and_then(|message| message.message_id.as_deref());
        // Behind one that was added since it is said where that is written.
        let is_block = |index: usize| {
            let own = source.message(index).filter(|message| self.written[index] && !self.is_native(index, message));
            own.is_some_and(|message| message.role == Role::Assistant)
        };
        let mut blocks = Vec::new();
        let mut block = Some(at).filter(|&at| is_block(at));
        while let Some(index) = block {
            blocks.push(index);
            block =
                parent(index).filter(|&over| is_block(over) && answer(over).is_some() && answer(over) == answer(index));
        }
        blocks.reverse();
        if self.open(&blocks).next().is_some() {
            let pairing = source.state.pairing();
            let is_elsewhere = |paired: &PairedCall<'_>| {
                let holder = source.place(paired.message.event.id).filter(|holder| blocks.contains(holder));
                let here = |holder| self.behind.answered.contains(&(holder, paired.call.id.clone()));
                paired.result.is_some() && holder.is_some_and(|holder| !here(holder))
            };
            // One on another branch is told of elsewhere.
            if !pairing.calls().iter().any(is_elsewhere) {
                self.say_of_no_results(&blocks, told);
            }
        }
    }

    /// Tells of the calls in the conversation that the program leaves out, since nothing stands behind them in the file.
    pub(super) fn tell_of_dropped(&self, told: &mut Told) {
        let mut chain: Vec<usize> = self.chain().into_iter().filter(|&index| self.written[index]).collect();
        chain.sort_unstable();
        for index in chain {
            if self.open(&[index]).any(|(_, call)| !self.behind.said_of.contains(&(index, call.id.clone()))) {
                told.note(lost::DROPPED_CALLS, self.source.event(index).id);
            }
        }
    }

    /// The calls of these blocks that nothing behind them answers, each once.
    fn open<'b>(&'b self, blocks: &'b [usize]) -> impl Iterator<Item = (usize, &'b ToolCall)> {
        let mut seen = HashSet::new();
        let calls = |&index: &'b usize| {
            self.source.message(index).into_iter().flat_map(Message::calls).map(move |call| (index, call))
        };
        let is_open = |(index, call): &(usize, &ToolCall)| {
            !call.incomplete && !self.behind.answered.contains(&(*index, call.id.clone()))
        };
        let all = blocks.iter().flat_map(calls).filter(is_open);
        all.filter(move |(_, call)| seen.insert(call.id.as_str()))
    }

    /// Adds a record that stands for the results of an answer's calls that never came, if there are such.
    fn say_of_no_results(&mut self, answer: &[usize], told: &mut Told) {
        let Some(&index) = answer.last() else { return };
        let source = self.source;
        let blocks: Vec<Value> = self
            .open(answer)
            .map(|(_, call)| {
                Value::from([
                    ("type", "tool_result".into()),
                    ("tool_use_id", call_id(&call.id, "toolu_").unwrap_or_else(|| call.id.clone()).into()),
                    ("content", MISSING_TOOL_RESULT.into()),
                    ("is_error", true.into()),
                ])
            })
            .collect();
        if blocks.is_empty() {
            return;
        }
        let said_of: Vec<_> = self.open(answer).map(|(block, call)| (block, call.id.clone())).collect();
        self.behind.said_of.extend(said_of);
        let name = foreign_id(FORMAT, &self.session, &format!("{}.open", self.names[index]), 1).to_string();
        // A file that was written by us may have it.
        if self.records.iter().any(|record| record.get("uuid").and_then(Value::as_text) == Some(&name)) {
            // What hangs on it are the other results.
            if self.behind.end(index) == index {
                self.behind.said.insert(index, name);
            }
            return;
        }
        told.note(lost::OPEN_CALLS, source.event(index).id);
        let inner = Value::from([("role", "user".into()), ("content", blocks.into())]);
        let mut fields: Fields = vec![("type".to_owned(), "user".into()), ("message".to_owned(), inner)];
        put(&mut fields, NO_RESULT, true);
        put(&mut fields, "sourceToolAssistantUUID", self.names[index].as_str());
        let parent = self.end(index);
        self.record_as(&name, index, fields, parent);
        self.behind.said.insert(self.behind.end(index), name);
    }

    /// Leaves out the records that stood for a result that has come since.
    pub(super) fn leave_out_answered(&mut self) -> bool {
        let answered: HashSet<&str> = self.behind.answered.iter().map(|(_, id)| id.as_str()).collect();
        let calls = |value: &Value| -> Vec<String> {
            let blocks = value.get("message").and_then(|message| message.get("content")).and_then(Value::as_list);
            let ids =
                blocks.into_iter().flatten().filter_map(|block| block.get("tool_use_id").and_then(Value::as_text));
            ids.map(str::to_owned).collect()
        };
        let is_over = |index: &usize| match self.source.message(*index).map(|message| &message.kind) {
            Some(Kind::SystemEvent(event)) => event.data.as_ref().is_some_and(|data| {
                data.get(NO_RESULT).is_some() && calls(data).iter().any(|id| answered.contains(id.as_str()))
            }),
            _ => false,
        };
        let over: Vec<usize> = (0..self.source.len()).filter(is_over).collect();
        over.iter().for_each(|&index| self.written[index] = false);
        !over.is_empty()
    }
}

/// Whether it stands between calls and their results without parting them.
fn goes_along(message: &Message) -> bool {
    message.results().next().is_some() || !message.kind.takes_part() || matches!(message.kind, Kind::Attachment(_))
}

pub(super) fn is_only_results(message: &Message) -> bool {
    let is_result = |part: &Part| part.as_tool_result().is_some();
    !message.content.is_empty() && message.content.iter().all(is_result)
}
