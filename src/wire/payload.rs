//! The body of a request, and what is to be said about it.

use std::io;

use serde::{Serialize, Serializer};

use super::conversation::{Conversation, Renamed};
use super::options::Options;
use super::turns::conversation;
use super::{ai_sdk, anthropic, bedrock, gemini, openai_chat, openai_responses};
use crate::event::Role;
use crate::projection::{Diagnostic, Owner, ProjectedMessage, code};

/// Whose form a body has, and what that provider takes.
///
/// All of them want each call answered at once and once, by a result of an id or place that fits, no empty text, and
/// reasoning back unchanged or not at all; all get that. What differs stands at each. "System messages at the beginning"
/// are those with nothing before them; elsewhere, "as the user's text" is between
/// [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and [`SYSTEM_NOTE_SUFFIX`](super::SYSTEM_NOTE_SUFFIX), since the
/// provider refuses a system message there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// `ModelMessage[]` of the Vercel AI SDK, versions 6 and 7, for any provider behind it: `system`, `messages` and
    /// `tools`.
    ///
    /// - System messages at the beginning: `system` (version 7 calls it `instructions`), as version 7 refuses them in
    ///   the list, or first in the list with [`Options::system_in_messages`]; later ones: the user's text.
    /// - Results: one message of role `tool` behind the calls. A tool that a person refused: `execution-denied`.
    /// - Reasoning: to [`Options::upstream`] alone, in `providerOptions`.
    /// - Pictures and PDF documents: within the smaller of Anthropic's and Bedrock's limits on sizes and on a request
    ///   (Bedrock's number of pictures in one message is not among them), no gif to Google; in a result inline only.
    AiSdk,
    /// Anthropic Messages: `model`, `max_tokens`, `system`, `messages` and `tools`.
    ///
    /// - System messages at the beginning: `system`; later ones: the user's text, as only few models take them.
    /// - The user begins, and neighbours of one role are one message. Results begin the user message behind the calls.
    /// - Reasoning: with its signature or redacted data, to the model that made it.
    /// - A failed tool's output is text only. White space at the end of a last text of the model's is cut off, as the
    ///   server refuses it; newer models refuse any body that ends with the model.
    Anthropic,
    /// Chat Completions of OpenAI, and of the many servers that are compatible with it: `model`, `messages` and `tools`.
    ///
    /// - System messages: where they are, as `system`.
    /// - Results: one message of role `tool` each, which holds text only; that the tool failed is said in it, and its
    ///   pictures and documents stand in a message of the user's behind the results.
    /// - Reasoning: none, but as text with [`Options::reasoning_content`].
    OpenAiChat,
    /// Responses of OpenAI, with nothing stored there: `model`, `instructions`, `input`, `tools`, `store` (false) and
    /// `include` (encrypted reasoning; not for models that do not reason).
    ///
    /// - System messages at the beginning: `instructions`; later ones: where they are, as `system`.
    /// - Results: one item each behind the items of the turn; that the tool failed is said in the output.
    /// - Reasoning: encrypted, with its id, directly before what it led to, to the model that made it; the ids of other
    ///   items with it, as the server refuses the one without the other.
    OpenAiResponses,
    /// `generateContent` of Gemini, REST: `systemInstruction`, `contents` and `tools`. The model stands in the address.
    ///
    /// - System messages at the beginning: `systemInstruction`; later ones: the user's text.
    /// - The user begins, and ends with [`Options::last_user`], as the server ignores or refuses what ends with the model.
    /// - Results: a content of their own behind the calls, in their order, since order and name pair them here.
    /// - Signatures: on the part that they came on, to the model that made them. From version 3 on the
    ///   server wants one on the first call of each step; where there is none, the value goes out that is documented for
    ///   this.
    /// - Pictures (no gif) and PDF documents inline only; one by its address becomes a note.
    Gemini,
    /// Amazon Bedrock Converse: `modelId` (the service reads it from the address), `system`, `messages` and `toolConfig`.
    ///
    /// - System messages at the beginning: `system`; later ones: the user's text.
    /// - The user begins, roles alternate, and results begin the user message behind the calls.
    /// - Tools that the history calls and nobody declared are declared, as the service refuses such calls without.
    /// - Reasoning: with its signature or redacted data, to the model that made it, at Bedrock.
    /// - Pictures and PDF documents inline only, 20 and 5 a message. White space at the end of a last text of the model's
    ///   is cut off.
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

/// The body of a request to this provider, made of the messages of a view that is for a model
/// ([`View::is_for_a_model`](crate::projection::View::is_for_a_model)), which a caller may have added to.
pub fn payload<'a>(messages: &'a [ProjectedMessage], provider: Provider, options: &'a Options) -> Payload<'a> {
    let mut target = match provider {
        Provider::AiSdk => ai_sdk::target(options),
        Provider::Anthropic => anthropic::target(options),
        Provider::OpenAiChat => openai_chat::target(options),
        Provider::OpenAiResponses => openai_responses::target(options),
        Provider::Gemini => gemini::target(options),
        Provider::Bedrock => bedrock::target(options),
    };
    // A body that names no model of its own is for the one that answered last, too.
    if let (None, Some(owner)) = (target.model, provider.names_model().or(target.owner)) {
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
