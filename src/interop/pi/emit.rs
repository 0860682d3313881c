//! The plan carried out: every entry and everything else of the file as an event.
//!
//! An event follows from what stands before it in the file and from nothing behind it, so a file that has grown gives
//! the old events again. Where the store's own rule for the leaf would lead elsewhere than to the last entry so far, a
//! head is written, there and then.

use std::collections::{HashMap, HashSet};

use super::convert::{Around, convert, convert_compaction, time_of};
use super::edits::Edits;
use super::entry::{Entry, Type};
use super::file::{File, Item};
use super::meta::Told;
use super::plan::Step;
use super::tree::Tree;
use super::twins::{Twins, twin};
use crate::event::{Extension, SessionMeta, Value, patch_between};
use crate::interop::time::micros;
use crate::interop::{Incoming, IncomingBody, IncomingParent};

/// What names the events that are made of no message.
const PREFIX: &str = "pi";

/// Makes the events of a file, each with its line.
pub(super) struct Emitter<'a> {
    pub(super) file: &'a File,
    pub(super) tree: &'a Tree,
    /// What each compaction keeps.
    pub(super) keep: &'a HashMap<usize, Vec<usize>>,
    /// The ids of the calls that have a result so far.
    answered: HashSet<String>,
    pub(super) edits: Edits<'a>,
    twins: Twins,
    /// What each turn with calls hangs on.
    turns: HashMap<usize, IncomingParent>,
    events: Vec<(u64, Incoming)>,
    told: Told,
    /// The leaf that the store has by its own rule.
    leaf: Option<usize>,
    /// The last entry of each call id so far.
    calls: HashMap<String, usize>,
    /// When the last thing happened that says when.
    at: i64,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        file: &'a File,
        tree: &'a Tree,
        keep: &'a HashMap<usize, Vec<usize>>,
        answered: &'a HashSet<String>,
    ) -> Self {
        let at = file.header_text("timestamp").and_then(micros).unwrap_or(0);
        let edits = Edits::new(file, tree);
        let twins = Twins::new(file, tree, answered);
        let (told, calls, turns) = (Told::default(), HashMap::new(), HashMap::new());
        let answered = HashSet::new();
        Self { file, tree, keep, answered, edits, twins, turns, events: Vec::new(), told, leaf: None, calls, at }
    }

    /// The events, and in what the context may be another than the program's. `items` are those of the file, which has
    /// them no more.
    pub(super) fn run(
        mut self,
        steps: &[Step],
        mut items: Vec<Option<Item>>,
    ) -> (Vec<(u64, Incoming)>, Vec<&'static str>) {
        self.header();
        for &step in steps {
            match step {
                Step::Item(number) => {
                    if let Some(Item::Other { line, place, name, value }) = items[number].take() {
                        self.extension(line, place, name, value, IncomingParent::Leaf);
                    }
                }
                Step::Entry(index) => {
                    self.entry(index);
                    let entry = &self.file.entries[index];
                    self.settle(index, entry.line, &entry.id, Some(entry));
                }
                Step::Again(index, line) => self.settle(index, line, &format!("L{line}"), None),
            }
        }
        let mut odd = Vec::new();
        if self.edits.given_up() {
            odd.push("too many edits of the context on too many branches: not all were followed");
        }
        if self.twins.given_up {
            odd.push("too many branches leave between calls and results: some see results of others");
        }
        (self.events, odd)
    }

    fn push(&mut self, line: u64, id: String, parent: IncomingParent, body: IncomingBody) {
        self.events.push((line, Incoming { id: Some(id), parent, at: Some(self.at), ..Incoming::new(body) }));
    }

    fn extension(&mut self, line: u64, id: String, name: &str, payload: Value, parent: IncomingParent) {
        let body = IncomingBody::Extension(Extension { name: format!("{PREFIX}.{name}"), payload });
        self.push(line, id, parent, body);
    }

    fn meta(&mut self, line: u64, id: String, meta: Option<SessionMeta>) {
        if let Some(meta) = meta {
            self.push(line, id, IncomingParent::Leaf, IncomingBody::SessionMeta(meta));
        }
    }

    fn header(&mut self) {
        let Some((line, fields)) = &self.file.header else { return };
        self.extension(*line, format!("L{line}"), "session", Value::Map(fields.clone()), IncomingParent::Root);
        let meta = self.told.header(self.file, self.tree);
        self.meta(*line, format!("L{line}.meta"), meta);
    }

    /// What the entry says, on what it hangs on.
    fn entry(&mut self, index: usize) {
        let (file, tree) = (self.file, self.tree);
        let entry = &file.entries[index];
        self.at = time_of(entry).unwrap_or(self.at);
        let above = tree.link[index].and_then(|above| tree.anchor[above]);
        let mut parent = above.map_or(IncomingParent::Root, |above| IncomingParent::Id(self.as_parent(above)));
        let twin = above.filter(|_| entry.takes_part()).and_then(|above| self.twin(above, entry.line, &entry.id));
        let twin_of = twin.as_ref().map(|(turn, _)| *turn);
        // A result goes to the leaf if other messages have followed its call: here it goes where it hung.
        if let Some((_, name)) = twin {
            parent = IncomingParent::Id(name);
            self.leaf = above;
        } else if entry.result.is_some() && above.is_some() && self.leaf != above {
            self.head(entry.line, format!("{}.from", entry.id), above);
        }
        if entry.takes_part() {
            self.twins.wrote(file, index, above, twin_of);
        }
        // An entry that hangs on one that is no message keeps that one's name.
        let named = tree.link[index].filter(|&named| above == Some(named));
        let named = named.map(|above| file.entries[above].id.as_str());
        match entry.kind {
            Type::Compaction => self.compaction(index, parent, named),
            Type::Note | Type::Unknown | Type::ContextEdit => {
                let name = if entry.entry_type().is_empty() { "untyped" } else { entry.entry_type() };
                self.extension(entry.line, entry.id.clone(), name, Value::Map(entry.fields.clone()), parent);
            }
            _ => {
                let mut message = convert(entry.copy(), Around { parent: named, answered: &self.answered });
                if entry.result.is_some() {
                    message.metadata.source_tool_assistant_id = self.twins.holder(index).map(str::to_owned);
                }
                if !entry.calls.is_empty() {
                    self.turns.insert(index, parent.clone());
                }
                self.edits.said(index, &entry.id, &message);
                self.push(entry.line, entry.id.clone(), parent, IncomingBody::Message(Box::new(message)));
            }
        }
        if let Some(call) = &entry.result {
            self.answer(index, call);
        }
        if entry.takes_part() && !self.is_result_in_doubt(index) {
            self.leaf = Some(index);
        }
        self.calls.extend(entry.calls.iter().map(|call| (call.clone(), index)));
    }

    /// A call is answered now. In a turn that was broken off it counts from here on, and not before: a file that has
    /// grown by the result gives the turn's event again as it was.
    fn answer(&mut self, index: usize, call: &String) {
        let file = self.file;
        let turn = self.calls.get(call).copied();
        let broken_off =
            turn.filter(|&turn| file.entries[turn].is_broken_off() && self.tree.forest.is_above(turn, index));
        let Some(turn) = broken_off.filter(|_| !self.answered.contains(call)) else {
            self.answered.insert(call.clone());
            return;
        };
        let name = self.twins.holder(index).map_or_else(|| file.entries[turn].id.clone(), str::to_owned);
        let said = |answered: &HashSet<String>| convert(file.entries[turn].copy(), Around { parent: None, answered });
        let before = said(&self.answered);
        self.answered.insert(call.clone());
        let after = said(&self.answered);
        self.edits.said_anew(turn, &name, &after);
        if let Ok(patch) = patch_between(&before, &after)
            && !patch.is_empty()
        {
            let entry = &file.entries[index];
            let body = IncomingBody::Amend { target: name, patch };
            self.push(entry.line, format!("{}.answers", entry.id), IncomingParent::Leaf, body);
        }
    }

    /// Writes the twins from which a branch leaves here, if it needs them: the turn, and the twin's name.
    fn twin(&mut self, from: usize, line: u64, leaves: &str) -> Option<(usize, String)> {
        let (file, tree) = (self.file, self.tree);
        let of = self.twins.needed(file, tree, from)?;
        let turn = *of.first()?;
        let mut parent = self.turns.get(&turn)?.clone();
        for index in of {
            let entry = &file.entries[index];
            let named = tree.link[index].map(|above| file.entries[above].id.as_str());
            let mut message = convert(entry.copy(), Around { parent: named, answered: &self.answered });
            // What the turn cost is counted once.
            message.usage = None;
            if entry.result.is_some() {
                message.metadata.source_tool_assistant_id = Some(twin(file, turn, leaves));
            }
            let name = twin(file, index, leaves);
            self.edits.said(index, &name, &message);
            self.push(line, name.clone(), parent, IncomingBody::Message(Box::new(message)));
            parent = IncomingParent::Id(name);
        }
        Some((turn, twin(file, from, leaves)))
    }

    fn compaction(&mut self, index: usize, parent: IncomingParent, named: Option<&str>) {
        let entry = &self.file.entries[index];
        let converted = convert_compaction(entry.copy(), Around { parent: named, answered: &self.answered });
        let keep = self.keep.get(&index).map(Vec::as_slice).unwrap_or_default();
        let body = IncomingBody::Compaction {
            summary_id: Some(format!("{}.summary", entry.id)),
            summary_original_id: None,
            summary_at: None,
            summary_off_chain: false,
            summary: Box::new(converted.summary),
            keep: self.twins.on_the_line(self.file, keep, index),
            trigger: converted.trigger,
            boundary_extra: converted.boundary,
        };
        self.push(entry.line, entry.id.clone(), parent, body);
        if let Some(system) = converted.system {
            let on = IncomingParent::Id(entry.id.clone());
            self.push(entry.line, format!("{}.system", entry.id), on, IncomingBody::Message(Box::new(system)));
        }
    }

    /// Whether the store may not see the call of a result on the chain: then the result is not its leaf by itself.
    fn is_result_in_doubt(&self, index: usize) -> bool {
        let Some(result) = &self.file.entries[index].result else { return false };
        let call = self.calls.get(result).filter(|&&call| self.tree.forest.is_above(call, index));
        call.is_none_or(|&call| self.tree.compaction[call] != self.tree.compaction[index])
    }

    /// The conversation stands at this entry now: leaf, edits and what a list shows are made so.
    fn settle(&mut self, index: usize, line: u64, id: &str, entry: Option<&Entry>) {
        let leaf = self.tree.anchor[index];
        if self.leaf != leaf {
            match leaf.and_then(|leaf| self.twin(leaf, line, id)) {
                Some(_) => self.leaf = leaf,
                None => self.head(line, format!("{id}.leaf"), leaf),
            }
        }
        for (target, patch) in self.edits.go_to(index) {
            let name = format!("{id}.edit.{target}");
            self.push(line, name, IncomingParent::Leaf, IncomingBody::Amend { target, patch });
        }
        let meta = self.told.change(self.file, self.tree, Some(index), entry);
        self.meta(line, format!("{id}.meta"), meta);
    }

    fn head(&mut self, line: u64, id: String, leaf: Option<usize>) {
        let name = leaf.map(|leaf| match &self.file.entries[leaf] {
            entry if entry.kind == Type::Compaction && !has_system(entry) => format!("{}.summary", entry.id),
            _ => self.as_parent(leaf),
        });
        self.push(line, id, IncomingParent::Leaf, IncomingBody::Head { leaf: name });
        self.leaf = leaf;
    }

    /// The event on which what hangs on the entry hangs.
    fn as_parent(&self, index: usize) -> String {
        let entry = &self.file.entries[index];
        if has_system(entry) { format!("{}.system", entry.id) } else { entry.id.clone() }
    }
}

/// Whether a compaction says what the system's prompt is from then on.
fn has_system(entry: &Entry) -> bool {
    entry.kind == Type::Compaction && matches!(entry.get("systemMessage"), Some(Value::Map(_)))
}
