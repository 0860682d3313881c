//! What pictures and files cost, by an estimate: each provider has a rule of its own, and none is exact for another.

use crate::event::{Media, MediaSource};

/// Most tokens of a picture, and those of one whose size is not recorded.
pub const PICTURE_TOKENS_MAX: u64 = 1_600;
/// Tokens of one page of a document.
pub const PAGE_TOKENS: u64 = 2_000;

/// Pixels of a picture that make one token.
const PIXELS_PER_TOKEN: f64 = 750.0;
/// The longer side of a picture, in pixels, to which a larger one is scaled down.
const SIDE_MAX: f64 = 1_568.0;
/// Bytes of a document that count as one page.
const PAGE_BYTES: u64 = 50_000;
/// Bytes of a text that make one token, in a file.
const BYTES_PER_TOKEN: u64 = 4;

/// The tokens of a picture of this size in pixels: one for each 750 pixels, once its longer side is scaled down to
/// 1,568, at least 1 and at most [`PICTURE_TOKENS_MAX`], which also stands for a picture of unknown size.
///
/// Tiled rules come out within a factor of two of this for pictures of usual proportions, so it is an estimate.
#[must_use]
pub fn picture_tokens(width: Option<u64>, height: Option<u64>) -> u64 {
    let (Some(width @ 1..), Some(height @ 1..)) = (width, height) else { return PICTURE_TOKENS_MAX };
    let (width, height) = (width as f64, height as f64);
    let scale = (SIDE_MAX / width.max(height)).min(1.0);
    let tokens = (width * scale) * (height * scale) / PIXELS_PER_TOKEN;
    // A float becomes the nearest whole number that there is; it can't be negative here.
    (tokens.ceil() as u64).clamp(1, PICTURE_TOKENS_MAX)
}

/// The tokens of a file: of a text, one for each 4 bytes; of any other, [`PAGE_TOKENS`] for each 50,000 bytes begun.
/// A file of unknown size counts as one page.
#[must_use]
pub fn file_tokens(media: &Media) -> u64 {
    let MediaSource::Data(base64) = &media.source else { return PAGE_TOKENS };
    let bytes = (base64.len() as u64 / 4).saturating_mul(3);
    match media.media_type.starts_with("text/") {
        true => bytes.div_ceil(BYTES_PER_TOKEN),
        false => bytes.div_ceil(PAGE_BYTES).max(1).saturating_mul(PAGE_TOKENS),
    }
}
