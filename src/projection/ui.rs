//! The ui view: the transcript in pieces of one part each, what belongs to a call behind it.

use super::calls::{Rank, Slot, Tie, tie};
use super::message::ProjectedMessage;
use super::ui_ids::ids;
use super::{Projection, View};
use crate::event::PartBody;
use crate::session::State;

/// Splits a transcript and puts what belongs to a call behind it: what was asked about it, the hooks before it, its
/// result, the hooks after it. All else keeps its order.
pub(super) fn project(state: &State, story: Projection) -> Projection {
    let slots = tie(state, &story.messages);
    let ids = ids(state, &story.messages, &slots);
    let mut messages = Vec::with_capacity(slots.len());
    for at in in_groups(&slots) {
        let slot = &slots[at];
        let mut piece = piece(&story.messages[slot.message], slot);
        piece.id = ids[at];
        messages.push(piece);
    }
    Projection { messages, diagnostics: story.diagnostics }
}

/// The order of the view: each call with what belongs to it behind it.
fn in_groups(slots: &[Slot<'_>]) -> Vec<usize> {
    let call_count = slots.iter().filter(|slot| matches!(slot.tie, Tie::Call(_))).count();
    let mut groups: Vec<Vec<(Rank, usize)>> = vec![Vec::new(); call_count];
    for (at, slot) in slots.iter().enumerate() {
        if let Tie::Of(call, rank) = slot.tie {
            groups[call].push((rank, at));
        }
    }
    let mut order = Vec::with_capacity(slots.len());
    for (at, slot) in slots.iter().enumerate() {
        match slot.tie {
            Tie::Of(..) => {}
            Tie::Loose => order.push(at),
            Tie::Call(call) => {
                order.push(at);
                for rank in [Rank::Approval, Rank::PreHook, Rank::Result, Rank::PostHook] {
                    order.extend(groups[call].iter().filter(|(of, _)| *of == rank).map(|(_, at)| *at));
                }
            }
        }
    }
    order
}

/// One part of a message as a message.
fn piece(message: &ProjectedMessage, slot: &Slot<'_>) -> ProjectedMessage {
    let content = slot.part.and_then(|(place, _)| message.content.get(place)).cloned();
    let mut piece = ProjectedMessage {
        view: View::Ui,
        id: message.id,
        role: message.role,
        kind: message.kind.clone(),
        source_message_ids: message.source_message_ids.clone(),
        original_ids: message.original_ids.clone(),
        at: message.at,
        provider: message.provider.clone(),
        model: message.model.clone(),
        message_id: message.message_id.clone(),
        content: content.into_iter().collect(),
        metadata: message.metadata.clone(),
    };
    // What is said of a message's results is said of no other part of it.
    let is_result = slot.part.is_some_and(|(_, part)| matches!(part.body, PartBody::ToolResult(_)));
    if piece.metadata.compacted && !is_result {
        piece.metadata.compacted = false;
        piece.metadata.notes.clear();
    }
    piece
}
