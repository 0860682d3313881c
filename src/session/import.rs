//! The importers' door: events that came from elsewhere, stored as they came, with every repair told.

use std::collections::HashSet;
use std::sync::MutexGuard;

use super::commit::{Inner, Placing};
use super::compact::{boundary, boundary_event};
use super::counting::Counts;
use super::draft::NewEvent;
use super::entry::{Entry, Link};
use super::error::SessionError;
use super::late::Late;
use super::meta_kept::{MetaKept, meta_kept};
use super::place::{Parent, Repair, is_only_results};
use super::replay::{find_event, whole};
use super::writer::Session;
use crate::event::{Body, Event, HungOn, Message, Trigger, Uuid};
use crate::log::Durability;

/// Takes in events from elsewhere, one after the other, holding the session's writer meanwhile.
///
/// Unlike [`Session::append`] it accepts a parent that is not there: the event hangs on the leaf at its place, and the
/// repair is told. Appends do not wait for the disk; [`Import::finish`] does, once.
#[derive(Debug)]
pub struct Import<'a> {
    session: &'a Session,
    inner: MutexGuard<'a, Inner>,
    /// What is added belongs before what is there: the leaf stays. In it what it stands behind.
    fills_in: Option<Option<Uuid>>,
    /// How many events there were at first.
    known: usize,
    late: Late,
    meta_kept: Vec<MetaKept>,
}

/// Where the leaf of a session is, and how it came there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafSet {
    /// The leaf; none: the session is before its first message.
    pub leaf: Option<Uuid>,
    /// The event that set it: the last that takes part, or the last head.
    pub by: Uuid,
    /// The last event that takes part and set it.
    pub said: Option<Uuid>,
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
        let known = inner.state.entries().len();
        Ok(Import { session: self, inner, fills_in: None, known, late: Late::new(known), meta_kept: Vec::new() })
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

    /// The events that were there before, in file order, as they stand.
    pub fn known(&self) -> impl Iterator<Item = &Event> {
        self.inner.state.entries()[..self.known].iter().map(|entry| &*entry.event)
    }

    /// The event of this id with all that was amended in it.
    #[must_use]
    pub fn as_it_stands(&self, id: Uuid) -> Option<&Event> {
        self.inner.state.entry(id).map(|entry| &*entry.event)
    }

    /// Whether the file had this event already; see [`Import::passes`].
    #[must_use]
    pub fn has_passed(&self, id: Uuid) -> bool {
        self.late.has_passed(id)
    }

    /// Whether the session has an event of this id.
    #[must_use]
    pub fn contains(&self, id: Uuid) -> bool {
        self.inner.state.entry(id).is_some()
    }

    /// Whether the session has both of these events, and the first one behind the second in its file.
    #[must_use]
    pub fn stands_behind(&self, event: Uuid, other: Uuid) -> bool {
        let state = &self.inner.state;
        state.index_of(event).zip(state.index_of(other)).is_some_and(|(event, other)| event > other)
    }

    /// What set the leaf; none: nothing has.
    #[must_use]
    pub fn leaf_set(&self) -> Option<LeafSet> {
        let state = &self.inner.state;
        let by = state.led_by()?.event.id;
        let said = state.entries().iter().rev().find(|entry| entry.takes_part() && entry.leads());
        Some(LeafSet { leaf: state.leaf().map(|leaf| leaf.event.id), by, said: said.map(|entry| entry.event.id) })
    }

    /// Where a conversation stands behind this event: at the event itself if it takes part, where a head leads. None: it moves
    /// nothing, as a result does whose call was on another branch.
    #[must_use]
    pub fn leaf_behind(&self, id: Uuid) -> Option<Option<Uuid>> {
        let entry = self.inner.state.entry(id)?;
        match &entry.event.body {
            Body::Head(head) => Some(head.leaf),
            Body::Message(message) if entry.event.off_chain && is_only_results(message) => None,
            _ => entry.takes_part().then_some(Some(id)),
        }
    }

    /// What a child of this event hangs on: the event itself, or what stands for it.
    #[must_use]
    pub fn stands_for(&self, id: Uuid) -> Option<Uuid> {
        let state = &self.inner.state;
        match state.standing_for(state.index_of(id)?) {
            Link::At(index) => Some(state.entries()[index].event.id),
            Link::Root | Link::Outside(_) => None,
        }
    }

    /// The summary of this boundary, as it stands.
    #[must_use]
    pub fn summary_of(&self, boundary: Uuid) -> Option<&Event> {
        let state = &self.inner.state;
        let entry = state.entry(boundary).filter(|entry| entry.is_boundary())?;
        state.compaction_partner(entry).map(|summary| &*summary.event)
    }

    /// What an event hangs on where messages that were taken back are left out; none: it hangs on no such message.
    #[must_use]
    pub fn above_taken_back(&self, id: Uuid) -> Option<Option<Uuid>> {
        let state = &self.inner.state;
        let mut above = state.anchor(state.entry(id)?).filter(|entry| entry.tombstone.is_some())?;
        while above.tombstone.is_some() {
            let Some(next) = state.anchor(above) else { return Some(None) };
            above = next;
        }
        Some(Some(above.event.id))
    }

    /// Whether an event hangs on another one, be it through many between them. Not on itself.
    #[must_use]
    pub fn hangs_on(&self, event: Uuid, above: Uuid) -> bool {
        let state = &self.inner.state;
        let mut at = state.entry(event);
        while let Some(anchor) = at.and_then(|entry| state.anchor(entry)) {
            if anchor.event.id == above {
                return true;
            }
            at = Some(anchor);
        }
        false
    }

    /// How many messages and branches the session has now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.inner.state.counts()
    }

    /// Messages that were added and that an event from before the import names as its parent, though it hangs elsewhere since they
    /// were not there: they stand beside what goes on from them, and nothing can put them back between.
    #[must_use]
    pub fn came_late(&self) -> usize {
        let (before, added) = self.inner.state.entries().split_at(self.known);
        let late: HashSet<Uuid> = added.iter().filter(|entry| entry.takes_part()).map(|entry| entry.event.id).collect();
        let elsewhere = before.iter().map(|entry| &entry.event).filter(|event| event.hung_on != HungOn::Named);
        let named: HashSet<Uuid> = elsewhere.filter_map(|event| event.parent.filter(|id| late.contains(id))).collect();
        named.len()
    }

    /// From here on what is added belongs before what is there, behind this event of the same file: each event goes where it was,
    /// and the leaf stays. Until [`Import::goes_on`].
    pub fn fills_in(&mut self, behind: Option<Uuid>) {
        self.fills_in = Some(behind);
    }

    /// From here on what is added goes on from what is there, as at first: the leaf follows it.
    pub fn goes_on(&mut self) {
        self.fills_in = None;
    }

    /// The file has this event of the session's here: what is added from here on comes behind it. Who says so of each lets an old
    /// change that comes late stay behind no newer one; see [`Import::change_again`].
    pub fn passes(&mut self, id: Uuid) {
        self.late.passes(id);
    }

    /// Makes the changes once more that had been made to what came late: a message that is put back where it was lost stays taken
    /// back, amended or pruned as it was, and what was last said of the session is what is said of it. Returns how many. What is said
    /// of the session here and otherwise in the file stays as well: [`Import::take_meta_kept`] names it.
    /// [`Import::finish`] does it too.
    ///
    /// # Errors
    /// As for [`Import::add`].
    pub fn change_again(&mut self) -> Result<usize, SessionError> {
        let (mut changes, own) = self.late.take(&self.inner.state);
        let count = changes.len();
        if !own.is_empty() {
            self.meta_kept.extend(meta_kept(&own, self.inner.state.meta()));
            changes.push(own.into());
        }
        for change in changes {
            self.inner.commit(
                self.session.log(),
                self.session.clock(),
                vec![change],
                Placing::Tolerant,
                Durability::Os,
            )?;
        }
        Ok(count)
    }

    /// What [`Import::change_again`] has found said of the session here, and otherwise in the file.
    pub fn take_meta_kept(&mut self) -> Vec<MetaKept> {
        std::mem::take(&mut self.meta_kept)
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
    /// [`SessionError::Log`] if a write or the sync fails.
    pub fn finish(mut self) -> Result<(), SessionError> {
        self.change_again()?;
        self.session.sync()
    }

    fn commit(&mut self, mut drafts: Vec<NewEvent>) -> Result<Vec<Repair>, SessionError> {
        let (log, clock) = (self.session.log(), self.session.clock());
        let from = self.inner.state.entries().len();
        let committed = match self.fills_in {
            None => self.inner.commit(log, clock, drafts, Placing::Tolerant, Durability::Os)?,
            Some(behind) => {
                drafts.iter_mut().for_each(stay_off_chain);
                let placing = |parent| Placing::FillIn { parent, behind };
                self.inner.commit(log, clock, drafts, placing, Durability::Os)?
            }
        };
        for entry in &self.inner.state.entries()[from..] {
            self.late.came(&self.inner.state, &entry.event, self.fills_in.is_some());
        }
        Ok(committed.repairs)
    }
}

/// What keeps the place that it had is placed already; it moves no leaf all the same.
fn stay_off_chain(draft: &mut NewEvent) {
    let leads = match &draft.body {
        Body::Message(message) => message.takes_part(),
        body => matches!(body, Body::Head(_)),
    };
    draft.placed = draft.placed.map(|(hung_on, off_chain)| (hung_on, off_chain || leads));
}

impl Drop for Import<'_> {
    fn drop(&mut self) {
        self.inner.keep_whole = false;
        self.inner.state.trim();
    }
}
