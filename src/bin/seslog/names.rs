//! Which event is meant: by its id, the beginning of one, or the id that it had where it came from.

use seslog::event::Uuid;
use seslog::session::{Session, SessionReader, State};

use crate::exit::{Outcome, Told};

/// Events that can be named.
pub(crate) trait Named {
    /// Whether there is an event of this id.
    fn has(&self, id: Uuid) -> Outcome<bool>;
    /// All events.
    fn all(&self) -> Outcome<State>;
}

impl Named for SessionReader {
    fn has(&self, id: Uuid) -> Outcome<bool> {
        Ok(self.log().find(id)?.is_some())
    }

    fn all(&self) -> Outcome<State> {
        Ok(self.whole_state()?)
    }
}

impl Named for Session {
    fn has(&self, id: Uuid) -> Outcome<bool> {
        Ok(self.log().find(id)?.is_some())
    }

    fn all(&self) -> Outcome<State> {
        Ok(self.whole_state()?)
    }
}

/// The event of this name. An original id that several events had means the latest of them.
pub(crate) fn event(events: &impl Named, name: &str) -> Outcome<Uuid> {
    if let Ok(id) = Uuid::try_parse(name)
        && events.has(id)?
    {
        return Ok(id);
    }
    let state = events.all()?;
    let had_it = |entry: &&seslog::session::Entry| entry.event.original_id.as_deref() == Some(name);
    if let Some(entry) = state.entries().iter().rev().find(had_it) {
        return Ok(entry.event.id);
    }
    let wanted: String = name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
    let fits = |id: &Uuid| !wanted.is_empty() && id.simple().to_string().starts_with(&wanted);
    let matches: Vec<Uuid> = state.entries().iter().map(|entry| entry.event.id).filter(fits).collect();
    match matches.as_slice() {
        [id] => Ok(*id),
        [] => Err(Told::not_found(
            "noSuchEvent",
            format!("no event `{name}` in this session; `seslog verify` lists them"),
        )
        .into()),
        [first, ..] => {
            let message = format!("`{name}` fits {} events ({first}, …); give more of the id", matches.len());
            Err(Told { code: "ambiguousEvent", ..Told::usage(message) }.into())
        }
    }
}

/// The events of these names.
pub(crate) fn events(events: &impl Named, names: &[String]) -> Outcome<Vec<Uuid>> {
    names.iter().map(|name| event(events, name)).collect()
}
