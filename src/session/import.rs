//! The importers' door: events that came from elsewhere, stored as they came, with every repair told.

use std::sync::MutexGuard;

use super::commit::{Inner, Placing};
use super::compact::{boundary, boundary_event};
use super::draft::NewEvent;
use super::entry::Entry;
use super::error::SessionError;
use super::place::{Parent, Repair};
use super::replay::{find_event, whole};
use super::writer::Session;
use crate::event::{Body, Event, Message, Trigger, Uuid};
use crate::log::Durability;

/// Takes in events from elsewhere, one after the other, holding the session's writer meanwhile.
///
/// Unlike [`Session::append`] it accepts a parent that is not there: the event hangs on the leaf at its place, and the
/// repair is told. Appends do not wait for the disk; [`Import::finish`] does, once.
#[derive(Debug)]
pub struct Import<'a> {
    session: &'a Session,
    inner: MutexGuard<'a, Inner>,
}

/// A compaction that came from elsewhere.
#[derive(Debug, Clone)]
pub struct ImportedCompaction {
    /// The boundary: its id, time, original ids and unknown fields.
    pub boundary: NewEvent,
    /// The summary's id, time and original id; its body is the message of kind `compact_summary`.
    pub summary: NewEvent,
    /// The kept messages, in the order in which they are to stand.
    pub keep: Vec<Uuid>,
    /// Who asked for it.
    pub trigger: Option<Trigger>,
}

impl Session {
    /// Begins an import. Reads the whole session, so that what is known already is found in memory.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn import(&self) -> Result<Import<'_>, SessionError> {
        let mut inner = self.lock();
        inner.state = whole(self.log())?;
        inner.stale = false;
        inner.keep_whole = true;
        Ok(Import { session: self, inner })
    }
}

impl Import<'_> {
    /// The event of this id as it was written, if the session has it.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn event(&self, id: Uuid) -> Result<Option<Event>, SessionError> {
        match self.inner.state.entry(id) {
            None => Ok(None),
            // What nothing has changed stands in the state as it was written: no read for each event of a file that is known.
            Some(entry) if entry.changes.is_empty() => Ok(Some(Event::clone(&entry.event))),
            Some(_) => Ok(find_event(self.session.log(), id)?.map(|(event, _)| event)),
        }
    }

    /// Whether the session has an event of this id.
    #[must_use]
    pub fn contains(&self, id: Uuid) -> bool {
        self.inner.state.entry(id).is_some()
    }

    /// Adds one event; its id is new to the session. Returns the repairs that its parent needed.
    ///
    /// # Errors
    /// Those of [`Session::append`], but no unknown parent.
    pub fn add(&mut self, event: NewEvent) -> Result<Vec<Repair>, SessionError> {
        self.commit(vec![event])
    }

    /// Adds a compaction as one batch. Kept ids that the session does not know are left out and returned.
    ///
    /// # Errors
    /// As for [`Import::add`].
    pub fn add_compaction(&mut self, compaction: ImportedCompaction) -> Result<(Vec<Repair>, Vec<Uuid>), SessionError> {
        let ImportedCompaction { boundary: envelope, summary, keep, trigger } = compaction;
        let state = &self.inner.state;
        let entries: Vec<&Entry> = keep.iter().filter_map(|&id| state.entry(id)).collect();
        let missing = keep.iter().copied().filter(|&id| state.entry(id).is_none()).collect();
        let made = boundary_event(boundary(state, &state.pairing(), &entries, trigger, self.inner.ids.last()));
        let id = match envelope.id {
            Some(id) => id,
            None => self.inner.new_id(self.session.clock()),
        };
        let (Body::Message(made), Body::Message(given)) = (made.body, envelope.body.clone()) else {
            return Err(SessionError::Refused {
                what: "import a compaction",
                why: "its boundary is no message".into(),
            });
        };
        let body = Body::Message(Box::new(Message { kind: made.kind, ..*given }));
        let mut summary = summary.with_parent(Parent::Of(id));
        if let Body::Message(message) = &mut summary.body {
            message.metadata.summary_for_boundary_id = Some(id.to_string());
        }
        let boundary = NewEvent { id: Some(id), body, ..envelope };
        Ok((self.commit(vec![boundary, summary])?, missing))
    }

    /// Makes everything durable and gives the writer back.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the sync fails.
    pub fn finish(self) -> Result<(), SessionError> {
        self.session.sync()
    }

    fn commit(&mut self, drafts: Vec<NewEvent>) -> Result<Vec<Repair>, SessionError> {
        let (log, clock) = (self.session.log(), self.session.clock());
        Ok(self.inner.commit(log, clock, drafts, Placing::Tolerant, Durability::Os)?.repairs)
    }
}

impl Drop for Import<'_> {
    fn drop(&mut self) {
        self.inner.keep_whole = false;
        self.inner.state.trim();
    }
}
