//! The `ModelMessage[]` of the Vercel AI SDK, versions 6 and 7.
//!
//! - System messages at the beginning become `system`, joined by a blank line (version 6 takes it as `system`, version
//!   7 as `instructions`; both refuse or warn of system messages inside `messages`). Later ones become user text
//!   between [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and its suffix.
//! - Each call is answered at once by a message of role `tool`, all results of one turn in one message, in the order
//!   of the calls; where a person refused, `execution-denied`. Approvals are not sent.
//! - Reasoning goes out only if [`Options::upstream`] names the provider that made it. Item ids of texts and calls go
//!   with the reasoning that they belong to, or not at all; OpenAI's reasoning goes out with its encrypted content
//!   only, since without it a provider that stores nothing drops it.
//! - Pictures (jpeg, png, gif, webp) and PDF documents go out inline or by their address; in a tool's output inline
//!   only, since no form of an address is legal there in both versions.

use std::borrow::Cow;

use serde::Serialize;

use super::bedrock;
use super::conversation::{
    Arguments, AssistantTurn, Call, Conversation, Outcome, Piece, Said, Turn, UserTurn, joined, text_of,
};
use super::gemini::is_signature;
use super::media::{InResults, Links, MediaLimits, MediaRules, is_image};
use super::openai_chat::TOOLS_MAX;
use super::openai_items::Items;
use super::options::Options;
use super::picture::PDF;
use super::target::{Target, is_signed};
use super::text::{CleanJson, has_controls, is_blank, json_text};
use super::tools::{self, Declared};
use crate::event::{FAILED, Part, Reasoning};
use crate::projection::{Owner, ProjectedMessage, code};

/// What `generateText` and `streamText` take, in JSON.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolEntry<'a>>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
enum Message<'a> {
    System(String),
    User(Content<'a>),
    Assistant(Content<'a>),
    Tool(Vec<ToolResult<'a>>),
}

/// One text goes out as a string, all else as a list of parts.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<OutPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum OutPart<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_options: Option<ProviderOptions<'a>>,
    },
    File {
        data: Cow<'a, str>,
        media_type: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
    },
    Reasoning {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_options: Option<ProviderOptions<'a>>,
    },
    ToolCall {
        tool_call_id: String,
        tool_name: Cow<'a, str>,
        input: Arguments<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_options: Option<ProviderOptions<'a>>,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tool-result", rename_all = "camelCase")]
struct ToolResult<'a> {
    tool_call_id: String,
    tool_name: Cow<'a, str>,
    output: Output<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Output<'a> {
    Text {
        value: Cow<'a, str>,
    },
    ErrorText {
        value: Cow<'a, str>,
    },
    Json {
        value: CleanJson<'a>,
    },
    ErrorJson {
        value: CleanJson<'a>,
    },
    ExecutionDenied {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    Content {
        value: Vec<Item<'a>>,
    },
}

/// An item of an output's `content`: the kinds that are legal in both versions.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Item<'a> {
    Text { text: Cow<'a, str> },
    ImageData { data: Cow<'a, str>, media_type: &'a str },
    FileData { data: Cow<'a, str>, media_type: &'a str },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum ProviderOptions<'a> {
    Anthropic(Signed<'a>),
    Bedrock(Signed<'a>),
    Google(Thought<'a>),
    Openai(OpenAiItem<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Signed<'a> {
    Signature(&'a str),
    RedactedData(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Thought<'a> {
    thought_signature: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct OpenAiItem<'a> {
    item_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_encrypted_content: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    input_schema: Cow<'a, crate::event::Value>,
}

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.messages.len()
    }
}

/// What every provider behind the AI SDK takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    let owner = options.upstream.as_deref().and_then(Owner::named);
    let is_complete = match owner {
        Some(Owner::OpenAi) => {
            |part: &Part, reasoning: &Reasoning| part.item_id.is_some() && reasoning.encrypted.is_some()
        }
        Some(Owner::Google) => |_: &Part, reasoning: &Reasoning| {
            let text = reasoning.text.as_deref().unwrap_or_default();
            let is_right = reasoning.signature.as_deref().is_none_or(is_signature) && !has_controls(text);
            is_right && (reasoning.signature.is_some() || !is_blank(text))
        },
        Some(Owner::Bedrock) => bedrock::is_complete,
        _ => |_: &Part, reasoning: &Reasoning| is_signed(reasoning),
    };
    Target {
        owner,
        model: options.model.as_deref(),
        is_complete,
        media: MediaRules {
            image_types: match owner {
                Some(Owner::Google) => &["image/jpeg", "image/png", "image/webp"],
                _ => &["image/jpeg", "image/png", "image/gif", "image/webp"],
            },
            document_types: &[PDF],
            links: Links::Web,
            in_results: InResults::Inline,
            limits: options.media.unwrap_or(EVERYWHERE),
            document_bytes_max: 4_500_000,
            documents_max: 5,
        },
        ..Target::default()
    }
}

/// The smaller of Anthropic's and Bedrock's limits.
const EVERYWHERE: MediaLimits = MediaLimits {
    image_side_max: 8_000,
    many_images_above: 20,
    many_image_side_max: 2_000,
    images_max: 100,
    image_bytes_max: 3_750_000,
    inline_bytes_max: 18_000_000,
};

/// Writes a conversation for the AI SDK.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'_>, options: &'a Options) -> Body<'a> {
    let items = (target.owner == Some(Owner::OpenAi)).then(|| Items::new(conversation, options.item_ids));
    let turns = std::mem::take(&mut conversation.turns);
    let mut writer = Writer { target, items, conversation, messages: Vec::with_capacity(turns.len()) };
    let mut system = writer.conversation.system_prompt();
    if options.system_in_messages {
        writer.messages.extend(system.take().map(Message::System));
    }
    for turn in turns {
        match turn {
            Turn::User(turn) => writer.user(turn),
            Turn::Assistant(turn) => writer.assistant(turn),
            // The target takes none behind the beginning.
            Turn::System(_) => {}
        }
    }
    let messages = writer.messages;
    let tools_max = if target.owner == Some(Owner::OpenAi) { TOOLS_MAX } else { usize::MAX };
    let tools = tools::declared(&options.tools, tools_max, conversation);
    let tools = (!tools.is_empty()).then(|| tools.into_iter().map(tool_entry).collect());
    Body { system, messages, tools }
}

fn tool_entry(tool: Declared<'_>) -> ToolEntry<'_> {
    ToolEntry { name: tool.name, description: tool.description, input_schema: tool.schema }
}

struct Writer<'w, 'a> {
    target: &'w Target<'w>,
    /// What of OpenAI's own goes back to it; none: it goes to another.
    items: Option<Items<'a>>,
    conversation: &'w mut Conversation<'a>,
    messages: Vec<Message<'a>>,
}

impl<'a> Writer<'_, 'a> {
    fn user(&mut self, turn: UserTurn<'a>) {
        let said = turn.messages.into_iter().flat_map(|message| message.said);
        let parts = said.filter_map(|said| self.part(said, None)).collect();
        self.messages.push(Message::User(as_content(parts)));
    }

    fn assistant(&mut self, mut turn: AssistantTurn<'a>) {
        let ids = match &mut self.items {
            Some(items) => items.settle(&mut turn, self.target, self.conversation),
            None => vec![None; turn.said.len()],
        };
        if turn.said.is_empty() {
            return;
        }
        let mut results = Vec::new();
        let mut parts = Vec::with_capacity(turn.said.len());
        for (said, id) in turn.said.into_iter().zip(ids) {
            match said {
                Said { piece: Piece::Call(call), part, source } => {
                    let item = id.map(item);
                    let thought = self.thought(part, source);
                    let Call { id, name, call, answer } = *call;
                    parts.push(OutPart::ToolCall {
                        tool_call_id: id.clone(),
                        tool_name: name.clone(),
                        input: Arguments::of(call),
                        provider_options: item.or(thought),
                    });
                    let output = self.output(answer.outcome, answer.pieces, answer.source);
                    results.push(ToolResult { tool_call_id: id, tool_name: name, output });
                }
                said => parts.extend(self.part(said, id)),
            }
        }
        self.messages.push(Message::Assistant(as_content(parts)));
        if !results.is_empty() {
            self.messages.push(Message::Tool(results));
        }
    }

    fn part(&self, said: Said<'a>, id: Option<&'a str>) -> Option<OutPart<'a>> {
        let provider_options = id.map(item);
        match said.piece {
            Piece::Text(text) => Some(OutPart::Text { text, provider_options }),
            Piece::Json(value) => {
                Some(OutPart::Text { text: Cow::Owned(json_text(&CleanJson(value))), provider_options })
            }
            Piece::Inline { media_type, data, name } => Some(OutPart::File { data, media_type, filename: name }),
            Piece::Link { media_type, url, name } => {
                Some(OutPart::File { data: Cow::Borrowed(url), media_type, filename: name })
            }
            Piece::Reasoning(reasoning) => Some(self.reasoning(said.part, reasoning)),
            // The target takes no part whole, and calls are written with their results.
            Piece::Opaque(_) | Piece::Call(_) => None,
        }
    }

    fn reasoning(&self, part: Option<&'a Part>, reasoning: &'a Reasoning) -> OutPart<'a> {
        let signed = || {
            let redacted = reasoning.redacted.as_deref().filter(|data| !data.is_empty()).map(Signed::RedactedData);
            redacted.or_else(|| reasoning.signature.as_deref().map(Signed::Signature))
        };
        let provider_options = match self.target.owner {
            Some(Owner::Anthropic) => signed().map(ProviderOptions::Anthropic),
            Some(Owner::Bedrock) => signed().map(ProviderOptions::Bedrock),
            Some(Owner::Google) => reasoning.signature.as_deref().map(thought),
            Some(Owner::OpenAi) => part.and_then(|part| part.item_id.as_deref()).map(|item_id| {
                let reasoning_encrypted_content = reasoning.encrypted.as_deref();
                ProviderOptions::Openai(OpenAiItem { item_id, reasoning_encrypted_content })
            }),
            None => None,
        };
        let is_redacted = reasoning.redacted.as_ref().is_some_and(|data| !data.is_empty());
        let text = reasoning.text.as_deref().filter(|_| !is_redacted).unwrap_or_default();
        OutPart::Reasoning { text, provider_options }
    }

    fn thought(&self, part: Option<&'a Part>, source: Option<&'a ProjectedMessage>) -> Option<ProviderOptions<'a>> {
        let is_googles = |part: &&Part| {
            self.target.owner == Some(Owner::Google) && source.is_some_and(|source| self.target.owns(source, part))
        };
        let call = part.filter(is_googles)?.as_tool_call()?;
        call.thought_signature.as_deref().filter(|signature| is_signature(signature)).map(thought)
    }

    fn output(
        &mut self,
        outcome: Outcome<'a>,
        mut pieces: Vec<Piece<'a>>,
        source: Option<&'a ProjectedMessage>,
    ) -> Output<'a> {
        if let Outcome::Denied(given) = outcome {
            let reason = given.and_then(|_| pieces.pop()).map(text_of);
            return Output::ExecutionDenied { reason };
        }
        let is_error = outcome.is_error();
        if let [Piece::Json(value)] = pieces.as_slice() {
            let value = CleanJson(value);
            return if is_error { Output::ErrorJson { value } } else { Output::Json { value } };
        }
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Json(_))) {
            let value = joined(pieces);
            return if is_error { Output::ErrorText { value } } else { Output::Text { value } };
        }
        let mut items = Vec::with_capacity(pieces.len() + 1);
        if is_error {
            if let Some(source) = source {
                let reason = "an output with a picture or file has no flag for an error";
                self.conversation.say(code::ERROR_FLAG_AS_TEXT, source, reason);
            }
            items.push(Item::Text { text: Cow::Borrowed(FAILED) });
        }
        items.extend(pieces.into_iter().map(|piece| match piece {
            Piece::Inline { media_type, data, .. } if is_image(media_type) => Item::ImageData { data, media_type },
            Piece::Inline { media_type, data, .. } => Item::FileData { data, media_type },
            piece => Item::Text { text: text_of(piece) },
        }));
        Output::Content { value: items }
    }
}

fn item(item_id: &str) -> ProviderOptions<'_> {
    ProviderOptions::Openai(OpenAiItem { item_id, reasoning_encrypted_content: None })
}

fn thought(thought_signature: &str) -> ProviderOptions<'_> {
    ProviderOptions::Google(Thought { thought_signature })
}

fn as_content(mut parts: Vec<OutPart<'_>>) -> Content<'_> {
    match parts.as_mut_slice() {
        [OutPart::Text { text, provider_options: None }] => Content::Text(std::mem::take(text)),
        _ => Content::Parts(parts),
    }
}
