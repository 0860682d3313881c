//! The stores, behind one trait: each keeps the same messages, one durable unit a message, in the way that its own
//! documentation advises.

pub mod fjall;
pub mod jsonl;
mod line;
pub mod lmdb;
pub mod redb;
pub mod seslog;
pub mod sqlite;

use std::any::Any;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use ::seslog::event::{Body, CompactBoundary, Event, HungOn, IdMaker, Kind, Message, Part, Role, Uuid, decode};

use crate::Result;
use crate::session::{SUMMARY, Step};

/// A store that holds one session in a directory.
pub trait Peer {
    /// What it is called in the tables.
    fn name(&self) -> &'static str;

    /// What it is called where it is read, and how it was written does not matter.
    fn kind(&self) -> &'static str;

    /// What an append survives.
    fn survives(&self) -> &'static str;

    /// Makes a new session in an empty directory.
    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>>;

    /// Opens one to go on with it.
    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>>;

    /// Opens one and gives the messages from the last compaction on, decoded.
    fn resume(&self, dir: &Path) -> Result<Window>;
}

/// A session that is being written.
pub trait Writer {
    /// Appends one message, as one durable unit.
    fn append(&mut self, message: Message) -> Result<()>;

    /// Appends the boundary of a compaction and its summary.
    fn compact(&mut self) -> Result<()>;

    /// Appends all of it, as fast as the store can.
    fn fill(&mut self, steps: &mut dyn Iterator<Item = Step>) -> Result<()> {
        for step in steps {
            match step {
                Step::Say(message) => self.append(message)?,
                Step::Compact => self.compact()?,
            }
        }
        Ok(())
    }

    /// Closes it as an agent would that ends.
    fn close(self: Box<Self>) -> Result<()>;
}

/// A store that finds a message by its id.
pub trait Finds: Peer {
    /// Opens a session for look-ups.
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>>;
}

/// A session open for look-ups.
pub trait Finder {
    /// The ids of all events, in order.
    fn ids(&self) -> Result<Vec<Uuid>>;

    /// The event of this id, decoded.
    fn find(&self, id: Uuid) -> Result<Option<Event>>;
}

/// What a resume gives: so many messages, and whatever holds them.
pub struct Window {
    /// How many, without boundary and summary.
    pub count: usize,
    /// The messages, or the open session.
    pub held: Box<dyn Any>,
}

impl Window {
    /// Of events of which the first two are the boundary and its summary.
    pub fn of(events: Vec<Event>) -> Self {
        Self { count: events.len().saturating_sub(2), held: Box::new(events) }
    }
}

/// Makes events of messages, as a session does: an id that rises, a time, a parent.
#[derive(Debug)]
pub struct Chain {
    ids: IdMaker,
    parent: Option<Uuid>,
}

impl Chain {
    /// A chain whose next event hangs on this one.
    pub fn after(parent: Option<Uuid>) -> Self {
        Self { ids: IdMaker::after(parent.unwrap_or_default()), parent }
    }

    /// The next event.
    pub fn next(&mut self, message: Message) -> Event {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let id = self.ids.next(u64::try_from(now.as_millis()).unwrap_or(0), 0x0bad_5eed);
        Event {
            id,
            parent: self.parent.replace(id),
            hung_on: HungOn::Named,
            at: i64::try_from(now.as_micros()).unwrap_or(0),
            original_id: None,
            original_parent: None,
            off_chain: false,
            body: Body::Message(Box::new(message)),
            extra: Vec::new(),
        }
    }

    /// The two events of a compaction.
    pub fn compaction(&mut self) -> [Event; 2] {
        let boundary = Message::new(Role::System, Kind::CompactBoundary(CompactBoundary::default()), Vec::new());
        [self.next(boundary), self.next(summary())]
    }
}

fn summary() -> Message {
    Message::new(Role::User, Kind::CompactSummary(Default::default()), vec![Part::text(SUMMARY)])
}

/// An event as the databases get it: its number, its id, and its bytes in the log's own encoding, which is the shortest.
fn decoded(payload: &[u8]) -> Result<Event> {
    Ok(decode(payload)?)
}
