//! The body of a request, and what is to be said about it.

use std::io;

use serde::{Serialize, Serializer};

use super::ai_sdk;
use super::conversation::Renamed;
use super::options::Options;
use super::turns::conversation;
use crate::projection::{Diagnostic, ProjectedMessage};

/// Whose form a body has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// `ModelMessage[]` of the Vercel AI SDK, versions 6 and 7, for any provider behind it.
    AiSdk,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::AiSdk];

    /// The name, as the command line takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AiSdk => "ai-sdk",
        }
    }
}

/// The body of a request to a provider, and what was done to make it one that is not refused.
///
/// It borrows the messages that it was made from and writes them out without copying their contents. The same
/// messages give the same bytes.
#[derive(Debug)]
#[must_use]
pub struct Payload<'a> {
    body: Body<'a>,
    /// What was left out, changed, merged or put in.
    pub diagnostics: Vec<Diagnostic>,
    /// What goes out under another name than it was recorded or declared with.
    pub renamed: Renamed,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body<'a> {
    AiSdk(ai_sdk::Body<'a>),
}

/// The body of a request to this provider, made of the messages of the model's view.
pub fn payload<'a>(messages: &'a [ProjectedMessage], provider: Provider, options: &'a Options) -> Payload<'a> {
    let target = match provider {
        Provider::AiSdk => ai_sdk::target(options),
    };
    let mut conversation = conversation(messages, &target);
    let body = match provider {
        Provider::AiSdk => Body::AiSdk(ai_sdk::body(&mut conversation, &target, options)),
    };
    Payload { body, diagnostics: conversation.diagnostics, renamed: conversation.renamed }
}

impl Payload<'_> {
    /// The messages, contents or items of the body.
    #[must_use]
    pub fn message_count(&self) -> usize {
        match &self.body {
            Body::AiSdk(body) => body.message_count(),
        }
    }

    /// The JSON text, without spaces.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("values have text for keys, so they have a JSON form")
    }

    /// Writes the JSON text, without spaces, piece by piece: hand in a buffered writer.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write_to(&self, out: impl io::Write) -> io::Result<()> {
        serde_json::to_writer(out, self).map_err(io::Error::from)
    }
}

impl Serialize for Payload<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}
