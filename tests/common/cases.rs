//! Reads the case files of `tests/data/cases` and tells their events to a state.
//!
//! Only the events count here: what a case does to files and processes belongs to the tests of the lower floors.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value as Json;
use seslog::event::{
    Amend, Body, CompactBoundary, Event, Fields, Head, HungOn, Kept, Kind, Message, Prune, Role, Tombstone, Uuid,
};
use seslog::interop::{Incoming, IncomingBody, IncomingParent, read_events};
use seslog::session::State;

/// Long texts of a case are cut to this: their length is no matter of views.
const FILLER_LEN_MAX: u64 = 64;
/// Events that a case repeats are told this often at most.
const REPEAT_MAX: u64 = 100;

/// One case: what is given, and what is expected.
#[derive(Debug)]
pub struct Case {
    pub id: String,
    pub kind: String,
    pub given: Json,
    pub expect: Json,
}

/// The given cases, in the order of their names; those of our own are left out.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Cases of our own that need files, and what explains the keys, are for the harness of `tests/cases.rs`.
    let is_given = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with('c') && name.ends_with(".json")
    };
    files.retain(|path| is_given(path));
    files.sort();
    files
        .iter()
        .map(|file| {
            let mut json: Json = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            let text = |name: &str| json[name].as_str().unwrap().to_owned();
            let (id, kind) = (text("id"), text("kind"));
            Case { id, kind, given: json["given"].take(), expect: json["expect"].take() }
        })
        .collect()
}

impl Case {
    /// The events of the case, those that its steps append included. None if the case needs files to be told.
    pub fn events(&self) -> Option<Vec<Event>> {
        if self.needs_files() {
            return None;
        }
        let mut lines = Vec::new();
        for event in self.given["events"].as_array().into_iter().flatten() {
            let (times, event) = match event.get("repeat") {
                Some(times) => (times.as_u64().unwrap().min(REPEAT_MAX), &event["of"]),
                None => (1, event),
            };
            lines.extend((0..times).map(|number| filled(event, number).to_string()));
        }
        for line in self.given["importJson"].as_array().into_iter().flatten() {
            lines.push(line.as_str().unwrap().to_owned());
        }
        for step in self.given["steps"].as_array().into_iter().flatten() {
            match step["do"].as_str().unwrap() {
                "append" => lines.push(step["event"].to_string()),
                "rewind" => lines.push(serde_json::json!({"type": "head", "leaf": step["to"]}).to_string()),
                "tombstone" => {
                    lines.push(serde_json::json!({"type": "tombstone", "targets": step["targets"]}).to_string());
                }
                _ => {}
            }
        }
        let mut teller = Teller::default();
        for record in read_events(lines.join("\n").as_bytes()) {
            teller.tell(record.unwrap_or_else(|error| panic!("{}: {error}", self.id)).1);
        }
        Some(teller.events)
    }

    /// Bytes are damaged so that events are lost, several sessions are involved, or an append is to fail.
    fn needs_files(&self) -> bool {
        let loses_events = |damage: &Json| {
            let op = damage["op"].as_str().unwrap();
            !matches!(op, "kill_after" | "append_bytes")
        };
        let damage = self.given["damage"].as_array().is_some_and(|list| list.iter().any(loses_events));
        let steps = self.given["steps"].as_array();
        let faults = steps.is_some_and(|steps| {
            steps.iter().any(|step| matches!(step["do"].as_str(), Some("fail_write" | "open_in_other_process")))
        });
        damage || faults || self.given.get("store").is_some()
    }
}

/// The event with its number put in and long texts made.
fn filled(event: &Json, number: u64) -> Json {
    match event {
        Json::Object(fields) if fields.contains_key("$bytes") => {
            let len = fields["$bytes"].as_u64().unwrap().min(FILLER_LEN_MAX);
            Json::String("x".repeat(usize::try_from(len).unwrap()))
        }
        Json::Object(fields) => {
            Json::Object(fields.iter().map(|(name, value)| (name.clone(), filled(value, number))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(|item| filled(item, number)).collect()),
        Json::String(text) => Json::String(text.replace('#', &number.to_string())),
        other => other.clone(),
    }
}

/// Gives records ids of ours: a name means the nearest earlier record of that name.
#[derive(Debug, Default)]
struct Teller {
    events: Vec<Event>,
    ids: HashMap<String, Uuid>,
}

impl Teller {
    fn tell(&mut self, record: Incoming) {
        let parent = match &record.parent {
            IncomingParent::Leaf => State::from_events(self.events.clone()).leaf().map(|leaf| leaf.event.id),
            IncomingParent::Root => None,
            IncomingParent::Id(name) => Some(self.known(name)),
        };
        let name = record.id.clone().unwrap_or_else(|| format!("line {}", self.events.len()));
        let body = match record.body {
            IncomingBody::Message(message) => Body::Message(message),
            IncomingBody::Compaction { summary_id, summary, keep, trigger, .. } => {
                let kept = |name: &String| Kept { id: self.known(name), offset: 0, changed: Vec::new() };
                let keep = keep.iter().map(kept).collect();
                let kind = Kind::CompactBoundary(CompactBoundary { keep, trigger, ..CompactBoundary::default() });
                let boundary = Message::new(Role::System, kind, Vec::new());
                let boundary = self.add(&name, parent, Body::Message(Box::new(boundary)));
                let summary_name = summary_id.unwrap_or_else(|| format!("summary of {name}"));
                self.add(&summary_name, Some(boundary), Body::Message(summary));
                return;
            }
            IncomingBody::Tombstone { targets, reason } => {
                Body::Tombstone(Tombstone { targets: targets.iter().map(|name| self.known(name)).collect(), reason })
            }
            IncomingBody::Amend { target, patch } => Body::Amend(Amend { target: self.known(&target), patch }),
            IncomingBody::Prune { targets } => {
                Body::Prune(Prune { targets: targets.iter().map(|name| self.known(name)).collect() })
            }
            IncomingBody::Head { leaf } => Body::Head(Head { leaf: leaf.map(|name| self.known(&name)) }),
            IncomingBody::ToolStarted(started) => Body::ToolStarted(started),
            IncomingBody::SessionMeta(meta) => Body::SessionMeta(meta),
            IncomingBody::Extension(extension) => Body::Extension(extension),
            IncomingBody::Unknown(unknown) => Body::Unknown(unknown),
            other => panic!("no case holds {other:?}"),
        };
        self.add(&name, parent, body);
    }

    /// The id of the nearest earlier record of this name; of a name that nobody has an id that nobody has.
    fn known(&self, name: &str) -> Uuid {
        self.ids.get(name).copied().unwrap_or_else(|| super::story::id(name))
    }

    fn add(&mut self, name: &str, parent: Option<Uuid>, body: Body) -> Uuid {
        let id = match self.ids.contains_key(name) {
            false => super::story::id(name),
            true => super::story::id(&format!("{name}, told again as event {}", self.events.len())),
        };
        self.ids.insert(name.to_owned(), id);
        self.events.push(Event {
            id,
            parent,
            hung_on: HungOn::Named,
            at: 0,
            original_id: Some(name.to_owned()),
            original_parent: None,
            off_chain: false,
            body,
            extra: Fields::new(),
        });
        id
    }
}
