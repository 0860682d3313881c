//! Large events in compressed form: an ext value of MessagePack around a zstd frame. FORMAT.md section 14.11.
//!
//! What is compressed can be read only by a build with the feature `zstd`; any other build says so in its error.

use std::borrow::Cow;

use super::error::EventError;
#[cfg(feature = "zstd")]
use super::pack;

/// The ext type whose data is a zstd frame, which gives the event's map.
const EXT_ZSTD: u8 = 2;
/// The most bytes that a compressed event may give.
#[cfg(feature = "zstd")]
const EVENT_LEN_MAX: u64 = 256 << 20;
/// The most bytes that each byte of a compressed event may give: a small file can't ask for much memory.
#[cfg(feature = "zstd")]
const EXPANSION_MAX: u64 = 128;
/// A compressed event may hold so many values, and one more for each of its compressed bytes: each costs a reader some memory,
/// however few bytes it takes.
const VALUES_MIN: usize = 4_096;

/// Makes large events smaller. It keeps its working memory, some 600 KB, from one event to the next.
pub struct Compressor(Inner);

#[cfg(feature = "zstd")]
struct Inner {
    zstd: zstd::bulk::Compressor<'static>,
    room: Vec<u8>,
}

/// Without the feature there is no such value.
#[cfg(not(feature = "zstd"))]
type Inner = std::convert::Infallible;

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    /// A compressor; none in a build without the feature `zstd`, or where there is no memory for one.
    #[must_use]
    pub fn new() -> Option<Self> {
        #[cfg(feature = "zstd")]
        return Inner::new().map(Self);
        #[cfg(not(feature = "zstd"))]
        None
    }

    /// Puts the compressed form in the place of the event that [`encode_into`](super::encode_into) wrote at `from`. An
    /// event of less than 4 KiB, and one that would not lose an eighth of its bytes, stays as it is.
    pub fn shrink(&mut self, bytes: &mut Vec<u8>, from: usize) {
        #[cfg(feature = "zstd")]
        self.0.shrink(bytes, from);
        #[cfg(feature = "zstd")]
        if self.0.room.capacity() > Inner::ROOM_KEPT_MAX {
            self.0.room = Vec::new();
        }
        #[cfg(not(feature = "zstd"))]
        match (self.0, bytes, from) {}
    }
}

#[cfg(feature = "zstd")]
impl Inner {
    /// Smaller events are left alone: there is little to win, and reading them would cost more.
    const EVENT_LEN_MIN: usize = 4 << 10;
    /// Fast; the higher levels win little on single events.
    const LEVEL: i32 = 1;
    /// Marker, length and type of an ext value.
    const EXT_HEADER_LEN: usize = 6;
    /// Room that is kept from one event to the next, at most, in bytes.
    const ROOM_KEPT_MAX: usize = 1 << 20;

    fn new() -> Option<Self> {
        zstd::bulk::Compressor::new(Self::LEVEL).ok().map(|zstd| Self { zstd, room: Vec::new() })
    }

    fn shrink(&mut self, bytes: &mut Vec<u8>, from: usize) {
        let event = bytes.get(from..).unwrap_or_default();
        let len = event.len();
        if len < Self::EVENT_LEN_MIN || len as u64 > EVENT_LEN_MAX {
            return;
        }
        // No room for more than what is worth having: an event that does not shrink costs no more than that.
        self.room.resize(len - len / 8 - Self::EXT_HEADER_LEN, 0);
        let Ok(count) = self.zstd.compress_to_buffer(event, &mut self.room[..]) else { return };
        let Ok(frame_len) = u32::try_from(count) else { return };
        // What a reader would refuse stays as it is.
        if len as u64 > EXPANSION_MAX * u64::from(frame_len) || pack::read_within(event, values_in(count)).is_err() {
            return;
        }
        bytes.truncate(from);
        bytes.push(0xC9);
        bytes.extend_from_slice(&frame_len.to_be_bytes());
        bytes.push(EXT_ZSTD);
        bytes.extend_from_slice(&self.room[..count]);
    }
}

/// An event's bytes, and how many values they may hold.
pub(crate) struct Plain<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) values: usize,
}

/// The event's map: the bytes themselves, or what they give if they are compressed.
pub(crate) fn plain(bytes: &[u8]) -> Result<Plain<'_>, EventError> {
    match compressed(bytes)? {
        Some((offset, frame)) => {
            Ok(Plain { bytes: Cow::Owned(expand(frame, offset)?), values: values_in(frame.len()) })
        }
        None => Ok(Plain { bytes: Cow::Borrowed(bytes), values: usize::MAX }),
    }
}

/// How many values a zstd frame of so many bytes may give.
fn values_in(frame_len: usize) -> usize {
    VALUES_MIN.saturating_add(frame_len)
}

/// The zstd frame in the bytes and where it begins, if they are an ext value of its type.
fn compressed(bytes: &[u8]) -> Result<Option<(usize, &[u8])>, EventError> {
    let Some(width @ 1..=4) = bytes.first().and_then(|marker| Some(1_usize << marker.checked_sub(0xC7)?.min(3))) else {
        return Ok(None);
    };
    let header = width + 2;
    if bytes.get(header - 1) != Some(&EXT_ZSTD) {
        return Ok(None);
    }
    let claimed = bytes[1..=width].iter().fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
    let frame = &bytes[header..];
    match frame.len().checked_sub(claimed) {
        Some(0) => Ok(Some((header, frame))),
        Some(left) => Err(EventError::Trailing { offset: header + claimed, left }),
        None => {
            let found = format!("{} bytes where {claimed} are claimed", frame.len());
            Err(EventError::Bytes { offset: header, expected: "ext data", found })
        }
    }
}

#[cfg(not(feature = "zstd"))]
fn expand(_: &[u8], offset: usize) -> Result<Vec<u8>, EventError> {
    Err(EventError::Compressed { offset })
}

#[cfg(feature = "zstd")]
fn expand(frame: &[u8], offset: usize) -> Result<Vec<u8>, EventError> {
    use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};
    let wrong = |expected, found: String| EventError::Bytes { offset, expected, found };
    let broken = |found: &str| wrong("a zstd frame", found.to_owned());
    let Ok(Some(len)) = get_frame_content_size(frame) else {
        return Err(broken("bytes that name no length"));
    };
    if len > EVENT_LEN_MAX.min(EXPANSION_MAX * frame.len() as u64) {
        let expected = "a zstd frame of at most 128 times its size and 256 MiB";
        return Err(wrong(expected, format!("one of {len} bytes in {}", frame.len())));
    }
    if find_frame_compressed_size(frame).ok() != Some(frame.len()) {
        return Err(broken("more or less than one"));
    }
    let event = zstd::bulk::decompress(frame, usize::try_from(len).unwrap_or(usize::MAX));
    match event {
        Ok(event) if event.len() as u64 == len => Ok(event),
        Ok(event) => Err(broken(&format!("one that gives {} bytes and names {len}", event.len()))),
        Err(error) => Err(broken(&format!("bytes that are none ({error})"))),
    }
}
