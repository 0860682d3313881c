//! The end of a session, event by event as it grows: without a state, and without what lies further back.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use super::error::SessionError;
use super::read_event::event_of;
use crate::event::{Event, Uuid};
use crate::log::{FrameHead, FrameType, Fs, HintClass, LogError, LogReader, OpenReport};

/// The last events that were shown are remembered: behind which of them it goes on in a new file. One of them may have been
/// left out there.
const REMEMBERED_MAX: usize = 4096;

/// Follows the events of a session in the order of the file, beside any writer. It goes on when the session is rewound or
/// compacted, when another process opens it, and when its file is replaced by another one of the same session.
///
/// What it shows is visible, and durable where [`LogView::durable_end`](crate::log::LogView::durable_end) says so.
#[derive(Debug)]
pub struct Tail {
    fs: Arc<dyn Fs>,
    log: LogReader,
    open: OpenReport,
    /// Where the next record begins.
    next: u64,
    /// The last events before that, the latest at the end.
    before: VecDeque<Uuid>,
}

/// What a look at the end of a session found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Growth {
    /// So many events are new, and were shown.
    Events(u64),
    /// The path names another file of the same session by now. The next look goes on behind this event, which is the latest
    /// of those before that the new file holds; none: it holds none of them, and is shown from its beginning.
    Replaced {
        /// The event.
        behind: Option<Uuid>,
    },
}

impl Tail {
    /// Opens a session so that the first look shows the last `messages` messages and what lies between and behind them. Reads
    /// no more of the file than that. A damaged session ends where its damage begins; [`Tail::report`] tells.
    ///
    /// # Errors
    /// [`SessionError::Log`]: no such file, no session, a newer format, or the disk fails to read; and those of reading its last
    /// events.
    pub fn open(path: &Path, fs: Arc<dyn Fs>, messages: usize) -> Result<Self, SessionError> {
        let (log, open) = LogReader::open(fs.clone(), path)?;
        let (next, before) = place_before(&log, messages)?;
        Ok(Self { fs, log, open, next, before: before.into_iter().collect() })
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.log.info().log_id
    }

    /// What the last open of the file found.
    pub fn report(&self) -> &OpenReport {
        &self.open
    }

    /// The log, for what counts bytes, and for what is visible and what durable.
    #[must_use]
    pub fn log(&self) -> &LogReader {
        &self.log
    }

    /// Shows each event that has come since, as it was written. Of a file that nobody writes it reads nothing, so it may be
    /// called many times a second (see [`LogReader::refresh`]).
    ///
    /// # Errors
    /// [`SessionError::Log`] with [`LogError::NotFound`] if the file was removed, with [`LogError::Replaced`] if the path names
    /// another session by now; and those of reading the log. Events that were shown before an error are not shown again.
    pub fn look(&mut self, mut show: impl FnMut(Event)) -> Result<Growth, SessionError> {
        match self.log.refresh() {
            Err(LogError::Replaced { .. }) => return self.reopen(),
            other => other?,
        };
        let mut count = 0;
        if self.next < self.log.end() {
            for frame in self.log.frames(self.next) {
                let frame = frame?;
                if let Some(event) = event_of(&self.log, &frame)? {
                    if self.before.len() == REMEMBERED_MAX {
                        self.before.pop_front();
                    }
                    self.before.push_back(event.id);
                    show(event);
                    count += 1;
                }
                self.next = frame.next_offset();
            }
        }
        Ok(Growth::Events(count))
    }

    /// The file that the path names now, from behind the last event that both hold.
    fn reopen(&mut self) -> Result<Growth, SessionError> {
        let (log, open) = LogReader::open(self.fs.clone(), self.log.path())?;
        if log.info().log_id != self.id() {
            return Err(LogError::Replaced {
                path: log.path().to_path_buf(),
                expected: format!("the session {}", self.id()),
                found: format!("the session {}", log.info().log_id),
            }
            .into());
        }
        let mut behind = None;
        for &id in self.before.iter().rev() {
            if let Some(found) = log.find(id)? {
                behind = Some((id, log.header(found.offset)?.next_offset()));
                break;
            }
        }
        (self.log, self.open, self.next) = (log, open, behind.map_or(0, |(_, next)| next));
        Ok(Growth::Replaced { behind: behind.map(|(id, _)| id) })
    }
}

/// Where the last so many messages begin, and the record before.
fn place_before(log: &LogReader, messages: usize) -> Result<(u64, Option<Uuid>), SessionError> {
    let (mut next, mut left) = (log.end(), messages);
    for head in log.heads_back() {
        let head = head?;
        if head.frame_type.is_own() {
            continue;
        }
        if left == 0 {
            return Ok((next, Some(head.id)));
        }
        left -= usize::from(is_message(log, &head)?);
        next = head.offset;
    }
    Ok((next, None))
}

fn is_message(log: &LogReader, head: &FrameHead) -> Result<bool, SessionError> {
    Ok(match (head.frame_type, head.hint) {
        (FrameType::Boundary, _) | (FrameType::Event, HintClass::ResultOf) => true,
        (FrameType::Event, HintClass::Plain) => {
            event_of(log, &log.frame(head.offset)?)?.is_some_and(|event| event.message().is_some())
        }
        _ => false,
    })
}
