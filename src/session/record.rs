//! Recording a list of which a part is known already.

use std::collections::HashSet;

use super::commit::{Inner, Placing};
use super::compact::Compaction;
use super::draft::NewEvent;
use super::error::SessionError;
use super::place::Parent;
use super::read_event::event_of;
use super::replay::find_event;
use super::writer::{Session, refuse_lone_boundary, settled};
use crate::event::{Event, Kind, Uuid, holds_body};
use crate::log::{Durability, Frame, FrameType, IdHash, LogView, Receipt};

/// What [`Session::record`] did.
#[derive(Debug)]
#[must_use]
pub struct Recorded {
    /// Ids of the events that were new, in order.
    pub written: Vec<Uuid>,
    /// How many were known already.
    pub known: usize,
    /// Known events whose content is no longer what was recorded; they were left as they are. To complete a message,
    /// amend it.
    pub changed: Vec<Uuid>,
    /// Tells when all of it is durable; none if nothing was written.
    pub receipt: Option<Receipt>,
}

impl Inner {
    /// Whether an event of this id is known and, if so, whether what was written is the same. What the state holds as it was
    /// written is looked at first; only where it differs, or is not held, the log is asked: a value that was made by hand
    /// may differ from what is read back of it.
    pub(super) fn is_known(
        &self,
        log: &LogView,
        id: Uuid,
        is_same: impl Fn(&Event) -> bool,
    ) -> Result<Option<Known>, SessionError> {
        if let Some(known) = self.is_held(id, &is_same) {
            return Ok(Some(known));
        }
        let found = find_event(log, id)?;
        Ok(found.map(|(event, _)| Known { is_same: is_same(&event), takes_part: event.takes_part() }))
    }

    fn is_held(&self, id: Uuid, is_same: impl Fn(&Event) -> bool) -> Option<Known> {
        let held = self.state.entry(id).filter(|entry| !self.stale && entry.changes.is_empty());
        let same = held.filter(|entry| is_same(&entry.event))?;
        Some(Known { is_same: true, takes_part: same.event.takes_part() })
    }

    /// The same of a list: what each of these events is known as, by its body. Those that the state does not settle are looked
    /// up together; what is written of them is compared as it stands, and decoded only where that differs.
    fn are_known(&self, log: &LogView, events: &[Event]) -> Result<Vec<Option<Known>>, SessionError> {
        let mut known: Vec<Option<Known>> =
            events.iter().map(|event| self.is_held(event.id, |held| held.body == event.body)).collect();
        let asked: Vec<usize> = (0..events.len()).filter(|index| known[*index].is_none()).collect();
        let ids = asked.iter().map(|index| events[*index].id);
        let found = log.visit(ids, |place, frame| -> Result<_, SessionError> {
            let event = &events[asked[place]];
            if is_written(frame, event) {
                return Ok(Some(Known { is_same: true, takes_part: event.takes_part() }));
            }
            let written = event_of(log, frame)?;
            Ok(written.map(|written| Known { is_same: written.body == event.body, takes_part: written.takes_part() }))
        })?;
        for (place, found) in found {
            known[asked[place]] = found;
        }
        Ok(known)
    }
}

/// Whether a frame holds this event's body in just the bytes in which it would be written again.
fn is_written(frame: &Frame, event: &Event) -> bool {
    use FrameType::{Boundary, Change, Event, Head};
    matches!(frame.frame_type(), Event | Boundary | Change | Head) && holds_body(frame.payload(), event)
}

/// What is known of an event that was recorded before.
pub(super) struct Known {
    pub(super) is_same: bool,
    takes_part: bool,
}

impl Session {
    /// Records a list of messages, of which any part may be recorded already: only what is new is written.
    ///
    /// New messages hang on the last known message of the list's *known beginning*, one on the other; where the list
    /// begins with new ones, on the current leaf. So a compaction that puts a boundary and a summary before messages
    /// that are kept chains rightly: the two are written as one compaction that keeps the known messages behind them.
    /// The parents that the events name are not looked at.
    ///
    /// # Errors
    /// Those of [`Session::append`] (a new boundary without a summary behind it is refused) and
    /// [`Session::compact`]. What was written before the error stays.
    pub fn record(&self, events: &[Event], durability: Durability) -> Result<Recorded, SessionError> {
        let mut inner = self.lock();
        let mut recorded = Recorded { written: Vec::new(), known: 0, changed: Vec::new(), receipt: None };
        let mut is_known = Vec::with_capacity(events.len());
        let mut start = Parent::Leaf;
        let mut all_known_so_far = true;
        let mut seen = HashSet::with_hasher(IdHash::default());
        for (event, known) in events.iter().zip(inner.are_known(self.log(), events)?) {
            is_known.push(known.is_some() || !seen.insert(event.id));
            match known {
                Some(known) => {
                    recorded.known += 1;
                    if !known.is_same {
                        recorded.changed.push(event.id);
                    }
                    if all_known_so_far && known.takes_part {
                        start = Parent::Of(event.id);
                    }
                }
                None => all_known_so_far = false,
            }
        }
        if recorded.known > 0 {
            self.keep_known(durability)?;
        }
        // Nothing hangs on the leaf by accident: if the known beginning ends at the leaf, both say the same.
        let mut next = start;
        let mut index = 0;
        while index < events.len() {
            let event = &events[index];
            index += 1;
            if is_known[index - 1] {
                continue;
            }
            let is_boundary = event.boundary().is_some();
            let summary = events.get(index).filter(|_| is_boundary && !is_known[index]);
            let summary = summary
                .filter(|event| event.message().is_some_and(|message| matches!(message.kind, Kind::CompactSummary(_))));
            if let Some((summary, message)) = summary.and_then(|summary| Some((summary, summary.message()?))) {
                index += 1;
                let keep = events[index..].iter().zip(&is_known[index..]);
                let keep = keep.filter(|(event, known)| **known && event.takes_part()).map(|(event, _)| event.id);
                let on_chain: Vec<Uuid> = {
                    inner.refresh(self.log())?;
                    keep.filter(|&id| inner.state.on_chain(id)).collect()
                };
                let compaction =
                    Compaction::with_message(message.clone()).keep(on_chain).with_ids(Some(event.id), Some(summary.id));
                let done = self.compact_locked(&mut inner, compaction, durability)?;
                recorded.written.extend([done.boundary, done.summary]);
                recorded.receipt = Some(done.receipt);
                next = Parent::Of(done.summary);
                continue;
            }
            refuse_lone_boundary(&event.body)?;
            let draft = NewEvent::from_event(event.clone()).with_parent(next);
            let (id, receipt) = inner.commit_one(self.log(), self.clock(), draft, Placing::Strict, durability)?;
            recorded.written.push(id);
            recorded.receipt = Some(receipt);
            if event.takes_part() {
                next = Parent::Of(event.id);
            }
        }
        drop(inner);
        // The last one's sync covers those before it.
        recorded.receipt = recorded.receipt.map(|receipt| settled(receipt, durability)).transpose()?;
        Ok(recorded)
    }

    /// Whether an event of this id is in the session. Reads an index, not the log.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn contains(&self, id: Uuid) -> Result<bool, SessionError> {
        Ok(self.log().find(id)?.is_some())
    }
}
