//! Erase for good: a session's file is written anew without some content, and takes the old one's place.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::cache_lock::Erasing;
use super::erase_around::{Elsewhere, elsewhere};
use super::erase_copy::{check, copy};
use super::erase_match::{Pattern, Taker, redacted, refused};
use super::erase_plan::Plan;
use super::error::SessionError;
use super::publish::{beside, keep_owner, remove_unfinished};
use super::replay::{current, find_event};
use super::store::Store;
use super::writer::{Session, SessionOptions};
use crate::event::{Body, Event, Uuid, decode};
use crate::log::{FrameType, HeldLog, LogError, LogReader, LogView, LogWriter, NewLog, OpenReport, parent_dir};

/// What is to be taken out of a session. [`REDACTED`](crate::event::REDACTED) stands in the place of each match.
///
/// Searched is every text of every event: what was said and thought, input and output of tools, all JSON (texts, names of
/// fields, numbers; also where one stands escaped inside a text), notes, titles, labels, folders, file names, URLs, summaries,
/// patches, and the base64 text of pictures and files, not what that stands for. Ids, kinds and times are left, and the report
/// says so.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Redaction {
    patterns: Vec<Pattern>,
    events: Vec<Uuid>,
}

impl Redaction {
    /// Nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes out this text, letter by letter.
    ///
    /// # Errors
    /// [`SessionError::Refused`] if it is empty.
    pub fn literal(mut self, text: &str) -> Result<Self, SessionError> {
        self.patterns.push(Pattern::literal(text)?);
        Ok(self)
    }

    /// Takes out what matches this regular expression (in the words of the crate `regex-lite`; it takes time linear in the
    /// text). A match of no characters is none.
    ///
    /// # Errors
    /// [`SessionError::Refused`] if it is none.
    pub fn pattern(mut self, regex: &str) -> Result<Self, SessionError> {
        self.patterns.push(Pattern::regex(regex)?);
        Ok(self)
    }

    /// An event without what matches: what [`Session::redact`] makes of it, for an export.
    ///
    /// # Errors
    /// [`SessionError::Event`] if it can't be made, since it is of a type of which nothing is known, or can't be stored as it is.
    pub fn apply(&self, event: &Event) -> Result<RedactedEvent, SessionError> {
        let plan = self.plan();
        let mut taker = Taker::new(&plan.patterns);
        let event = plan.apply_to(event, &mut taker)?;
        Ok(RedactedEvent { event, matches: taker.matches, left: taker.left.values().sum() })
    }

    /// A text without what matches the texts and patterns; none if nothing does.
    pub(crate) fn redacted(&self, text: &str) -> Option<String> {
        redacted(&self.patterns, text).map(|(redacted, _)| redacted)
    }

    fn plan(&self) -> Plan {
        let events = self.events.iter().copied().collect();
        Plan { patterns: self.patterns.clone(), events, ..Plan::default() }
    }

    /// Takes out all that this event says, and what was amended in it. Its place, ids, role, kind, times and numbers stay, who
    /// made it, and the names of the tools that it calls; a picture becomes a text.
    pub fn event(mut self, id: Uuid) -> Self {
        self.events.push(id);
        self
    }
}

/// An event from which something was taken out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RedactedEvent {
    /// The event as it is now.
    pub event: Event,
    /// Matches that were taken out.
    pub matches: u64,
    /// Matches that stay, in ids and other words that things hang on.
    pub left: u64,
}

/// What a vacuum leaves out besides bytes that count for nothing (zeros, what a crash left, tables that are made anew).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Vacuum {
    tombstoned: bool,
    pruned: bool,
}

impl Vacuum {
    /// Nothing else.
    pub fn new() -> Self {
        Self::default()
    }

    /// The contents of messages that were taken back, and of what was amended in them. The messages stay, without contents:
    /// what hangs on them hangs there, and no view of now changes. Earlier points, where they counted, show that they are gone.
    pub fn tombstoned(mut self, leave_out: bool) -> Self {
        self.tombstoned = leave_out;
        self
    }

    /// The outputs of tool results that were pruned. A model is shown a stub for them anyway; a transcript then is too.
    pub fn pruned(mut self, leave_out: bool) -> Self {
        self.pruned = leave_out;
        self
    }
}

/// What was erased, and what was left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct EraseReport {
    /// The session's id; it stays.
    pub session: Uuid,
    /// Its file.
    #[serde(serialize_with = "super::shown::path")]
    pub path: PathBuf,
    /// A new file stands in the place of the old one. Otherwise the old one is as it was: there was nothing to do, or it was
    /// only looked at.
    pub rewritten: bool,
    /// Events in the session; as many as before.
    pub events: u64,
    /// The events in which something was taken out, or would be.
    pub changed: Vec<Uuid>,
    /// Matches of the patterns that were taken out, or would be.
    pub matches: u64,
    /// Signatures and encrypted forms that went with the text that they belonged to.
    pub signatures_dropped: u64,
    /// Pictures and files whose base64 text held a match: their bytes are gone.
    pub media_dropped: u64,
    /// Matches that stay, in ids and other words that things hang on.
    pub left: Vec<LeftMatch>,
    /// Contents that stay and that nobody looked into: encrypted reasoning, bytes of pictures and files.
    pub sealed: u64,
    /// Length of the old file in bytes.
    pub bytes_before: u64,
    /// Length of the new file in bytes, if there is one.
    pub bytes_after: Option<u64>,
    /// Other sessions that hold the same. They were not changed.
    pub elsewhere: Vec<Elsewhere>,
    /// The old file is still to be found under another name (a hard link), with all that it held.
    pub old_file_named: bool,
    /// Why the store's caches, which may tell of what is gone, could not be removed once the new file was in its place.
    pub cache_left: Option<String>,
}

/// Matches in what stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LeftMatch {
    /// The field, by the log's name, such as `call_id`.
    pub field: String,
    /// How many there are.
    pub matches: u64,
    /// The first event with one.
    pub first: Uuid,
}

impl Store {
    /// Takes something out of a session for good: see [`Session::redact`]. The session is named as for [`Store::open`].
    ///
    /// # Errors
    /// [`SessionError::NoSuchSession`], [`SessionError::AmbiguousSession`], and those of [`Session::redact`].
    pub fn redact(&self, name: &str, redaction: &Redaction) -> Result<EraseReport, SessionError> {
        Session::redact(&self.resolve(name)?, redaction, self.options())
    }

    /// Writes a session anew without what counts for nothing any more: see [`Session::vacuum`].
    ///
    /// # Errors
    /// [`SessionError::NoSuchSession`], [`SessionError::AmbiguousSession`], and those of [`Session::vacuum`].
    pub fn vacuum(&self, name: &str, vacuum: Vacuum) -> Result<EraseReport, SessionError> {
        Session::vacuum(&self.resolve(name)?, vacuum, self.options())
    }
}

impl Session {
    /// Takes something out of a session for good. A new file is written beside the old one, with the same events: ids, parents,
    /// times, order, leaf, and everything that was not asked to go. It is synced, read back and compared with what was
    /// planned, event by event, and then takes the old one's name. Once this returns that is durable; a crash at any moment
    /// leaves one whole file under the name. Where nothing is found the file stays as it is, and the report names no event.
    ///
    /// The session's lock is held meanwhile. A [`SessionReader`](super::SessionReader) that has the old file open keeps
    /// reading it as it was; [`follow`](super::SessionReader::follow) then gives [`LogError::Replaced`], and an open finds the new one.
    ///
    /// What is not reached: the old file's blocks, which the disk may keep until it needs them, with copies in snapshots and
    /// backups of the file system; readers that still hold the file; other hard links to it; sessions that share events
    /// with this one, which are searched too and named in the report; files that it was imported from or exported to
    /// (an import of the same files does not bring it back into this session); and what is encrypted or inside of pictures.
    ///
    /// # Errors
    /// In each case the old file stays as it was, and nothing is left beside it, but where the last one says otherwise.
    /// [`SessionError::Refused`]: nothing is asked for, an event is of a type of which this version can't tell what its contents
    /// are, or the new file is not what was planned. [`SessionError::NoSuchEvent`].
    /// [`SessionError::Log`]: locked by another writer, no such file, no session, damaged (salvage it first), written by a newer
    /// version, no space, or an event that is too large once its matches are replaced. [`SessionError::Unreadable`] and
    /// [`SessionError::UnknownEvent`]: a record that this version can't read. If the directory can't be synced in the end, the new
    /// file has the name, and a power cut may bring the old one back.
    pub fn redact(path: &Path, redaction: &Redaction, options: &SessionOptions) -> Result<EraseReport, SessionError> {
        let mut work = Work::hold(path, options)?;
        work.plan = planned(&work.old, redaction)?;
        work.look()?;
        match work.report.changed.is_empty() {
            // An earlier attempt may have been killed before it came to that.
            true => work.begin()?.into_iter().try_for_each(Erasing::end)?,
            false => work.rewrite(false)?,
        }
        Ok(work.report)
    }

    /// What [`Session::redact`] would do, without doing it. It takes no lock.
    ///
    /// # Errors
    /// Those of reading, as for [`Session::redact`].
    pub fn would_redact(
        path: &Path,
        redaction: &Redaction,
        options: &SessionOptions,
    ) -> Result<EraseReport, SessionError> {
        let (path, dirs) = (canonical(path, options)?, dirs_of(path, options)?);
        let (log, found) = LogReader::open(options.fs.clone(), &path)?;
        unharmed(&log, &found)?;
        let plan = planned(&log, redaction)?;
        let size = log.end();
        look(&log, &path, &dirs, size, &plan, options)
    }

    /// Writes a session anew without what counts for nothing any more, in the way of [`Session::redact`], and with the same
    /// promises. [`REMOVED`](crate::event::REMOVED) stands in the place of contents that go. If there is nothing to leave out and the file would not become shorter, it stays as it is.
    ///
    /// # Errors
    /// Those of [`Session::redact`].
    pub fn vacuum(path: &Path, vacuum: Vacuum, options: &SessionOptions) -> Result<EraseReport, SessionError> {
        let mut work = Work::hold(path, options)?;
        work.plan = taken_back(&work.old, vacuum)?;
        work.look()?;
        let only_if_shorter = work.report.changed.is_empty();
        work.rewrite(only_if_shorter)?;
        Ok(work.report)
    }
}

/// One session that is written anew.
struct Work<'a> {
    options: &'a SessionOptions,
    path: PathBuf,
    /// Where the file lies, and where a link to it does by which it was named.
    dirs: Vec<PathBuf>,
    old: HeldLog,
    plan: Plan,
    report: EraseReport,
}

impl<'a> Work<'a> {
    fn hold(path: &Path, options: &'a SessionOptions) -> Result<Self, SessionError> {
        // Of a link, what it leads to is replaced: the file must not stay behind it.
        let (path, dirs) = (canonical(path, options)?, dirs_of(path, options)?);
        let (old, found) = HeldLog::open(&options.fs, &path, options.log)?;
        unharmed(&old, &found)?;
        remove_unfinished(&*options.fs, &path)?;
        let report = EraseReport::new(&old, &path, old.size()?);
        Ok(Self { options, path, dirs, old, plan: Plan::default(), report })
    }

    fn look(&mut self) -> Result<(), SessionError> {
        self.report = look(&self.old, &self.path, &self.dirs, self.report.bytes_before, &self.plan, self.options)?;
        Ok(())
    }

    /// From now on no cache tells of what is to go, and none is made that does, whenever this is cut short.
    fn begin(&self) -> Result<Vec<Erasing>, LogError> {
        self.dirs.iter().map(|dir| Erasing::begin(&self.options.fs, dir)).collect()
    }

    fn rewrite(&mut self, only_if_shorter: bool) -> Result<(), SessionError> {
        let (fs, dir) = (&self.options.fs, parent_dir(&self.path));
        // Before the work is done, not after it.
        self.dirs.iter().try_for_each(|dir| Erasing::cache(fs, dir).map(drop))?;
        let made = beside(&self.path, self.options, |unfinished| self.make(unfinished, only_if_shorter))?;
        let Some((new, size, erasing)) = made else { return Ok(()) };
        self.report.rewritten = true;
        self.report.bytes_after = Some(size);
        // Nobody writes to it before its name is durable: an append that is acknowledged must not go with the name.
        fs.sync_dir(dir).map_err(|source| LogError::io(dir, "sync the directory", 0, source))?;
        drop(new);
        self.report.old_file_named = self.old.is_named();
        // A search that was made meanwhile has seen the old file.
        let problems = erasing.into_iter().filter_map(|erasing| erasing.end().err());
        self.report.cache_left = problems.last().map(|error| error.to_string());
        Ok(())
    }

    /// Writes the new file, checks it and gives it the name. None if it is not worth it.
    fn make(
        &self,
        unfinished: &Path,
        only_if_shorter: bool,
    ) -> Result<Option<(HeldLog, u64, Vec<Erasing>)>, SessionError> {
        let fs = &self.options.fs;
        let info = self.old.info();
        let new = NewLog::new(info.log_id, info.created_at)
            .parent(info.parent)
            .max_record(info.max_record)
            .compressed(info.is_compressed());
        let writer = LogWriter::create(fs.clone(), unfinished, new, self.options.log)?;
        let moved = copy(&self.old, &writer, &self.plan)?;
        let made = writer.file_id();
        writer.close()?;
        let (new, found) = HeldLog::open(fs, unfinished, self.options.log)?;
        if !found.clean_close {
            return Err(refused("the new file was not closed as it should; the old one stays as it was".into()));
        }
        check(&self.old, &new, &self.plan, &moved)?;
        let size = new.size()?;
        if only_if_shorter && size >= self.report.bytes_before {
            let failed = |source| LogError::io(unfinished, "remove", 0, source);
            fs.remove(unfinished).map_err(failed)?;
            return Ok(None);
        }
        let erasing = self.begin()?;
        let failed = |source| LogError::io(&self.path, "put the new file in the place of", 0, source);
        keep_owner(new.file(), made, self.old.file(), false).map_err(failed)?;
        fs.replace(unfinished, &self.path).map_err(failed)?;
        Ok(Some((new, size, erasing)))
    }
}

impl EraseReport {
    fn new(log: &LogView, path: &Path, bytes_before: u64) -> Self {
        Self {
            session: log.info().log_id,
            path: path.to_owned(),
            rewritten: false,
            events: 0,
            changed: Vec::new(),
            matches: 0,
            signatures_dropped: 0,
            media_dropped: 0,
            left: Vec::new(),
            sealed: 0,
            bytes_before,
            bytes_after: None,
            elsewhere: Vec::new(),
            old_file_named: false,
            cache_left: None,
        }
    }
}

fn canonical(path: &Path, options: &SessionOptions) -> Result<PathBuf, SessionError> {
    Ok(options.fs.canonical(path).map_err(|source| LogError::io(path, "find", 0, source))?)
}

/// The directory of the file, and that of the link that it was named by, if that is another one.
fn dirs_of(path: &Path, options: &SessionOptions) -> Result<Vec<PathBuf>, SessionError> {
    let of_the_file = parent_dir(&canonical(path, options)?).to_owned();
    let of_the_name = canonical(parent_dir(path), options)?;
    let mut dirs = vec![of_the_file, of_the_name];
    // In one order everywhere: two erasures at the same time take their locks so.
    dirs.sort();
    dirs.dedup();
    Ok(dirs)
}

/// Refuses a log with damage before anything is done.
fn unharmed(log: &LogView, found: &OpenReport) -> Result<(), SessionError> {
    if !found.damage.is_empty() {
        return Err(LogError::Damaged { path: log.path().to_owned(), report: Box::new(found.clone()) }.into());
    }
    current(log)?.unharmed().map(drop)
}

/// Goes over all records and says what the plan would do.
fn look(
    log: &LogView,
    path: &Path,
    dirs: &[PathBuf],
    size: u64,
    plan: &Plan,
    options: &SessionOptions,
) -> Result<EraseReport, SessionError> {
    let mut report = EraseReport::new(log, path, size);
    let mut taker = Taker::new(&plan.patterns);
    let mut left: BTreeMap<String, LeftMatch> = BTreeMap::new();
    for frame in log.frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            continue;
        }
        report.events += 1;
        if plan.apply(log, &frame, &mut taker)?.changed {
            report.changed.push(frame.id());
        }
        for (field, matches) in std::mem::take(&mut taker.left) {
            let known = left.entry(field.clone()).or_insert(LeftMatch { field, matches: 0, first: frame.id() });
            known.matches += matches;
        }
    }
    report.left = left.into_values().collect();
    (report.matches, report.signatures_dropped) = (taker.matches, taker.signatures);
    (report.media_dropped, report.sealed) = (taker.media, taker.sealed);
    if !plan.is_empty() {
        let parent = log.info().parent.map(|parent| parent.log);
        report.elsewhere = elsewhere(&options.fs, path, dirs, report.session, parent, plan)?;
    }
    Ok(report)
}

fn planned(log: &LogView, redaction: &Redaction) -> Result<Plan, SessionError> {
    if redaction.patterns.is_empty() && redaction.events.is_empty() {
        return Err(refused("nothing is named that is to go; give a text, a pattern or an event".into()));
    }
    for &id in &redaction.events {
        if find_event(log, id)?.is_none() {
            return Err(SessionError::NoSuchEvent { path: log.path().to_owned(), id });
        }
    }
    Ok(redaction.plan())
}

/// The messages that were taken back, and those whose results were pruned.
fn taken_back(log: &LogView, vacuum: Vacuum) -> Result<Plan, SessionError> {
    let mut plan = Plan { is_vacuum: true, ..Plan::default() };
    if !vacuum.tombstoned && !vacuum.pruned {
        return Ok(plan);
    }
    // A compaction is taken back as a whole: which boundary each summary belongs to.
    let mut compactions: HashMap<Uuid, Uuid> = HashMap::new();
    for frame in log.frames(0) {
        let frame = frame?;
        let unreadable =
            |source| SessionError::Unreadable { path: log.path().to_owned(), offset: frame.offset(), source };
        match frame.frame_type() {
            FrameType::Change => match decode(frame.payload()).map_err(unreadable)?.body {
                Body::Tombstone(tombstone) if vacuum.tombstoned => plan.events.extend(tombstone.targets),
                Body::Prune(prune) if vacuum.pruned => plan.results.extend(prune.targets),
                _ => {}
            },
            FrameType::Event if vacuum.tombstoned => {
                let event = decode(frame.payload()).map_err(unreadable)?;
                let is_summary = event.message().is_some_and(|m| m.kind.name() == "compact_summary");
                if let Some(boundary) = event.effective_parent().filter(|_| is_summary) {
                    compactions.entry(boundary).or_insert(event.id);
                }
            }
            _ => {}
        }
    }
    for (boundary, summary) in compactions {
        if plan.events.contains(&boundary) || plan.events.contains(&summary) {
            plan.events.extend([boundary, summary]);
        }
    }
    Ok(plan)
}
