//! What the first bytes of a picture say: its media type and its sides.

/// A picture's media type, its width and its height in pixels; nothing if the bytes are none that providers take.
pub(super) fn read(bytes: &[u8]) -> Option<(&'static str, u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(("image/png", be(bytes, 16, 4)?, be(bytes, 20, 4)?))
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(("image/gif", le(bytes, 6, 2)?, le(bytes, 8, 2)?))
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        let (width, height) = jpeg(bytes)?;
        Some(("image/jpeg", width, height))
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        let (width, height) = webp(bytes)?;
        Some(("image/webp", width, height))
    } else {
        None
    }
}

fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut offset = 2;
    loop {
        let marker = *bytes.get(offset + 1)?;
        match marker {
            // The frame's header. Three markers of the same range are none.
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                return Some((be(bytes, offset + 7, 2)?, be(bytes, offset + 5, 2)?));
            }
            0xFF => offset += 1,
            0x01 | 0xD0..=0xD7 => offset += 2,
            _ => offset += 2 + be(bytes, offset + 2, 2)? as usize,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((le(bytes, 24, 3)? + 1, le(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let bits = le(bytes, 21, 4)?;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        _ => Some((le(bytes, 26, 2)? & 0x3FFF, le(bytes, 28, 2)? & 0x3FFF)),
    }
}

fn be(bytes: &[u8], offset: usize, len: usize) -> Option<u32> {
    Some(bytes.get(offset..offset + len)?.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn le(bytes: &[u8], offset: usize, len: usize) -> Option<u32> {
    Some(bytes.get(offset..offset + len)?.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}
