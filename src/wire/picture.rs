//! What the bytes of a picture or file say about it: its true media type and, of a picture, how wide and high it is.

use std::borrow::Cow;

use imagesize::{Compression, ImageType};

use super::text::all_bytes;
use crate::event::{BASE64_ALPHABET as ALPHABET, decode_base64_start};

/// The media type of documents that every provider takes.
pub(super) const PDF: &str = "application/pdf";

/// How many bytes are looked at, step by step: nearly all pictures tell their size at once, some only behind a header,
/// and photographs behind a long description of how they were taken.
const STEPS: [usize; 3] = [512, 64 * 1024, 256 * 1024];

/// What the first bytes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) media_type: &'static str,
    /// The longest side, in pixels.
    pub(super) side: Option<u64>,
}

/// Looks at the beginning of these base64 data; nothing if it is of no kind that is known here.
pub(super) fn seen(base64: &str) -> Option<Seen> {
    let mut media_type = None;
    for bytes_max in STEPS {
        let bytes = decode_base64_start(base64, bytes_max);
        media_type = media_type.or_else(|| media_type_of(&bytes));
        let side = match media_type? {
            PDF => None,
            _ => imagesize::blob_size(&bytes).ok().map(|size| size.width.max(size.height) as u64),
        };
        let is_all = bytes.len() < bytes_max;
        if side.is_some() || is_all || media_type == Some(PDF) {
            return media_type.map(|media_type| Seen { media_type, side });
        }
    }
    media_type.map(|media_type| Seen { media_type, side: None })
}

fn media_type_of(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"%PDF-") {
        return Some(PDF);
    }
    match imagesize::image_type(bytes).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        ImageType::Heif(Compression::Hevc) => Some("image/heic"),
        ImageType::Heif(Compression::Av1) => Some("image/avif"),
        ImageType::Bmp => Some("image/bmp"),
        ImageType::Tiff => Some("image/tiff"),
        _ => None,
    }
}

/// The data as providers want them: the usual alphabet, padded, without line breaks and without `data:` in front.
/// Nothing if they are no base64 text.
pub(super) fn base64_of(data: &str) -> Option<Cow<'_, str>> {
    let data = match data.strip_prefix("data:") {
        Some(url) => url.split_once(";base64,")?.1,
        None => data,
    };
    if is_base64(data) {
        return Some(Cow::Borrowed(data));
    }
    let mut mended = String::with_capacity(data.len() + 2);
    for c in data.trim_end_matches(|c: char| c == '=' || c.is_ascii_whitespace()).chars() {
        match c {
            '-' => mended.push('+'),
            '_' => mended.push('/'),
            c if c.is_ascii_whitespace() => {}
            c => mended.push(c),
        }
    }
    // Bits of the last character that no byte is made of must be zero.
    let spare = match mended.len() % 4 {
        2 => 0b1111,
        3 => 0b11,
        _ => 0,
    };
    if let Some(last) = mended.pop() {
        mended.push(ALPHABET.iter().position(|c| char::from(*c) == last).map_or(last, |n| ALPHABET[n & !spare].into()));
    }
    while !mended.len().is_multiple_of(4) {
        mended.push('=');
    }
    is_base64(&mended).then_some(Cow::Owned(mended))
}

/// Whether these are base64 text of the usual alphabet, padded, with nothing in it that is of no byte.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let spare = [0, 0b11, 0b1111].get(padding);
    let last = body.bytes().last().and_then(|last| ALPHABET.iter().position(|c| *c == last));
    text.len().is_multiple_of(4)
        && spare.zip(last).is_some_and(|(spare, last)| last & spare == 0)
        && all_bytes(body, |byte| {
            ((byte | 0x20).wrapping_sub(b'a') < 26) | (byte.wrapping_sub(b'0') < 10) | (byte == b'+') | (byte == b'/')
        })
}
