//! What must come of damage: follows from the good log and the bytes that were hit, and is asserted for every damaged file.
//!
//! | what is hit | survey and `verify` | salvage |
//! | --- | --- | --- |
//! | a frame that later frames or the slot vouch for | damage that covers the hit bytes | that record is lost, no other; of a batch, what stands in front is named incomplete, what stands behind is named incomplete or doubtful |
//! | a frame that nothing vouches for (killed writer, last group) | passes as a torn tail from the start of its batch: set aside | what lies before it |
//! | what an OPEN has stepped over | nothing: it had been given up. Only if the very frames stand there again that it stepped over: damage at the OPEN | nothing is lost; those records come back |
//! | such an OPEN itself | damage | nothing is lost; whole records that it had stepped over may come back, as orphans |
//! | MARK, INDEX, OPEN | as any frame | no record is lost |
//! | a header copy, a byte of the page that must be zero | damage of the page | nothing is lost |
//! | the slot | nothing: it counts as never written | nothing is lost |
//!
//! In all cases: each record in the new file is one of the old one's, byte for byte where nothing of it had to be mended; the
//! damaged file is as it was; a reader shows a beginning of what was there; a writer is refused, or leaves every byte as it is.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use seslog::event::{Body, Event, HungOn, Kind, Message, Uuid, decode};
use seslog::log::{DamageKind, Durability, FrameStatus, LogError, LogReader, Survey, Verdict, survey};
use seslog::session::{SalvageReport, Session, SessionError, SessionReader};

use crate::log_support::{Disk, crc32};
use crate::made::{Known, Log, disk_with, options, path, target};

const PAGE: u64 = 4096;
const SLOT: Range<u64> = 1024..1040;
const COPIES: [Range<u64>; 2] = [0..116, 2048..2164];

/// A damaged file, and which bytes of the good one are hit.
pub struct Case<'a> {
    pub log: &'a Log,
    pub bytes: Vec<u8>,
    /// In the good file's own places, in order.
    pub hit: Vec<Range<u64>>,
    /// Whole frames behind the hit stand somewhere else now.
    pub moved: bool,
    /// Hit frames may stand somewhere else, whole.
    pub shuffled: bool,
    /// Records of another log, or of another age of this one, that may turn up as well.
    pub strangers: Vec<Event>,
    pub what: String,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Survey, and the walk over the log.
    Survey,
    /// The session's reader and writer too.
    Bytes,
    /// Salvage too, and what comes of it.
    All,
}

impl<'a> Case<'a> {
    /// Bytes that differ are hit; what is missing at the end is, too.
    pub fn of(log: &'a Log, bytes: Vec<u8>, what: impl Into<String>) -> Self {
        let mut hit: Vec<Range<u64>> = Vec::new();
        for at in 0..log.bytes.len() {
            if bytes.get(at) == Some(&log.bytes[at]) {
                continue;
            }
            match hit.last_mut() {
                Some(last) if last.end == at as u64 => last.end += 1,
                _ => hit.push(at as u64..at as u64 + 1),
            }
        }
        Self { log, bytes, hit, moved: false, shuffled: false, strangers: Vec::new(), what: what.into() }
    }

    fn hits(&self, range: Range<u64>) -> bool {
        self.hit.iter().any(|hit| hit.start < range.end && range.start < hit.end)
    }

    fn is_hit(&self, frame: &Known) -> bool {
        self.hits(frame.from()..frame.to())
    }

    /// An OPEN that steps over something is hit, or what it steps over.
    fn open_is_hit(&self) -> bool {
        let open = |frame: &Known| self.log.skips.get(&frame.from()).is_some_and(|from| self.hits(*from..frame.to()));
        self.log.accepted().any(open)
    }

    fn page_is_hit(&self) -> bool {
        self.hits(0..SLOT.start) || self.hits(SLOT.end..PAGE) || self.has_moved(PAGE)
    }

    /// What begins at a place stands somewhere else: bytes were put in or taken out before it.
    fn has_moved(&self, place: u64) -> bool {
        self.moved && self.hit.first().is_some_and(|hit| hit.start < place)
    }

    fn no_header(&self) -> bool {
        COPIES.iter().all(|copy| self.hits(copy.clone()) || self.has_moved(copy.end))
    }

    /// Where a group of frames begins: the first of its batch, or what its OPEN steps over.
    fn start_of(&self, group: &[&Known]) -> u64 {
        let first = group[0].from();
        self.log.skips.get(&first).copied().unwrap_or(first)
    }

    /// The frames that are part of the log, by batch.
    fn groups(&self) -> Vec<Vec<&'a Known>> {
        let mut groups: Vec<Vec<&Known>> = Vec::new();
        let mut goes_on = false;
        for frame in self.log.accepted() {
            match groups.last_mut().filter(|_| goes_on) {
                Some(group) => group.push(frame),
                None => groups.push(vec![frame]),
            }
            goes_on = frame.head.batch_goes_on();
        }
        groups
    }

    /// What the slot says now. It has its own checksum, and no meaning without a header.
    fn slot(&self) -> u64 {
        let Some(slot) = self.bytes.get(1024..1040).filter(|_| !self.no_header()) else { return 0 };
        let fits = crc32(&[&slot[..12]]).to_le_bytes() == slot[12..] && slot[8..12] == self.log.bytes[92..96];
        if fits { u64::from_le_bytes(slot[..8].try_into().unwrap()) } else { 0 }
    }

    /// Where what passes as a torn tail begins: the first hit batch that nothing whole behind it, and no slot, vouches for.
    fn tail(&self) -> Option<u64> {
        let slot = self.slot();
        let whole: Vec<&Known> = self.log.frames.iter().filter(|frame| !self.is_hit(frame)).collect();
        let mut from = 0;
        for group in self.groups() {
            // What stands behind damage is looked at from the first whole frame on.
            let group: Vec<&Known> = group.into_iter().filter(|frame| frame.from() >= from).collect();
            let Some(hit) = group.iter().find(|frame| self.is_hit(frame)) else { continue };
            let start = self.start_of(&group);
            let behind = whole.iter().filter(|frame| frame.from() >= start);
            let witness = behind.map(|frame| frame.head.durable_end()).max().unwrap_or(0).max(slot);
            if witness <= start && !(self.moved && whole.iter().any(|frame| frame.from() > start)) {
                return Some(start);
            }
            from = whole.iter().map(|frame| frame.from()).find(|at| *at > hit.from()).unwrap_or(u64::MAX);
        }
        None
    }

    /// Makes sure of everything.
    pub fn check(&self, look: Look) -> Outcome {
        let disk = disk_with(&self.bytes);
        let found = match survey(disk.fs(), &path()) {
            Ok(found) => found,
            Err(LogError::NotALog { .. })
                if self.no_header() && self.log.frames.iter().all(|frame| self.is_hit(frame)) =>
            {
                return Outcome::default();
            }
            Err(error) => panic!("{}: {error}", self.what),
        };
        let expected = self.survey(&found);
        self.reader(&disk, look);
        if look != Look::Survey {
            self.writer();
        }
        if look == Look::All {
            self.salvage(&disk, &found, &expected);
        }
        assert_eq!(disk.bytes(&path()), self.bytes, "{}: the damaged file is only read", self.what);
        expected
    }

    /// Makes sure of what holds whatever was done: nothing is invented or taken for another record, what was salvaged goes
    /// on, and the damaged file is as it was. Gives what was salvaged.
    pub fn check_genuine(&self) -> Vec<Event> {
        let what = &self.what;
        let disk = disk_with(&self.bytes);
        let found = match survey(disk.fs(), &path()) {
            Ok(found) => found,
            Err(LogError::NotALog { .. }) => return Vec::new(),
            Err(error) => panic!("{what}: {error}"),
        };
        let originals: Vec<&Event> = self.log.frames.iter().filter_map(|frame| frame.event.as_ref()).collect();
        if let Ok((log, _)) = LogReader::open(disk.fs(), &path()) {
            for frame in log.frames(0).map_while(Result::ok).filter(|frame| !frame.frame_type().is_own()) {
                let event = decode(frame.payload()).unwrap();
                assert!(
                    originals.contains(&&event) || self.strangers.contains(&event),
                    "{what}: {} is invented",
                    event.id
                );
            }
        }
        let before = self.bytes.clone();
        let report =
            Session::salvage(&path(), &target(), &options(&disk, 99)).unwrap_or_else(|e| panic!("{what}: {e}"));
        let events = events_of(&disk);
        self.events_are_genuine(&events, &report);
        assert_eq!(report.lost.len(), found.damage.len(), "{what}");
        self.resumes(&disk, &events);
        assert_eq!(disk.bytes(&path()), before, "{what}: the damaged file is only read");
        self.writer();
        events
    }

    fn survey(&self, found: &Survey) -> Outcome {
        let what = &self.what;
        let is_displaced = |id: Uuid| {
            let mut displaced = found.frames.iter().filter(|frame| frame.status == FrameStatus::Displaced);
            self.shuffled && displaced.any(|frame| frame.head.id == id)
        };
        // Where whole frames stand elsewhere, what is behind the hit is no tail.
        let some_displaced = found.frames.iter().any(|frame| frame.status == FrameStatus::Displaced);
        let tail = self.tail().filter(|_| !(self.shuffled && some_displaced));
        let mut outcome = Outcome { tail, ..Outcome::default() };
        let status: HashMap<Uuid, FrameStatus> =
            found.frames.iter().filter(|f| f.status != FrameStatus::SetAside).map(|f| (f.head.id, f.status)).collect();
        let open_is_hit = self.open_is_hit();
        for group in self.groups() {
            let hit = group.iter().position(|frame| self.is_hit(frame));
            for (index, frame) in group.iter().enumerate().filter(|(_, frame)| frame.is_record()) {
                let (id, at) = (frame.head.id, frame.from());
                let status = status.get(&id).copied();
                let counts = status.is_some_and(FrameStatus::counts);
                if tail.is_some_and(|tail| at >= tail) {
                    assert!(!counts, "{what}: {at} is of the tail and counts as {status:?}");
                } else if self.is_hit(frame) && is_displaced(id) {
                    outcome.kept.insert(id);
                } else if self.is_hit(frame) {
                    assert_eq!(status, None, "{what}: {at} is hit");
                    outcome.lost += 1;
                } else if hit.is_none() {
                    assert!(counts, "{what}: {at} is whole and is {status:?}");
                    outcome.kept.insert(id);
                } else {
                    // Of a batch of which another frame is hit.
                    let hit = hit.unwrap();
                    let header = group[hit].from()..group[hit].from() + 64;
                    let allowed: &[FrameStatus] = match () {
                        () if self.moved => &[FrameStatus::Incomplete, FrameStatus::Displaced],
                        () if index < hit => &[FrameStatus::Incomplete],
                        () if group.iter().filter(|frame| self.is_hit(frame)).count() > 1 => &[
                            FrameStatus::Incomplete,
                            FrameStatus::Doubtful,
                            FrameStatus::Accepted,
                            FrameStatus::Orphan,
                        ],
                        () if !self.hits(header) => &[FrameStatus::Incomplete],
                        () if hit > 0 => &[FrameStatus::Doubtful],
                        () => &[FrameStatus::Accepted, FrameStatus::Orphan],
                    };
                    assert!(status.is_some_and(|status| allowed.contains(&status)), "{what}: {at} is {status:?}");
                    if counts {
                        outcome.kept.insert(id);
                    }
                }
            }
        }
        // Nothing else counts: not what was given up, unless what gave it up is gone.
        for frame in found.frames.iter().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own()) {
            let id = frame.head.id;
            let was_given_up = self.log.frames.iter().any(|known| known.head.id == id && !known.status.counts());
            let stranger = self.strangers.iter().any(|event| event.id == id);
            assert!(
                outcome.kept.contains(&id) || stranger || (was_given_up && open_is_hit),
                "{what}: {id} at {} counts",
                frame.at
            );
        }
        self.places(found, tail);
        outcome
    }

    /// What is hit is named with a range that covers it.
    fn places(&self, found: &Survey, tail: Option<u64>) {
        let what = &self.what;
        let damage = found.damage.iter().map(|damage| damage.offset..damage.offset + damage.len);
        let named: Vec<Range<u64>> =
            damage.chain(found.set_aside.iter().map(|range| range.offset..range.offset + range.len)).collect();
        for frame in self.log.accepted().filter(|frame| !self.moved && self.is_hit(frame)) {
            for hit in &self.hit {
                let (from, to) = (hit.start.max(frame.from()), hit.end.min(frame.to()));
                // Zeros at the end of a file belong to nothing; that bytes are missing there, the slot tells.
                let end = found.size - found.zero_bytes;
                let is_named = (from..to.min(end)).all(|at| named.iter().any(|range| range.contains(&at)));
                assert!(is_named, "{what}: {from}..{to} is not in {named:?}");
            }
        }
        let frames_are_hit = self.log.accepted().any(|frame| self.is_hit(frame));
        let page = found.damage.iter().any(|damage| damage.kind == DamageKind::Header);
        assert_eq!(page, self.page_is_hit(), "{what}: the page");
        let expected = match tail {
            None if frames_are_hit => Some(Verdict::Damaged),
            _ if self.page_is_hit() => Some(Verdict::Damaged),
            _ => None,
        };
        match expected {
            Some(verdict) => assert_eq!(found.verdict, verdict, "{what}"),
            None => assert!(!frames_are_hit || found.verdict != Verdict::Clean || self.only_the_end(), "{what}"),
        }
    }

    /// Whole frames at the end are gone without a trace: the residue that the slot is for.
    fn only_the_end(&self) -> bool {
        let end =
            self.bytes.iter().rposition(|byte| *byte != 0).map_or(PAGE, |last| (last as u64 + 1).next_multiple_of(8));
        let end = end.max(PAGE);
        self.log.accepted().all(|frame| if frame.to() <= end { !self.is_hit(frame) } else { frame.from() >= end })
    }

    /// Whether the good log has a record of this id.
    fn is_of_log(&self, id: Uuid) -> bool {
        self.log.events().any(|event| event.id == id)
    }

    /// A reader shows a beginning of what was there, and stops at damage with an error.
    fn reader(&self, disk: &Disk, look: Look) {
        let what = &self.what;
        let (log, report) = match LogReader::open(disk.fs(), &path()) {
            Ok(opened) => opened,
            Err(LogError::NotALog { .. }) if self.no_header() => return,
            Err(error) => panic!("{what}: {error}"),
        };
        let mut records = self.log.accepted().filter(|frame| frame.is_record());
        let mut failed = None;
        for frame in log.frames(0) {
            match frame {
                Ok(frame) if frame.frame_type().is_own() => {}
                Ok(frame) if self.open_is_hit() && !self.is_of_log(frame.id()) => {}
                Ok(frame) => {
                    let known = records.next().unwrap_or_else(|| panic!("{what}: {} came from nowhere", frame.id()));
                    let event = decode(frame.payload()).unwrap();
                    assert_eq!((Some(&event), *frame.head()), (known.event.as_ref(), known.head), "{what}");
                    assert!(!self.is_hit(known), "{what}");
                }
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(LogError::Damaged { .. }) | None => {}
            Some(error) => panic!("{what}: {error}"),
        }
        assert!(report.verdict != Verdict::Clean || !self.page_is_hit(), "{what}");
        if look == Look::Survey {
            return;
        }
        match SessionReader::open(&path(), disk.fs()) {
            Ok(session) => drop(session.whole_state()),
            Err(error) => panic!("{what}: a reader is refused: {error}"),
        }
    }

    /// A writer is refused, or goes on without a byte lost.
    fn writer(&self) {
        let what = &self.what;
        let disk = disk_with(&self.bytes);
        match Session::open(&path(), options(&disk, 77)) {
            Ok(session) => {
                assert!(!self.page_is_hit(), "{what}: a writer of a damaged page");
                let _ = session.append(Message::user("more"), Durability::Sync).unwrap();
                session.close().unwrap();
            }
            Err(SessionError::Log(LogError::Damaged { .. })) => {
                assert_eq!(disk.bytes(&path()), self.bytes, "{what}: a refused writer has written");
                return;
            }
            Err(SessionError::Log(LogError::NotALog { .. })) if self.no_header() => return,
            Err(error) => panic!("{what}: {error}"),
        }
        let after = disk.bytes(&path());
        let end = self.bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1).max(PAGE as usize);
        let same = |range: Range<usize>| after.get(range.clone()) == self.bytes.get(range);
        assert!(same(PAGE as usize..end.min(self.bytes.len())), "{what}: a writer has changed what was there");
    }

    fn salvage(&self, disk: &Disk, found: &Survey, expected: &Outcome) {
        let what = &self.what;
        let report = match Session::salvage(&path(), &target(), &options(disk, 99)) {
            Ok(report) => report,
            Err(error) => panic!("{what}: {error}"),
        };
        let events = events_of(disk);
        self.events_are_genuine(&events, &report);
        let kept: HashSet<Uuid> = events.iter().map(|event| event.id).collect();
        assert_eq!(kept.len(), events.len(), "{what}: a record stands twice");
        assert_eq!(report.kept, events.len() as u64, "{what}");
        for id in expected.kept.iter().filter(|id| !kept.contains(id)) {
            // A move of the leaf to nothing is told and left out.
            let event = self.log.events().find(|event| event.id == *id).unwrap();
            let Body::Head(head) = &event.body else { panic!("{what}: {id} is not in the new file") };
            assert!(report.heads_left_out.contains(&head.leaf.unwrap()), "{what}");
        }
        let counts: HashSet<Uuid> =
            found.frames.iter().filter(|frame| frame.status.counts()).map(|frame| frame.head.id).collect();
        assert!(kept.is_subset(&counts), "{what}");
        // The order is that of the file.
        let order: HashMap<Uuid, usize> = found.frames.iter().enumerate().map(|(at, f)| (f.head.id, at)).collect();
        assert!(events.is_sorted_by_key(|event| order[&event.id]), "{what}");
        self.report_is_right(&report, found, expected);
        self.resumes(disk, &events);
    }

    fn events_are_genuine(&self, events: &[Event], report: &SalvageReport) {
        let what = &self.what;
        let mended: HashSet<Uuid> =
            report.hung_anew.iter().chain(&report.heads_moved).map(|mended| mended.event).collect();
        let originals: HashMap<Uuid, Vec<&Event>> =
            self.log.frames.iter().filter_map(|frame| frame.event.as_ref()).chain(&self.strangers).fold(
                HashMap::new(),
                |mut all, event| {
                    all.entry(event.id).or_insert_with(Vec::new).push(event);
                    all
                },
            );
        for event in events {
            let known = originals.get(&event.id).unwrap_or_else(|| panic!("{what}: {} is invented", event.id));
            let same = known.iter().any(|known| match mended.contains(&event.id) {
                false => plain(event) == plain(known),
                true => bare(event) == bare(known),
            });
            assert!(same, "{what}: {} is another event", event.id);
        }
    }

    fn report_is_right(&self, report: &SalvageReport, found: &Survey, expected: &Outcome) {
        let what = &self.what;
        assert_eq!(report.lost.len(), found.damage.len(), "{what}");
        for mended in &report.hung_anew {
            let hung_on = mended.hung_on.map_or(String::new(), |id| id.to_string());
            assert_ne!(mended.named, hung_on, "{what}");
        }
        // Where the log counts its records behind the damage, the count is right, and the names are of lost records.
        let last_count =
            self.log.accepted().filter(|frame| !self.is_hit(frame) && !frame.is_record()).map(Known::from).last();
        let all_before =
            self.log.accepted().filter(|frame| self.is_hit(frame)).all(|frame| Some(frame.from()) < last_count);
        let open_is_hit = self.open_is_hit();
        if expected.tail.is_none()
            && all_before
            && self.strangers.is_empty()
            && !open_is_hit
            && let Some(count) = report.lost_records
        {
            assert_eq!(count, expected.lost, "{what}");
        }
        for id in &report.lost_events {
            // Where an OPEN is hit, nothing tells that what lies before it had been given up.
            let known = self.log.frames.iter().find(|frame| frame.head.id == *id);
            let is_lost = known.is_some_and(|frame| frame.status.counts() && self.is_hit(frame));
            assert!(is_lost || open_is_hit || !self.strangers.is_empty(), "{what}: {id} is not lost");
        }
    }

    /// The new file opens clean, goes on, and a salvage of it gives the same again.
    fn resumes(&self, disk: &Disk, events: &[Event]) {
        let what = &self.what;
        let whole = survey(disk.fs(), &target()).unwrap();
        assert_eq!(whole.verdict, Verdict::Clean, "{what}: {:?}", whole.damage);
        let session = Session::open(&target(), options(disk, 101)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(session.report().damage.is_empty() && session.report().set_aside.is_empty(), "{what}");
        let more = session.append(Message::user("more"), Durability::Sync).unwrap().id;
        assert_eq!(session.with_state(|state| state.leaf().map(|leaf| leaf.event.id)).unwrap(), Some(more), "{what}");
        session.close().unwrap();
        let again = crate::made::path().with_file_name("again.seslog");
        let report = Session::salvage(&target(), &again, &options(disk, 103)).unwrap();
        assert!(report.lost.is_empty() && report.hung_anew.is_empty() && report.set_aside.is_empty(), "{what}");
        let second = events_at(disk, &again);
        assert_eq!((second.len(), second.last().unwrap().id), (events.len() + 1, more), "{what}");
        assert!(second.iter().zip(events).all(|(second, first)| plain(second) == plain(first)), "{what}");
    }
}

/// What a survey was found to say.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Records that count.
    pub kept: HashSet<Uuid>,
    /// Records of what had been durable that are gone.
    pub lost: u64,
    /// Where what passes as a torn tail begins.
    pub tail: Option<u64>,
}

fn events_of(disk: &Disk) -> Vec<Event> {
    events_at(disk, &target())
}

fn events_at(disk: &Disk, at: &std::path::Path) -> Vec<Event> {
    let (log, _) = LogReader::open(disk.fs(), at).unwrap();
    let frames = log.frames(0).map(Result::unwrap).filter(|frame| !frame.frame_type().is_own());
    frames.map(|frame| decode(frame.payload()).unwrap()).collect()
}

/// The event without what is a place in its file: offsets, and kept messages that are lost.
fn plain(event: &Event) -> Event {
    let mut event = event.clone();
    if let Body::Message(message) = &mut event.body
        && let Kind::CompactBoundary(boundary) = &mut message.kind
    {
        boundary.keep.clear();
        boundary.carried.clear();
        boundary.meta_offset = 0;
    }
    event
}

/// The event without where it hangs, too.
fn bare(event: &Event) -> Event {
    let mut event = plain(event);
    event.hung_on = HungOn::Named;
    event.original_parent = None;
    if let Body::Head(head) = &mut event.body {
        head.leaf = None;
    }
    event
}
