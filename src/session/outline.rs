//! The outline of a session: the fold of its log, or of several that follow each other, without what the events say.
//!
//! It keeps some 30 bytes for each event: where it lies, what it hangs on, and a few marks. The rules are those of
//! `fold.rs` and `walk.rs`; a test holds the two equal on random histories.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::Deref;

use super::beside::Ground;
use super::branches::leaves_by_point;
use super::entry::{Entry, Link};
use super::error::SessionError;
use super::id_table::IdTable;
use super::place::is_only_results;
use super::read_event::event_of;
use crate::event::{Body, Event, Kind, Message, Uuid};
use crate::log::{LogError, LogReader, LogView};

/// A link to nothing: a root.
const ROOT: u32 = u32::MAX;
/// A link to an event that is not in the outline.
const OUTSIDE: u32 = u32::MAX - 1;

/// Marks of an entry, as bits.
mod mark {
    /// It takes part in the chain.
    pub(super) const TAKES_PART: u8 = 1;
    pub(super) const BOUNDARY: u8 = 1 << 1;
    pub(super) const SUMMARY: u8 = 1 << 2;
    pub(super) const DEAD: u8 = 1 << 3;
    /// A living message of the current chain.
    pub(super) const SPINE: u8 = 1 << 4;
    /// A message that takes no part by its kind, or one of an unknown kind.
    pub(super) const SIDE: u8 = 1 << 5;
    /// It may hold results.
    pub(super) const RESULTS: u8 = 1 << 6;
    /// It holds a result of a call on the chain and hangs beside it.
    pub(super) const BESIDE: u8 = 1 << 7;
}

/// A log that an outline is made of.
pub(super) enum Source<'a> {
    /// Somebody else's.
    Lent(&'a LogView),
    /// Opened for the outline.
    Own(Box<LogReader>),
}

impl Deref for Source<'_> {
    type Target = LogView;

    fn deref(&self) -> &LogView {
        match self {
            Self::Lent(log) => log,
            Self::Own(log) => log,
        }
    }
}

/// What an outline takes of one log.
pub(super) struct Part<'a> {
    pub(super) log: Source<'a>,
    /// Where its last record lies; none: at the end.
    pub(super) until: Option<u64>,
}

/// The fold of events without their contents.
#[derive(Default)]
pub(super) struct Outline {
    /// The number of the first entry of each log, the first log first.
    firsts: Vec<usize>,
    /// Of each entry: its offset in its log.
    offsets: Vec<u64>,
    /// Of a participant: what it hangs on. Of another: its nearest participating ancestor.
    links: Vec<u32>,
    /// What a child that names it hangs on.
    stands_for: Vec<u32>,
    marks: Vec<u8>,
    ids: IdTable,
    /// The other half of a compaction.
    partners: HashMap<u32, u32>,
    /// Entries with what changed them, sorted once the fold is done.
    changes: Vec<(u32, u32)>,
    leaf: u32,
    /// The history ends at an event that is not in the outline.
    is_cut: bool,
    /// Damage that ended the fold of a log.
    pub(super) ended_by: Vec<LogError>,
    /// The last entry's id: mostly what the next one hangs on.
    last: Option<(Uuid, u32)>,
}

impl fmt::Debug for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outline").field("entries", &self.len()).finish_non_exhaustive()
    }
}

/// Bytes of the smallest frame. FORMAT.md section 3.
const FRAME_LEN_MIN: u64 = 72;

impl Outline {
    /// The outline of these logs, one behind the other. `later` is that of all but the first: of an id that several
    /// logs hold the last log's record counts, so what is in a later one is passed over.
    pub(super) fn of(parts: &[Part<'_>], later: Option<&Self>) -> Result<Self, SessionError> {
        let mut outline = Self { leaf: ROOT, ..Self::default() };
        // A frame may claim any number of records; no file holds more than its length has room for.
        let count = |part: &Part<'_>| part.log.record_count().unwrap_or_default().min(part.log.end() / FRAME_LEN_MIN);
        outline.reserve(parts.iter().map(count).fold(0, u64::saturating_add));
        for number in 0..parts.len() {
            outline.firsts.push(outline.len());
            outline.take(parts, number, later)?;
        }
        outline.finish();
        Ok(outline)
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether the history of the current chain ends at an event that is not here, dead ones apart.
    pub(super) fn history_is_cut(&self) -> bool {
        self.is_cut
    }

    /// Forgets what only a fold needs.
    pub(super) fn forget_ids(&mut self) {
        self.ids = IdTable::default();
        self.stands_for = Vec::new();
    }

    /// Whether this entry may belong to a story, as far as can be told without looking into it.
    pub(super) fn may_belong(&self, index: usize) -> bool {
        let marks = self.marks[index];
        marks & mark::DEAD == 0 && marks & (mark::SPINE | mark::SIDE | mark::RESULTS) != 0
    }

    /// The entries from this one on that are on the spine for certain, and those that may belong to a story.
    pub(super) fn counts_from(&self, index: usize) -> (usize, usize) {
        let from = index.min(self.len());
        let certain = self.marks[from..].iter().filter(|marks| **marks & mark::SPINE != 0).count();
        (certain, (from..self.len()).filter(|&index| self.may_belong(index)).count())
    }

    /// The log and the offset of an entry.
    fn place(&self, index: usize) -> (usize, u64) {
        (self.firsts.partition_point(|first| *first <= index) - 1, self.offsets[index])
    }

    /// The entries of the changes that hold for this one, in file order.
    pub(super) fn changes_of(&self, index: usize) -> impl Iterator<Item = usize> {
        let from = self.changes.partition_point(|(target, _)| (*target as usize) < index);
        let own = self.changes[from..].iter().take_while(move |(target, _)| *target as usize == index);
        own.map(|(_, change)| *change as usize)
    }

    /// The event of an entry as it was written, and where it lies.
    pub(super) fn read(&self, parts: &[Part<'_>], index: usize) -> Result<(Event, u64), SessionError> {
        let (part, offset) = self.place(index);
        let log = &parts[part].log;
        let event = event_of(log, &log.frame(offset)?)?;
        event.map(|event| (event, offset)).ok_or_else(|| {
            // It was one when the outline was made.
            let (path, expected) = (log.path().to_owned(), "an event".to_owned());
            LogError::NoFrame { path, offset, expected, found: "another record".to_owned() }.into()
        })
    }

    /// What a state would tell of the links of an entry that is taken out of it: all lies outside.
    pub(super) fn unlink(&self, index: usize, entry: &mut Entry) {
        let outside = entry.event.effective_parent().map_or(Link::Root, Link::Outside);
        entry.link = if self.links[index] == ROOT { Link::Root } else { outside };
        entry.stands_for = outside;
    }

    fn reserve(&mut self, records: u64) {
        let count = usize::try_from(records).unwrap_or(0);
        self.offsets.reserve_exact(count);
        self.links.reserve_exact(count);
        self.stands_for.reserve_exact(count);
        self.marks.reserve_exact(count);
        self.ids.reserve(count);
    }

    fn take(&mut self, parts: &[Part<'_>], number: usize, later: Option<&Self>) -> Result<(), SessionError> {
        let Part { log, until } = &parts[number];
        for frame in log.frames(0) {
            let frame = match frame {
                Ok(frame) => frame,
                Err(error @ LogError::Damaged { .. }) => {
                    self.ended_by.push(error);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(event) = event_of(log, &frame)? {
                let is_later = match later {
                    Some(later) => later.holds_behind(&parts[1..], number, event.id)?,
                    None => false,
                };
                if !is_later {
                    self.push(parts, &event, frame.offset())?;
                }
            }
            if until.is_some_and(|until| frame.offset() >= until) {
                break;
            }
        }
        Ok(())
    }

    /// Whether a log behind the first `number` ones holds an event of this id.
    fn holds_behind(&self, parts: &[Part<'_>], number: usize, id: Uuid) -> Result<bool, SessionError> {
        let from = self.firsts.get(number).copied().unwrap_or(usize::MAX);
        Ok(self.find(parts, id)?.is_some_and(|index| index as usize >= from))
    }

    /// One step of the fold.
    fn push(&mut self, parts: &[Part<'_>], event: &Event, offset: u64) -> Result<(), SessionError> {
        let index = self.next_number()?;
        let takes_part = event.takes_part();
        let parent = self.link_to(parts, event.effective_parent())?;
        let link = match event.parent {
            _ if takes_part => parent,
            None => ROOT,
            Some(named) => match self.find(parts, named)? {
                None => parent,
                Some(named) if self.has(named, mark::TAKES_PART) => named,
                Some(named) => self.links[named as usize],
            },
        };
        let marks = marks_of(event);
        if marks & mark::SUMMARY != 0 && self.has(link, mark::BOUNDARY) && !self.partners.contains_key(&link) {
            self.partners.insert(link, index);
            self.partners.insert(index, link);
        }
        let (offsets, firsts) = (&self.offsets, &self.firsts);
        self.ids.insert(event.id, |number| bears(parts, firsts, offsets, number, event.id))?;
        self.offsets.push(offset);
        self.links.push(link);
        self.stands_for.push(if takes_part { index } else { parent });
        self.marks.push(marks);
        self.last = Some((event.id, index));
        self.apply(parts, event, index)?;
        match &event.body {
            Body::Head(head) if !event.off_chain => self.leaf = self.link_to(parts, head.leaf)?,
            _ if takes_part && !event.off_chain => self.leaf = index,
            _ => {}
        }
        Ok(())
    }

    fn next_number(&self) -> Result<u32, SessionError> {
        u32::try_from(self.len()).ok().filter(|number| *number < OUTSIDE).ok_or_else(|| SessionError::Refused {
            what: "story",
            why: format!("the log holds more than {OUTSIDE} events"),
        })
    }

    /// What the event does to others.
    fn apply(&mut self, parts: &[Part<'_>], event: &Event, index: u32) -> Result<(), SessionError> {
        match &event.body {
            Body::Tombstone(tombstone) => {
                for &target in &tombstone.targets {
                    let Some(target) = self.find(parts, target)? else { continue };
                    self.changed(target, index);
                    self.marks[target as usize] |= mark::DEAD;
                    // Boundary and summary are taken back together.
                    if let Some(&partner) = self.partners.get(&target) {
                        self.marks[partner as usize] |= mark::DEAD;
                    }
                }
            }
            Body::Prune(prune) => {
                for &target in &prune.targets {
                    if let Some(target) = self.find(parts, target)? {
                        self.changed(target, index);
                    }
                }
            }
            Body::Amend(amend) => {
                let Some(target) = self.find(parts, amend.target)? else { return Ok(()) };
                self.changed(target, index);
                // Metadata tells whose the results are.
                if amend.patch.iter().any(|(name, _)| name == "content" || name == "metadata") {
                    self.marks[target as usize] |= mark::RESULTS;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn changed(&mut self, target: u32, change: u32) {
        if self.changes.last() != Some(&(target, change)) {
            self.changes.push((target, change));
        }
    }

    fn has(&self, link: u32, marks: u8) -> bool {
        self.marks.get(link as usize).is_some_and(|of_it| of_it & marks != 0)
    }

    /// What a child that names this event hangs on. A boundary stands for its summary.
    fn link_to(&self, parts: &[Part<'_>], id: Option<Uuid>) -> Result<u32, SessionError> {
        let Some(id) = id else { return Ok(ROOT) };
        let Some(index) = self.find(parts, id)? else { return Ok(OUTSIDE) };
        Ok(match self.partners.get(&index) {
            Some(&summary) if self.has(index, mark::BOUNDARY) => summary,
            _ => self.stands_for[index as usize],
        })
    }

    fn find(&self, parts: &[Part<'_>], id: Uuid) -> Result<Option<u32>, SessionError> {
        if let Some((_, index)) = self.last.filter(|(last, _)| *last == id) {
            return Ok(Some(index));
        }
        self.ids.find(id, |number| bears(parts, &self.firsts, &self.offsets, number, id))
    }

    /// Once all events are in: which ones are on the current chain.
    fn finish(&mut self) {
        self.changes.sort_unstable();
        self.changes.dedup();
        let mut first_living = None;
        let mut at = self.leaf as usize;
        while at < self.len() {
            if self.marks[at] & mark::DEAD == 0 {
                self.marks[at] |= mark::SPINE;
                first_living = Some(at);
            }
            at = self.links[at] as usize;
        }
        self.is_cut = first_living.is_some_and(|first| self.links[first] != ROOT);
    }
}

/// Whether the entry of this number has this id: its frame's header says so.
fn bears(parts: &[Part<'_>], firsts: &[usize], offsets: &[u64], number: u32, id: Uuid) -> Result<bool, SessionError> {
    let part = firsts.partition_point(|first| *first <= number as usize) - 1;
    Ok(parts[part].log.header(offsets[number as usize])?.id == id)
}

fn marks_of(event: &Event) -> u8 {
    match &event.body {
        Body::Message(message) => message_marks(message),
        Body::Unknown(unknown) if unknown.kind.is_some() => mark::SIDE,
        _ => 0,
    }
}

fn message_marks(message: &Message) -> u8 {
    let by_kind = match &message.kind {
        Kind::CompactBoundary(_) => mark::BOUNDARY,
        Kind::CompactSummary(_) => mark::SUMMARY,
        kind if !kind.takes_part() => mark::SIDE,
        _ => 0,
    };
    let takes_part = if message.takes_part() { mark::TAKES_PART } else { 0 };
    let holds_results = !message.metadata.sidechain && message.results().next().is_some();
    by_kind | takes_part | if holds_results { mark::RESULTS } else { 0 }
}

/// An outline with the logs that it was made of.
pub(super) struct Outlined<'o, 'a> {
    pub(super) outline: &'o mut Outline,
    pub(super) parts: &'o [Part<'a>],
}

impl Outlined<'_, '_> {
    /// The leaves of other branches by the entry of the chain that they leave it at.
    pub(super) fn leaves_by_point(&self) -> Result<BTreeMap<Option<usize>, Vec<usize>>, SessionError> {
        let takes_part = |index: usize| self.outline.has(index as u32, mark::TAKES_PART);
        // Asked of the first entries of each branch only, so little is read.
        let only_results = |index: usize| Ok(self.entry(index)?.event.message().is_some_and(is_only_results));
        leaves_by_point(self, self.outline.len(), takes_part, only_results)
    }

    /// An entry as amended.
    fn entry(&self, index: usize) -> Result<Entry, SessionError> {
        let (event, offset) = self.outline.read(self.parts, index)?;
        let mut entry = Entry::new(event.into(), offset);
        for change in self.outline.changes_of(index) {
            let (change, offset) = self.outline.read(self.parts, change)?;
            entry.change(&change, offset);
        }
        Ok(entry)
    }
}

impl Ground for Outlined<'_, '_> {
    type Error = SessionError;

    fn anchor(&self, index: usize) -> Option<usize> {
        Some(self.outline.links[index] as usize).filter(|anchor| *anchor < self.outline.len())
    }

    fn is_root(&self, index: usize) -> bool {
        self.outline.links[index] == ROOT
    }

    fn is_living(&self, index: usize) -> bool {
        !self.outline.has(index as u32, mark::DEAD)
    }

    fn is_on_spine(&self, index: usize) -> bool {
        self.outline.has(index as u32, mark::SPINE)
    }

    fn put_beside(&mut self, index: usize) {
        self.outline.marks[index] |= mark::BESIDE;
    }

    fn was_put_beside(&self, index: usize) -> bool {
        self.outline.has(index as u32, mark::BESIDE)
    }

    fn holds_call(&self, index: usize, call_id: &str) -> Result<bool, SessionError> {
        Ok(self.entry(index)?.holds_call(call_id))
    }
}
