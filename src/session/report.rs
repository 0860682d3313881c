//! What a resume found.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::entry::Entry;
use super::pairing::{Approval, PairedCall};
use super::replay::Replayed;
use super::state::State;
use crate::event::{Kind, Role, StopReason, Uuid};
use crate::log::format::HEADER_PAGE_LEN;
use crate::log::{Damage, LogView, OpenReport, SetAside, Verdict};

/// What a resume found: in the bytes, and in the session that they hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct ResumeReport {
    /// The session's id.
    pub session: Uuid,
    /// Its file.
    #[serde(serialize_with = "super::shown::path")]
    pub path: PathBuf,
    /// Clean, recovered or damaged.
    pub open: Opened,
    /// Events that were set aside since they had never been durable, as far as their headers can be read.
    pub cut_events: u64,
    /// Bytes that were set aside. They stay in the file.
    pub cut_bytes: u64,
    /// Zero bytes behind the end; they are harmless.
    pub zero_bytes: u64,
    /// Each range that was set aside.
    pub set_aside: Vec<Range>,
    /// Each range of what had been durable that is damaged.
    pub damage: Vec<DamagedRange>,
    /// Offset of the boundary that the replay began at; 0: the start.
    pub replay_start: u64,
    /// Events that were replayed.
    pub events_replayed: u64,
    /// The boundary that counts.
    pub boundary: Option<Uuid>,
    /// The current leaf.
    pub leaf: Option<Uuid>,
    /// Kept messages that the boundary names and the log does not hold.
    pub missing_kept: Vec<Uuid>,
    /// Events whose parent was not there, with what they hang on instead.
    pub missing_parents: Vec<MissingParent>,
    /// Complete calls of the current chain without a result.
    pub dangling_calls: Vec<OpenCall>,
    /// Calls in whose middle the stream ended; they never run.
    pub incomplete_calls: Vec<OpenCall>,
    /// The model's turn had begun and had not ended.
    pub last_turn_interrupted: bool,
    /// The ids that events named in this report had where they come from.
    pub original_ids: BTreeMap<Uuid, String>,
}

/// How a log was found, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Opened {
    /// Nothing was set aside and nothing is damaged.
    Clean,
    /// Bytes that had never been durable were set aside.
    Recovered,
    /// What had been durable is damaged.
    Damaged,
}

/// A range of bytes that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Range {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub len: u64,
    /// Why: `tornTail`, `unsyncedHole` or `incompleteBatch`.
    pub cause: String,
    /// Ids of events whose headers can still be read in it.
    pub events: Vec<Uuid>,
}

/// A damaged range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DamagedRange {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// How long it is, in bytes, as far as one can tell.
    pub len: u64,
    /// What is wrong, with what was expected and found.
    pub what: String,
}

impl DamagedRange {
    /// Whether it lies in the header's page, which is in the file twice: no event is hit.
    #[must_use]
    pub fn is_of_header(&self) -> bool {
        self.offset < HEADER_PAGE_LEN
    }
}

/// An event whose parent was not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MissingParent {
    /// The event.
    pub event: Uuid,
    /// The parent that it named.
    pub named: String,
    /// What it hangs on; none: it became a root.
    pub hung_on: Option<Uuid>,
}

/// A call without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenCall {
    /// The message that holds the call.
    pub message: Uuid,
    /// The call's id.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// What is known of whether it ran.
    pub state: CallState,
    /// The key by which the tool can be asked whether it ran.
    pub idempotency_key: Option<String>,
}

/// What is known of whether a call without a result ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum CallState {
    /// A person was asked and has not answered: it did not run.
    WaitingForApproval,
    /// A person said no: it must not run.
    Denied,
    /// A person said yes, and no start was written: it did not run, if the agent writes starts ahead.
    ApprovedNotStarted,
    /// A start was written: it may have had its effect. Ask the tool by its key before running it again.
    StartedOutcomeUnknown,
    /// Nobody was asked and no start was written: it did not run, if the agent writes starts ahead.
    NotStarted,
    /// The stream ended inside the call: it must not run.
    Incomplete,
}

impl ResumeReport {
    pub(super) fn of_new(log: &LogView) -> Self {
        Self::empty(log.info().log_id, log.path().to_owned())
    }

    pub(super) fn of_open(log: &LogView, open: &OpenReport, replayed: &Replayed) -> Self {
        Self::of(log.info().log_id, log, open, replayed)
    }

    pub(super) fn of(session: Uuid, log: &LogView, open: &OpenReport, replayed: &Replayed) -> Self {
        let mut report = Self::empty(session, log.path().to_owned());
        let damage: Vec<DamagedRange> = open.damage.iter().chain(&replayed.damage).map(DamagedRange::of).collect();
        report.open = match open.verdict {
            _ if !damage.is_empty() => Opened::Damaged,
            Verdict::Clean => Opened::Clean,
            Verdict::Damaged => Opened::Damaged,
            _ => Opened::Recovered,
        };
        report.damage = damage;
        report.set_aside = open.set_aside.iter().map(Range::of).collect();
        report.cut_events = open.set_aside.iter().map(|range| range.ids.len() as u64).sum();
        report.cut_bytes = open.set_aside.iter().map(|range| range.len).sum();
        report.zero_bytes = open.zero_bytes;
        report.events_replayed = replayed.events;
        report.missing_kept.clone_from(&replayed.missing_kept);
        report.look_at(&replayed.state);
        report
    }

    /// Fills in what the state tells.
    pub(super) fn look_at(&mut self, state: &State) {
        let boundary = state.boundary();
        self.boundary = boundary.map(|entry| entry.event.id);
        self.replay_start = if state.is_complete() { 0 } else { boundary.map_or(0, |entry| entry.offset) };
        self.leaf = state.leaf().map(|entry| entry.event.id);
        self.missing_parents = state.entries().iter().filter_map(MissingParent::of).collect();
        let pairing = state.pairing();
        self.dangling_calls = pairing.dangling().map(OpenCall::of).collect();
        self.incomplete_calls = pairing.incomplete().map(OpenCall::of).collect();
        let open_calls = !self.dangling_calls.is_empty() || !self.incomplete_calls.is_empty();
        self.last_turn_interrupted = open_calls || state.leaf().is_some_and(leaves_turn_open);
        self.original_ids = self.named_ids().filter_map(|id| original_id(state, id)).collect();
    }

    /// The events that this report names.
    fn named_ids(&self) -> impl Iterator<Item = Uuid> {
        let calls = self.dangling_calls.iter().chain(&self.incomplete_calls).map(|call| call.message);
        let parents = self.missing_parents.iter().flat_map(|missing| [Some(missing.event), missing.hung_on]);
        calls.chain(parents.flatten()).chain(self.leaf).chain(self.boundary)
    }

    fn empty(session: Uuid, path: PathBuf) -> Self {
        Self {
            session,
            path,
            open: Opened::Clean,
            cut_events: 0,
            cut_bytes: 0,
            zero_bytes: 0,
            set_aside: Vec::new(),
            damage: Vec::new(),
            replay_start: 0,
            events_replayed: 0,
            boundary: None,
            leaf: None,
            missing_kept: Vec::new(),
            missing_parents: Vec::new(),
            dangling_calls: Vec::new(),
            incomplete_calls: Vec::new(),
            last_turn_interrupted: false,
            original_ids: BTreeMap::new(),
        }
    }
}

fn original_id(state: &State, id: Uuid) -> Option<(Uuid, String)> {
    Some((id, state.entry(id)?.event.original_id.clone()?))
}

/// Whether a session that ends with this message waits for the model: a question or a result without an answer, or an
/// answer whose stream had not ended.
fn leaves_turn_open(leaf: &Entry) -> bool {
    let Some(message) = leaf.event.message() else { return false };
    match message.role {
        Role::Tool => true,
        Role::User => matches!(message.kind, Kind::UserInput | Kind::ToolResult) && !message.metadata.synthetic,
        Role::Assistant => message.stop_reason == StopReason::StreamOpen,
        Role::System => false,
    }
}

impl Range {
    pub(super) fn of(range: &SetAside) -> Self {
        use crate::log::Cause;
        let cause = match range.cause {
            Cause::UnsyncedHole => "unsyncedHole",
            Cause::IncompleteBatch => "incompleteBatch",
            _ => "tornTail",
        };
        Self { offset: range.offset, len: range.len, cause: cause.into(), events: range.ids.clone() }
    }
}

impl DamagedRange {
    /// Damage as an open or a walk over the log tells it.
    #[must_use]
    pub fn of(damage: &Damage) -> Self {
        Self { offset: damage.offset, len: damage.len, what: damage.to_string() }
    }
}

impl MissingParent {
    fn of(entry: &Entry) -> Option<Self> {
        let named = entry.event.original_parent.clone()?;
        Some(Self { event: entry.event.id, named, hung_on: entry.event.effective_parent() })
    }
}

impl OpenCall {
    fn of(call: &PairedCall<'_>) -> Self {
        let started = call.started.and_then(|entry| match &entry.event.body {
            crate::event::Body::ToolStarted(started) => Some(started),
            _ => None,
        });
        let state = match (call.call.incomplete, started.is_some(), call.approval) {
            (true, ..) => CallState::Incomplete,
            (false, true, _) => CallState::StartedOutcomeUnknown,
            (false, false, Approval::Waiting) => CallState::WaitingForApproval,
            (false, false, Approval::Denied) => CallState::Denied,
            (false, false, Approval::Approved) => CallState::ApprovedNotStarted,
            (false, false, Approval::NotAsked) => CallState::NotStarted,
        };
        Self {
            message: call.message.event.id,
            call_id: call.call.id.clone(),
            name: call.call.name.clone(),
            state,
            idempotency_key: started.and_then(|started| started.idempotency_key.clone()),
        }
    }
}
