//! Which event is meant: by its id, the beginning of one, or the id that it had where it came from.

use seslog::event::{Uuid, decode};
use seslog::log::LogView;
use seslog::session::State;

use crate::exit::{Outcome, Told};

/// The event of this name. An original id that several events had means the latest of them.
pub(crate) fn event(log: &LogView, name: &str) -> Outcome<Uuid> {
    if let Ok(id) = Uuid::try_parse(name)
        && log.find(id)?.is_some()
    {
        return Ok(id);
    }
    let wanted = bare(name);
    let mut had_it = None;
    let mut fitting = Vec::new();
    for frame in log.frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            continue;
        }
        if !wanted.is_empty() && frame.id().simple().to_string().starts_with(&wanted) {
            fitting.push(frame.id());
        }
        // An event that can't be read has no name that could be used.
        if let Ok(event) = decode(frame.payload())
            && event.original_id.as_deref() == Some(name)
        {
            had_it = Some(event.id);
        }
    }
    the_one(name, had_it, &fitting)
}

/// The same among the events that a state holds.
pub(crate) fn event_in(state: &State, name: &str) -> Outcome<Uuid> {
    if let Some(entry) = Uuid::try_parse(name).ok().and_then(|id| state.entry(id)) {
        return Ok(entry.event.id);
    }
    let wanted = bare(name);
    let events = || state.entries().iter().map(|entry| &entry.event);
    let had_it = events().rev().find(|event| event.original_id.as_deref() == Some(name));
    let fits = |id: &Uuid| !wanted.is_empty() && id.simple().to_string().starts_with(&wanted);
    let fitting: Vec<Uuid> = events().map(|event| event.id).filter(fits).collect();
    the_one(name, had_it.map(|event| event.id), &fitting)
}

/// The digits of an id, or of its beginning.
fn bare(name: &str) -> String {
    name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase()
}

fn the_one(name: &str, had_it: Option<Uuid>, fitting: &[Uuid]) -> Outcome<Uuid> {
    match (had_it, fitting) {
        (Some(id), _) => Ok(id),
        (None, [id]) => Ok(*id),
        (None, []) => Err(Told::not_found(
            "noSuchEvent",
            format!("no event `{name}` in this session; `seslog tree --all` shows its messages, `seslog verify` all its events"),
        )
        .into()),
        (None, [first, ..]) => {
            let message = format!("`{name}` fits {} events ({first}, …); give more of the id", fitting.len());
            Err(Told { code: "ambiguousEvent", ..Told::usage(message) }.into())
        }
    }
}

/// The events of these names.
pub(crate) fn events(log: &LogView, names: &[String]) -> Outcome<Vec<Uuid>> {
    names.iter().map(|name| event(log, name)).collect()
}
