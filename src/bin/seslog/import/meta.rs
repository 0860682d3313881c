//! What is said of a session, where a copy of it says otherwise: what the session in the store says of its own accord stays.

use serde::Serialize;
use seslog::event::{Body, SessionMeta};
use seslog::log::Durability;
use seslog::session::{Session, SessionReader};

use crate::exit::Outcome;

/// What stays as the session in the store has it, and what the copy said.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MetaKept {
    pub(super) field: &'static str,
    pub(super) kept: String,
    pub(super) copy: String,
}

/// After `copy` was read into the session: what the session had set itself, in events that the copy does not have, is set again.
/// `before` is what was said of the session before.
pub(super) fn settle(session: &Session, copy: &SessionReader, before: SessionMeta) -> Outcome<Vec<MetaKept>> {
    let after = session.with_state(|state| state.meta().clone())?;
    if after == before {
        return Ok(Vec::new());
    }
    let mut own = SessionMeta::default();
    for entry in session.whole_state()?.entries() {
        if let Body::SessionMeta(said) = &entry.event.body
            && copy.event(entry.event.id)?.is_none()
        {
            let SessionMeta { title, tags, cwd, model, agent, extra } = said.clone();
            own.title = title.or(own.title);
            own.cwd = cwd.or(own.cwd);
            own.model = model.or(own.model);
            own.agent = agent.or(own.agent);
            own.extra.extend(extra);
            own.tags.extend(tags);
        }
    }
    let mut change = SessionMeta::default();
    let mut kept = Vec::new();
    let mut text = |field, is_own: bool, was: &Option<String>, is: &Option<String>| {
        let was = was.clone().filter(|was| is_own && is.as_ref() != Some(was))?;
        kept.push(MetaKept { field, kept: was.clone(), copy: is.clone().unwrap_or_default() });
        Some(was)
    };
    change.title = text("title", own.title.is_some(), &before.title, &after.title);
    change.cwd = text("cwd", own.cwd.is_some(), &before.cwd, &after.cwd);
    change.model = text("model", own.model.is_some(), &before.model, &after.model);
    change.agent = text("agent", own.agent.is_some(), &before.agent, &after.agent);
    if !own.tags.is_empty() && !before.tags.is_empty() && before.tags != after.tags {
        kept.push(MetaKept { field: "tags", kept: before.tags.join(", "), copy: after.tags.join(", ") });
        change.tags = before.tags;
    }
    let is_own = |name: &str| own.extra.iter().any(|(set, _)| set == name);
    let is_changed = |(name, value): &&(String, _)| !after.extra.iter().any(|(set, now)| set == name && now == value);
    change.extra = before.extra.iter().filter(|(name, _)| is_own(name)).filter(is_changed).cloned().collect();
    if change != SessionMeta::default() {
        session.set_meta(change, Durability::Sync)?.wait()?;
    }
    Ok(kept)
}
