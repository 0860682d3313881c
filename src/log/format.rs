//! Every number of the byte format, in the order of `format-spec/FORMAT.md`, which is the text that counts.
//!
//! `tests/log_spec.rs` reads the tables there and compares them with the constants here. All integers are little endian.

/// First bytes of a log: a byte with the high bit set, the name, and line ends that a text transfer would change.
pub const HEADER_MAGIC: [u8; 8] = [0x89, b'S', b'L', b'O', b'G', 0x0D, 0x0A, 0x1A];
/// Version of the format that this crate writes. A higher major is refused.
pub const FORMAT_MAJOR: u16 = 1;
/// Minor version: additions that an older reader may ignore.
pub const FORMAT_MINOR: u16 = 0;
/// Bytes of the header page; the first frame starts here.
pub const HEADER_PAGE_LEN: u64 = 4096;
/// Offset of header copy A.
pub const HEADER_COPY_A: u64 = 0;
/// Offset of header copy B.
pub const HEADER_COPY_B: u64 = 2048;
/// Bytes of one header copy as this version writes it, checksum included.
pub const HEADER_LEN: u32 = 116;
/// A later minor version may make a header copy this long, no longer: the watermark slot follows.
pub const HEADER_LEN_MAX: u32 = 1024;
/// Offset of the watermark slot.
pub const WATERMARK_OFFSET: u64 = 1024;
/// Bytes of the watermark slot.
pub const WATERMARK_LEN: usize = 16;
/// The only checksum so far: CRC-32 as in IEEE 802.3.
pub const CHECKSUM_CRC32: u8 = 1;

/// Bits of `compat` that this version knows.
pub const COMPAT_KNOWN: u64 = 0;
/// Bits of `ro_compat` that this version knows.
pub const RO_COMPAT_KNOWN: u64 = 0;
/// Bit of `incompat`: payloads may be compressed. The log carries them as they are; who decodes them must know.
pub const INCOMPAT_COMPRESSED: u64 = 1 << 0;
/// Bits of `incompat` that this version knows.
pub const INCOMPAT_KNOWN: u64 = INCOMPAT_COMPRESSED;

/// First bytes of a frame. `C1` is the one byte that MessagePack never uses as a type.
pub const FRAME_MAGIC: [u8; 4] = [0xC1, b'S', b'L', b'F'];
/// Bytes of a frame header as this version writes it.
pub const FRAME_HEADER_LEN: u64 = 64;
/// The header length is stored in one byte as a count of 8 B words.
pub const FRAME_HEADER_LEN_MAX: u64 = 255 * 8;
/// Bytes of a frame trailer.
pub const FRAME_TRAILER_LEN: u64 = 8;
/// Frames start at multiples of this.
pub const FRAME_ALIGN: u64 = 8;
/// The shortest frame: header and trailer.
pub const FRAME_LEN_MIN: u64 = FRAME_HEADER_LEN + FRAME_TRAILER_LEN;

/// A message or another event.
pub const TYPE_EVENT: u8 = 1;
/// A compact boundary.
pub const TYPE_BOUNDARY: u8 = 2;
/// Something said later about an earlier record (tombstone, amend, prune).
pub const TYPE_CHANGE: u8 = 3;
/// The current leaf moves.
pub const TYPE_HEAD: u8 = 4;
/// A writer has opened the log.
pub const TYPE_OPEN: u8 = 16;
/// Everything before this frame is durable.
pub const TYPE_MARK: u8 = 17;
/// A look-up table of what came before.
pub const TYPE_INDEX: u8 = 18;

/// The batch goes on behind this frame.
pub const FLAG_BATCH: u8 = 1 << 0;
/// This record is the current leaf once its batch is in.
pub const FLAG_LEAF: u8 = 1 << 2;
/// A reader that does not know the frame's type or its event's kind may skip it.
pub const FLAG_SKIPPABLE: u8 = 1 << 7;
/// All flags that this version knows; a frame with another one is not a frame.
pub const FLAGS_KNOWN: u8 = FLAG_BATCH | FLAG_LEAF | FLAG_SKIPPABLE;

/// The payload is the caller's alone.
pub const HINT_PLAIN: u8 = 0;
/// The payload starts with the ids that this change is about.
pub const HINT_TARGETS: u8 = 1;
/// The payload starts with the id of the message whose call this result answers.
pub const HINT_RESULT: u8 = 2;
/// The record is session meta data.
pub const HINT_META: u8 = 3;

/// Default for the largest payload of a record and for the sum of a batch.
pub const RECORD_LEN_DEFAULT: u32 = 64 << 20;
/// A header that allows more is refused.
pub const RECORD_LEN_CAP: u32 = 256 << 20;
/// A header that allows less is refused: OPEN, MARK and a small INDEX must fit.
pub const RECORD_LEN_FLOOR: u32 = 4096;

/// Bytes of the state block that OPEN, MARK and INDEX start with.
pub const STATE_LEN: usize = 40;
/// Bytes of an OPEN payload.
pub const OPEN_LEN: usize = 56;
/// Bytes of a MARK payload.
pub const MARK_LEN: usize = STATE_LEN;
/// Bytes of an INDEX payload before its tables, checksum included.
pub const INDEX_HEAD_LEN: usize = 140;
/// Bytes of one row of an INDEX table: id, offset, kind.
pub const INDEX_ROW_LEN: usize = 25;
/// Rows of one page; each page ends with its own checksum.
pub const INDEX_PAGE_ROWS: usize = 163;
/// Levels of INDEX frames.
pub const INDEX_LEVELS: usize = 3;
/// So many INDEX frames of one level become one of the next.
pub const INDEX_FANOUT: u32 = 16;
/// An INDEX is due after so many records.
pub const INDEX_RECORDS: u64 = 1024;
/// An INDEX is due after so many bytes.
pub const INDEX_BYTES: u64 = 4 << 20;
/// Bytes of one block of the Bloom filter, its checksum included.
pub const BLOOM_BLOCK_LEN: usize = 64;
/// Bits of one block of the Bloom filter.
pub const BLOOM_BLOCK_BITS: u64 = 480;
/// Bits of the Bloom filter for each key.
pub const BLOOM_BITS_PER_KEY: u64 = 10;
/// Bits set for one key, all in one block.
pub const BLOOM_PROBES: u32 = 7;

/// Bytes that may wait for a sync before one is started.
pub const WINDOW_BYTES: u64 = 8 << 20;
/// Milliseconds that bytes may wait for a sync, and after which an idle log gets its MARK.
pub const WINDOW_MS: u64 = 1000;
/// Zeros that a writer may have written behind the end of the data, in bytes.
pub const ZEROED_MAX: u64 = 256 << 10;

// Relations that the code relies on.
const _: () = {
    // Copies and slot do not overlap, and all lie in the page.
    assert!(HEADER_LEN <= HEADER_LEN_MAX);
    assert!(HEADER_COPY_A + HEADER_LEN_MAX as u64 <= WATERMARK_OFFSET);
    assert!(WATERMARK_OFFSET + WATERMARK_LEN as u64 <= HEADER_COPY_B);
    assert!(HEADER_COPY_B + HEADER_LEN_MAX as u64 <= HEADER_PAGE_LEN);
    // Distances are stored in units of the alignment.
    assert!(HEADER_PAGE_LEN.is_multiple_of(FRAME_ALIGN));
    assert!(FRAME_HEADER_LEN.is_multiple_of(FRAME_ALIGN) && FRAME_TRAILER_LEN == FRAME_ALIGN);
    // total_len of the largest frame fits its field, and so does the distance of a full window.
    assert!(RECORD_LEN_CAP as u64 + FRAME_HEADER_LEN_MAX + 16 <= u32::MAX as u64);
    assert!((2 * WINDOW_BYTES + RECORD_LEN_CAP as u64) / FRAME_ALIGN < u32::MAX as u64);
    // A block is its bits and a checksum; one 64-bit hash gives all its bits, 9 bits of the hash for each.
    assert!(BLOOM_BLOCK_LEN as u64 * 8 == BLOOM_BLOCK_BITS + 32 && BLOOM_PROBES * 9 <= 64);
    // A page of rows is one read.
    assert!(INDEX_PAGE_ROWS * INDEX_ROW_LEN + 4 <= 4096);
    assert!(OPEN_LEN <= RECORD_LEN_FLOOR as usize);
    assert!(INDEX_HEAD_LEN + BLOOM_BLOCK_LEN + INDEX_PAGE_ROWS * INDEX_ROW_LEN / 2 <= RECORD_LEN_FLOOR as usize);
};
