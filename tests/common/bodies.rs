//! Bodies of requests, apart from the messages that they were made from.
#![allow(unreachable_pub, dead_code, reason = "each test uses a part of it")]

use serde_json::Value as Json;
use seslog::event::{Media, MediaSource, Part, PartBody};
use seslog::projection::{Diagnostic, ProjectedMessage};
use seslog::wire::{Options, Provider, Renamed, payload};

/// A body's text and what is said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Made {
    json: String,
    pub message_count: usize,
    pub diagnostics: Vec<Diagnostic>,
    pub renamed: Renamed,
}

impl Made {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.json).unwrap()
    }

    /// The codes of what is said about it.
    pub fn codes(&self) -> Vec<&'static str> {
        self.diagnostics.iter().map(|item| item.code).collect()
    }

    pub fn to_json(&self) -> String {
        self.json.clone()
    }
}

/// The body of a request to this provider.
pub fn made(messages: &[ProjectedMessage], provider: Provider, options: &Options) -> Made {
    let payload = payload(messages, provider, options);
    Made {
        json: payload.to_json(),
        message_count: payload.message_count(),
        diagnostics: payload.diagnostics,
        renamed: payload.renamed,
    }
}

/// The body for the AI SDK.
pub fn ai_sdk(messages: &[ProjectedMessage], options: &Options) -> Made {
    made(messages, Provider::AiSdk, options)
}

/// A picture or file without a name.
pub fn media(media_type: &str, source: MediaSource) -> Part {
    named_media(media_type, source, None)
}

/// A picture or file.
pub fn named_media(media_type: &str, source: MediaSource, name: Option<&str>) -> Part {
    let name = name.map(str::to_owned);
    let media = Media { media_type: media_type.to_owned(), source, name, width: None, height: None };
    Part::new(if media_type.starts_with("image/") { PartBody::Image(media) } else { PartBody::File(media) })
}
