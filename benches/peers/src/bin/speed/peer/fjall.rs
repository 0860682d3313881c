//! fjall: an LSM tree; one atomic batch a message, in keyspaces by number and by id. Keys that rise are what it is made for.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};
use seslog::event::{Event, Message, Uuid, encode_into};

use super::{Chain, Finder, Finds, Peer, Window, Writer, decoded};
use crate::Result;
use crate::session::Step;

/// A database of fjall.
#[derive(Debug, Clone, Copy)]
pub struct Fjall {
    /// Whether each batch is synced, or handed to the operating system.
    pub sync: bool,
}

/// An open one with its keyspaces.
struct Spaces {
    database: Database,
    messages: Keyspace,
    numbers: Keyspace,
    boundary: Keyspace,
}

impl Spaces {
    fn open(dir: &Path) -> Result<Self> {
        let database = Database::builder(dir.join("session.fjall")).open()?;
        let space = |name| database.keyspace(name, KeyspaceCreateOptions::default);
        Ok(Self { messages: space("messages")?, numbers: space("numbers")?, boundary: space("boundary")?, database })
    }
}

impl Peer for Fjall {
    fn name(&self) -> &'static str {
        if self.sync { "fjall, SyncData" } else { "fjall, Buffer" }
    }

    fn kind(&self) -> &'static str {
        "fjall"
    }

    fn survives(&self) -> &'static str {
        if self.sync { "survives a power cut" } else { "survives a kill" }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let spaces = Spaces::open(dir)?;
        Ok(Box::new(Batches { spaces, sync: self.sync, chain: Chain::after(None), number: 0, buffer: Vec::new() }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let spaces = Spaces::open(dir)?;
        let (key, payload) = spaces.messages.last_key_value().ok_or("it is empty")?.into_inner()?;
        let (number, last) = (number_of(&key)? + 1, decoded(&payload)?.id);
        Ok(Box::new(Batches { spaces, sync: self.sync, chain: Chain::after(Some(last)), number, buffer: Vec::new() }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let spaces = Spaces::open(dir)?;
        let from = spaces.boundary.get("latest")?.map_or(Ok(0), |key| number_of(&key))?;
        let mut events = Vec::new();
        for item in spaces.messages.range(from.to_be_bytes()..) {
            events.push(decoded(&item.value()?)?);
        }
        let window = Window::of(events);
        Ok(Window { held: Box::new((spaces, window.held)), ..window })
    }
}

fn number_of(key: &[u8]) -> Result<u64> {
    Ok(u64::from_be_bytes(key.try_into()?))
}

struct Batches {
    spaces: Spaces,
    sync: bool,
    chain: Chain,
    number: u64,
    buffer: Vec<u8>,
}

impl Batches {
    fn write(&mut self, events: &[Event]) -> Result<()> {
        let mode = if self.sync { PersistMode::SyncData } else { PersistMode::Buffer };
        let mut batch = self.spaces.database.batch().durability(Some(mode));
        for event in events {
            self.buffer.clear();
            encode_into(event, &mut self.buffer)?;
            let number = self.number.to_be_bytes();
            batch.insert(&self.spaces.messages, number, self.buffer.as_slice());
            batch.insert(&self.spaces.numbers, event.id.into_bytes(), number);
            if event.boundary().is_some() {
                batch.insert(&self.spaces.boundary, "latest", number);
            }
            self.number += 1;
        }
        Ok(batch.commit()?)
    }
}

impl Writer for Batches {
    fn append(&mut self, message: Message) -> Result<()> {
        let event = self.chain.next(message);
        self.write(&[event])
    }

    fn compact(&mut self) -> Result<()> {
        let events = self.chain.compaction();
        self.write(&events)
    }

    fn fill(&mut self, steps: &mut dyn Iterator<Item = Step>) -> Result<()> {
        let sync = std::mem::take(&mut self.sync);
        for step in steps {
            match step {
                Step::Say(message) => self.append(message)?,
                Step::Compact => self.compact()?,
            }
        }
        self.sync = sync;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.spaces.database.persist(PersistMode::SyncAll)?)
    }
}

impl Finds for Fjall {
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>> {
        Ok(Box::new(Spaces::open(dir)?))
    }
}

impl Finder for Spaces {
    fn ids(&self) -> Result<Vec<Uuid>> {
        self.numbers.iter().map(|item| Ok(Uuid::from_slice(&item.key()?)?)).collect()
    }

    fn find(&self, id: Uuid) -> Result<Option<Event>> {
        let Some(number) = self.numbers.get(id.as_bytes())? else { return Ok(None) };
        self.messages.get(number)?.map(|payload| decoded(&payload)).transpose()
    }
}
