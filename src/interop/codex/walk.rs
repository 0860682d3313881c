//! A file gone through once, in its order: each record becomes an event, and changes what the model sees.
//!
//! Nothing is decided by what comes later, so a file that has grown gives the old events again.

use std::collections::BTreeMap;

use super::contextual::texts;
use super::convert::{Maker, NEVER_SENT, convert, told};
use super::file::{Entry, File};
use super::history::{History, Node};
use super::item::{Item, call_id, content, text};
use super::meta::Folded;
use super::record::{Record, Type};
use super::report::{Rollback, code};
use super::usage::Counter;
use crate::event::{Extension, Fields, Message, Uuid, Value, foreign_id};
use crate::interop::found::Warning;
use crate::interop::work::Work;
use crate::interop::{Incoming, IncomingBody, IncomingParent};

/// So many messages all compactions of a file may keep that name none themselves, and so many more for each record
/// before the compaction: a list of all that was said, again and again, would grow with the square of the file.
const KEPT_BEFORE: usize = 4096;
const KEPT_PER_RECORD: usize = 8;

/// What names the events that are made of no item.
pub(super) const PREFIX: &str = "codex";

/// Who made items where nothing else is said.
const PROVIDER: &str = "openai";

/// Events that are known; what they tell is in other records.
const KNOWN_EVENTS: [&str; 56] = [
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "entered_review_mode",
    "error",
    "exec_command_begin",
    "exec_command_end",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_update",
    "session_configured",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "token_count",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "turn_started",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

/// A file on its way to events.
#[derive(Debug)]
pub(super) struct Walk {
    /// Each with its line.
    pub(super) events: Vec<(u64, Incoming)>,
    pub(super) history: History,
    pub(super) folded: Folded,
    pub(super) usage: Counter,
    pub(super) kinds: BTreeMap<String, usize>,
    pub(super) unknown: BTreeMap<String, usize>,
    pub(super) rollbacks: Vec<Rollback>,
    pub(super) compactions: Vec<String>,
    pub(super) warnings: Vec<Warning>,
    maker: Maker,
    /// The last time that a record named.
    at: i64,
    /// The event that the model made last, until something else is told of what it cost.
    made_last: Option<String>,
    /// The first of the calls that stand one behind the other at the end: all are of one answer, and run side by side.
    calls_of: Option<String>,
    /// How many names compactions may still keep, so that they grow no faster than the file.
    pub(super) keep_max: usize,
    /// The number that the next record must have where records are numbered.
    ordinal: Option<u64>,
}

impl Walk {
    pub(super) fn new(warnings: Vec<Warning>) -> Self {
        Self {
            events: Vec::new(),
            history: History::default(),
            folded: Folded::default(),
            usage: Counter::default(),
            kinds: BTreeMap::new(),
            unknown: BTreeMap::new(),
            rollbacks: Vec::new(),
            compactions: Vec::new(),
            warnings,
            maker: Maker { provider: PROVIDER.to_owned(), model: None },
            at: 0,
            made_last: None,
            calls_of: None,
            keep_max: KEPT_BEFORE,
            ordinal: None,
        }
    }

    pub(super) fn through(&mut self, file: &mut File, work: &mut Work) {
        for entry in std::mem::take(&mut file.entries) {
            work.step();
            match entry {
                Entry::Record(record) => self.take(record, work),
                Entry::Loose { line, place, value } => self.beside(line, place, "unplaced", value),
            }
        }
        if self.folded.count == 0 {
            self.warn(code::NO_SESSION, 0, "no record says whose session it is".to_owned());
        }
        if let Some((line, meta)) = self.folded.session_meta() {
            let id = format!("{PREFIX}.meta:L{line}");
            self.event(line, id, None, IncomingBody::SessionMeta(meta), Fields::new());
        }
    }

    fn take(&mut self, record: Record, work: &mut Work) {
        self.keep_max = self.keep_max.saturating_add(KEPT_PER_RECORD);
        self.at = record.at.unwrap_or(self.at);
        *self.kinds.entry(record.name.clone()).or_default() += 1;
        self.check_ordinal(&record);
        let line = record.line;
        match record.kind {
            Type::Item(item) if item.is_seen() => return self.item(record, item),
            Type::Compacted => return self.compacted(record, work),
            Type::Communication => return self.communication(record),
            Type::Item(Item::Unknown) | Type::Unknown => self.note_unknown(&record.name, line),
            Type::Item(_) | Type::Beside => {}
            Type::Meta => {
                let is_first = self.folded.count == 0;
                self.folded.session(line, record.payload());
                if is_first {
                    self.check_mode(&record);
                }
                if let Some(provider) = &self.folded.provider {
                    self.maker.provider.clone_from(provider);
                }
            }
            Type::Settings => {
                // What follows is the answer to another request.
                self.calls_of = None;
                self.folded.settings(line, record.payload());
                self.maker.model.clone_from(&self.folded.model);
            }
            Type::Event => return self.told(record),
        }
        let (place, name) = (record.place.clone(), record.name.clone());
        self.beside(line, place, &name, record.into_value());
    }

    /// An item that the model sees.
    fn item(&mut self, record: Record, item: Item) {
        let (line, place) = (record.line, record.place.clone());
        let (payload, extra) = record.split();
        let value = Value::Map(payload);
        let node = node(item, &value, place.clone(), place);
        if node.is_persons {
            self.folded.said(line, texts(content(&value)));
        }
        if item.is_the_models(&value) {
            self.made_last = Some(node.name.clone());
        }
        let mut message = convert(item, value, &self.maker);
        self.join_calls(item, &mut message, &node.name);
        self.put(line, message, extra, node, false);
    }

    /// Calls that stand one behind the other are one answer: the program writes all of them before any output of theirs.
    fn join_calls(&mut self, item: Item, message: &mut Message, name: &str) {
        match item {
            Item::Call(_) => message.message_id = Some(self.calls_of.get_or_insert_with(|| name.to_owned()).clone()),
            _ => self.calls_of = None,
        }
    }

    /// A message between agents that stands in a form of its own.
    fn communication(&mut self, record: Record) {
        let (line, place, name) = (record.line, record.place.clone(), record.name.clone());
        let (payload, extra) = record.split();
        let value = Value::Map(payload);
        let node = Node { kind: name, begins_a_turn: true, name: place.clone(), id: place, ..Node::default() };
        self.calls_of = None;
        self.put(line, convert(Item::AgentMessage, value, &self.maker), extra, node, false);
    }

    /// Puts a message behind the last item; `is_left` if a compaction left it.
    pub(super) fn put(&mut self, line: u64, mut message: Message, extra: Fields, mut node: Node, is_left: bool) {
        message.extra.extend(extra);
        node.event = self.events.len();
        let parent = self.history.top().map(str::to_owned);
        let body = IncomingBody::Message(Box::new(message));
        self.event(line, node.name.clone(), Some(parent), body, Fields::new());
        self.history.push(node, is_left);
    }

    /// An item of a compaction's list, for which no record stands.
    pub(super) fn left(&mut self, line: u64, item: Item, value: Value, node: Node, is_known: bool) {
        let mut message = convert(item, value, &self.maker);
        self.join_calls(item, &mut message, &node.name);
        // It stands in the transcript already, where it was said.
        message.metadata.visible_in_transcript = !is_known;
        self.put(line, message, Fields::new(), node, true);
    }

    /// An item of a compaction's list that is its summary, which stands there already.
    pub(super) fn left_as_summary(&mut self, mut node: Node) {
        node.event = self.events.len().saturating_sub(1);
        self.history.push(node, true);
    }

    /// Adds an event. What hangs on nothing in particular hangs on the leaf.
    pub(super) fn event(
        &mut self,
        line: u64,
        id: String,
        parent: Option<Option<String>>,
        body: IncomingBody,
        extra: Fields,
    ) {
        let parent = match parent {
            None => IncomingParent::Leaf,
            Some(None) => IncomingParent::Root,
            Some(Some(name)) => IncomingParent::Id(name),
        };
        let event = Incoming { id: Some(id), parent, at: Some(self.at), extra, ..Incoming::new(body) };
        self.events.push((line, event));
    }

    /// What the model does not see, kept as it is.
    pub(super) fn beside(&mut self, line: u64, place: String, name: &str, payload: Value) {
        let body = IncomingBody::Extension(Extension { name: format!("{PREFIX}.{name}"), payload });
        self.event(line, place, None, body, Fields::new());
    }

    /// What the program told its screen. Most of it stands in items too; the rest says where turns begin and end.
    fn told(&mut self, record: Record) {
        let (line, place, name) = (record.line, record.place.clone(), record.name.clone());
        let event = name.split_once('/').map_or("", |(_, event)| event);
        match event {
            "task_started" | "turn_started" => self.turn(true),
            "task_complete" | "turn_complete" | "turn_aborted" => self.turn(false),
            "thread_name_updated" => self.folded.named(line, record.payload()),
            "error" | "token_count" | "thread_rolled_back" => {}
            _ if KNOWN_EVENTS.contains(&event) => {}
            _ => self.note_unknown(&name, line),
        }
        let level = match event {
            "turn_aborted" => None,
            "error" => Some("error"),
            _ => {
                let tokens = if event == "token_count" { self.usage.add(record.payload()) } else { None };
                if tokens.is_some() {
                    self.calls_of = None;
                }
                let turns = turns_of(record.payload(), event);
                self.beside(line, place.clone(), &name, record.into_value());
                if let Some((tokens, target)) = tokens.and_then(|tokens| Some((tokens, self.made_last.take()?))) {
                    let body = IncomingBody::Amend { target, patch: tokens.as_patch() };
                    self.event(line, format!("{place}.usage"), None, body, Fields::new());
                }
                if let Some(turns) = turns {
                    self.forget_made_last();
                    self.roll_back(line, &place, turns);
                }
                return;
            }
        };
        let (payload, extra) = record.split();
        let mut message = told(event, level, Value::Map(payload));
        message.extra.extend(extra);
        let parent = self.history.top().map(str::to_owned);
        self.event(line, place, Some(parent), IncomingBody::Message(Box::new(message)), Fields::new());
    }

    /// No request that is told of from now on gave what stands before.
    pub(super) fn forget_made_last(&mut self) {
        self.made_last = None;
        self.calls_of = None;
    }

    fn turn(&mut self, begins: bool) {
        self.calls_of = None;
        self.history.turn(begins);
    }

    fn check_mode(&mut self, record: &Record) {
        let mode = text(record.payload(), "history_mode").unwrap_or("legacy");
        if !["legacy", "paginated"].contains(&mode) {
            let text = format!("its history is of mode `{mode}`, which the program may read in another way");
            self.warn(code::HISTORY_MODE, record.line, text);
        }
    }

    /// Where records are numbered, a number that is left out means a record that is lost.
    fn check_ordinal(&mut self, record: &Record) {
        let Some(found) = record.ordinal() else { return };
        if let Some(expected) = self.ordinal
            && expected != found
        {
            self.warn(code::ORDINAL, record.line, format!("record {found} stands where {expected} should"));
        }
        self.ordinal = found.checked_add(1);
    }

    fn note_unknown(&mut self, name: &str, line: u64) {
        let count = self.unknown.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 {
            self.warn(
                code::UNKNOWN_TYPE,
                line,
                format!("type `{name}` is not known; its records are kept as they are"),
            );
        }
    }

    pub(super) fn warn(&mut self, code: &'static str, line: u64, text: String) {
        self.warnings.push(Warning { code, line, text });
    }
}

/// How many turns an event takes back, if it does.
fn turns_of(payload: &Value, event: &str) -> Option<u64> {
    let count = (event == "thread_rolled_back").then(|| payload.get("num_turns")?.as_i64()).flatten()?;
    u64::try_from(count).ok()
}

/// What the history must know of an item.
pub(super) fn node(item: Item, value: &Value, name: String, id: String) -> Node {
    let named = |family| Some((family, call_id(value)?.to_owned()));
    let (call, output) = match item {
        Item::Call(family) => (named(family), None),
        Item::Output(family) => (None, named(family)),
        _ => (None, None),
    };
    Node {
        name,
        id,
        kind: text(value, "type").unwrap_or_default().to_owned(),
        role: (item == Item::Message).then(|| text(value, "role").unwrap_or_default().to_owned()),
        begins_a_turn: item.begins_a_turn(value),
        is_contextual: item.is_contextual(value),
        is_persons: item.is_persons(value),
        call,
        output,
        content: matches!(item, Item::Message | Item::Reasoning | Item::Call(_) | Item::Output(_)).then(|| said(value)),
        ..Node::default()
    }
}

/// What a message says, as one number: all of it but what is never sent.
fn said(value: &Value) -> Uuid {
    let is_sent = |(name, value): &&(String, Value)| name != NEVER_SENT && *value != Value::Null;
    let mut fields: Vec<&(String, Value)> = value.as_map().unwrap_or_default().iter().filter(is_sent).collect();
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    let text = serde_json::to_string(&fields).unwrap_or_default();
    foreign_id(PREFIX, "content", &text, 1)
}
