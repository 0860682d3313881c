//! Everything that is in a file, whole or not: for `verify` and for salvage. It writes nothing. FORMAT.md section 11.
//!
//! Bad bytes are never an error here, they are what it looks for. The map is not used, so a bad sector is an error and no signal.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::ahead::FramesAhead;
use super::damage::{Damage, DamageKind};
use super::displaced::{displaced, tag_of_displaced};
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Frame, FrameHead, Rules};
use super::fs::{Access, Fs};
use super::halves::heads;
use super::header::LogInfo;
use super::kind::FrameType;
use super::load::{load, load_header};
use super::opening::data_end;
use super::reader::read_page;
use super::report::{Cause, SetAside, Verdict, WatermarkState};
use super::scan::{Hit, Markers, Opens, Step, Stop, Walk};
use super::source::{ReadAhead, Source};
use super::state::decode_open;
use super::survey_frame::{FrameStatus, SurveyFrame};

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
    pub(crate) source: Arc<Source>,
    pub(crate) rules: Rules,
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
        match load_header(&mut ReadAhead::new(&self.source, self.size), offset, self.rules)? {
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
    survey_in(fs, path, None)
}

/// As [`survey`], and shows each frame that the walk along the chain comes by, when it is read: of a file that turns out to be
/// [`Verdict::Clean`] every frame once, in order, so that none has to be read again. Of any other file it may be fewer, and
/// what they count for only the survey says.
///
/// # Errors
/// As [`survey`].
pub fn survey_with(fs: Arc<dyn Fs>, path: &Path, show: &mut dyn FnMut(&Frame)) -> Result<Survey, LogError> {
    survey_in(fs, path, Some(show))
}

fn survey_in(fs: Arc<dyn Fs>, path: &Path, mut show: Option<&mut dyn FnMut(&Frame)>) -> Result<Survey, LogError> {
    let file = fs.open(path, Access::Read).map_err(|source| LogError::io(path, "open", 0, source))?;
    let source = Arc::new(Source::new(path, file, false));
    let page = read_page(&source);
    let size = source.size()?;
    let end = data_end(&mut ReadAhead::back(&source, size))?;
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
    let mut walk = Walk { at: f::HEADER_PAGE_LEN, chain, rules };
    let accepted = |head: FrameHead| SurveyFrame { head, at: head.offset, status: FrameStatus::Accepted };
    let mut frames = Vec::new();
    match &mut show {
        None => frames.extend(heads(&source, &mut walk, end)?.into_iter().map(accepted)),
        Some(show) => {
            let mut ahead = FramesAhead::start(&source, &walk, end);
            while let Some(ready) = ahead.as_mut().and_then(FramesAhead::next) {
                ready.frames.iter().for_each(&mut **show);
                frames.extend(ready.frames.iter().map(|frame| accepted(*frame.head())));
                walk = ready.walk;
            }
        }
    }
    let mut pass = Pass {
        pages: ReadAhead::run(&source, walk.at, end),
        walk,
        end,
        mark: if let WatermarkState::At(mark) = watermark { mark } else { 0 },
        linked: true,
        opens: None,
        witness: None,
        show: None,
        frames,
        set_aside: Vec::new(),
        damage,
    };
    if let Some(show) = show {
        pass.show = Some(show);
    }
    if end == f::HEADER_PAGE_LEN && !pass.damage.is_empty() {
        // So much was taken out of the page that all the rest lies in it.
        pass.frames = displaced(&mut pass.pages, rules, 0, end)?.0;
    }
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

/// The tag of the first frame whose checksum fits its place, or else of the first displaced one: for a file without a header.
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
    tag_of_displaced(&mut pages, end)
}

/// What the frame behind damage is of the hit batch, if the batch may go on there: `front` are its frames before the damage,
/// `lost` is the first lost frame's header if that is right.
fn goes_on(front: &[FrameHead], lost: Option<&FrameHead>, next: &Frame, hit: Range<u64>) -> Option<FrameStatus> {
    // The log's own frames begin no batch, whatever their flags say.
    match (front.last().filter(|head| !head.frame_type.is_own()), lost) {
        // Nothing is lost between them: it is the next of the batch (which is too large) or none of it.
        (Some(last), _) if hit.is_empty() => (last.header_crc == next.head().chain).then_some(FrameStatus::Incomplete),
        (_, Some(lost)) if lost.next_offset() == hit.end => lost.batch_goes_on().then_some(FrameStatus::Incomplete),
        (_, Some(lost)) => lost.batch_goes_on().then_some(FrameStatus::Doubtful),
        (front, None) => front.map(|_| FrameStatus::Doubtful),
    }
}

/// Whether the frames of a batch in front of bytes that were put in have the rest of it behind them, displaced.
fn is_completed(front: &[FrameHead], moved: &[SurveyFrame]) -> bool {
    let Some(mut last) = front.last() else { return false };
    for SurveyFrame { head, .. } in moved {
        if head.offset != last.next_offset() || head.chain != last.header_crc {
            return false;
        }
        if !head.batch_goes_on() {
            return true;
        }
        last = head;
    }
    false
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
    show: Option<&'a mut dyn FnMut(&Frame)>,
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
                    for frame in &frames {
                        if let Some(show) = &mut self.show {
                            show(frame);
                        }
                        self.push(frame.head(), status);
                    }
                }
                Step::End(_) if self.walk.at >= self.end => return Ok(()),
                Step::End(_) if self.opens.is_none() => {
                    self.opens = Some(Opens::behind(&mut self.pages, self.walk.at, self.walk.rules)?);
                }
                Step::End(stop) => {
                    let from = self.walk.at;
                    let hit = self.hit(stop)?;
                    let (any_whole, witnessed) = self.look_behind(from, hit.from)?;
                    let vouched = self.mark > from || witnessed;
                    let (moved, given_up) = if any_whole {
                        Default::default()
                    } else {
                        // What lay at the start may have moved into the page.
                        let from = if hit.from == f::HEADER_PAGE_LEN { 0 } else { hit.from };
                        displaced(&mut self.pages, self.walk.rules, from, self.end)?
                    };
                    // What was taken for the log's own since nothing said otherwise.
                    for frame in self.frames.iter_mut().filter(|frame| frame.status == FrameStatus::Orphan) {
                        if given_up.iter().any(|range| range.contains(&frame.head.offset)) {
                            frame.status = FrameStatus::SetAside;
                        }
                    }
                    if !vouched && moved.is_empty() {
                        let cause = match stop {
                            Stop::Batch => Cause::IncompleteBatch,
                            _ if any_whole => Cause::UnsyncedHole,
                            _ => Cause::TornTail,
                        };
                        return self.put_aside(from, self.end, cause);
                    }
                    if self.step_over_damage(stop, hit, moved)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// What is hit where the walk stands.
    fn hit(&mut self, stop: Stop) -> Result<Hit, LogError> {
        let opens = match self.opens.take() {
            Some(opens) => opens,
            None => Opens::behind(&mut self.pages, self.walk.at, self.walk.rules)?,
        };
        let hit = Hit::at(&mut self.pages, self.walk.at, stop, self.walk.rules, &opens);
        self.opens = Some(opens);
        hit
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

    /// Whether there are whole frames behind the hit, and whether one of them knew of durable data behind the place where the
    /// chain ends. The one that knew the most speaks for all places before it, so that many damaged places cost no look at the
    /// end each.
    fn look_behind(&mut self, from: u64, hit: u64) -> Result<(bool, bool), LogError> {
        if let Some(head) = self.witness.filter(|head| head.offset >= hit) {
            return Ok((true, head.durable_end() > from));
        }
        let whole = self.whole_frames(hit, self.end)?;
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
    fn step_over_damage(&mut self, stop: Stop, hit: Hit, moved: Vec<SurveyFrame>) -> Result<bool, LogError> {
        // What is whole of a batch that is not: none of it counts.
        let status = match is_completed(&hit.front, &moved) {
            true if self.linked => FrameStatus::Accepted,
            true => FrameStatus::Orphan,
            false => FrameStatus::Incomplete,
        };
        hit.front.iter().for_each(|head| self.push(head, status));
        let mut damage = hit.damage(stop, String::from("a frame of this log"));
        if !moved.is_empty() {
            damage.found = String::from("bytes put in or taken out");
        }
        self.damage.push(damage);
        self.frames.extend(moved);
        let Hit { front, from: bad, to, next, skipped } = hit;
        let Some(next) = next else { return Ok(true) };
        if let Some(cause) = skipped {
            self.put_aside(to, next.offset(), cause)?;
        }
        // Where a whole frame stands at the damage itself none is lost, and the batch that begins there is not the hit one.
        let lost = match load_header(&mut self.pages, bad, self.walk.rules)? {
            Decoded::Whole(head) if bad < to => Some(head),
            _ => None,
        };
        // One record is lost and the chain holds if the next frame names what is left of it: its header, or its trailer.
        let by_header = lost.is_some_and(|head| head.next_offset() == to && head.header_crc == next.head().chain);
        let trailer = self.pages.fetch(to - f::FRAME_TRAILER_LEN, f::FRAME_TRAILER_LEN as usize)?;
        let by_trailer = super::frame::decode_trailer(trailer)
            .is_ok_and(|(len, crc)| to - bad == u64::from(len) && crc == next.head().chain);
        self.linked &= by_header || by_trailer;
        let mut at = next;
        let mut chain = at.head().chain;
        let mut going_on = goes_on(&front, lost.as_ref(), &at, bad..to);
        // All frames of a batch knew of the same durable end.
        let durable_end = lost.as_ref().or(front.last()).map(FrameHead::durable_end);
        while let Some(status) = going_on
            && !at.frame_type().is_own()
            && durable_end == Some(at.head().durable_end())
        {
            self.push(at.head(), status);
            going_on = going_on.filter(|_| at.head().batch_goes_on());
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
}
