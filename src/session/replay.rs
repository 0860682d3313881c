//! Frames to events to state, from the boundary that counts.

use std::collections::HashMap;

use super::entry::Entry;
use super::error::SessionError;
use super::read_event::event_of;
use super::state::State;
use super::trim::Base;
use crate::event::{Body, CompactBoundary, Event, Kept, SessionMeta, Uuid};
use crate::log::{Damage, DamageKind, Frame, LogError, LogView};

/// A replayed state, and where damage ended the replay.
#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) state: State,
    /// Damage that the replay met; what lies behind it was not replayed.
    pub(super) damage: Vec<Damage>,
    /// The first of it as an error, for those who must not go on with half a state.
    ended_by: Option<LogError>,
    /// Events that were replayed.
    pub(super) events: u64,
    /// Kept messages that a boundary names and the log does not hold.
    pub(super) missing_kept: Vec<Uuid>,
}

/// Replays from the boundary at this offset (0: from the start), up to and with the record at `until`.
pub(super) fn replay(log: &LogView, boundary: u64, until: Option<u64>) -> Result<Replayed, SessionError> {
    let mut replayed =
        Replayed { state: State::new(), damage: Vec::new(), ended_by: None, events: 0, missing_kept: Vec::new() };
    let mut frames = log.frames(boundary);
    let mut first = None;
    if boundary != 0 {
        first = frames.next();
        if !begin_at(log, boundary, first.as_ref(), &mut replayed)? {
            // No boundary can be read there: the start and all that follows tell the same, as far as they are whole. If the
            // frame is damaged, the walk meets it; if only the pointer is wrong, nothing is.
            replayed = Replayed {
                state: State::new(),
                damage: Vec::new(),
                ended_by: None,
                events: 0,
                missing_kept: Vec::new(),
            };
            (first, frames) = (None, log.frames(0));
        }
    }
    replayed.state.reserve(expected_events(log, boundary));
    for frame in first.into_iter().chain(frames) {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                replayed.end_by(error)?;
                break;
            }
        };
        if let Some(event) = event_of(log, &frame)? {
            replayed.events += 1;
            replayed.state.push_unwalked(Entry::new(event.into(), frame.offset()));
        }
        // Asked behind the frame: damage that follows it is no matter of this replay.
        if until.is_some_and(|until| frame.offset() >= until) {
            break;
        }
    }
    replayed.state.rebuild_walk();
    Ok(replayed)
}

/// About how many events a replay from here has before it; a few, where that is many. Only saves growing step by step.
fn expected_events(log: &LogView, from: u64) -> usize {
    const BYTES_EACH: u64 = 4096;
    const EVENTS_MAX: u64 = 1024;
    (log.end().saturating_sub(from) / BYTES_EACH).min(EVENTS_MAX) as usize
}

impl Replayed {
    /// Damage ends the replay and is noted; any other error is one.
    fn end_by(&mut self, error: LogError) -> Result<(), SessionError> {
        self.note(error).map_or(Ok(()), |error| Err(error.into()))
    }

    /// Notes damage, each place once; gives any other error back.
    fn note(&mut self, error: LogError) -> Option<LogError> {
        let places = match &error {
            LogError::Damaged { report, .. } => report.damage.clone(),
            LogError::NoFrame { offset, expected, found, .. } => vec![Damage {
                offset: *offset,
                len: 0,
                kind: DamageKind::Frame,
                expected: expected.clone(),
                found: found.clone(),
            }],
            _ => return Some(error),
        };
        for place in places {
            match self.damage.iter_mut().find(|known| known.offset == place.offset) {
                Some(known) => known.len = known.len.max(place.len),
                None => self.damage.push(place),
            }
        }
        self.ended_by.get_or_insert(error);
        None
    }

    /// What was read; none where it is damaged, which is noted.
    fn whole<T>(&mut self, read: Result<T, SessionError>) -> Result<Option<T>, SessionError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(SessionError::Log(error)) => self.note(error).map_or(Ok(None), |error| Err(error.into())),
            Err(error) => Err(error),
        }
    }

    /// The state, if damage did not cut it short.
    pub(super) fn unharmed(self) -> Result<State, SessionError> {
        match self.ended_by {
            None => Ok(self.state),
            Some(error) => Err(error.into()),
        }
    }
}

/// What the boundary names of what lies before it: the kept messages with their changes, what their open calls need,
/// and the session meta that holds. False if no boundary stands there. What else the log has damaged is noted and left out.
fn begin_at(
    log: &LogView,
    offset: u64,
    first: Option<&Result<Frame, LogError>>,
    replayed: &mut Replayed,
) -> Result<bool, SessionError> {
    let frame = match first {
        Some(Ok(frame)) if frame.offset() == offset => frame.clone(),
        // Of a batch that is not whole the walk shows no frame; the boundary may be there all the same.
        _ => match replayed.whole(log.frame(offset).map_err(SessionError::from))? {
            Some(frame) => frame,
            None => return Ok(false),
        },
    };
    let event = event_of(log, &frame)?;
    let Some(CompactBoundary { keep, carried, meta_offset, last_id, .. }) =
        event.as_ref().and_then(Event::boundary).cloned()
    else {
        return Ok(false);
    };
    let meta = match meta_offset {
        0 => SessionMeta::default(),
        at => {
            let read = log.frame(at).map_err(SessionError::from).and_then(|frame| event_of(log, &frame));
            match replayed.whole(read)?.flatten().map(|event| event.body) {
                Some(Body::SessionMeta(meta)) => meta,
                _ => SessionMeta::default(),
            }
        }
    };
    replayed.state = State::starting_at(Base { boundary: frame.id(), meta, meta_offset, last_id });
    let mut changes: HashMap<u64, Event> = HashMap::new();
    for kept in keep.iter().chain(&carried) {
        let read = named_event(log, kept.id, kept.offset);
        let Some((event, offset)) = replayed.whole(read)?.flatten() else {
            replayed.missing_kept.push(kept.id);
            continue;
        };
        replayed.events += 1;
        replayed.state.push_kept(event, offset);
        for change in &kept.changed {
            if let Some(known) = changes.get(&change.offset).filter(|known| known.id == change.id) {
                replayed.state.change_kept(known, change.offset, kept.id);
                continue;
            }
            let read = named_event(log, change.id, change.offset);
            if let Some((event, offset)) = replayed.whole(read)?.flatten() {
                replayed.state.change_kept(&event, offset, kept.id);
                changes.insert(offset, event);
            } else {
                replayed.missing_kept.push(change.id);
            }
        }
    }
    Ok(true)
}

/// The event of this id: at the offset that is said, else where the index finds it. An offset is a hint only.
fn named_event(log: &LogView, id: Uuid, hint: u64) -> Result<Option<(Event, u64)>, SessionError> {
    if hint != 0 {
        match log.frame(hint) {
            Ok(frame) if frame.id() == id => return Ok(event_of(log, &frame)?.map(|event| (event, hint))),
            Ok(_) | Err(LogError::NoFrame { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match log.find(id)? {
        None => Ok(None),
        Some(found) => Ok(event_of(log, &log.frame(found.offset)?)?.map(|event| (event, found.offset))),
    }
}

/// The state at the end of the log, from the boundary that counts there.
pub(super) fn current(log: &LogView) -> Result<Replayed, SessionError> {
    let boundary = log.tip_head()?.map_or(0, |tip| tip.boundary_off);
    log.will_read_from(boundary);
    replay(log, boundary, None)
}

/// The state replayed from the start.
pub(super) fn whole(log: &LogView) -> Result<State, SessionError> {
    replay(log, 0, None)?.unharmed()
}

/// The state as it was once this event was in: a replay from the boundary that counted then.
pub(super) fn state_at(log: &LogView, event: Uuid) -> Result<State, SessionError> {
    let last = last_of_batch(log, event)?;
    replay(log, last.head().boundary_off, Some(last.offset()))?.unharmed()
}

/// What can be replayed from the start, as it was once this event was in (none: now).
pub(super) fn story(log: &LogView, event: Option<Uuid>) -> Result<Replayed, SessionError> {
    let until = event.map(|event| last_of_batch(log, event)).transpose()?.map(|last| last.offset());
    replay(log, 0, until)
}

/// The frame of this event, or the last one of its batch: a batch counts only as a whole, so a boundary is seen
/// together with its summary.
pub(super) fn last_of_batch(log: &LogView, event: Uuid) -> Result<Frame, SessionError> {
    let missing = || SessionError::NoSuchEvent { path: log.path().to_owned(), id: event };
    let mut last = log.frame(log.find(event)?.ok_or_else(missing)?.offset)?;
    while last.head().batch_goes_on() {
        last = log.frame(last.next_offset())?;
    }
    Ok(last)
}

/// The event of this id, as it was written.
pub(super) fn find_event(log: &LogView, id: Uuid) -> Result<Option<(Event, u64)>, SessionError> {
    named_event(log, id, 0)
}

/// Names a kept message, with where it lies and what changed it.
pub(super) fn kept(entry: &Entry) -> Kept {
    Kept { id: entry.event.id, offset: entry.offset, changed: entry.changes.clone() }
}
