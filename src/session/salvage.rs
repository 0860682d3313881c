//! Everything whole of a damaged session, in a new file that resumes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::commit::{Inner, Placing};
use super::error::SessionError;
use super::replay::readable;
use super::report::{DamagedRange, MissingParent, Range};
use super::writer::{Session, SessionOptions};
use crate::event::{Body, Event, HungOn, IdMaker, Kept, Kind, Uuid};
use crate::log::{Durability, FrameHead, FrameStatus, LogError, Survey, SurveyFrame, survey};

/// What a salvage kept, and what is gone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct SalvageReport {
    /// The session's id; the new file has the same.
    pub session: Uuid,
    /// The damaged file. It was not touched.
    pub source: PathBuf,
    /// The new file.
    pub target: PathBuf,
    /// Events in the new file.
    pub kept: u64,
    /// Ranges of what had been durable that are gone.
    pub lost: Vec<DamagedRange>,
    /// Ranges that had been declared gone before, or had never counted.
    pub set_aside: Vec<Range>,
    /// Whole records of batches that are not whole; they had never counted.
    pub incomplete: Vec<Uuid>,
    /// Whole records that hold no event that can be read, by their place in the damaged file.
    pub unreadable: Vec<u64>,
    /// Children of lost events, with what they hang on now.
    pub hung_anew: Vec<MissingParent>,
    /// Lost events that a compaction had kept.
    pub missing_kept: Vec<Uuid>,
    /// Moves of the leaf to an event that is lost, with all above it: they are left out.
    pub heads_left_out: Vec<Uuid>,
}

impl Session {
    /// Makes a new file of everything that is whole in a damaged one, in the order of the file, and closes it: a session
    /// of the same id that opens and resumes. What an earlier recovery had set aside, and batches that are not whole,
    /// stay out. Children of a lost event hang on its nearest ancestor that is there, as far as headers tell it, else on
    /// the leaf at their place. The damaged file is only read; the new one is complete and durable when this returns.
    ///
    /// # Errors
    /// [`SessionError::Log`]: the source can't be read or holds not a single record, the target exists or can't be made.
    /// [`SessionError::UnknownEvent`]: an event that this version must not skip.
    pub fn salvage(source: &Path, target: &Path, options: &SessionOptions) -> Result<SalvageReport, SessionError> {
        let found = survey(options.fs.clone(), source)?;
        if options.fs.identity(target).is_ok() {
            return Err(LogError::Exists { path: target.to_owned() }.into());
        }
        let session = found.header.as_ref().map(|header| header.log_id).or_else(|| id_in_name(source));
        let now = u64::try_from(options.clock.now() / 1000).unwrap_or(0);
        let id = session.unwrap_or_else(|| IdMaker::after(Uuid::nil()).next(now, options.clock.random()));
        let parent = found.header.as_ref().and_then(|header| header.parent);
        Self::create_whole(target, id, parent, options, |session| {
            let mut work = Work::new(&found, source, target, id);
            work.copy(session)?;
            Ok(work.report)
        })
    }
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
    report: SalvageReport,
}

impl<'a> Work<'a> {
    fn new(found: &'a Survey, source: &Path, target: &Path, session: Uuid) -> Self {
        let incomplete = found.frames.iter().filter(|frame| frame.status == FrameStatus::Incomplete);
        let report = SalvageReport {
            session,
            source: source.to_owned(),
            target: target.to_owned(),
            kept: 0,
            lost: found.damage.iter().map(DamagedRange::of).collect(),
            set_aside: found.set_aside.iter().map(Range::of).collect(),
            incomplete: incomplete.filter(|frame| !frame.head.frame_type.is_own()).map(|frame| frame.head.id).collect(),
            unreadable: Vec::new(),
            hung_anew: Vec::new(),
            missing_kept: Vec::new(),
            heads_left_out: Vec::new(),
        };
        let heads = found.frames.iter().map(|frame| (frame.head.offset, frame.head)).collect();
        Self { found, heads, kept: HashSet::new(), report }
    }

    fn copy(&mut self, session: &Session) -> Result<(), SessionError> {
        let mut inner = session.lock();
        inner.keep_whole = true;
        let mut batch = Vec::new();
        for frame in &self.found.frames {
            if !matches!(frame.status, FrameStatus::Accepted | FrameStatus::Orphan | FrameStatus::Displaced)
                || frame.head.frame_type.is_own()
            {
                continue;
            }
            if let Some(event) = self.read(frame)? {
                batch.push((event, frame));
            }
            if !frame.head.batch_goes_on() && !batch.is_empty() {
                self.write(session, &mut inner, std::mem::take(&mut batch))?;
            }
        }
        drop(inner);
        session.sync()
    }

    /// The event of a whole frame; none if it can't be read, or was written already (a block that stands twice).
    fn read(&mut self, frame: &SurveyFrame) -> Result<Option<Event>, SessionError> {
        let whole = self.found.load(frame)?;
        match readable(&self.report.source, &whole) {
            Ok(Some(event)) if self.kept.insert(event.id) => Ok(Some(event)),
            Ok(_) => Ok(None),
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
        let mut events = Vec::with_capacity(batch.len());
        for (mut event, frame) in batch {
            self.mend_parent(inner, &mut event, frame)?;
            if let Body::Head(head) = &mut event.body
                && let Some(leaf) = head.leaf.filter(|leaf| !self.kept.contains(leaf))
            {
                match self.living(frame.head.parent_off)? {
                    Some(living) => head.leaf = Some(living),
                    None => {
                        self.report.heads_left_out.push(leaf);
                        continue;
                    }
                }
            }
            self.mend_boundary(inner, &mut event);
            events.push((Arc::new(event), Placing::AsIs));
        }
        if events.is_empty() {
            return Ok(());
        }
        self.report.kept += events.len() as u64;
        drop(inner.commit_events(session.log(), events, Durability::Os)?);
        Ok(())
    }

    /// Hangs the child of a lost event on what is there. A parent without a place in the file is a link to another log.
    fn mend_parent(&mut self, inner: &Inner, event: &mut Event, frame: &SurveyFrame) -> Result<(), SessionError> {
        let Some(parent) = event.effective_parent() else { return Ok(()) };
        if self.kept.contains(&parent) || frame.head.parent_off == 0 {
            return Ok(());
        }
        let hung_on = match self.living(frame.head.parent_off)? {
            Some(living) => Some(living),
            None => inner.state.leaf().map(|leaf| leaf.event.id),
        };
        event.hung_on = hung_on.map_or(HungOn::Root, HungOn::Event);
        event.original_parent.get_or_insert_with(|| parent.to_string());
        self.report.hung_anew.push(MissingParent { event: event.id, named: parent.to_string(), hung_on });
        Ok(())
    }

    /// The nearest event at or above this place in the damaged file that is kept, as far as headers tell.
    fn living(&self, mut offset: u64) -> Result<Option<Uuid>, SessionError> {
        while offset != 0 {
            let known = self.heads.get(&offset).copied();
            let Some(head) = known.map_or_else(|| self.found.header_at(offset), |head| Ok(Some(head)))? else {
                return Ok(None);
            };
            // Pointers lead back; one that does not is damage, and would run in a circle.
            if head.parent_off >= offset {
                return Ok(self.kept.contains(&head.id).then_some(head.id));
            }
            if self.kept.contains(&head.id) {
                return Ok(Some(head.id));
            }
            offset = head.parent_off;
        }
        Ok(None)
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
