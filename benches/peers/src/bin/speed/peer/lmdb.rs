//! LMDB, through heed: one transaction a message, in databases by number and by id. The one file with unsafe code, which LMDB
//! can't be opened without.

use std::path::Path;

use heed::byteorder::BigEndian;
use heed::types::{Bytes, Str, U64};
use heed::{Database, Env, EnvFlags, EnvOpenOptions, PutFlags, RwTxn};
use seslog::event::{Event, Message, Uuid, encode_into};

use super::{Chain, Finder, Finds, Peer, Window, Writer, decoded};
use crate::Result;
use crate::session::Step;

/// Room for the largest session, in bytes; address space only.
const MAP_SIZE: usize = 4 << 30;
/// Messages of a transaction while a session is made that is measured later.
const FILL: usize = 1_000;

/// The key of the latest boundary's number.
const LATEST: &str = "latest";

/// An environment of LMDB.
#[derive(Debug, Clone, Copy)]
pub struct Lmdb {
    /// Whether each commit is synced (the default), or left to the operating system (`NO_SYNC`).
    pub sync: bool,
}

/// An open one with its databases.
struct Tables {
    env: Env,
    messages: Database<U64<BigEndian>, Bytes>,
    numbers: Database<Bytes, U64<BigEndian>>,
    boundary: Database<Str, U64<BigEndian>>,
}

impl Lmdb {
    #[expect(unsafe_code, reason = "LMDB can't be opened without")]
    fn open_dir(self, dir: &Path) -> Result<Tables> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_SIZE).max_dbs(3);
        if !self.sync {
            // SAFETY: `NO_SYNC` may lose or break a file in a power cut; the files of a bench are thrown away.
            unsafe { options.flags(EnvFlags::NO_SYNC) };
        }
        // SAFETY: nobody else touches the directory, and each environment is closed before it is opened again.
        let env = unsafe { options.open(dir)? };
        let read = env.read_txn()?;
        let messages = env.open_database(&read, Some("messages"))?;
        let numbers = env.open_database(&read, Some("numbers"))?;
        let boundary = env.open_database(&read, Some("boundary"))?;
        read.commit()?;
        if let (Some(messages), Some(numbers), Some(boundary)) = (messages, numbers, boundary) {
            return Ok(Tables { env, messages, numbers, boundary });
        }
        let mut write = env.write_txn()?;
        let messages = env.create_database(&mut write, Some("messages"))?;
        let numbers = env.create_database(&mut write, Some("numbers"))?;
        let boundary = env.create_database(&mut write, Some("boundary"))?;
        write.commit()?;
        Ok(Tables { env, messages, numbers, boundary })
    }
}

impl Peer for Lmdb {
    fn name(&self) -> &'static str {
        if self.sync { "LMDB" } else { "LMDB, NO_SYNC" }
    }

    fn kind(&self) -> &'static str {
        "LMDB"
    }

    fn survives(&self) -> &'static str {
        if self.sync { "survives a power cut" } else { "survives a kill; a power cut may break the file" }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let tables = self.open_dir(dir)?;
        Ok(Box::new(Pages { tables, chain: Chain::after(None), number: 0, buffer: Vec::new() }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let tables = self.open_dir(dir)?;
        let (number, last) = {
            let read = tables.env.read_txn()?;
            let (number, payload) = tables.messages.last(&read)?.ok_or("it is empty")?;
            (number + 1, decoded(payload)?.id)
        };
        Ok(Box::new(Pages { tables, chain: Chain::after(Some(last)), number, buffer: Vec::new() }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let tables = self.open_dir(dir)?;
        let mut events = Vec::new();
        {
            let read = tables.env.read_txn()?;
            let from = tables.boundary.get(&read, LATEST)?.unwrap_or(0);
            for item in tables.messages.range(&read, &(from..))? {
                events.push(decoded(item?.1)?);
            }
        }
        let window = Window::of(events);
        Ok(Window { held: Box::new((tables, window.held)), ..window })
    }
}

struct Pages {
    tables: Tables,
    chain: Chain,
    number: u64,
    buffer: Vec<u8>,
}

/// Puts an event behind the last one.
fn insert(tables: &Tables, write: &mut RwTxn<'_>, number: &mut u64, buffer: &mut Vec<u8>, event: &Event) -> Result<()> {
    buffer.clear();
    encode_into(event, buffer)?;
    tables.messages.put_with_flags(write, PutFlags::APPEND, number, buffer)?;
    tables.numbers.put(write, event.id.as_bytes(), number)?;
    if event.boundary().is_some() {
        tables.boundary.put(write, LATEST, number)?;
    }
    *number += 1;
    Ok(())
}

impl Pages {
    fn put(&mut self, count: usize, steps: &mut dyn Iterator<Item = Step>) -> Result<usize> {
        let Self { tables, chain, number, buffer } = self;
        let mut write = tables.env.write_txn()?;
        let mut done = 0;
        for step in steps.take(count) {
            done += 1;
            match step {
                Step::Say(message) => insert(tables, &mut write, number, buffer, &chain.next(message))?,
                Step::Compact => {
                    chain.compaction().iter().try_for_each(|event| insert(tables, &mut write, number, buffer, event))?
                }
            }
        }
        write.commit()?;
        Ok(done)
    }
}

impl Writer for Pages {
    fn append(&mut self, message: Message) -> Result<()> {
        self.put(1, &mut std::iter::once(Step::Say(message))).map(drop)
    }

    fn compact(&mut self) -> Result<()> {
        self.put(1, &mut std::iter::once(Step::Compact)).map(drop)
    }

    fn fill(&mut self, steps: &mut dyn Iterator<Item = Step>) -> Result<()> {
        while self.put(FILL, steps)? > 0 {}
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.tables.env.force_sync()?)
    }
}

impl Finds for Lmdb {
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>> {
        Ok(Box::new(self.open_dir(dir)?))
    }
}

impl Finder for Tables {
    fn ids(&self) -> Result<Vec<Uuid>> {
        let read = self.env.read_txn()?;
        self.numbers.iter(&read)?.map(|item| Ok(Uuid::from_slice(item?.0)?)).collect()
    }

    fn find(&self, id: Uuid) -> Result<Option<Event>> {
        let read = self.env.read_txn()?;
        let Some(number) = self.numbers.get(&read, id.as_bytes())? else { return Ok(None) };
        self.messages.get(&read, &number)?.map(decoded).transpose()
    }
}
