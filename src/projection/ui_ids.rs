//! The ids of the ui view: no two of its messages share one.

use std::collections::{HashMap, HashSet};

use super::calls::Slot;
use super::message::ProjectedMessage;
use crate::event::{Role, Uuid, derive_id};
use crate::session::State;

/// An id for each part of a story, by the new-chain rule: one flag runs over the list, and the first user's or
/// assistant's message with more than one part sets it for good. Before it a message keeps its id; from that message
/// on each part of each message gets an id derived from the message's and the part's place.
///
/// A message without parts keeps its id. One of another role that has several parts before the flag is set has derived
/// ids too and sets nothing. Where an id would come out that is taken already, the part that lies later in the file
/// gets another one, see [`apart`].
pub(super) fn ids(state: &State, story: &[ProjectedMessage], slots: &[Slot<'_>]) -> Vec<Uuid> {
    let mut is_new_chain = false;
    let mut wanted = Vec::with_capacity(slots.len());
    for slot in slots {
        let message = &story[slot.message];
        let is_split = message.content.len() > 1;
        is_new_chain |= is_split && matches!(message.role, Role::User | Role::Assistant);
        wanted.push(match slot.part {
            Some((index, _)) if is_new_chain || is_split => derive_id(message.id, index as u64),
            _ => message.id,
        });
    }
    let places: HashMap<Uuid, usize> =
        state.entries().iter().enumerate().map(|(place, entry)| (entry.event.id, place)).collect();
    let mut in_file_order: Vec<usize> = (0..slots.len()).collect();
    in_file_order.sort_by_key(|&at| places.get(&story[slots[at].message].id).copied());
    let mut taken = HashSet::with_capacity(slots.len());
    let mut attempts = HashMap::new();
    for at in in_file_order {
        let (id, index) = (story[slots[at].message].id, slots[at].part.map_or(0, |(index, _)| index));
        while !taken.insert(wanted[at]) {
            // Messages may share their id: an attempt that failed for one is not made again for the next.
            let times: &mut usize = attempts.entry((id, index)).or_default();
            *times += 1;
            wanted[at] = apart(id, index, *times);
        }
    }
    wanted
}

/// The id of a part whose own is taken: UUIDv5 of (message id, index), the message's id being the namespace and the
/// index in decimal the name. Foreign ids may hold that one too; then the number of the attempt is added to the name.
fn apart(message: Uuid, index: usize, times: usize) -> Uuid {
    let name = if times == 1 { index.to_string() } else { format!("{index}#{times}") };
    Uuid::new_v5(&message, name.as_bytes())
}
