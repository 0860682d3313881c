//! Where the program goes on with the file: what a reader finds must be what the session stands at.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;

use super::Writer;
use super::behind::is_only_results;
use crate::event::{Kind, Message, Uuid, Value};
use crate::interop::claude_code::record::ANSWER_OF;
use crate::interop::claude_code::{Imported, Options, read};
use crate::interop::fields::{field, put};
use crate::interop::leaving_line::Line;
use crate::interop::leaving_told::{Told, lost};

impl Writer<'_, '_> {
    /// Whether a reader of the file, who found this, finds what the model sees now, and nothing else.
    pub(super) fn reads_as(&self, line: &Line, found: &Imported) -> bool {
        let source = self.source;
        let from = line.path.iter().rposition(|&index| source.event(index).boundary().is_some());
        let kept = from.and_then(|from| source.event(line.path[from]).boundary());
        let kept = kept.into_iter().flat_map(|boundary| &boundary.keep);
        let kept = line.units(kept.filter_map(|kept| source.place(kept.id)));
        let behind = line.path.iter().skip(from.map_or(0, |from| from + 1)).copied();
        let all = kept.into_iter().chain(behind);
        let expected: HashSet<&str> = all.map(|index| self.names[index].as_str()).collect();
        let found: HashSet<&str> = found.report.context_ids.iter().map(String::as_str).collect();
        found == expected
    }

    /// Whether a reader of the file, who found this, finds all that was said since the last compaction, and what that kept.
    pub(super) fn reads_as_it_stands(&self, found: &Imported) -> bool {
        let source = self.source;
        let found: HashSet<&str> = found.report.context_ids.iter().map(String::as_str).collect();
        let is_said = |message: &Message| {
            message.metadata.eligible_for_model_context
                && matches!(message.kind, Kind::UserInput | Kind::AssistantText | Kind::ToolCall | Kind::ToolResult)
        };
        let written: HashSet<&str> =
            self.records.iter().filter_map(|record| record.get("uuid").and_then(Value::as_text)).collect();
        let said = source.state.chain().into_iter().filter_map(|entry| source.place(entry.event.id));
        said.filter(|&index| source.message(index).is_some_and(is_said))
            .map(|index| self.names[index].as_str())
            .all(|name| found.contains(name) || !written.contains(name))
    }

    /// Whether the session stands where the program can't: at a call whose result is on another branch, or behind an attachment on one.
    pub(super) fn stands_between(&self) -> bool {
        let (source, chain) = (self.source, self.chain());
        let parent = |index: usize| source.event(index).parent.and_then(|parent| source.place(parent));
        let is_right_behind = |holder: usize, result: usize| {
            let mut at = result;
            while let Some(over) = parent(at).filter(|&over| over != holder) {
                if !source.message(over).is_some_and(is_only_results) {
                    return false;
                }
                at = over;
            }
            true
        };
        source.state.pairing().calls().iter().any(|paired| {
            let holder = source.place(paired.message.event.id).filter(|holder| chain.contains(holder));
            holder.zip(paired.result).is_some_and(|(holder, (result, _))| {
                let result = source.place(result.event.id).filter(|result| !chain.contains(result));
                !self.behind.answered.contains(&(holder, paired.call.id.clone()))
                    || result.is_some_and(|result| !self.behind.is_moved(result) && !is_right_behind(holder, result))
            })
        })
    }

    /// The program takes all blocks of an answer, wherever they hang. Those on a branch that was left within the answer are one of
    /// their own to it; for an import they stay of the same. `found` is what a
    /// reader finds before; gives whether there are such.
    pub(super) fn part_what_was_left(&mut self, found: Option<&Imported>, told: &mut Told) -> bool {
        let (source, chain) = (self.source, self.chain());
        let answer = |index: usize| source.message(index)?.message_id.as_deref().filter(|_| self.written[index]);
        let answers: HashSet<&str> = chain.iter().filter_map(|&index| answer(index)).collect();
        let mut firsts: HashMap<&str, Uuid> = HashMap::new();
        let mut parted: HashMap<&str, (usize, String)> = HashMap::new();
        for index in (0..source.len()).filter(|index| !chain.contains(index)) {
            if let Some(id) = answer(index).filter(|id| answers.contains(id)) {
                let first = *firsts.entry(id).or_insert(source.event(index).id);
                parted.insert(&self.names[index], (index, format!("msg_{}", first.simple())));
            }
        }
        // Where it takes none of them, as before a compaction, the records stay as they were.
        let taken = found.map_or(&[][..], |found| &found.report.context_ids);
        if !taken.iter().any(|name| parted.contains_key(name.as_str())) {
            return false;
        }
        for record in &mut self.records {
            let Value::Map(fields) = record else { continue };
            let name = field(fields, "uuid").and_then(Value::as_text);
            let Some((index, id)) = name.and_then(|name| parted.get(name)) else { continue };
            let Some((_, Value::Map(inner))) = fields.iter_mut().find(|(name, _)| name == "message") else { continue };
            let Some(whole) = field(inner, "id").cloned() else { continue };
            put(inner, "id", id.as_str());
            put(fields, ANSWER_OF, whole);
            told.note(lost::PARTED, source.event(*index).id);
        }
        true
    }

    pub(super) fn chain(&self) -> HashSet<usize> {
        self.source.state.chain().iter().filter_map(|entry| self.source.place(entry.event.id)).collect()
    }

    /// Takes note of where the conversation stands: at this message, with the results behind it.
    pub(super) fn stand_at(&mut self, leaf: Option<usize>) {
        let leaf = leaf.map(|leaf| self.behind.end(leaf));
        self.behind_leaf = leaf.and_then(|leaf| self.behind.said(leaf).cloned());
        self.leaf = Some(leaf.map(|leaf| self.names[leaf].clone()));
    }

    /// Where the program's own rule gives another leaf than the session's, a last record says where it stands; where that is what the
    /// session's own file says, and nothing was touched, there is nothing to say. Gives what a reader of the file finds then.
    pub(super) fn stand_at_the_leaf(&mut self, is_touched: bool) -> Option<Imported> {
        let leaf = self.leaf.take()?;
        let found = self.read_back()?;
        let has_messages = self.records.iter().any(|record| record.get("uuid").is_some());
        let is_found = found.leaf == leaf;
        // Newer versions of the program go by what was written down last.
        let is_recorded = self.records.iter().any(|record| record.get("leafUuid").is_some());
        if !has_messages || (is_found && !(is_recorded && is_touched)) {
            return Some(found);
        }
        // What says that a call has no result is a message to the program.
        let behind = self.behind_leaf.take();
        let mut recorded = behind.clone().or(leaf.clone());
        if let Some(leaf) = leaf.as_ref().filter(|_| !is_found) {
            // Of the messages at which a line ends the last one in the file counts. A child may stand before its parent.
            for name in [Some(leaf), behind.as_ref()].into_iter().flatten() {
                let is_it = |record: &Value| record.get("uuid").and_then(Value::as_text) == Some(name);
                if let Some(at) = self.records.iter().position(is_it) {
                    let record = self.records.remove(at);
                    self.records.push(record);
                }
            }
            let said = [
                ("subtype", "informational".into()),
                ("content", "The conversation goes on from here.".into()),
                ("level", "info".into()),
            ];
            let hangs_on = behind.as_ref().unwrap_or(leaf).as_str().into();
            self.system((&format!("{leaf}.leaf"), 1), hangs_on, self.source.created_at(), said);
            let written = self.records.last().and_then(|record| record.get("uuid")).and_then(Value::as_text);
            recorded = written.map(str::to_owned);
        }
        // With the word the program (2.1.197) stands at the record itself, without it at the end of what hangs on it; and behind a
        // summary hangs what that kept.
        let recorded = recorded.map_or(Value::Null, Value::from);
        let said = [("lastPrompt", "".into()), ("leafUuid", recorded)];
        if is_found && leaf.is_some() {
            self.note("last-prompt", said);
            return Some(found);
        }
        let [prompt, recorded] = said;
        self.note("last-prompt", [prompt, recorded, ("explicit", true.into())]);
        self.read_back()
    }

    /// What a reader of the file finds.
    pub(super) fn read_back(&self) -> Option<Imported> {
        let mut lines = Vec::new();
        for record in &self.records {
            lines.extend(serde_json::to_vec(record).unwrap_or_default());
            lines.push(b'\n');
        }
        read(Cursor::new(lines), &Options::default()).ok()
    }
}
