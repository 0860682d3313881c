//! Why an event is in a view or not, and what its messages were made from.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::calls::{Rank, Slot, Tie, tie};
use super::debug::{self, Change, changes};
use super::diagnostics::code;
use super::message::{Flags, ProjectedMessage};
use super::options::Options;
use super::standing::{Seen, Standings};
use super::{View, diagnostics::Diagnostic};
use crate::event::{Body, Uuid};
use crate::session::{Entry, State};

/// What becomes of one event, view by view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explanation {
    /// The event.
    pub id: Uuid,
    /// The id that it had where it came from, if that was no id of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_id: Option<String>,
    /// The event's type: `message`, `tombstone` and so on.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The message's kind, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Where it is.
    pub placed: Placed,
    /// What it is related to: what changed it, what it is aimed at, and what it is paired with.
    pub related: Vec<Related>,
    /// Each view.
    pub views: Vec<InView>,
}

/// Where an event is in its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Placed {
    /// The how-manyeth event of what is held it is, from 0.
    pub index: usize,
    /// Whether it is on the current chain, or beside it if it takes no part in a chain.
    pub on_chain: bool,
    /// The leaf of the branch that it is on; none if nothing living is below it.
    pub branch: Option<Uuid>,
    /// The parent that it named.
    pub named_parent: Option<Uuid>,
    /// What it hangs on; none: it is a root.
    pub hung_on: Option<Uuid>,
    /// Why it does not hang on the parent that it named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_hung_there: Option<String>,
}

/// One view and the event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InView {
    /// The view.
    pub view: View,
    /// Whether it is in.
    pub shown: bool,
    /// Why it is not, or what was done to it. Empty: it is in as it is.
    pub reasons: Vec<Diagnostic>,
    /// The messages of the view that it is in.
    pub messages: Vec<Appearance>,
    /// The events that made these messages, or that made it be left out.
    pub from: Vec<Related>,
}

/// A message of a view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Appearance {
    /// The how-manyeth message of the view it is, from 0.
    pub index: usize,
    /// Its id in the view.
    pub id: Uuid,
    /// Who says it there.
    pub role: &'static str,
    /// The name of its kind.
    pub semantic_type: &'static str,
    /// What the view did to it.
    pub metadata: Flags,
}

/// An event that had a part in something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Related {
    /// The event.
    pub id: Uuid,
    /// What it is to the one that is explained.
    pub what: Origin,
    /// The call that connects the two, by its id as recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What an event is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// It is the event itself.
    Itself,
    /// Another message that the same message of the view is made from.
    Message,
    /// It took it back.
    Tombstone,
    /// It cleared its results for the model.
    Prune,
    /// It completed it.
    Amend,
    /// It was to complete it, and its patch does not fit.
    RefusedAmend,
    /// It changed it and lies before what is held.
    Change,
    /// It holds the call.
    Call,
    /// It holds the result that counts.
    Result,
    /// It tells that the tool was about to run.
    Started,
    /// It asks whether the call may run, or answers that.
    Approval,
    /// A hook that ran for the call.
    Hook,
    /// The boundary that the view begins at.
    Boundary,
    /// The other half of the compaction: a boundary's summary, a summary's boundary.
    Compaction,
    /// What the event that is explained changes, takes back, clears or goes to.
    Target,
}

/// The session has no such event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no event of this session has the id {0}, and no message of its ui view")]
pub struct NoSuchEvent(pub Uuid);

/// Says of an event, for each view, whether it is in and why, as which messages, and what these were made from. An id
/// of the ui view means the event that its message was made from.
///
/// The state should be a whole one: of what it does not hold nothing can be said.
///
/// # Errors
/// [`NoSuchEvent`] if the state holds no event of this id.
pub fn explain(state: &State, id: Uuid, options: &Options) -> Result<Explanation, NoSuchEvent> {
    let standings = Standings::of(state, options);
    let in_ui = || {
        let ui = standings.views.iter().find(|seen| seen.view == View::Ui)?;
        let message = ui.projection.messages.iter().find(|message| message.id == id)?;
        message.source_message_ids.first().and_then(|&id| state.entry(id))
    };
    let entry = state.entry(id).or_else(in_ui).ok_or(NoSuchEvent(id))?;
    let event = &entry.event;
    let hanging = standings.hanging(entry);
    let related = related(&standings, entry);
    let mut views: Vec<InView> =
        standings.views.iter().map(|seen| in_view(&standings, entry, seen, &related)).collect();
    let index = standings.place(event.id).unwrap_or_default();
    views.push(InView {
        view: View::Debug,
        shown: true,
        reasons: Vec::new(),
        messages: vec![appearance(index, &debug::message(&standings, entry))],
        from: [itself(entry)].into_iter().chain(related.iter().filter(|from| is_change(from.what)).cloned()).collect(),
    });
    Ok(Explanation {
        id: event.id,
        original_id: event.original_id.clone(),
        event_type: event.body.type_name().to_owned(),
        kind: event.message().map(|message| message.kind.name()),
        placed: Placed {
            index,
            on_chain: standings.is_on_chain(entry),
            branch: standings.branch(entry),
            named_parent: hanging.named,
            hung_on: hanging.hung_on,
            why_hung_there: hanging.reason,
        },
        related,
        views,
    })
}

fn itself(entry: &Entry) -> Related {
    Related { id: entry.event.id, what: Origin::Itself, call: None }
}

fn is_change(what: Origin) -> bool {
    matches!(what, Origin::Tombstone | Origin::Prune | Origin::Amend | Origin::RefusedAmend | Origin::Change)
}

fn in_view(standings: &Standings<'_>, entry: &Entry, seen: &Seen, related: &[Related]) -> InView {
    let id = entry.event.id;
    let places = seen.shown(id);
    let shown = !places.is_empty();
    let mut reasons: Vec<Diagnostic> = seen.said(id).cloned().collect();
    if !shown && reasons.is_empty() {
        let (code, reason) = standings.why_absent(entry, seen);
        reasons.push(Diagnostic::new(code, [id], reason));
    }
    let is_model = seen.view.is_for_a_model();
    // A prune changes what a model sees and nothing else; what an event is aimed at has no part in it.
    let counts = |from: &&Related| from.what != Origin::Target && (from.what != Origin::Prune || is_model);
    let mut from: Vec<Related> = [itself(entry)].into_iter().chain(related.iter().filter(counts).cloned()).collect();
    let is_cut_off = reasons.iter().any(|reason| reason.code == code::BEFORE_BOUNDARY);
    if let Some(boundary) = seen.projection.diagnostics.applied_compact_boundary_id
        && (shown || is_cut_off)
        && boundary != id
    {
        from.push(Related { id: boundary, what: Origin::Boundary, call: None });
    }
    for &place in places {
        for &source in &seen.projection.messages[place].source_message_ids {
            if from.iter().all(|from| from.id != source) {
                from.push(Related { id: source, what: Origin::Message, call: None });
            }
        }
    }
    let messages = places.iter().map(|&place| appearance(place, &seen.projection.messages[place])).collect();
    InView { view: seen.view, shown, reasons, messages, from }
}

fn appearance(index: usize, message: &ProjectedMessage) -> Appearance {
    Appearance {
        index,
        id: message.id,
        role: message.role.name(),
        semantic_type: message.semantic_type(),
        metadata: message.metadata.clone(),
    }
}

/// The events that an event which is no message is aimed at.
fn targets(body: &Body) -> &[Uuid] {
    match body {
        Body::Tombstone(tombstone) => &tombstone.targets,
        Body::Prune(prune) => &prune.targets,
        Body::Amend(amend) => std::slice::from_ref(&amend.target),
        Body::Head(head) => head.leaf.as_slice(),
        _ => &[],
    }
}

/// What changed an event, what it is aimed at, what it is paired with, and the other half of its compaction.
fn related(standings: &Standings<'_>, entry: &Entry) -> Vec<Related> {
    let state = standings.state;
    let id = entry.event.id;
    let mut related: Vec<Related> = changes(state, entry)
        .map(|(id, change)| {
            let what = match change {
                Change::Tombstone => Origin::Tombstone,
                Change::Prune => Origin::Prune,
                Change::Amend => Origin::Amend,
                Change::RefusedAmend => Origin::RefusedAmend,
                Change::NotHeld => Origin::Change,
            };
            Related { id, what, call: None }
        })
        .collect();
    related.extend(targets(&entry.event.body).iter().map(|&id| Related { id, what: Origin::Target, call: None }));
    if let Some(partner) = state.compaction_partner(entry) {
        related.push(Related { id: partner.event.id, what: Origin::Compaction, call: None });
    }
    let mut known = HashSet::new();
    let mut add = |other: Uuid, what: Origin, call: &str| {
        if other != id && known.insert((other, what, call.to_owned())) {
            related.push(Related { id: other, what, call: Some(call.to_owned()) });
        }
    };
    // On the current chain the session's pairing counts; it holds for messages that are hidden too.
    for call in state.pairing().calls() {
        let holder = call.message.event.id;
        let result = call.result.map(|(entry, _)| entry.event.id);
        let started = call.started.map(|entry| entry.event.id);
        let mut others: Vec<(Uuid, Origin)> = vec![(holder, Origin::Call)];
        others.extend(result.map(|id| (id, Origin::Result)));
        others.extend(started.map(|id| (id, Origin::Started)));
        others.extend(call.approval_messages.iter().map(|&id| (id, Origin::Approval)));
        if others.iter().any(|(other, _)| *other == id) {
            others.into_iter().for_each(|(other, what)| add(other, what, &call.call.id));
        }
    }
    let Some(story) = standings.views.iter().find(|seen| seen.view == View::Transcript) else { return related };
    let messages = &story.projection.messages;
    let slots = tie(state, messages);
    let is_this = |slot: &Slot<'_>| messages[slot.message].id == id;
    let call_of = |slot: &Slot<'_>| match slot.tie {
        Tie::Call(call) | Tie::Of(call, _) => Some(call),
        Tie::Loose => None,
    };
    let mine: HashSet<usize> = slots.iter().filter(|slot| is_this(slot)).filter_map(call_of).collect();
    let ids: HashMap<usize, &str> =
        slots.iter().filter_map(|slot| Some((call_of(slot)?, slot.part?.1.as_tool_call()?.id.as_str()))).collect();
    for slot in &slots {
        let Some(call) = call_of(slot).filter(|call| mine.contains(call)) else { continue };
        let what = match slot.tie {
            Tie::Of(_, Rank::Result) => Origin::Result,
            Tie::Of(_, Rank::Approval) => Origin::Approval,
            Tie::Of(..) => Origin::Hook,
            _ => Origin::Call,
        };
        add(messages[slot.message].id, what, ids.get(&call).copied().unwrap_or_default());
    }
    related
}
