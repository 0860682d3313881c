//! A fork into a new session: a link to the parent's log and event, and a copy of the live window only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::commit::Placing;
use super::compact::Window;
use super::entry::Entry;
use super::error::SessionError;
use super::read_event::event_of;
use super::reader::SessionReader;
use super::replay::{Replayed, find_event, replay, story};
use super::report::DamagedRange;
use super::state::State;
use super::store::Store;
use super::writer::Session;
use crate::event::{Body, Event, Head, HungOn, IdMaker, Kept, Kind, Uuid};
use crate::log::{Durability, LogError, ParentLink};

/// The whole story of a session that may be a fork.
#[derive(Debug)]
pub struct History {
    /// The events of the session and, before them, those of its parents that lie before the fork.
    pub state: State,
    /// A parent that is gone: what came before the fork can't be shown.
    pub missing_parent: Option<Uuid>,
    /// Damage that was met, in this session or a parent of it. What lies behind it in that log is not in the state.
    pub damage: Vec<DamagedRange>,
}

impl Store {
    /// Makes a new session that goes on from an event of another one, which is not touched. It ends at that event and
    /// resumes alone: the messages that the model sees there are copied with their ids, together with what was amended
    /// or pruned in them up to now, and the session's title and the like as they are now; messages that were taken back are
    /// not. What lies before stays behind a link. It reads the
    /// file: of a session that is open, what was appended with [`Durability::Buffered`](crate::log::Durability::Buffered) a
    /// moment ago is not there yet.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`]; [`SessionError::Refused`] if the event has no place in a chain; those of opening
    /// the one and making the other.
    pub fn fork(&self, name: &str, at: Uuid) -> Result<Session, SessionError> {
        self.fork_from(&SessionReader::open(&self.resolve(name)?, self.options().fs.clone())?, at)
    }

    /// The same of a session that is open for reading, wherever its file lies.
    ///
    /// # Errors
    /// As [`Store::fork`], but those of opening the one.
    pub fn fork_from(&self, source: &SessionReader, at: Uuid) -> Result<Session, SessionError> {
        let (state, changes) = state_to_fork(source, at)?;
        if state.leaf().is_none() {
            let why = format!("{at} has no living message at or above it in its chain");
            return Err(SessionError::Refused { what: "fork", why });
        }
        let copy = Copy::of(source, &state, changes)?;
        let now = u64::try_from(self.options().clock.now() / 1000).unwrap_or(0);
        let id = IdMaker::after(state.last_id()).next(now, self.options().clock.random());
        let parent = Some(ParentLink { log: source.id(), event: at });
        self.make_dir()?;
        let path = self.path_of(id);
        let options = self.options().like(source.info());
        Session::create_whole(&path, id, parent, &options, |session| copy.write(session))?;
        Session::open(&path, self.options().clone()).inspect_err(|error| {
            // Nobody is told its id: it must not turn up in a list. (Where it is somebody else's by now, it stays.)
            if let SessionError::Log(LogError::Io { .. } | LogError::Full { .. }) = error {
                let _ = self.options().fs.remove(&path);
            }
        })
    }

    /// The whole story of a session: its own events and, if it is a fork, those of its parents before the fork.
    ///
    /// # Errors
    /// Those of reading the logs. A parent that is gone, and damage, are told and no error.
    pub fn history(&self, session: &SessionReader) -> Result<History, SessionError> {
        self.history_of(session, story(session.log(), None)?)
    }

    /// The whole story of a session as it was once this event of it was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`Store::history`].
    pub fn history_at(&self, session: &SessionReader, event: Uuid) -> Result<History, SessionError> {
        self.history_of(session, story(session.log(), Some(event))?)
    }

    fn history_of(&self, session: &SessionReader, own: Replayed) -> Result<History, SessionError> {
        let Replayed { mut state, damage, .. } = own;
        let mut damage: Vec<DamagedRange> = damage.iter().map(DamagedRange::of).collect();
        let mut missing_parent = None;
        let mut link = session.info().parent;
        let mut visited = HashSet::from([session.id()]);
        while let Some(ParentLink { log, event }) = link.filter(|_| state.history_is_cut()) {
            if !visited.insert(log) {
                break;
            }
            let path = self.path_of(log);
            let parent = match SessionReader::open(&path, self.options().fs.clone()) {
                Ok(parent) => parent,
                Err(SessionError::Log(LogError::NotFound { .. })) => {
                    missing_parent = Some(log);
                    break;
                }
                Err(error) => return Err(error),
            };
            let until = find_event(parent.log(), event)?.map(|(_, offset)| offset);
            let before = replay(parent.log(), 0, until)?;
            damage.extend(before.damage.iter().map(DamagedRange::of));
            state = state.behind(before.state);
            link = parent.info().parent;
        }
        Ok(History { state, missing_parent, damage })
    }
}

/// The state at the event, with the changes that came later, and those changes themselves by offset.
fn state_to_fork(source: &SessionReader, at: Uuid) -> Result<(State, BTreeMap<u64, Event>), SessionError> {
    let mut state = source.at(at)?;
    let mut changes = later_changes(source, &state)?;
    if !change(&mut state, &changes, at) {
        // A compaction was taken back, or the event lies before one: the whole story up to the event is needed.
        let until = find_event(source.log(), at)?.map(|(_, offset)| offset);
        state = replay(source.log(), 0, until)?.unharmed()?;
        changes = later_changes(source, &state)?;
        change(&mut state, &changes, at);
    }
    Ok((state, changes))
}

/// Applies later changes, moves the leaf to the event, and tells whether the state still holds all that is needed.
fn change(state: &mut State, changes: &BTreeMap<u64, Event>, at: Uuid) -> bool {
    for (&offset, change) in changes {
        state.push(change.clone(), offset);
    }
    if state.leaf().is_none_or(|leaf| leaf.event.id != at) {
        let head = Event {
            id: Uuid::nil(),
            parent: None,
            hung_on: HungOn::Named,
            at: 0,
            original_id: None,
            original_parent: None,
            off_chain: false,
            body: Body::Head(Head { leaf: Some(at) }),
            extra: Vec::new(),
        };
        state.push(head, 0);
    }
    !state.is_cut_short()
}

/// The changes in the log that aim at messages of this state and are not in it yet.
fn later_changes(source: &SessionReader, state: &State) -> Result<BTreeMap<u64, Event>, SessionError> {
    let mut changes = BTreeMap::new();
    for entry in state.entries().iter().filter(|entry| entry.event.message().is_some()) {
        for offset in source.log().targets_of(entry.event.id)? {
            let known = entry.changes.iter().any(|change| change.offset == offset);
            if known || changes.contains_key(&offset) {
                continue;
            }
            let frame = source.log().frame(offset)?;
            let event = event_of(source.log(), &frame)?;
            if let Some(event @ Event { body: Body::Tombstone(_) | Body::Amend(_) | Body::Prune(_), .. }) = event {
                changes.insert(offset, event);
            }
        }
    }
    Ok(changes)
}

/// The events that a fork copies, in the order in which they are written.
struct Copy {
    kept: Vec<Event>,
    compaction: Vec<Event>,
    rest: Vec<Event>,
}

impl Copy {
    fn of(source: &SessionReader, state: &State, later: BTreeMap<u64, Event>) -> Result<Self, SessionError> {
        let (window, kept_count) = Window::with_kept_count(state);
        let read = |entry: &Entry| -> Result<Event, SessionError> {
            let (mut event, _) = find_event(source.log(), entry.event.id)?
                .ok_or(SessionError::NoSuchEvent { path: source.path().to_owned(), id: entry.event.id })?;
            event.hung_on = living_parent(state, entry);
            Ok(event)
        };
        let mut kept = window[..kept_count].iter().map(|entry| read(entry)).collect::<Result<Vec<_>, _>>()?;
        let mut rest = window[kept_count..].iter().map(|entry| read(entry)).collect::<Result<Vec<_>, _>>()?;
        let copied: HashSet<Uuid> = window.iter().map(|entry| entry.event.id).collect();
        let open: HashSet<&str> = state.pairing().dangling().map(|call| call.call.id.as_str()).collect();
        let started = state.started().filter(|(_, started)| open.contains(started.call_id.as_str()));
        rest.extend(started.map(|(entry, _)| (*entry.event).clone()));
        let mut changes: BTreeMap<u64, Event> = later;
        for entry in &window {
            for changed in &entry.changes {
                if let Some((event, offset)) = find_event(source.log(), changed.id)? {
                    changes.insert(offset, event);
                }
            }
        }
        rest.extend(changes.into_values().filter_map(|event| only_for(event, &copied)));
        let compaction = match (state.boundary(), state.boundary().and_then(|b| state.compaction_partner(b))) {
            (Some(boundary), Some(summary)) => vec![read(boundary)?, read(summary)?],
            _ => Vec::new(),
        };
        // Title and the like are the session's, not the point's: those of now.
        if !source.state().meta().is_empty() {
            kept.insert(0, meta_event(source, source.state())?);
        }
        Ok(Self { kept, compaction, rest })
    }

    fn write(self, session: &Session) -> Result<(), SessionError> {
        let mut offsets: HashMap<Uuid, u64> = HashMap::new();
        for event in self.kept {
            let id = event.id;
            offsets.insert(id, session.copy_in(vec![event])?);
        }
        let mut compaction = self.compaction;
        if let Some(Event { body: Body::Message(message), .. }) = compaction.first_mut()
            && let Kind::CompactBoundary(boundary) = &mut message.kind
        {
            // Offsets are this file's own; what changed a kept message follows behind the boundary here.
            for kept in &mut boundary.keep {
                *kept = Kept { id: kept.id, offset: offsets.get(&kept.id).copied().unwrap_or(0), changed: Vec::new() };
            }
            boundary.keep.retain(|kept| kept.offset != 0);
            boundary.carried.clear();
            boundary.meta_offset = session.with_state(State::meta_offset)?;
        }
        if !compaction.is_empty() {
            session.copy_in(compaction)?;
        }
        for event in self.rest {
            session.copy_in(vec![event])?;
        }
        Ok(())
    }
}

impl Session {
    /// Writes events as they are, as one batch; returns the offset of the first.
    fn copy_in(&self, events: Vec<Event>) -> Result<u64, SessionError> {
        let mut inner = self.lock();
        let first = events.first().map(|event| event.id);
        let events = events.into_iter().map(|event| (Arc::new(event), Placing::AsIs)).collect();
        drop(inner.commit_events(self.log(), events, Durability::Os)?);
        Ok(first.and_then(|id| inner.state.entry(id)).map_or(0, |entry| entry.offset))
    }
}

/// What an entry hangs on once the messages that were taken back are gone.
fn living_parent(state: &State, entry: &Entry) -> HungOn {
    let mut at = state.anchor(entry);
    while let Some(dead) = at.filter(|entry| !entry.is_living()) {
        if state.is_root(dead) {
            return HungOn::Root;
        }
        at = state.anchor(dead);
    }
    match at {
        Some(parent) if entry.event.parent != Some(parent.event.id) => HungOn::Event(parent.event.id),
        Some(_) => HungOn::Named,
        None => entry.event.hung_on,
    }
}

/// The change, with targets that were copied only; tombstones are not needed, since their targets are not there.
fn only_for(mut event: Event, copied: &HashSet<Uuid>) -> Option<Event> {
    match &mut event.body {
        Body::Amend(amend) => copied.contains(&amend.target).then_some(event),
        Body::Prune(prune) => {
            prune.targets.retain(|target| copied.contains(target));
            (!prune.targets.is_empty()).then_some(event)
        }
        _ => None,
    }
}

fn meta_event(source: &SessionReader, state: &State) -> Result<Event, SessionError> {
    let frame = source.log().frame(state.meta_offset())?;
    event_of(source.log(), &frame)?.ok_or(SessionError::Refused {
        what: "fork",
        why: format!("the record at byte {} should be session meta data", state.meta_offset()),
    })
}

impl State {
    /// Whether the history ends at an event that this state does not hold.
    fn history_is_cut(&self) -> bool {
        self.history().first().is_some_and(|entry| !self.is_root(entry))
    }

    /// This state's events behind those of another, which lie before them. What both hold is taken from this one.
    fn behind(&self, before: Self) -> Self {
        let own: HashSet<Uuid> = self.entries().iter().map(|entry| entry.event.id).collect();
        let mut joined = Self::new();
        let earlier = before.entries().iter().filter(|entry| !own.contains(&entry.event.id));
        for entry in earlier.chain(self.entries()) {
            joined
                .push_unwalked(Entry { takes_part: entry.takes_part, ..Entry::new(entry.event.clone(), entry.offset) });
        }
        joined.rebuild_walk();
        joined
    }
}
