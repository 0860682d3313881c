//! What the tests share.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use seslog::event::{Message, Part, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Clock, Entry, NewEvent, Parent, Session, SessionOptions, Store};

/// A directory with sessions in it, removed when dropped.
pub struct Place {
    pub dir: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> PathBuf {
        self.dir.path().join("s.seslog")
    }

    pub fn create(&self) -> Session {
        Session::create(&self.path(), SessionOptions::default()).unwrap()
    }

    pub fn open(&self) -> Session {
        Session::open(&self.path(), SessionOptions::default()).unwrap()
    }

    pub fn store(&self) -> Store {
        Store::at(self.dir.path().join("store"), SessionOptions::default())
    }
}

/// Appends a person's message; returns its id.
pub fn user(session: &Session, text: &str) -> Uuid {
    append(session, Message::user(text))
}

/// Appends a model's text; returns its id.
pub fn assistant(session: &Session, text: &str) -> Uuid {
    append(session, Message::assistant(text))
}

/// Appends a message with these calls; returns its id.
pub fn calls(session: &Session, ids: &[&str]) -> Uuid {
    let parts = ids.iter().map(|id| Part::tool_call(*id, "tool", Value::Map(Vec::new()))).collect();
    append(session, Message::assistant_calls(parts))
}

/// Appends a result; returns its id.
pub fn result(session: &Session, call: &str, text: &str) -> Uuid {
    append(session, Message::tool_result(call, text, false))
}

/// Appends an event with `Os` durability; returns its id.
pub fn append(session: &Session, event: impl Into<NewEvent>) -> Uuid {
    session.append(event, Durability::Os).unwrap().id
}

/// Appends an event under this parent; returns its id.
pub fn append_under(session: &Session, parent: Uuid, event: impl Into<NewEvent>) -> Uuid {
    append(session, event.into().with_parent(Parent::Of(parent)))
}

pub fn ids(entries: Vec<&Entry>) -> Vec<Uuid> {
    entries.into_iter().map(|entry| entry.event.id).collect()
}

pub fn chain(session: &Session) -> Vec<Uuid> {
    session.with_state(|state| ids(state.chain())).unwrap()
}

pub fn leaf(session: &Session) -> Option<Uuid> {
    session.with_state(|state| state.leaf().map(|entry| entry.event.id)).unwrap()
}

/// A clock that the test sets.
#[derive(Debug, Default)]
pub struct TestClock {
    pub micros: AtomicI64,
    randoms: AtomicU64,
}

impl Clock for TestClock {
    fn now(&self) -> i64 {
        self.micros.load(Ordering::Relaxed)
    }

    fn random(&self) -> u64 {
        self.randoms.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
    }
}

/// Options with a clock that the test sets.
pub fn with_clock() -> (SessionOptions, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    (SessionOptions { clock: clock.clone(), ..SessionOptions::default() }, clock)
}
