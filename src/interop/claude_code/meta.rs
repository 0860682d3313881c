//! What the metadata records say, each kind's last word.

use super::file::{File, Item};
use super::record::{Record, Type};
use crate::event::{Fields, SessionMeta, Value};
use crate::interop::limits::word;

/// The metadata of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Folded {
    custom_title: Option<String>,
    made_title: Option<String>,
    summary: Option<String>,
    tag: Option<String>,
    agent: Option<String>,
    /// Fields of the session that change by a record of their own.
    other: Fields,
    /// The leaf that the program wrote down last.
    pub(super) recorded_leaf: Option<String>,
    /// The line on which it wrote down that the conversation begins anew, if no transcript record follows.
    pub(super) cleared_at: Option<u64>,
    cwd: Option<String>,
    branch: Option<String>,
    version: Option<String>,
    model: Option<String>,
    /// The last line that changed any of it.
    changed_at: u64,
}

/// Records of one value: their type, the field with the value, its name in a session's meta.
const VALUES: [(&str, &str, &str); 2] =
    [("mode", "mode", "mode"), ("permission-mode", "permissionMode", "permissionMode")];

impl Folded {
    pub(super) fn of(file: &File) -> Self {
        let mut folded = Self::default();
        for item in &file.items {
            match item {
                Item::Metadata { line, value, .. } => {
                    if folded.add(file, value, *line) {
                        folded.changed_at = *line;
                    }
                }
                Item::Record(index) => {
                    folded.cleared_at = None;
                    let record = &file.records[*index];
                    if (!record.sidechain || file.agents_own) && folded.add_record(record) {
                        folded.changed_at = record.line;
                    }
                }
                Item::Unplaced { .. } => {}
            }
        }
        // A sub-agent's own file says whose it is in each record.
        if file.agents_own {
            let agent = file.records.iter().find_map(|record| record.agent.as_deref());
            for (name, value) in [("agentId", agent), ("parentSession", file.session.as_deref())] {
                let value = value.map(|value| crate::interop::limits::word(value).into());
                folded.other.extend(value.map(|value| (name.to_owned(), value)));
            }
        }
        folded
    }

    /// Whether it says anything new.
    fn add(&mut self, file: &File, value: &Value, line: u64) -> bool {
        let text = |name: &str| value.get(name).and_then(Value::as_text);
        let word = |name: &str, old: &mut Option<String>| {
            text(name).is_some_and(|text| set(old, Some(text).filter(|text| !text.is_empty())))
        };
        match text("type").unwrap_or_default() {
            "custom-title" => word("customTitle", &mut self.custom_title),
            "ai-title" => word("aiTitle", &mut self.made_title),
            "tag" => word("tag", &mut self.tag),
            "agent-name" => word("agentName", &mut self.agent),
            // Many of them tell of other files.
            "summary" if text("leafUuid").is_some_and(|leaf| file.by_id.contains_key(leaf)) => {
                word("summary", &mut self.summary)
            }
            "last-prompt" => {
                self.recorded_leaf = text("leafUuid").map(str::to_owned);
                let explicit = value.get("explicit").and_then(Value::as_bool) == Some(true);
                self.cleared_at = (explicit && value.get("leafUuid") == Some(&Value::Null)).then_some(line);
                false
            }
            other => {
                let known = VALUES.iter().find(|(name, _, _)| *name == other);
                let Some((name, value)) = known.and_then(|(_, from, to)| Some((*to, value.get(from)?))) else {
                    return false;
                };
                if self.other.iter().any(|(known, old)| known == name && old == value) {
                    return false;
                }
                self.other.retain(|(known, _)| known != name);
                let kept =
                    value.as_text().map_or_else(|| value.clone(), |text| crate::interop::limits::word(text).into());
                self.other.push((name.to_owned(), kept));
                true
            }
        }
    }

    fn add_record(&mut self, record: &Record) -> bool {
        let mut new = false;
        for (old, name) in [(&mut self.cwd, "cwd"), (&mut self.branch, "gitBranch"), (&mut self.version, "version")] {
            if let Some(text) = record.text(name) {
                new |= set(old, Some(text));
            }
        }
        let model = (record.kind == Type::Assistant).then(|| record.get("message")?.get("model")?.as_text()).flatten();
        if let Some(model) = model.filter(|model| *model != "<synthetic>") {
            new |= set(&mut self.model, Some(model));
        }
        new
    }

    /// The title that a person gave, or else the one that was made for this conversation.
    pub(super) fn title(&self) -> Option<&str> {
        self.custom_title.as_deref().or(self.made_title.as_deref())
    }

    /// All of it as a session's meta, and the line that said the last new word.
    pub(super) fn session_meta(&self) -> Option<(u64, SessionMeta)> {
        let mut extra = self.other.clone();
        for (name, value) in [("gitBranch", &self.branch), ("version", &self.version)] {
            extra.extend(value.clone().map(|text| (name.to_owned(), Value::Text(text))));
        }
        let meta = SessionMeta {
            title: self.title().or(self.summary.as_deref()).map(str::to_owned),
            tags: self.tag.iter().cloned().collect(),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            // Where no agent is named, the program is the agent: so a list tells whose session it was.
            agent: self.agent.clone().or_else(|| Some(super::FORMAT.to_owned())),
            extra,
        };
        (self.changed_at > 0).then_some((self.changed_at, meta))
    }
}

/// Whether the new word is another one; then it holds.
fn set(old: &mut Option<String>, new: Option<&str>) -> bool {
    let new = new.map(word);
    let changed = old.as_deref() != new;
    if changed {
        *old = new.map(str::to_owned);
    }
    changed
}
