//! Writes logs of real events through the log's own writer, with the places and notes that a session would give it.

use std::collections::BTreeMap;

use seslog::event::{
    Amend, Body, Changed, CompactBoundary, Event, Fields, Head, HungOn, Kept, Kind, Message, Prune, Role, SessionMeta,
    Tombstone, ToolStarted, Trigger, Value, encode,
};
use seslog::log::{Durability, FrameType, IndexHint, LogOptions, LogWriter, NewLog, Note, OpenReport, Place, Record};
use uuid::Uuid;

use crate::log_support::{Disk, disk_with, kill, path};

/// The id of a record: a UUIDv7 that rises with its number.
pub fn uid(number: u64) -> Uuid {
    Uuid::from_u128(0x018b_cfe5_6800_7000_8000_0000_0000_0000 | u128::from(number) << 80 | u128::from(number))
}

/// What a record tells the log about itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Tells {
    Message,
    ResultOf(Uuid),
    Boundary,
    Changes(Vec<Uuid>),
    Leaf(Option<Uuid>),
    Meta,
    /// It neither is nor moves the leaf.
    Aside,
}

/// A record to be written.
#[derive(Debug, Clone)]
pub struct Item {
    pub id: Uuid,
    pub parent: Option<Uuid>,
    pub tells: Tells,
    pub payload: Vec<u8>,
    pub skippable: bool,
}

fn item(number: u64, parent: Option<u64>, tells: Tells, body: Body) -> Item {
    let (id, parent) = (uid(number), parent.map(uid));
    let event = Event {
        id,
        parent,
        hung_on: HungOn::Named,
        at: 1_700_000_000_000_000 + number as i64,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body,
        extra: Fields::new(),
    };
    let payload = encode(&event).expect("an event that can be stored");
    Item { id, parent, tells, payload, skippable: false }
}

fn message(number: u64, parent: Option<u64>, tells: Tells, message: Message) -> Item {
    item(number, parent, tells, Body::Message(Box::new(message)))
}

pub fn user(number: u64, parent: Option<u64>, text: &str) -> Item {
    message(number, parent, Tells::Message, Message::user(text))
}

pub fn assistant(number: u64, parent: u64, text: &str) -> Item {
    message(number, Some(parent), Tells::Message, Message::assistant(text))
}

pub fn result(number: u64, call: u64) -> Item {
    message(number, Some(call), Tells::ResultOf(uid(call)), Message::tool_result("c1", "done", false))
}

pub fn boundary(number: u64, parent: u64, keep: &[u64]) -> Item {
    let keep = keep.iter().map(|kept| Kept { id: uid(*kept), offset: 0, changed: Vec::<Changed>::new() }).collect();
    let boundary = CompactBoundary {
        keep,
        trigger: Some(Trigger::Manual),
        carried: Vec::new(),
        meta_offset: 0,
        last_id: uid(number - 1),
    };
    message(
        number,
        Some(parent),
        Tells::Boundary,
        Message::new(Role::System, Kind::CompactBoundary(boundary), Vec::new()),
    )
}

pub fn summary(number: u64, boundary: u64) -> Item {
    message(number, Some(boundary), Tells::Message, Message::compact_summary("What was said so far.", Some(900)))
}

pub fn tombstone(number: u64, targets: &[u64]) -> Item {
    let targets: Vec<Uuid> = targets.iter().copied().map(uid).collect();
    let body = Tombstone::of(targets.clone(), Some("taken back".to_owned())).expect("a target");
    item(number, None, Tells::Changes(targets), Body::Tombstone(body))
}

pub fn amend(number: u64, target: u64) -> Item {
    let patch = vec![("stop_reason".to_owned(), Value::Text("end_turn".to_owned()))];
    let body = Amend::of(uid(target), patch).expect("a patch");
    item(number, None, Tells::Changes(vec![uid(target)]), Body::Amend(body))
}

pub fn prune(number: u64, targets: &[u64]) -> Item {
    let targets: Vec<Uuid> = targets.iter().copied().map(uid).collect();
    let body = Prune::of(targets.clone()).expect("a target");
    item(number, None, Tells::Changes(targets), Body::Prune(body))
}

pub fn head(number: u64, leaf: Option<u64>) -> Item {
    let leaf = leaf.map(uid);
    item(number, None, Tells::Leaf(leaf), Body::Head(Head { leaf }))
}

pub fn meta(number: u64, title: &str) -> Item {
    let meta = SessionMeta { title: Some(title.to_owned()), ..SessionMeta::default() };
    item(number, None, Tells::Meta, Body::SessionMeta(meta))
}

pub fn started(number: u64) -> Item {
    let started = ToolStarted { call_id: "c1".to_owned(), idempotency_key: None };
    item(number, None, Tells::Aside, Body::ToolStarted(started))
}

/// A log while it is being written.
pub struct Story {
    disk: Disk,
    log: Option<LogWriter>,
    options: LogOptions,
    places: BTreeMap<Uuid, u64>,
    leaf: Option<Uuid>,
    boundary: Option<Uuid>,
    meta: Option<Uuid>,
    last_id: Uuid,
}

impl Story {
    pub fn new() -> Self {
        Self::with(new_log(), LogOptions::default(), 0)
    }

    /// `noise`: random bytes to draw before the log's own, so that two logs differ.
    pub fn with(new: NewLog, options: LogOptions, noise: usize) -> Self {
        let disk = Disk::new();
        disk.fs().random(&mut vec![0; noise]).expect("random bytes");
        let log = LogWriter::create(disk.fs(), &path(), new, options).expect("a new log");
        Self {
            disk,
            log: Some(log),
            options,
            places: BTreeMap::new(),
            leaf: None,
            boundary: None,
            meta: None,
            last_id: Uuid::nil(),
        }
    }

    /// One batch. It is durable when this returns, unless it is only handed to the operating system.
    pub fn write(&mut self, items: &[Item], durability: Durability) -> Vec<u64> {
        let place = |id: Option<Uuid>| match id {
            None => Place::None,
            Some(id) => match items.iter().position(|item| item.id == id) {
                Some(index) => Place::InBatch(index),
                None => self.places.get(&id).map_or(Place::None, |offset| Place::At(*offset)),
            },
        };
        let (mut leaf, mut boundary, mut meta, mut last_id) = (self.leaf, self.boundary, self.meta, self.last_id);
        let mut records = Vec::new();
        for item in items {
            last_id = last_id.max(item.id);
            let (mut frame_type, mut hint, mut parent, before) =
                (FrameType::Event, IndexHint::Plain, item.parent, boundary);
            match &item.tells {
                Tells::Message => leaf = Some(item.id),
                Tells::ResultOf(call) => (leaf, hint) = (Some(item.id), IndexHint::ResultOf(*call)),
                Tells::Boundary => {
                    frame_type = FrameType::Boundary;
                    (leaf, boundary) = (Some(item.id), Some(item.id));
                }
                Tells::Changes(targets) => (frame_type, hint) = (FrameType::Change, IndexHint::Targets(targets)),
                Tells::Leaf(new) => (frame_type, leaf, parent) = (FrameType::Head, *new, *new),
                Tells::Meta => (meta, hint) = (Some(item.id), IndexHint::Meta),
                Tells::Aside => {}
            }
            records.push(Record {
                frame_type,
                skippable: item.skippable,
                id: item.id,
                parent: place(parent),
                boundary: place(if item.tells == Tells::Boundary { before } else { boundary }),
                payload: &item.payload,
                index: hint,
            });
        }
        let note = Note { meta: place(meta), last_id, head: place(leaf), boundary: place(boundary) };
        let log = self.log.as_ref().expect("the log is open");
        let appended = log.append(&records, note, durability).expect("an append");
        let offsets = appended.offsets.clone();
        if durability != Durability::Os {
            appended.receipt.wait().expect("a sync");
        }
        self.places.extend(items.iter().map(|item| item.id).zip(offsets.iter().copied()));
        (self.leaf, self.boundary, self.meta, self.last_id) = (leaf, boundary, meta, last_id);
        offsets
    }

    /// One record, synced; where it stands.
    pub fn put(&mut self, item: Item) -> usize {
        self.write(&[item], Durability::Sync)[0] as usize
    }

    /// One record that is only handed to the operating system; where it stands.
    pub fn leave(&mut self, item: Item) -> usize {
        self.write(&[item], Durability::Os)[0] as usize
    }

    pub fn sync(&self) {
        self.log.as_ref().expect("the log is open").sync().expect("a sync");
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.disk.bytes(&path())
    }

    /// Bytes of the file that the last sync made durable.
    pub fn durable_len(&self) -> usize {
        self.disk.durable(&path()).len()
    }

    /// Ends the writer as by SIGKILL.
    pub fn kill(mut self) -> Vec<u8> {
        kill(self.log.take().expect("the log is open"), &self.disk)
    }

    pub fn close(mut self) -> Vec<u8> {
        self.log.take().expect("the log is open").close().expect("a close");
        self.bytes()
    }

    /// The writer dies, the file becomes `bytes`, another writer opens it; records that are gone are forgotten.
    pub fn reopened(mut self, bytes: &[u8]) -> (Self, OpenReport) {
        kill(self.log.take().expect("the log is open"), &self.disk);
        self.disk.put(&path(), bytes);
        self.opened()
    }

    fn opened(mut self) -> (Self, OpenReport) {
        let (log, report) = LogWriter::open(self.disk.fs(), &path(), self.options).expect("an open");
        let found: BTreeMap<u64, Uuid> = log
            .frames(0)
            .map(|frame| frame.expect("a whole frame"))
            .map(|frame| (frame.offset(), frame.id()))
            .collect();
        let note = log.note().expect("a note");
        let id_at = |place: Place| if let Place::At(offset) = place { found.get(&offset).copied() } else { None };
        let log_state = (id_at(note.head), id_at(note.boundary), id_at(note.meta), note.last_id);
        (self.leaf, self.boundary, self.meta, self.last_id) = log_state;
        self.places = found.into_iter().map(|(offset, id)| (id, offset)).collect();
        self.log = Some(log);
        (self, report)
    }

    /// The writer closes the log, and another one opens it.
    pub fn close_and_reopen(mut self) -> (Self, OpenReport) {
        self.log.take().expect("the log is open").close().expect("a close");
        self.opened()
    }

    pub fn has(&self, id: Uuid) -> bool {
        self.places.contains_key(&id)
    }

    pub fn leaf(&self) -> Option<Uuid> {
        self.leaf
    }
}

pub fn new_log() -> NewLog {
    NewLog::new(uid(0), 1_700_000_000_000_000)
}

/// What recovery makes of a file: the bytes behind an open for writing, if it is not refused.
pub fn recovered(bytes: &[u8]) -> Option<Vec<u8>> {
    let disk = disk_with(bytes);
    let (log, _) = LogWriter::open(disk.fs(), &path(), LogOptions::default()).ok()?;
    Some(kill(log, &disk))
}
