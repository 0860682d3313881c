//! Bodies of requests, apart from the messages that they were made from.
#![allow(unreachable_pub, dead_code, reason = "each test uses a part of it")]

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
