//! Small sessions with everything in them, and what they hold.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seslog::event::{Event, Message, Part, SessionMeta, Uuid, Value, decode};
use seslog::log::{Durability, FrameHead, FrameStatus, FrameType, LogOptions, Survey, survey};
use seslog::session::{Compaction, NewEvent, Session, SessionOptions};

use crate::even_clock::EvenClock;
use crate::log_support::Disk;

/// The session's file on a disk in memory.
pub fn path() -> PathBuf {
    PathBuf::from("/s/0193a000-0000-7000-8000-000000000001.seslog")
}

/// Where a salvage goes.
pub fn target() -> PathBuf {
    PathBuf::from("/s/new.seslog")
}

/// Options of a session on this disk; an INDEX comes after 16 records.
pub fn options(disk: &Disk, seed: u64) -> SessionOptions {
    let clock = Arc::new(EvenClock::since(seed * 1_000_000));
    SessionOptions { fs: disk.fs(), clock, log: LogOptions::default().index_records(16) }
}

pub fn disk_with(bytes: &[u8]) -> Disk {
    let disk = Disk::new();
    disk.put(&path(), bytes);
    disk
}

/// One whole frame of a good log.
#[derive(Debug, Clone)]
pub struct Known {
    pub head: FrameHead,
    pub status: FrameStatus,
    /// The event, of a record.
    pub event: Option<Event>,
}

impl Known {
    pub fn from(&self) -> u64 {
        self.head.offset
    }

    pub fn to(&self) -> u64 {
        self.head.next_offset()
    }

    pub fn is_record(&self) -> bool {
        !self.head.frame_type.is_own()
    }
}

/// A good log.
#[derive(Debug, Clone)]
pub struct Log {
    pub bytes: Vec<u8>,
    /// Its frames in the order of the file, those that were set aside among them.
    pub frames: Vec<Known>,
    /// By the offset of an OPEN: where what it steps over begins.
    pub skips: HashMap<u64, u64>,
}

impl Log {
    pub fn of(bytes: Vec<u8>) -> Self {
        let found = survey_of(&bytes).unwrap();
        assert!(found.damage.is_empty(), "{:?}", found.damage);
        let frames = found.frames.iter().map(|frame| {
            let loaded = found.load(frame).unwrap();
            let event = (!frame.head.frame_type.is_own()).then(|| decode(loaded.payload()).unwrap());
            Known { head: frame.head, status: frame.status, event }
        });
        let frames: Vec<Known> = frames.collect();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let opens = frames.iter().filter(|frame| frame.head.frame_type == FrameType::Open);
        let skips = opens.map(|open| (open.from(), word(open.from() as usize + 64 + 40)));
        let skips = skips.filter(|(at, from)| at != from).collect();
        Self { skips, frames, bytes }
    }

    /// Frames that are part of the log.
    pub fn accepted(&self) -> impl Iterator<Item = &Known> {
        self.frames.iter().filter(|frame| frame.status == FrameStatus::Accepted)
    }

    /// Events of the records that are part of the log.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.accepted().filter_map(|frame| frame.event.as_ref())
    }
}

pub fn survey_of(bytes: &[u8]) -> Result<Survey, seslog::log::LogError> {
    survey(disk_with(bytes).fs(), &path())
}

/// A session whose writer ends as by SIGKILL.
pub fn kill(session: Session, disk: &Disk) -> Vec<u8> {
    let bytes = disk.bytes(&path());
    disk.kill();
    drop(session);
    bytes
}

/// How the last writer of a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Closed,
    Killed,
}

/// A session with events of all types, a batch, a compaction, a branch, an INDEX, and a hole that was stepped over with a whole
/// record behind it.
pub fn rich(end: End) -> Log {
    ages(end, 1).pop().map(Log::of).unwrap()
}

/// The same session's file at several times, the last one last.
pub fn ages(end: End, seed: u64) -> Vec<Vec<u8>> {
    let mut ages = first_writer(seed);
    // A record in the middle of what was never synced is lost: the next writer steps over it and what lies behind it.
    let found = survey_of(ages.last().unwrap()).unwrap();
    let records: Vec<_> = found.frames.iter().filter(|frame| !frame.head.frame_type.is_own()).collect();
    let hole = records[records.len() - 2].head;
    let mut bytes = ages.last().unwrap().clone();
    bytes[hole.offset as usize..hole.next_offset() as usize].fill(0);
    let disk = disk_with(&bytes);
    let session = Session::open(&path(), options(&disk, seed + 1)).unwrap();
    ages.push(bytes);
    second_writer(&session, || ages.push(disk.bytes(&path())));
    ages.push(match end {
        End::Closed => {
            session.close().unwrap();
            disk.bytes(&path())
        }
        End::Killed => kill(session, &disk),
    });
    ages
}

fn say(session: &Session, event: impl Into<NewEvent>, durability: Durability) -> Uuid {
    session.append(event, durability).unwrap().id
}

fn first_writer(seed: u64) -> Vec<Vec<u8>> {
    let disk = Disk::new();
    let session = create(&disk, &path(), seed);
    let meta = SessionMeta { title: Some("t".to_owned()), ..SessionMeta::default() };
    let _ = session.set_meta(meta, Durability::Sync).unwrap();
    let one = say(&session, Message::user("one"), Durability::Sync);
    let call = Part::tool_call("a", "tool", Value::Map(Vec::new()));
    let calls = say(&session, Message::assistant_calls(vec![call]), Durability::Sync);
    let result = say(&session, Message::tool_result("a", "r", false), Durability::Sync);
    let _ = session.amend(one, vec![("content".to_owned(), text("once"))], Durability::Os).unwrap();
    let batch = (0..3).map(|n| Message::user(format!("b{n}")).into()).collect();
    let batch = session.append_batch(batch, Durability::Sync).unwrap().ids;
    let _ = session.tombstone(&batch[1..2], None, Durability::Os).unwrap();
    let _ = session.prune(&[result], Durability::Os).unwrap();
    let _ = session.compact(Compaction::new("so far").keep(vec![one, calls, result]), Durability::Sync).unwrap();
    let early = disk.bytes(&path());
    say(&session, Message::user("behind"), Durability::Os);
    say(&session, Message::user("hole"), Durability::Os);
    say(&session, Message::user("given up"), Durability::Os);
    vec![early, kill(session, &disk)]
}

fn text(text: &str) -> Value {
    let part = Value::Map(vec![("type".to_owned(), Value::from("text")), ("text".to_owned(), Value::from(text))]);
    Value::List(vec![part])
}

fn second_writer(session: &Session, mut look: impl FnMut()) {
    look();
    let last = say(session, Message::assistant("again"), Durability::Sync);
    for n in 0..3 {
        say(session, Message::user(format!("g{n}")), Durability::Os);
    }
    session.sync().unwrap();
    look();
    let _ = session.rewind(Some(last), Durability::Sync).unwrap();
    say(session, Message::user("other branch"), Durability::Sync);
    let batch = (0..2).map(|n| Message::user(format!("c{n}")).into()).collect();
    let _ = session.append_batch(batch, Durability::Os).unwrap();
    say(session, Message::assistant("end"), Durability::Os);
}

pub fn create(disk: &Disk, path: &Path, seed: u64) -> Session {
    Session::create(path, options(disk, seed)).unwrap()
}
