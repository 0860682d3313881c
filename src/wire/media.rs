//! Pictures and files: what a provider takes, and the note in the place of what it does not.

use std::collections::HashMap;

use crate::event::{Media, MediaSource, PartBody, Role, ToolOutput};
use crate::projection::ProjectedMessage;

/// The media type of documents that every provider takes.
pub(super) const PDF: &str = "application/pdf";

/// Limits on the pictures of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaLimits {
    /// Longest side of a picture, in pixels.
    pub image_side_max: u64,
    /// With more pictures than this the next limit holds in the place of the last.
    pub many_images_above: usize,
    /// Longest side of a picture where there are many, in pixels.
    pub many_image_side_max: u64,
    /// Most pictures; the oldest give way.
    pub images_max: usize,
    /// Most bytes of a picture, decoded.
    pub image_bytes_max: u64,
}

/// What a provider takes of pictures and files.
#[derive(Debug, Clone, Copy)]
pub(super) struct MediaRules {
    pub(super) image_types: &'static [&'static str],
    pub(super) document_types: &'static [&'static str],
    /// By their address on the web.
    pub(super) links: bool,
    /// Inside a tool's output.
    pub(super) in_results: InResults,
    pub(super) limits: MediaLimits,
    /// Most bytes of a document, decoded.
    pub(super) document_bytes_max: u64,
    /// Most documents; the oldest give way.
    pub(super) documents_max: usize,
}

/// What of pictures and files can stand in a tool's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InResults {
    /// None.
    Nothing,
    /// Those whose bytes are inline.
    Inline,
    /// All that can be sent.
    All,
}

/// Where a picture or file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    User,
    Result,
}

/// How a picture or file goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// Inline, as base64 text.
    Inline { media_type: &'a str, data: &'a str },
    /// By its address on the web.
    Link { media_type: &'a str, url: &'a str },
    /// Not at all: a note stands in its place, and this is why.
    Note(&'static str),
}

const TOO_WIDE: &str = "it is larger than the provider takes";
const TOO_MANY: &str = "there are more of them than the provider takes";

/// Which pictures and files of a request go out.
#[derive(Debug)]
pub(super) struct MediaPlan {
    rules: MediaRules,
    /// Those that a limit on the whole request leaves out.
    refused: HashMap<*const Media, &'static str>,
}

impl MediaPlan {
    /// Looks at all pictures and files of these messages: first each picture over the limit that holds for so many is
    /// left out, then the oldest until the number fits.
    pub(super) fn new(messages: &[ProjectedMessage], rules: MediaRules) -> Self {
        let mut plan = Self { rules, refused: HashMap::new() };
        let sendable: Vec<&Media> = media_of(messages)
            .filter(|(media, place)| !matches!(plan.form(media, *place), Form::Note(_)))
            .map(|(media, _)| media)
            .collect();
        let (images, documents): (Vec<&Media>, Vec<&Media>) =
            sendable.into_iter().partition(|media| is_image(&media.media_type));
        let limits = rules.limits;
        let side_max =
            if images.len() > limits.many_images_above { limits.many_image_side_max } else { limits.image_side_max };
        let too_wide = |media: &&Media| media.width.max(media.height).is_some_and(|side| side > side_max);
        let (wide, fitting): (Vec<&Media>, Vec<&Media>) = images.into_iter().partition(too_wide);
        plan.refuse(&wide, TOO_WIDE);
        plan.refuse(&fitting[..fitting.len().saturating_sub(limits.images_max)], TOO_MANY);
        plan.refuse(&documents[..documents.len().saturating_sub(rules.documents_max)], TOO_MANY);
        plan
    }

    fn refuse(&mut self, media: &[&Media], reason: &'static str) {
        self.refused.extend(media.iter().map(|media| (std::ptr::from_ref(*media), reason)));
    }

    /// How this picture or file goes out.
    pub(super) fn form<'a>(&self, media: &'a Media, place: Place) -> Form<'a> {
        if let Some(reason) = self.refused.get(&std::ptr::from_ref(media)) {
            return Form::Note(reason);
        }
        let media_type = media.media_type.as_str();
        let image = self.rules.image_types.contains(&media_type);
        if !image && !self.rules.document_types.contains(&media_type) {
            return Form::Note("the provider does not take this media type");
        }
        if place == Place::Result && self.rules.in_results == InResults::Nothing {
            return Form::Note("the provider takes text only from a tool");
        }
        let bytes_max = if image { self.rules.limits.image_bytes_max } else { self.rules.document_bytes_max };
        match &media.source {
            MediaSource::Data(data) if !is_base64(data) => Form::Note("its data is no base64 text"),
            MediaSource::Data(data) if decoded_len(data) > bytes_max => Form::Note(TOO_WIDE),
            MediaSource::Data(data) => Form::Inline { media_type, data },
            MediaSource::Url(url) if !(url.starts_with("https://") || url.starts_with("http://")) => {
                Form::Note("its address is none of the web")
            }
            MediaSource::Url(_) if !self.rules.links => Form::Note("the provider takes no address"),
            MediaSource::Url(_) if place == Place::Result && self.rules.in_results != InResults::All => {
                Form::Note("inside a tool's output an address can't be sent")
            }
            MediaSource::Url(url) => Form::Link { media_type, url },
            MediaSource::Path(_) => Form::Note("it lies in a file"),
            MediaSource::Missing => Form::Note("the record does not say where it is"),
        }
    }
}

/// The pictures and files that a person or a tool gave, in order.
fn media_of(messages: &[ProjectedMessage]) -> impl Iterator<Item = (&Media, Place)> {
    let messages = messages.iter();
    messages.flat_map(|message| message.content.iter().map(move |part| (message.role, part))).flat_map(
        |(role, part)| -> Vec<(&Media, Place)> {
            match &part.body {
                PartBody::Image(media) | PartBody::File(media) if role != Role::Assistant => vec![(media, Place::User)],
                PartBody::ToolResult(result) => match &result.output {
                    ToolOutput::Text(_) => Vec::new(),
                    ToolOutput::Parts(parts) => parts
                        .iter()
                        .filter_map(|part| match &part.body {
                            PartBody::Image(media) | PartBody::File(media) => Some((media, Place::Result)),
                            _ => None,
                        })
                        .collect(),
                },
                _ => Vec::new(),
            }
        },
    )
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
        && text.len().is_multiple_of(4)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

fn decoded_len(base64: &str) -> u64 {
    (base64.trim_end_matches('=').len() as u64).saturating_mul(3) / 4
}
