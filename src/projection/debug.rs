//! The debug view: every event of the file, with what becomes of it elsewhere.

use super::diagnostics::{Diagnostics, code};
use super::document::to_json;
use super::message::ProjectedMessage;
use super::options::Options;
use super::shared::Shared;
use super::standing::Standings;
use super::{Projection, View};
use crate::event::{Body, Kind, Part, Role, SystemEvent, Uuid, Value};
use crate::session::{Entry, State};

/// Shows each event that the state holds, in the order of the file. The notes of each say where it hangs, what changed
/// it, and how every other view treats it.
pub(super) fn project(state: &State, options: &Options) -> Projection {
    let standings = Standings::of(state, options);
    let messages = state.entries().iter().map(|entry| message(&standings, entry)).collect();
    Projection { messages, diagnostics: Diagnostics::default() }
}

/// One event as the debug view shows it.
pub(super) fn message(standings: &Standings<'_>, entry: &Entry) -> ProjectedMessage {
    let event = &entry.event;
    let recorded = event
        .message()
        .and_then(|message| ProjectedMessage::of(View::Debug, event, message.role, Shared::parts_of(event).collect()));
    let mut projected = recorded.unwrap_or_else(|| made(entry));
    let shown_in =
        |wanted: View| standings.views.iter().any(|seen| seen.view == wanted && !seen.shown(event.id).is_empty());
    let model_said =
        |code| standings.views.iter().any(|seen| seen.view == View::Model && seen.has_said(event.id, code));
    let flags = &mut projected.metadata;
    flags.hidden_from_transcript = !shown_in(View::Transcript);
    flags.hidden_from_model = !shown_in(View::Model);
    flags.truncated = model_said(code::RESULT_TRUNCATED);
    flags.compacted = model_said(code::RESULT_CLEARED);
    flags.notes = notes(standings, entry);
    projected
}

fn notes(standings: &Standings<'_>, entry: &Entry) -> Vec<String> {
    let mut notes = vec![where_it_is(standings, entry)];
    let hanging = standings.hanging(entry);
    let hung_on = hanging.hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
    match (hanging.reason, hanging.named) {
        (None, _) => notes.push(format!("hangs on {hung_on}")),
        (Some(reason), None) => notes.push(format!("hangs on {hung_on}: {reason}")),
        (Some(reason), Some(named)) => notes.push(format!("hangs on {hung_on}, not on {named}: {reason}")),
    }
    if entry.event.off_chain {
        notes.push("does not move the leaf: its call was not on the chain when it came".to_owned());
    }
    notes.extend(changes(standings.state, entry).map(|(id, change)| format!("{} {id}", change.words())));
    if entry.event.message().is_none() {
        // That no other view shows it goes without saying.
        return notes;
    }
    for seen in &standings.views {
        let name = seen.view.name();
        let is_shown = !seen.shown(entry.event.id).is_empty();
        let mut said = seen.said(entry.event.id).peekable();
        if !is_shown && said.peek().is_none() {
            let (code, reason) = standings.why_absent(entry, seen);
            notes.push(format!("{name}: hidden ({code}): {reason}"));
        }
        for item in said {
            let how = if is_shown { "shown" } else { "hidden" };
            let call = item.call.as_ref().map_or_else(String::new, |call| format!(" [{call}]"));
            notes.push(format!("{name}: {how} ({}){call}: {}", item.code, item.reason));
        }
    }
    notes
}

fn where_it_is(standings: &Standings<'_>, entry: &Entry) -> String {
    let side = if entry.takes_part() { "on" } else { "beside" };
    match (entry.event.message(), standings.is_on_chain(entry), standings.branch(entry)) {
        (None, ..) => "no message: it takes no part in the chain".to_owned(),
        (_, true, _) => format!("{side} the current chain"),
        (_, false, Some(leaf)) => format!("{side} the branch that ends at {leaf}"),
        (_, false, None) => "on no branch: nothing living is below it".to_owned(),
    }
}

/// What changed an event, in the order of the file: the change's id, and what it did.
pub(super) fn changes<'a>(state: &'a State, entry: &'a Entry) -> impl Iterator<Item = (Uuid, Change)> + 'a {
    entry.changes.iter().map(|changed| {
        let change = match state.entry(changed.id).map(|entry| &entry.event.body) {
            _ if entry.refused_amends.contains(&changed.id) => Change::RefusedAmend,
            Some(Body::Tombstone(_)) => Change::Tombstone,
            Some(Body::Prune(_)) => Change::Prune,
            Some(Body::Amend(_)) => Change::Amend,
            // A change that a boundary names need not be held.
            _ if entry.tombstone == Some(changed.id) => Change::Tombstone,
            _ => Change::NotHeld,
        };
        (changed.id, change)
    })
}

/// What changes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Tombstone,
    Prune,
    Amend,
    /// An amend whose patch does not fit.
    RefusedAmend,
    /// One that lies before what is held here.
    NotHeld,
}

impl Change {
    fn words(self) -> &'static str {
        match self {
            Self::Tombstone => "taken back by",
            Self::Prune => "pruned by",
            Self::Amend => "amended by",
            Self::RefusedAmend => "not amended, since the patch does not fit, by",
            Self::NotHeld => "changed by",
        }
    }
}

/// An event that is no message, as one with a text that says what it does.
fn made(entry: &Entry) -> ProjectedMessage {
    let event = &entry.event;
    let subtype = event.body.type_name().to_owned();
    let kind = Kind::SystemEvent(SystemEvent { subtype, ..SystemEvent::default() });
    let content = vec![Part::text(said(&event.body))];
    ProjectedMessage {
        id: event.id,
        source_message_ids: vec![event.id],
        original_ids: event.original_id.iter().cloned().collect(),
        at: event.at,
        ..ProjectedMessage::made(View::Debug, Role::System, kind, content)
    }
}

fn said(body: &Body) -> String {
    let ids = |ids: &[Uuid]| ids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
    match body {
        Body::Message(_) => String::new(),
        Body::Tombstone(tombstone) => {
            let reason = tombstone.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
            format!("takes back {}{reason}", ids(&tombstone.targets))
        }
        Body::Amend(amend) => format!("amends {} with {}", amend.target, to_json(&Value::Map(amend.patch.clone()))),
        Body::Prune(prune) => format!("clears for the model the results in {}", ids(&prune.targets)),
        Body::Head(head) => match head.leaf {
            Some(leaf) => format!("moves the leaf to {leaf}"),
            None => "moves the leaf to before the first message".to_owned(),
        },
        Body::ToolStarted(started) => {
            let key = started.idempotency_key.as_ref().map_or_else(String::new, |key| format!(", its key is {key}"));
            format!("the tool of call [{}] is about to run{key}", started.call_id)
        }
        Body::SessionMeta(meta) => {
            let texts = [("title", &meta.title), ("cwd", &meta.cwd), ("model", &meta.model), ("agent", &meta.agent)];
            let mut lines: Vec<String> =
                texts.into_iter().filter_map(|(name, text)| Some(format!("{name}: {}", text.as_ref()?))).collect();
            if !meta.tags.is_empty() {
                lines.push(format!("tags: {}", meta.tags.join(", ")));
            }
            lines.extend(meta.extra.iter().map(|(name, value)| format!("{name}: {}", to_json(value))));
            if lines.is_empty() { "the session's description is cleared".to_owned() } else { lines.join("\n") }
        }
        Body::Extension(extension) => format!("{}: {}", extension.name, to_json(&extension.payload)),
        Body::Unknown(unknown) => {
            let fields = to_json(&Value::Map(unknown.fields.clone()));
            match &unknown.kind {
                Some(kind) => format!("a message of kind {kind}, which this version does not know: {fields}"),
                None => format!("an event of type {}, which this version does not know: {fields}", unknown.event_type),
            }
        }
    }
}
