//! redb: one transaction a message, in tables by number and by id.

use std::path::Path;

use redb::{Database, Durability, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use seslog::event::{Event, Message, Uuid, encode_into};

use super::{Chain, Finder, Finds, Peer, Window, Writer, decoded};
use crate::Result;
use crate::session::Step;

const MESSAGES: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("messages");
const NUMBERS: TableDefinition<'_, u128, u64> = TableDefinition::new("numbers");
const BOUNDARY: TableDefinition<'_, (), u64> = TableDefinition::new("boundary");

/// Messages of a transaction while a session is made that is measured later.
const FILL: usize = 1_000;

/// A database of redb.
#[derive(Debug, Clone, Copy)]
pub struct Redb {
    /// Whether a commit is on the disk (`Immediate`), or in memory only (`None`).
    pub sync: bool,
}

impl Redb {
    fn open_file(dir: &Path) -> Result<Database> {
        Ok(Database::create(dir.join("session.redb"))?)
    }
}

impl Peer for Redb {
    fn name(&self) -> &'static str {
        if self.sync { "redb, Immediate" } else { "redb, None" }
    }

    fn kind(&self) -> &'static str {
        "redb"
    }

    fn survives(&self) -> &'static str {
        if self.sync { "survives a power cut" } else { "survives nothing until the next Immediate" }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let database = Self::open_file(dir)?;
        Ok(Box::new(Tables { database, sync: self.sync, chain: Chain::after(None), number: 0, buffer: Vec::new() }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let database = Self::open_file(dir)?;
        let (number, last) = {
            let read = database.begin_read()?;
            let messages = read.open_table(MESSAGES)?;
            let last = messages.last()?.ok_or("it is empty")?;
            (last.0.value() + 1, decoded(last.1.value())?.id)
        };
        Ok(Box::new(Tables { database, sync: self.sync, chain: Chain::after(Some(last)), number, buffer: Vec::new() }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let database = Self::open_file(dir)?;
        let mut events = Vec::new();
        {
            let read = database.begin_read()?;
            let from = read.open_table(BOUNDARY)?.get(())?.map_or(0, |from| from.value());
            for item in read.open_table(MESSAGES)?.range(from..)? {
                events.push(decoded(item?.1.value())?);
            }
        }
        let window = Window::of(events);
        Ok(Window { held: Box::new((database, window.held)), ..window })
    }
}

struct Tables {
    database: Database,
    sync: bool,
    chain: Chain,
    number: u64,
    buffer: Vec<u8>,
}

impl Tables {
    fn begin(&self) -> Result<WriteTransaction> {
        let mut write = self.database.begin_write()?;
        write.set_durability(if self.sync { Durability::Immediate } else { Durability::None })?;
        Ok(write)
    }

    fn insert(&mut self, write: &WriteTransaction, event: &Event) -> Result<()> {
        self.buffer.clear();
        encode_into(event, &mut self.buffer)?;
        write.open_table(MESSAGES)?.insert(self.number, self.buffer.as_slice())?;
        write.open_table(NUMBERS)?.insert(Uuid::as_u128(&event.id), self.number)?;
        if event.boundary().is_some() {
            write.open_table(BOUNDARY)?.insert((), self.number)?;
        }
        self.number += 1;
        Ok(())
    }

    fn put(&mut self, write: &WriteTransaction, step: Step) -> Result<()> {
        match step {
            Step::Say(message) => {
                let event = self.chain.next(message);
                self.insert(write, &event)
            }
            Step::Compact => self.chain.compaction().iter().try_for_each(|event| self.insert(write, event)),
        }
    }
}

impl Writer for Tables {
    fn append(&mut self, message: Message) -> Result<()> {
        let write = self.begin()?;
        self.put(&write, Step::Say(message))?;
        Ok(write.commit()?)
    }

    fn compact(&mut self) -> Result<()> {
        let write = self.begin()?;
        self.put(&write, Step::Compact)?;
        Ok(write.commit()?)
    }

    fn fill(&mut self, steps: &mut dyn Iterator<Item = Step>) -> Result<()> {
        let mut steps = steps.peekable();
        while steps.peek().is_some() {
            let write = self.database.begin_write()?;
            for step in steps.by_ref().take(FILL) {
                self.put(&write, step)?;
            }
            write.commit()?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        // A last durable commit makes those before it durable; dropping the database closes it.
        Ok(self.database.begin_write()?.commit()?)
    }
}

impl Finds for Redb {
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>> {
        Ok(Box::new(Self::open_file(dir)?))
    }
}

impl Finder for Database {
    fn ids(&self) -> Result<Vec<Uuid>> {
        let numbers = self.begin_read()?.open_table(NUMBERS)?;
        numbers.iter()?.map(|item| Ok(Uuid::from_u128(item?.0.value()))).collect()
    }

    fn find(&self, id: Uuid) -> Result<Option<Event>> {
        let read = self.begin_read()?;
        let Some(number) = read.open_table(NUMBERS)?.get(id.as_u128())? else { return Ok(None) };
        let payload = read.open_table(MESSAGES)?.get(number.value())?;
        payload.map(|payload| decoded(payload.value())).transpose()
    }
}
