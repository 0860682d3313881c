//! SQLite in WAL mode: one row and one transaction a message, found by its id, and an index that holds boundaries only, for
//! the query of the window.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};
use seslog::event::{Event, Message, Uuid, encode_into};

use super::{Chain, Finder, Finds, Peer, Window, Writer, decoded};
use crate::Result;
use crate::session::Step;

/// A table of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sqlite {
    /// `synchronous=OFF`.
    Off,
    /// `synchronous=NORMAL`.
    Normal,
    /// `synchronous=FULL`.
    Full,
}

const SCHEMA: &str = "
    CREATE TABLE message (
        number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, is_boundary INTEGER NOT NULL, payload BLOB NOT NULL
    ) STRICT;
    CREATE INDEX boundary ON message (number) WHERE is_boundary = 1;";
const INSERT: &str = "INSERT INTO message (id, is_boundary, payload) VALUES (?1, ?2, ?3)";
const WINDOW: &str = "SELECT payload FROM message WHERE number >= coalesce(
    (SELECT number FROM message WHERE is_boundary = 1 ORDER BY number DESC LIMIT 1), 0) ORDER BY number";

/// Rows of a transaction while a session is made that is measured later.
const FILL: usize = 1_000;

impl Sqlite {
    fn connect(self, dir: &Path) -> Result<Connection> {
        let connection = Connection::open(dir.join("session.sqlite"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let synchronous = match self {
            Self::Off => "OFF",
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        Ok(connection)
    }
}

impl Peer for Sqlite {
    fn name(&self) -> &'static str {
        match self {
            Self::Off => "SQLite WAL, OFF",
            Self::Normal => "SQLite WAL, NORMAL",
            Self::Full => "SQLite WAL, FULL",
        }
    }

    fn kind(&self) -> &'static str {
        "SQLite"
    }

    fn survives(&self) -> &'static str {
        match self {
            Self::Off => "survives a kill; a power cut may break the file",
            Self::Normal => "survives a kill; power cuts after a checkpoint",
            Self::Full => "survives a power cut",
        }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let connection = self.connect(dir)?;
        connection.execute_batch(SCHEMA)?;
        Ok(Box::new(Rows { connection, chain: Chain::after(None), buffer: Vec::new() }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let connection = self.connect(dir)?;
        let last: [u8; 16] =
            connection.query_row("SELECT id FROM message ORDER BY number DESC LIMIT 1", [], |row| row.get(0))?;
        Ok(Box::new(Rows { connection, chain: Chain::after(Some(Uuid::from_bytes(last))), buffer: Vec::new() }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let connection = self.connect(dir)?;
        let mut events = Vec::new();
        {
            let mut query = connection.prepare(WINDOW)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                events.push(decoded(row.get_ref(0)?.as_blob()?)?);
            }
        }
        let window = Window::of(events);
        Ok(Window { held: Box::new((connection, window.held)), ..window })
    }
}

struct Rows {
    connection: Connection,
    chain: Chain,
    buffer: Vec<u8>,
}

impl Rows {
    fn insert(&mut self, event: &Event) -> Result<()> {
        self.buffer.clear();
        encode_into(event, &mut self.buffer)?;
        let mut insert = self.connection.prepare_cached(INSERT)?;
        insert.execute(params![event.id.as_bytes(), event.boundary().is_some(), self.buffer])?;
        Ok(())
    }
}

impl Writer for Rows {
    fn append(&mut self, message: Message) -> Result<()> {
        let event = self.chain.next(message);
        self.insert(&event)
    }

    fn compact(&mut self) -> Result<()> {
        self.connection.execute_batch("BEGIN")?;
        self.chain.compaction().iter().try_for_each(|event| self.insert(event))?;
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    fn fill(&mut self, steps: &mut dyn Iterator<Item = Step>) -> Result<()> {
        self.connection.execute_batch("BEGIN")?;
        for (n, step) in steps.enumerate() {
            match step {
                Step::Say(message) => self.append(message)?,
                Step::Compact => self.chain.compaction().iter().try_for_each(|event| self.insert(event))?,
            }
            if n % FILL == FILL - 1 {
                self.connection.execute_batch("COMMIT; BEGIN")?;
            }
        }
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| error.into())
    }
}

impl Finds for Sqlite {
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>> {
        Ok(Box::new(self.connect(dir)?))
    }
}

impl Finder for Connection {
    fn ids(&self) -> Result<Vec<Uuid>> {
        let mut query = self.prepare("SELECT id FROM message ORDER BY number")?;
        let ids = query.query_map([], |row| Ok(Uuid::from_bytes(row.get(0)?)))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    fn find(&self, id: Uuid) -> Result<Option<Event>> {
        let mut query = self.prepare_cached("SELECT payload FROM message WHERE id = ?1")?;
        let event = query.query_row([id.as_bytes()], |row| Ok(decoded(row.get_ref(0)?.as_blob()?)));
        event.optional()?.transpose()
    }
}
