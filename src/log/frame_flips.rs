//! No one, two or three flipped bits of a frame's header pass, nor four: each of the two billion ways is ruled out.
//!
//! A CRC is linear: what a flipped bit does to the sum depends on the bit's place alone, not on the other bytes nor on where the
//! frame stands. A set of flipped bits goes unseen exactly if what they do adds up (by XOR) to nothing; a bit of the stored sum
//! does itself. So it is enough to know the 472 effects, and to see that no two, three or four of them cancel. Magic and header
//! length are no part of that: any flip of the magic is seen as it is, and a flip of the length makes the sum run over other
//! bytes, so those sets are tried one by one.

use std::collections::HashMap;

use uuid::Uuid;

use super::checksum::crc32_at;
use super::encode::{Draft, encode};
use super::format as f;
use super::frame::{Decoded, Rules, decode_header};
use super::kind::{FrameType, IndexHint};

const RULES: Rules = Rules { file_tag: 0x5EED_1234, max_record: 1 << 20 };
const OFFSET: u64 = 0x1_2345_6780;
const BITS: usize = f::FRAME_HEADER_LEN as usize * 8;

/// A frame with bits of all kinds in its header, long enough for a header of any length.
fn frame() -> Vec<u8> {
    let payload: Vec<u8> = (0..2200_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let draft = Draft {
        offset: OFFSET,
        frame_type: FrameType::Event,
        flags: f::FLAG_LEAF,
        hint: IndexHint::Plain,
        file_tag: RULES.file_tag,
        durable_end: OFFSET - 4096,
        chain: 0xA5A5_0F0F,
        id: Uuid::from_u128(0x0193_a000_1234_7000_8000_0000_dead_beef),
        parent_off: OFFSET - 960,
        boundary_off: 4096,
        payload: &payload,
    };
    let mut bytes = Vec::new();
    encode(&draft, &mut bytes);
    bytes
}

fn is_whole(bytes: &[u8]) -> bool {
    matches!(decode_header(bytes, OFFSET, RULES), Decoded::Whole(_))
}

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

/// What a flipped bit does to the difference of stored and computed sum; none for the bits that are no part of it.
fn effects() -> Vec<(usize, u32)> {
    let zeros = [0; f::FRAME_HEADER_LEN as usize - 8];
    let nothing = crc32_at(0, &zeros);
    let of_bit = |bit: usize| match bit / 8 {
        0..4 | 14 => None,
        4..8 => Some((bit, 1 << (bit - 32))),
        at => {
            let mut bytes = zeros;
            bytes[at - 8] ^= 1 << (bit % 8);
            Some((bit, crc32_at(0, &bytes) ^ nothing))
        }
    };
    (0..BITS).filter_map(of_bit).collect()
}

#[test]
fn no_set_of_up_to_four_flipped_bits_leaves_the_sum_as_it_was() {
    let effects = effects();
    assert_eq!(effects.len(), BITS - 40);
    let singles: HashMap<u32, usize> = effects.iter().map(|(bit, effect)| (*effect, *bit)).collect();
    assert_eq!(singles.len(), effects.len(), "two flips cancel");
    assert!(!singles.contains_key(&0), "one flip is not seen");
    let mut pairs = Vec::with_capacity(effects.len() * effects.len() / 2);
    for (index, (one, first)) in effects.iter().enumerate() {
        for (two, second) in &effects[..index] {
            let both = first ^ second;
            assert!(!singles.contains_key(&both), "bits {one} and {two} and a third");
            pairs.push(both);
        }
    }
    let count = pairs.len();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), count, "four flips cancel");
}

/// The decoder says the same, of every pair and every triple.
#[test]
fn the_decoder_refuses_two_and_three_flipped_bits() {
    let mut bytes = frame();
    assert!(is_whole(&bytes));
    let mut tried = 0_u64;
    for one in 0..BITS {
        flip(&mut bytes, one);
        assert!(!is_whole(&bytes), "bit {one}");
        for two in 0..one {
            flip(&mut bytes, two);
            assert!(!is_whole(&bytes), "bits {one}, {two}");
            for three in 0..two {
                flip(&mut bytes, three);
                assert!(!is_whole(&bytes), "bits {one}, {two}, {three}");
                flip(&mut bytes, three);
                tried += 1;
            }
            flip(&mut bytes, two);
        }
        flip(&mut bytes, one);
    }
    println!("{tried} triples");
}

/// A header of another length: its sum runs over other bytes, so each set with such a flip is tried.
#[test]
fn no_set_of_up_to_three_flipped_bits_with_one_of_the_length_passes() {
    let mut bytes = frame();
    let length = 14 * 8..15 * 8;
    let mut tried = 0_u64;
    for one in length.clone() {
        flip(&mut bytes, one);
        // Whether it passes is the same for all that the decoder refuses before it looks at the sum.
        for two in (32..BITS).filter(|two| !length.contains(two) || *two < one) {
            flip(&mut bytes, two);
            assert!(!is_whole(&bytes), "bits {one}, {two}");
            for three in (32..two).filter(|three| !length.contains(three) || *three < one) {
                flip(&mut bytes, three);
                assert!(!is_whole(&bytes), "bits {one}, {two}, {three}");
                flip(&mut bytes, three);
                tried += 1;
            }
            flip(&mut bytes, two);
        }
        assert!(!is_whole(&bytes), "bit {one}");
        flip(&mut bytes, one);
    }
    println!("{tried} triples with a bit of the length");
}
