//! What is said of a session here, where a file that is imported says otherwise.

use serde::Serialize;

use crate::event::{SessionMeta, Value};

/// A field that stays as the session has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MetaKept {
    /// Its name: `title`, `cwd`, `model`, `agent`, `tags`, or one of the session's further fields.
    pub field: String,
    /// What the session says; empty: nothing.
    pub kept: String,
    /// What the file says; empty: nothing.
    pub copy: String,
}

/// The fields of a change, beside what the file says of them.
pub(super) fn meta_kept(change: &SessionMeta, copy: &SessionMeta) -> Vec<MetaKept> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let field = |field: &str, kept: Option<String>, copy: String| {
        kept.map(|kept| MetaKept { field: field.to_owned(), kept, copy })
    };
    let tags = (!change.tags.is_empty()).then(|| change.tags.join(", "));
    let texts = [
        field("title", change.title.clone(), text(&copy.title)),
        field("cwd", change.cwd.clone(), text(&copy.cwd)),
        field("model", change.model.clone(), text(&copy.model)),
        field("agent", change.agent.clone(), text(&copy.agent)),
        field("tags", tags, copy.tags.join(", ")),
    ];
    let extra = change.extra.iter().filter_map(|(name, value)| {
        let said = copy.extra.iter().find(|(known, _)| known == name).map(|(_, value)| in_words(value));
        field(name, Some(in_words(value)), said.unwrap_or_default())
    });
    texts.into_iter().flatten().chain(extra).collect()
}

fn in_words(value: &Value) -> String {
    match value.as_text() {
        Some(text) => text.to_owned(),
        None => serde_json::to_string(value).unwrap_or_default(),
    }
}
