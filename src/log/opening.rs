//! The one algorithm that every open runs, clean or not: where the data ends, what is durable, and what of the rest belongs to
//! the log. It writes nothing. FORMAT.md section 7.

use super::damage::{Damage, DamageKind};
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, FrameHead, Rules};
use super::header::Page;
use super::kind::FrameType;
use super::load::{load, load_ending_at, load_header};
use super::recovery::{Tail, verdict};
use super::report::{Cause, OpenReport, SetAside, WatermarkState};
use super::scan::{Hit, Markers, Opens, Step, Stop, Walk, last_frame};
use super::source::{ReadAhead, Source};

/// What the open found.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Length of the file.
    pub(crate) size: u64,
    /// End of the data: behind it there are only zeros.
    pub(crate) data_end: u64,
    /// From here the window starts that no frame vouches for.
    pub(crate) window_start: u64,
    /// Checksum that a frame at the window's start must name.
    pub(crate) window_chain: u32,
    /// End of the accepted frames.
    pub(crate) end: u64,
    /// Checksum that the next frame must name.
    pub(crate) chain: u32,
    /// The last accepted frame.
    pub(crate) tip: Option<FrameHead>,
    pub(crate) durable_end: u64,
    pub(crate) tail: Tail,
    pub(crate) set_aside: Vec<SetAside>,
    pub(crate) damage: Vec<Damage>,
}

impl Analysis {
    pub(crate) fn report(&self, watermark: WatermarkState, bytes_read: u64) -> OpenReport {
        OpenReport {
            verdict: verdict(self.tail),
            end: self.end,
            durable_end: self.durable_end,
            zero_bytes: self.size.saturating_sub(self.data_end),
            set_aside: self.set_aside.clone(),
            damage: self.damage.clone(),
            bytes_read,
            clean_close: self.tail == Tail::Closed,
            watermark,
        }
    }
}

/// Looks at a log of `size` bytes whose header page is known.
pub(crate) fn analyze(source: &Source, page: &Page, size: u64) -> Result<Analysis, LogError> {
    let rules = page.info.rules();
    let mut pages = ReadAhead::back(source, size);
    let data_end = data_end(&mut pages)?;
    pages.end_at(data_end);
    let last = last_frame(&mut pages, data_end, rules)?;
    let window_start = last.as_ref().map_or(f::HEADER_PAGE_LEN, FrameHead::durable_end);

    let mut damage = page.damage.clone();
    let mut walk = Walk { at: window_start, chain: Some(page.info.header_crc), rules };
    let mut tip = None;
    if window_start > f::HEADER_PAGE_LEN {
        match load_ending_at(&mut pages, window_start, rules)? {
            Some(frame) => {
                walk.chain = Some(frame.head().header_crc);
                tip = Some(*frame.head());
            }
            None => {
                // Durable bytes are hit. What is still good, only a walk from the start can tell.
                damage.push(Damage {
                    offset: window_start,
                    len: 0,
                    kind: DamageKind::Frame,
                    expected: String::from("the end of a frame, as a later frame says"),
                    found: String::from("none"),
                });
                walk.at = f::HEADER_PAGE_LEN;
            }
        }
    }
    let window_chain = walk.chain.unwrap_or(page.info.header_crc);
    let window_start = walk.at;
    if damage.is_empty() {
        // Checked here, then replayed, then written again: read once.
        source.hold(window_start, data_end)?;
    }

    let mut set_aside = Vec::new();
    let mut durable_end = window_start;
    let stop = loop {
        match walk.step(&mut pages)? {
            Step::Frames { frames, skipped } => {
                for frame in &frames {
                    durable_end = durable_end.max(frame.head().durable_end());
                    tip = Some(*frame.head());
                }
                if let (Some((from, cause)), Some(open)) = (skipped, frames.first()) {
                    set_aside.push(examine(&mut pages, from, open.offset(), rules, cause)?.0);
                }
            }
            Step::End(stop) => break stop,
        }
    };

    let end = walk.at;
    let mut analysis = Analysis {
        size,
        data_end,
        window_start,
        window_chain,
        end,
        chain: walk.chain.unwrap_or(window_chain),
        tip,
        durable_end: durable_end.min(end),
        tail: Tail::Whole,
        set_aside,
        damage,
    };
    judge(&mut analysis, &mut pages, page, stop)?;
    Ok(analysis)
}

/// The verdict, once it is known where the accepted frames end.
fn judge(analysis: &mut Analysis, pages: &mut ReadAhead<'_>, page: &Page, stop: Stop) -> Result<(), LogError> {
    let (end, data_end) = (analysis.end, analysis.data_end);
    let mut tail = match analysis.tip {
        Some(tip) if tip.frame_type == FrameType::Mark && tip.unsynced == 0 => Tail::Closed,
        None => Tail::Closed,
        Some(_) => Tail::Whole,
    };
    if end < data_end {
        let (mut aside, later) = examine(pages, end, data_end, page.info.rules(), Cause::TornTail)?;
        tail = match (stop, later.whole) {
            (Stop::Batch, _) => Tail::HalfBatch,
            (_, 0) => Tail::Torn,
            _ => Tail::Hole,
        };
        // The slot is a witness like a frame: what it vouches for is no tail.
        let slot = if let WatermarkState::At(mark) = page.watermark { mark.min(data_end) } else { 0 };
        if let Some(witness) = later.witness.max(Some(slot).filter(|slot| *slot > end)) {
            // The walk has come from the start, so this is where the bytes are hit of which only the end was known.
            analysis.damage.retain(|known| known.kind != DamageKind::Frame || known.offset <= end);
            let expected = format!("a frame of this log (data up to byte {witness} had been durable)");
            let opens = Opens::behind(pages, end, page.info.rules())?;
            let hit = Hit::at(pages, end, stop, page.info.rules(), &opens)?;
            analysis.damage.push(hit.damage(stop, expected));
        } else {
            aside.cause = match tail {
                Tail::HalfBatch => Cause::IncompleteBatch,
                Tail::Hole => Cause::UnsyncedHole,
                _ => Cause::TornTail,
            };
            analysis.set_aside.push(aside);
        }
    }
    if let WatermarkState::At(mark) = page.watermark
        && mark > data_end
    {
        analysis.damage.push(Damage {
            offset: data_end,
            len: mark - data_end,
            kind: DamageKind::Missing,
            expected: format!("durable data up to byte {mark}, as the watermark says"),
            found: format!("the end of the data at byte {data_end}"),
        });
    }
    analysis.tail = if analysis.damage.is_empty() { tail } else { Tail::Damaged };
    Ok(())
}

/// End of the file, stepped back over zeros and rounded up to the alignment; never inside the header page. What the file then
/// lacks are zeros from here on: so a frame of which nothing else is missing is whole, before and after something is written
/// behind it.
pub(crate) fn data_end(pages: &mut ReadAhead<'_>) -> Result<u64, LogError> {
    let size = pages.limit();
    let (mut to, mut piece) = (size, 4096);
    while to > f::HEADER_PAGE_LEN {
        let from = to.saturating_sub(piece).max(f::HEADER_PAGE_LEN);
        let bytes = pages.fetch(from, (to - from) as usize)?;
        if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
            let end = (from + last as u64 + 1).next_multiple_of(f::FRAME_ALIGN);
            if end > size {
                pages.source().goes_on_to(end);
            }
            pages.source().saw(end);
            return Ok(end);
        }
        to = from;
        piece = (piece * 2).min(256 << 10);
    }
    Ok(f::HEADER_PAGE_LEN)
}

/// What whole frames stand in a range.
#[derive(Debug, Default)]
struct Later {
    whole: usize,
    /// The largest durable end behind the range's start that one of them names.
    witness: Option<u64>,
}

/// Looks through a range that the chain does not reach.
fn examine(
    pages: &mut ReadAhead<'_>,
    from: u64,
    to: u64,
    rules: Rules,
    cause: Cause,
) -> Result<(SetAside, Later), LogError> {
    let mut aside = SetAside { offset: from, len: to - from, cause, ids: Vec::new() };
    let mut later = Later::default();
    let mut markers = Markers::new(from, to);
    while let Some(offset) = markers.next(pages)? {
        let Decoded::Whole(head) = load_header(pages, offset, rules)? else { continue };
        if !head.frame_type.is_own() {
            aside.ids.push(head.id);
        }
        if let Decoded::Whole(frame) = load(pages, offset, rules)? {
            later.whole += 1;
            if head.durable_end() > from {
                later.witness = later.witness.max(Some(head.durable_end()));
            }
            markers.skip_to(frame.next_offset());
        }
    }
    Ok((aside, later))
}

/// Goes over the window again that `analyze` has accepted, checks each frame once more, and hands out its bytes, garbage that an
/// OPEN steps over among them, so that a writer can write them in the same place. At most one batch is held in memory.
pub(crate) fn replay_window(
    source: &Source,
    rules: Rules,
    found: &Analysis,
    mut write: impl FnMut(u64, &[u8]) -> Result<(), LogError>,
) -> Result<(), LogError> {
    let mut pages = ReadAhead::run(source, found.window_start, found.data_end);
    let mut walk = Walk { at: found.window_start, chain: Some(found.window_chain), rules };
    while walk.at < found.end {
        let from = walk.at;
        let Step::Frames { frames, .. } = walk.step(&mut pages)? else {
            return Err(LogError::NoFrame {
                path: source.path.clone(),
                offset: from,
                expected: String::from("the frame that was there a moment ago"),
                found: String::from("none"),
            });
        };
        let mut at = from;
        for frame in &frames {
            while at < frame.offset() {
                let garbage = source.chunk(at, (frame.offset() - at).min(64 << 10) as usize)?;
                if garbage.is_empty() {
                    break;
                }
                write(at, &garbage)?;
                at += garbage.len() as u64;
            }
            write(frame.offset(), frame.bytes())?;
            at = frame.next_offset();
        }
    }
    Ok(())
}
