//! Where the program goes on with the file: what a reader finds must be what the session stands at.

use std::collections::HashSet;
use std::io::Cursor;

use super::Writer;
use crate::event::{Kind, Message, Value};
use crate::interop::claude_code::{Imported, Options, read};
use crate::interop::leaving_line::Line;

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

    /// Whether the session stands where the program can't: inside an answer, all of whose blocks it takes, or at a call whose result
    /// is on another branch.
    pub(super) fn stands_between(&self) -> bool {
        let source = self.source;
        let chain = source.state.chain();
        let chain: HashSet<usize> = chain.iter().filter_map(|entry| source.place(entry.event.id)).collect();
        let answer = |index: usize| source.message(index)?.message_id.as_deref().filter(|_| self.written[index]);
        let answers: HashSet<&str> = chain.iter().filter_map(|&index| answer(index)).collect();
        let is_rest = |index: usize| !chain.contains(&index) && answer(index).is_some_and(|id| answers.contains(id));
        let pairing = source.state.pairing();
        let is_elsewhere = pairing.calls().iter().any(|paired| {
            let holder = source.place(paired.message.event.id).filter(|holder| chain.contains(holder));
            holder
                .zip(paired.result)
                .is_some_and(|(holder, _)| !self.behind.answered.contains(&(holder, paired.call.id.clone())))
        });
        is_elsewhere || (0..source.len()).any(is_rest)
    }

    /// Takes note of where the conversation stands: at this message, with the results behind it.
    pub(super) fn stand_at(&mut self, leaf: Option<usize>) {
        let leaf = leaf.map(|leaf| self.behind.end(leaf));
        self.behind_leaf = leaf.and_then(|leaf| self.behind.said(leaf).cloned());
        self.leaf = Some(leaf.map(|leaf| self.names[leaf].clone()));
    }

    /// Where the program's own rule gives another leaf than the session's, a last record says where it stands. Gives what a
    /// reader of the file finds then; none: the leaf is that of the file from which the session came.
    pub(super) fn stand_at_the_leaf(&mut self) -> Option<Imported> {
        let leaf = self.leaf.take()?;
        let found = self.read_back()?;
        let has_messages = self.records.iter().any(|record| record.get("uuid").is_some());
        let is_found = found.leaf == leaf;
        // Newer versions of the program go by what was written down last.
        let is_recorded = self.records.iter().any(|record| record.get("leafUuid").is_some());
        if !has_messages || (is_found && !is_recorded) {
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
    fn read_back(&self) -> Option<Imported> {
        let mut lines = Vec::new();
        for record in &self.records {
            lines.extend(serde_json::to_vec(record).unwrap_or_default());
            lines.push(b'\n');
        }
        read(Cursor::new(lines), &Options::default()).ok()
    }
}
