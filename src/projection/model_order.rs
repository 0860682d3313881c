//! What the model's view goes through, and in which order.

use crate::event::{Body, Kind};
use crate::session::{Entry, State};

/// The entries behind the head of the chain that lie at this place or behind it, each with its place: participants,
/// and beside them, at their places in the file, system events and messages of unknown kinds. What lies before the
/// boundary and takes no part in the chain was compacted away.
pub(super) fn since(state: &State, place: usize) -> Vec<(usize, &Entry)> {
    let behind = state.boundary().and_then(|boundary| state.index_of(boundary.event.id)).map_or(0, |index| index + 1);
    let from = place.max(behind);
    let mut ordered: Vec<(usize, &Entry)> = state.chain_since(place).collect();
    let count = ordered.len();
    let entries = state.entries().iter().enumerate().skip(from);
    ordered.extend(entries.filter(|(_, entry)| is_beside(state, entry)));
    if ordered.len() > count {
        ordered.sort_by_key(|(place, _)| *place);
    }
    ordered
}

fn is_beside(state: &State, entry: &Entry) -> bool {
    let may = match &entry.event.body {
        Body::Message(message) => matches!(message.kind, Kind::SystemEvent(_)) && !message.metadata.sidechain,
        Body::Unknown(unknown) => unknown.kind.is_some(),
        _ => false,
    };
    may && entry.is_living() && state.is_beside_chain(entry)
}
