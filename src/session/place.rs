//! Where a new event hangs: the rules for parents, for late results and for what takes no part in the chain.

use super::entry::{Entry, Link};
use super::state::State;
use crate::event::{Body, Event, HungOn, Message, PartBody, Uuid, parse_id};

/// What a new event is to hang on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// Whatever is the leaf.
    Leaf,
    /// Nothing: it becomes a root.
    Root,
    /// The event of this id. A boundary stands for its summary; what takes no part in the chain stands for the leaf
    /// at its place, or for its nearest ancestor that takes part.
    Of(Uuid),
}

/// Something was put in the place of the parent that an event named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The session knows no earlier event of that id: the event hangs on the leaf at its place.
    MissingParent {
        /// The event.
        event: Uuid,
        /// The parent that it named.
        named: Uuid,
        /// What it hangs on; none: it became a root.
        hung_on: Option<Uuid>,
    },
    /// A result came after other messages had followed its call: it hangs on the leaf, so that they stay in the chain.
    LateResult {
        /// The event.
        event: Uuid,
        /// What it hangs on; none: it became a root.
        hung_on: Option<Uuid>,
    },
}

/// The parent that an event names is no event of this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownParent(pub Uuid);

impl State {
    /// Gives an event the parent it is to have, by the rules for leaf and parent.
    pub(super) fn place(&self, event: &mut Event, parent: Parent) -> Result<Option<Repair>, UnknownParent> {
        event.hung_on = HungOn::Named;
        event.off_chain = false;
        match parent {
            Parent::Root => event.parent = None,
            Parent::Leaf => match (self.leaf(), self.raw_leaf()) {
                (Some(leaf), _) => event.parent = Some(leaf.event.id),
                (None, Link::Outside(id)) => event.parent = Some(id),
                (None, _) => event.parent = None,
            },
            Parent::Of(id) => {
                let index = self.index_of(id).ok_or(UnknownParent(id))?;
                event.parent = Some(id);
                event.hung_on = self.hung_on(self.standing_for(index), id);
            }
        }
        if let Some(message) = event.message() {
            if !message.takes_part() {
                event.hung_on = self.beside(event);
            } else if is_only_results(message) {
                return Ok(self.place_result(event));
            }
        }
        Ok(None)
    }

    /// Like [`State::place`] with the parent that the event names already; an unknown one is replaced by the leaf.
    pub(super) fn place_tolerantly(&self, event: &mut Event) -> Option<Repair> {
        let parent = event.parent.map_or(Parent::Root, Parent::Of);
        match self.place(event, parent) {
            Ok(repair) => repair,
            Err(UnknownParent(named)) => Some(self.place_on_leaf(event, named)),
        }
    }

    /// Hangs an event on the leaf, since the session knows no event of the id that it names.
    pub(super) fn place_on_leaf(&self, event: &mut Event, named: Uuid) -> Repair {
        let placed = self.place(event, Parent::Leaf);
        debug_assert!(placed.is_ok(), "the leaf is always known");
        let hung_on = event.effective_parent();
        event.parent = Some(named);
        event.hung_on = hung_on.map_or(HungOn::Root, HungOn::Event);
        event.original_parent.get_or_insert_with(|| named.to_string());
        Repair::MissingParent { event: event.id, named, hung_on }
    }

    /// Places what an import fills in: where it was, be its parent's children what they may, and the leaf stays. What its
    /// file hangs on nothing in particular, or on what is not there, hangs on what stands before it in that file.
    pub(super) fn fill_in(&self, event: &mut Event, parent: Parent, behind: Option<Uuid>) -> Option<Repair> {
        event.off_chain = event.takes_part() || matches!(event.body, Body::Head(_));
        let known = match parent {
            Parent::Root => None,
            Parent::Leaf => behind,
            Parent::Of(id) => Some(id),
        };
        event.parent = known;
        event.hung_on = HungOn::Named;
        let named = known?;
        if let Some(index) = self.index_of(named) {
            event.hung_on = self.hung_on(self.standing_for(index), named);
            return None;
        }
        let place = behind.and_then(|id| self.index_of(id)).map_or(Link::Root, |index| self.standing_for(index));
        event.hung_on = self.hung_on(place, named);
        event.original_parent.get_or_insert_with(|| named.to_string());
        Some(Repair::MissingParent { event: event.id, named, hung_on: event.effective_parent() })
    }

    fn hung_on(&self, link: Link, named: Uuid) -> HungOn {
        match link {
            Link::Root => HungOn::Root,
            Link::At(index) if self.entries[index].event.id == named => HungOn::Named,
            Link::At(index) => HungOn::Event(self.entries[index].event.id),
            Link::Outside(id) if id == named => HungOn::Named,
            Link::Outside(id) => HungOn::Event(id),
        }
    }

    /// What stands for an event that takes no part: the leaf at its place, if that descends from the event's own
    /// nearest participating ancestor; else that ancestor. So a side record never hides what was said beside it.
    fn beside(&self, event: &Event) -> HungOn {
        let Some(named) = event.parent else {
            return match self.leaf() {
                Some(leaf) => HungOn::Event(leaf.event.id),
                None => HungOn::Named,
            };
        };
        let Some(index) = self.index_of(named) else { return HungOn::Named };
        let ancestor = &self.entries[index];
        let ancestor = if ancestor.takes_part { Some(index) } else { self.anchor_index(ancestor) };
        let descends = ancestor.is_none_or(|ancestor| self.is_on_chain(ancestor));
        match (self.leaf().filter(|_| descends), ancestor) {
            (Some(leaf), _) if leaf.event.id == named => HungOn::Named,
            (Some(leaf), _) => HungOn::Event(leaf.event.id),
            (None, Some(ancestor)) => self.hung_on(Link::At(ancestor), named),
            (None, None) => HungOn::Root,
        }
    }

    fn anchor_index(&self, entry: &Entry) -> Option<usize> {
        self.anchor(entry).and_then(|anchor| self.index_of(anchor.event.id))
    }

    /// A result belongs to its call's message. One whose call is not on the current chain does not move the leaf. One
    /// whose call is on it belongs to the chain wherever it hangs: where other messages have followed the parent
    /// that it names, it hangs on the leaf, so that they stay in the chain.
    fn place_result(&self, event: &mut Event) -> Option<Repair> {
        let message = event.message()?;
        let call = self.call_of(message)?;
        let Some(call) = call.filter(|&call| self.is_on_chain(call)) else {
            event.off_chain = true;
            return None;
        };
        let leaf = self.leaf().map(|leaf| leaf.event.id);
        let parent = event.effective_parent();
        if parent == leaf {
            return None;
        }
        let place = parent.and_then(|id| self.index_of(id)).and_then(|index| self.walk_place(index));
        let only_siblings_behind = place.is_some_and(|place| {
            self.walk_behind(place).filter(|entry| entry.is_living()).all(|entry| {
                entry.event.message().is_some_and(|m| is_only_results(m) && self.call_of(m) == Some(Some(call)))
            })
        });
        if only_siblings_behind {
            return None;
        }
        event.hung_on = leaf.map_or(HungOn::Root, HungOn::Event);
        Some(Repair::LateResult { event: event.id, hung_on: leaf })
    }

    /// The message that holds the call which this message answers: none if it answers nothing, `Some(None)` if this
    /// state holds no such call.
    pub(super) fn call_of(&self, message: &Message) -> Option<Option<usize>> {
        let call_id = message.content.iter().find_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some(result.call_id.as_str()),
            PartBody::ToolApprovalResponse(response) => Some(response.call_id.as_str()),
            _ => None,
        })?;
        Some(self.holder_of(call_id, message, self.entries.len()))
    }

    /// Which of the messages before entry `before` that hold a call of this id is meant: the one that the answer
    /// names, else the latest on the current chain, else the latest.
    pub(super) fn holder_of(&self, call_id: &str, answer: &Message, before: usize) -> Option<usize> {
        let holders = self.calls.get(call_id)?;
        // They stand in order, and an id may be used again and again: those behind are passed over at once.
        let holders = &holders[..holders.partition_point(|&index| index < before)];
        let earlier = || holders.iter().rev().copied();
        let named = answer.metadata.source_tool_assistant_id.as_deref().and_then(|named| {
            let id = parse_id(named).filter(|id| id.to_string() == named);
            earlier().find(|&index| {
                let event = &self.entries[index].event;
                event.original_id.as_deref() == Some(named) || Some(event.id) == id
            })
        });
        // A call that had been taken back when the answer came is none that it can be meant for.
        let said_at = self.entries.get(before).map_or(u64::MAX, |entry| entry.offset);
        let living = |index: &usize| self.entries[*index].taken_back_at().is_none_or(|offset| offset > said_at);
        let on_chain = || earlier().filter(|&index| self.is_on_chain(index));
        named.or_else(|| on_chain().find(living)).or_else(|| on_chain().next()).or_else(|| earlier().next())
    }
}

/// Whether a message holds results, or answers to questions about calls, and nothing else.
pub(super) fn is_only_results(message: &Message) -> bool {
    !message.content.is_empty()
        && message
            .content
            .iter()
            .all(|part| matches!(part.body, PartBody::ToolResult(_) | PartBody::ToolApprovalResponse(_)))
}
