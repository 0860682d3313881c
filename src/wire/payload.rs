//! The body of a request, and what is to be said about it.

use std::io;

use serde::{Serialize, Serializer};

use super::conversation::{Conversation, Renamed};
use super::options::Options;
use super::turns::conversation;
use super::{ai_sdk, anthropic, bedrock, gemini, openai_chat, openai_responses};
use crate::event::Role;
use crate::projection::{Diagnostic, Owner, ProjectedMessage, code};

/// Whose form a body has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// `ModelMessage[]` of the Vercel AI SDK, versions 6 and 7, for any provider behind it.
    AiSdk,
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions of OpenAI, and of the many servers that are compatible with it.
    OpenAiChat,
    /// Responses of OpenAI, with nothing stored there.
    OpenAiResponses,
    /// `generateContent` of Gemini, REST.
    Gemini,
    /// Amazon Bedrock Converse.
    Bedrock,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::AiSdk, Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini, Self::Bedrock];

    /// The name, as the command line takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AiSdk => "ai-sdk",
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
        }
    }

    /// Whose messages name the model, where the options don't; none: a body for any model.
    fn names_model(self) -> Option<Owner> {
        match self {
            Self::AiSdk => None,
            Self::Anthropic => Some(Owner::Anthropic),
            Self::OpenAiChat | Self::OpenAiResponses => Some(Owner::OpenAi),
            Self::Gemini => Some(Owner::Google),
            Self::Bedrock => Some(Owner::Bedrock),
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
    Anthropic(anthropic::Body<'a>),
    OpenAiChat(openai_chat::Body<'a>),
    OpenAiResponses(openai_responses::Body<'a>),
    Gemini(gemini::Body<'a>),
    Bedrock(bedrock::Body<'a>),
}

/// The body of a request to this provider, made of the messages of the model's view.
pub fn payload<'a>(messages: &'a [ProjectedMessage], provider: Provider, options: &'a Options) -> Payload<'a> {
    let mut target = match provider {
        Provider::AiSdk => ai_sdk::target(options),
        Provider::Anthropic => anthropic::target(options),
        Provider::OpenAiChat => openai_chat::target(options),
        Provider::OpenAiResponses => openai_responses::target(options),
        Provider::Gemini => gemini::target(options),
        Provider::Bedrock => bedrock::target(options),
    };
    if let (None, Some(owner)) = (target.model, provider.names_model()) {
        target.model = latest_model(messages, owner);
    }
    let mut conversation = conversation(messages, &target);
    if target.model.is_none() && provider.names_model().is_some() {
        say_that_no_model_is_named(&mut conversation);
    }
    let body = match provider {
        Provider::AiSdk => Body::AiSdk(ai_sdk::body(&mut conversation, &target, options)),
        Provider::Anthropic => Body::Anthropic(anthropic::body(&mut conversation, &target, options)),
        Provider::OpenAiChat => Body::OpenAiChat(openai_chat::body(&mut conversation, &target, options)),
        Provider::OpenAiResponses => Body::OpenAiResponses(openai_responses::body(&mut conversation, &target, options)),
        Provider::Gemini => Body::Gemini(gemini::body(&mut conversation, &target, options)),
        Provider::Bedrock => Body::Bedrock(bedrock::body(&mut conversation, &target, options)),
    };
    Payload { body, diagnostics: conversation.diagnostics, renamed: conversation.renamed }
}

/// The model that answered last, of this provider's.
fn latest_model(messages: &[ProjectedMessage], owner: Owner) -> Option<&str> {
    let is_theirs = |message: &&ProjectedMessage| {
        message.role == Role::Assistant
            && message.provider.as_deref().and_then(Owner::named) == Some(owner)
            && !message.metadata.synthetic
    };
    let named = messages.iter().rev().filter(is_theirs).filter_map(|message| message.model.as_deref());
    named.into_iter().find(|model| !model.trim().is_empty())
}

fn say_that_no_model_is_named(conversation: &mut Conversation<'_>) {
    let reason = "the options name no model, and no message of this provider's does";
    conversation.diagnostics.push(Diagnostic::new(code::MODEL_NOT_NAMED, [], reason));
}

impl Payload<'_> {
    /// The messages, contents or items of the body.
    #[must_use]
    pub fn message_count(&self) -> usize {
        match &self.body {
            Body::AiSdk(body) => body.message_count(),
            Body::Anthropic(body) => body.message_count(),
            Body::OpenAiChat(body) => body.message_count(),
            Body::OpenAiResponses(body) => body.message_count(),
            Body::Gemini(body) => body.message_count(),
            Body::Bedrock(body) => body.message_count(),
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
