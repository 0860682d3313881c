//! Which call each result answers, and which results answer none.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Line, Part};
use crate::event::{Body, Event, Message, Part as MessagePart, PartBody};
use crate::interop::leaving_source::Source;
use crate::interop::leaving_told::{Told, lost};

impl Line {
    /// A message's results belong to the answer that stands last of those whose calls they answer. What answers no call
    /// there or above, or comes twice, is left out and told.
    pub(super) fn find_results(
        &mut self,
        source: &Source<'_>,
        written: &mut [bool],
        above: &[Option<usize>],
        told: &mut Told,
    ) {
        let mut answered: HashSet<(usize, &str)> = HashSet::new();
        let mut spans: Option<Spans> = None;
        let counting = Counting::of(source);
        // The answer behind which nothing but results stands.
        let mut behind: Vec<Option<usize>> = Vec::with_capacity(self.parts.len());
        for (index, part) in self.parts.iter().enumerate() {
            let is_only_results = || {
                let content = source.message(index).map(|message| &message.content);
                content
                    .is_some_and(|parts| !parts.is_empty() && parts.iter().all(|part| part.as_tool_result().is_some()))
            };
            behind.push(match part {
                Part::Block(first) => Some(*first),
                _ if is_only_results() => above[index].and_then(|above| behind[above]),
                _ => None,
            });
        }
        // One that only stands for a result gives way to a result.
        for made_up in [false, true] {
            for (index, written) in written.iter_mut().enumerate() {
                let Some(message) = source.message(index).filter(|message| message.is_synthetic() == made_up) else {
                    continue;
                };
                if !matches!(self.parts[index], Part::Plain | Part::Along(_)) || message.results().next().is_none() {
                    continue;
                }
                let says_more = message.content.iter().any(|part| part.as_tool_result().is_none());
                let mut answers: Vec<(usize, usize, &str)> = Vec::new();
                for result in message.results() {
                    let call = result.call_id.as_str();
                    let Some(holder) = source.holder(index, call) else { continue };
                    let Part::Block(first) = self.parts[holder] else { continue };
                    // What stands beside it would be compacted away with the call.
                    if says_more && counting.is_behind(index, holder) {
                        continue;
                    }
                    let is_twice = answers.iter().any(|&(_, other, of)| (other, of) == (holder, call));
                    let is_wanted = !is_twice && !answered.contains(&(holder, call));
                    if is_wanted && holds(source, holder, call) && counting.may_count(index, holder, call) {
                        answers.push((first, holder, call));
                    }
                }
                // Of a message on another branch the model sees what answers a call of its own.
                let seen = answers.iter().filter(|&&(_, holder, _)| counting.seen.contains(&holder));
                let last = seen.map(|&(first, _, _)| first).max();
                let last = last.or(answers.iter().map(|&(first, _, _)| first).max());
                let is_of_more = answers.iter().any(|&(first, _, _)| Some(first) != last);
                if let Some(last) = last.filter(|_| is_of_more) {
                    let spans = spans.get_or_insert_with(|| Spans::of(above));
                    answers.retain(|&(first, holder, _)| first == last || spans.is_above(holder, last));
                }
                answered.extend(answers.iter().map(|&(_, holder, call)| (holder, call)));
                if answers.len() < message.results().count() {
                    told.note(lost::ORPHANS, source.event(index).id);
                    let calls = answers.iter().map(|&(_, _, call)| call).collect();
                    self.cut.extend(without_others(&source.entry(index).event, calls).map(|event| (index, event)));
                }
                if let Part::Along(first) = self.parts[index]
                    && let Some(answer) = self.answers.get_mut(&first)
                    && (last.is_some() || !self.cut.contains_key(&index))
                {
                    answer.along.retain(|&along| along != index);
                }
                match last {
                    Some(first) => {
                        let is_near = above[index].and_then(|above| behind[above]) == Some(first);
                        let of = answers.iter().map(|&(_, holder, _)| holder).min();
                        let is_last = self.answers[&first].blocks.last().copied() == of && of < Some(index);
                        if says_more && (is_of_more || !is_near || !is_last) {
                            told.note(lost::TEXTS_MOVED, source.event(index).id);
                        }
                        self.parts[index] = Part::Result(first);
                        self.answers.entry(first).or_default().results.push(index);
                        for &(_, holder, _) in &answers {
                            self.pairs.entry(index).or_default().push(holder);
                            self.pairs.entry(holder).or_default().push(index);
                        }
                    }
                    // What stands beside them stays.
                    None if self.cut.contains_key(&index) => {
                        if matches!(self.parts[index], Part::Along(_)) {
                            told.note(lost::TEXTS_MOVED, source.event(index).id);
                        }
                    }
                    None => {
                        self.parts[index] = Part::Gone;
                        *written = false;
                    }
                }
            }
        }
        self.answers.values_mut().for_each(|answer| answer.results.sort_unstable());
    }
}

/// The results that the model sees, where it sees any.
struct Counting<'a> {
    results: HashSet<(usize, &'a str, usize)>,
    calls: HashSet<(usize, &'a str)>,
    /// What the model sees.
    seen: HashSet<usize>,
}

impl<'a> Counting<'a> {
    fn of(source: &Source<'a>) -> Self {
        let pairing = source.state.pairing();
        let chain = source.state.chain();
        let seen = chain.iter().filter_map(|entry| source.place(entry.event.id)).collect();
        let mut counting = Self { results: HashSet::new(), calls: HashSet::new(), seen };
        for paired in pairing.calls() {
            let Some((result, _)) = paired.result else { continue };
            let places = source.place(paired.message.event.id).zip(source.place(result.event.id));
            let Some((holder, result)) = places else { continue };
            counting.results.insert((holder, paired.call.id.as_str(), result));
            counting.calls.insert((holder, paired.call.id.as_str()));
        }
        counting
    }

    /// Whether a compaction stands between a call and what is said since.
    fn is_behind(&self, index: usize, holder: usize) -> bool {
        self.seen.contains(&index) && !self.seen.contains(&holder)
    }

    /// Whether no other result is the one that the model sees.
    fn may_count(&self, result: usize, holder: usize, call: &'a str) -> bool {
        !self.calls.contains(&(holder, call)) || self.results.contains(&(holder, call, result))
    }
}

/// Whether the call is there and whole.
fn holds(source: &Source<'_>, holder: usize, call: &str) -> bool {
    source.message(holder).is_some_and(|message| message.calls().any(|held| held.id == call && !held.incomplete))
}

/// The event with the results for these calls alone; none: nothing is left of it.
fn without_others(event: &Event, mut calls: HashSet<&str>) -> Option<Arc<Event>> {
    let message = event.message()?;
    let stays = |part: &&MessagePart| match &part.body {
        PartBody::ToolResult(result) => calls.remove(result.call_id.as_str()),
        _ => true,
    };
    let content: Vec<MessagePart> = message.content.iter().filter(stays).cloned().collect();
    let message = Message { content, ..message.clone() };
    (!message.content.is_empty()).then(|| Arc::new(Event { body: Body::Message(Box::new(message)), ..event.clone() }))
}

/// A tree gone through once, so that it is known at once whether one event lies above another.
struct Spans {
    begin: Vec<usize>,
    end: Vec<usize>,
}

impl Spans {
    /// What an event hangs on comes before it.
    fn of(above: &[Option<usize>]) -> Self {
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); above.len()];
        let mut roots = Vec::new();
        for (index, above) in above.iter().enumerate() {
            match above {
                Some(above) => below[*above].push(index),
                None => roots.push(index),
            }
        }
        let mut spans = Self { begin: vec![0; above.len()], end: vec![0; above.len()] };
        let mut count = 0;
        let mut open: Vec<(usize, bool)> = roots.into_iter().map(|root| (root, false)).collect();
        while let Some((index, is_done)) = open.pop() {
            if is_done {
                spans.end[index] = count;
                continue;
            }
            count += 1;
            spans.begin[index] = count;
            open.push((index, true));
            open.extend(below[index].iter().map(|&child| (child, false)));
        }
        spans
    }

    fn is_above(&self, one: usize, other: usize) -> bool {
        self.begin[one] <= self.begin[other] && self.end[other] <= self.end[one]
    }
}
