//! A session as a rollout of Codex's, whose order is the chain.
//!
//! A session that came from a rollout gets its records back, rollbacks among them, if the file then reads as the session
//! stands. Of any other the live branch is written.

mod answers;
mod header;

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::sync::Arc;

use super::compaction::NOTES;
use super::convert::NEVER_SENT;
use super::write_foreign::{foreign_items, is_written};
use super::write_own::{envelope, own_item, rendered_summary};
use super::write_turn::Totals;
use super::{FORMAT, Options, read};
use crate::event::{Body, Event, Extension, Fields, Kind, Message, Role, ToolInput, Uuid, Value};
use crate::interop::fields::{field, put, put_new};
use crate::interop::leaving_line::{Keeping, Line};
use crate::interop::leaving_source::{Source, exported_id};
use crate::interop::leaving_told::{Agent, Told, Written, lost};
use crate::interop::time::{iso_cut, iso_millis, rfc3339_seconds};

/// The version of the program whose form the records have, where the session names none.
const VERSION: &str = "0.146.0";

/// Writes the session.
pub(in crate::interop) fn write(source: &Source<'_>, told: &mut Told) -> Written {
    let mut rollout = Rollout::new(source);
    let mut own = Told::default();
    let is_own = source.origin == Some(Agent::Codex);
    if is_own && rollout.own(&mut own) {
        told.add(own);
    } else {
        rollout = Rollout::new(source);
        // Other lines, and so a session beside that of the file.
        rollout.session = exported_id(FORMAT, source.id());
        rollout.live(told);
    }
    rollout.finish(told);
    let session = rollout.session.to_string();
    let at = rfc3339_seconds(rollout.begun_at());
    let day = at.get(..10).unwrap_or_default();
    let stamp = at.trim_end_matches('Z').replace(':', "-");
    let place = format!("sessions/{}/rollout-{stamp}-{session}.jsonl", day.replace('-', "/"));
    Written { records: rollout.records, resume: Some(format!("codex resume {session}")), place, session }
}

struct Rollout<'s, 'a> {
    source: &'s Source<'a>,
    session: Uuid,
    records: Vec<Value>,
    /// For each event its record's line, from 1.
    lines: Vec<Option<usize>>,
    /// The time of the last record.
    last_at: i64,
    /// The model that the last settings name.
    model: Option<String>,
    totals: Totals,
    /// The first line that people see.
    said_first: Option<String>,
    /// The last block of each answer, with which its cost is told.
    last_blocks: HashMap<&'a str, usize>,
    /// Messages that are written without some of their results.
    cut: HashMap<usize, Arc<Event>>,
    /// Calls whose input is text that is no object in JSON, and that did not come from a rollout.
    free: HashSet<&'a str>,
}

impl<'s, 'a> Rollout<'s, 'a> {
    fn new(source: &'s Source<'a>) -> Self {
        let is_own = source.origin == Some(Agent::Codex);
        let session = if is_own { source.id() } else { exported_id(FORMAT, source.id()) };
        let mut rollout = Self {
            source,
            session,
            records: Vec::new(),
            lines: vec![None; source.len()],
            last_at: i64::MIN,
            model: None,
            totals: Totals::default(),
            said_first: None,
            last_blocks: HashMap::new(),
            cut: HashMap::new(),
            free: (0..source.len())
                .filter(|&index| !is_own || source.name(index).is_none())
                .filter_map(|index| source.message(index))
                .flat_map(Message::calls)
                .filter(|call| matches!(&call.input, ToolInput::Text(text) if !is_object(text)))
                .map(|call| call.id.as_str())
                .collect(),
        };
        rollout.find_last_blocks(0..source.len());
        rollout
    }

    fn find_last_blocks(&mut self, path: impl IntoIterator<Item = usize>) {
        let source = self.source;
        let id = |index: usize| source.message(index)?.message_id.as_deref();
        self.last_blocks = path.into_iter().filter_map(|index| Some((id(index)?, index))).collect();
    }

    fn begun_at(&self) -> i64 {
        let of_header = self.records.first().and_then(|header| header.get("payload")?.get("timestamp")?.as_text());
        of_header.and_then(crate::interop::time::micros).unwrap_or(self.source.begun_at())
    }

    fn push(&mut self, kind: &str, at: i64, payload: Value) {
        self.last_at = self.last_at.max(at);
        let timestamp = iso_cut(self.last_at).into();
        self.records.push(Value::from([("timestamp", timestamp), ("type", kind.into()), ("payload", payload)]));
    }

    /// The order of the records is the chain, and their times never go back.
    fn tell_of_time(&self, event: &Event, told: &mut Told) {
        if event.at < self.last_at {
            told.note(lost::TIMES, event.id);
        }
    }

    /// Writes what the records were; false: a reader would not find the conversation where it stands.
    fn own(&mut self, told: &mut Told) -> bool {
        let source = self.source;
        let on_path: HashSet<usize> =
            source.state.history().iter().filter_map(|entry| source.place(entry.event.id)).collect();
        let mut is_touched = source.forked_from().is_some();
        for index in 0..source.len() {
            let event = source.event(index);
            let name = source.name(index);
            match &event.body {
                Body::Message(_) if source.message(index).is_none() => is_touched = true,
                Body::Message(_) if self.leave_out_lost(index, told) => is_touched = true,
                Body::Message(message) if name.is_none() => {
                    is_touched = true;
                    if event.takes_part() && !on_path.contains(&index) {
                        return false;
                    }
                    self.native(index, message, told);
                }
                Body::Message(message) => self.own_message(index, message, name.unwrap_or_default(), told),
                Body::Extension(_) if name.is_none() => told.note(lost::RECORDS, event.id),
                Body::Extension(extension) => self.extension(index, extension, name.unwrap_or_default(), told),
                Body::Head(_) => is_touched |= name.is_none(),
                Body::SessionMeta(meta) if name.is_none() => {
                    self.title(meta.title.as_deref(), event.id, event.at, told);
                    source.tell_of_meta(meta, event.id, told);
                }
                Body::Prune(_) => told.note(lost::PRUNES, event.id),
                Body::Amend(_) if name.is_none() => told.note(lost::AMENDS, event.id),
                Body::ToolStarted(_) => told.note(lost::STARTED, event.id),
                Body::Unknown(_) => told.note(lost::RECORDS, event.id),
                _ => {}
            }
        }
        !is_touched || self.reads_as_it_stands()
    }

    /// Leaves out results for calls that were taken back or are not whole; true: nothing is left of the message.
    fn leave_out_lost(&mut self, index: usize, told: &mut Told) -> bool {
        let source = self.source;
        let holds = |holder: usize, call: &str| {
            let message =
                source.message(holder).filter(|_| self.lines[holder].is_some() || source.name(holder).is_some());
            message.is_some_and(|message| message.calls().any(|held| held.id == call && !held.incomplete))
        };
        let Some(left) = source.without_lost(index, holds) else { return false };
        told.note(lost::ORPHANS, source.event(index).id);
        let is_gone = left.content.is_empty();
        let event = Event { body: Body::Message(Box::new(left)), ..source.event(index).clone() };
        self.cut.insert(index, Arc::new(event));
        is_gone
    }

    fn own_message(&mut self, index: usize, message: &Message, name: &str, told: &mut Told) {
        // What a compaction left stands in its list.
        let is_left = name.contains('#') && self.source.named(name.split('#').next().unwrap_or_default()).is_some();
        if name.ends_with(".message") || matches!(message.kind, Kind::CompactSummary(_)) || (is_left && !is_early(name))
        {
            return;
        }
        if matches!(message.kind, Kind::CompactBoundary(_)) {
            // One that a rollback made anew has no record of its own.
            if !name.ends_with(".boundary") {
                self.own_compaction(index, message, name, told);
            }
            return;
        }
        let event = self.source.event(index);
        if message.results().any(|result| matches!(result.raw, Some(Value::Map(_)))) {
            told.note(lost::OUTPUT_FORMS, event.id);
        }
        if !message.metadata.visible_in_transcript {
            told.note(lost::SHOWN, event.id);
        }
        let (kind, payload) = own_item(message);
        self.last_at = event.at;
        let mut record: Fields =
            vec![("timestamp".to_owned(), iso_millis(event.at).into()), ("type".to_owned(), kind.into())];
        record.push(("payload".to_owned(), payload));
        for (name, value) in envelope(message) {
            put(&mut record, name, value.clone());
        }
        self.records.push(Value::Map(record));
        self.lines[index] = Some(self.records.len());
    }

    fn own_compaction(&mut self, index: usize, message: &Message, name: &str, told: &mut Told) {
        let source = self.source;
        let event = source.event(index);
        let mut payload = field(&message.extra, "compacted").and_then(Value::as_map).unwrap_or_default().to_vec();
        let summed_up = source.named(&format!("{name}.message")).and_then(|index| source.message(index));
        if let Some(summary) = summed_up {
            put(&mut payload, "message", summary.content.first().and_then(|part| part.as_text()).unwrap_or_default());
        } else {
            put_new(&mut payload, "message", "");
            let items = self.replacement(index, name);
            let of_each = field(&payload, "replacement_history_metadata").and_then(Value::as_list);
            if of_each.is_some_and(|of_each| of_each.len() != items.len()) {
                payload.retain(|(name, _)| name != "replacement_history_metadata");
                told.note(lost::FIELDS, event.id);
            }
            put(&mut payload, "replacement_history", items);
        }
        self.last_at = event.at;
        let mut record: Fields = vec![
            ("timestamp".to_owned(), iso_millis(event.at).into()),
            ("type".to_owned(), "compacted".into()),
            ("payload".to_owned(), Value::Map(payload)),
        ];
        for (name, value) in envelope(message) {
            put(&mut record, name, value.clone());
        }
        self.records.push(Value::Map(record));
        self.lines[index] = Some(self.records.len());
    }

    /// The list that a compaction left: what it kept fills the places that nothing else has.
    fn replacement(&self, index: usize, name: &str) -> Vec<Value> {
        let source = self.source;
        let kept = source.event(index).boundary().map(|boundary| boundary.keep.as_slice()).unwrap_or_default();
        let mut kept = kept.iter().filter_map(|kept| source.place(kept.id)).filter_map(|index| source.message(index));
        let mut left: Vec<(usize, Value)> = Vec::new();
        for index in index + 1..source.len() {
            let event = source.event(index);
            let place = source.name(index).and_then(|of| of.strip_prefix(name)?.strip_prefix('#')?.parse().ok());
            match (place, &event.body) {
                (Some(place), Body::Message(_)) => {
                    left.extend(source.message(index).map(|message| (place, own_item(message).1)));
                }
                (Some(place), Body::Extension(extension)) => left.push((place, extension.payload.clone())),
                // The summary and nothing else stands between; where the model sees it, it begins the list.
                (None, Body::Message(message)) if matches!(message.kind, Kind::CompactSummary(_)) => {
                    if message.metadata.eligible_for_model_context {
                        left.push((0, rendered_summary(&message.joined_text())));
                    }
                }
                _ => break,
            }
        }
        let mut items = Vec::new();
        for (place, item) in left {
            while items.len() < place {
                let Some(kept) = kept.next() else { break };
                items.push(own_item(kept).1);
            }
            items.push(item);
        }
        items.extend(kept.map(|kept| own_item(kept).1));
        let notes = source.message(index).and_then(|boundary| field(&boundary.extra, NOTES)?.as_list());
        for noted in notes.unwrap_or_default() {
            let place = noted.get("item").and_then(Value::as_i64).and_then(|place| usize::try_from(place).ok());
            if let Some(Value::Map(item)) = place.and_then(|place| items.get_mut(place)) {
                item.retain(|(name, _)| name != NEVER_SENT);
                let note = noted.get("note").filter(|note| **note != Value::Null);
                item.extend(note.map(|note| (NEVER_SENT.to_owned(), note.clone())));
            }
        }
        items
    }

    /// What an importer kept as it stood.
    fn extension(&mut self, index: usize, extension: &Extension, name: &str, told: &mut Told) {
        let event = self.source.event(index);
        let Some(kind) = extension.name.strip_prefix("codex.") else { return told.note(lost::RECORDS, event.id) };
        let of_list = name.contains('#') && !is_early(name);
        if of_list {
            return;
        }
        let payload = &extension.payload;
        match (kind, payload.get("payload")) {
            ("turn_context", Some(settings)) => {
                let model = settings.get("model").and_then(Value::as_text).map(str::to_owned);
                self.model = model.or(self.model.take());
            }
            ("event_msg/token_count", Some(event)) => self.totals.read(event),
            _ => {}
        }
        match kind.split('/').next().unwrap_or_default() {
            "unplaced" => told.note(lost::UNPLACED, event.id),
            _ if matches!(payload.get("payload"), Some(Value::Map(_))) => {
                self.last_at = event.at;
                self.records.push(payload.clone());
            }
            // The older forms had no envelopes.
            kind @ ("session_meta" | "response_item") => self.push(kind, event.at, payload.clone()),
            _ => told.note(lost::RECORDS, event.id),
        }
        if self.lines[index].is_none() {
            self.lines[index] = Some(self.records.len());
        }
    }

    /// An event that did not come from the file.
    fn native(&mut self, index: usize, message: &Message, told: &mut Told) {
        let source = self.source;
        let entry = source.entry(index);
        if !is_written(&entry.event, message, told) {
            return;
        }
        match &message.kind {
            Kind::CompactSummary(_) => {}
            Kind::CompactBoundary(boundary) => {
                let kept: Vec<usize> = boundary.keep.iter().filter_map(|kept| source.place(kept.id)).collect();
                self.compaction(index, &kept, &[], told);
            }
            _ => self.items(index, told),
        }
    }

    /// A compaction anew: what the model sees from then on, as a list. `left` is what stood behind what it kept in the list
    /// that it came from.
    fn compaction(&mut self, index: usize, kept: &[usize], left: &[usize], told: &mut Told) {
        let source = self.source;
        let event = source.event(index);
        let Some(summary) = source.summary(index) else { return told.note(lost::KINDS, event.id) };
        self.tell_of_time(event, told);
        let said = source.entry(summary);
        let message = said.event.message();
        let mut items = Vec::new();
        if message.is_some_and(|message| message.metadata.eligible_for_model_context) {
            items = foreign_items(&said.event, &source.tools, &self.free, told);
        }
        // Each list has all of it: only the last one is what a model sees.
        let is_whole = source.is_last_boundary(index);
        if !is_whole && !kept.is_empty() {
            told.note(lost::KEPT_EARLIER, event.id);
        }
        // Behind its summary a reader finds again what stands above in the same order.
        let is_found = items.len() == 1 && kept.is_sorted_by_key(|&kept| self.lines[kept]);
        let is_the_users = |&kept: &usize| source.message(kept).is_none_or(|message| message.role == Role::User);
        if is_whole && !kept.iter().all(|kept| is_the_users(kept) || (is_found && self.lines[*kept].is_some())) {
            told.note(lost::COPIES, event.id);
        }
        for &kept in kept.iter().filter(|&&kept| is_whole && source.message(kept).is_some()).chain(left) {
            let said = self.cut.get(&kept).unwrap_or(&source.entry(kept).event);
            match source.message(kept).filter(|_| self.is_own(kept)) {
                Some(message) => items.push(own_item(message).1),
                None => items.extend(foreign_items(said, &source.tools, &self.free, told)),
            }
        }
        let of_file = source.message(index).filter(|_| self.is_own(index));
        let of_file = of_file.and_then(|boundary| field(&boundary.extra, "compacted")?.get("message")?.as_text());
        let text = of_file.map_or_else(|| message.map(Message::joined_text).unwrap_or_default(), str::to_owned);
        let payload = Value::from([("message", text.into()), ("replacement_history", items.into())]);
        self.push("compacted", event.at, payload);
        self.lines[index] = Some(self.records.len());
        self.push("event_msg", event.at, Value::from([("type", "context_compacted".into())]));
    }

    /// Whether it came from a rollout.
    fn is_own(&self, index: usize) -> bool {
        self.source.origin == Some(Agent::Codex) && self.source.name(index).is_some()
    }

    /// What a compaction that came from a rollout left in its list beside what it kept. People have seen most of that where
    /// it was said, and a reader shows what stands outside of a list.
    fn left_by(&self, boundary: usize, behind: &[usize]) -> Vec<usize> {
        let source = self.source;
        let Some(name) = source.name(boundary).filter(|_| self.is_own(boundary)) else { return Vec::new() };
        let is_left = |index: &&usize| {
            let rest = source.name(**index).and_then(|of| of.strip_prefix(name));
            rest.is_some_and(|rest| rest == ".message" || rest.starts_with('#'))
        };
        let behind = behind.iter().take_while(|index| source.event(**index).boundary().is_none());
        behind.filter(is_left).copied().collect()
    }

    /// Whether a reader finds the messages of the chain, and no others, behind its last compaction.
    fn reads_as_it_stands(&self) -> bool {
        let mut lines = Vec::new();
        for record in &self.records {
            lines.extend(serde_json::to_vec(record).unwrap_or_default());
            lines.push(b'\n');
        }
        let Ok(found) = read(Cursor::new(lines), &Options::default()) else { return false };
        let found: HashSet<usize> =
            found.report.context.iter().filter_map(|item| item.id.strip_prefix('L')?.parse().ok()).collect();
        let chain = self.source.state.chain();
        let boundary = self.source.state.boundary().and_then(|boundary| boundary.event.boundary());
        let kept: HashSet<_> = boundary.iter().flat_map(|boundary| &boundary.keep).map(|kept| kept.id).collect();
        let expected: HashSet<usize> = chain
            .iter()
            .filter(|entry| entry.event.boundary().is_none() && !kept.contains(&entry.event.id))
            .filter_map(|entry| self.lines[self.source.place(entry.event.id)?])
            .collect();
        // An item whose text is that of a summary has the compaction's line.
        let of_compactions: HashSet<usize> = (0..self.source.len())
            .filter(|&index| self.source.event(index).boundary().is_some())
            .filter_map(|index| self.lines[index])
            .collect();
        let lines_of_items = |line: &usize| !of_compactions.contains(line);
        let found: HashSet<usize> = found.into_iter().filter(lines_of_items).collect();
        // A message may be several items; its first line stands for all.
        let others: HashSet<usize> = self.lines.iter().flatten().copied().collect();
        expected.is_subset(&found) && found.difference(&expected).all(|line| !others.contains(line))
    }

    /// The live branch alone.
    fn live(&mut self, told: &mut Told) {
        let source = self.source;
        let is_own = source.origin == Some(Agent::Codex);
        source.tell_of_records(told);
        let mut written = vec![false; source.len()];
        for (index, written) in written.iter_mut().enumerate() {
            let Some(message) = source.message(index) else { continue };
            *written = match &message.kind {
                Kind::CompactBoundary(_) => source.summary(index).is_some(),
                Kind::CompactSummary(_) => source.partner(index).is_some_and(|of| source.summary(of).is_some()),
                _ => is_written(source.event(index), message, told),
            };
        }
        let mut line = Line::new(source, written, Keeping::Messages, told);
        let on_path: HashSet<usize> = line.path.iter().copied().collect();
        for index in (0..source.len()).filter(|&index| line.is_written(index) && !on_path.contains(&index)) {
            told.note(lost::BRANCHES, source.event(index).id);
        }
        if is_own {
            let first = (0..source.len()).find_map(|index| match &source.event(index).body {
                Body::Extension(extension) if extension.name == "codex.session_meta" => Some((index, extension)),
                _ => None,
            });
            if let Some((index, header)) = first {
                self.extension(index, header, "", told);
            }
        }
        self.cut = std::mem::take(&mut line.cut);
        self.find_last_blocks(line.path.iter().copied());
        let model = source.meta().model.as_ref().filter(|_| !line.path.iter().any(|&at| source.model(at).is_some()));
        if let Some(model) = model {
            self.settings(model.clone(), source.begun_at());
        }
        let mut of_lists: HashSet<usize> = HashSet::new();
        for (at, &index) in line.path.iter().enumerate() {
            let Some(message) = source.message(index).filter(|_| !of_lists.contains(&index)) else { continue };
            match &message.kind {
                Kind::CompactSummary(_) => {}
                Kind::CompactBoundary(boundary) => {
                    let kept = boundary.keep.iter().filter_map(|kept| source.place(kept.id));
                    let kept = match source.is_last_boundary(index) {
                        true => line.units(kept),
                        false => kept.collect(),
                    };
                    let left = self.left_by(index, &line.path[at + 1..]);
                    self.compaction(index, &kept, &left, told);
                    of_lists.extend(left);
                }
                _ => self.items(index, told),
            }
        }
        if let Some(last) = source.state.entries().last() {
            self.title(source.meta().title.as_deref(), last.event.id, last.event.at, told);
        }
    }
}

fn is_object(text: &str) -> bool {
    Value::parse_json(text).is_ok_and(|(value, _)| value.as_map().is_some())
}

/// Whether an item stood in the list of the early form, which is no compaction's.
fn is_early(name: &str) -> bool {
    name.starts_with("L1#")
}
