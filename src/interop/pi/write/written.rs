//! Which messages of a session that came from a file of pi's are entries of it again.

use std::collections::HashSet;
use std::sync::Arc;

use super::Writer;
use crate::event::{Body, CompactBoundary, Event, Message, Part, Value};
use crate::interop::leaving_told::{Told, lost};

impl Writer<'_, '_> {
    /// Finds which ones are: those that are not taken back, and answer no call that is.
    pub(super) fn find_written(&mut self, told: &mut Told) {
        let source = self.source;
        self.written = vec![false; source.len()];
        for index in 0..source.len() {
            if source.message(index).is_none() {
                continue;
            }
            let is_there = |holder: usize, call: &str| {
                // An entry of the file gives back what the stream ended in as well.
                let takes_all = source.name(holder).is_some();
                let holds =
                    |message: &Message| message.calls().any(|held| held.id == call && (takes_all || !held.incomplete));
                self.written[holder] && source.message(holder).is_some_and(holds)
            };
            let left = source.without_lost(index, is_there);
            self.written[index] = left.as_ref().is_none_or(|left| !left.content.is_empty());
            if let Some(left) = left {
                told.note(lost::ORPHANS, source.event(index).id);
                let event = Event { body: Body::Message(Box::new(left)), ..source.event(index).clone() };
                self.cut.insert(index, Arc::new(event));
            }
        }
    }

    /// Whether it is a message that is in the file no more.
    pub(super) fn is_left_out(&self, index: usize) -> bool {
        self.source.event(index).message().is_some() && !self.written[index]
    }

    /// Results that are new to the file, and apart from their call by what others said meanwhile. The program wants each result next
    /// to its call: it would send one of its own there, and this one again.
    pub(super) fn find_parted(&mut self, above: &[Option<usize>]) -> HashSet<usize> {
        let source = self.source;
        let is_new = |index: usize| {
            let has_no_more = source.message(index).is_some_and(|message| message.extra.is_empty());
            self.written[index] && source.name(index).is_none() && has_no_more
        };
        let is_results = |index: usize| {
            let is_result = |part: &Part| part.as_tool_result().is_some();
            source.message(index).is_some_and(|it| !it.content.is_empty() && it.content.iter().all(is_result))
        };
        let mut found = HashSet::new();
        for index in (0..source.len()).filter(|&index| is_new(index) && is_results(index)) {
            let Some(message) = source.message(index) else { continue };
            let mut holders = message.results().map(|result| source.holder(index, &result.call_id));
            let Some(Some(holder)) = holders.next() else { continue };
            let is_apart = above[index].is_some_and(|above| above != holder && !is_results(above));
            if is_apart && is_new(holder) && holders.all(|other| other == Some(holder)) {
                self.parted.entry(holder).or_default().push(index);
                found.insert(index);
            }
        }
        found
    }

    /// The message that the session stands at, and behind it the results of its calls, which count wherever they stand.
    pub(super) fn leaf_with_results(&self, told: &mut Told) -> Option<usize> {
        let source = self.source;
        let mut leaf = source.leaf()?;
        let on_path: HashSet<usize> =
            source.state.history().iter().filter_map(|entry| source.place(entry.event.id)).collect();
        let pairing = source.state.pairing();
        let results = pairing.calls().iter().filter_map(|paired| source.place(paired.result?.0.event.id));
        let mut elsewhere: Vec<usize> =
            results.filter(|&result| !on_path.contains(&result) && self.written[result]).collect();
        elsewhere.sort_unstable();
        elsewhere.dedup();
        for result in elsewhere {
            let above = source.state.anchor(source.entry(result)).and_then(|above| source.place(above.event.id));
            match above == Some(leaf) {
                true => leaf = result,
                false => told.note(lost::RESULTS_ELSEWHERE, source.event(result).id),
            }
        }
        Some(leaf)
    }

    /// The id of the first entry that the compaction keeps and the file has.
    pub(super) fn first_kept(&self, boundary: &CompactBoundary) -> Option<Value> {
        let kept = boundary.keep.iter().filter_map(|kept| self.source.place(kept.id));
        kept.filter(|&kept| self.written[kept]).find_map(|kept| self.ids[kept].as_deref()).map(Value::from)
    }
}
