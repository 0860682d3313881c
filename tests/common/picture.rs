//! Pictures of any size that cost nothing: a header, and zeros behind it.

/// The base64 text of a PNG of these sides, with so many bytes behind its header.
pub fn png(width: u32, height: u32, more: usize) -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0]);
    bytes.resize(bytes.len() + more, 0);
    base64(&bytes)
}

/// The base64 text of a JPEG of these sides.
pub fn jpeg(width: u16, height: u16) -> String {
    let mut bytes = b"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc0\0\x11\x08".to_vec();
    bytes.extend(height.to_be_bytes());
    bytes.extend(width.to_be_bytes());
    bytes.extend(b"\x03\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9");
    base64(&bytes)
}

/// The base64 text of a GIF of these sides.
pub fn gif(width: u16, height: u16) -> String {
    let mut bytes = b"GIF89a".to_vec();
    bytes.extend(width.to_le_bytes());
    bytes.extend(height.to_le_bytes());
    bytes.extend(b"\0\0\0;");
    base64(&bytes)
}

/// The base64 text of a WebP of these sides.
pub fn webp(width: u32, height: u32) -> String {
    let mut bytes = b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    bytes.extend(&(width - 1).to_le_bytes()[..3]);
    bytes.extend(&(height - 1).to_le_bytes()[..3]);
    base64(&bytes)
}

/// The base64 text of a PDF, with so many bytes behind its header.
pub fn pdf(more: usize) -> String {
    let mut bytes = b"%PDF-1.4\n%%EOF".to_vec();
    bytes.resize(bytes.len() + more, b'\n');
    base64(&bytes)
}

/// Bytes as base64 text, padded.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = if at <= chunk.len() { DIGITS[(bits >> (18 - 6 * at) & 63) as usize] } else { b'=' };
            text.push(char::from(digit));
        }
    }
    text
}
