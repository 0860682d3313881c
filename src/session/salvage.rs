//! Everything whole of a damaged session, in a new file that resumes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::commit::{Inner, Placing};
use super::error::SessionError;
use super::publish::{beside, keep_owner, remove_unfinished};
use super::read_event::readable;
use super::report::{DamagedRange, MissingParent, Range};
use super::store::Store;
use super::writer::{Session, SessionOptions};
use crate::event::{Body, Event, EventError, Head, HungOn, IdMaker, Kept, Kind, Uuid, decode, foreign_id};
use crate::log::{
    Durability, FrameHead, FrameStatus, FrameType, Fs, FsFile, LogError, ParentLink, Survey, SurveyFrame, WriterLock,
    parent_dir, survey,
};

/// What a salvage kept, and what is gone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct SalvageReport {
    /// The session's id; the new file has the same.
    pub session: Uuid,
    /// The damaged file. It was not touched.
    #[serde(serialize_with = "super::shown::path")]
    pub source: PathBuf,
    /// The new file.
    #[serde(serialize_with = "super::shown::path")]
    pub target: PathBuf,
    /// Where the damaged file is kept, if the new one has taken its name.
    #[serde(serialize_with = "super::shown::some_path")]
    pub backup: Option<PathBuf>,
    /// The new file is this user's own and only for this user, since the owner of the damaged one could not be given to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub owner_changed: bool,
    /// Events in the new file.
    pub kept: u64,
    /// Ranges of what had been durable that are gone.
    pub lost: Vec<DamagedRange>,
    /// Ranges that had been declared gone before, or had never counted.
    pub set_aside: Vec<Range>,
    /// How many records the log had counted that are gone. None if nothing behind the damage counts them; records that
    /// lie behind the last count are not in it.
    pub lost_records: Option<u64>,
    /// Which of the lost events are known by name: from their headers, or from an index.
    pub lost_events: Vec<Uuid>,
    /// Whole records of batches that are not whole: they are left out, as a batch counts as a whole or not at all.
    pub incomplete: Vec<Uuid>,
    /// Whole records that are in the new file though they may be of a batch that is not whole; no byte tells.
    pub doubtful: Vec<Uuid>,
    /// Whole records that hold no event that this version can read, by their place in the damaged file.
    pub unreadable: Vec<u64>,
    /// Children of lost events, with what they hang on now.
    pub hung_anew: Vec<MissingParent>,
    /// Lost events that a compaction had kept.
    pub missing_kept: Vec<Uuid>,
    /// Moves of the leaf to a lost event: they go to what its children hang on now.
    pub heads_moved: Vec<MissingParent>,
    /// Moves of the leaf to a lost event with nothing before it: they are left out. Named by where they went.
    pub heads_left_out: Vec<Uuid>,
}

impl Session {
    /// Makes a new file of everything that is whole in a damaged one, in the order of the file, and closes it: a session
    /// of the same id that opens and resumes. What an earlier recovery had set aside, and batches that are not whole,
    /// stay out. Children of a lost event hang on its nearest ancestor that is there, as far as its header or its payload
    /// tells it, else on what was the leaf at its place. The damaged file is only read; the new one is complete and
    /// durable when this returns.
    ///
    /// # Errors
    /// [`SessionError::Log`]: the source can't be read or holds not a single record, the target exists or can't be made,
    /// or a frame of an unknown type must not be skipped. [`SessionError::UnknownEvent`]: an event that must not.
    /// [`SessionError::Unreadable`]: events are compressed, and this build lacks the feature `zstd`.
    pub fn salvage(source: &Path, target: &Path, options: &SessionOptions) -> Result<SalvageReport, SessionError> {
        let found = survey(options.fs.clone(), source)?;
        let made = Made::of(&found, source, options);
        made.anew(&found, source, target)
    }

    /// Mends a damaged session where it lies: a new file is made as by [`Session::salvage`] and takes the damaged one's name. A
    /// copy of that, with all that is wrong in it, is kept beside it (`NAME.damaged`), and named in the report; both have the owner
    /// and the mode of the damaged file, as far as this process may give them. The session's lock is held meanwhile. Once this returns all of that is durable; a crash at any moment leaves one of both under the name,
    /// and what was damaged in one file or the other.
    ///
    /// # Errors
    /// In each case the damaged file stays as it was, but where the last one says otherwise. Those of [`Session::salvage`];
    /// [`SessionError::Refused`]: nothing in it is damaged; [`SessionError::Log`]: locked by a writer, or no space for both. If the
    /// directory can't be synced in the end, the new file has the name, and a power cut may bring the damaged one back.
    pub fn salvage_in_place(path: &Path, options: &SessionOptions) -> Result<SalvageReport, SessionError> {
        let fs = &options.fs;
        let failed = |op: &'static str| move |source| LogError::io(path, op, 0, source);
        // Of a link, what it leads to is mended.
        let path = &fs.canonical(path).map_err(failed("find"))?;
        let held = WriterLock::open(fs, path)?;
        remove_unfinished(&**fs, path)?;
        let found = survey(fs.clone(), path)?;
        let made = Made::of(&found, path, options);
        // Before there is a copy: a whole session needs no room for one.
        if found.damage.is_empty() && is_readable(&found, path, made.id)? {
            let why = format!("nothing in `{}` is damaged; it stays as it is", path.display());
            return Err(SessionError::Refused { what: "mend", why });
        }
        let kept = beside(path, &made.options, |unfinished| {
            let session = Self::create_as(unfinished, made.id, made.parent, made.options.clone())?;
            let mut report = copied(&found, path, path, &session)?;
            let made = session.log().file_id();
            session.close()?;
            // Nobody writes to it before its name is durable: an append that is acknowledged must not go with the name.
            let lock = WriterLock::open(fs, unfinished)?;
            let (backup, copy) = back_up(&**fs, path, &*held.file)?;
            let owned = copy.identity().and_then(|id| keep_owner(&*copy, id, &*held.file, true));
            let owned = owned.and_then(|_| keep_owner(&*lock.file, made, &*held.file, true));
            let named = owned.and_then(|kept| fs.replace(unfinished, path).map(|()| kept));
            report.owner_changed = !named.map_err(|source| {
                // The damaged file still has its name, and needs no copy.
                let _ = fs.remove(&backup);
                LogError::io(path, "put the new file in the place of", 0, source)
            })?;
            report.backup = Some(backup);
            Ok((report, lock))
        });
        let (report, lock) = kept?;
        fs.sync_dir(parent_dir(path)).map_err(failed("sync the directory of"))?;
        drop(lock);
        Ok(report)
    }
}

impl Store {
    /// Takes a session's file from elsewhere into this store, under the session's id: everything whole in it, as
    /// [`Session::salvage`] copies it. Of a file without damage that is all of it. It is only read; the new one is complete and
    /// durable when this returns.
    ///
    /// # Errors
    /// Those of [`Session::salvage`]; [`LogError::Exists`]: the session is in the store.
    pub fn adopt(&self, file: &Path) -> Result<SalvageReport, SessionError> {
        let found = survey(self.options().fs.clone(), file)?;
        let made = Made::of(&found, file, self.options());
        self.make_dir()?;
        made.anew(&found, file, &self.path_of(made.id))
    }
}

/// What the new file is to be.
struct Made {
    id: Uuid,
    parent: Option<ParentLink>,
    options: SessionOptions,
}

impl Made {
    fn of(found: &Survey, source: &Path, options: &SessionOptions) -> Self {
        let session = found.header.as_ref().map(|header| header.log_id).or_else(|| id_in_name(source));
        let now = u64::try_from(options.clock.now() / 1000).unwrap_or(0);
        // Without a header and a name, the first record tells: the same file is the same session, however often it is saved.
        let first = found.frames.iter().find(|frame| !frame.head.frame_type.is_own());
        let session = session.or_else(|| first.map(|frame| foreign_id("seslog", "", &frame.head.id.to_string(), 1)));
        let id = session.unwrap_or_else(|| IdMaker::after(Uuid::nil()).next(now, options.clock.random()));
        let parent = found.header.as_ref().and_then(|header| header.parent);
        let options = found.header.as_ref().map_or_else(|| options.clone(), |header| options.like(header));
        Self { id, parent, options }
    }

    /// Makes the new file under a name that nothing has.
    fn anew(&self, found: &Survey, source: &Path, target: &Path) -> Result<SalvageReport, SessionError> {
        if self.options.fs.identity(target).is_ok() {
            return Err(LogError::Exists { path: target.to_owned() }.into());
        }
        Session::create_whole(target, self.id, self.parent, &self.options, |session| {
            copied(found, source, target, session)
        })
    }
}

/// Whether every record that counts is an event that this version can read.
fn is_readable(found: &Survey, path: &Path, session: Uuid) -> Result<bool, SessionError> {
    let mut work = Work::new(found, path, path, session)?;
    for frame in found.frames.iter().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own()) {
        work.read(frame)?;
    }
    Ok(work.report.unreadable.is_empty())
}

/// Copies everything whole into a new session.
fn copied(found: &Survey, source: &Path, target: &Path, session: &Session) -> Result<SalvageReport, SessionError> {
    let mut work = Work::new(found, source, target, session.id())?;
    work.copy(session)?;
    Ok(work.report)
}

/// Copies a file, byte by byte, to the first name beside it that is free; gives that and the copy, which is durable.
fn back_up(fs: &dyn Fs, path: &Path, file: &dyn FsFile) -> Result<(PathBuf, Arc<dyn FsFile>), LogError> {
    const PIECE: usize = 1 << 20;
    let named = |nth: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if nth == 1 { ".damaged".to_owned() } else { format!(".damaged-{nth}") });
        PathBuf::from(name)
    };
    let (mut backup, mut nth) = (named(1), 1);
    let copy = loop {
        match fs.create(&backup) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && nth < u32::MAX => {
                nth += 1;
                backup = named(nth);
            }
            other => break other.map_err(|source| LogError::io(&backup, "make", 0, source))?,
        }
    };
    let failed = |op, at| {
        let backup = &backup;
        move |source| {
            let _ = fs.remove(backup);
            LogError::io(backup, op, at, source)
        }
    };
    let (mut buffer, mut at) = (vec![0; PIECE], 0);
    loop {
        let count = match file.read_at(&mut buffer, at) {
            Ok(0) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(failed("copy to", at))?,
        };
        let mut done = 0;
        while done < count {
            let offset = at + done as u64;
            done += match copy.write_at(&buffer[done..count], offset) {
                Ok(0) => return Err(failed("write", offset)(ErrorKind::WriteZero.into())),
                Err(error) if error.kind() == ErrorKind::Interrupted => 0,
                written => written.map_err(failed("write", offset))?,
            };
        }
        at += count as u64;
    }
    copy.sync_data().map_err(failed("sync", 0))?;
    // First, so that a power cut can't take the name of the copy away and leave that of the new file.
    fs.sync_dir(parent_dir(path)).map_err(failed("sync the directory of", 0))?;
    Ok((backup, copy))
}

fn id_in_name(path: &Path) -> Option<Uuid> {
    path.file_stem()?.to_str()?.parse().ok()
}

struct Work<'a> {
    found: &'a Survey,
    /// The whole frames' headers, by the place that they were written for.
    heads: HashMap<u64, FrameHead>,
    /// The events that were read so far.
    kept: HashSet<Uuid>,
    /// The leaf behind each batch that was written, by the place of its last record in the damaged file.
    leaves: BTreeMap<u64, Option<Uuid>>,
    report: SalvageReport,
}

impl<'a> Work<'a> {
    fn new(found: &'a Survey, source: &Path, target: &Path, session: Uuid) -> Result<Self, SessionError> {
        let records = found.frames.iter().filter(|frame| !frame.head.frame_type.is_own());
        let with = |status| records.clone().filter(move |frame| frame.status == status).map(|frame| frame.head.id);
        let lost = found.lost_records()?;
        let report = SalvageReport {
            session,
            source: source.to_owned(),
            target: target.to_owned(),
            backup: None,
            owner_changed: false,
            kept: 0,
            lost: found.damage.iter().map(DamagedRange::of).collect(),
            set_aside: found.set_aside.iter().map(Range::of).collect(),
            lost_records: lost.count,
            lost_events: lost.ids,
            incomplete: with(FrameStatus::Incomplete).collect(),
            doubtful: with(FrameStatus::Doubtful).collect(),
            unreadable: Vec::new(),
            hung_anew: Vec::new(),
            missing_kept: Vec::new(),
            heads_moved: Vec::new(),
            heads_left_out: Vec::new(),
        };
        let heads = found.frames.iter().map(|frame| (frame.head.offset, frame.head)).collect();
        Ok(Self { found, heads, kept: HashSet::new(), leaves: BTreeMap::new(), report })
    }

    fn copy(&mut self, session: &Session) -> Result<(), SessionError> {
        let mut inner = session.lock();
        inner.keep_whole = true;
        let (mut batch, mut batch_end) = (Vec::new(), None);
        for frame in &self.found.frames {
            if !frame.status.counts() || frame.head.frame_type.is_own() {
                continue;
            }
            // Frames that stand elsewhere, or in doubt, may begin a batch whose end is lost.
            if batch_end != Some(frame.head.offset) {
                self.write(session, &mut inner, std::mem::take(&mut batch))?;
            }
            batch_end = Some(frame.head.next_offset());
            if let Some(event) = self.read(frame)? {
                batch.push((event, frame));
            }
            if !frame.head.batch_goes_on() {
                self.write(session, &mut inner, std::mem::take(&mut batch))?;
            }
        }
        self.write(session, &mut inner, batch)?;
        drop(inner);
        session.sync()
    }

    /// The event of a whole frame; none if it can't be read, or was written already (a block that stands twice).
    fn read(&mut self, frame: &SurveyFrame) -> Result<Option<Event>, SessionError> {
        if let FrameType::Other(frame_type) = frame.head.frame_type {
            if !frame.head.is_skippable() {
                let path = self.report.source.clone();
                return Err(LogError::UnknownFrame { path, offset: frame.at, frame_type }.into());
            }
            self.report.unreadable.push(frame.at);
            return Ok(None);
        }
        let whole = self.found.load(frame)?;
        match readable(&self.report.source, &whole) {
            Ok(Some(event)) if self.kept.insert(event.id) => Ok(Some(event)),
            Ok(_) => Ok(None),
            // Another build reads it: it is not lost, and must not be left behind.
            Err(error @ SessionError::Unreadable { source: EventError::Compressed { .. }, .. }) => Err(error),
            Err(SessionError::Unreadable { .. }) => {
                self.report.unreadable.push(frame.at);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn write(
        &mut self,
        session: &Session,
        inner: &mut Inner,
        batch: Vec<(Event, &SurveyFrame)>,
    ) -> Result<(), SessionError> {
        let Some(end) = batch.last().map(|(_, frame)| frame.head.offset) else { return Ok(()) };
        let mut events = Vec::with_capacity(batch.len());
        for (mut event, frame) in batch {
            self.mend_parent(&mut event, frame)?;
            let moved = match event.body {
                Body::Head(Head { leaf: Some(leaf) }) if !self.kept.contains(&leaf) => Some(leaf),
                _ => None,
            };
            if let Some(leaf) = moved {
                let Some(living) = self.living(frame.head.parent_off)? else {
                    self.report.heads_left_out.push(leaf);
                    continue;
                };
                let (named, hung_on) = (leaf.to_string(), Some(living));
                self.report.heads_moved.push(MissingParent { event: event.id, named, hung_on });
                event.body = Body::Head(Head { leaf: Some(living) });
            }
            self.mend_boundary(inner, &mut event);
            events.push((Arc::new(event), Placing::AsIs));
        }
        if !events.is_empty() {
            self.report.kept += events.len() as u64;
            drop(inner.commit_events(session.log(), events, Durability::Os)?);
        }
        self.leaves.insert(end, inner.state.leaf().map(|leaf| leaf.event.id));
        Ok(())
    }

    /// Hangs the child of a lost event on what is there. A parent without a place in the file is a link to another log.
    fn mend_parent(&mut self, event: &mut Event, frame: &SurveyFrame) -> Result<(), SessionError> {
        let Some(parent) = event.effective_parent() else { return Ok(()) };
        if self.kept.contains(&parent) || frame.head.parent_off == 0 {
            return Ok(());
        }
        let hung_on = self.living(frame.head.parent_off)?;
        event.hung_on = match hung_on {
            Some(living) if event.parent == Some(living) => HungOn::Named,
            Some(living) => HungOn::Event(living),
            None => HungOn::Root,
        };
        event.original_parent.get_or_insert_with(|| parent.to_string());
        self.report.hung_anew.push(MissingParent { event: event.id, named: parent.to_string(), hung_on });
        Ok(())
    }

    /// The nearest event at or above this place in the damaged file that is kept; where nothing is left of a lost event
    /// that tells its parent, the leaf at its place.
    fn living(&self, mut offset: u64) -> Result<Option<Uuid>, SessionError> {
        while offset != 0 {
            let known = self.heads.get(&offset).copied();
            let head = known.map_or_else(|| self.found.header_at(offset), |head| Ok(Some(head)))?;
            let (id, parent_off) = match head {
                Some(head) => (Some(head.id), head.parent_off),
                None => match self.parent_in_payload(offset)? {
                    Some(parent_off) => (None, parent_off),
                    None => return Ok(self.leaf_before(offset)),
                },
            };
            if let Some(id) = id.filter(|id| self.kept.contains(id)) {
                return Ok(Some(id));
            }
            // Pointers lead back; one that does not is damage, and would run in a circle.
            if parent_off >= offset {
                return Ok(self.leaf_before(offset));
            }
            offset = parent_off;
        }
        Ok(None)
    }

    /// Where the parent of a lost event stands, if its payload is whole though its header is not: the place that the header
    /// names, if the event that the payload names stands there.
    fn parent_in_payload(&self, offset: u64) -> Result<Option<u64>, SessionError> {
        let Some(left) = self.found.left_of(offset)? else { return Ok(None) };
        let Ok(event) = decode(&left.payload) else { return Ok(None) };
        let Some(parent) = event.effective_parent() else { return Ok(Some(0)) };
        let fits = self.heads.get(&left.parent_off).is_some_and(|head| head.id == parent);
        Ok(fits.then_some(left.parent_off))
    }

    /// The leaf as it was in front of this place of the damaged file.
    fn leaf_before(&self, offset: u64) -> Option<Uuid> {
        self.leaves.range(..offset).next_back().and_then(|(_, leaf)| *leaf)
    }

    /// Offsets in a boundary are hints for this file; in the new one things lie elsewhere.
    fn mend_boundary(&mut self, inner: &Inner, event: &mut Event) {
        let Body::Message(message) = &mut event.body else { return };
        let Kind::CompactBoundary(boundary) = &mut message.kind else { return };
        let at = |id: Uuid| inner.state.entry(id).map(|entry| entry.offset);
        let missing = boundary.keep.iter().filter(|kept| at(kept.id).is_none());
        self.report.missing_kept.extend(missing.map(|kept| kept.id));
        let moved = |kept: &Kept| {
            let mut changed = kept.changed.clone();
            changed.retain_mut(|changed| at(changed.id).map(|offset| changed.offset = offset).is_some());
            Some(Kept { id: kept.id, offset: at(kept.id)?, changed })
        };
        boundary.keep = boundary.keep.iter().filter_map(moved).collect();
        boundary.carried = boundary.carried.iter().filter_map(moved).collect();
        boundary.meta_offset = inner.state.meta_offset();
    }
}
