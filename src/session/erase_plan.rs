//! What becomes of each record when a session is written anew: the same for the look ahead, the copy and the check of it.

use std::collections::HashSet;

use super::commit::targets;
use super::erase_match::{Pattern, Taker};
use super::error::SessionError;
use super::read_event::known;
use crate::event::{
    Body, Event, EventError, Kept, Kind, REDACTED, REMOVED, Uuid, Value, blank, blank_results, decode_value, event_of,
    value_of, walk_event,
};
use crate::log::{Frame, FrameType, LogError, LogView};

/// What is to go.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) patterns: Vec<Pattern>,
    /// Events whose contents go, and with them those of the amends that aim at them.
    pub(super) events: HashSet<Uuid>,
    /// Messages whose tool results go.
    pub(super) results: HashSet<Uuid>,
    /// What goes had been taken back or pruned, and nobody hides anything.
    pub(super) is_vacuum: bool,
}

/// A record as it is to stand in the new file.
pub(super) struct Planned {
    pub(super) event: Event,
    pub(super) changed: bool,
}

impl Plan {
    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.events.is_empty() && self.results.is_empty()
    }

    /// What the record of this frame becomes. Counts what it does.
    pub(super) fn apply(&self, log: &LogView, frame: &Frame, taker: &mut Taker<'_>) -> Result<Planned, SessionError> {
        let unreadable =
            |source| SessionError::Unreadable { path: log.path().to_owned(), offset: frame.offset(), source };
        if let FrameType::Other(frame_type) = frame.frame_type() {
            // Nobody can tell here what it says.
            let (path, offset) = (log.path().to_owned(), frame.offset());
            return Err(LogError::UnknownFrame { path, offset, frame_type }.into());
        }
        let mut value = decode_value(frame.payload()).map_err(unreadable)?;
        let mut changed = false;
        let id = frame.id();
        if self.events.contains(&id) || self.results.contains(&id) || self.aims_at_blanked(frame) {
            let blanked = self.blanked(value).map_err(|error| of_the_event(id, error))?;
            (value, changed) = blanked;
        }
        if !self.patterns.is_empty() {
            changed |= walk_event(&mut value, taker);
        }
        let event = known(log.path(), frame, event_of(value).map_err(unreadable)?)?;
        Ok(Planned { event, changed })
    }

    /// The same of an event that stands in no log.
    pub(super) fn apply_to(&self, event: &Event, taker: &mut Taker<'_>) -> Result<Event, EventError> {
        let mut value = self.blanked(value_of(event)?)?.0;
        walk_event(&mut value, taker);
        event_of(value)
    }

    fn aims_at_blanked(&self, frame: &Frame) -> bool {
        frame.frame_type() == FrameType::Change && frame.targets().any(|target| self.events.contains(&target))
    }

    fn blanked(&self, value: Value) -> Result<(Value, bool), EventError> {
        let before = event_of(value)?;
        let mut event = before.clone();
        let mark = if self.is_vacuum { REMOVED } else { REDACTED };
        let hits = |id: &Uuid| self.events.contains(id);
        // Of other changes only the amend says anything of its message.
        let is_amend = matches!(event.body, Body::Amend(_)) && targets(&event).iter().any(hits);
        if hits(&event.id) || is_amend {
            blank(&mut event, mark)?;
        }
        if self.results.contains(&event.id) {
            blank_results(&mut event, mark);
        }
        let changed = event != before;
        Ok((value_of(&event)?, changed))
    }
}

fn of_the_event(id: Uuid, error: EventError) -> SessionError {
    super::erase_match::refused(format!("{id}: {error}"))
}

/// Where the records of the old file stand in the new one.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// Old and new offset, both rising.
    places: Vec<(u64, u64)>,
}

impl Moved {
    pub(super) fn push(&mut self, old: u64, new: u64) {
        self.places.push((old, new));
    }

    pub(super) fn get(&self, old: u64) -> Option<u64> {
        let place = self.places.binary_search_by_key(&old, |(old, _)| *old).ok()?;
        self.places.get(place).map(|(_, new)| *new)
    }

    pub(super) fn len(&self) -> u64 {
        self.places.len() as u64
    }

    /// The offsets in a boundary are hints for the old file: those of the new one take their place. `end`: what stands from
    /// there on in the old file is not known yet.
    pub(super) fn mend(&self, log: &LogView, event: &mut Event, end: u64) -> Result<(), SessionError> {
        let Body::Message(message) = &mut event.body else { return Ok(()) };
        let Kind::CompactBoundary(boundary) = &mut message.kind else { return Ok(()) };
        // 0: found by its id.
        let hint = |old: u64| if old < end { self.get(old).unwrap_or(0) } else { 0 };
        for Kept { offset, changed, .. } in boundary.keep.iter_mut().chain(&mut boundary.carried) {
            *offset = hint(*offset);
            changed.iter_mut().for_each(|changed| changed.offset = hint(changed.offset));
        }
        if boundary.meta_offset != 0 {
            boundary.meta_offset = match hint(boundary.meta_offset) {
                0 => {
                    return Err(LogError::NoFrame {
                        path: log.path().to_owned(),
                        offset: boundary.meta_offset,
                        expected: format!("the session's meta data, which the boundary {} names", event.id),
                        found: "none; `seslog salvage` makes a file of what is whole".to_owned(),
                    }
                    .into());
                }
                offset => offset,
            };
        }
        Ok(())
    }
}
