//! A directory of sessions. Nothing but the sessions' own files is kept: a list reads each one's header and end.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::SessionError;
use super::reader::SessionReader;
use super::replay::event_of;
use super::report::Opened;
use super::writer::{Session, SessionOptions};
use crate::event::{Body, IdMaker, SessionMeta, Uuid};
use crate::log::{LogError, LogReader, ParentLink, Place, Verdict, parent_dir};

/// The ending of a session's file name.
pub const EXTENSION: &str = "seslog";

/// A directory of sessions, one file each, named by the session's id.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
    options: SessionOptions,
}

/// What a list shows of a session, read from its header and its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Listed {
    /// Its id: the header's, or the file name's where the header can't be read.
    pub id: Option<Uuid>,
    /// Its file.
    pub path: PathBuf,
    /// Whether it can be opened: clean, recovered or damaged, as far as header and end tell.
    pub open: Opened,
    /// Why it can't be opened, if so.
    pub problem: Option<String>,
    /// Bytes of the file that hold records.
    pub bytes: u64,
    /// When it was made, µs since the epoch.
    pub created_at: i64,
    /// Its last event.
    pub last_event: Option<Uuid>,
    /// The id that it had where it came from.
    pub last_original_id: Option<String>,
    /// When that happened, µs since the epoch.
    pub last_at: Option<i64>,
    /// Its title.
    pub title: Option<String>,
    /// Its labels.
    pub tags: Vec<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The session that it was forked from.
    pub parent: Option<Uuid>,
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
        match Session::open(&self.path_of(id), self.options.clone()) {
            Err(SessionError::Log(LogError::NotFound { .. })) => self.create_as(id, None),
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

    /// Every session, the last written first. Files that are no sessions are passed over; a session that can't be
    /// opened is listed with its problem. Reads each one's header and end.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the directory can't be read.
    pub fn list(&self) -> Result<Vec<Listed>, SessionError> {
        let mut listed: Vec<Listed> = self.files()?.into_iter().map(|(id, path)| self.look(id, path)).collect();
        listed.sort_by_key(|listed| std::cmp::Reverse((listed.last_at, listed.created_at, listed.id)));
        Ok(listed)
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
        self.dir.join(format!("{id}.{EXTENSION}"))
    }

    /// The files that are named like sessions.
    fn files(&self) -> Result<Vec<(Uuid, PathBuf)>, SessionError> {
        let entries = match self.options.fs.list_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => {
                let op = "list the directory";
                return Err(LogError::Io { path: self.dir.clone(), op, offset: 0, source }.into());
            }
        };
        let mut files: Vec<(Uuid, PathBuf)> = entries
            .into_iter()
            .filter_map(|entry| {
                let name = Path::new(&entry.name);
                let is_session = name.extension().is_some_and(|extension| extension == EXTENSION);
                let id = name.file_stem()?.to_str()?.parse().ok()?;
                is_session.then(|| (id, self.dir.join(name)))
            })
            .collect();
        files.sort();
        Ok(files)
    }

    fn look(&self, id: Uuid, path: PathBuf) -> Listed {
        let mut listed = Listed {
            id: Some(id),
            path,
            open: Opened::Damaged,
            problem: None,
            bytes: 0,
            created_at: 0,
            last_event: None,
            last_original_id: None,
            last_at: None,
            title: None,
            tags: Vec::new(),
            cwd: None,
            model: None,
            agent: None,
            parent: None,
        };
        if let Err(error) = self.look_into(&mut listed) {
            listed.open = Opened::Damaged;
            let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            listed.problem = Some(format!("{error}{cause}"));
        }
        listed
    }

    fn look_into(&self, listed: &mut Listed) -> Result<(), SessionError> {
        let (log, report) = LogReader::open(self.options.fs.clone(), &listed.path)?;
        listed.id = Some(log.info().log_id);
        listed.created_at = log.info().created_at;
        listed.parent = log.info().parent.map(|parent| parent.log);
        listed.bytes = log.end();
        listed.open = match report.verdict {
            Verdict::Clean => Opened::Clean,
            Verdict::Damaged => Opened::Damaged,
            _ => Opened::Recovered,
        };
        listed.problem = report.damage.first().map(ToString::to_string);
        if let Some(frame) = log.last_record()? {
            listed.last_event = Some(frame.id());
            if let Some(event) = event_of(&log, &frame)? {
                listed.last_at = Some(event.at);
                listed.last_original_id = event.original_id;
            }
        }
        // Comes last: it may reach back to damage, and the last event is known all the same.
        if let Place::At(offset) = log.note()?.meta
            && let Some(event) = event_of(&log, &log.frame(offset)?)?
            && let Body::SessionMeta(SessionMeta { title, tags, cwd, model, agent, .. }) = event.body
        {
            (listed.title, listed.tags, listed.cwd, listed.model, listed.agent) = (title, tags, cwd, model, agent);
        }
        Ok(())
    }
}
