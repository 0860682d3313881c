//! The header page: two copies of the header, and the watermark slot between them. FORMAT.md section 2.

use uuid::Uuid;

use super::checksum::crc32;
use super::cursor::{Cursor, OutOfBounds};
use super::damage::{Damage, DamageKind};
use super::format as f;
use super::frame::Rules;
use super::report::WatermarkState;

/// Where a log was forked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ParentLink {
    /// Id of the parent's log.
    pub log: Uuid,
    /// Id of the last record that both share.
    pub event: Uuid,
}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LogInfo {
    /// Major version of the format.
    pub major: u16,
    /// Minor version of the format.
    pub minor: u16,
    /// Features that any reader and writer may ignore.
    pub compat: u64,
    /// Features that a reader may ignore and a writer must know.
    pub ro_compat: u64,
    /// Features that everybody must know.
    pub incompat: u64,
    /// Id of this log.
    pub log_id: Uuid,
    /// Where it was forked from.
    pub parent: Option<ParentLink>,
    /// Limit for a record, and for a batch as a whole, in bytes.
    pub max_record: u32,
    /// Random tag that each frame carries.
    pub file_tag: u32,
    /// When it was created, in µs since 1970 UTC. Information only.
    pub created_at: i64,
    /// Checksum of the header: the chain of the first frame.
    pub(crate) header_crc: u32,
}

impl LogInfo {
    /// Whether payloads may be compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.incompat & f::INCOMPAT_COMPRESSED != 0
    }

    pub(crate) fn rules(&self) -> Rules {
        Rules { file_tag: self.file_tag, max_record: self.max_record }
    }
}

/// The header page of a new log.
pub(crate) fn encode_page(info: &LogInfo) -> Vec<u8> {
    let parent = info.parent.unwrap_or(ParentLink { log: Uuid::nil(), event: Uuid::nil() });
    let mut copy = Vec::with_capacity(f::HEADER_LEN as usize);
    copy.extend_from_slice(&f::HEADER_MAGIC);
    copy.extend_from_slice(&info.major.to_le_bytes());
    copy.extend_from_slice(&info.minor.to_le_bytes());
    copy.extend_from_slice(&f::HEADER_LEN.to_le_bytes());
    for bits in [info.compat, info.ro_compat, info.incompat] {
        copy.extend_from_slice(&bits.to_le_bytes());
    }
    for id in [info.log_id, parent.log, parent.event] {
        copy.extend_from_slice(id.as_bytes());
    }
    copy.extend_from_slice(&info.max_record.to_le_bytes());
    copy.extend_from_slice(&info.file_tag.to_le_bytes());
    copy.push(f::CHECKSUM_CRC32);
    copy.extend_from_slice(&[0; 7]);
    copy.extend_from_slice(&info.created_at.to_le_bytes());
    copy.extend_from_slice(&crc32(&copy).to_le_bytes());

    let mut page = vec![0; f::HEADER_PAGE_LEN as usize];
    for start in [f::HEADER_COPY_A, f::HEADER_COPY_B] {
        page[start as usize..start as usize + copy.len()].copy_from_slice(&copy);
    }
    page
}

/// What a header page holds.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) info: LogInfo,
    pub(crate) watermark: WatermarkState,
    pub(crate) damage: Vec<Damage>,
}

/// Why a page is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoHeader {
    NotALog { found: String },
    Newer { major: u16, incompat: u64 },
}

/// Why a copy is none, and whether it says that it is of a newer version.
enum BadCopy {
    Bytes(String),
    Newer { major: u16, incompat: u64 },
}

impl From<OutOfBounds> for BadCopy {
    fn from(error: OutOfBounds) -> Self {
        Self::Bytes(format!("a short copy ({error})"))
    }
}

/// Reads the page, which may be cut.
pub(crate) fn decode_page(page: &[u8]) -> Result<Page, NoHeader> {
    let places = [f::HEADER_COPY_A, f::HEADER_COPY_B];
    let copies = places.map(|start| decode_copy(page.get(start as usize..).unwrap_or_default()));
    let mut damage = Vec::new();
    for (start, copy) in places.iter().zip(&copies) {
        if let Err(BadCopy::Bytes(found)) = copy {
            damage.push(header_damage(*start, u64::from(f::HEADER_LEN), "a copy of the header", found.clone()));
        }
    }
    let info = match &copies {
        [Err(BadCopy::Newer { major, incompat }), _] | [Err(_), Err(BadCopy::Newer { major, incompat })] => {
            return Err(NoHeader::Newer { major: *major, incompat: *incompat });
        }
        [Err(BadCopy::Bytes(found)), Err(_)] => return Err(NoHeader::NotALog { found: found.clone() }),
        [Ok(a), other] if !matches!(other, Err(BadCopy::Bytes(_))) && other.as_ref().ok() != Some(a) => {
            let what = String::from("another header");
            damage.push(header_damage(
                f::HEADER_COPY_B,
                u64::from(f::HEADER_LEN),
                "the same header as at byte 0",
                what,
            ));
            // Each is whole: the one that the first frame belongs to is the log's own (`opening.rs` has read no frame yet,
            // so the first copy it is; frames of another tag then show as damage).
            *a
        }
        [Ok(info), _] | [Err(_), Ok(info)] => *info,
    };
    if page.len() < f::HEADER_PAGE_LEN as usize {
        let at = page.len() as u64;
        damage.push(header_damage(
            at,
            f::HEADER_PAGE_LEN - at,
            "a whole header page",
            String::from("the end of the file"),
        ));
    }
    // A later minor version may use more of the page.
    if info.compat == 0 && info.minor == f::FORMAT_MINOR {
        damage.extend(unused_damage(page));
    }
    Ok(Page { info, watermark: decode_watermark(page, info.file_tag), damage })
}

fn header_damage(offset: u64, len: u64, expected: &str, found: String) -> Damage {
    Damage { offset, len, kind: DamageKind::Header, expected: expected.to_string(), found }
}

/// Bytes of the page that nobody uses must be zero: a stray block does not go unseen.
fn unused_damage(page: &[u8]) -> Option<Damage> {
    let copy = |start: u64| start..start + u64::from(f::HEADER_LEN);
    let used = [
        copy(f::HEADER_COPY_A),
        f::WATERMARK_OFFSET..f::WATERMARK_OFFSET + f::WATERMARK_LEN as u64,
        copy(f::HEADER_COPY_B),
    ];
    let wrong = (0..f::HEADER_PAGE_LEN)
        .zip(page)
        .find(|(at, byte)| **byte != 0 && !used.iter().any(|range| range.contains(at)))?;
    Some(header_damage(wrong.0, 1, "zero in an unused part of the header page", format!("{:#04x}", wrong.1)))
}

/// Some bytes as a person reads them: as text, where they are text.
fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) => format!("the text `{text}`"),
        _ if bytes.iter().all(|byte| *byte == 0) => "zeros".to_owned(),
        _ => format!("bytes {}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")),
    }
}

fn decode_copy(bytes: &[u8]) -> Result<LogInfo, BadCopy> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.take(f::HEADER_MAGIC.len())?;
    if magic != f::HEADER_MAGIC {
        return Err(BadCopy::Bytes(readable(magic)));
    }
    let (major, minor, header_len) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
    if !(f::HEADER_LEN..=f::HEADER_LEN_MAX).contains(&header_len) {
        return Err(BadCopy::Bytes(format!("a header of {header_len} bytes")));
    }
    let whole = bytes.get(..header_len as usize).ok_or_else(|| BadCopy::Bytes(String::from("a cut header")))?;
    let (summed, sum) = whole.split_at(whole.len() - 4);
    let (expected, found) = (crc32(summed), Cursor::new(sum).u32()?);
    if expected != found {
        return Err(BadCopy::Bytes(format!("checksum {found:#010x} where {expected:#010x} belongs")));
    }
    let (compat, ro_compat, incompat) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let unknown = incompat & !f::INCOMPAT_KNOWN;
    if major != f::FORMAT_MAJOR || unknown != 0 {
        return Err(BadCopy::Newer { major, incompat: unknown });
    }
    let (log_id, parent_log, parent_event) = (cursor.uuid()?, cursor.uuid()?, cursor.uuid()?);
    let (max_record, file_tag, checksum) = (cursor.u32()?, cursor.u32()?, cursor.u8()?);
    let reserved = cursor.take(7)?;
    let info = LogInfo {
        major,
        minor,
        compat,
        ro_compat,
        incompat,
        log_id,
        parent: (!parent_log.is_nil()).then_some(ParentLink { log: parent_log, event: parent_event }),
        max_record,
        file_tag,
        created_at: cursor.i64()?,
        header_crc: found,
    };
    if !(f::RECORD_LEN_FLOOR..=f::RECORD_LEN_CAP).contains(&max_record) {
        return Err(BadCopy::Bytes(format!("a record limit of {max_record} bytes")));
    }
    if file_tag == 0 || checksum != f::CHECKSUM_CRC32 || reserved.iter().any(|byte| *byte != 0) {
        return Err(BadCopy::Bytes(String::from("a field that this version does not know")));
    }
    Ok(info)
}

/// The watermark slot: bytes up to `durable_end` are durable.
pub(crate) fn encode_watermark(durable_end: u64, file_tag: u32) -> [u8; f::WATERMARK_LEN] {
    let mut slot = [0; f::WATERMARK_LEN];
    slot[..8].copy_from_slice(&durable_end.to_le_bytes());
    slot[8..12].copy_from_slice(&file_tag.to_le_bytes());
    let sum = crc32(&slot[..12]);
    slot[12..].copy_from_slice(&sum.to_le_bytes());
    slot
}

fn decode_watermark(page: &[u8], file_tag: u32) -> WatermarkState {
    let start = f::WATERMARK_OFFSET as usize;
    let Some(slot) = page.get(start..start + f::WATERMARK_LEN) else { return WatermarkState::Torn };
    if slot.iter().all(|byte| *byte == 0) {
        return WatermarkState::Empty;
    }
    let mut cursor = Cursor::new(slot);
    match (cursor.u64(), cursor.u32(), cursor.u32()) {
        (Ok(durable_end), Ok(tag), Ok(sum)) if tag == file_tag && sum == crc32(&slot[..12]) => {
            WatermarkState::At(durable_end)
        }
        _ => WatermarkState::Torn,
    }
}
