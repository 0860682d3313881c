//! Pictures and files: what can be sent anywhere, and the note in the place of what can't.

use crate::event::{Media, MediaSource};

/// Media types of pictures that every provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// The media type of documents that every provider takes.
const DOCUMENT_TYPE: &str = "application/pdf";

/// How a picture or file can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sendable<'a> {
    /// Inline, as base64 text.
    Data {
        /// The media type.
        media_type: &'a str,
        /// Base64 text.
        data: &'a str,
    },
    /// By its address.
    Url {
        /// The media type.
        media_type: &'a str,
        /// An `http` or `https` address.
        url: &'a str,
    },
    /// Not at all: this note stands in its place.
    Note {
        /// The note.
        text: String,
        /// Why.
        reason: &'static str,
    },
}

/// How this picture or file can be sent.
pub(super) fn sendable(media: &Media) -> Sendable<'_> {
    let media_type = media.media_type.as_str();
    let note = |reason| Sendable::Note { text: note(media, reason), reason };
    if !IMAGE_TYPES.contains(&media_type) && media_type != DOCUMENT_TYPE {
        return note("not every provider takes this media type");
    }
    match &media.source {
        MediaSource::Data(data) if is_base64(data) => Sendable::Data { media_type, data },
        MediaSource::Data(_) => note("its data is no base64 text"),
        MediaSource::Url(url) if url.starts_with("https://") || url.starts_with("http://") => {
            Sendable::Url { media_type, url }
        }
        MediaSource::Url(_) => note("its address is none of the web"),
        MediaSource::Path(_) => note("it lies in a file"),
        MediaSource::Missing => note("the record does not say where it is"),
    }
}

/// Whether it is a picture.
pub(super) fn is_image(media_type: &str) -> bool {
    media_type.starts_with("image/")
}

/// The text in the place of a picture or file.
pub(super) fn note(media: &Media, reason: &str) -> String {
    let what = if is_image(&media.media_type) { "Picture" } else { "File" };
    let place = match &media.source {
        MediaSource::Url(url) if !url.starts_with("data:") => Some(url.as_str()),
        MediaSource::Path(path) => Some(path.as_str()),
        _ => None,
    };
    let kind = Some(media.media_type.as_str()).filter(|name| !name.is_empty());
    let details: Vec<&str> = [media.name.as_deref(), kind, place].into_iter().flatten().collect();
    match details.is_empty() {
        true => format!("[{what} not shown: {reason}]"),
        false => format!("[{what} not shown: {}; {reason}]", details.join(", ")),
    }
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !body.is_empty()
        && padding <= 2
        && body.len() % 4 != 1
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}
