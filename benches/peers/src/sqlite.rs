//! SQLite in WAL mode: one row a message, one transaction each. On the simulated disk through a file system of our own and
//! with `locking_mode=EXCLUSIVE`, which does without shared memory; the database and its WAL are written in the same way.

use std::path::Path;

use ::seslog::log::Fs as _;
use rusqlite::{Connection, OpenFlags};

use crate::peer::{Disk, Peer, Reading, Result, Writer};
use crate::sqlite_vfs::Mounted;

/// A database with a table of messages.
#[derive(Debug)]
pub struct Sqlite {
    /// `NORMAL` or `FULL`.
    pub synchronous: &'static str,
}

impl Sqlite {
    fn connect(&self, disk: &Disk, dir: &Path) -> Result<Base> {
        let (connection, mounted) = match disk {
            Disk::Real => (Connection::open(dir.join(NAME))?, None),
            Disk::Sim(disk) => {
                let mounted = Mounted::new(disk.clone());
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
                let connection =
                    Connection::open_with_flags_and_vfs(mounted.path(&dir.join(NAME)), flags, mounted.vfs())?;
                connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
                (connection, Some(mounted))
            }
        };
        connection.pragma_update(None, "synchronous", self.synchronous)?;
        Ok(Base { connection, _mounted: mounted })
    }
}

const NAME: &str = "session.db";

impl Peer for Sqlite {
    fn create(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let base = self.connect(disk, dir)?;
        base.connection.pragma_update(None, "journal_mode", "WAL")?;
        base.connection.execute_batch("CREATE TABLE message (id INTEGER PRIMARY KEY, role TEXT, content TEXT)")?;
        if let Disk::Sim(disk) = disk {
            disk.sync_dir(dir)?;
        }
        Ok(Box::new(base))
    }

    fn open(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let base = self.connect(disk, dir)?;
        // The first look at the database is when SQLite recovers.
        base.connection.query_row("SELECT count(*) FROM message", (), |_| Ok(()))?;
        Ok(Box::new(base))
    }

    fn read(&self, disk: &Disk, dir: &Path) -> Result<Reading> {
        let base = self.connect(disk, dir)?;
        let mut reading = Reading::default();
        let mut statement = base.connection.prepare("SELECT content FROM message ORDER BY id")?;
        let mut rows = statement.query(())?;
        loop {
            match rows.next() {
                Ok(Some(row)) => match row.get(0) {
                    Ok(text) => reading.texts.push(text),
                    Err(_) => reading.told = true,
                },
                Ok(None) => return Ok(reading),
                Err(error) if reading.texts.is_empty() => return Err(error.into()),
                Err(_) => {
                    reading.told = true;
                    return Ok(reading);
                }
            }
        }
    }

    fn check(&self, dir: &Path) -> bool {
        let answer = self.connect(&Disk::Real, dir).and_then(|base| {
            let answer: String = base.connection.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))?;
            Ok(answer)
        });
        answer.map_or(true, |answer| answer != "ok")
    }

    /// Row by row, since one that can't be read ends a query.
    fn repair(&self, dir: &Path) -> Result<Vec<String>> {
        let base = self.connect(&Disk::Real, dir)?;
        let mut texts = Vec::new();
        for id in 1..=200 {
            let text = base.connection.query_row("SELECT content FROM message WHERE id = ?1", [id], |row| row.get(0));
            texts.extend(text.ok() as Option<String>);
        }
        Ok(texts)
    }
}

/// The connection goes before the file system that it uses.
struct Base {
    connection: Connection,
    _mounted: Option<Mounted>,
}

impl Writer for Base {
    fn append(&mut self, text: &str) -> Result<()> {
        self.connection.prepare_cached("INSERT INTO message (role, content) VALUES ('user', ?1)")?.execute([text])?;
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))?;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.connection.close().map_err(|(_, error)| error.into())
    }
}
