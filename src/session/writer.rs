//! The writer of a session: append, take back, complete, shorten, rewind.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::clock::{Clock, SystemClock};
use super::commit::{Inner, Placing, Room};
use super::draft::NewEvent;
use super::error::SessionError;
use super::replay::{current, find_event, state_at, whole};
use super::report::ResumeReport;
use super::state::State;
use crate::event::{
    Amend, Body, Compressor, Event, Fields, Head, IdMaker, Kind, MISSING_TOOL_RESULT, Message, Prune, SessionMeta,
    Source, Tombstone, ToolStarted, Uuid,
};
use crate::log::{
    Durability, Fs, LogError, LogInfo, LogOptions, LogView, LogWriter, NewLog, OpenReport, ParentLink, RealFs, Receipt,
};

/// How a session is opened.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// The operating system, or what stands in its place.
    pub fs: Arc<dyn Fs>,
    /// Time and randomness.
    pub clock: Arc<dyn Clock>,
    /// The log's own options.
    pub log: LogOptions,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { fs: RealFs::shared(), clock: Arc::new(SystemClock), log: LogOptions::default() }
    }
}

impl SessionOptions {
    /// These, for a session that is made of another one: it is compressed if that one is, and this build can do it.
    pub(super) fn like(&self, other: &LogInfo) -> Self {
        let mut options = self.clone();
        options.log.compress |= cfg!(feature = "zstd") && other.is_compressed();
        options
    }
}

/// A session open for writing. There is one writer at a time, in any process; any number of threads may share it.
///
/// An append fills in what is left out (id, time, parent), writes the event and folds it into the state under one
/// lock, so the order of the log is the order of the state. What is durable when an append returns is the caller's
/// choice, append by append: see [`Durability`].
#[derive(Debug)]
pub struct Session {
    log: LogWriter,
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    report: ResumeReport,
}

/// What an append did.
///
/// ```
/// # use seslog::event::Message;
/// # use seslog::log::Durability;
/// # fn f(session: &seslog::session::Session) -> Result<(), seslog::session::SessionError> {
/// session.append(Message::user("on the disk"), Durability::Sync)?.wait()?;
/// let appended = session.append(Message::user("on the disk once it is awaited"), Durability::Group)?;
/// let receipt = async { appended.receipt.await };
/// # drop(receipt);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "with anything but `Sync` it is not durable yet; `wait` for it, or say by `let _` that this does not matter here"]
pub struct Appended {
    /// The event's id.
    pub id: Uuid,
    /// The event was there already, with the same content; nothing was written.
    pub known: bool,
    /// Tells when the event is durable.
    pub receipt: Receipt,
}

/// What a batch did.
#[derive(Debug)]
#[must_use = "with anything but `Sync` it is not durable yet; `wait` for it, or say by `let _` that this does not matter here"]
pub struct AppendedBatch {
    /// The events' ids, in the order in which they were given.
    pub ids: Vec<Uuid>,
    /// Tells when the batch is durable.
    pub receipt: Receipt,
}

impl Appended {
    /// Waits until the event is durable; gives its id. With [`Durability::Sync`] it is already.
    ///
    /// # Errors
    /// [`SessionError::Log`] as for [`Receipt::wait`].
    pub fn wait(self) -> Result<Uuid, SessionError> {
        self.receipt.wait()?;
        Ok(self.id)
    }
}

impl AppendedBatch {
    /// Waits until the batch is durable; gives the events' ids. With [`Durability::Sync`] it is already.
    ///
    /// # Errors
    /// [`SessionError::Log`] as for [`Receipt::wait`].
    pub fn wait(self) -> Result<Vec<Uuid>, SessionError> {
        self.receipt.wait()?;
        Ok(self.ids)
    }
}

impl Session {
    /// Makes a new session in a new file and opens it. The file is complete and durable when this returns.
    ///
    /// # Errors
    /// [`SessionError::Log`]: the file exists, or can't be made.
    pub fn create(path: &Path, options: SessionOptions) -> Result<Self, SessionError> {
        let id = IdMaker::after(Uuid::nil()).next(millis(&*options.clock), options.clock.random());
        Self::create_as(path, id, None, options)
    }

    pub(super) fn create_as(
        path: &Path,
        id: Uuid,
        parent: Option<ParentLink>,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let new = NewLog::new(id, options.clock.now()).parent(parent).compressed(options.log.compress);
        let log = LogWriter::create(options.fs, path, new, options.log)?;
        let state = State::new();
        let report = ResumeReport::of_new(&log);
        Ok(Self::over(log, options.clock, state, report))
    }

    /// Opens a session for writing: takes the lock, recovers what a crash left, and replays from the boundary that
    /// counts. Nothing is written to a session that was closed cleanly, nor to one that turns out to be damaged or not
    /// readable. What was found is in [`Session::report`].
    ///
    /// # Errors
    /// [`SessionError::Log`]: no such file, no session, a newer format, locked by another writer, or damaged (then
    /// [`SessionReader`](super::SessionReader) still reads it and salvage makes a new file of it).
    /// [`SessionError::Unreadable`], [`SessionError::UnknownEvent`]: a record that this version can't read.
    pub fn open(path: &Path, options: SessionOptions) -> Result<Self, SessionError> {
        // The replay comes before the recovery writes: damage that it meets leaves the file as it is.
        let (log, open, replayed) = LogWriter::open_after(options.fs, path, options.log, |log, open| {
            let replayed = current(log)?;
            match replayed.damage.is_empty() {
                true => Ok(replayed),
                false => Err(damaged(log, open.clone(), replayed.damage)),
            }
        })?;
        let report = ResumeReport::of_open(&log, &open, &replayed);
        Ok(Self::over(log, options.clock, replayed.state, report))
    }

    fn over(log: LogWriter, clock: Arc<dyn Clock>, state: State, report: ResumeReport) -> Self {
        let ids = IdMaker::after(state.last_id());
        let compressor = log.info().is_compressed().then(Compressor::new).flatten();
        let room = Room::default();
        let inner = Inner { state, ids, stale: false, room, announced: None, keep_whole: false, compressor };
        Self { log, clock, inner: Mutex::new(inner), report }
    }

    /// What the open found: what was set aside, which calls have no result, whether the last turn was interrupted. It
    /// stays as it was then; the calls of now are in [`State::pairing`].
    pub fn report(&self) -> &ResumeReport {
        &self.report
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.info().log_id
    }

    /// What the log's header says.
    #[must_use]
    pub fn info(&self) -> &LogInfo {
        self.log.info()
    }

    /// The session's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// The log, for what counts bytes and syncs.
    #[must_use]
    pub fn log(&self) -> &LogWriter {
        &self.log
    }

    /// Looks at the state without copying it. Appends of other threads wait meanwhile.
    ///
    /// # Errors
    /// As for an append whose state has to be read back from the log.
    pub fn with_state<T>(&self, look: impl FnOnce(&State) -> T) -> Result<T, SessionError> {
        let mut inner = self.lock();
        inner.refresh(&self.log)?;
        Ok(look(&inner.state))
    }

    /// A copy of the state, trimmed to the boundary that counts.
    ///
    /// # Errors
    /// As for [`Session::with_state`].
    pub fn state(&self) -> Result<State, SessionError> {
        self.with_state(State::clone)
    }

    /// The state replayed from the session's first event: what a transcript shows. Reads the whole log.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn whole_state(&self) -> Result<State, SessionError> {
        whole(&self.log)
    }

    /// The state as it was once this event was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of reading the log.
    pub fn at(&self, event: Uuid) -> Result<State, SessionError> {
        state_at(&self.log, event)
    }

    /// The event of this id, as it was written.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn event(&self, id: Uuid) -> Result<Option<Event>, SessionError> {
        Ok(find_event(&self.log, id)?.map(|(event, _)| event))
    }

    /// Appends one event. Its bytes are in the file when this returns (they survive the process); with
    /// [`Durability::Sync`] they are on the disk, with [`Durability::Buffered`] they are written a little later. Of all but
    /// `Sync` the receipt tells when they are on the disk.
    ///
    /// Appending an event whose id is known, with the same content, writes nothing.
    ///
    /// # Errors
    /// [`SessionError::Refused`]: it is a compact boundary, which only [`Session::compact`] writes.
    /// [`SessionError::UnknownParent`]: it names a parent that is not there. [`SessionError::DuplicateId`]: its id is
    /// there with other content. [`SessionError::Log`]: too large, the disk is full, or the writer is poisoned by an
    /// earlier failure; then only a re-open goes on.
    pub fn append(&self, event: impl Into<NewEvent>, durability: Durability) -> Result<Appended, SessionError> {
        let event = event.into();
        let mut inner = self.lock();
        if let Some(id) = event.id
            && let Some(known) = inner.is_known(&self.log, id, |known| event.repeats(known))?
        {
            if !known.is_same {
                return Err(SessionError::DuplicateId { path: self.path().to_owned(), id });
            }
            drop(inner);
            self.keep_known(durability)?;
            return Ok(Appended { id, known: true, receipt: self.log.receipt() });
        }
        refuse_lone_boundary(&event.body)?;
        let (id, receipt) = inner.commit_one(&self.log, &*self.clock, event, Placing::Strict, durability)?;
        drop(inner);
        Ok(Appended { id, known: false, receipt: settled(receipt, durability)? })
    }

    /// What is known may still be held back in memory, or not synced: it is to be kept as well as if it were appended now.
    pub(super) fn keep_known(&self, durability: Durability) -> Result<(), SessionError> {
        match durability {
            Durability::Sync => self.sync(),
            Durability::Buffered => Ok(()),
            _ => Ok(self.log.write_held()?),
        }
    }

    /// Appends several events as one batch: all of them or none survive a crash. A later one may name an earlier one.
    ///
    /// # Errors
    /// As for [`Session::append`]; an id that is known already is [`SessionError::DuplicateId`] even with the same
    /// content, since half a batch can't be left out. An empty batch is [`SessionError::Refused`].
    pub fn append_batch(&self, events: Vec<NewEvent>, durability: Durability) -> Result<AppendedBatch, SessionError> {
        if events.is_empty() {
            return Err(SessionError::Refused { what: "append a batch", why: "it holds no events".into() });
        }
        events.iter().try_for_each(|event| refuse_lone_boundary(&event.body))?;
        let mut inner = self.lock();
        let mut seen = std::collections::HashSet::new();
        for id in events.iter().filter_map(|event| event.id) {
            if !seen.insert(id) || self.log.find(id)?.is_some() {
                return Err(SessionError::DuplicateId { path: self.path().to_owned(), id });
            }
        }
        let committed = inner.commit(&self.log, &*self.clock, events, Placing::Strict, durability)?;
        drop(inner);
        let receipt = settled(committed.receipt, durability)?;
        Ok(AppendedBatch { ids: committed.ids, receipt })
    }

    /// Takes messages back, on every branch, from now on. Nothing is erased: views leave them out, earlier points
    /// still show them. Aimed at a boundary or its summary it takes back the whole compaction.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`] for a target that is not there, [`SessionError::Refused`] for one that is no message,
    /// and those of [`Session::append`].
    pub fn tombstone(
        &self,
        targets: &[Uuid],
        reason: Option<&str>,
        durability: Durability,
    ) -> Result<Appended, SessionError> {
        self.targets_exist("tombstone", targets)?;
        self.append(Tombstone { targets: targets.to_vec(), reason: reason.map(str::to_owned) }, durability)
    }

    /// Completes a message with what became known late: each field of the patch (by its snake_case name) replaces the
    /// old one whole. [`patch_between`](crate::event::patch_between) makes a patch of two messages. A message that was
    /// recorded as text while it streamed may get calls so: what counts are its parts, not its kind.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`]; [`SessionError::Event`] for a patch that does not fit a message, such as one that
    /// would change its role or kind; those of [`Session::append`].
    pub fn amend(&self, target: Uuid, patch: Fields, durability: Durability) -> Result<Appended, SessionError> {
        let event = self.event(target)?.ok_or_else(|| self.no_such_event(target))?;
        match event.message() {
            Some(message) => drop(crate::event::apply_patch(message, &patch)?),
            None => return Err(SessionError::Refused { what: "amend", why: format!("{target} is no message") }),
        }
        self.append(Amend { target, patch }, durability)
    }

    /// Makes old tool results a stub in the model's view. They stay whole elsewhere.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`] for a target that is not there, [`SessionError::Refused`] for one that is no message,
    /// and those of [`Session::append`].
    pub fn prune(&self, targets: &[Uuid], durability: Durability) -> Result<Appended, SessionError> {
        self.targets_exist("prune", targets)?;
        self.append(Prune { targets: targets.to_vec() }, durability)
    }

    /// Moves the current leaf: back to an earlier message, to another branch, or (none) before the first message.
    /// What was left stays a branch; rewinding to its leaf undoes this.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`Session::append`].
    pub fn rewind(&self, to: Option<Uuid>, durability: Durability) -> Result<Appended, SessionError> {
        if let Some(id) = to
            && self.log.find(id)?.is_none()
        {
            return Err(self.no_such_event(id));
        }
        self.append(NewEvent::new(Body::Head(Head { leaf: to })), durability)
    }

    /// Changes what a list of sessions shows; fields that are not given keep their value, an empty text clears one.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn set_meta(&self, change: SessionMeta, durability: Durability) -> Result<Appended, SessionError> {
        self.append(change, durability)
    }

    /// Writes ahead that a tool is about to run, so that a resume knows that its effect may have happened. Append it
    /// with [`Durability::Sync`] before the tool runs.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn tool_started(
        &self,
        call_id: &str,
        idempotency_key: Option<&str>,
        durability: Durability,
    ) -> Result<Appended, SessionError> {
        let body = ToolStarted { call_id: call_id.into(), idempotency_key: idempotency_key.map(str::to_owned) };
        self.append(body, durability)
    }

    /// Appends an error result, flagged synthetic, for each call of the current chain that has none, as one batch.
    /// Returns the ids of the results. A real result that comes later still counts.
    ///
    /// # Errors
    /// Those of [`Session::append`].
    pub fn close_dangling_tool_calls(&self, durability: Durability) -> Result<Vec<Uuid>, SessionError> {
        let results = self.with_state(|state| {
            let close = |call: &super::PairedCall<'_>| {
                let mut message = Message::tool_result(&call.call.id, MISSING_TOOL_RESULT, true);
                message.metadata.synthetic = true;
                message.metadata.source = Some(Source::Runtime);
                message.metadata.source_tool_assistant_id = Some(call.message.event.id.to_string());
                NewEvent::from(message)
            };
            state.pairing().dangling().map(close).collect::<Vec<_>>()
        })?;
        if results.is_empty() {
            return Ok(Vec::new());
        }
        let appended = self.append_batch(results, durability)?;
        Ok(appended.ids)
    }

    /// Makes everything that was appended durable.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the sync fails; the writer is poisoned then.
    pub fn sync(&self) -> Result<(), SessionError> {
        Ok(self.log.sync()?)
    }

    /// Makes everything durable, marks the end and gives the lock up. Dropping a session does the same as well as it
    /// can, without telling.
    ///
    /// # Errors
    /// [`SessionError::Log`] if the end can't be written.
    pub fn close(self) -> Result<(), SessionError> {
        Ok(self.log.close()?)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of a caller's closure leaves the state whole: it is changed by commits only, which mark it stale.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(super) fn no_such_event(&self, id: Uuid) -> SessionError {
        SessionError::NoSuchEvent { path: self.path().to_owned(), id }
    }

    fn targets_exist(&self, what: &'static str, targets: &[Uuid]) -> Result<(), SessionError> {
        if targets.is_empty() {
            return Err(SessionError::Refused { what, why: "no target is named".into() });
        }
        for &id in targets {
            let event = self.event(id)?.ok_or_else(|| self.no_such_event(id))?;
            // What this version does not know may be one.
            if !matches!(event.body, Body::Message(_) | Body::Unknown(_)) {
                return Err(SessionError::Refused { what, why: format!("{id} is no message") });
            }
        }
        Ok(())
    }
}

/// Waits for the sync that an append which waits still lacks. The session is not held any more: others append meanwhile and
/// share it.
pub(super) fn settled(receipt: Receipt, durability: Durability) -> Result<Receipt, SessionError> {
    if durability != Durability::Sync {
        return Ok(receipt);
    }
    receipt.wait()?;
    Ok(Receipt::done())
}

fn millis(clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now() / 1000).unwrap_or(0)
}

fn damaged(log: &LogView, mut report: OpenReport, damage: Vec<crate::log::Damage>) -> SessionError {
    report.verdict = crate::log::Verdict::Damaged;
    report.damage.extend(damage);
    let path: PathBuf = log.path().to_owned();
    SessionError::Log(LogError::Damaged { path, report: Box::new(report) })
}

/// A boundary names what a resume from it needs, and comes with its summary: only a compaction can write one.
pub(super) fn refuse_lone_boundary(body: &Body) -> Result<(), SessionError> {
    match body {
        Body::Message(message) if matches!(message.kind, Kind::CompactBoundary(_)) => Err(SessionError::Refused {
            what: "append a compact boundary",
            why: "it would cut the window without a summary; `Session::compact` writes both".into(),
        }),
        _ => Ok(()),
    }
}
