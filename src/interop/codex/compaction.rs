//! Compactions, and rollbacks, which may take one back.
//!
//! A compaction of ours has a summary before what is kept. What the model is to see here is exactly a list of items, so
//! the summary is for people only; items of the list that stand before it are kept, and from the first one that does not
//! on all of them follow it as messages. In a list that begins with its summary, as sessions of ours are written, the
//! summary is the model's, and calls and outputs are kept as well.

use super::convert::NEVER_SENT;
use super::history::{Kept, RolledBack};
use super::item::{Item, content, text};
use super::record::{Record, take};
use super::report::{Rollback, code};
use super::walk::{Walk, node};
use crate::event::{CompactSummary, Fields, Kind, Message, Part, Role, Source, Value};
use crate::interop::IncomingBody;
use crate::interop::fields::field;
use crate::interop::work::Work;
use crate::projection::{COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX};

/// What a boundary says of items in its list that are kept as they were said, but for the program's own note.
pub(super) const NOTES: &str = "compactedNotes";

impl Walk {
    pub(super) fn compacted(&mut self, record: Record, work: &mut Work) {
        let (line, place) = (record.line, record.place.clone());
        let (mut payload, extra) = record.split();
        self.compactions.push(place.clone());
        self.forget_made_last();
        let items = match take(&mut payload, "replacement_history") {
            Some(Value::List(items)) => Some(items),
            _ => None,
        };
        let payload = Value::Map(payload);
        let message = text(&payload, "message").unwrap_or_default().to_owned();
        match items {
            Some(items) => self.replaced(line, place, items, &message, payload, extra, work),
            None => self.summed_up(line, place, message, payload, extra, work),
        }
    }

    /// A compaction that says what is left.
    #[expect(clippy::too_many_arguments, reason = "one record, taken apart")]
    fn replaced(
        &mut self,
        line: u64,
        place: String,
        items: Vec<Value>,
        message: &str,
        payload: Value,
        extra: Fields,
        work: &mut Work,
    ) {
        let made: Vec<bool> = made_by_compaction(&payload, items.len());
        let is_ours = items.first().is_some_and(|first| is_rendered(first, message));
        let mut summary = summary(message, &items);
        summary.metadata.eligible_for_model_context = is_ours;
        let mut kept: Vec<Kept> = Vec::new();
        let mut rest = Vec::new();
        let mut of_summary = None;
        let mut notes = Vec::new();
        let mut is_kept = true;
        for (index, value) in items.into_iter().enumerate() {
            work.step();
            let item = Item::of(&value).unwrap_or(Item::Unknown);
            let id = format!("{place}#{index}");
            let mut node = node(item, &value, id.clone(), id);
            node.is_persons &= !made[index];
            if is_ours && index == 0 {
                node.name = format!("{place}.summary");
                node.is_persons = false;
                node.begins_a_turn = false;
                node.is_summary = true;
                of_summary = Some(node);
                continue;
            }
            // The summary as text of the user's: people have it already.
            let is_summary = item == Item::Message && !message.is_empty() && only_text(&value) == Some(message);
            node.is_persons &= !is_summary;
            let behind = kept.last().map(|kept| kept.place);
            let known = node.content.and_then(|content| self.history.said(content, behind));
            // The program keeps no calls and no outputs where they stand.
            is_kept &= (known.is_some() && (is_ours || item == Item::Message)) || !item.is_seen();
            match known.filter(|_| is_kept) {
                Some(place) => {
                    let note = value.get(NEVER_SENT);
                    if note != self.note_of(place) {
                        let note = note.cloned().unwrap_or_default();
                        notes.push(Value::from([("item", Value::from(index as u64)), ("note", note)]));
                    }
                    kept.push(Kept { place, index: Some(index) });
                }
                None => {
                    let is_known = node.content.is_some_and(|content| self.history.said(content, None).is_some());
                    rest.push((item, value, node, is_known || is_summary));
                }
            }
        }
        self.compact(line, place.clone(), place.clone(), kept, summary, payload, notes, extra);
        if let Some(node) = of_summary {
            self.left_as_summary(node);
        }
        for (item, value, node, is_known) in rest {
            match item.is_seen() {
                true => self.left(line, item, value, node, is_known),
                false => {
                    let name = format!("response_item/{}", text(&value, "type").unwrap_or_default());
                    self.beside(line, node.id, &name, value);
                }
            }
        }
        // What follows is the answer to another request.
        self.forget_made_last();
    }

    /// A compaction that leaves what persons said, and its summary. (The program, seen in 0.171, leaves out their pictures,
    /// and what they said first where that is too much; here all stays.)
    fn summed_up(&mut self, line: u64, place: String, message: String, payload: Value, extra: Fields, work: &mut Work) {
        let (kept, are_more) = self.history.persons(self.keep_max);
        self.keep_max -= kept.len();
        kept.iter().for_each(|_| work.step());
        if are_more {
            let text = "more was said before this compaction than is kept of it here".to_owned();
            self.warn(code::CONTEXT_MAY_DIFFER, line, text);
        }
        self.compact(line, place.clone(), place.clone(), kept, summary(&message, &[]), payload, Vec::new(), extra);
        let block = Value::from([("type", "input_text".into()), ("text", message.into())]);
        let value = Value::from([("type", "message".into()), ("role", "user".into()), ("content", vec![block].into())]);
        let mut node = node(Item::Message, &value, format!("{place}.message"), place);
        // Nobody said it, and a later compaction does not leave it.
        node.is_persons = false;
        self.left(line, Item::Message, value, node, true);
    }

    #[expect(clippy::too_many_arguments, reason = "one record, taken apart")]
    fn compact(
        &mut self,
        line: u64,
        name: String,
        id: String,
        kept: Vec<Kept>,
        summary: Message,
        payload: Value,
        notes: Vec<Value>,
        extra: Fields,
    ) {
        let mut boundary_extra = match payload.as_map() {
            Some(fields) if !fields.is_empty() => vec![("compacted".to_owned(), payload)],
            _ => Fields::new(),
        };
        if !notes.is_empty() {
            boundary_extra.push((NOTES.to_owned(), notes.into()));
        }
        let body = IncomingBody::Compaction {
            summary_id: Some(format!("{name}.summary")),
            summary_original_id: None,
            summary_at: None,
            summary_off_chain: false,
            summary: Box::new(summary),
            keep: kept.iter().map(|kept| self.history.node(kept.place).name.clone()).collect(),
            trigger: None,
            boundary_extra,
        };
        let parent = self.history.top().map(str::to_owned);
        self.event(line, name.clone(), Some(parent), body, extra);
        self.history.compact(name, id, kept);
    }

    /// The program's own note on a message.
    fn note_of(&self, place: usize) -> Option<&Value> {
        let (_, event) = self.events.get(self.history.node(place).event)?;
        let IncomingBody::Message(message) = &event.body else { return None };
        field(&message.extra, "payload")?.get(NEVER_SENT)
    }

    pub(super) fn roll_back(&mut self, line: u64, place: &str, turns: u64) {
        let items = match self.history.roll_back(usize::try_from(turns).unwrap_or(usize::MAX)) {
            RolledBack::Nothing => {
                if turns > 0 {
                    self.warn(code::NOTHING_ROLLED_BACK, line, "no turn is there to be taken back".to_owned());
                }
                0
            }
            RolledBack::Cut(items) => {
                let leaf = self.history.top().map(str::to_owned);
                self.event(line, format!("{place}.head"), None, IncomingBody::Head { leaf }, Fields::new());
                items
            }
            RolledBack::CutKept { dropped, kept, id } => {
                let text = "Codex took back turns, and with them context that its last compaction had left.";
                let summary = of_runtime(text.to_owned());
                self.compact(
                    line,
                    format!("{place}.boundary"),
                    id,
                    kept,
                    summary,
                    Value::Null,
                    Vec::new(),
                    Fields::new(),
                );
                dropped
            }
        };
        self.rollbacks.push(Rollback { line, turns, items });
    }
}

/// Of each item of the list whether the compaction made it.
fn made_by_compaction(payload: &Value, count: usize) -> Vec<bool> {
    let of_each = payload.get("replacement_history_metadata").and_then(Value::as_list).unwrap_or_default();
    let is_made = |index| {
        let made = of_each.get(index).and_then(|metadata: &Value| metadata.get("compaction_output"));
        made.and_then(Value::as_bool) == Some(true)
    };
    (0..count).map(is_made).collect()
}

/// Whether an item of a list is the summary, as a session of ours is written: then it is one for the model too.
fn is_rendered(item: &Value, message: &str) -> bool {
    let said = only_text(item).and_then(|said| said.strip_prefix(COMPACT_SUMMARY_PREFIX));
    let summed_up = said.and_then(|said| said.strip_suffix(COMPACT_SUMMARY_SUFFIX));
    !message.trim().is_empty() && summed_up == Some(message)
}

fn only_text(item: &Value) -> Option<&str> {
    let [block] = content(item) else { return None };
    text(block, "text")
}

/// What people read in the place of what is gone.
fn summary(message: &str, items: &[Value]) -> Message {
    if !message.trim().is_empty() {
        return of_runtime(message.to_owned());
    }
    let count = items.iter().filter(|item| Item::of(item).is_some_and(Item::is_seen)).count();
    let is_sealed = items.iter().any(|item| text(item, "encrypted_content").is_some());
    let sealed = if is_sealed { "; its summary is encrypted" } else { "" };
    of_runtime(format!("Codex put {count} items in the place of what was said before{sealed}."))
}

fn of_runtime(text: String) -> Message {
    let kind = Kind::CompactSummary(CompactSummary::default());
    let mut message = Message::new(Role::User, kind, vec![Part::text(text)]);
    message.metadata.source = Some(Source::Runtime);
    message.metadata.synthetic = true;
    // What the model sees is exactly what the compaction left.
    message.metadata.eligible_for_model_context = false;
    message
}
