//! Pictures and files: what a provider takes, and the note in the place of what it does not.

use std::borrow::Cow;
use std::collections::HashMap;

use super::picture::{Seen, base64_of, seen};
use crate::event::{Media, MediaSource, PartBody, Role, ToolOutput, ToolResult};
use crate::projection::ProjectedMessage;

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
    /// Most bytes of all pictures and documents of a request that are sent inline, as base64 text; the oldest give
    /// way. A provider's own limit counts the rest of the request too, so this one leaves room for it.
    pub inline_bytes_max: u64,
}

/// What a provider takes of pictures and files.
#[derive(Debug, Clone, Copy)]
pub(super) struct MediaRules {
    pub(super) image_types: &'static [&'static str],
    pub(super) document_types: &'static [&'static str],
    /// By their address on the web.
    pub(super) links: Links,
    /// Inside a tool's output.
    pub(super) in_results: InResults,
    pub(super) limits: MediaLimits,
    /// Most bytes of a document, decoded.
    pub(super) document_bytes_max: u64,
    /// Most documents; the oldest give way.
    pub(super) documents_max: usize,
}

/// Nothing at all.
impl Default for MediaRules {
    fn default() -> Self {
        Self {
            image_types: &[],
            document_types: &[],
            links: Links::None,
            in_results: InResults::Nothing,
            limits: MediaLimits::NONE,
            document_bytes_max: u64::MAX,
            documents_max: usize::MAX,
        }
    }
}

impl MediaLimits {
    /// No limit.
    pub(super) const NONE: Self = Self {
        image_side_max: u64::MAX,
        many_images_above: usize::MAX,
        many_image_side_max: u64::MAX,
        images_max: usize::MAX,
        image_bytes_max: u64::MAX,
        inline_bytes_max: u64::MAX,
    };
}

/// What of pictures and files can be named by an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// None: the provider fetches nothing.
    None,
    /// What lies anywhere on the web.
    Web,
    /// Pictures that lie anywhere on the web.
    Pictures,
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
    /// All that can be sent, if the tool did its work; a failed one's output is text only.
    OfSuccess,
}

/// Where a picture or file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    User,
    /// The output of a tool that did its work.
    Result,
    /// The output of a tool that failed.
    Failure,
}

impl Place {
    /// In the output of this result.
    pub(super) fn of(result: &ToolResult) -> Self {
        if result.is_error { Self::Failure } else { Self::Result }
    }
}

/// How a picture or file goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form<'a> {
    /// Inline, as base64 text.
    Inline { media_type: &'a str, data: Cow<'a, str> },
    /// By its address on the web.
    Link { media_type: &'a str, url: &'a str },
    /// Not at all: a note stands in its place, and this is why.
    Note(&'static str),
}

/// From so many bytes on, data of a picture or document tell what they are; the smallest picture has more. Less than
/// that is a stand-in, of which the record is believed.
const TELLING_BYTES: u64 = 64;

const TOO_WIDE: &str = "it is larger than the provider takes";
const TOO_MANY: &str = "there are more of them than the provider takes";
const TOO_MUCH: &str = "all of them together are more than a request may hold";

/// A picture or file as it can be sent, or why it can't, wherever it stands.
#[derive(Debug)]
enum Looked<'a> {
    /// The side is a picture's longest, in pixels.
    Inline {
        media_type: &'a str,
        data: Cow<'a, str>,
        side: Option<u64>,
    },
    Link {
        media_type: &'a str,
        url: &'a str,
        side: Option<u64>,
    },
    Never(&'static str),
}

impl Looked<'_> {
    fn is_image(&self) -> bool {
        matches!(self, Self::Inline { media_type, .. } | Self::Link { media_type, .. } if is_image(media_type))
    }

    fn is_wider_than(&self, side_max: u64) -> bool {
        matches!(self, Self::Inline { side: Some(side), .. } | Self::Link { side: Some(side), .. } if *side > side_max)
    }

    /// Length of the text that stands in the request.
    fn inline_len(&self) -> u64 {
        match self {
            Self::Inline { data, .. } => data.len() as u64,
            Self::Link { .. } | Self::Never(_) => 0,
        }
    }
}

/// Which pictures and files of a request go out.
#[derive(Debug)]
pub(super) struct MediaPlan<'a> {
    rules: MediaRules,
    looked: HashMap<*const Media, Looked<'a>>,
}

impl<'a> MediaPlan<'a> {
    /// Looks at all pictures and files of these messages: first each picture over the limit that holds for so many is
    /// left out, then the oldest until the number fits, then the oldest of all kinds until their bytes do.
    pub(super) fn new(messages: &'a [ProjectedMessage], rules: MediaRules) -> Self {
        let mut plan = Self { rules, looked: HashMap::new() };
        let mut sendable: Vec<*const Media> = Vec::new();
        for (media, place) in media_of(messages) {
            let key = std::ptr::from_ref(media);
            let looked = plan.looked.entry(key).or_insert_with(|| look(media, &rules));
            if rules.refuses(looked, place).is_none() {
                sendable.push(key);
            }
        }
        let limits = rules.limits;
        let (mut images, mut documents): (Vec<_>, Vec<_>) =
            sendable.iter().copied().partition(|media| plan.looked[media].is_image());
        let side_max =
            if images.len() > limits.many_images_above { limits.many_image_side_max } else { limits.image_side_max };
        let wide: Vec<_> = images.extract_if(.., |media| plan.looked[media].is_wider_than(side_max)).collect();
        plan.refuse(wide, TOO_WIDE);
        let surplus = images.len().saturating_sub(limits.images_max);
        plan.refuse(images.drain(..surplus), TOO_MANY);
        let surplus = documents.len().saturating_sub(rules.documents_max);
        plan.refuse(documents.drain(..surplus), TOO_MANY);
        plan.refuse_what_is_too_much(sendable);
        plan
    }

    fn refuse(&mut self, media: impl IntoIterator<Item = *const Media>, reason: &'static str) {
        self.looked.extend(media.into_iter().map(|media| (media, Looked::Never(reason))));
    }

    /// One that is too much by itself does not push out the others.
    fn refuse_what_is_too_much(&mut self, mut sendable: Vec<*const Media>) {
        let limit = self.rules.limits.inline_bytes_max;
        let alone = sendable.extract_if(.., |media| self.looked[media].inline_len() > limit).collect::<Vec<_>>();
        self.refuse(alone, TOO_WIDE);
        let mut total: u64 = sendable.iter().map(|media| self.looked[media].inline_len()).sum();
        for media in sendable {
            if total <= limit {
                break;
            }
            let len = self.looked[&media].inline_len();
            if len > 0 {
                total -= len;
                self.refuse([media], TOO_MUCH);
            }
        }
    }

    /// How this picture or file goes out.
    pub(super) fn form(&mut self, media: &'a Media, place: Place) -> Form<'a> {
        let rules = self.rules;
        let looked = self.looked.entry(std::ptr::from_ref(media)).or_insert_with(|| look(media, &rules));
        if let Some(reason) = rules.refuses(looked, place) {
            return Form::Note(reason);
        }
        match looked {
            Looked::Inline { media_type, data, .. } => Form::Inline { media_type, data: data.clone() },
            Looked::Link { media_type, url, .. } => Form::Link { media_type, url },
            Looked::Never(reason) => Form::Note(reason),
        }
    }
}

impl MediaRules {
    /// Why this can't be sent from there, if it can't.
    fn refuses(&self, looked: &Looked<'_>, place: Place) -> Option<&'static str> {
        match (looked, place, self.in_results) {
            (Looked::Never(reason), ..) => Some(reason),
            (_, Place::User, _) => None,
            (_, _, InResults::Nothing) => Some("the provider takes text only from a tool"),
            (_, Place::Failure, InResults::OfSuccess) => Some("a failed tool's output is text only"),
            (Looked::Link { .. }, _, InResults::Inline) => Some("inside a tool's output an address can't be sent"),
            _ => None,
        }
    }
}

fn look<'a>(media: &'a Media, rules: &MediaRules) -> Looked<'a> {
    let data = match &media.source {
        MediaSource::Data(data) => Some(data.as_str()),
        MediaSource::Url(url) if url.starts_with("data:") => Some(url.as_str()),
        _ => None,
    };
    let data = match data.map(base64_of) {
        Some(None) => return Looked::Never("its data is no base64 text"),
        Some(data) => data,
        None => None,
    };
    let seen = data.as_deref().and_then(seen);
    let media_type = media_type_of(media, seen);
    let is_image = rules.image_types.contains(&media_type);
    if !is_image && !rules.document_types.contains(&media_type) {
        return Looked::Never("the provider does not take this media type");
    }
    let side = seen.and_then(|seen| seen.side).or_else(|| media.width.max(media.height));
    if let Some(data) = data {
        if seen.is_none() && decoded_len(&data) >= TELLING_BYTES {
            return Looked::Never("its bytes are no picture or document of a known kind");
        }
        let bytes_max = if is_image { rules.limits.image_bytes_max } else { rules.document_bytes_max };
        let too_large = decoded_len(&data) > bytes_max;
        return if too_large { Looked::Never(TOO_WIDE) } else { Looked::Inline { media_type, data, side } };
    }
    match &media.source {
        MediaSource::Url(url) if !(url.starts_with("https://") || url.starts_with("http://")) => {
            Looked::Never("its address is none of the web")
        }
        MediaSource::Url(url) if url.contains(|c: char| c.is_whitespace() || c.is_control()) => {
            Looked::Never("its address has characters that no address has")
        }
        MediaSource::Url(url) => match rules.links {
            Links::None => Looked::Never("the provider takes no address"),
            Links::Pictures if !is_image => Looked::Never("the provider fetches pictures only"),
            Links::Pictures | Links::Web => Looked::Link { media_type, url, side },
        },
        MediaSource::Path(_) => Looked::Never("it lies in a file"),
        MediaSource::Data(_) | MediaSource::Missing => Looked::Never("the record does not say where it is"),
    }
}

/// The media type that the bytes have, or else the known one, in the spelling that providers know.
fn media_type_of(media: &Media, seen: Option<Seen>) -> &str {
    let recorded = media.known_type();
    match seen {
        Some(Seen { media_type, .. }) if !(is_heif(media_type) && is_heif(recorded)) => media_type,
        _ => known_spelling(recorded).unwrap_or(recorded),
    }
}

fn is_heif(media_type: &str) -> bool {
    matches!(media_type, "image/heic" | "image/heif")
}

/// The usual spelling of a media type that is written in an unusual one.
fn known_spelling(recorded: &str) -> Option<&'static str> {
    const KNOWN: [&str; 7] =
        ["image/jpeg", "image/png", "image/gif", "image/webp", "image/heic", "image/heif", "application/pdf"];
    let name = recorded.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("image/jpg") {
        return Some(KNOWN[0]);
    }
    KNOWN.into_iter().find(|known| known.eq_ignore_ascii_case(name))
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
                            PartBody::Image(media) | PartBody::File(media) => Some((media, Place::of(result))),
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

fn decoded_len(base64: &str) -> u64 {
    (base64.trim_end_matches('=').len() as u64).saturating_mul(3) / 4
}
