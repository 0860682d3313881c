//! Walking over frames: forwards along the chain, one batch at a time, and backwards by trailers. FORMAT.md section 7.

use super::checked::{Checked, Loaded};
use super::damage::{Damage, DamageKind};
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Fault, Frame, FrameHead, Rules};
use super::kind::FrameType;
use super::load::{load, load_ending_at, load_header};
use super::report::Cause;
use super::source::ReadAhead;
use super::state::decode_open;

/// What is hit where the chain ends. FORMAT.md section 11.2.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The whole frames in front of it that are of the same batch.
    pub(crate) front: Vec<FrameHead>,
    /// Where the first frame stands that is not whole, or does not fit.
    pub(crate) from: u64,
    /// Where that ends: at the next whole frame, or at what an OPEN has stepped over.
    pub(crate) to: u64,
    /// The next whole frame that counts.
    pub(crate) next: Option<Frame>,
    /// That frame is an OPEN which has stepped over everything from `to`.
    pub(crate) skipped: Option<Cause>,
}

impl Hit {
    /// Looks at the place where the chain ends for this reason.
    pub(crate) fn at(
        pages: &mut ReadAhead<'_>,
        mut from: u64,
        stop: Stop,
        rules: Rules,
        opens: &Opens,
    ) -> Result<Self, LogError> {
        let mut front = Vec::new();
        while stop == Stop::Batch
            && let Decoded::Whole(frame) = load(pages, from, rules)?
            && frame.head().batch_goes_on()
        {
            from = frame.next_offset();
            front.push(*frame.head());
        }
        let next = next_whole(pages, from, rules)?;
        let to = next.as_ref().map_or(pages.limit(), Frame::offset);
        let whole = Self { front, from, to, next, skipped: None };
        // A whole frame that had been given up does not count, though the frame before it is hit.
        let Some((start, offset)) = opens.around(from, to) else { return Ok(whole) };
        Ok(match load_open(pages, offset, rules)? {
            Some((open, _, cause)) => Self { to: start, next: Some(open), skipped: Some(cause), ..whole },
            None => whole,
        })
    }

    /// The same as damage.
    pub(crate) fn damage(&self, stop: Stop, expected: String) -> Damage {
        let len = self.to.saturating_sub(self.from);
        let kind = match stop {
            _ if len > 0 => DamageKind::Frame,
            Stop::Batch => DamageKind::Batch,
            _ => DamageKind::Chain,
        };
        Damage { offset: self.from, len, kind, expected, found: stop.describe() }
    }
}

/// The first whole frame at or behind a place.
fn next_whole(pages: &mut ReadAhead<'_>, from: u64, rules: Rules) -> Result<Option<Frame>, LogError> {
    let mut markers = Markers::new(from, pages.limit());
    while let Some(offset) = markers.next(pages)? {
        if let Decoded::Whole(frame) = load(pages, offset, rules)? {
            return Ok(Some(frame));
        }
    }
    Ok(None)
}

/// Where the nearest whole frame before a place ends: what lies between them is hit.
pub(crate) fn whole_before(pages: &mut ReadAhead<'_>, end: u64, rules: Rules) -> Result<u64, LogError> {
    let last = last_frame(pages, end.saturating_sub(f::FRAME_ALIGN), rules)?;
    Ok(last.map_or(f::HEADER_PAGE_LEN, |head| head.next_offset()))
}

/// The last whole frame before a place.
pub(crate) fn last_frame(pages: &mut ReadAhead<'_>, mut end: u64, rules: Rules) -> Result<Option<FrameHead>, LogError> {
    while end >= f::HEADER_PAGE_LEN + f::FRAME_LEN_MIN {
        if let Some(frame) = load_ending_at(pages, end, rules)? {
            return Ok(Some(*frame.head()));
        }
        end -= f::FRAME_ALIGN;
    }
    Ok(None)
}

/// Places of frame markers in a range, found a piece at a time.
pub(crate) struct Markers {
    at: u64,
    to: u64,
    found: std::vec::IntoIter<u64>,
}

impl Markers {
    /// Looks at the aligned places from `from` to `to`.
    pub(crate) fn new(from: u64, to: u64) -> Self {
        Self { at: from.next_multiple_of(f::FRAME_ALIGN), to, found: Vec::new().into_iter() }
    }

    pub(crate) fn next(&mut self, pages: &mut ReadAhead<'_>) -> Result<Option<u64>, LogError> {
        loop {
            if let Some(offset) = self.found.next() {
                return Ok(Some(offset));
            }
            let left = usize::try_from(self.to.saturating_sub(self.at)).unwrap_or(usize::MAX);
            let bytes = pages.fetch(self.at, left.min(32 << 10))?;
            let whole = bytes.len() - bytes.len() % 8;
            if whole == 0 {
                return Ok(None);
            }
            let words = bytes[..whole].chunks_exact(8).zip((self.at..).step_by(8));
            let found: Vec<u64> =
                words.filter(|(word, _)| word[..4] == f::FRAME_MAGIC).map(|(_, offset)| offset).collect();
            self.found = found.into_iter();
            self.at += whole as u64;
        }
    }

    /// Leaves out what lies before a place.
    pub(crate) fn skip_to(&mut self, offset: u64) {
        if offset > self.at {
            *self = Self::new(offset, self.to);
        } else {
            let rest: Vec<u64> = self.found.by_ref().filter(|found| *found >= offset).collect();
            self.found = rest.into_iter();
        }
    }
}

/// Why the chain goes no further at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Too few bytes: not there yet, torn, or the end.
    Short,
    /// Bytes that are no frame.
    Wrong(Fault),
    /// A frame whose chain names another one.
    Chain { expected: u32, found: u32 },
    /// An OPEN that steps over something else.
    Open,
    /// A batch without its end.
    Batch,
}

impl Stop {
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Short => String::from("the end of the data"),
            Self::Wrong(fault) => fault.to_string(),
            Self::Chain { expected, found } => {
                format!("a frame behind {found:#010x} where one behind {expected:#010x} belongs")
            }
            Self::Open => String::from("an OPEN frame of another place"),
            Self::Batch => String::from("a batch without its end"),
        }
    }
}

/// One step along the chain.
#[derive(Debug)]
pub(crate) enum Step {
    /// One batch, or a single frame. `skipped` is what an OPEN in front of it has set aside.
    Frames { frames: Vec<Frame>, skipped: Option<(u64, Cause)> },
    /// The chain ends here.
    End(Stop),
}

/// A place in the log with everything that decides what may stand there.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    pub(crate) at: u64,
    /// Checksum that the next frame must name; none where the walk starts at a place that is known to be good.
    pub(crate) chain: Option<u32>,
    pub(crate) rules: Rules,
}

impl Walk {
    /// Goes on by one batch. On `End` the place has not moved.
    pub(crate) fn step(&mut self, pages: &mut ReadAhead<'_>) -> Result<Step, LogError> {
        let stop = match self.group(pages)? {
            Ok(frames) => return Ok(self.accept(frames, None)),
            Err(stop) => stop,
        };
        match self.search_open(pages)? {
            Some((open, cause)) => {
                let skipped = Some((self.at, cause));
                Ok(self.accept(vec![open], skipped))
            }
            None => Ok(Step::End(stop)),
        }
    }

    /// As `step`, where the OPEN frames of the file are known.
    pub(crate) fn step_among(&mut self, pages: &mut ReadAhead<'_>, opens: &Opens) -> Result<Step, LogError> {
        let stop = match self.group(pages)? {
            Ok(frames) => return Ok(self.accept(frames, None)),
            Err(stop) => stop,
        };
        for &offset in opens.over(self.at) {
            if let Some((open, cause)) = self.open_at(pages, offset)? {
                let skipped = Some((self.at, cause));
                return Ok(self.accept(vec![open], skipped));
            }
        }
        Ok(Step::End(stop))
    }

    /// As `step`, but without the search: for a reader that polls.
    pub(crate) fn step_without_search(&mut self, pages: &mut ReadAhead<'_>) -> Result<Step, LogError> {
        Ok(match self.group(pages)? {
            Ok(frames) => self.accept(frames, None),
            Err(stop) => Step::End(stop),
        })
    }

    /// Goes on by one batch and gives the heads of its frames, without a search. None, and not moved, where the chain ends.
    pub(crate) fn step_over(
        &mut self,
        pages: &mut ReadAhead<'_>,
    ) -> Result<Option<impl Iterator<Item = FrameHead> + use<>>, LogError> {
        let Ok(group) = self.group::<Checked>(pages)? else { return Ok(None) };
        if let Some(last) = group.last() {
            self.at = last.head().next_offset();
            self.chain = Some(last.head().header_crc);
        }
        Ok(Some(group.into_iter().map(|checked| *checked.head())))
    }

    fn accept(&mut self, frames: Vec<Frame>, skipped: Option<(u64, Cause)>) -> Step {
        if let Some(last) = frames.last() {
            self.at = last.next_offset();
            self.chain = Some(last.head().header_crc);
        }
        Step::Frames { frames, skipped }
    }

    /// The frames of one batch at this place: all of them, or the reason why not.
    fn group<T: Loaded>(&self, pages: &mut ReadAhead<'_>) -> Result<Result<Vec<T>, Stop>, LogError> {
        let mut frames: Vec<T> = Vec::with_capacity(1);
        let (mut at, mut chain, mut sum) = (self.at, self.chain, 0);
        loop {
            let stop = match T::load(pages, at, self.rules)? {
                Decoded::Whole(frame) => match self.misfit(&frame, chain, frames.is_empty()) {
                    None => {
                        sum += u64::from(frame.head().payload_len);
                        at = frame.head().next_offset();
                        chain = Some(frame.head().header_crc);
                        let goes_on = frame.head().batch_goes_on();
                        frames.push(frame);
                        // A batch is bounded like a record, so holding one back is bounded too.
                        if sum > u64::from(self.rules.max_record) {
                            Stop::Batch
                        } else if goes_on {
                            continue;
                        } else {
                            return Ok(Ok(frames));
                        }
                    }
                    Some(stop) => stop,
                },
                Decoded::Short { .. } => Stop::Short,
                Decoded::Wrong(fault) => Stop::Wrong(fault),
            };
            return Ok(Err(if frames.is_empty() { stop } else { Stop::Batch }));
        }
    }

    fn misfit<T: Loaded>(&self, frame: &T, chain: Option<u32>, first: bool) -> Option<Stop> {
        let head = frame.head();
        if let Some(expected) = chain.filter(|expected| *expected != head.chain) {
            return Some(Stop::Chain { expected, found: head.chain });
        }
        if head.frame_type.is_own() && (!first || head.batch_goes_on()) {
            return Some(Stop::Batch);
        }
        if head.frame_type == FrameType::Open && frame.skip_from() != Some(self.at) {
            return Some(Stop::Open);
        }
        None
    }

    /// The first OPEN behind this place that steps over everything from here.
    fn search_open(&self, pages: &mut ReadAhead<'_>) -> Result<Option<(Frame, Cause)>, LogError> {
        let mut markers = Markers::new(self.at + f::FRAME_ALIGN, pages.limit());
        while let Some(offset) = markers.next(pages)? {
            if let Some(found) = self.open_at(pages, offset)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The OPEN at a place, if it steps over everything from here.
    fn open_at(&self, pages: &mut ReadAhead<'_>, offset: u64) -> Result<Option<(Frame, Cause)>, LogError> {
        let Some((frame, skip_from, cause)) = load_open(pages, offset, self.rules)? else { return Ok(None) };
        let fits = self.chain.is_none_or(|chain| chain == frame.head().chain);
        Ok((fits && skip_from == self.at).then_some((frame, cause)))
    }
}

/// The whole OPEN at a place, with what it steps over.
fn load_open(pages: &mut ReadAhead<'_>, offset: u64, rules: Rules) -> Result<Option<(Frame, u64, Cause)>, LogError> {
    match load_header(pages, offset, rules)? {
        Decoded::Whole(head) if head.frame_type == FrameType::Open && !head.batch_goes_on() => {}
        _ => return Ok(None),
    }
    let Decoded::Whole(frame) = load(pages, offset, rules)? else { return Ok(None) };
    Ok(decode_open(frame.stored_payload()).ok().map(|(skip_from, cause)| (frame, skip_from, cause)))
}

/// The OPEN frames behind a place, by where they step over from: for a file with damage in many places, which would
/// otherwise be searched to its end at each of them.
#[derive(Debug)]
pub(crate) struct Opens {
    /// Where each begins to step over, and where it stands; sorted.
    ranges: Vec<(u64, u64)>,
}

impl Opens {
    /// Those behind this place. One pass.
    pub(crate) fn behind(pages: &mut ReadAhead<'_>, from: u64, rules: Rules) -> Result<Self, LogError> {
        let mut ranges = Vec::new();
        let mut markers = Markers::new(from, pages.limit());
        while let Some(offset) = markers.next(pages)? {
            if let Some((_, skip_from, _)) = load_open(pages, offset, rules)?
                && skip_from < offset
            {
                ranges.push((skip_from, offset));
            }
        }
        ranges.sort_unstable();
        Ok(Self { ranges })
    }

    /// Those that begin at one of these places.
    fn from(&self, from: u64, to: u64) -> &[(u64, u64)] {
        let first = self.ranges.partition_point(|(start, _)| *start < from);
        let end = self.ranges.partition_point(|(start, _)| *start <= to);
        self.ranges.get(first..end).unwrap_or_default()
    }

    /// Where those stand that step over everything from this place.
    fn over(&self, start: u64) -> impl Iterator<Item = &u64> {
        self.from(start, start).iter().map(|(_, offset)| offset)
    }

    /// The one that has stepped over a place from somewhere behind another, or stands there: from where, and where it stands.
    fn around(&self, behind: u64, place: u64) -> Option<(u64, u64)> {
        self.from(behind + 1, place).iter().find(|(_, offset)| *offset >= place).copied()
    }
}
