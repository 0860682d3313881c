//! Writing one frame, in memory: a record's bytes are written where its frame will stand, and header and trailer are filled
//! in around them. FORMAT.md section 3.

use uuid::Uuid;

use super::checksum::{crc32, crc32_at};
use super::format as f;
use super::kind::{FrameType, HintClass, IndexHint};

/// Everything that the writer decides about a frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draft<'a> {
    pub(crate) offset: u64,
    pub(crate) frame_type: FrameType,
    pub(crate) flags: u8,
    pub(crate) hint: IndexHint<'a>,
    pub(crate) file_tag: u32,
    pub(crate) durable_end: u64,
    pub(crate) chain: u32,
    pub(crate) id: Uuid,
    pub(crate) parent_off: u64,
    pub(crate) boundary_off: u64,
    pub(crate) payload: &'a [u8],
}

/// Bytes of the frame that a draft becomes.
#[cfg(test)]
pub(crate) fn encoded_len(hint: &IndexHint<'_>, payload_len: usize) -> u64 {
    f::FRAME_HEADER_LEN + (hint.stored_len() + payload_len as u64).next_multiple_of(8) + f::FRAME_TRAILER_LEN
}

/// Appends one frame to `out`; gives its header's checksum, which the next frame names as its chain.
///
/// # Panics
/// As [`seal`].
pub(crate) fn encode(draft: &Draft<'_>, out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    begin(&draft.hint, out);
    out.extend_from_slice(draft.payload);
    let payload_len = end(out, start);
    seal(draft, draft.hint.class(), &mut out[start..], payload_len)
}

/// Makes room for a frame's header and writes its hint's list: the caller's payload goes behind it.
pub(crate) fn begin(hint: &IndexHint<'_>, out: &mut Vec<u8>) {
    out.resize(out.len() + f::FRAME_HEADER_LEN as usize, 0);
    if matches!(hint, IndexHint::Targets(_) | IndexHint::ResultOf(_)) {
        let targets = hint.targets();
        out.extend_from_slice(&(targets.len() as u32).to_le_bytes());
        for target in targets {
            out.extend_from_slice(target.as_bytes());
        }
    }
}

/// Ends the frame that [`begin`] began at `start` with padding and room for the trailer; gives the length of the stored
/// payload, which the caller holds against the limit.
pub(crate) fn end(out: &mut Vec<u8>, start: usize) -> usize {
    let body = start + f::FRAME_HEADER_LEN as usize;
    let payload_len = out.len() - body;
    let padded = payload_len.next_multiple_of(f::FRAME_ALIGN as usize);
    out.resize(body + padded + f::FRAME_TRAILER_LEN as usize, 0);
    payload_len
}

/// Fills in header and trailer of a frame whose body is there, with a hint of this class; gives the header's checksum. The
/// draft's own hint and payload are not looked at.
///
/// # Panics
/// If the caller has not checked that offset and durable end are aligned and in order, and that the payload is within the
/// record limit.
pub(crate) fn seal(draft: &Draft<'_>, class: HintClass, frame: &mut [u8], payload_len: usize) -> u32 {
    let distance =
        draft.offset.checked_sub(draft.durable_end).expect("the durable end never lies before a new frame's start");
    let unsynced = u32::try_from(distance / f::FRAME_ALIGN).expect("the window is bounded far below 32 GiB");
    let payload_len = u32::try_from(payload_len).expect("checked against the limit");
    let total_len = frame.len() as u32;
    let (header, rest) = frame.split_at_mut(f::FRAME_HEADER_LEN as usize);
    let (body, trailer) = rest.split_at_mut(rest.len() - f::FRAME_TRAILER_LEN as usize);

    header[..4].copy_from_slice(&f::FRAME_MAGIC);
    header[8..12].copy_from_slice(&payload_len.to_le_bytes());
    header[12] = draft.frame_type.to_byte();
    header[13] = draft.flags;
    header[14] = (f::FRAME_HEADER_LEN / 8) as u8;
    header[15] = class.to_byte();
    header[16..20].copy_from_slice(&draft.file_tag.to_le_bytes());
    header[20..24].copy_from_slice(&unsynced.to_le_bytes());
    header[24..28].copy_from_slice(&draft.chain.to_le_bytes());
    header[28..32].copy_from_slice(&crc32(body).to_le_bytes());
    header[32..48].copy_from_slice(draft.id.as_bytes());
    header[48..56].copy_from_slice(&draft.parent_off.to_le_bytes());
    header[56..64].copy_from_slice(&draft.boundary_off.to_le_bytes());
    let header_crc = crc32_at(draft.offset, &header[8..]);
    header[4..8].copy_from_slice(&header_crc.to_le_bytes());
    trailer[..4].copy_from_slice(&total_len.to_le_bytes());
    trailer[4..].copy_from_slice(&header_crc.to_le_bytes());
    header_crc
}
