//! A session as its writers need it: what hangs on what once all that is not written is taken out.

use std::collections::{HashMap, HashSet};

use super::fields::field;
use super::leaving_names::ToolNames;
use super::leaving_told::{Agent, Told, lost};
use super::{claude_code, codex, pi};
use crate::event::{Body, Event, Kind, Message, Part, PartBody, SessionMeta, Uuid, Value, foreign_id};
use crate::projection::{Options, inside_card};
use crate::session::{Entry, SessionReader, State};

/// The format under which ids are made for events that are appended by another's ids.
const APPENDED: &str = "events";

/// How many events of one id may be missing before one of them.
const NTH_MISSED: u32 = 4;

/// A session on its way out.
pub(super) struct Source<'a> {
    pub(super) state: &'a State,
    reader: &'a SessionReader,
    /// The agent whose file it came from.
    pub(super) origin: Option<Agent>,
    by_name: HashMap<&'a str, usize>,
    /// For each event the id that it had in the file from which a reader of an agent's made it.
    names: Vec<Option<&'a str>>,
    /// How tools are called where a provider would refuse their names.
    pub(super) tools: ToolNames,
}

impl<'a> Source<'a> {
    pub(super) fn new(reader: &'a SessionReader, state: &'a State) -> Self {
        let origin = state.entries().iter().find_map(|entry| origin_of(&entry.event));
        let mut names = names_read(reader, state, origin);
        if origin == Some(Agent::Codex) {
            // Its reader names an event by its place.
            let is_place = |name: &&str| name.strip_prefix('L').is_some_and(|rest| rest.starts_with(is_digit));
            for (name, entry) in names.iter_mut().zip(state.entries()) {
                *name = name.filter(|name| entry.event.message().is_none() || is_place(name));
            }
        }
        let by_name = names.iter().enumerate().filter_map(|(index, name)| Some(((*name)?, index))).collect();
        let messages = state.entries().iter().filter_map(|entry| entry.event.message());
        let tools = ToolNames::of(messages.flat_map(Message::calls).map(|call| call.name.as_str()));
        Self { state, reader, origin, by_name, names, tools }
    }

    pub(super) fn id(&self) -> Uuid {
        self.reader.id()
    }

    pub(super) fn created_at(&self) -> i64 {
        self.reader.info().created_at
    }

    /// The session that it was forked from.
    pub(super) fn forked_from(&self) -> Option<Uuid> {
        self.reader.info().parent.map(|parent| parent.log)
    }

    pub(super) fn meta(&self) -> &SessionMeta {
        self.state.meta()
    }

    /// A text that the session's meta keeps under this name.
    pub(super) fn noted(&self, name: &str) -> Option<&str> {
        field(&self.meta().extra, name).and_then(Value::as_text)
    }

    pub(super) fn len(&self) -> usize {
        self.state.entries().len()
    }

    pub(super) fn entry(&self, index: usize) -> &'a Entry {
        &self.state.entries()[index]
    }

    pub(super) fn event(&self, index: usize) -> &'a Event {
        &self.entry(index).event
    }

    /// The id that the event had in the file that it was read from; none: it is not from there, whatever id it was
    /// given.
    pub(super) fn name(&self, index: usize) -> Option<&'a str> {
        self.names[index]
    }

    /// When the first message that says so was written, else when the session was.
    pub(super) fn begun_at(&self) -> i64 {
        let messages = self.state.entries().iter().filter(|entry| entry.event.message().is_some());
        messages.map(|entry| entry.event.at).min().unwrap_or(self.created_at())
    }

    pub(super) fn place(&self, id: Uuid) -> Option<usize> {
        self.state.index_of(id)
    }

    /// The last event that had this id where it came from.
    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The event that had this id in its file, be that an id of its own or the one that it has here too.
    pub(super) fn of_file(&self, name: &str) -> Option<usize> {
        self.named(name).or_else(|| self.place(Uuid::try_parse(name).ok()?))
    }

    /// The message, if it is one that was not taken back.
    pub(super) fn message(&self, index: usize) -> Option<&'a Message> {
        self.state.entries()[index].event.message().filter(|_| self.entry(index).is_living())
    }

    /// The event as it was recorded, before any amend, if it is one of this session's own log.
    pub(super) fn recorded(&self, id: Uuid) -> Option<Event> {
        self.reader.event(id).ok().flatten()
    }

    /// The boundary and summary of a whole compaction, given the boundary.
    pub(super) fn summary(&self, index: usize) -> Option<usize> {
        let entry = self.entry(index);
        let partner = self.state.compaction_partner(entry).filter(|partner| partner.is_living())?;
        (entry.is_boundary() && entry.is_living()).then(|| self.place(partner.event.id)).flatten()
    }

    /// Messages of a compaction of Codex's that say for the model what its summary says for people. Where a program's model
    /// reads the summary too, it stands there once.
    pub(super) fn summaries_again(&self) -> HashSet<usize> {
        let mut again = HashSet::new();
        for index in 0..self.len() {
            let Some(name) = self.name(index).filter(|_| self.origin == Some(Agent::Codex)) else { continue };
            let Some(summary) = self.summary(index) else { continue };
            let Some(said) = self.message(summary).filter(|said| !said.metadata.eligible_for_model_context) else {
                continue;
            };
            let is_left =
                |of: &str| of.strip_prefix(name).is_some_and(|rest| rest == ".message" || rest.starts_with('#'));
            let of_list = (index + 1..self.len()).take_while(|&at| at == summary || self.name(at).is_some_and(is_left));
            again.extend(of_list.filter(|&at| {
                let message = self.message(at).filter(|message| message.kind == Kind::UserInput);
                message.is_some_and(|message| message.content.len() == 1 && message.joined_text() == said.joined_text())
            }));
        }
        again
    }

    /// The other half of a compaction.
    pub(super) fn partner(&self, index: usize) -> Option<usize> {
        self.place(self.state.compaction_partner(self.entry(index))?.event.id)
    }

    /// The message on which this result of that call waits.
    pub(super) fn holder(&self, index: usize, call_id: &str) -> Option<usize> {
        self.state.holder_for(call_id, self.event(index).message()?, index)
    }

    /// The message without the results whose calls are taken back or left out, as `is_there` says of a message and a call
    /// of it. A result whose call was never there stays. None: nothing is left out.
    pub(super) fn without_lost(&self, index: usize, is_there: impl Fn(usize, &str) -> bool) -> Option<Message> {
        let message = self.message(index)?;
        let is_lost = |part: &Part| {
            let result = part.as_tool_result();
            let held = result.and_then(|result| Some((self.holder(index, &result.call_id)?, &result.call_id)));
            held.is_some_and(|(holder, call)| !is_there(holder, call))
        };
        let content: Vec<Part> = message.content.iter().filter(|part| !is_lost(part)).cloned().collect();
        (content.len() < message.content.len()).then(|| Message { content, ..message.clone() })
    }

    pub(super) fn leaf(&self) -> Option<usize> {
        self.place(self.state.leaf()?.event.id)
    }

    /// For each event the nearest one above it that is written.
    pub(super) fn above(&self, written: &[bool]) -> Vec<Option<usize>> {
        let mut above: Vec<Option<usize>> = Vec::with_capacity(self.len());
        for entry in self.state.entries() {
            let anchor = self.state.anchor(entry).and_then(|anchor| self.place(anchor.event.id));
            let anchor = anchor.filter(|&anchor| anchor < above.len());
            above.push(anchor.and_then(|anchor| if written[anchor] { Some(anchor) } else { above[anchor] }));
        }
        above
    }

    /// Whether this boundary is that of the last compaction of the conversation, behind which the model sees what it kept.
    pub(super) fn is_last_boundary(&self, index: usize) -> bool {
        self.state.boundary().is_some_and(|boundary| boundary.event.id == self.event(index).id)
    }

    pub(super) fn tell_of_dead(&self, told: &mut Told) {
        for entry in self.state.entries().iter().filter(|entry| !entry.is_living()) {
            told.note(lost::TOMBSTONED, entry.event.id);
        }
    }

    /// Tells of what a file says of no session.
    pub(super) fn tell_of_meta(&self, meta: &SessionMeta, id: Uuid, told: &mut Told) {
        if !meta.tags.is_empty() {
            told.note(lost::TAGS, id);
        }
    }

    /// The name of the session's agent, where it is more than that of the program.
    pub(super) fn agent(&self) -> Option<&str> {
        let is_a_programs = |name: &&str| [claude_code::FORMAT, codex::FORMAT, pi::FORMAT].contains(name);
        self.meta().agent.as_deref().filter(|name| !name.is_empty() && !is_a_programs(name))
    }

    /// Tells of a model that no answer names.
    pub(super) fn tell_of_settings(&self, told: &mut Told) {
        let is_named = || (0..self.len()).any(|index| self.model(index).is_some());
        if let Some(last) = self.last_meta().filter(|_| self.meta().model.is_some() && !is_named()) {
            told.note(lost::SESSION_MODEL, last);
        }
    }

    /// Tells that the session has no folder, if it has none and the file is to name one.
    pub(super) fn tell_of_no_folder(&self, told: &mut Told) {
        if let Some(first) = self.state.entries().first().filter(|_| self.meta().cwd.is_none()) {
            told.note(lost::FOLDER, first.event.id);
        }
    }

    fn last_meta(&self) -> Option<Uuid> {
        let last = self.state.entries().iter().rfind(|entry| matches!(entry.event.body, Body::SessionMeta(_)));
        last.map(|entry| entry.event.id)
    }

    /// The model that made a message.
    pub(super) fn model(&self, index: usize) -> Option<&'a str> {
        self.message(index)?.model.as_deref()
    }

    /// Tells of an agent whose name the format has no place for.
    pub(super) fn tell_of_agent(&self, told: &mut Told) {
        if let Some(last) = self.last_meta().filter(|_| self.agent().is_some()) {
            told.note(lost::AGENT, last);
        }
    }

    /// Tells of what no other agent's file has a place for: all that is no message.
    pub(super) fn tell_of_records(&self, told: &mut Told) {
        for entry in self.state.entries() {
            let id = entry.event.id;
            match &entry.event.body {
                Body::ToolStarted(_) => told.note(lost::STARTED, id),
                Body::Extension(extension) if extension.name.ends_with(".unplaced") => told.note(lost::UNPLACED, id),
                Body::Extension(_) | Body::Unknown(_) => told.note(lost::RECORDS, id),
                Body::Prune(_) => told.note(lost::PRUNES, id),
                Body::Amend(_) => told.note(lost::AMENDS, id),
                Body::SessionMeta(meta) => self.tell_of_meta(meta, id, told),
                _ => {}
            }
        }
    }
}

/// The ids that a reader gave: what was appended by an id that is none of ours has one that follows from that too, but in
/// another way.
fn names_read<'a>(reader: &SessionReader, state: &'a State, origin: Option<Agent>) -> Vec<Option<&'a str>> {
    let sessions = [Some(reader.id()), reader.info().parent.map(|parent| parent.log)];
    let sessions: Vec<String> = sessions.into_iter().flatten().map(|id| id.to_string()).collect();
    let format = match origin {
        Some(Agent::ClaudeCode) => claude_code::FORMAT,
        Some(Agent::Codex) => codex::FORMAT,
        Some(Agent::Pi) => pi::FORMAT,
        None => return vec![None; state.entries().len()],
    };
    // An import mostly goes by the session's own id. Where it did, its events can be told from all others.
    let is_readers = |entry: &&Entry| origin_of(&entry.event).is_some() && entry.event.original_id.is_some();
    let readers = state.entries().iter().find(is_readers).map(|entry| &entry.event);
    let key = readers.and_then(|event| {
        let name = event.original_id.as_deref()?;
        sessions.iter().find(|key| foreign_id(format, key, name, 1) == event.id)
    });
    // Of one name the first, the second and so on: each is looked for where it has to come.
    let mut next: HashMap<(usize, &str), u32> = HashMap::new();
    let mut is_made = |format: &str, place: usize, key: &str, name: &'a str, id: Uuid| {
        let next = next.entry((place, name)).or_insert(1);
        // A few may have been taken out.
        let nth = (*next..next.saturating_add(NTH_MISSED)).find(|nth| foreign_id(format, key, name, *nth) == id);
        *next = nth.map_or(*next, |nth| nth + 1);
        nth.is_some()
    };
    let mut name_of = |event: &'a Event| {
        let name = event.original_id.as_deref().filter(|_| event.id.get_version_num() == 5)?;
        let is_read = match key {
            Some(key) => is_made(format, sessions.len(), key, name, event.id),
            None => !sessions.iter().enumerate().any(|(place, key)| is_made(APPENDED, place, key, name, event.id)),
        };
        is_read.then_some(name)
    };
    state.entries().iter().map(|entry| name_of(&entry.event)).collect()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The session's name in a file, which is part of a path and of a command: one that could be more is made anew, as an
/// import makes it.
pub(super) fn safe_name(format: &str, name: &str) -> String {
    match is_safe_name(name) {
        true => name.to_owned(),
        false => foreign_id(format, "session", name, 1).to_string(),
    }
}

pub(super) fn is_safe_name(name: &str) -> bool {
    const LEN_MAX: usize = 128;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name.len() <= LEN_MAX && !name.starts_with(['.', '-']) && name.chars().all(is_plain)
}

/// The id of a session in another agent's file: its own, so that what is said there comes back as a session beside it.
pub(super) fn exported_id(format: &str, session: Uuid) -> Uuid {
    foreign_id(format, "exported", &session.to_string(), 1)
}

/// The agent whose reader made the event, where that can be seen.
fn origin_of(event: &Event) -> Option<Agent> {
    let name = match &event.body {
        Body::Extension(extension) => extension.name.as_str(),
        Body::SessionMeta(_) => event.original_id.as_deref()?,
        _ => return None,
    };
    let (format, _) = name.split_once('.')?;
    match format {
        "claude_code" => Some(Agent::ClaudeCode),
        "codex" => Some(Agent::Codex),
        "pi" => Some(Agent::Pi),
        _ => None,
    }
}

/// Why a message is written nowhere; none: it is, as far as its parts are. What the model's view leaves out, the next model is not
/// to read either. The halves of a compaction are the writers' own business.
pub(super) fn left_out(message: &Message) -> Option<lost::Lost> {
    let is_approval =
        |part: &Part| matches!(part.body, PartBody::ToolApprovalRequest(_) | PartBody::ToolApprovalResponse(_));
    match &message.kind {
        _ if message.metadata.sidechain => Some(lost::SIDECHAINS),
        Kind::Progress(_) | Kind::SystemEvent(_) | Kind::ToolUseSummary(_) => Some(lost::SIDE_RECORDS),
        Kind::ToolApprovalRequest | Kind::ToolApprovalResponse if message.content.iter().all(is_approval) => {
            Some(lost::APPROVALS)
        }
        Kind::CompactBoundary(_) | Kind::CompactSummary(_) => None,
        _ => inside_card(message, &Options::default()).is_err().then_some(lost::HIDDEN),
    }
}

/// Whether people are not to see what the model sees.
pub(super) fn is_hidden(message: &Message) -> bool {
    message.metadata.meta || !message.metadata.visible_in_transcript
}

/// The id of a call as providers take it: the same for the same id. `prefix` begins one that is made anew.
pub(super) fn call_id(id: &str, prefix: &str) -> Option<String> {
    const LEN_MAX: usize = 64;
    let is_taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_fine = !id.is_empty() && id.len() <= LEN_MAX && id.chars().all(is_taken);
    (!is_fine).then(|| format!("{prefix}{}", foreign_id("calls", "", id, 1).simple()))
}
