//! A session open for reading: no lock, and what is damaged is told instead of refused.

use std::path::Path;
use std::sync::Arc;

use super::error::SessionError;
use super::read_event::event_of;
use super::replay::{current, find_event, replay, state_at, whole};
use super::report::ResumeReport;
use super::state::State;
use crate::event::{Event, Uuid};
use crate::log::{Fs, LogInfo, LogReader};

/// A session open for reading. It takes no lock, sees what was there when it opened, and can follow a live writer.
///
/// A reader keeps the file that it has opened, also when another one takes its place ([`Session::redact`](super::Session::redact) does
/// that): what it reads is then the old one, to its end, and [`SessionReader::follow`] says that it was replaced.
///
/// Records that end at or before [`LogView::durable_end`](crate::log::LogView::durable_end) never vanish; those behind it are visible but may be
/// gone after a power cut.
#[derive(Debug)]
pub struct SessionReader {
    log: LogReader,
    state: State,
    report: ResumeReport,
    /// Where the next record begins.
    next: u64,
}

impl SessionReader {
    /// Opens a session for reading and replays from the boundary that counts. A damaged session opens too: with what
    /// lies before the damage, and the damage in [`SessionReader::report`].
    ///
    /// # Errors
    /// [`SessionError::Log`]: no such file, no session, a newer format, or the disk fails to read.
    pub fn open(path: &Path, fs: Arc<dyn Fs>) -> Result<Self, SessionError> {
        let (log, open) = LogReader::open(fs, path)?;
        let replayed = current(&log)?;
        let report = ResumeReport::of(log.info().log_id, &log, &open, &replayed);
        let next = log.end();
        Ok(Self { log, state: replayed.state, report, next })
    }

    /// What the open found in the bytes; boundary, leaf, open calls and repaired parents as of the last
    /// [`SessionReader::follow`].
    pub fn report(&self) -> &ResumeReport {
        &self.report
    }

    /// The state, trimmed to the boundary that counts.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Every event of the session in the order of the file, each as it was written. An error ends it.
    ///
    /// # Errors
    /// Each item: [`SessionError::Log`] where the log is damaged or can't be read, [`SessionError::Unreadable`] for a record that
    /// holds no event, [`SessionError::UnknownEvent`] for one that this version must not skip.
    pub fn events(&self) -> impl Iterator<Item = Result<Event, SessionError>> {
        self.log.frames(0).filter_map(|frame| match frame {
            Ok(frame) => event_of(&self.log, &frame).transpose(),
            Err(error) => Some(Err(error.into())),
        })
    }

    /// What the log's header says.
    #[must_use]
    pub fn info(&self) -> &LogInfo {
        self.log.info()
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.info().log_id
    }

    /// The session's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.log.path()
    }

    /// The log, for what counts bytes, and for what is visible and what durable.
    #[must_use]
    pub fn log(&self) -> &LogReader {
        &self.log
    }

    /// The state replayed from the session's first event. Reads the whole log.
    ///
    /// # Errors
    /// Those of reading the log. [`LogError::Damaged`](crate::log::LogError::Damaged) if damage would cut the state
    /// short; what lies before it is in [`Store::history`](super::Store::history).
    pub fn whole_state(&self) -> Result<State, SessionError> {
        whole(&self.log)
    }

    /// The state without what may be gone after a power cut: only records that end at or before the durable end.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn durable_state(&self) -> Result<State, SessionError> {
        let durable_end = self.log.durable_end();
        if durable_end >= self.next {
            return Ok(self.state.clone());
        }
        let from = self.state.boundary().filter(|_| !self.state.is_complete()).map_or(0, |entry| entry.offset);
        let from = if from < durable_end { from } else { 0 };
        let mut last = None;
        for frame in self.log.frames(from) {
            let frame = frame?;
            if frame.next_offset() > durable_end {
                break;
            }
            last = Some((frame.offset(), frame.head().boundary_off));
        }
        match last {
            None => Ok(State::new()),
            Some((offset, boundary)) => replay(&self.log, boundary, Some(offset))?.unharmed(),
        }
    }

    /// The state as it was once this event was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`SessionReader::whole_state`].
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

    /// Takes in what a live writer has appended since. Returns how many events are new.
    ///
    /// # Errors
    /// Those of reading the log; the file was truncated or replaced.
    pub fn follow(&mut self) -> Result<u64, SessionError> {
        self.follow_with(|_| {})
    }

    /// Like [`SessionReader::follow`], and shows each new event, as it was written, in the order of the log. Those
    /// that were shown before an error are not shown again; the next call goes on with the one that could not be read.
    ///
    /// # Errors
    /// As for [`SessionReader::follow`].
    pub fn follow_with(&mut self, mut show: impl FnMut(&Event)) -> Result<u64, SessionError> {
        self.log.refresh()?;
        // An earlier call may have stopped before the end.
        if self.next == self.log.end() {
            return Ok(0);
        }
        let mut events = 0;
        for frame in self.log.frames(self.next) {
            let frame = frame?;
            if let Some(event) = event_of(&self.log, &frame)? {
                show(&event);
                self.state.push(event, frame.offset());
                events += 1;
            }
            self.next = frame.next_offset();
        }
        if self.state.is_cut_short() {
            self.state = current(&self.log)?.unharmed()?;
        } else {
            self.state.trim();
        }
        self.report.look_at(&self.state);
        Ok(events)
    }
}
