//! What a list of sessions shows of a file, as it changes from entry to entry.

use super::entry::Entry;
use super::file::File;
use super::tree::Tree;
use crate::event::{Fields, SessionMeta, Value};
use crate::interop::fields::field;
use crate::interop::limits::word;

/// What has been said so far.
#[derive(Debug, Default)]
pub(super) struct Told {
    title: Option<String>,
    model: Option<String>,
    provider: Option<String>,
    thinking: Option<String>,
}

impl Told {
    /// What the header says, with the model that it names.
    pub(super) fn header(&mut self, file: &File, tree: &Tree) -> Option<SessionMeta> {
        let (_, fields) = file.header.as_ref()?;
        let mut meta = self.change(file, tree, None, None).unwrap_or_default();
        // The program is the agent: so a list tells whose session it was.
        meta.agent = Some(super::FORMAT.to_owned());
        meta.cwd = file.header_text("cwd").filter(|cwd| !cwd.is_empty()).map(|cwd| word(cwd).to_owned());
        meta.extra.push(("version".to_owned(), Value::Int(file.version())));
        let parent = parent_session(fields).and_then(Value::as_text);
        meta.extra.extend(parent.map(|parent| ("parentSession".to_owned(), word(parent).into())));
        Some(meta)
    }

    /// What is new with this entry, at which the conversation stands now.
    pub(super) fn change(
        &mut self,
        file: &File,
        tree: &Tree,
        leaf: Option<usize>,
        entry: Option<&Entry>,
    ) -> Option<SessionMeta> {
        let model = tree.model_at(file, leaf);
        let mut meta = SessionMeta {
            title: entry.and_then(name_of).and_then(|name| set(&mut self.title, name)),
            model: model.and_then(|(_, model)| set(&mut self.model, model)),
            ..SessionMeta::default()
        };
        let provider = model.and_then(|(provider, _)| set(&mut self.provider, provider));
        let thinking = set(&mut self.thinking, tree.thinking_at(file, leaf));
        for (name, value) in [("provider", provider), ("thinkingLevel", thinking)] {
            meta.extra.extend(value.map(|value| (name.to_owned(), Value::Text(value))));
        }
        (!meta.is_empty()).then_some(meta)
    }
}

/// The name that an entry gives to the session.
pub(super) fn name_of(entry: &Entry) -> Option<&str> {
    let name = (entry.entry_type() == "session_info").then(|| entry.text("name")).flatten()?;
    Some(name.trim()).filter(|name| !name.is_empty())
}

/// The file that this one was forked from; the oldest version calls it otherwise.
pub(super) fn parent_session(header: &Fields) -> Option<&Value> {
    let named = |name| field(header, name).filter(|value| value.as_text().is_some());
    named("parentSession").or_else(|| named("branchedFrom"))
}

/// The new word, if it is another one and not empty; then it holds.
fn set(old: &mut Option<String>, new: &str) -> Option<String> {
    let new = word(new);
    if new.is_empty() || old.as_deref() == Some(new) {
        return None;
    }
    *old = Some(new.to_owned());
    old.clone()
}
