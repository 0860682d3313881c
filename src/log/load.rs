//! One frame, read and checked: where it begins, or where it ends.

use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Fault, Frame, FrameHead, Rules, decode_header, decode_trailer};
use super::source::ReadAhead;

/// Before a larger frame is read, its trailer is: headers may stand one in the other.
const UNASKED_MAX: u64 = 64 << 10;

/// Reads and checks the frame at a place.
pub(crate) fn load(pages: &mut ReadAhead<'_>, offset: u64, rules: Rules) -> Result<Decoded<Frame>, LogError> {
    let head = match load_header(pages, offset, rules)? {
        Decoded::Whole(head) => head,
        Decoded::Short { missing } => return Ok(Decoded::Short { missing }),
        Decoded::Wrong(fault) => return Ok(Decoded::Wrong(fault)),
    };
    load_behind(pages, head, rules)
}

/// Reads and checks the rest of the frame with this header.
pub(crate) fn load_behind(
    pages: &mut ReadAhead<'_>,
    head: FrameHead,
    rules: Rules,
) -> Result<Decoded<Frame>, LogError> {
    let (offset, total) = (head.offset, head.total_len());
    if let Some(missing) = (offset + total).checked_sub(pages.limit()).filter(|missing| *missing > 0) {
        return Ok(Decoded::Short { missing });
    }
    if total > UNASKED_MAX && !pages.holds(offset, total) {
        if !trailer_fits(pages, &head)? {
            return Ok(Decoded::Wrong(Fault::Trailer));
        }
        if pages.source().is_mapped() {
            return Ok(Frame::check(pages.source().chunk(offset, total as usize)?, offset, rules));
        }
    }
    // The header stays in the buffer while the rest is read.
    Ok(Frame::behind(head, pages.chunk(offset, total as usize)?))
}

/// Whether a large frame's trailer is where its header says, read by itself.
pub(crate) fn trailer_fits(pages: &ReadAhead<'_>, head: &FrameHead) -> Result<bool, LogError> {
    let (at, len) = (head.next_offset() - f::FRAME_TRAILER_LEN, f::FRAME_TRAILER_LEN as usize);
    let trailer = pages.source().chunk(at, len)?;
    Ok(decode_trailer(&trailer).ok() == Some((head.total_len() as u32, head.header_crc)))
}

/// Reads and checks the header at a place; the payload is not looked at.
pub(crate) fn load_header(
    pages: &mut ReadAhead<'_>,
    offset: u64,
    rules: Rules,
) -> Result<Decoded<FrameHead>, LogError> {
    let fixed = pages.fetch(offset, f::FRAME_HEADER_LEN as usize)?;
    match decode_header(fixed, offset, rules) {
        Decoded::Short { .. } if fixed.len() as u64 == f::FRAME_HEADER_LEN => {
            let longer = usize::from(fixed[14]) * 8;
            Ok(decode_header(pages.fetch(offset, longer)?, offset, rules))
        }
        decoded => Ok(decoded),
    }
}

/// The whole frame that ends at a place, if there is one. Where there is none this costs one small read.
pub(crate) fn load_ending_at(pages: &mut ReadAhead<'_>, end: u64, rules: Rules) -> Result<Option<Frame>, LogError> {
    let Some(start) = start_by_trailer(pages, end, rules)? else { return Ok(None) };
    match load(pages, start, rules)? {
        Decoded::Whole(frame) if frame.next_offset() == end => Ok(Some(frame)),
        _ => Ok(None),
    }
}

/// The header of the frame that ends at a place, confirmed by its trailer; the payload is not looked at.
pub(crate) fn header_ending_at(
    pages: &mut ReadAhead<'_>,
    end: u64,
    rules: Rules,
) -> Result<Option<FrameHead>, LogError> {
    let Some(start) = start_by_trailer(pages, end, rules)? else { return Ok(None) };
    match load_header(pages, start, rules)? {
        Decoded::Whole(head) if head.next_offset() == end => Ok(Some(head)),
        _ => Ok(None),
    }
}

fn start_by_trailer(pages: &mut ReadAhead<'_>, end: u64, rules: Rules) -> Result<Option<u64>, LogError> {
    if end < f::HEADER_PAGE_LEN + f::FRAME_LEN_MIN || !end.is_multiple_of(f::FRAME_ALIGN) {
        return Ok(None);
    }
    let bytes = pages.fetch(end - f::FRAME_TRAILER_LEN, f::FRAME_TRAILER_LEN as usize)?;
    let Ok((total, header_crc)) = decode_trailer(bytes) else { return Ok(None) };
    let total = u64::from(total);
    let largest = u64::from(rules.max_record) + f::FRAME_HEADER_LEN_MAX + 16;
    if !total.is_multiple_of(f::FRAME_ALIGN)
        || !(f::FRAME_LEN_MIN..=largest).contains(&total)
        || total > end - f::HEADER_PAGE_LEN
    {
        return Ok(None);
    }
    // A place far away is not worth the read-ahead: eight bytes may look like a trailer everywhere.
    let far = if total > UNASKED_MAX { Some(pages.source().chunk(end - total, 8)?) } else { None };
    let marker = match &far {
        Some(bytes) => bytes,
        None => pages.fetch(end - total, 8)?,
    };
    let fits = marker.get(..4) == Some(&f::FRAME_MAGIC) && marker.get(4..) == Some(&header_crc.to_le_bytes());
    Ok(fits.then_some(end - total))
}
