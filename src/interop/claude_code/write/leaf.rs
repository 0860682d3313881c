//! Where the program goes on with the file: what a reader finds must be what the session stands at.

use std::collections::HashSet;
use std::io::Cursor;

use super::Writer;
use crate::event::{Kind, Message, Value, foreign_id};
use crate::interop::claude_code::{FORMAT, Imported, Options, read};
use crate::interop::leaving_line::Line;
use crate::interop::time::iso_cut;

impl Writer<'_, '_> {
    /// Whether a reader of the file finds what the model sees now, and nothing else.
    pub(super) fn reads_as(&self, line: &Line) -> bool {
        let source = self.source;
        let from = line.path.iter().rposition(|&index| source.event(index).boundary().is_some());
        let kept = from.and_then(|from| source.event(line.path[from]).boundary());
        let kept = kept.into_iter().flat_map(|boundary| &boundary.keep);
        let kept = line.units(source, kept.filter_map(|kept| source.place(kept.id)));
        let behind = line.path.iter().skip(from.map_or(0, |from| from + 1)).copied();
        let expected: HashSet<&str> = kept.into_iter().chain(behind).map(|index| self.names[index].as_str()).collect();
        let Some(found) = self.read_back() else { return false };
        let found: HashSet<&str> = found.report.context_ids.iter().map(String::as_str).collect();
        found == expected
    }

    /// Whether a reader of the file finds all that was said since the last compaction, and what that kept.
    pub(super) fn reads_as_it_stands(&self) -> bool {
        let source = self.source;
        let Some(found) = self.read_back() else { return false };
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

    /// Where the program's own rule gives another leaf than the session's, a last record says where it stands.
    pub(super) fn stand_at_the_leaf(&mut self) {
        let Some(leaf) = self.leaf.take() else { return };
        let has_messages = self.records.iter().any(|record| record.get("uuid").is_some());
        let is_found = self.read_back().and_then(|found| found.leaf) == leaf;
        // Newer versions of the program go by what was written down last.
        let is_recorded = self.records.iter().any(|record| record.get("leafUuid").is_some());
        if !has_messages || (is_found && !is_recorded) {
            return;
        }
        if let Some(leaf) = leaf.as_ref().filter(|_| !is_found) {
            // Of the messages at which a line ends the last one in the file counts. A child may stand before its parent.
            let is_leaf = |record: &Value| record.get("uuid").and_then(Value::as_text) == Some(leaf);
            if let Some(at) = self.records.iter().position(is_leaf) {
                let record = self.records.remove(at);
                self.records.push(record);
            }
            let uuid = foreign_id(FORMAT, &self.session, &format!("{leaf}.leaf"), 1);
            let record = Value::from([
                ("parentUuid", leaf.as_str().into()),
                ("isSidechain", false.into()),
                ("userType", "external".into()),
                ("cwd", self.cwd.as_str().into()),
                ("version", self.version.as_str().into()),
                ("sessionId", self.session.as_str().into()),
                ("type", "system".into()),
                ("subtype", "informational".into()),
                ("content", "The conversation goes on from here.".into()),
                ("level", "info".into()),
                ("isMeta", false.into()),
                ("uuid", uuid.to_string().into()),
                ("timestamp", iso_cut(self.source.created_at()).into()),
            ]);
            self.push_bare(record);
        }
        self.records.push(Value::from([
            ("type", "last-prompt".into()),
            ("lastPrompt", "".into()),
            ("leafUuid", leaf.map_or(Value::Null, Value::from)),
            ("explicit", true.into()),
            ("sessionId", self.session.as_str().into()),
        ]));
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
