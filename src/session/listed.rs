//! What a list shows of a session, and the look at its header and end that tells it.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use super::error::SessionError;
use super::read_event::event_of;
use super::report::Opened;
use super::tally::Tally;
use crate::event::{Body, SessionMeta, Uuid};
use crate::log::{Fs, LogError, LogReader, Place, Verdict};

/// In a file of so many bytes a list remembers where its count ended; a smaller one is counted anew.
const MARKED_FROM: u64 = 64 << 10;

/// So many records are looked at from the end for the last one of the conversation.
const LOOK_BACK_MAX: usize = 32;

/// What a list shows of a session, read from its header and its end; counts from all of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Listed {
    /// Its id: the header's, or the file name's where the header can't be read.
    pub id: Option<Uuid>,
    /// Its file.
    #[serde(serialize_with = "super::shown::path")]
    pub path: PathBuf,
    /// Whether it can be opened: clean, recovered or damaged, as far as header and end tell and, if it was counted, all of it.
    pub open: Opened,
    /// Why it can't be opened, or counted.
    pub problem: Option<String>,
    /// Bytes of the file that hold records.
    pub bytes: u64,
    /// Messages and other events in it, as its end says; 0 where the end can't be read.
    pub records: u64,
    /// Messages in its file, on all branches, that were not taken back: what takes part in the conversation
    /// ([`Message::is_said`](crate::event::Message::is_said)), so neither a compaction nor what a runtime notes beside it. None
    /// where they were not counted ([`Store::counted`](super::Store::counted) does), or damage keeps them from it.
    pub messages: Option<u64>,
    /// Ends of the tree of messages, those that were taken back aside; results alone are no branch. None as for `messages`.
    pub branches: Option<u64>,
    /// The first words, 160 characters at most and in one line, of what a person said first and did not take back. None
    /// also where `messages` is.
    pub first_words: Option<String>,
    /// When its first message was said, µs since the epoch, which an import may have from long before the file. None as for
    /// `first_words`.
    pub first_at: Option<i64>,
    /// When it was made, µs since the epoch.
    pub created_at: i64,
    /// Its last event.
    pub last_event: Option<Uuid>,
    /// The id that it had where it came from.
    pub last_original_id: Option<String>,
    /// When the conversation went on last, µs since the epoch: the time of its last event that is neither title and the like nor
    /// another program's own (labels, links); of the last event where none is near the end. Of a fork that was made here at least
    /// the time at which it was made: what it has copied is older.
    pub last_at: Option<i64>,
    /// Its title.
    pub title: Option<String>,
    /// Its labels.
    pub tags: Vec<String>,
    /// The folder that the agent worked in.
    pub cwd: Option<String>,
    /// The model that the session names; else, where it was counted, the one that its last answer names.
    pub model: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The session that it was forked from.
    pub parent: Option<Uuid>,
}

impl Listed {
    /// Bytes of its texts.
    pub(super) fn texts_len(&self) -> usize {
        let Self { problem, last_original_id, title, cwd, model, agent, first_words, .. } = self;
        let texts = [problem, last_original_id, title, cwd, model, agent, first_words];
        texts.into_iter().flatten().chain(&self.tags).map(String::len).sum()
    }
}

/// A session that was looked at.
#[derive(Debug)]
pub(super) struct Looked {
    pub(super) listed: Listed,
    /// The same stamp means the same content, once the times in it are over. Not so where the log was not closed: bytes that
    /// no frame vouches for may be gone after a power cut, and a writer that has zeroed space ahead of it writes without a
    /// change of the size, nor, after a power cut, of the time.
    pub(super) is_settled: bool,
    /// How far it was counted, now or earlier, if that is worth keeping.
    pub(super) tally: Option<Tally>,
}

/// Reads header and end of the file that is named for this id and, if that is asked for, counts what lies behind the place where
/// an earlier count ended.
pub(super) fn look(fs: &Arc<dyn Fs>, id: Uuid, path: PathBuf, before: Option<&Tally>, counts: bool) -> Looked {
    let listed = Listed {
        id: Some(id),
        path,
        open: Opened::Damaged,
        problem: None,
        bytes: 0,
        records: 0,
        messages: None,
        branches: None,
        first_words: None,
        first_at: None,
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
    let mut looked = Looked { listed, is_settled: false, tally: before.cloned() };
    if let Err(error) = look_into(fs, &mut looked, before, counts) {
        let cause = std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
        looked.listed.open = Opened::Damaged;
        looked.listed.problem = Some(format!("{error}{cause}"));
        // It may be the disk's fault, or that of who asked, and over in a moment.
        looked.is_settled = false;
    }
    looked
}

fn look_into(fs: &Arc<dyn Fs>, looked: &mut Looked, before: Option<&Tally>, counts: bool) -> Result<(), SessionError> {
    let listed = &mut looked.listed;
    let (log, report) = LogReader::open(fs.clone(), &listed.path)?;
    looked.is_settled = report.clean_close && report.zero_bytes == 0;
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
    look_back(&log, listed)?;
    // Comes last: it may reach back to damage, and the last event is known all the same.
    listed.records = log.record_count()?;
    if let Place::At(offset) = log.note()?.meta
        && let Some(event) = event_of(&log, &log.frame(offset)?)?
        && let Body::SessionMeta(SessionMeta { title, tags, cwd, model, agent, .. }) = event.body
    {
        (listed.title, listed.tags, listed.cwd, listed.model, listed.agent) = (title, tags, cwd, model, agent);
    }
    if !counts {
        return Ok(());
    }
    match Tally::of(&log, before) {
        Ok(tally) => {
            (listed.messages, listed.branches) = (Some(tally.messages), Some(tally.branches()));
            listed.first_words.clone_from(&tally.first_words);
            listed.first_at = tally.first_at;
            listed.model = listed.model.take().or_else(|| tally.model.clone());
            // A mark is worth its bytes where it spares many, now or each time.
            let is_worth = tally.is_short() && (listed.bytes >= MARKED_FROM || !looked.is_settled);
            looked.tally = Some(tally).filter(|_| is_worth);
        }
        // Damage further back, where header and end are whole: a resume may well not meet it.
        Err(error) => {
            listed.open = Opened::Damaged;
            listed.problem = listed.problem.take().or(Some(error.to_string()));
            looked.tally = None;
            looked.is_settled &= !matches!(error, SessionError::Log(LogError::Io { .. } | LogError::Replaced { .. }));
        }
    }
    Ok(())
}

/// What the end tells: the last event, and when the conversation went on last.
fn look_back(log: &LogReader, listed: &mut Listed) -> Result<(), SessionError> {
    let mut seen = 0;
    for head in log.heads_back() {
        // The end itself must be whole; further back others tell of damage.
        let record = head.map_err(SessionError::from).and_then(|head| match head.frame_type.is_own() {
            true => Ok(None),
            false => log
                .frame(head.offset)
                .map_err(SessionError::from)
                .and_then(|frame| Ok(Some((frame.id(), event_of(log, &frame)?)))),
        });
        let (id, event) = match record {
            Ok(Some(record)) => record,
            Ok(None) => continue,
            Err(_) if seen > 0 => break,
            Err(error) => return Err(error),
        };
        if seen == 0 {
            listed.last_event = Some(id);
        }
        seen += 1;
        if let Some(event) = event {
            let is_aside = matches!(event.body, Body::SessionMeta(_) | Body::Extension(_));
            if seen == 1 || !is_aside {
                listed.last_at = Some(event.at);
            }
            if seen == 1 {
                listed.last_original_id = event.original_id;
            }
            if !is_aside {
                break;
            }
        }
        if seen == LOOK_BACK_MAX {
            break;
        }
    }
    // A fork's id says when it was made; that of an import says when it was where it came from, or nothing.
    let id = listed.id.filter(|id| listed.parent.is_some() && id.get_version_num() == 7);
    let forked_at = id.and_then(|id| i64::try_from(id.as_u128() >> 80).ok()?.checked_mul(1000));
    listed.last_at = listed.last_at.max(forked_at.map(|at| at.min(listed.created_at)));
    Ok(())
}

/// The order of a list: the one that went on last first.
pub(super) fn newest_first(a: &Listed, b: &Listed) -> Ordering {
    // An empty one is as new as its beginning; of a file without a header nothing is known, and it comes last.
    let at = |listed: &Listed| listed.last_at.or(Some(listed.created_at).filter(|at| *at != 0));
    let key = |listed: &Listed| (at(listed), listed.created_at, listed.id);
    key(b).cmp(&key(a)).then_with(|| a.path.as_os_str().cmp(b.path.as_os_str()))
}
