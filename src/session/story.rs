//! The story of a session's current chain, read from the log one entry at a time.
//!
//! [`State::story`](super::State::story) says which entries these are. Here no state is held: an outline of the log
//! tells which ones may belong, and each is read when its turn comes, with the changes that hold for it.

use std::collections::{HashSet, VecDeque};
use std::fmt;

use super::beside::Choice;
use super::branches::BranchPoint;
use super::entry::Entry;
use super::error::SessionError;
use super::outline::{Outline, Outlined, Part, Source};
use super::reader::SessionReader;
use super::replay::{find_event, last_of_batch};
use super::report::DamagedRange;
use super::store::Store;
use crate::event::{Body, Event, Uuid};
use crate::log::{LogError, LogReader, LogView, ParentLink};

/// Prunes that are remembered: one may aim at many messages.
const PRUNES_KEPT: usize = 64;

/// The entries of [`State::story`](super::State::story), in file order, read from the log as they are asked for: each
/// as amended, with what pruned it and which changes hold for it. What is held is some 30 bytes for each event of the
/// log, and the ids of calls that wait for a result.
///
/// An error ends it. A streamed entry is no part of a state: [`State::anchor`](super::State::anchor) finds nothing for
/// it.
pub struct Story<'a> {
    parts: Vec<Part<'a>>,
    outline: Outline,
    choice: Choice,
    /// The next entry.
    at: usize,
    prunes: VecDeque<(usize, Event, u64)>,
    /// Damage that is to be told as an error once all before it was handed out.
    ends_with: Option<LogError>,
    damage: Vec<DamagedRange>,
    missing_parent: Option<Uuid>,
}

impl SessionReader {
    /// The story of the current chain, read from the log: [`Story::of_log`].
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn story(&self) -> Result<Story<'_>, SessionError> {
        Story::of_log(self.log())
    }

    /// The story as it was once this event was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`SessionReader::story`].
    pub fn story_at(&self, event: Uuid) -> Result<Story<'_>, SessionError> {
        Story::of_log_at(self.log(), event)
    }
}

impl Store {
    /// The story of a session as [`Store::history`] has it, streamed from its log: of a fork its parents' part too. Damage
    /// is no error; [`Story::damage`] tells it, and [`Story::missing_parent`] a parent that is gone.
    ///
    /// # Errors
    /// Those of reading the logs.
    pub fn story<'a>(&self, log: &'a LogView) -> Result<Story<'a>, SessionError> {
        self.story_of(Part { log: Source::Lent(log), until: None })
    }

    /// The story of a session as it was once this event of it was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`Store::story`].
    pub fn story_at<'a>(&self, log: &'a LogView, event: Uuid) -> Result<Story<'a>, SessionError> {
        self.story_of(Part::up_to(log, event)?)
    }

    fn story_of<'a>(&self, own: Part<'a>) -> Result<Story<'a>, SessionError> {
        let mut link = own.log.info().parent;
        let mut visited = HashSet::from([own.log.info().log_id]);
        let mut parts = vec![own];
        let mut outline = Outline::of(&parts, None)?;
        let mut missing_parent = None;
        while let Some(ParentLink { log, event }) = link.filter(|_| outline.history_is_cut()) {
            if !visited.insert(log) {
                break;
            }
            let parent = match LogReader::open(self.options().fs.clone(), &self.path_of(log)) {
                Ok((parent, _)) => parent,
                Err(LogError::NotFound { .. }) => {
                    missing_parent = Some(log);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let until = find_event(&parent, event)?.map(|(_, offset)| offset);
            link = parent.info().parent;
            parts.insert(0, Part { log: Source::Own(Box::new(parent)), until });
            outline = Outline::of(&parts, Some(&outline))?;
        }
        let mut story = Story::new(parts, outline);
        for error in std::mem::take(&mut story.outline.ended_by) {
            if let LogError::Damaged { report, .. } = error {
                story.damage.extend(report.damage.iter().map(DamagedRange::of));
            }
        }
        story.missing_parent = missing_parent;
        Ok(story)
    }
}

impl<'a> Story<'a> {
    /// The story of the current chain of this log. It goes over all events first, to see what hangs on what, and then reads
    /// each entry when it is asked for; of what they say it holds in memory no more than that one.
    ///
    /// Damage ends it with an error, behind the entries of the chain as it was before the damage.
    ///
    /// # Errors
    /// Those of reading the log.
    pub fn of_log(log: &'a LogView) -> Result<Self, SessionError> {
        Self::of_one(Part { log: Source::Lent(log), until: None })
    }

    /// The story as it was once this event was in.
    ///
    /// # Errors
    /// [`SessionError::NoSuchEvent`], and those of [`Story::of_log`].
    pub fn of_log_at(log: &'a LogView, event: Uuid) -> Result<Self, SessionError> {
        Self::of_one(Part::up_to(log, event)?)
    }

    fn of_one(part: Part<'a>) -> Result<Self, SessionError> {
        let parts = vec![part];
        let outline = Outline::of(&parts, None)?;
        let mut story = Self::new(parts, outline);
        story.ends_with = story.outline.ended_by.pop();
        Ok(story)
    }

    fn new(parts: Vec<Part<'a>>, mut outline: Outline) -> Self {
        outline.forget_ids();
        Self {
            parts,
            outline,
            choice: Choice::default(),
            at: 0,
            prunes: VecDeque::new(),
            ends_with: None,
            damage: Vec::new(),
            missing_parent: None,
        }
    }

    /// A parent session that is gone: what came before the fork is not in the story.
    #[must_use]
    pub fn missing_parent(&self) -> Option<Uuid> {
        self.missing_parent
    }

    /// Damage that was met, in the session or a parent of it. What lies behind it in that log is not in the story.
    #[must_use]
    pub fn damage(&self) -> &[DamagedRange] {
        &self.damage
    }

    /// The event of this id as it was written, in whichever log of the story it lies.
    ///
    /// # Errors
    /// Those of reading the logs.
    pub fn event(&self, id: Uuid) -> Result<Option<Event>, SessionError> {
        for part in self.parts.iter().rev() {
            if let Some((event, _)) = find_event(&part.log, id)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// Where other branches leave the current chain, in the order of the chain: as
    /// [`State::branch_points`](super::State::branch_points).
    ///
    /// # Errors
    /// Those of reading the logs.
    pub fn branch_points(&mut self) -> Result<Vec<BranchPoint>, SessionError> {
        let ground = Outlined { outline: &mut self.outline, parts: &self.parts };
        let points = ground.leaves_by_point()?;
        let id = |index: usize| Ok(self.outline.read(&self.parts, index)?.0.id);
        let point = |(at, leaves): (Option<usize>, Vec<usize>)| {
            let leaves = leaves.into_iter().map(id).collect::<Result<_, SessionError>>()?;
            Ok(BranchPoint { at: at.map(id).transpose()?, leaves })
        };
        points.into_iter().map(point).collect()
    }

    /// How many entries are still to come: those that are on the chain for certain, and those that may be asked about.
    /// Looks at all of the outline, but reads nothing.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.outline.counts_from(self.at)
    }

    /// The entry of this number, if it belongs to the story.
    fn entry(&mut self, index: usize) -> Result<Option<Entry>, SessionError> {
        let (event, offset) = self.outline.read(&self.parts, index)?;
        let mut entry = Entry::new(event.into(), offset);
        for change in self.outline.changes_of(index) {
            if let Some((_, prune, offset)) = self.prunes.iter().find(|(known, ..)| *known == change) {
                entry.change(prune, *offset);
                continue;
            }
            let (mut event, offset) = self.outline.read(&self.parts, change)?;
            entry.change(&event, offset);
            if let Body::Prune(prune) = &mut event.body {
                prune.targets = Vec::new();
                self.prunes.truncate(PRUNES_KEPT - 1);
                self.prunes.push_front((change, event, offset));
            }
        }
        let mut ground = Outlined { outline: &mut self.outline, parts: &self.parts };
        if !self.choice.takes(&mut ground, index, &entry.event)? {
            return Ok(None);
        }
        self.outline.unlink(index, &mut entry);
        Ok(Some(entry))
    }
}

impl Iterator for Story<'_> {
    type Item = Result<Entry, SessionError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.outline.len() {
            let index = self.at;
            self.at += 1;
            if !self.outline.may_belong(index) {
                continue;
            }
            match self.entry(index) {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(Ok(entry)),
                Err(error) => {
                    (self.at, self.ends_with) = (self.outline.len(), None);
                    return Some(Err(error));
                }
            }
        }
        self.ends_with.take().map(|error| Err(error.into()))
    }
}

impl fmt::Debug for Story<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Story").field("outline", &self.outline).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<'a> Part<'a> {
    /// The log up to the batch that this event is in.
    fn up_to(log: &'a LogView, event: Uuid) -> Result<Self, SessionError> {
        let until = Some(last_of_batch(log, event)?.offset());
        Ok(Self { log: Source::Lent(log), until })
    }
}
