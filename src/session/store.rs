//! A directory of sessions. The sessions' own files are all that counts; what a list has seen of them is kept as a cache.

use std::path::{Path, PathBuf};

use super::error::SessionError;
use super::file_name::{EXTENSION, name_of};
use super::listed::{Listed, look};
use super::listing::{Lister, Listing};
use super::reader::SessionReader;
use super::writer::{Session, SessionOptions};
use crate::event::{IdMaker, Uuid};
use crate::log::{LogError, ParentLink, parent_dir};

/// A directory of sessions, one file each, named by the session's id.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    options: SessionOptions,
}

impl Store {
    /// The store in this directory. The directory is made (only its owner can enter it) when the first session is.
    #[must_use]
    pub fn at(dir: impl Into<PathBuf>, options: SessionOptions) -> Self {
        Self { dir: dir.into(), options }
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The options that its sessions are opened with.
    #[must_use]
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Makes a new session and opens it. File and directory entry are durable when this returns.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the directory or the file can't be made.
    pub fn create(&self) -> Result<Session, SessionError> {
        let now = u64::try_from(self.options.clock.now() / 1000).unwrap_or(0);
        self.create_as(IdMaker::after(Uuid::nil()).next(now, self.options.clock.random()), None)
    }

    /// Opens the session of this id, or makes it: what an import needs that is done twice.
    ///
    /// # Errors
    /// Those of [`Store::create`] and [`Session::open`].
    pub fn open_or_create(&self, id: Uuid) -> Result<Session, SessionError> {
        self.open_or_create_as(id, None)
    }

    /// As [`Store::open_or_create`], for a session that was forked from another one at this event: what an import of a fork
    /// needs. A session that is there keeps the parent that it has.
    ///
    /// # Errors
    /// As [`Store::open_or_create`].
    pub fn open_or_create_fork(&self, id: Uuid, parent: ParentLink) -> Result<Session, SessionError> {
        self.open_or_create_as(id, Some(parent))
    }

    fn open_or_create_as(&self, id: Uuid, parent: Option<ParentLink>) -> Result<Session, SessionError> {
        match Session::open(&self.path_of(id), self.options.clone()) {
            Err(SessionError::Log(LogError::NotFound { .. })) => self.create_as(id, parent),
            other => other,
        }
    }

    pub(super) fn create_as(&self, id: Uuid, parent: Option<ParentLink>) -> Result<Session, SessionError> {
        self.make_dir()?;
        Session::create_as(&self.path_of(id), id, parent, self.options.clone())
    }

    /// Opens a session for writing: by its id, the beginning of one that fits no other, or a path.
    ///
    /// # Errors
    /// [`SessionError::NoSuchSession`], [`SessionError::AmbiguousSession`], and those of [`Session::open`].
    pub fn open(&self, name: &str) -> Result<Session, SessionError> {
        Session::open(&self.resolve(name)?, self.options.clone())
    }

    /// Opens a session for reading, named as for [`Store::open`].
    ///
    /// # Errors
    /// [`SessionError::NoSuchSession`], [`SessionError::AmbiguousSession`], and those of [`SessionReader::open`].
    pub fn read(&self, name: &str) -> Result<SessionReader, SessionError> {
        SessionReader::open(&self.resolve(name)?, self.options.fs.clone())
    }

    /// The file of the session of this name: an id, the beginning of one that fits no other, or a path.
    ///
    /// # Errors
    /// [`SessionError::NoSuchSession`], [`SessionError::AmbiguousSession`], [`SessionError::Log`] if the directory can't
    /// be read.
    pub fn resolve(&self, name: &str) -> Result<PathBuf, SessionError> {
        let as_path = Path::new(name);
        let is_path = name.contains(std::path::MAIN_SEPARATOR) || as_path.extension().is_some_and(|e| e == EXTENSION);
        if is_path {
            return Ok(as_path.to_owned());
        }
        // A whole id names its file: no look at the others.
        if let Ok(id) = Uuid::try_parse(name)
            && self.options.fs.identity(&self.path_of(id)).is_ok()
        {
            return Ok(self.path_of(id));
        }
        let wanted: String = name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
        let mut matches: Vec<(Uuid, PathBuf)> = Vec::new();
        if !wanted.is_empty() {
            for (id, path) in self.files()? {
                if id.simple().to_string().starts_with(&wanted) {
                    matches.push((id, path));
                }
            }
        }
        match matches.as_slice() {
            [] => Err(SessionError::NoSuchSession { name: name.into(), store: self.dir.clone() }),
            [(_, path)] => Ok(path.clone()),
            _ => Err(SessionError::AmbiguousSession {
                prefix: name.into(),
                matches: matches.into_iter().map(|(id, _)| id).collect(),
            }),
        }
    }

    /// Every session, the one with the latest last event first. That is the time which the last record says it happened at, not
    /// the time of the writing: a session of last year that is imported today stands among those of last year, and one that
    /// is given an event of an earlier time moves down. Files that are no sessions are passed over; a session that can't be
    /// opened is listed with its problem. What is in a session is told only where [`Store::counted`] has counted it before.
    ///
    /// What an earlier list has seen is taken from the store's catalogue, which is only a cache (`.cache/catalogue` in the
    /// directory): the stamp of every file is looked at each time (see [`FileStamp`](crate::log::FileStamp)), and header and
    /// end are read of those that are new, have changed in any way, or were not closed. [`Store::listing`] tells which.
    /// A stamp can't tell of bits that rot on the disk (`verify` does), nor of what another host has just written where a
    /// network file system keeps stamps for a while.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the directory can't be read. A catalogue that can't be read or written is no error.
    pub fn list(&self) -> Result<Vec<Listed>, SessionError> {
        Ok(self.listing()?.sessions)
    }

    /// The same as [`Store::list`], with what it found and did.
    ///
    /// # Errors
    /// Those of [`Store::list`].
    pub fn listing(&self) -> Result<Listing, SessionError> {
        Lister::of(&self.options.fs, &self.dir).all()
    }

    /// The `count` sessions that were written last, the last one first, without a look at each of the others: where the
    /// directory's own stamp is that of the last list, only those are looked at that are told, or were not closed then.
    ///
    /// That stamp changes when a session is made, removed, renamed or replaced, and each [`Session`] changes it
    /// before it writes. It does not when **another program writes into a session's file in place**: if that session
    /// belongs among the newest only since then, it is missing here until the next [`Store::list`], which notices. The
    /// same holds for a session that is written through a link from another directory, through
    /// [`LogWriter`](crate::log::LogWriter) alone, or by somebody who may not write in the directory, for one whose last bytes
    /// reached the disk before a power cut while the directory's stamp did not, and for other hosts' sessions where a
    /// network file system keeps stamps for a while. What is told of a session is what its file holds.
    ///
    /// # Errors
    /// Those of [`Store::list`].
    pub fn newest(&self, count: usize) -> Result<Listing, SessionError> {
        Lister::of(&self.options.fs, &self.dir).newest(count)
    }

    /// The same as [`Store::listing`], or [`Store::newest`] for a number, with messages and branches counted and the first words.
    /// A session that was not counted before is read whole for that, once; of one that has grown only what is new (but whole if
    /// messages were taken back in that), also while it is being written. Damage that is met is told in `problem`.
    ///
    /// # Errors
    /// Those of [`Store::list`].
    pub fn counted(&self, newest: Option<usize>) -> Result<Listing, SessionError> {
        match newest {
            Some(count) => Lister::counting(&self.options.fs, &self.dir).newest(count),
            None => Lister::counting(&self.options.fs, &self.dir).all(),
        }
    }

    /// What a list tells of the session in this file, counted, without a catalogue. That it can't be opened is told in it.
    #[must_use]
    pub fn look(&self, path: &Path) -> Listed {
        let id = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        let looked = look(&self.options.fs, id.unwrap_or_default(), path.to_owned(), None, true);
        Listed { id: looked.listed.id.filter(|found| !found.is_nil()), ..looked.listed }
    }

    /// Takes what the catalogue holds of a session out of it, for one whose file was removed. (A list passes over what has no
    /// file, but may leave the bytes where they are for a while.) A catalogue that is not whole is removed.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the catalogue can't be written: what it held is still there.
    pub fn forget(&self, id: Uuid) -> Result<(), SessionError> {
        let failed = |source| LogError::io(&self.dir, "write the catalogue anew", 0, source);
        Ok(super::keeping::forget(&self.options.fs, &self.dir, id).map_err(failed)?)
    }

    /// The store's directory and those above it that were missing are durable afterwards: what is acknowledged in them
    /// must be found after a power cut.
    pub(super) fn make_dir(&self) -> Result<(), SessionError> {
        let fs = &*self.options.fs;
        let is_missing =
            |dir: &&Path| fs.identity(dir).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        let above = self.dir.ancestors().filter(|dir| !dir.as_os_str().is_empty());
        let missing: Vec<&Path> = above.take_while(is_missing).collect();
        let failed = |source| LogError::io(&self.dir, "make the directory", 0, source);
        fs.create_dir(&self.dir).map_err(failed)?;
        missing.iter().try_for_each(|dir| fs.sync_dir(parent_dir(dir))).map_err(failed)?;
        Ok(())
    }

    pub(super) fn path_of(&self, id: Uuid) -> PathBuf {
        self.dir.join(name_of(id))
    }

    /// The files that are named like sessions.
    fn files(&self) -> Result<Vec<(Uuid, PathBuf)>, SessionError> {
        let names = Lister::of(&self.options.fs, &self.dir).names()?;
        let mut files: Vec<(Uuid, PathBuf)> = names.into_iter().map(|(id, name)| (id, self.dir.join(name))).collect();
        files.sort();
        Ok(files)
    }
}
