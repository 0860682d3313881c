//! The one checksum of the format: CRC-32 as in IEEE 802.3 (reflected, polynomial `EDB88320`).

/// Checksum of some bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The same checksum, of bytes that come piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Sum(crc32fast::Hasher);

impl Sum {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(crate) fn value(&self) -> u32 {
        self.0.clone().finalize()
    }
}

/// Checksum of the place of some bytes, as u64 little endian, and then of the bytes.
///
/// The same bytes at another place have another sum: a block that was doubled or moved, or a log that is quoted inside its
/// own payload, does not pass.
pub(crate) fn crc32_at(offset: u64, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&offset.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}

/// The place, within the same 4 GiB as `near`, for which some bytes have this sum. There is exactly one, since no two
/// values of four bytes in a row give the same sum.
///
/// Found without trying places: a sum is taken back byte by byte, through the bytes and the upper half of the place. What
/// is left before the lower half is the start value with that half in it.
pub(crate) fn place_of(sum: u32, bytes: &[u8], near: u64) -> u64 {
    let high = near >> 32 << 32;
    let upper = high.to_le_bytes();
    let behind = upper[4..].iter().chain(bytes).rev().chain(&[0; 4]);
    let before = behind.fold(!sum, |state, byte| {
        let index = FROM_TOP_BYTE[(state >> 24) as usize];
        (state ^ STEPS[usize::from(index)]) << 8 | u32::from(index ^ byte)
    });
    high | u64::from(!before)
}

/// What a byte does to the sum.
const STEPS: [u32; 256] = {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut step, mut bit) = (byte as u32, 0);
        while bit < 8 {
            step = if step & 1 == 1 { step >> 1 ^ 0xEDB8_8320 } else { step >> 1 };
            bit += 1;
        }
        steps[byte] = step;
        byte += 1;
    }
    steps
};

/// Which step has this top byte: each has another.
const FROM_TOP_BYTE: [u8; 256] = {
    let mut indexes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        indexes[(STEPS[byte] >> 24) as usize] = byte as u8;
        byte += 1;
    }
    indexes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_others_call_crc32() {
        for (bytes, expected) in [(&b""[..], 0), (b"123456789", 0xCBF4_3926), (b"a", 0xE8B7_BE43)] {
            assert_eq!(crc32(bytes), expected, "{bytes:?}");
        }
        assert_eq!(crc32_at(0x3938_3736_3534_3332, b""), crc32(b"23456789"));
    }

    #[test]
    fn a_sum_and_its_bytes_tell_the_place() {
        for place in [0, 8, 4096, 0xFFFF_FFF8, 0x1_0000_0000, 0x12_3456_7890, u64::MAX - 7] {
            for bytes in [&b""[..], b"a", b"some header, of some length", &[0; 56], &[0xFF; 100]] {
                assert_eq!(place_of(crc32_at(place, bytes), bytes, place), place, "{bytes:?}");
            }
        }
    }
}
