//! The frame decoder over every input of a bounded shape, in place of a proof: it never panics, what lies behind its slice
//! never matters, it accepts what FORMAT.md 3.1 calls whole and nothing else, zeros and `FF` least of all, and what it
//! accepts encodes to the same bytes.

use uuid::Uuid;

use super::checksum::{crc32, crc32_at};
use super::encode::{Draft, encode};
use super::format as f;
use super::frame::{Decoded, Frame, Rules};
use super::kind::{FrameType, HintClass, IndexHint};
use super::source::Chunk;

/// Small, so that both sides of the limit are short inputs.
const RULES: Rules = Rules { file_tag: 0x0403_0201, max_record: 24 };

/// The fields of a frame, right or wrong; its checksums, its trailer and its length are always right.
#[derive(Debug, Clone, Copy)]
struct Made {
    offset: u64,
    payload_len: u32,
    frame_type: u8,
    flags: u8,
    words: u8,
    hint: u8,
    file_tag: u32,
    unsynced: u32,
    /// The first number in the payload, as far as there is room: with a hint of a list the count of its ids.
    count: u32,
}

const GOOD: Made = Made {
    offset: 8192,
    payload_len: 20,
    frame_type: 1,
    flags: 0,
    words: 8,
    hint: 0,
    file_tag: RULES.file_tag,
    unsynced: 512,
    count: 1,
};

impl Made {
    fn payload(&self) -> Vec<u8> {
        let bytes = self.count.to_le_bytes().into_iter().chain(1..);
        bytes.take(self.payload_len as usize).collect()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = f::FRAME_MAGIC.to_vec();
        bytes.extend([0; 4]);
        bytes.extend(self.payload_len.to_le_bytes());
        bytes.extend([self.frame_type, self.flags, self.words, self.hint]);
        bytes.extend(self.file_tag.to_le_bytes());
        bytes.extend(self.unsynced.to_le_bytes());
        bytes.extend([9, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([5; 16]);
        bytes.extend(4096_u64.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.resize(64.max(usize::from(self.words) * 8), 0xA5);
        let header_len = bytes.len();
        bytes.extend(self.payload());
        bytes.resize(header_len + self.payload_len.next_multiple_of(8) as usize, 0);
        bytes.extend([0; 8]);
        seal(&mut bytes, self.offset, header_len);
        bytes
    }

    /// What FORMAT.md 3.1 says, of a frame whose bytes are all there and whose checksums are right.
    fn is_whole(&self) -> bool {
        let lists = matches!(self.hint, 1 | 2);
        self.offset.is_multiple_of(8)
            && self.offset >= 4096
            && self.words >= 8
            && !matches!(self.frame_type, 0 | 255)
            && self.hint <= 3
            && self.file_tag == RULES.file_tag
            && self.payload_len <= RULES.max_record
            && self.flags & !0b1000_0101 == 0
            && u64::from(self.unsynced) * 8 <= self.offset - 4096
            && (!lists || self.payload_len >= 4 && u64::from(self.payload_len) >= 4 + 16 * u64::from(self.count))
    }
}

/// Makes checksums and trailer right, where the bytes are a frame of this header's length.
fn seal(bytes: &mut [u8], offset: u64, header_len: usize) {
    let end = bytes.len();
    let payload_crc = crc32(&bytes[header_len..end - 8]);
    bytes[28..32].copy_from_slice(&payload_crc.to_le_bytes());
    let header_crc = crc32_at(offset, &bytes[8..header_len]).to_le_bytes();
    bytes[4..8].copy_from_slice(&header_crc);
    bytes[end - 8..end - 4].copy_from_slice(&(end as u32).to_le_bytes());
    bytes[end - 4..].copy_from_slice(&header_crc);
}

/// What is said of some bytes in one word that can be compared.
#[derive(Debug, PartialEq)]
enum Said {
    Whole(usize),
    Short(u64),
    Wrong(String),
}

fn check(chunk: Chunk, offset: u64) -> Said {
    match Frame::check(chunk, offset, RULES) {
        Decoded::Whole(frame) => Said::Whole(frame.bytes().len()),
        Decoded::Short { missing } => Said::Short(missing),
        Decoded::Wrong(fault) => Said::Wrong(fault.to_string()),
    }
}

/// Decodes a slice, with everything that holds for any bytes.
fn decode(bytes: &[u8], offset: u64) -> Said {
    let said = check(Chunk::copy(bytes), offset);
    for behind in [[0; 24], [0xFF; 24], *b"\xC1SLF\0\0\0\0\xC1SLF\0\0\0\0\xC1SLF\0\0\0\0"] {
        let longer = Chunk::copy(&[bytes, &behind].concat());
        assert_eq!(check(longer.slice(0, bytes.len()), offset), said, "bytes behind the slice: {bytes:02x?}");
    }
    match said {
        Said::Whole(len) => {
            let Decoded::Whole(frame) = Frame::check(Chunk::copy(&bytes[..len]), offset, RULES) else {
                panic!("bytes behind the frame: {bytes:02x?}")
            };
            assert_eq!(again(&frame), bytes[..len], "another encoding");
            assert!(len >= 72 && len as u64 == frame.head().total_len());
        }
        Said::Short(missing) => assert!(missing > 0 && missing <= 2040 + u64::from(RULES.max_record) + 16),
        Said::Wrong(_) => {}
    }
    said
}

/// The bytes of a frame out of what the decoder says of it; what stands in a longer header behind the known fields, a
/// reader skips.
fn again(frame: &Frame) -> Vec<u8> {
    let head = frame.head();
    let targets: Vec<Uuid> = frame.targets().collect();
    let hint = match (head.hint, targets.as_slice()) {
        (HintClass::Targets, targets) => IndexHint::Targets(targets),
        (HintClass::ResultOf, [target]) => IndexHint::ResultOf(*target),
        (HintClass::ResultOf, targets) => IndexHint::Targets(targets),
        (HintClass::Plain, _) => IndexHint::Plain,
        (HintClass::Meta, _) => IndexHint::Meta,
    };
    let draft = Draft {
        offset: head.offset,
        frame_type: head.frame_type,
        flags: head.flags,
        hint,
        file_tag: head.file_tag,
        durable_end: head.durable_end(),
        chain: head.chain,
        id: head.id,
        parent_off: head.parent_off,
        boundary_off: head.boundary_off,
        payload: frame.payload(),
    };
    let mut bytes = Vec::new();
    encode(&draft, &mut bytes);
    let header_len = head.header_len as usize;
    if header_len > 64 || bytes[15] != head.hint.to_byte() {
        bytes.splice(64..64, frame.bytes()[64..header_len].iter().copied());
        bytes[14] = (header_len / 8) as u8;
        bytes[15] = head.hint.to_byte();
        seal(&mut bytes, head.offset, header_len);
    }
    bytes
}

const OFFSETS: [u64; 8] = [0, 4088, 4096, 4104, 8192, 8193, 0x1_0000_0000, u64::MAX - 7];

#[test]
fn every_frame_over_the_edges_of_its_fields_is_whole_exactly_where_the_format_says_so() {
    let (mut cases, mut whole) = (0, 0);
    let mut look = |made: Made| {
        let bytes = made.bytes();
        let said = check(Chunk::copy(&bytes), made.offset);
        assert_eq!(said == Said::Whole(bytes.len()), made.is_whole(), "{made:?}: {said:?}");
        if made.is_whole() {
            decode(&bytes, made.offset);
        }
        cases += 1;
        whole += u32::from(made.is_whole());
    };
    for offset in OFFSETS {
        let reach = (offset.saturating_sub(4096) / 8).min(u64::from(u32::MAX)) as u32;
        for unsynced in [0, reach.saturating_sub(1), reach, reach.saturating_add(1), u32::MAX] {
            for frame_type in [0, 1, 2, 5, 16, 17, 18, 254, 255] {
                for flags in [0, 1, 2, 4, 0x80, 0x85, 0xFF] {
                    for hint in [0, 1, 2, 3, 4, 255] {
                        for payload_len in [0, 4, 19, 20, 24, 25] {
                            look(Made { offset, unsynced, frame_type, flags, hint, payload_len, ..GOOD });
                        }
                    }
                }
            }
        }
    }
    for words in 0..=255 {
        for (payload_len, hint) in (0..=26).flat_map(|len| (0..=3).map(move |hint| (len, hint))) {
            for count in [0, 1, 2, 0x1000_0000, u32::MAX] {
                look(Made { words, payload_len, hint, count, ..GOOD });
            }
        }
    }
    for file_tag in (0..32).map(|bit| RULES.file_tag ^ 1 << bit).chain([0, u32::MAX, RULES.file_tag]) {
        look(Made { file_tag, ..GOOD });
    }
    for payload_len in (5..29).map(|bit| 1 << bit).chain([u32::MAX, u32::MAX - 7, u32::MAX - 8]) {
        // Its bytes are not there, and nobody asks for them: more than the limit is wrong before it is too short.
        let mut bytes = Made { payload_len: 0, ..GOOD }.bytes();
        bytes[8..12].copy_from_slice(&payload_len.to_le_bytes());
        seal(&mut bytes, GOOD.offset, 64);
        assert!(matches!(decode(&bytes, GOOD.offset), Said::Wrong(_)), "{payload_len}");
    }
    assert!(whole > 1000 && cases > 100_000, "{whole} of {cases}");
}

#[test]
fn every_byte_at_every_place_of_a_sealed_frame_is_judged_by_the_rules_and_an_unsealed_one_is_refused() {
    for made in [GOOD, Made { hint: 1, ..GOOD }, Made { hint: 2, payload_len: 24, flags: 5, ..GOOD }] {
        let good = made.bytes();
        for (at, value) in (0..good.len()).flat_map(|at| (0..=255).map(move |value| (at, value))) {
            let mut bytes = good.clone();
            bytes[at] = value;
            if bytes == good {
                continue;
            }
            let plain = decode(&bytes, made.offset);
            assert!(!matches!(plain, Said::Whole(_)), "byte {at} = {value:#04x} without its checksum");
            seal(&mut bytes, made.offset, 64);
            let said = decode(&bytes, made.offset);
            // The checksums and the trailer are made anew; the fields that a change moves out of place are lengths.
            let fields = Made {
                payload_len: u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]),
                frame_type: bytes[12],
                flags: bytes[13],
                words: bytes[14],
                hint: bytes[15],
                file_tag: u32::from_le_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]),
                unsynced: u32::from_le_bytes([bytes[20], bytes[21], bytes[22], bytes[23]]),
                count: u32::from_le_bytes([bytes[64], bytes[65], bytes[66], bytes[67]]),
                ..made
            };
            let same_lengths = fields.words == 8 && fields.payload_len.next_multiple_of(8) == 24;
            let padding = bytes.get(64 + fields.payload_len as usize..88).unwrap_or_default();
            let expected = bytes[..4] == f::FRAME_MAGIC
                && same_lengths
                && fields.is_whole()
                && padding.iter().all(|byte| *byte == 0);
            assert_eq!(said == Said::Whole(bytes.len()), expected, "byte {at} = {value:#04x}: {said:?}");
        }
    }
}

#[test]
fn every_truncation_of_a_frame_is_short_whatever_lies_behind() {
    for (words, payload_len, hint) in
        [8, 9, 255].into_iter().flat_map(|words| (0..=24).flat_map(move |len| [(words, len, 0), (words, len, 2)]))
    {
        let made = Made { words, payload_len, hint, ..GOOD };
        let bytes = made.bytes();
        // A frame whose list does not fit is refused once it is all there, and not before.
        for cut in 0..bytes.len() {
            let Said::Short(missing) = decode(&bytes[..cut], made.offset) else { panic!("{made:?}, {cut} bytes") };
            assert!(cut as u64 + missing <= bytes.len() as u64, "{made:?}, {cut} bytes");
        }
    }
}

#[test]
fn zeros_and_ones_of_every_length_are_no_frame_and_neither_is_any_pair_of_bytes() {
    for offset in OFFSETS {
        for len in 0..=2200 {
            assert!(!matches!(check(Chunk::copy(&vec![0; len]), offset), Said::Whole(_)));
            assert!(!matches!(check(Chunk::copy(&vec![0xFF; len]), offset), Said::Whole(_)));
        }
    }
    for pair in 0..=u16::MAX {
        let pair = pair.to_le_bytes();
        let starts = f::FRAME_MAGIC.starts_with(&pair);
        assert_eq!(matches!(check(Chunk::copy(&pair), 4096), Said::Short(_)), starts, "{pair:02x?}");
        let marked = [&f::FRAME_MAGIC[..], &pair].concat();
        assert_eq!(check(Chunk::copy(&marked), 4096), Said::Short(58), "{marked:02x?}");
    }
}

#[test]
fn a_header_of_zeros_or_ones_behind_the_marker_is_refused_even_with_its_checksums_right() {
    for (fill, offset, len) in [0, 0xFF]
        .into_iter()
        .flat_map(|fill| OFFSETS.into_iter().flat_map(move |at| (72..=2200).map(move |n| (fill, at, n))))
    {
        let mut bytes = vec![fill; len];
        bytes[..4].copy_from_slice(&f::FRAME_MAGIC);
        seal(&mut bytes, offset, if fill == 0 { 64 } else { 2040.min(len - 8) });
        assert!(
            !matches!(check(Chunk::copy(&bytes), offset), Said::Whole(_)),
            "{len} bytes of {fill:#04x} at {offset}"
        );
    }
}

#[test]
fn every_type_byte_comes_back_as_the_same_byte() {
    for byte in 0..=255 {
        let known = FrameType::from_byte(byte);
        assert_eq!(known.map(FrameType::to_byte), (!matches!(byte, 0 | 255)).then_some(byte));
        assert_eq!(HintClass::from_byte(byte).map(HintClass::to_byte), (byte <= 3).then_some(byte));
    }
}
