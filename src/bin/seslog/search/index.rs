//! The index of what messages say: an SQLite database in the store's cache. It holds which words stand where, not the texts.

use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use seslog::event::Uuid;

use super::filter::{Filter, TITLE};
use super::words::indexed;
use crate::output::tell;

/// The number of its layout, and of what of a message is in it: a database with another one is made anew.
const LAYOUT: i64 = 2;
/// Says whose database it is; the session layer knows it by the same number (`cache_dir.rs`).
const APPLICATION: i64 = 0x5e51_0601;
/// How long the header of an SQLite database is, and where in it stands whose it is.
const HEAD_LEN: u64 = 100;
const APPLICATION_AT: usize = 68;
/// How long a database that another program holds is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

const SCHEMA: &str = "
    CREATE TABLE session (
        id INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, tag INTEGER NOT NULL, stamp TEXT, read_to INTEGER NOT NULL,
        problem TEXT
    );
    CREATE TABLE message (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL, place INTEGER NOT NULL, event BLOB NOT NULL, at INTEGER NOT NULL,
        role TEXT NOT NULL
    );
    CREATE INDEX message_event ON message (session, event);
    CREATE INDEX message_place ON message (session, place);
    CREATE TABLE change (session INTEGER NOT NULL, target BLOB NOT NULL, place INTEGER NOT NULL);
    CREATE INDEX change_target ON change (session, target);
    CREATE VIRTUAL TABLE words USING fts5(
        text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
    );";

pub(super) struct Index {
    db: Connection,
    /// Held while the index is brought up to date: two at once would do the work twice.
    lock: Option<File>,
}

/// What the index knows of a session's file.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) session: i64,
    /// The file's tag, which a new file under the old name does not have.
    pub(super) tag: u32,
    /// The file's stamp, if it vouches for its content.
    pub(super) stamp: Option<String>,
    /// Everything before this place is in the index.
    pub(super) read_to: u64,
    /// Why what lies behind it is not.
    pub(super) problem: Option<String>,
}

/// A message, or a title, as it goes into the index.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) event: Uuid,
    pub(super) place: u64,
    pub(super) at: i64,
    pub(super) role: &'static str,
    pub(super) text: String,
}

/// A message that fits.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: String,
    pub(super) event: Uuid,
    pub(super) place: u64,
    pub(super) at: i64,
    pub(super) role: String,
    /// How well it fits: the higher, the better.
    pub(super) score: f64,
    /// Where what was changed in it later stands.
    pub(super) changes: Vec<u64>,
}

impl Index {
    /// The index of the store in this directory, made if it is not there.
    pub(super) fn open(store: &Path) -> rusqlite::Result<Self> {
        // A path without links, so that none has to be followed to the database.
        let cache = std::fs::canonicalize(store).map_err(told)?.join(".cache");
        let lock = lock(&cache).map_err(told)?;
        let path = cache.join("search.db");
        if is_foreign(&path).map_err(told)? {
            let what = "is no index of Seslog's and is left as it is; move it elsewhere, and the next search makes one";
            return Err(told(io::Error::other(format!("`{}` {what}", path.display()))));
        }
        let mut index = Self { db: connect(&path)?, lock: Some(lock) };
        if !index.prepare()? {
            drop(index.db);
            remove(store);
            index.db = connect(&path)?;
            index.prepare()?;
        }
        Ok(index)
    }

    /// One that is gone afterwards.
    pub(super) fn in_memory() -> rusqlite::Result<Self> {
        let index = Self { db: Connection::open_in_memory()?, lock: None };
        index.prepare()?;
        Ok(index)
    }

    /// Whether it is of this layout now.
    fn prepare(&self) -> rusqlite::Result<bool> {
        self.db.busy_timeout(PATIENCE)?;
        let number = |pragma: &str| self.db.query_row(pragma, [], |row| row.get::<_, i64>(0));
        let found = (number("PRAGMA application_id")?, number("PRAGMA user_version")?, number("PRAGMA page_count")?);
        let is_new = found == (0, 0, 0);
        // Nothing is changed in a database that is somebody else's.
        if !is_new && (found.0, found.1) != (APPLICATION, LAYOUT) {
            return Ok(false);
        }
        if is_new {
            // In the file itself and first of all: whoever erases removes no database that does not say that it is ours.
            self.db.execute_batch(&format!("PRAGMA application_id = {APPLICATION};"))?;
        }
        self.db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000;")?;
        if is_new {
            let numbers = format!("PRAGMA user_version = {LAYOUT};");
            self.db.execute_batch(&format!("BEGIN; {SCHEMA} {numbers} COMMIT;"))?;
        }
        Ok(true)
    }

    /// It is up to date: others may work on it now.
    pub(super) fn unlock(&mut self) {
        self.lock = None;
    }

    pub(super) fn begin(&self) -> rusqlite::Result<()> {
        self.db.execute_batch("BEGIN IMMEDIATE")
    }

    pub(super) fn commit(&self) -> rusqlite::Result<()> {
        self.db.execute_batch("COMMIT")
    }

    pub(super) fn roll_back(&self) -> rusqlite::Result<()> {
        self.db.execute_batch("ROLLBACK")
    }

    /// The sessions of which it knows, by file name.
    pub(super) fn known(&self) -> rusqlite::Result<HashMap<String, Known>> {
        let mut query = self.db.prepare("SELECT file, id, tag, stamp, read_to, problem FROM session")?;
        let rows = query.query_map([], |row| {
            let known = Known {
                session: row.get(1)?,
                tag: row.get(2)?,
                stamp: row.get(3)?,
                read_to: row.get::<_, i64>(4)?.cast_unsigned(),
                problem: row.get(5)?,
            };
            Ok((row.get(0)?, known))
        })?;
        rows.collect()
    }

    /// Begins to take in a session's file from a place on: what is known from there on counts no longer. Gives its number.
    pub(super) fn begin_session(&self, file: &str, tag: u32, from: u64) -> rusqlite::Result<i64> {
        let add = "INSERT INTO session (file, tag, read_to) VALUES (?1, ?2, 0)
            ON CONFLICT (file) DO UPDATE SET tag = ?2, stamp = NULL RETURNING id";
        let session = self.db.prepare_cached(add)?.query_row(params![file, tag], |row| row.get(0))?;
        self.forget(session, from)?;
        Ok(session)
    }

    /// All of it is taken in up to `known.read_to`.
    pub(super) fn end_session(&self, known: &Known) -> rusqlite::Result<()> {
        let set = "UPDATE session SET tag = ?2, stamp = ?3, read_to = ?4, problem = ?5 WHERE id = ?1";
        let read_to = known.read_to.cast_signed();
        let values = params![known.session, known.tag, known.stamp, read_to, known.problem];
        self.db.prepare_cached(set)?.execute(values).map(drop)
    }

    /// Takes a session out whose file is gone.
    pub(super) fn remove_session(&self, session: i64) -> rusqlite::Result<()> {
        self.forget(session, 0)?;
        self.db.execute("DELETE FROM session WHERE id = ?1", [session]).map(drop)
    }

    fn forget(&self, session: i64, from: u64) -> rusqlite::Result<()> {
        let from = from.cast_signed();
        for forget in [
            "DELETE FROM words WHERE rowid IN (SELECT id FROM message WHERE session = ?1 AND place >= ?2)",
            "DELETE FROM message WHERE session = ?1 AND place >= ?2",
            "DELETE FROM change WHERE session = ?1 AND place >= ?2",
        ] {
            self.db.prepare_cached(forget)?.execute(params![session, from])?;
        }
        Ok(())
    }

    pub(super) fn add(&self, session: i64, entry: &Entry) -> rusqlite::Result<()> {
        if entry.role == TITLE {
            let old = "SELECT event FROM message WHERE session = ?1 AND role = ?2";
            let old: Option<Uuid> = self
                .db
                .prepare_cached(old)?
                .query_row(params![session, TITLE], |row| Ok(id(row.get(0)?)))
                .optional()?;
            old.map_or(Ok(()), |old| self.take_out(session, old))?;
        }
        let add = "INSERT INTO message (session, place, event, at, role) VALUES (?1, ?2, ?3, ?4, ?5)";
        let place = entry.place.cast_signed();
        let row = params![session, place, entry.event.into_bytes(), entry.at, entry.role];
        self.db.prepare_cached(add)?.execute(row)?;
        self.add_words(self.db.last_insert_rowid(), &entry.text)
    }

    fn add_words(&self, row: i64, text: &str) -> rusqlite::Result<()> {
        let add = "INSERT INTO words (rowid, text) VALUES (?1, ?2)";
        self.db.prepare_cached(add)?.execute(params![row, indexed(text)]).map(drop)
    }

    /// A message was taken back.
    pub(super) fn take_out(&self, session: i64, event: Uuid) -> rusqlite::Result<()> {
        for forget in [
            "DELETE FROM words WHERE rowid IN (SELECT id FROM message WHERE session = ?1 AND event = ?2)",
            "DELETE FROM message WHERE session = ?1 AND event = ?2",
        ] {
            self.db.prepare_cached(forget)?.execute(params![session, event.into_bytes()])?;
        }
        Ok(())
    }

    /// Notes a change of a message.
    pub(super) fn note_change(&self, session: i64, target: Uuid, place: u64) -> rusqlite::Result<()> {
        let add = "INSERT INTO change (session, target, place) VALUES (?1, ?2, ?3)";
        let row = params![session, target.into_bytes(), place.cast_signed()];
        self.db.prepare_cached(add)?.execute(row).map(drop)
    }

    /// Where a message and all changes of it stand, unless it is not in the index.
    pub(super) fn changed(&self, session: i64, target: Uuid) -> rusqlite::Result<Option<(u64, Vec<u64>)>> {
        let there = "SELECT place FROM message WHERE session = ?1 AND event = ?2";
        let there: Option<i64> = self
            .db
            .prepare_cached(there)?
            .query_row(params![session, target.into_bytes()], |row| row.get(0))
            .optional()?;
        there.map(|there| Ok((there.cast_unsigned(), self.changes(session, target)?))).transpose()
    }

    /// A message says something else by now.
    pub(super) fn replace(&self, session: i64, event: Uuid, text: &str) -> rusqlite::Result<()> {
        let row = "SELECT id FROM message WHERE session = ?1 AND event = ?2";
        let row: i64 =
            self.db.prepare_cached(row)?.query_row(params![session, event.into_bytes()], |row| row.get(0))?;
        self.db.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([row])?;
        self.add_words(row, text)
    }

    fn changes(&self, session: i64, target: Uuid) -> rusqlite::Result<Vec<u64>> {
        let places = "SELECT place FROM change WHERE session = ?1 AND target = ?2 ORDER BY place";
        let mut query = self.db.prepare_cached(places)?;
        let rows =
            query.query_map(params![session, target.into_bytes()], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))?;
        rows.collect()
    }

    /// How many messages fit, and the best of them; of two that fit as well the later one comes first. Within a transaction.
    pub(super) fn find(&self, query: &str, filter: &Filter, limit: usize) -> rusqlite::Result<(usize, Vec<Found>)> {
        if let Some(files) = &filter.files {
            self.db.execute_batch("CREATE TEMP TABLE wanted (file TEXT PRIMARY KEY) WITHOUT ROWID")?;
            let mut add = self.db.prepare("INSERT OR IGNORE INTO temp.wanted VALUES (?1)")?;
            files.iter().try_for_each(|file| add.execute([file]).map(drop))?;
        }
        let of_wanted = match filter.files {
            Some(_) => " AND session.file IN (SELECT file FROM temp.wanted)",
            None => "",
        };
        let rest = format!(
            "FROM words JOIN message ON message.id = words.rowid JOIN session ON session.id = message.session
            WHERE words MATCH ?1 AND message.at BETWEEN ?3 AND ?4 AND (?5 IS NULL OR message.role = ?5){of_wanted}"
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (since, until) = (filter.since.unwrap_or(i64::MIN), filter.until.unwrap_or(i64::MAX));
        let values = params![query, limit, since, until, filter.role];
        let count: i64 = match filter.takes_all() {
            // Without a look at each of them.
            true => self.db.query_row("SELECT count(*) FROM words WHERE words MATCH ?1", [query], |row| row.get(0))?,
            false => self.db.query_row(&format!("SELECT count(*) {rest}"), values, |row| row.get(0))?,
        };
        let best = format!(
            "SELECT session.file, message.event, message.place, message.at, message.role, -bm25(words), session.id {rest}
            ORDER BY bm25(words), message.at DESC, message.event LIMIT ?2"
        );
        let mut best = self.db.prepare(&best)?;
        let rows = best.query_map(values, |row| {
            let event = id(row.get(1)?);
            Ok(Found {
                file: row.get(0)?,
                event,
                place: row.get::<_, i64>(2)?.cast_unsigned(),
                at: row.get(3)?,
                role: row.get(4)?,
                score: row.get(5)?,
                changes: self.changes(row.get(6)?, event)?,
            })
        })?;
        Ok((usize::try_from(count).unwrap_or(0), rows.collect::<rusqlite::Result<_>>()?))
    }
}

fn id(bytes: [u8; 16]) -> Uuid {
    Uuid::from_bytes(bytes)
}

/// Whether there is something that is neither an index of ours, whatever became of it behind its header, nor empty.
fn is_foreign(path: &Path) -> io::Result<bool> {
    // What is no file is refused where it is opened.
    if !path.symlink_metadata().is_ok_and(|about| about.is_file()) {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_LEN).read_to_end(&mut head)?;
    let application = head.get(APPLICATION_AT..).and_then(|rest| rest.first_chunk()).copied().map(u32::from_be_bytes);
    let is_ours = head.starts_with(b"SQLite format 3\0") && application.map(i64::from) == Some(APPLICATION);
    Ok(!is_ours && head.iter().any(|byte| *byte != 0))
}

/// The database at this place, which is made for its owner alone. A link is not followed.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    private(path).map_err(told)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Takes the database away. What can't be removed is met again where it is opened.
pub(super) fn remove(store: &Path) {
    for name in ["search.db", "search.db-wal", "search.db-shm"] {
        _ = std::fs::remove_file(store.join(".cache").join(name));
    }
}

/// Whether the index may be as it should, and can't be reached or written.
pub(super) fn is_no_fault_of_its(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    match (error, error.sqlite_error_code()) {
        (rusqlite::Error::ToSqlConversionFailure(_), _) => true,
        (_, Some(Code::CannotOpen | Code::ReadOnly | Code::PermissionDenied | Code::SystemIoFailure)) => true,
        (_, Some(Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed)) => true,
        (_, Some(code)) => matches!(code, Code::DiskFull | Code::OutOfMemory),
        _ => false,
    }
}

/// One process at a time brings the index up to date.
fn lock(cache: &Path) -> io::Result<File> {
    if cache.symlink_metadata().is_ok_and(|about| about.is_symlink()) {
        return Err(io::Error::other(format!("`{}` is a link; no cache is kept behind one", cache.display())));
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(cache)?;
    let file = private(&cache.join("search.lock"))?;
    if fs2::FileExt::try_lock_exclusive(&file).is_err() {
        tell("another search brings the index up to date; waiting for it");
        fs2::FileExt::lock_exclusive(&file)?;
    }
    Ok(file)
}

/// The file, made for its owner alone if it is not there.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if path.symlink_metadata().is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::other(format!("`{}` is no file", path.display())));
    }
    options.read(true).write(true).create(true).truncate(false).open(path)
}

fn told(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}
