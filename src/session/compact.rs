//! Compaction: one atomic batch that cuts the window, names what it keeps and says what it left out.

use std::collections::{HashMap, HashSet};

use super::commit::{Inner, Placing};
use super::draft::NewEvent;
use super::entry::Entry;
use super::error::SessionError;
use super::pairing::Pairing;
use super::place::Parent;
use super::replay::kept;
use super::state::State;
use super::writer::{Session, settled};
use crate::event::{
    Body, CompactBoundary, CompactSummary, Fields, Kind, Message, NO_CONTENT, Part, Role, Source, Trigger, Uuid,
    apply_patch,
};
use crate::log::{Durability, Receipt};

/// A compaction to be made.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Compaction {
    summary: Message,
    keep: Keep,
    trigger: Option<Trigger>,
    id: Option<Uuid>,
    summary_id: Option<Uuid>,
    at: Option<i64>,
    original_id: Option<String>,
    original_summary_id: Option<String>,
    boundary_patch: Fields,
}

#[derive(Debug, Clone, PartialEq)]
enum Keep {
    These(Vec<Uuid>),
    From(Uuid),
}

/// What a compaction wrote.
#[derive(Debug)]
#[must_use]
pub struct Compacted {
    /// The boundary's id.
    pub boundary: Uuid,
    /// The summary's id.
    pub summary: Uuid,
    /// The kept messages, in chain order.
    pub kept: Vec<Uuid>,
    /// Those of them that were not asked for: calls and results that belong to kept ones, and open calls with their
    /// approvals.
    pub kept_too: Vec<Uuid>,
    /// Tells when the compaction is durable.
    pub receipt: Receipt,
}

impl Compaction {
    /// A compaction that puts this text in the place of everything before it, and keeps nothing.
    pub fn new(summary: impl Into<String>) -> Self {
        let kind = Kind::CompactSummary(CompactSummary::default());
        let mut message = Message::new(Role::User, kind, vec![Part::text(summary)]);
        message.metadata.source = Some(Source::Runtime);
        Self::with_message(message)
    }

    /// The same with a summary that is a message already, of kind `compact_summary`.
    pub fn with_message(summary: Message) -> Self {
        Self {
            summary,
            keep: Keep::These(Vec::new()),
            trigger: None,
            id: None,
            summary_id: None,
            at: None,
            original_id: None,
            original_summary_id: None,
            boundary_patch: Fields::new(),
        }
    }

    /// The summary.
    #[must_use]
    pub fn summary(&self) -> &Message {
        &self.summary
    }

    /// Keeps these messages of the current chain as they are. Their order does not matter.
    pub fn keep(mut self, messages: Vec<Uuid>) -> Self {
        self.keep = Keep::These(messages);
        self
    }

    /// Keeps the current chain from this message on.
    pub fn keep_from(mut self, message: Uuid) -> Self {
        self.keep = Keep::From(message);
        self
    }

    /// Says who asked for it.
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.trigger = Some(trigger);
        self
    }

    /// Says how many tokens the window held before.
    pub fn tokens_before(mut self, tokens: u64) -> Self {
        self.summary.kind = Kind::CompactSummary(CompactSummary { tokens_before: Some(tokens) });
        self
    }

    /// With these ids for the boundary and its summary.
    pub fn with_ids(mut self, boundary: Option<Uuid>, summary: Option<Uuid>) -> Self {
        (self.id, self.summary_id) = (boundary, summary);
        self
    }

    /// Says which ids boundary and summary had where they come from.
    pub fn original_ids(mut self, boundary: Option<String>, summary: Option<String>) -> Self {
        (self.original_id, self.original_summary_id) = (boundary, summary);
        self
    }

    /// At this time, µs since the epoch; else now.
    pub fn at(mut self, at: i64) -> Self {
        self.at = Some(at);
        self
    }

    /// With these other fields of the boundary's message, by their snake_case names.
    pub fn boundary_fields(mut self, patch: Fields) -> Self {
        self.boundary_patch = patch;
        self
    }
}

impl Session {
    /// Compacts: from now on the model sees the summary, the kept messages and what follows. Nothing is copied or
    /// erased; rewinding to before it shows everything again. Boundary and summary are one batch, so no crash leaves
    /// one without the other.
    ///
    /// The window never begins between a call and its result: what belongs together is kept together. Calls without a
    /// result are always kept, with their approvals.
    ///
    /// # Errors
    /// [`SessionError::Refused`]: the summary is empty or of another kind, or a message to keep is not on the current
    /// chain. [`SessionError::Event`]: the boundary's other fields don't fit a message.
    /// [`SessionError::DuplicateId`]: an id that was given is known. Those of [`Session::append`].
    pub fn compact(&self, compaction: Compaction, durability: Durability) -> Result<Compacted, SessionError> {
        let mut inner = self.lock();
        for id in [compaction.id, compaction.summary_id].into_iter().flatten() {
            if super::replay::find_event(self.log(), id)?.is_some() {
                return Err(SessionError::DuplicateId { path: self.path().to_owned(), id });
            }
        }
        let compacted = self.compact_locked(&mut inner, compaction, durability)?;
        drop(inner);
        Ok(Compacted { receipt: settled(compacted.receipt, durability)?, ..compacted })
    }

    pub(super) fn compact_locked(
        &self,
        inner: &mut Inner,
        compaction: Compaction,
        durability: Durability,
    ) -> Result<Compacted, SessionError> {
        // A message without words has been given the text that says so by now.
        let summary = compaction.summary.joined_text();
        if summary.trim().is_empty() || summary == NO_CONTENT {
            let why = "the summary is empty; the model would lose everything before it".to_owned();
            return Err(SessionError::Refused { what: "compact", why });
        }
        if !matches!(compaction.summary.kind, Kind::CompactSummary(_)) {
            let why = format!("its summary is a message of kind `{}`", compaction.summary.kind.name());
            return Err(SessionError::Refused { what: "compact", why });
        }
        inner.refresh(self.log())?;
        let window = Window::of(&inner.state);
        let asked = window.asked(&compaction.keep)?;
        let keep = window.closed(&asked);
        let kept_ids: Vec<Uuid> = keep.iter().map(|entry| entry.event.id).collect();
        let boundary = boundary(&inner.state, &window.pairing, &keep, compaction.trigger, inner.ids.last());
        let boundary_id = compaction.id.unwrap_or_else(|| inner.new_id(self.clock()));
        let mut summary = compaction.summary;
        summary.metadata.summary_for_boundary_id = Some(boundary_id.to_string());
        let mut summary = NewEvent::from(summary).with_parent(Parent::Of(boundary_id));
        (summary.id, summary.at) = (compaction.summary_id, compaction.at);
        summary.original_id = compaction.original_summary_id;
        let mut boundary = boundary_event(boundary).with_id(boundary_id);
        (boundary.at, boundary.original_id) = (compaction.at, compaction.original_id);
        if let Body::Message(message) = &mut boundary.body {
            **message = apply_patch(message, &compaction.boundary_patch)?;
        }
        let drafts = vec![boundary, summary];
        let committed = inner.commit(self.log(), self.clock(), drafts, Placing::Strict, durability)?;
        let kept_too = kept_ids.iter().copied().filter(|id| !asked.contains(id)).collect();
        Ok(Compacted {
            boundary: boundary_id,
            summary: committed.ids[1],
            kept: kept_ids,
            kept_too,
            receipt: committed.receipt,
        })
    }
}

/// The boundary that keeps these entries, as a replay from it needs it.
pub(super) fn boundary(
    state: &State,
    pairing: &Pairing<'_>,
    keep: &[&Entry],
    trigger: Option<Trigger>,
    last_id: Uuid,
) -> CompactBoundary {
    let ids: HashSet<Uuid> = keep.iter().map(|entry| entry.event.id).collect();
    let open: HashSet<&str> = pairing
        .dangling()
        .filter(|call| ids.contains(&call.message.event.id))
        .map(|call| call.call.id.as_str())
        .collect();
    let carried = state.started().filter(|(_, started)| open.contains(started.call_id.as_str()));
    CompactBoundary {
        keep: keep.iter().copied().map(kept).collect(),
        trigger,
        carried: carried.map(|(entry, _)| kept(entry)).collect(),
        meta_offset: state.meta_offset(),
        last_id: state.last_id().max(last_id),
    }
}

pub(super) fn boundary_event(boundary: CompactBoundary) -> NewEvent {
    let mut message = Message::new(Role::System, Kind::CompactBoundary(boundary), Vec::new());
    message.metadata.source = Some(Source::Runtime);
    NewEvent::from(message)
}

/// The messages of the current chain that a compaction may keep, in order, with results that hang beside the chain
/// behind their calls.
pub(super) struct Window<'a> {
    entries: Vec<&'a Entry>,
    place: HashMap<Uuid, usize>,
    pairing: Pairing<'a>,
}

impl<'a> Window<'a> {
    fn of(state: &'a State) -> Self {
        let pairing = state.pairing();
        let mut beside: HashMap<Uuid, Vec<&Entry>> = HashMap::new();
        for call in pairing.calls() {
            if let Some((result, _)) = call.result.filter(|(result, _)| !state.on_chain(result.event.id)) {
                let results = beside.entry(call.message.event.id).or_default();
                if !results.iter().any(|known| known.event.id == result.event.id) {
                    results.push(result);
                }
            }
        }
        let mut entries = Vec::new();
        let mut place = HashMap::new();
        for entry in state.chain() {
            let message = entry.event.message().map(|message| &message.kind);
            if matches!(message, Some(Kind::CompactBoundary(_) | Kind::CompactSummary(_))) {
                continue;
            }
            let beside = beside.remove(&entry.event.id).unwrap_or_default();
            for entry in std::iter::once(entry).chain(beside) {
                place.entry(entry.event.id).or_insert_with(|| {
                    entries.push(entry);
                    entries.len() - 1
                });
            }
        }
        Self { entries, place, pairing }
    }

    /// The messages in order, and how many of them are kept from before the boundary that counts.
    pub(super) fn with_kept_count(state: &'a State) -> (Vec<&'a Entry>, usize) {
        let window = Self::of(state);
        let is_behind = |entry: &&Entry| state.boundary().is_some_and(|boundary| entry.offset > boundary.offset);
        let (rest, kept): (Vec<_>, Vec<_>) =
            window.entries.into_iter().partition(|entry| state.boundary().is_none() || is_behind(entry));
        let kept_count = kept.len();
        (kept.into_iter().chain(rest).collect(), kept_count)
    }

    fn asked(&self, keep: &Keep) -> Result<HashSet<Uuid>, SessionError> {
        let not_there = |id: &Uuid| SessionError::Refused {
            what: "compact",
            why: format!(
                "{id} can't be kept: it is no message of the current chain, or lies before the latest compaction, which did not keep it"
            ),
        };
        match keep {
            Keep::These(ids) => match ids.iter().find(|id| !self.place.contains_key(id)) {
                Some(id) => Err(not_there(id)),
                None => Ok(ids.iter().copied().collect()),
            },
            Keep::From(id) => {
                let from = *self.place.get(id).ok_or_else(|| not_there(id))?;
                Ok(self.entries[from..].iter().map(|entry| entry.event.id).collect())
            }
        }
    }

    /// What is asked for, with all that belongs to it: calls with their results, and every open call with its
    /// approvals. In chain order.
    fn closed(&self, asked: &HashSet<Uuid>) -> Vec<&'a Entry> {
        let mut keep = asked.clone();
        loop {
            let before = keep.len();
            for call in self.pairing.calls() {
                let message = call.message.event.id;
                let result = call.result.map(|(entry, _)| entry.event.id);
                let open = result.is_none() && !call.call.incomplete;
                if open || keep.contains(&message) || result.is_some_and(|result| keep.contains(&result)) {
                    keep.insert(message);
                    keep.extend(result);
                    keep.extend(call.approval_messages.iter().filter(|_| open));
                }
            }
            if keep.len() == before {
                break;
            }
        }
        self.entries.iter().copied().filter(|entry| keep.contains(&entry.event.id)).collect()
    }
}
