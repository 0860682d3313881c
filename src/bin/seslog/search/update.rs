//! Brings the index up to date: what is new in the sessions is read by as many threads as there are processors, and taken
//! in by one.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, SystemTime};

use seslog::event::{Body, Message, Uuid, apply_patch, decode};
use seslog::log::{LogReader, RealFs};
use seslog::session::Listed;

use super::filter::TITLE;
use super::index::{Entry, Index, Known};
use super::words::text_of;
use crate::progress::Progress;

/// A stamp vouches for what was read only if it was this old by then: a file system's times are that coarse.
const STAMP_AGE: Duration = Duration::from_secs(2);
/// Bytes of text that are handed over together, and pieces of so many that may wait.
const PIECE: usize = 256 << 10;
const WAITING: usize = 8;
/// Pieces that are taken in by one transaction.
const TRANSACTION: usize = 64;

/// What of a session is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What never vanishes: it stays in the index.
    Lasting,
    /// What lies behind it: it may be gone after a power cut, and is forgotten after the search.
    Rest,
}

/// A session's file whose end is not in the index.
struct Work<'a> {
    listed: &'a Listed,
    file: String,
    known: Option<Known>,
}

/// What is found in a file, in its order.
enum Note {
    Begin { tag: u32, from: u64 },
    Entry(Entry),
    TakenBack(Vec<Uuid>),
    Changed { target: Uuid, place: u64 },
    End { tag: u32, stamp: Option<String>, read_to: u64, problem: Option<String> },
}

/// Takes in this part of all sessions, and forgets those that are gone. Begins and ends no transaction for the rest.
pub(super) fn update(index: &Index, sessions: &[Listed], part: Part, tells: bool) -> rusqlite::Result<()> {
    let mut known = index.known()?;
    let mut works = Vec::new();
    for listed in sessions {
        let Some(file) = listed.path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        let known = known.remove(&file);
        let is_unchanged = |known: &Known| known.stamp.is_some() && known.stamp == stamp(&listed.path);
        if !known.as_ref().is_some_and(is_unchanged) {
            works.push(Work { listed, file, known });
        }
    }
    if part == Part::Lasting {
        index.begin()?;
        known.values().try_for_each(|gone| index.remove_session(gone.session))?;
        index.commit()?;
    }
    take_in(index, &works, part, tells)
}

fn take_in(index: &Index, works: &[Work<'_>], part: Part, tells: bool) -> rusqlite::Result<()> {
    let new = |work: &Work<'_>| work.listed.bytes.saturating_sub(work.known.as_ref().map_or(0, |known| known.read_to));
    let mut progress = Progress::new("sessions", works.len(), works.iter().map(new).sum(), tells);
    let next = AtomicUsize::new(0);
    let outcome = thread::scope(|scope| {
        let (sender, pieces) = sync_channel::<(usize, Vec<Note>)>(WAITING);
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(works.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(work) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < works.len()) {
                    let mut pieces = Pieces { work, sender: &sender, piece: Vec::new(), bytes: 0 };
                    if read(&works[work], part, &mut pieces).is_none() || pieces.send().is_none() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut writer = Writer { index, works, open: HashMap::new(), pieces: 0, in_transaction: part == Part::Rest };
        loop {
            match pieces.recv_timeout(Progress::EVERY) {
                Ok((work, notes)) => {
                    let ends = notes.iter().any(|note| matches!(note, Note::End { .. }));
                    writer.take_in(work, notes, part)?;
                    if ends {
                        progress.done(new(&works[work]));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress.show();
        }
        if writer.in_transaction && part == Part::Lasting { index.commit() } else { Ok(()) }
    });
    progress.clear();
    outcome
}

/// The one who writes.
struct Writer<'a> {
    index: &'a Index,
    works: &'a [Work<'a>],
    /// The sessions that are being taken in: their numbers in the index, and the messages that were changed in them.
    open: HashMap<usize, (i64, HashSet<Uuid>)>,
    pieces: usize,
    in_transaction: bool,
}

impl Writer<'_> {
    fn take_in(&mut self, work: usize, notes: Vec<Note>, part: Part) -> rusqlite::Result<()> {
        if !self.in_transaction {
            self.index.begin()?;
            self.in_transaction = true;
        }
        for note in notes {
            self.note(work, note, part)?;
        }
        self.pieces += 1;
        if part == Part::Lasting && self.pieces.is_multiple_of(TRANSACTION) {
            self.index.commit()?;
            self.in_transaction = false;
        }
        Ok(())
    }

    fn note(&mut self, work: usize, note: Note, part: Part) -> rusqlite::Result<()> {
        let index = self.index;
        if let Note::Begin { tag, from } = note {
            let session = index.begin_session(&self.works[work].file, tag, from)?;
            self.open.insert(work, (session, HashSet::new()));
            return Ok(());
        }
        let Some((session, changed)) = self.open.get_mut(&work) else { return Ok(()) };
        let session = *session;
        match note {
            Note::Begin { .. } => {}
            Note::Entry(entry) => index.add(session, &entry)?,
            Note::TakenBack(events) => events.iter().try_for_each(|event| index.take_out(session, *event))?,
            Note::Changed { target, place } => {
                index.note_change(session, target, place)?;
                changed.insert(target);
            }
            Note::End { tag, stamp, read_to, problem } => {
                // Each once, however often it was changed.
                let changed = std::mem::take(changed);
                self.write_changed(work, session, changed)?;
                if part == Part::Lasting || problem.is_some() {
                    index.end_session(&Known { session, tag, stamp, read_to, problem })?;
                }
            }
        }
        Ok(())
    }
}

impl Writer<'_> {
    /// Messages that say something else by now.
    fn write_changed(&self, work: usize, session: i64, changed: HashSet<Uuid>) -> rusqlite::Result<()> {
        if changed.is_empty() {
            return Ok(());
        }
        let log = open(&self.works[work].listed.path);
        for target in changed {
            if let Some((place, changes)) = self.index.changed(session, target)?
                && let Some(message) = log.as_ref().and_then(|log| message_at(log, target, place, &changes))
            {
                self.index.replace(session, target, &text_of(&message))?;
            }
        }
        Ok(())
    }
}

/// What goes to the writer.
struct Pieces<'a> {
    work: usize,
    sender: &'a SyncSender<(usize, Vec<Note>)>,
    piece: Vec<Note>,
    bytes: usize,
}

impl Pieces<'_> {
    /// None once nobody takes it any more.
    fn push(&mut self, note: Note) -> Option<()> {
        self.bytes += match &note {
            Note::Entry(entry) => entry.text.len() + 64,
            _ => 64,
        };
        self.piece.push(note);
        if self.bytes >= PIECE { self.send() } else { Some(()) }
    }

    fn send(&mut self) -> Option<()> {
        self.bytes = 0;
        let piece = std::mem::take(&mut self.piece);
        if piece.is_empty() { Some(()) } else { self.sender.send((self.work, piece)).ok() }
    }
}

/// Reads what of a session is not in the index yet. None if nobody takes it.
fn read(work: &Work<'_>, part: Part, pieces: &mut Pieces<'_>) -> Option<()> {
    let path = &work.listed.path;
    let before = (stamp(path), SystemTime::now());
    let (log, report) = match LogReader::open(RealFs::shared(), path) {
        Ok(opened) => opened,
        // What is known of it is of no use, as it may be another file by now.
        Err(error) => {
            pieces.push(Note::Begin { tag: 0, from: 0 })?;
            return pieces.push(Note::End { tag: 0, stamp: None, read_to: 0, problem: Some(error.to_string()) });
        }
    };
    let tag = log.info().file_tag;
    let (lasts_to, end) = (log.durable_end().min(log.end()), log.end());
    let from = work.known.as_ref().filter(|known| known.tag == tag && known.read_to <= lasts_to);
    let from = from.map_or(0, |known| known.read_to);
    let to = if part == Part::Lasting { lasts_to } else { end };
    if part == Part::Rest && from >= to {
        return Some(());
    }
    pieces.push(Note::Begin { tag, from })?;
    let (mut read_to, mut problem) = (from, None);
    for frame in log.frames(from) {
        let event = match frame {
            Ok(frame) if frame.next_offset() > to => break,
            Ok(frame) => {
                read_to = frame.next_offset();
                if frame.frame_type().is_own() {
                    continue;
                }
                decode(frame.payload()).map(|event| (frame.offset(), event)).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match event {
            Ok((place, event)) => note_of(place, event).map_or(Some(()), |note| pieces.push(note))?,
            Err(error) => {
                problem = Some(error);
                break;
            }
        }
    }
    let is_old = |stamp: &String| age(stamp, before.1).is_some_and(|age| age >= STAMP_AGE);
    let settled = report.clean_close && report.zero_bytes == 0 && (read_to >= end || problem.is_some());
    let stamp = before.0.filter(|stamp| settled && is_old(stamp));
    pieces.push(Note::End { tag, stamp, read_to, problem })
}

fn note_of(place: u64, event: seslog::event::Event) -> Option<Note> {
    let (id, at) = (event.id, event.at);
    let entry = |role, text| Note::Entry(Entry { event: id, place, at, role, text });
    match event.body {
        Body::Message(message) => Some(entry(message.role.name(), text_of(&message))),
        Body::Tombstone(tombstone) => Some(Note::TakenBack(tombstone.targets)),
        Body::Amend(amend) => Some(Note::Changed { target: amend.target, place }),
        Body::SessionMeta(meta) => Some(entry(TITLE, title_of(&meta))),
        _ => None,
    }
}

fn title_of(meta: &seslog::event::SessionMeta) -> String {
    meta.title.iter().chain(&meta.tags).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// What an entry of the index says by now: the event at a place, with what was changed in it later.
pub(super) fn text_at(path: &Path, event: Uuid, place: u64, changes: &[u64]) -> Option<String> {
    let log = open(path)?;
    // The file may be another one than the one that was read: then the event is looked for by its id.
    let place = match body_at(&log, event, place) {
        Some(_) => place,
        None => log.find(event).ok()??.offset,
    };
    match body_at(&log, event, place)? {
        Body::SessionMeta(meta) => Some(title_of(&meta)),
        _ => message_at(&log, event, place, changes).map(|message| text_of(&message)),
    }
}

fn message_at(log: &LogReader, event: Uuid, place: u64, changes: &[u64]) -> Option<Message> {
    let Body::Message(mut message) = body_at(log, event, place)? else { return None };
    for change in changes {
        if let Ok(frame) = log.frame(*change)
            && let Ok(Body::Amend(amend)) = decode(frame.payload()).map(|change| change.body)
            && amend.target == event
            && let Ok(changed) = apply_patch(&message, &amend.patch)
        {
            *message = changed;
        }
    }
    Some(*message)
}

fn open(path: &Path) -> Option<LogReader> {
    LogReader::open(RealFs::shared(), path).ok().map(|(log, _)| log)
}

/// What this event says, if it stands at this place.
fn body_at(log: &LogReader, event: Uuid, place: u64) -> Option<Body> {
    let frame = log.frame(place).ok().filter(|frame| frame.id() == event)?;
    decode(frame.payload()).ok().map(|event| event.body)
}

/// What changes when a file does, with the time of its last change in front, in µs.
fn stamp(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    let changed = about.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    #[cfg(unix)]
    let more = {
        use std::os::unix::fs::MetadataExt;
        format!("{}.{}.{}.{}", about.dev(), about.ino(), about.ctime(), about.ctime_nsec())
    };
    #[cfg(not(unix))]
    let more = String::new();
    Some(format!("{}.{}.{}.{more}", changed.as_micros(), changed.as_nanos() % 1000, about.len()))
}

/// How old the change was at this time.
fn age(stamp: &str, now: SystemTime) -> Option<Duration> {
    let micros = stamp.split('.').next()?.parse().ok()?;
    now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_micros(micros)).ok()
}
