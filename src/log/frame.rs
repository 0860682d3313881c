//! One frame, in memory: 64 B header, payload, zero padding, 8 B trailer. FORMAT.md section 3.
//!
//! This file knows no file. Whether a frame that is whole also belongs to the log, its chain says (`scan.rs`).

use std::fmt;

use uuid::Uuid;

use super::checksum::{crc32, crc32_at};
use super::cursor::{Cursor, OutOfBounds};
use super::format as f;
use super::kind::{FrameType, HintClass};
use super::source::Chunk;

/// The header of a frame whose checksum was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameHead {
    /// Where the frame starts, in bytes from the start of the file.
    pub offset: u64,
    /// What it is.
    pub frame_type: FrameType,
    /// Flag bits as stored.
    pub flags: u8,
    /// Class of the hint.
    pub hint: HintClass,
    /// Bytes of the header.
    pub header_len: u64,
    /// Bytes of the stored payload: the hint's list and the caller's bytes, without padding.
    pub payload_len: u32,
    /// The file's tag.
    pub file_tag: u32,
    /// Distance from the durable end known when the frame was written to the frame's start, in 8 B words.
    pub unsynced: u32,
    /// Checksum of the header of the frame before it.
    pub chain: u32,
    /// Checksum of payload and padding.
    pub payload_crc: u32,
    /// The record's id; random in OPEN, nil in MARK and INDEX.
    pub id: Uuid,
    /// Offset of the parent, 0 for none; in HEAD, OPEN, MARK and INDEX of the current leaf. A hint: compare ids.
    pub parent_off: u64,
    /// Offset of the boundary that counts once this frame is in, 0 for none; in a BOUNDARY, of the one before it. A hint.
    pub boundary_off: u64,
    /// Checksum of this header and its place.
    pub header_crc: u32,
}

impl FrameHead {
    /// Bytes from the frame's start to the next one.
    #[must_use]
    pub fn total_len(&self) -> u64 {
        self.header_len + padded(self.payload_len) + f::FRAME_TRAILER_LEN
    }

    /// Where the next frame starts.
    #[must_use]
    pub fn next_offset(&self) -> u64 {
        self.offset + self.total_len()
    }

    /// What the writer knew to be durable when it wrote this frame, as bytes from the start of the file.
    #[must_use]
    pub fn durable_end(&self) -> u64 {
        // The decoder has checked that the distance does not reach before the first frame.
        self.offset - u64::from(self.unsynced) * f::FRAME_ALIGN
    }

    /// The batch goes on behind this frame.
    #[must_use]
    pub fn batch_goes_on(&self) -> bool {
        self.flags & f::FLAG_BATCH != 0
    }

    /// This record was the current leaf when its batch was in.
    #[must_use]
    pub fn is_leaf(&self) -> bool {
        self.flags & f::FLAG_LEAF != 0
    }

    /// A reader that does not know the type, or the event's kind, may skip the frame.
    #[must_use]
    pub fn is_skippable(&self) -> bool {
        self.flags & f::FLAG_SKIPPABLE != 0
    }
}

/// A whole frame: header, payload and trailer have been checked. It shares what was read together with it, up to 256 KiB:
/// who keeps many single frames of a long walk for long copies their bytes.
#[derive(Clone)]
pub struct Frame {
    head: FrameHead,
    /// The frame's bytes as they lie in the file, from header to trailer.
    bytes: Chunk,
    /// Ids before the caller's payload.
    target_count: usize,
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("head", &self.head).field("payload_len", &self.payload().len()).finish()
    }
}

impl Frame {
    /// Checks the bytes of one frame; they start at `offset` of the file.
    pub(crate) fn check(bytes: Chunk, offset: u64, rules: Rules) -> Decoded<Self> {
        let head = match decode_header(&bytes, offset, rules) {
            Decoded::Whole(head) => head,
            Decoded::Short { missing } => return Decoded::Short { missing },
            Decoded::Wrong(fault) => return Decoded::Wrong(fault),
        };
        Self::behind(head, bytes)
    }

    /// Checks the bytes of one frame, of which the header is known to be whole.
    pub(crate) fn behind(head: FrameHead, bytes: Chunk) -> Decoded<Self> {
        let total = head.total_len();
        if (bytes.len() as u64) < total {
            return Decoded::Short { missing: total - bytes.len() as u64 };
        }
        match check_body(&head, &bytes) {
            Ok(target_count) => Decoded::Whole(Self { head, bytes: bytes.slice(0, total as usize), target_count }),
            Err(fault) => Decoded::Wrong(fault),
        }
    }

    /// The frame that some bytes begin with, for who holds a piece of a file. They lie at `offset` bytes from the start of
    /// the file, `file_tag` and `max_record` are those of its header. None if there is no whole frame: a reader never
    /// looks further than its end, and nothing is said of the chain.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], offset: u64, file_tag: u32, max_record: u32) -> Option<Self> {
        match Self::check(Chunk::copy(bytes), offset, Rules { file_tag, max_record }) {
            Decoded::Whole(frame) => offset.checked_add(frame.head.total_len()).map(|_| frame),
            Decoded::Short { .. } | Decoded::Wrong(_) => None,
        }
    }

    /// The header.
    #[must_use]
    pub fn head(&self) -> &FrameHead {
        &self.head
    }

    /// Where the frame starts, in bytes from the start of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.head.offset
    }

    /// Where the next frame starts.
    #[must_use]
    pub fn next_offset(&self) -> u64 {
        self.head.next_offset()
    }

    /// What it is.
    #[must_use]
    pub fn frame_type(&self) -> FrameType {
        self.head.frame_type
    }

    /// The record's id.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.head.id
    }

    /// The payload as the caller gave it.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        let skip = match self.head.hint {
            HintClass::Targets | HintClass::ResultOf => 4 + 16 * self.target_count,
            HintClass::Plain | HintClass::Meta => 0,
        };
        self.stored_payload().get(skip..).unwrap_or_default()
    }

    /// The ids of the record's hint: targets of a change, or the message of a result's call.
    pub fn targets(&self) -> impl Iterator<Item = Uuid> + '_ {
        let ids = self.stored_payload().get(4..4 + 16 * self.target_count).unwrap_or_default();
        ids.chunks_exact(16).map(|id| Uuid::from_slice(id).unwrap_or_default())
    }

    /// Payload as stored, with the hint's list before the caller's bytes.
    pub(crate) fn stored_payload(&self) -> &[u8] {
        let start = self.head.header_len as usize;
        self.bytes.get(start..start + self.head.payload_len as usize).unwrap_or_default()
    }

    /// All bytes, from header to trailer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What the decoder must know of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) file_tag: u32,
    pub(crate) max_record: u32,
}

/// One attempt to read something off the front of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decoded<T> {
    Whole(T),
    /// Not there yet, torn or damaged: the verdict of the open says which.
    Short {
        missing: u64,
    },
    Wrong(Fault),
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("no frame marker")]
    Magic,
    #[error("a frame header of {0} bytes")]
    HeaderLen(u64),
    #[error("header checksum {found:#010x} where {expected:#010x} belongs")]
    HeaderCrc { expected: u32, found: u32 },
    #[error("a frame of another file (tag {found:#010x})")]
    FileTag { found: u32 },
    #[error("a payload of {0} bytes, more than the log allows")]
    PayloadLen(u32),
    #[error("frame type {0}")]
    Type(u8),
    #[error("unknown flags {0:#04x}")]
    Flags(u8),
    #[error("unknown hint class {0}")]
    Hint(u8),
    #[error("a durable end before the first frame")]
    Unsynced,
    #[error("payload checksum {found:#010x} where {expected:#010x} belongs")]
    PayloadCrc { expected: u32, found: u32 },
    #[error("padding that is not zero")]
    Padding,
    #[error("a trailer of another frame")]
    Trailer,
    #[error("a list of targets longer than its payload")]
    Targets,
    #[error("bytes outside the log")]
    Place,
}

impl From<OutOfBounds> for Fault {
    fn from(_: OutOfBounds) -> Self {
        Self::HeaderLen(0)
    }
}

impl From<Fault> for Decoded<FrameHead> {
    fn from(fault: Fault) -> Self {
        Self::Wrong(fault)
    }
}

/// Payload and padding together.
pub(crate) fn padded(payload_len: u32) -> u64 {
    u64::from(payload_len).next_multiple_of(f::FRAME_ALIGN)
}

/// Checks the header alone. The order matters: lengths before they are used, the checksum before anything is believed.
pub(crate) fn decode_header(bytes: &[u8], offset: u64, rules: Rules) -> Decoded<FrameHead> {
    let marker = bytes.len().min(f::FRAME_MAGIC.len());
    if bytes[..marker] != f::FRAME_MAGIC[..marker] {
        return Fault::Magic.into();
    }
    let Some(fixed) = bytes.get(..f::FRAME_HEADER_LEN as usize) else {
        return Decoded::Short { missing: f::FRAME_HEADER_LEN - bytes.len() as u64 };
    };
    let header_len = u64::from(fixed[14]) * 8;
    if header_len < f::FRAME_HEADER_LEN {
        return Fault::HeaderLen(header_len).into();
    }
    let Some(header) = bytes.get(..header_len as usize) else {
        return Decoded::Short { missing: header_len - bytes.len() as u64 };
    };
    match parse_header(header, offset, rules) {
        Ok(head) => Decoded::Whole(head),
        Err(fault) => fault.into(),
    }
}

fn parse_header(header: &[u8], offset: u64, rules: Rules) -> Result<FrameHead, Fault> {
    let mut cursor = Cursor::new(header);
    cursor.take(f::FRAME_MAGIC.len())?;
    let found = cursor.u32()?;
    let expected = crc32_at(offset, &header[8..]);
    if found != expected {
        return Err(Fault::HeaderCrc { expected, found });
    }
    let payload_len = cursor.u32()?;
    let type_byte = cursor.u8()?;
    let flags = cursor.u8()?;
    let header_len = u64::from(cursor.u8()?) * 8;
    let hint_byte = cursor.u8()?;
    let head = FrameHead {
        offset,
        frame_type: FrameType::from_byte(type_byte).ok_or(Fault::Type(type_byte))?,
        flags,
        hint: HintClass::from_byte(hint_byte).ok_or(Fault::Hint(hint_byte))?,
        header_len,
        payload_len,
        file_tag: cursor.u32()?,
        unsynced: cursor.u32()?,
        chain: cursor.u32()?,
        payload_crc: cursor.u32()?,
        id: cursor.uuid()?,
        parent_off: cursor.u64()?,
        boundary_off: cursor.u64()?,
        header_crc: found,
    };
    if head.file_tag != rules.file_tag {
        return Err(Fault::FileTag { found: head.file_tag });
    }
    if payload_len > rules.max_record {
        return Err(Fault::PayloadLen(payload_len));
    }
    if flags & !f::FLAGS_KNOWN != 0 {
        return Err(Fault::Flags(flags));
    }
    let distance = u64::from(head.unsynced) * f::FRAME_ALIGN;
    if offset < f::HEADER_PAGE_LEN || distance > offset - f::HEADER_PAGE_LEN {
        return Err(Fault::Unsynced);
    }
    // A pointer of a hostile file may lead here with any number.
    if !offset.is_multiple_of(f::FRAME_ALIGN) {
        return Err(Fault::Place);
    }
    Ok(head)
}

/// Checks payload, padding and trailer; gives the number of targets. `bytes` holds at least the whole frame.
fn check_body(head: &FrameHead, bytes: &[u8]) -> Result<usize, Fault> {
    let (header_len, total) = (head.header_len as usize, head.total_len() as usize);
    let body = bytes.get(header_len..total).ok_or(Fault::Trailer)?;
    let (stored, trailer) = body.split_at(body.len() - f::FRAME_TRAILER_LEN as usize);
    if decode_trailer(trailer)? != (head.total_len() as u32, head.header_crc) {
        return Err(Fault::Trailer);
    }
    let expected = crc32(stored);
    if expected != head.payload_crc {
        return Err(Fault::PayloadCrc { expected, found: head.payload_crc });
    }
    let (payload, padding) = stored.split_at(head.payload_len as usize);
    if padding.iter().any(|byte| *byte != 0) {
        return Err(Fault::Padding);
    }
    match head.hint {
        HintClass::Plain | HintClass::Meta => Ok(0),
        HintClass::Targets | HintClass::ResultOf => target_count(payload).ok_or(Fault::Targets),
    }
}

/// Number of ids in front of a payload, if they fit in it.
pub(crate) fn target_count(payload: &[u8]) -> Option<usize> {
    targets_fit(payload, payload.len())
}

/// The same of a payload of this length, of which only the beginning is at hand.
pub(crate) fn targets_fit(start: &[u8], payload_len: usize) -> Option<usize> {
    let count = Cursor::new(start).u32().ok()? as usize;
    let len = count.checked_mul(16)?.checked_add(4)?;
    (len <= payload_len).then_some(count)
}

/// Length and header checksum of the frame that ends with these 8 bytes.
pub(crate) fn decode_trailer(bytes: &[u8]) -> Result<(u32, u32), OutOfBounds> {
    let mut cursor = Cursor::new(bytes);
    let trailer = (cursor.u32()?, cursor.u32()?);
    cursor.finish()?;
    Ok(trailer)
}

#[cfg(test)]
mod tests {
    use super::super::encode::{Draft, encode, encoded_len};
    use super::super::kind::IndexHint;
    use super::*;

    const RULES: Rules = Rules { file_tag: 7, max_record: 1 << 20 };

    fn draft(payload: &[u8]) -> Draft<'_> {
        Draft {
            offset: 8192,
            frame_type: FrameType::Event,
            flags: 0,
            hint: IndexHint::Plain,
            file_tag: 7,
            durable_end: 4096,
            chain: 9,
            id: Uuid::from_u128(5),
            parent_off: 4096,
            boundary_off: 0,
            payload,
        }
    }

    #[test]
    fn a_frame_of_any_payload_length_comes_back_and_no_shorter_run_of_its_bytes_is_one() {
        for len in 0..40 {
            let payload: Vec<u8> = (0..len).collect();
            let mut bytes = Vec::new();
            let header_crc = encode(&draft(&payload), &mut bytes);
            assert_eq!(bytes.len() as u64, encoded_len(&IndexHint::Plain, payload.len()));
            let Decoded::Whole(frame) = Frame::check(Chunk::copy(&bytes), 8192, RULES) else { panic!("length {len}") };
            assert_eq!((frame.payload(), frame.head().header_crc), (&payload[..], header_crc));
            assert_eq!((frame.head().durable_end(), frame.next_offset()), (4096, 8192 + bytes.len() as u64));
            for cut in 0..bytes.len() {
                let missing = match Frame::check(Chunk::copy(&bytes[..cut]), 8192, RULES) {
                    Decoded::Short { missing } => missing,
                    _ => panic!("{cut} of {} bytes", bytes.len()),
                };
                assert!(missing > 0 && cut as u64 + missing <= bytes.len() as u64);
            }
        }
    }

    #[test]
    fn the_same_bytes_at_another_place_are_no_frame() {
        let mut bytes = Vec::new();
        encode(&draft(b"payload"), &mut bytes);
        for offset in (4096..16_384).step_by(8).filter(|offset| *offset != 8192) {
            assert!(matches!(decode_header(&bytes, offset, RULES), Decoded::Wrong(Fault::HeaderCrc { .. })));
        }
    }
}
