//! The rules of pictures and documents that several providers share.

use serde_json::Value as Json;

use super::common::base64;
use super::{Report, picture};

/// Media types of pictures that all providers but one take.
pub(super) const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The media type of documents that every provider takes.
pub(super) const PDF: &str = "application/pdf";

/// How much media a provider takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Most bytes of one picture.
    pub(super) image_len: usize,
    /// Longest side of a picture, in pixels.
    pub(super) side: u32,
    /// Longest side, in pixels, where a request has more pictures than [`Limits::few_images`].
    pub(super) side_of_many: u32,
    /// So many pictures may have the longer side.
    pub(super) few_images: usize,
    /// Most pictures of a request.
    pub(super) images: usize,
}

/// Nothing is limited that the kinds of media do not limit.
pub(super) const FREE: Limits = Limits {
    image_len: usize::MAX,
    side: u32::MAX,
    side_of_many: u32::MAX,
    few_images: usize::MAX,
    images: usize::MAX,
};

/// The pictures of a request, counted and measured.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    count: usize,
    sides: Vec<(String, u32)>,
}

impl Pictures {
    /// A picture that is not inline.
    pub(super) fn count_one(&mut self) {
        self.count += 1;
    }

    /// A picture inline, as base64.
    pub(super) fn add(&mut self, data: &Json, media_type: &str, path: &str, limits: Limits, report: &mut Report) {
        self.count += 1;
        let Some(bytes) = check_data(data, media_type, path, report) else { return };
        if bytes.len() > limits.image_len {
            report.add("image-size", path, format!("{} bytes; at most {}", bytes.len(), limits.image_len));
        }
        if let Some((_, width, height)) = picture::read(&bytes) {
            self.sides.push((path.to_owned(), width.max(height)));
        }
    }

    /// What can be said once all are counted.
    pub(super) fn finish(&self, limits: Limits, report: &mut Report) {
        if self.count > limits.images {
            report.add("images-too-many", "$", format!("{} pictures; at most {}", self.count, limits.images));
        }
        let side_max = if self.count > limits.few_images { limits.side_of_many } else { limits.side };
        for (path, side) in self.sides.iter().filter(|(_, side)| *side > side_max) {
            report.add("image-side", path, format!("{side} pixels; at most {side_max} in this request"));
        }
    }
}

/// Base64 data must be well-formed, and be what its media type says. Gives its bytes.
pub(super) fn check_data(data: &Json, media_type: &str, path: &str, report: &mut Report) -> Option<Vec<u8>> {
    let text = data.as_str()?;
    let Some(bytes) = base64(text, false) else {
        report.add("base64", path, "must be base64, padded and without line breaks");
        return None;
    };
    let fits = match media_type {
        PDF => bytes.windows(5).take(1024).any(|window| window == b"%PDF-"),
        image if IMAGE_TYPES.contains(&image) => picture::read(&bytes).is_some_and(|(found, ..)| found == image),
        _ => true,
    };
    if !fits {
        report.add("media-bytes", path, format!("is no {media_type}"));
    }
    Some(bytes)
}

/// An address must be of the web, or hold the data itself as base64: then its media type and data are given.
pub(super) fn check_address<'u>(address: &'u str, path: &str, report: &mut Report) -> Option<(&'u str, &'u str)> {
    if address.starts_with("http://") || address.starts_with("https://") {
        return None;
    }
    let found = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    if found.is_none() {
        report.add("url", path, "must be an http(s) address or a data address in base64");
    }
    found
}

/// An address of a picture.
pub(super) fn check_image_address(value: &Json, path: &str, pictures: &mut Pictures, report: &mut Report) {
    let Some(address) = value.as_str() else { return };
    match check_address(address, path, report) {
        Some((media_type, data)) => {
            if !IMAGE_TYPES.contains(&media_type) {
                report.add("image-type", path, format!("{media_type} is not taken"));
            }
            pictures.add(&Json::from(data), media_type, path, FREE, report);
        }
        None => pictures.count_one(),
    }
}

/// A document's data in an address of its own.
pub(super) fn check_file_data(value: &Json, path: &str, report: &mut Report) {
    let Some(address) = value.as_str() else { return };
    match address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => {
            if media_type != PDF {
                report.add("file-type", path, format!("{media_type} is not taken"));
            }
            check_data(&Json::from(data), media_type, path, report);
        }
        None => report.add("url", path, "must be a data address in base64"),
    }
}
