//! What the metadata records say, each kind's last word.

use super::file::{File, Item};
use super::record::Type;
use crate::event::{Fields, SessionMeta, Value};

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
    /// It wrote down that the conversation begins anew, and no transcript record follows.
    pub(super) cleared: bool,
}

/// Records of one value: their type, the field with the value, its name in a session's meta.
const VALUES: [(&str, &str, &str); 2] =
    [("mode", "mode", "mode"), ("permission-mode", "permissionMode", "permissionMode")];

impl Folded {
    pub(super) fn of(file: &File) -> Self {
        let mut folded = Self::default();
        for item in &file.items {
            match item {
                Item::Metadata { value, .. } => folded.add(file, value),
                Item::Record(_) => folded.cleared = false,
                Item::Unplaced { .. } => {}
            }
        }
        folded
    }

    fn add(&mut self, file: &File, value: &Value) {
        let text = |name: &str| value.get(name).and_then(Value::as_text);
        let word = |name: &str, old: &mut Option<String>| {
            if let Some(text) = text(name) {
                *old = Some(text.to_owned()).filter(|text| !text.is_empty());
            }
        };
        match text("type").unwrap_or_default() {
            "custom-title" => word("customTitle", &mut self.custom_title),
            "ai-title" => word("aiTitle", &mut self.made_title),
            "tag" => word("tag", &mut self.tag),
            "agent-name" => word("agentName", &mut self.agent),
            // Many of them tell of other files.
            "summary" if text("leafUuid").is_some_and(|leaf| file.by_id.contains_key(leaf)) => {
                word("summary", &mut self.summary);
            }
            "last-prompt" => {
                self.recorded_leaf = text("leafUuid").map(str::to_owned);
                let explicit = value.get("explicit").and_then(Value::as_bool) == Some(true);
                self.cleared = explicit && value.get("leafUuid") == Some(&Value::Null);
            }
            other => {
                let Some((_, from, to)) = VALUES.iter().find(|(name, _, _)| *name == other) else { return };
                let Some(value) = value.get(from) else { return };
                self.other.retain(|(name, _)| name != to);
                self.other.push(((*to).to_owned(), value.clone()));
            }
        }
    }

    /// The title that a person gave, or else the one that was made for this conversation.
    pub(super) fn title(&self) -> Option<&str> {
        self.custom_title.as_deref().or(self.made_title.as_deref())
    }

    /// All of it as a session's meta; what the records of the main line say of folder and model, the last word holds.
    pub(super) fn session_meta(&self, file: &File) -> Option<SessionMeta> {
        let main = || file.records.iter().rev().filter(|record| !record.sidechain || file.agents_own);
        let last = |name: &str| main().find_map(|record| record.text(name)).map(str::to_owned);
        let model = main().filter(|record| record.kind == Type::Assistant).find_map(|record| {
            let model = record.get("message")?.get("model")?.as_text()?;
            (model != "<synthetic>").then(|| model.to_owned())
        });
        let mut extra = self.other.clone();
        for name in ["gitBranch", "version"] {
            extra.extend(last(name).map(|text| (name.to_owned(), Value::Text(text))));
        }
        let meta = SessionMeta {
            title: self.title().or(self.summary.as_deref()).map(str::to_owned),
            tags: self.tag.iter().cloned().collect(),
            cwd: last("cwd"),
            model,
            agent: self.agent.clone(),
            extra,
        };
        (meta != SessionMeta::default()).then_some(meta)
    }
}
