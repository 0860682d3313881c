//! The payload of an INDEX: a head, a Bloom filter in blocks, and sorted rows in pages. FORMAT.md section 6.
//!
//! Head, blocks and pages each carry their own checksum over their place and bytes, so that a look-up reads and believes only
//! what it needs. Whatever is wrong in an INDEX makes it unreadable as a whole; the caller then reads the records themselves.

use uuid::Uuid;

use super::checksum::crc32_at;
use super::cursor::{Cursor, OutOfBounds};
use super::error::LogError;
use super::format as f;
use super::frame::FrameHead;
use super::source::{ReadAhead, Source};
use super::state::State;

/// An id that is looked for, and its place in the caller's list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) id: Uuid,
    pub(crate) index: usize,
}

/// One row: a record's id, or the id that a change or a result is about; where; and the frame type or the hint class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) id: Uuid,
    pub(crate) offset: u64,
    pub(crate) kind: u8,
}

/// Where the INDEX frames before this one are: for each level the latest one that no higher level covers, and how many there
/// are of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lists {
    pub(crate) latest: [u64; f::INDEX_LEVELS],
    pub(crate) counts: [u32; f::INDEX_LEVELS],
}

/// Everything in an INDEX but its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableHead {
    pub(crate) state: State,
    pub(crate) level: u8,
    pub(crate) lists: Lists,
    /// Records that end at or before this place are in this INDEX or in those of its lists.
    pub(crate) covers_to: u64,
    pub(crate) record_rows: u32,
    pub(crate) target_rows: u32,
    pub(crate) blocks: u32,
    /// Smallest and largest id of a record.
    pub(crate) first: Uuid,
    pub(crate) last: Uuid,
}

/// An INDEX in the file whose head is right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table {
    pub(crate) offset: u64,
    pub(crate) head: TableHead,
    /// Where the payload starts in the file.
    start: u64,
}

/// Which of the two sorted tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Records,
    Targets,
}

/// Bytes of so many rows, in pages.
fn pages_len(rows: u64) -> u64 {
    rows * f::INDEX_ROW_LEN as u64 + rows.div_ceil(f::INDEX_PAGE_ROWS as u64) * 4
}

fn blocks_for(keys: u64) -> u64 {
    (keys * f::BLOOM_BITS_PER_KEY).div_ceil(f::BLOOM_BLOCK_BITS).max(1)
}

/// Bytes of the payload for so many rows.
pub(crate) fn payload_len(records: u64, targets: u64) -> u64 {
    f::INDEX_HEAD_LEN as u64
        + blocks_for(records + targets) * f::BLOOM_BLOCK_LEN as u64
        + pages_len(records)
        + pages_len(targets)
}

/// Mixes a 64-bit word well (the finalizer of SplitMix64).
fn mix(mut word: u64) -> u64 {
    word ^= word >> 30;
    word = word.wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word ^= word >> 27;
    word = word.wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Block of an id, and its bits in the block.
fn bloom_place(id: Uuid, blocks: u32) -> (u64, impl Iterator<Item = u64>) {
    let (high, low) = id.as_u64_pair();
    let first = mix(high ^ mix(low));
    let second = mix(first);
    let bits = (0..f::BLOOM_PROBES).map(move |probe| (second >> (9 * probe) & 511) % f::BLOOM_BLOCK_BITS);
    (first % u64::from(blocks.max(1)), bits)
}

/// Encodes an INDEX. The rows must be sorted; `payload_offset` is where the payload will stand in the file.
pub(crate) fn encode(head: &TableHead, records: &[Row], targets: &[Row], payload_offset: u64) -> Vec<u8> {
    let blocks = blocks_for((records.len() + targets.len()) as u64) as u32;
    let mut out = Vec::with_capacity(payload_len(records.len() as u64, targets.len() as u64) as usize);
    head.state.encode(&mut out);
    out.push(head.level);
    out.extend_from_slice(&[0; 7]);
    for latest in head.lists.latest {
        out.extend_from_slice(&latest.to_le_bytes());
    }
    for count in head.lists.counts {
        out.extend_from_slice(&count.to_le_bytes());
    }
    out.extend_from_slice(&head.covers_to.to_le_bytes());
    for count in [records.len() as u32, targets.len() as u32, blocks] {
        out.extend_from_slice(&count.to_le_bytes());
    }
    for row in [records.first(), records.last()] {
        out.extend_from_slice(row.map_or(Uuid::nil(), |row| row.id).as_bytes());
    }
    seal(&mut out, 0, payload_offset);

    let bloom = out.len();
    out.resize(bloom + blocks as usize * f::BLOOM_BLOCK_LEN, 0);
    for row in records.iter().chain(targets) {
        let (block, bits) = bloom_place(row.id, blocks);
        let start = bloom + block as usize * f::BLOOM_BLOCK_LEN;
        bits.for_each(|bit| out[start + bit as usize / 8] |= 1 << (bit % 8));
    }
    for block in 0..blocks as usize {
        let start = bloom + block * f::BLOOM_BLOCK_LEN;
        let end = start + f::BLOOM_BLOCK_LEN - 4;
        let sum = crc32_at(payload_offset + start as u64, &out[start..end]);
        out[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    }
    for rows in [records, targets] {
        for page in rows.chunks(f::INDEX_PAGE_ROWS) {
            let start = out.len();
            for row in page {
                out.extend_from_slice(row.id.as_bytes());
                out.extend_from_slice(&row.offset.to_le_bytes());
                out.push(row.kind);
            }
            seal(&mut out, start, payload_offset);
        }
    }
    out
}

/// Appends the checksum of everything from `start`.
fn seal(out: &mut Vec<u8>, start: usize, payload_offset: u64) {
    let sum = crc32_at(payload_offset + start as u64, &out[start..]);
    out.extend_from_slice(&sum.to_le_bytes());
}

fn decode_head(bytes: &[u8], head: u64, boundary: u64) -> Result<TableHead, OutOfBounds> {
    let mut cursor = Cursor::new(bytes);
    let state = State::decode(cursor.take(f::STATE_LEN)?, head, boundary)?;
    let level = cursor.u8()?;
    cursor.take(7)?;
    let mut lists = Lists::default();
    for latest in &mut lists.latest {
        *latest = cursor.u64()?;
    }
    for count in &mut lists.counts {
        *count = cursor.u32()?;
    }
    Ok(TableHead {
        state,
        level,
        lists,
        covers_to: cursor.u64()?,
        record_rows: cursor.u32()?,
        target_rows: cursor.u32()?,
        blocks: cursor.u32()?,
        first: cursor.uuid()?,
        last: cursor.uuid()?,
    })
}

fn decode_row(bytes: &[u8]) -> Result<Row, OutOfBounds> {
    let mut cursor = Cursor::new(bytes);
    Ok(Row { id: cursor.uuid()?, offset: cursor.u64()?, kind: cursor.u8()? })
}

fn decode_rows(bytes: &[u8]) -> Vec<Row> {
    bytes.chunks_exact(f::INDEX_ROW_LEN).filter_map(|bytes| decode_row(bytes).ok()).collect()
}

/// Reads `len` bytes and their checksum behind them; none if it does not fit.
fn sealed(source: &Source, offset: u64, len: usize) -> Result<Option<super::source::Chunk>, LogError> {
    let chunk = source.chunk(offset, len + 4)?;
    let Some((bytes, sum)) = chunk.split_at_checked(len) else { return Ok(None) };
    let fits = sum == crc32_at(offset, bytes).to_le_bytes();
    Ok(fits.then(|| chunk.slice(0, len)))
}

impl Table {
    /// Reads the head of the INDEX whose frame header this is; none if it is not readable.
    pub(crate) fn open(source: &Source, frame: &FrameHead) -> Result<Option<Self>, LogError> {
        let offset = frame.offset;
        let start = offset + frame.header_len;
        if (frame.payload_len as usize) < f::INDEX_HEAD_LEN {
            return Ok(None);
        }
        let Some(bytes) = sealed(source, start, f::INDEX_HEAD_LEN - 4)? else { return Ok(None) };
        let Ok(head) = decode_head(&bytes, frame.parent_off, frame.boundary_off) else { return Ok(None) };
        let (records, targets) = (u64::from(head.record_rows), u64::from(head.target_rows));
        let len = f::INDEX_HEAD_LEN as u64
            + u64::from(head.blocks) * f::BLOOM_BLOCK_LEN as u64
            + pages_len(records)
            + pages_len(targets);
        // Pointers go backwards, so that no walk over them can run in a circle.
        let backwards = head.lists.latest.iter().all(|latest| *latest < offset) && head.covers_to <= offset;
        let sound = backwards
            && head.covers_to >= f::HEADER_PAGE_LEN
            && usize::from(head.level) < f::INDEX_LEVELS
            && head.blocks > 0
            && len <= u64::from(frame.payload_len);
        Ok(sound.then_some(Self { offset, head, start }))
    }

    /// The lists as the next INDEX sees them: this one is now the latest of its level.
    pub(crate) fn lists_after(&self) -> Lists {
        let mut lists = self.head.lists;
        let level = usize::from(self.head.level);
        if let (Some(latest), Some(count)) = (lists.latest.get_mut(level), lists.counts.get_mut(level)) {
            *latest = self.offset;
            *count = count.saturating_add(1);
        }
        lists
    }

    fn rows_of(&self, kind: Kind) -> (u64, u64) {
        let records = self.start + f::INDEX_HEAD_LEN as u64 + u64::from(self.head.blocks) * f::BLOOM_BLOCK_LEN as u64;
        match kind {
            Kind::Records => (records, u64::from(self.head.record_rows)),
            Kind::Targets => (records + pages_len(u64::from(self.head.record_rows)), u64::from(self.head.target_rows)),
        }
    }

    /// Rows with this id; none if what had to be read is damaged.
    pub(crate) fn search(&self, source: &Source, kind: Kind, id: Uuid) -> Result<Option<Vec<Row>>, LogError> {
        let (_, rows) = self.rows_of(kind);
        if rows == 0 || (kind == Kind::Records && !(self.head.first..=self.head.last).contains(&id)) {
            return Ok(Some(Vec::new()));
        }
        let (block, mut bits) = bloom_place(id, self.head.blocks);
        let offset = self.start + f::INDEX_HEAD_LEN as u64 + block * f::BLOOM_BLOCK_LEN as u64;
        let Some(block) = sealed(source, offset, f::BLOOM_BLOCK_LEN - 4)? else { return Ok(None) };
        if bits.any(|bit| block.get(bit as usize / 8).is_none_or(|byte| byte & (1 << (bit % 8)) == 0)) {
            return Ok(Some(Vec::new()));
        }
        // The first page whose last id is not smaller, then on while the id goes on.
        let page_count = rows.div_ceil(f::INDEX_PAGE_ROWS as u64);
        let (mut low, mut high) = (0, page_count);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(page) = self.page(source, kind, middle)? else { return Ok(None) };
            if page.last().is_some_and(|row| row.id < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut found = Vec::new();
        for index in low..page_count {
            let Some(page) = self.page(source, kind, index)? else { return Ok(None) };
            found.extend(page.iter().filter(|row| row.id == id));
            if page.last().is_none_or(|row| row.id > id) {
                break;
            }
        }
        Ok(Some(found))
    }

    /// Rows of records with these ids, which are sorted: of each id the first one, with the id's index, in their order. False if
    /// something that had to be read is damaged. Where the ids are many, all pages are read in one run, else those that are asked for.
    pub(crate) fn search_each(
        &self,
        source: &Source,
        wanted: &[Wanted],
        found: &mut impl FnMut(Row, usize),
    ) -> Result<bool, LogError> {
        let from = wanted.partition_point(|wanted| wanted.id < self.head.first);
        let to = wanted.partition_point(|wanted| wanted.id <= self.head.last);
        let wanted = wanted.get(from..to).unwrap_or_default();
        let (start, rows) = self.rows_of(Kind::Records);
        let page_count = rows.div_ceil(f::INDEX_PAGE_ROWS as u64);
        if (wanted.len() as u64) < page_count {
            for wanted in wanted {
                let Some(rows) = self.search(source, Kind::Records, wanted.id)? else { return Ok(false) };
                rows.first().into_iter().for_each(|row| found(*row, wanted.index));
            }
            return Ok(true);
        }
        let mut pages = ReadAhead::run(source, start, start + pages_len(rows));
        let mut wanted = wanted.iter().peekable();
        for index in 0..page_count {
            if wanted.peek().is_none() {
                break;
            }
            let (offset, len) = self.page_place(Kind::Records, index);
            let bytes = pages.fetch(offset, len + 4)?;
            let Some((bytes, sum)) = bytes.split_at_checked(len) else { return Ok(false) };
            if sum != crc32_at(offset, bytes).to_le_bytes() {
                return Ok(false);
            }
            for row in bytes.chunks_exact(f::INDEX_ROW_LEN) {
                let Ok(row) = decode_row(row) else { continue };
                let id = row.id.as_u128();
                while wanted.next_if(|wanted| wanted.id.as_u128() < id).is_some() {}
                while let Some(wanted) = wanted.next_if(|wanted| wanted.id == row.id) {
                    found(row, wanted.index);
                }
            }
        }
        Ok(true)
    }

    /// All rows in order; none if a page is damaged.
    pub(crate) fn rows(&self, source: &Source, kind: Kind) -> Result<Option<Vec<Row>>, LogError> {
        let (_, count) = self.rows_of(kind);
        // The count is the head's word; what there is of rows, the pages show.
        let mut rows = Vec::with_capacity(usize::try_from(count).unwrap_or(0).min(f::INDEX_PAGE_ROWS));
        for index in 0..count.div_ceil(f::INDEX_PAGE_ROWS as u64) {
            let Some(page) = self.page(source, kind, index)? else { return Ok(None) };
            rows.extend(page);
        }
        Ok(Some(rows))
    }

    fn page(&self, source: &Source, kind: Kind, index: u64) -> Result<Option<Vec<Row>>, LogError> {
        let (offset, len) = self.page_place(kind, index);
        Ok(sealed(source, offset, len)?.map(|bytes| decode_rows(&bytes)))
    }

    /// Where a page begins, and how many bytes its rows take.
    fn page_place(&self, kind: Kind, index: u64) -> (u64, usize) {
        let (start, rows) = self.rows_of(kind);
        let before = index * f::INDEX_PAGE_ROWS as u64;
        let here = rows.saturating_sub(before).min(f::INDEX_PAGE_ROWS as u64);
        (start + pages_len(before), here as usize * f::INDEX_ROW_LEN)
    }
}
