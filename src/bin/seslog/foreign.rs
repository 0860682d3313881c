//! Ids in neutral lines may be any strings. Here they become ids of ours, and names that other events use are found.

use std::collections::HashMap;

use seslog::event::{Uuid, decode, foreign_id, parse_id};
use seslog::session::Session;

use crate::exit::{Outcome, Told};

/// The format's name in ids that are made of foreign ones.
const FORMAT: &str = "events";

/// The names of a session's events.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    session: &'a Session,
    /// What each foreign name meant last in this run. First, so that a run that is repeated means the same again.
    run: HashMap<String, Uuid>,
    /// The latest event of each foreign name, of the runs before. Read from the log when the first one is asked for,
    /// since most sessions have none.
    before: Option<HashMap<String, Uuid>>,
}

/// An id for a new event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewId {
    /// None was given: the session makes one.
    Own,
    /// It was an id of ours.
    Given(Uuid),
    /// It was any string, and becomes a UUIDv5.
    Foreign(String),
}

impl NewId {
    pub(crate) fn of(name: Option<String>) -> Self {
        match name {
            None => Self::Own,
            Some(name) => parse_id(&name).map_or(Self::Foreign(name), Self::Given),
        }
    }

    /// The string that it was, if it was none of ours.
    pub(crate) fn original(&self) -> Option<&String> {
        match self {
            Self::Foreign(name) => Some(name),
            Self::Own | Self::Given(_) => None,
        }
    }
}

impl<'a> Names<'a> {
    pub(crate) fn of(session: &'a Session) -> Self {
        Self { session, run: HashMap::new(), before: None }
    }

    /// The id for the `nth` event (from 1) of this name that says something else than those before it. None: the
    /// session makes one.
    pub(crate) fn id(&self, id: &NewId, nth: u32) -> Option<Uuid> {
        match id {
            NewId::Own => None,
            NewId::Given(id) => Some(*id),
            NewId::Foreign(name) => Some(foreign_id(FORMAT, &self.session.id().to_string(), name, nth)),
        }
    }

    /// Takes note of an event that was written, or was known.
    pub(crate) fn note(&mut self, name: &NewId, id: Uuid) {
        if let NewId::Foreign(name) = name {
            self.run.insert(name.clone(), id);
        }
    }

    /// The nearest earlier event of this name.
    pub(crate) fn find(&mut self, name: &str) -> Outcome<Option<Uuid>> {
        if let Some(id) = parse_id(name)
            && self.session.log().find(id)?.is_some()
        {
            return Ok(Some(id));
        }
        if let Some(id) = self.run.get(name) {
            return Ok(Some(*id));
        }
        let before = match &mut self.before {
            Some(before) => before,
            none => none.insert(foreign_names(self.session)?),
        };
        Ok(before.get(name).copied())
    }

    /// The nearest earlier event of this name, which has to be there.
    pub(crate) fn need(&mut self, name: &str) -> Outcome<Uuid> {
        let missing = || Told::not_found("noSuchEvent", format!("no earlier event has the id `{name}`"));
        self.find(name)?.ok_or_else(|| missing().into())
    }

    /// The nearest earlier events of these names, which have to be there.
    pub(crate) fn need_all(&mut self, names: &[String]) -> Outcome<Vec<Uuid>> {
        names.iter().map(|name| self.need(name)).collect()
    }
}

/// The original ids of all events, each with the latest event that had it.
fn foreign_names(session: &Session) -> Outcome<HashMap<String, Uuid>> {
    let mut names = HashMap::new();
    for frame in session.log().frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            continue;
        }
        // An event that can't be read has no name that could be used; the session opened, so there is none.
        if let Ok(event) = decode(frame.payload())
            && let Some(name) = event.original_id
        {
            names.insert(name, event.id);
        }
    }
    Ok(names)
}
