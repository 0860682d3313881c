//! The one checksum of the format: CRC-32 as in IEEE 802.3 (reflected, polynomial `EDB88320`).

/// Checksum of some bytes.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
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
}
