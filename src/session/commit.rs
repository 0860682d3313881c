//! One append: placed, written as one batch, folded into the state.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::draft::NewEvent;
use super::error::SessionError;
use super::keeping::announce;
use super::place::{Parent, Repair, UnknownParent};
use super::reach::reaching;
use super::replay::{current, whole};
use super::state::State;
use crate::event::{Body, Compressor, Event, EventError, Head, IdMaker, Message, Uuid, encode_into};
use crate::log::{Batch, FrameType, IndexHint, LogError, LogWriter, Note, Place, Receipt, Record};

use super::clock::Clock;
use crate::log::Durability;

/// What one append wrote.
#[derive(Debug)]
pub(super) struct Committed {
    pub(super) ids: Vec<Uuid>,
    pub(super) repairs: Vec<Repair>,
    pub(super) receipt: Receipt,
}

/// How an event gets its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placing {
    /// An unknown one is refused: the append API.
    Strict(Parent),
    /// An unknown one is replaced by the leaf: an import.
    Tolerant(Parent),
    /// As an import, of what belongs before that which is there: it goes where it was, beside that, and moves no leaf.
    FillIn {
        parent: Parent,
        /// What stands before it where it comes from.
        behind: Option<Uuid>,
    },
    /// It is as it should be: a copy.
    AsIs,
}

impl Placing {
    fn parent(self) -> Option<Parent> {
        match self {
            Self::Strict(parent) | Self::Tolerant(parent) | Self::FillIn { parent, .. } => Some(parent),
            Self::AsIs => None,
        }
    }
}

/// What the state that events are staged on holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// What it held anyway.
    Held,
    /// What the events lead back to.
    Back,
    /// Everything.
    Start,
}

/// What the one writer of a session holds under its lock.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) state: State,
    pub(super) ids: IdMaker,
    /// The state no longer matches the log and is to be replayed before it is used.
    pub(super) stale: bool,
    /// What a commit needs on its way, empty between commits: kept for its room.
    pub(super) room: Room,
    /// When the directory was last told that this session is written.
    pub(super) announced: Option<Duration>,
    /// The state is kept whole while an import runs.
    pub(super) keep_whole: bool,
    /// Of a session whose large events are compressed.
    pub(super) compressor: Option<Compressor>,
}

/// Lists that each commit fills anew.
#[derive(Debug, Default)]
pub(super) struct Room {
    events: Vec<(Arc<Event>, Placing)>,
    staged: Vec<Staged>,
    batch: Batch,
}

impl Room {
    /// Of a batch of a million events the room is given back.
    fn clear(&mut self) {
        const KEPT_MAX: usize = 1 << 12;
        self.events.clear();
        self.staged.clear();
        self.batch.clear();
        self.events.shrink_to(KEPT_MAX);
        self.staged.shrink_to(KEPT_MAX);
    }
}

/// An event that was placed, encoded and folded, and is to be written: what it hangs on.
#[derive(Debug, Clone, Copy)]
struct Staged {
    parent: Option<Uuid>,
    boundary: Option<Uuid>,
    is_meta: bool,
}

enum StageError {
    /// What the events hang on lies before what the state holds.
    Outside,
    Unknown(Uuid),
    Other(SessionError),
}

impl Inner {
    /// Writes these events as one batch and folds them into the state. The bytes are in the file when it returns, or held back
    /// in memory, and durable as the receipt says.
    pub(super) fn commit(
        &mut self,
        log: &LogWriter,
        clock: &dyn Clock,
        drafts: Vec<NewEvent>,
        placing: impl Fn(Parent) -> Placing + Copy,
        durability: Durability,
    ) -> Result<Committed, SessionError> {
        let now = clock.now();
        let events = drafts.into_iter().map(|draft| self.event(clock, now, draft, placing)).collect();
        self.commit_events(log, events, durability)
    }

    /// Like [`Inner::commit`] with events that have their ids and times already.
    pub(super) fn commit_events(
        &mut self,
        log: &LogWriter,
        events: Vec<(Arc<Event>, Placing)>,
        durability: Durability,
    ) -> Result<Committed, SessionError> {
        let ids = events.iter().map(|(event, _)| event.id).collect();
        let (repairs, receipt) = self.commit_all(log, events, durability)?;
        Ok(Committed { ids, repairs, receipt })
    }

    /// Like [`Inner::commit`] with one event; gives its id and when it is durable.
    pub(super) fn commit_one(
        &mut self,
        log: &LogWriter,
        clock: &dyn Clock,
        draft: NewEvent,
        placing: fn(Parent) -> Placing,
        durability: Durability,
    ) -> Result<(Uuid, Receipt), SessionError> {
        let event = self.event(clock, clock.now(), draft, placing);
        let id = event.0.id;
        let (_, receipt) = self.commit_all(log, [event], durability)?;
        Ok((id, receipt))
    }

    fn commit_all(
        &mut self,
        log: &LogWriter,
        events: impl IntoIterator<Item = (Arc<Event>, Placing)>,
        durability: Durability,
    ) -> Result<(Vec<Repair>, Receipt), SessionError> {
        let mut room = std::mem::take(&mut self.room);
        room.events.extend(events);
        let committed = self.commit_in(log, &mut room, durability);
        room.clear();
        self.room = room;
        committed
    }

    fn commit_in(
        &mut self,
        log: &LogWriter,
        room: &mut Room,
        durability: Durability,
    ) -> Result<(Vec<Repair>, Receipt), SessionError> {
        self.refresh(log)?;
        self.complete_meta(&mut room.events);
        check_ids(log, &room.events)?;
        // From here on the state runs ahead of the log, until the append has returned.
        self.stale = true;
        let mut repairs = Vec::new();
        let mut reach = Reach::Held;
        let first = loop {
            let first = self.state.entries().len();
            repairs.clear();
            room.staged.clear();
            room.batch.clear();
            match (stage(&mut self.state, log, room, &mut self.compressor, &mut repairs), reach) {
                (Ok(()), _) => break first,
                (Err(StageError::Outside), Reach::Held) => {
                    let named = room.events.iter().map(|(event, placing)| (&**event, placing.parent()));
                    self.state = reaching(log, named)?;
                    reach = Reach::Back;
                }
                (Err(StageError::Outside), Reach::Back) => {
                    self.state = whole(log)?;
                    reach = Reach::Start;
                }
                (Err(error), reach) => {
                    // Refused before anything was folded: the state is still the log's and need not be read back.
                    self.stale = reach != Reach::Held || self.state.entries().len() > first;
                    return Err(self.stage_error(log, error));
                }
            }
        };
        let receipt = self.write(log, room, first, durability)?;
        self.stale = false;
        if !self.keep_whole {
            self.state.trim();
        }
        Ok((repairs, receipt))
    }

    /// Reads the state back from the log if it ran ahead of it.
    pub(super) fn refresh(&mut self, log: &LogWriter) -> Result<(), SessionError> {
        if self.stale {
            self.state = if self.keep_whole { whole(log)? } else { current(log)?.unharmed()? };
            self.stale = false;
        }
        Ok(())
    }

    /// A session meta event holds the whole record, so that the last one alone counts: what it leaves out is taken
    /// from the one that holds.
    fn complete_meta(&self, events: &mut [(Arc<Event>, Placing)]) {
        let mut holds = None;
        for (event, _) in events.iter_mut().filter(|(_, placing)| *placing != Placing::AsIs) {
            if !matches!(event.body, Body::SessionMeta(_)) {
                continue;
            }
            if let Body::SessionMeta(change) = &mut Arc::make_mut(event).body {
                *change = holds.as_ref().unwrap_or(self.state.meta()).changed_by(change);
                holds = Some(change.clone());
            }
        }
    }

    /// A new id of the session's own.
    pub(super) fn new_id(&mut self, clock: &dyn Clock) -> Uuid {
        self.ids.next(u64::try_from(clock.now() / 1000).unwrap_or(0), clock.random())
    }

    fn event(
        &mut self,
        clock: &dyn Clock,
        now: i64,
        draft: NewEvent,
        placing: impl Fn(Parent) -> Placing,
    ) -> (Arc<Event>, Placing) {
        let made = || self.ids.next(u64::try_from(now / 1000).unwrap_or(0), clock.random());
        let id = draft.id.unwrap_or_else(made);
        let keeps_place = matches!(placing(Parent::Leaf), Placing::Tolerant(_) | Placing::FillIn { .. });
        let (event, parent) = draft.into_event(id, now, keeps_place);
        (Arc::new(event), parent.map_or(Placing::AsIs, placing))
    }

    fn stage_error(&mut self, log: &LogWriter, error: StageError) -> SessionError {
        match error {
            StageError::Other(error) => error,
            StageError::Outside => SessionError::Closed { path: log.path().to_owned() },
            StageError::Unknown(parent) => SessionError::UnknownParent { path: log.path().to_owned(), parent },
        }
    }

    fn write(
        &mut self,
        log: &LogWriter,
        room: &mut Room,
        first: usize,
        durability: Durability,
    ) -> Result<Receipt, SessionError> {
        let state = &self.state;
        let place_of = |index: usize| match index.checked_sub(first) {
            Some(index) => Place::InBatch(index),
            None => Place::At(state.entries[index].offset),
        };
        let place = |id: Option<Uuid>| id.and_then(|id| state.index_of(id)).map_or(Place::None, place_of);
        for (index, staged) in room.staged.iter().enumerate() {
            room.batch.set_places(index, place(staged.parent), place(staged.boundary));
        }
        let meta = room.staged.iter().rposition(|staged| staged.is_meta);
        let note = Note {
            meta: match (meta, state.meta_offset()) {
                (Some(index), _) => Place::InBatch(index),
                (None, 0) => Place::None,
                (None, offset) => Place::At(offset),
            },
            last_id: self.ids.last().max(state.last_id()),
            head: place(state.leaf().map(|leaf| leaf.event.id)),
            boundary: place(state.boundary().map(|boundary| boundary.event.id)),
        };
        announce(&*log.fs, log.path(), &mut self.announced);
        let receipt = log.append_unsynced(&mut room.batch, note, durability)?;
        self.state.settle(first, room.batch.offsets());
        Ok(receipt)
    }
}

/// Places, encodes and folds the events, one after the other, so that a later one of a batch may name an earlier one.
fn stage(
    state: &mut State,
    log: &LogWriter,
    room: &mut Room,
    compressor: &mut Option<Compressor>,
    repairs: &mut Vec<Repair>,
) -> Result<(), StageError> {
    let Room { events, staged, batch } = room;
    let mut len = 0;
    for (event, placing) in events {
        place(state, log, Arc::make_mut(event), *placing, repairs)?;
        let result_of = state.result_of(event.message());
        let is_meta = matches!(event.body, Body::SessionMeta(_));
        let frame_type = frame_type(event);
        let record = Record {
            frame_type,
            skippable: matches!(event.body, Body::Unknown(_)),
            id: event.id,
            // Known once all are placed.
            parent: Place::None,
            boundary: Place::None,
            payload: &[],
            index: match (result_of, targets(event)) {
                (Some(message), _) => IndexHint::ResultOf(message),
                (None, _) if is_meta => IndexHint::Meta,
                (None, []) => IndexHint::Plain,
                (None, targets) => IndexHint::Targets(targets),
            },
        };
        let mut saved = 0;
        let encoded = batch.push_with(&record, |bytes| {
            let begin = bytes.len();
            encode_into(event, bytes)?;
            if let Some(compressor) = compressor {
                let end = bytes.len();
                compressor.shrink(bytes, begin);
                saved = (end - bytes.len()) as u64;
            }
            Ok(())
        });
        encoded.map_err(|error: EventError| StageError::Other(error.into()))?;
        // The log would refuse it too, but only once the state has run ahead. What is compressed must fit as it was, so that a
        // salvage or a fork that does not compress can take it over.
        len += batch.stored_len(batch.len() - 1) + saved;
        let max = u64::from(log.info().max_record);
        if len > max {
            let path = log.path().to_owned();
            return Err(StageError::Other(LogError::RecordTooLarge { path, len, max }.into()));
        }
        let boundary_before = state.boundary().map(|boundary| boundary.event.id);
        let parent = match &event.body {
            Body::Head(head) if !event.off_chain => head.leaf,
            _ => event.effective_parent(),
        };
        state.push(event.clone(), 0);
        if state.is_cut_short() {
            return Err(StageError::Outside);
        }
        // A BOUNDARY names the one before it; every other frame the one that counts once it is in.
        let boundary = match frame_type {
            FrameType::Boundary => boundary_before,
            _ => state.boundary().map(|boundary| boundary.event.id),
        };
        staged.push(Staged { parent, boundary, is_meta });
    }
    Ok(())
}

fn place(
    state: &State,
    log: &LogWriter,
    event: &mut Event,
    placing: Placing,
    repairs: &mut Vec<Repair>,
) -> Result<(), StageError> {
    let Some(parent) = placing.parent() else { return Ok(()) };
    let lies_before = |id: Uuid| match state.is_complete() {
        true => Ok(false),
        false => log.find(id).map(|found| found.is_some()).map_err(|error| StageError::Other(error.into())),
    };
    if let Body::Head(Head { leaf: Some(leaf) }) = event.body
        && state.entry(leaf).is_none()
    {
        // A leaf that is nowhere would hide all that was said.
        return Err(match lies_before(leaf)? {
            true => StageError::Outside,
            false => StageError::Other(SessionError::NoSuchEvent { path: log.path().to_owned(), id: leaf }),
        });
    }
    if let Placing::FillIn { parent, behind } = placing {
        repairs.extend(state.fill_in(event, parent, behind));
        return Ok(());
    }
    match state.place(event, parent) {
        Ok(repair) => repairs.extend(repair),
        Err(UnknownParent(id)) => {
            if lies_before(id)? {
                return Err(StageError::Outside);
            }
            if let Placing::Strict(_) = placing {
                return Err(StageError::Unknown(id));
            }
            repairs.push(state.place_on_leaf(event, id));
        }
    }
    Ok(())
}

/// Ids name one event each: of two in a batch no pointer could tell which is meant. The nil id names none.
fn check_ids(log: &LogWriter, events: &[(Arc<Event>, Placing)]) -> Result<(), SessionError> {
    let mut seen = HashSet::new();
    for id in events.iter().map(|(event, _)| event.id) {
        if id.is_nil() {
            let why = "the nil id stands for no event; leave the id out to get one".to_owned();
            return Err(SessionError::Refused { what: "append", why });
        }
        if events.len() > 1 && !seen.insert(id) {
            return Err(SessionError::DuplicateId { path: log.path().to_owned(), id });
        }
    }
    Ok(())
}

fn frame_type(event: &Event) -> FrameType {
    match &event.body {
        Body::Tombstone(_) | Body::Amend(_) | Body::Prune(_) => FrameType::Change,
        // One that moves nothing is none to the log.
        Body::Head(_) if !event.off_chain => FrameType::Head,
        Body::Message(_) if event.boundary().is_some() => FrameType::Boundary,
        _ => FrameType::Event,
    }
}

/// What a change is about.
pub(super) fn targets(event: &Event) -> &[Uuid] {
    match &event.body {
        Body::Tombstone(tombstone) => &tombstone.targets,
        Body::Prune(prune) => &prune.targets,
        Body::Amend(amend) => std::slice::from_ref(&amend.target),
        _ => &[],
    }
}

impl State {
    /// The message whose call this one answers.
    fn result_of(&self, message: Option<&Message>) -> Option<Uuid> {
        let message = message.filter(|message| message.results().next().is_some())?;
        self.call_of(message)?.map(|index| self.entries[index].event.id)
    }

    /// Fills in where the entries from `first` on were written.
    fn settle(&mut self, first: usize, offsets: &[u64]) {
        for (index, &offset) in (first..).zip(offsets) {
            self.entries[index].offset = offset;
            match &self.entries[index].event.body {
                Body::SessionMeta(_) => self.set_meta_offset(offset),
                Body::Tombstone(_) | Body::Amend(_) | Body::Prune(_) => {
                    let change = self.entries[index].event.clone();
                    targets(&change).iter().for_each(|&target| self.settle_change(target, change.id, offset));
                }
                _ => {}
            }
        }
    }

    fn settle_change(&mut self, target: Uuid, change: Uuid, offset: u64) {
        let Some(&index) = self.by_id.get(&target) else { return };
        let partner = self.compaction_partner_index(index);
        for at in std::iter::once(index).chain(partner) {
            // Those of this batch stand at the end, without a place so far.
            let changes = self.entries[at].changes.iter_mut().rev();
            changes
                .take_while(|changed| changed.offset == 0)
                .filter(|changed| changed.id == change)
                .for_each(|changed| changed.offset = offset);
        }
    }
}
