//! Whole frames that stand somewhere else than where they were written: bytes were put in or taken out before them. FORMAT.md
//! section 11.4.

use std::collections::HashSet;
use std::ops::Range;

use super::checksum::place_of;
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Frame, Rules, decode_header, padded};
use super::kind::FrameType;
use super::load::load;
use super::source::ReadAhead;
use super::state::decode_open;
use super::survey_frame::{FrameStatus, SurveyFrame};

/// A frame moved by more than this is not recognised.
const SHIFT_MAX: u64 = 1 << 20;

/// Frames that stand somewhere else than where they were written, looked for at every byte. A copy of a frame that is whole at
/// its own place, or that was found already, is none: the log is quoted in it, or stands twice. With them the ranges that displaced OPENs have
/// stepped over.
pub(crate) fn displaced(
    pages: &mut ReadAhead<'_>,
    rules: Rules,
    from: u64,
    to: u64,
) -> Result<(Vec<SurveyFrame>, Vec<Range<u64>>), LogError> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    let mut given_up: Vec<Range<u64>> = Vec::new();
    let mut at = from;
    while let Some(marker) = next_magic(pages, at, to)? {
        at = marker;
        let Some(frame) = displaced_at(pages, rules, at, to)? else {
            at += 1;
            continue;
        };
        let head = *frame.head();
        let is_at_home = matches!(load(pages, head.offset, rules)?, Decoded::Whole(home) if *home.head() == head);
        if !is_at_home && known.insert(head.offset) {
            found.push(SurveyFrame { head, at, status: FrameStatus::Displaced });
            if head.frame_type == FrameType::Open {
                given_up.extend(decode_open(frame.stored_payload()).map(|(skip_from, _)| skip_from..head.offset));
            }
        }
        at += head.total_len();
    }
    // What an OPEN has stepped over does not come back because it was moved.
    for frame in &mut found {
        if given_up.iter().any(|range| range.contains(&frame.head.offset)) {
            frame.status = FrameStatus::SetAside;
        }
    }
    Ok((found, given_up))
}

/// The tag that the first displaced frame names, where no header and no frame at its own place tells which is the log's.
pub(crate) fn tag_of_displaced(pages: &mut ReadAhead<'_>, to: u64) -> Result<Option<u32>, LogError> {
    let mut at = 0;
    while let Some(marker) = next_magic(pages, at, to)? {
        at = marker + 1;
        let bytes = pages.fetch(marker, f::FRAME_HEADER_LEN as usize)?;
        let Some(tag) = bytes.get(16..20) else { continue };
        let file_tag = u32::from_le_bytes([tag[0], tag[1], tag[2], tag[3]]);
        let rules = Rules { file_tag, max_record: f::RECORD_LEN_CAP };
        if file_tag != 0 && displaced_at(pages, rules, marker, to)?.is_some() {
            return Ok(Some(file_tag));
        }
    }
    Ok(None)
}

/// The next place with the magic, at any byte.
fn next_magic(pages: &mut ReadAhead<'_>, mut at: u64, to: u64) -> Result<Option<u64>, LogError> {
    while at < to {
        let piece = pages.fetch(at, (to - at).min(64 << 10) as usize)?;
        if let Some(marker) = piece.windows(4).position(|bytes| bytes == f::FRAME_MAGIC) {
            return Ok(Some(at + marker as u64));
        }
        at += (piece.len() as u64).saturating_sub(3).max(1);
    }
    Ok(None)
}

fn displaced_at(pages: &mut ReadAhead<'_>, rules: Rules, at: u64, to: u64) -> Result<Option<Frame>, LogError> {
    let fixed = pages.fetch(at, f::FRAME_HEADER_LEN as usize)?;
    let Ok(fixed) = <[u8; f::FRAME_HEADER_LEN as usize]>::try_from(fixed) else { return Ok(None) };
    let word = |place: usize| [fixed[place], fixed[place + 1], fixed[place + 2], fixed[place + 3]];
    let (sum, payload_len) = (word(4), u32::from_le_bytes(word(8)));
    let header_len = u64::from(fixed[14]) * 8;
    let total = header_len + padded(payload_len) + f::FRAME_TRAILER_LEN;
    let fits = payload_len <= rules.max_record && header_len >= f::FRAME_HEADER_LEN && total <= to - at;
    // The trailer is the cheap test.
    if word(16) != rules.file_tag.to_le_bytes() || !fits || pages.fetch(at + total - 4, 4)? != sum {
        return Ok(None);
    }
    let bytes = pages.source().chunk(at, total as usize)?;
    // The header's checksum tells for which place the frame was made.
    let header = bytes.get(8..header_len as usize).unwrap_or_default();
    let places = [at, at.saturating_sub(SHIFT_MAX), at + SHIFT_MAX];
    let offset = places.map(|near| place_of(u32::from_le_bytes(sum), header, near)).into_iter().find(|place| {
        place.abs_diff(at) <= SHIFT_MAX && matches!(decode_header(&bytes, *place, rules), Decoded::Whole(_))
    });
    let Some(offset) = offset else { return Ok(None) };
    Ok(match Frame::check(bytes, offset, rules) {
        Decoded::Whole(frame) => Some(frame),
        _ => None,
    })
}
