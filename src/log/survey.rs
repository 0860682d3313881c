//! Everything that is in a file, whole or not: for `verify` and for salvage. It writes nothing. FORMAT.md section 11.
//!
//! Bad bytes are never an error here, they are what it looks for. The map is not used, so a bad sector is an error and no signal.

use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::checksum::place_of;
use super::damage::{Damage, DamageKind};
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Frame, FrameHead, Rules, decode_header};
use super::fs::{Access, Fs};
use super::header::LogInfo;
use super::kind::FrameType;
use super::opening::data_end;
use super::reader::read_page;
use super::report::{Cause, SetAside, Verdict, WatermarkState};
use super::scan::{Markers, Opens, Step, Stop, Walk, load, load_header};
use super::source::{ReadAhead, Source};
use super::state::decode_open;

/// A frame moved by more than this is not recognised.
const SHIFT_MAX: u64 = 1 << 20;

/// What a whole frame in the file counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameStatus {
    /// Part of the log: the chain reaches it, at most over single records that are lost.
    Accepted,
    /// An OPEN has stepped over it, or the next writer will. It had been declared gone.
    SetAside,
    /// Of a batch that is not whole. It had never counted.
    Incomplete,
    /// Behind damage that the chain does not reach over.
    Orphan,
    /// Whole, but bytes were put in or taken out before it: it belongs where its head says.
    Displaced,
}

/// One whole frame of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyFrame {
    /// Its header; the offset there is the one it was written for.
    pub head: FrameHead,
    /// Where it stands now, in bytes from the start of the file.
    pub at: u64,
    /// What it counts for.
    pub status: FrameStatus,
}

/// What is in a file.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct Survey {
    /// The header; none if both copies are bad.
    pub header: Option<LogInfo>,
    /// The watermark slot.
    pub watermark: WatermarkState,
    /// Length of the file, in bytes.
    pub size: u64,
    /// Zero bytes at its end.
    pub zero_bytes: u64,
    /// Whole frames in the order of the file, the log's own among them.
    pub frames: Vec<SurveyFrame>,
    /// Ranges that are not part of the log and never were acknowledged.
    pub set_aside: Vec<SetAside>,
    /// Ranges that had been durable and are not whole.
    pub damage: Vec<Damage>,
    /// The outcome in one word: `Recovered` where something is set aside.
    pub verdict: Verdict,
    source: Source,
    rules: Rules,
}

impl Survey {
    /// The header at a place, though the rest of its frame may be damaged; none if it is damaged itself.
    ///
    /// # Errors
    /// `Io`.
    pub fn header_at(&self, offset: u64) -> Result<Option<FrameHead>, LogError> {
        if offset < f::HEADER_PAGE_LEN || offset >= self.size {
            return Ok(None);
        }
        let len = f::FRAME_HEADER_LEN.min(self.size - offset) as usize;
        match decode_header(&self.source.chunk(offset, len)?, offset, self.rules) {
            Decoded::Whole(head) => Ok(Some(head)),
            _ => Ok(None),
        }
    }

    /// Reads one of the frames again.
    ///
    /// # Errors
    /// `Io`; `NoFrame` if it is no longer there.
    pub fn load(&self, frame: &SurveyFrame) -> Result<Frame, LogError> {
        let bytes = self.source.chunk(frame.at, frame.head.total_len() as usize)?;
        match Frame::check(bytes, frame.head.offset, self.rules) {
            Decoded::Whole(frame) => Ok(frame),
            _ => Err(LogError::NoFrame {
                path: self.source.path.clone(),
                offset: frame.at,
                expected: String::from("the frame that was there a moment ago"),
                found: String::from("other bytes"),
            }),
        }
    }
}

/// Looks at every byte of a file.
///
/// # Errors
/// `Io`, `NotFound`, `NewerFormat`; `NotALog` if there is neither a header nor a single frame.
pub fn survey(fs: Arc<dyn Fs>, path: &Path) -> Result<Survey, LogError> {
    let file = fs.open(path, Access::Read).map_err(|source| LogError::io(path, "open", 0, source))?;
    let source = Source::new(path, file, false);
    let page = read_page(&source);
    let size = source.size()?;
    let end = data_end(&source, size)?;
    let (header, watermark, damage, rules) = match page {
        Ok(page) => (Some(page.info), page.watermark, page.damage.clone(), page.info.rules()),
        Err(LogError::NotALog { path, found }) => {
            let Some(file_tag) = guess_tag(&source, end)? else { return Err(LogError::NotALog { path, found }) };
            let lost = Damage {
                offset: 0,
                len: f::HEADER_PAGE_LEN,
                kind: DamageKind::Header,
                expected: String::from("a header"),
                found,
            };
            (None, WatermarkState::Torn, vec![lost], Rules { file_tag, max_record: f::RECORD_LEN_CAP })
        }
        Err(error) => return Err(error),
    };
    let chain = header.as_ref().map(|info| info.header_crc);
    let mut pass = Pass {
        pages: ReadAhead::new(&source, end),
        walk: Walk { at: f::HEADER_PAGE_LEN, chain, rules },
        end,
        mark: if let WatermarkState::At(mark) = watermark { mark } else { 0 },
        linked: true,
        opens: None,
        witness: None,
        frames: Vec::new(),
        set_aside: Vec::new(),
        damage,
    };
    pass.run()?;
    let Pass { frames, set_aside, damage, mark, .. } = pass;
    let mut damage = damage;
    if mark > end {
        damage.push(Damage {
            offset: end,
            len: mark - end,
            kind: DamageKind::Missing,
            expected: format!("durable data up to byte {mark}, as the watermark says"),
            found: format!("the end of the data at byte {end}"),
        });
    }
    let verdict = match (damage.is_empty(), set_aside.is_empty()) {
        (false, _) => Verdict::Damaged,
        (true, false) => Verdict::Recovered,
        (true, true) => Verdict::Clean,
    };
    let zero_bytes = size.saturating_sub(end);
    Ok(Survey { header, watermark, size, zero_bytes, frames, set_aside, damage, verdict, source, rules })
}

/// The tag of the first frame whose checksum fits its place, for a file without a header.
fn guess_tag(source: &Source, end: u64) -> Result<Option<u32>, LogError> {
    let mut pages = ReadAhead::new(source, end);
    let mut markers = Markers::new(0, end);
    while let Some(offset) = markers.next(&mut pages)? {
        let bytes = pages.fetch(offset, f::FRAME_HEADER_LEN as usize)?;
        let Some(tag) = bytes.get(16..20) else { continue };
        let file_tag = u32::from_le_bytes([tag[0], tag[1], tag[2], tag[3]]);
        let rules = Rules { file_tag, max_record: f::RECORD_LEN_CAP };
        if file_tag != 0 && matches!(load(&mut pages, offset, rules)?, Decoded::Whole(_)) {
            return Ok(Some(file_tag));
        }
    }
    Ok(None)
}

/// One pass over the file.
struct Pass<'a> {
    pages: ReadAhead<'a>,
    walk: Walk,
    end: u64,
    mark: u64,
    /// The chain has reached so far, at most over single lost records.
    linked: bool,
    /// The OPEN frames, looked for when the chain ends for the first time.
    opens: Option<Opens>,
    /// The frame that knew of the most durable data.
    witness: Option<FrameHead>,
    frames: Vec<SurveyFrame>,
    set_aside: Vec<SetAside>,
    damage: Vec<Damage>,
}

impl Pass<'_> {
    fn run(&mut self) -> Result<(), LogError> {
        loop {
            let step = match &self.opens {
                Some(opens) => self.walk.step_among(&mut self.pages, opens)?,
                None => self.walk.step_without_search(&mut self.pages)?,
            };
            match step {
                Step::Frames { frames, skipped } => {
                    if let (Some((from, cause)), Some(open)) = (skipped, frames.first()) {
                        self.put_aside(from, open.offset(), cause)?;
                    }
                    let status = if self.linked { FrameStatus::Accepted } else { FrameStatus::Orphan };
                    frames.iter().for_each(|frame| self.push(frame.head(), status));
                }
                Step::End(_) if self.walk.at >= self.end => return Ok(()),
                Step::End(_) if self.opens.is_none() => {
                    self.opens = Some(Opens::behind(&mut self.pages, self.walk.at, self.walk.rules)?);
                }
                Step::End(stop) => {
                    let from = self.walk.at;
                    let (any_whole, witnessed) = self.look_behind(from)?;
                    let vouched = self.mark > from || witnessed;
                    let moved = if any_whole { Vec::new() } else { self.displaced(from, self.end)? };
                    if !vouched && moved.is_empty() {
                        let cause = match stop {
                            Stop::Batch => Cause::IncompleteBatch,
                            _ if any_whole => Cause::UnsyncedHole,
                            _ => Cause::TornTail,
                        };
                        return self.put_aside(from, self.end, cause);
                    }
                    if self.step_over_damage(stop, moved)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn push(&mut self, head: &FrameHead, status: FrameStatus) {
        self.frames.push(SurveyFrame { head: *head, at: head.offset, status });
    }

    fn put_aside(&mut self, from: u64, to: u64, cause: Cause) -> Result<(), LogError> {
        let status = if cause == Cause::IncompleteBatch { FrameStatus::Incomplete } else { FrameStatus::SetAside };
        let ids = self.readable_ids(from, to)?;
        self.whole_frames(from, to)?.iter().for_each(|head| self.push(head, status));
        self.set_aside.push(SetAside { offset: from, len: to - from, cause, ids });
        Ok(())
    }

    /// Whether there are whole frames behind a place, and whether one of them knew of durable data behind it. The one
    /// that knew the most speaks for all places before it, so that many damaged places cost no look at the end each.
    fn look_behind(&mut self, from: u64) -> Result<(bool, bool), LogError> {
        if self.witness.is_some_and(|head| head.offset >= from && head.durable_end() > from) {
            return Ok((true, true));
        }
        let whole = self.whole_frames(from, self.end)?;
        self.witness = whole.iter().max_by_key(|head| head.durable_end()).copied();
        Ok((!whole.is_empty(), self.witness.is_some_and(|head| head.durable_end() > from)))
    }

    /// Whole frames in a range, whatever their chain.
    fn whole_frames(&mut self, from: u64, to: u64) -> Result<Vec<FrameHead>, LogError> {
        let mut heads = Vec::new();
        let mut markers = Markers::new(from, to);
        while let Some(offset) = markers.next(&mut self.pages)? {
            if let Decoded::Whole(frame) = load(&mut self.pages, offset, self.walk.rules)? {
                markers.skip_to(frame.next_offset());
                heads.push(*frame.head());
            }
        }
        Ok(heads)
    }

    /// Ids of the records in a range of which the header is right, whole or not.
    fn readable_ids(&mut self, from: u64, to: u64) -> Result<Vec<Uuid>, LogError> {
        let mut ids = Vec::new();
        let mut markers = Markers::new(from, to);
        while let Some(offset) = markers.next(&mut self.pages)? {
            let Decoded::Whole(head) = load_header(&mut self.pages, offset, self.walk.rules)? else { continue };
            if !head.frame_type.is_own() {
                ids.push(head.id);
            }
            if let Decoded::Whole(frame) = load(&mut self.pages, offset, self.walk.rules)? {
                markers.skip_to(frame.next_offset());
            }
        }
        Ok(ids)
    }

    /// Names the damage at this place and goes on behind it. True if nothing is left.
    fn step_over_damage(&mut self, stop: Stop, moved: Vec<SurveyFrame>) -> Result<bool, LogError> {
        let from = self.walk.at;
        let (mut bad, mut in_batch, mut batch_durable_end) = (from, false, None);
        // What is whole of a batch that is not: none of it counts.
        if stop == Stop::Batch {
            while let Decoded::Whole(frame) = load(&mut self.pages, bad, self.walk.rules)? {
                if !frame.head().batch_goes_on() {
                    break;
                }
                self.push(frame.head(), FrameStatus::Incomplete);
                (bad, in_batch) = (frame.next_offset(), true);
                batch_durable_end = Some(frame.head().durable_end());
            }
        }
        let next = self.next_whole(bad)?;
        let to = next.as_ref().map_or(self.end, Frame::offset);
        // Where a whole frame stands at the damage itself none is lost, and the batch that begins there is not the hit one.
        let lost = match load_header(&mut self.pages, bad, self.walk.rules)? {
            Decoded::Whole(head) if bad < to => Some(head),
            _ => None,
        };
        if let Some(head) = lost {
            (in_batch, batch_durable_end) = (head.batch_goes_on(), Some(head.durable_end()));
        }
        let kind = match stop {
            Stop::Chain { .. } | Stop::Open => DamageKind::Chain,
            Stop::Batch if bad == to => DamageKind::Batch,
            _ => DamageKind::Frame,
        };
        let expected = String::from("a frame of this log");
        let found = if moved.is_empty() { stop.describe() } else { String::from("bytes put in or taken out") };
        self.damage.push(Damage { offset: bad, len: to - bad, kind, expected, found });
        self.frames.extend(moved);
        let Some(next) = next else { return Ok(true) };

        // One record is lost and the chain holds if the next frame names what is left of it: its header, or its trailer.
        let by_header = lost.is_some_and(|head| head.next_offset() == to && head.header_crc == next.head().chain);
        let trailer = self.pages.fetch(to - f::FRAME_TRAILER_LEN, f::FRAME_TRAILER_LEN as usize)?;
        let by_trailer = super::frame::decode_trailer(trailer)
            .is_ok_and(|(len, crc)| to - bad == u64::from(len) && crc == next.head().chain);
        self.linked &= by_header || by_trailer;
        let mut at = next;
        let mut chain = at.head().chain;
        // Where the lost header can't tell whether the batch went on: all of its frames knew of the same durable end.
        let same_batch = |frame: &Frame| batch_durable_end.is_none_or(|end| end == frame.head().durable_end());
        while in_batch && !at.head().frame_type.is_own() && same_batch(&at) {
            self.push(at.head(), FrameStatus::Incomplete);
            in_batch = at.head().batch_goes_on();
            chain = at.head().header_crc;
            match load(&mut self.pages, at.next_offset(), self.walk.rules)? {
                Decoded::Whole(frame) => at = frame,
                _ => {
                    self.walk.at = at.next_offset();
                    self.walk.chain = Some(chain);
                    return Ok(self.walk.at >= self.end);
                }
            }
        }
        self.walk.at = at.offset();
        self.walk.chain = Some(chain);
        if at.frame_type() == FrameType::Open
            && decode_open(at.stored_payload()).ok().map(|open| open.0) != Some(at.offset())
        {
            // What it stepped over is hit as well; it is itself the place to go on from.
            let status = if self.linked { FrameStatus::Accepted } else { FrameStatus::Orphan };
            self.push(at.head(), status);
            self.walk.at = at.next_offset();
            self.walk.chain = Some(at.head().header_crc);
        }
        Ok(false)
    }

    /// The first whole frame at or behind a place.
    fn next_whole(&mut self, from: u64) -> Result<Option<Frame>, LogError> {
        let mut markers = Markers::new(from, self.end);
        while let Some(offset) = markers.next(&mut self.pages)? {
            if let Decoded::Whole(frame) = load(&mut self.pages, offset, self.walk.rules)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    /// Frames that stand somewhere else than where they were written, looked for at every byte.
    fn displaced(&mut self, from: u64, to: u64) -> Result<Vec<SurveyFrame>, LogError> {
        let mut found = Vec::new();
        let mut at = from;
        while at < to {
            let piece = self.pages.fetch(at, (to - at).min(64 << 10) as usize)?;
            let Some(marker) = piece.windows(4).position(|bytes| bytes == f::FRAME_MAGIC) else {
                at += (piece.len() as u64).saturating_sub(3).max(1);
                continue;
            };
            at += marker as u64;
            match self.displaced_at(at, to)? {
                Some(frame) => {
                    at += frame.head.total_len();
                    found.push(frame);
                }
                None => at += 1,
            }
        }
        Ok(found)
    }

    fn displaced_at(&mut self, at: u64, to: u64) -> Result<Option<SurveyFrame>, LogError> {
        let rules = self.walk.rules;
        let fixed = self.pages.fetch(at, f::FRAME_HEADER_LEN as usize)?;
        let Ok(fixed) = <[u8; f::FRAME_HEADER_LEN as usize]>::try_from(fixed) else { return Ok(None) };
        let word = |place: usize| [fixed[place], fixed[place + 1], fixed[place + 2], fixed[place + 3]];
        let (sum, payload_len) = (word(4), u32::from_le_bytes(word(8)));
        let header_len = u64::from(fixed[14]) * 8;
        let total = header_len + super::frame::padded(payload_len) + f::FRAME_TRAILER_LEN;
        let fits = payload_len <= rules.max_record && header_len >= f::FRAME_HEADER_LEN && total <= to - at;
        // The trailer is the cheap test.
        if word(16) != rules.file_tag.to_le_bytes() || !fits || self.pages.fetch(at + total - 4, 4)? != sum {
            return Ok(None);
        }
        let bytes = self.pages.source().chunk(at, total as usize)?;
        // The header's checksum tells for which place the frame was made.
        let header = bytes.get(8..header_len as usize).unwrap_or_default();
        let places = [at, at.saturating_sub(SHIFT_MAX), at + SHIFT_MAX];
        let offset = places.map(|near| place_of(u32::from_le_bytes(sum), header, near)).into_iter().find(|place| {
            place.abs_diff(at) <= SHIFT_MAX && matches!(decode_header(&bytes, *place, rules), Decoded::Whole(_))
        });
        let Some(offset) = offset else { return Ok(None) };
        Ok(match Frame::check(bytes, offset, rules) {
            Decoded::Whole(frame) => Some(SurveyFrame { head: *frame.head(), at, status: FrameStatus::Displaced }),
            _ => None,
        })
    }
}
