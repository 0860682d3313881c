//! A way back to before the boundary that counts: how far a replay has to reach.

use super::error::SessionError;
use super::place::Parent;
use super::read_event::event_of;
use super::replay::{replay, whole};
use super::state::State;
use crate::event::{Body, Event, Uuid};
use crate::log::{FrameType, LogView};

/// A state that holds what these events name and lies before what the session's state holds: replayed from the boundary
/// that counts there, found by walking back over headers. So the cost is that of the windows since then, not of the file.
pub(super) fn reaching<'a>(
    log: &LogView,
    events: impl Iterator<Item = (&'a Event, Option<Parent>)>,
) -> Result<State, SessionError> {
    let mut from = None;
    for (event, parent) in events {
        for id in named(event, parent) {
            let boundary = match id {
                None => 0,
                Some(id) => boundary_of(log, id, &event.body)?,
            };
            from = Some(from.map_or(boundary, |from: u64| from.min(boundary)));
        }
    }
    match from {
        Some(boundary) if boundary != 0 => Ok(replay(log, boundary, None)?.state),
        _ => whole(log),
    }
}

/// What an event leads to. None: to before the first message.
fn named(event: &Event, parent: Option<Parent>) -> Vec<Option<Uuid>> {
    match (&event.body, parent) {
        (Body::Head(head), _) => vec![head.leaf],
        (Body::Tombstone(tombstone), _) => tombstone.targets.iter().copied().map(Some).collect(),
        (_, Some(Parent::Of(id))) => vec![Some(id)],
        (_, Some(Parent::Root)) => vec![None],
        _ => Vec::new(),
    }
}

/// Offset of the boundary that counts on the chain of this event; 0: none does.
fn boundary_of(log: &LogView, id: Uuid, body: &Body) -> Result<u64, SessionError> {
    let Some(found) = log.find(id)? else { return Ok(0) };
    // A compaction that is being taken back does not count any more, nor does its summary.
    let taken_back = |id| matches!(body, Body::Tombstone(tombstone) if tombstone.targets.contains(&id));
    let mut at = found.offset;
    while at != 0 {
        let head = log.header(at)?;
        if head.frame_type == FrameType::Boundary {
            let summary = log.header(head.next_offset())?.id;
            if ![head.id, summary].into_iter().any(taken_back) && !is_taken_back(log, &[head.id, summary])? {
                return Ok(at);
            }
        }
        at = head.parent_off;
    }
    Ok(0)
}

fn is_taken_back(log: &LogView, ids: &[Uuid]) -> Result<bool, SessionError> {
    for &id in ids {
        for offset in log.targets_of(id)? {
            if let Some(Event { body: Body::Tombstone(_), .. }) = event_of(log, &log.frame(offset)?)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
