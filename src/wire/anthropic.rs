//! Anthropic's Messages.
//!
//! - System messages at the beginning become `system`, joined by a blank line. Later ones become user text between
//!   [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and its suffix, since few models take them where they stand.
//! - The answers of a turn's calls begin the user message behind it, in the order of the calls; what the user says
//!   follows. A failed tool's output is text only.
//! - Reasoning goes back byte for byte, in place, to the model that made it, and only with its signature or its redacted
//!   data.
//! - Pictures (jpeg, png, gif, webp) and PDF documents go out inline or by their address, in a tool's output too.
//! - What else Anthropic made goes back whole as far as [`anthropic_blocks`] knows it.
//! - If the body ends with the model's text, white space at its end is cut off. (Newer models refuse such a body
//!   altogether; whoever sends it decides.)
//!
//! [`anthropic_blocks`]: super::anthropic_blocks

use std::borrow::Cow;

use serde::Serialize;

use super::anthropic_blocks::{self, Whole};
use super::conversation::{Answer, Arguments, AssistantTurn, Call, Conversation, Piece, Said, Turn, text_of};
use super::media::{InResults, Links, MediaLimits, MediaRules, is_image};
use super::options::Options;
use super::picture::PDF;
use super::target::{Target, is_signed};
use super::text::{clean, is_blank};
use super::tools::{self, Declared};
use crate::event::{Reasoning, Value};
use crate::projection::Owner;

/// A request to create a message.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
enum Message<'a> {
    User(Vec<Block<'a>>),
    Assistant(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Block<'a> {
    Ours(Ours<'a>),
    Whole(Whole<'a>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Ours<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<Cow<'a, str>>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: String,
        name: Cow<'a, str>,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<Ours<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: Cow<'a, str> },
    Url { url: &'a str },
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    input_schema: Cow<'a, Value>,
}

/// What Anthropic takes of pictures. A picture may have 5 MiB as base64 text, which is three quarters of that decoded,
/// and a request 32 MB.
const PICTURES: MediaLimits = MediaLimits {
    image_side_max: 8_000,
    many_images_above: 20,
    many_image_side_max: 2_000,
    images_max: 100,
    image_bytes_max: 5 * 1_024 * 1_024 / 4 * 3,
    inline_bytes_max: 24_000_000,
};

/// Most bytes of a document, decoded: no more than what all of a request may have as base64 text.
const DOCUMENT_BYTES_MAX: u64 = 18_000_000;

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.messages.len()
    }
}

/// What Anthropic takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    Target {
        owner: Some(Owner::Anthropic),
        model: options.model.as_deref(),
        is_complete: |_, reasoning| is_signed(reasoning),
        takes_opaque: anthropic_blocks::taken,
        media: MediaRules {
            image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
            document_types: &[PDF],
            links: Links::Web,
            in_results: InResults::OfSuccess,
            limits: options.media.unwrap_or(PICTURES),
            document_bytes_max: DOCUMENT_BYTES_MAX,
            documents_max: usize::MAX,
        },
        ..Target::default()
    }
}

/// Writes a conversation for Anthropic.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'a>, options: &'a Options) -> Body<'a> {
    conversation.trim_the_last_text();
    let mut messages = Vec::new();
    let mut answers = Vec::new();
    for turn in std::mem::take(&mut conversation.turns) {
        match turn {
            Turn::Assistant(turn) => {
                push_user(&mut messages, std::mem::take(&mut answers));
                let (blocks, calls) = assistant(turn);
                messages.push(Message::Assistant(blocks));
                answers = calls;
            }
            Turn::User(turn) => {
                let said = turn.messages.into_iter().flat_map(|message| message.said);
                answers.extend(said.filter_map(block));
                push_user(&mut messages, std::mem::take(&mut answers));
            }
            Turn::System(said) => answers.extend(block(said)),
        }
    }
    push_user(&mut messages, answers);
    let tools = tools::declared(&options.tools, usize::MAX, conversation).into_iter();
    let tools = tools.map(|Declared { name, description, schema }| Tool { name, description, input_schema: schema });
    Body {
        model: target.model,
        max_tokens: options.max_tokens,
        system: conversation.system_prompt(),
        messages,
        tools: tools.collect(),
    }
}

fn push_user<'a>(messages: &mut Vec<Message<'a>>, blocks: Vec<Block<'a>>) {
    if !blocks.is_empty() {
        messages.push(Message::User(blocks));
    }
}

/// The blocks of a turn of the model's, and the answers to its calls.
fn assistant(turn: AssistantTurn<'_>) -> (Vec<Block<'_>>, Vec<Block<'_>>) {
    let mut blocks = Vec::with_capacity(turn.said.len());
    let mut answers = Vec::new();
    for said in turn.said {
        match said.piece {
            Piece::Call(call) => {
                let Call { id, name, call, answer } = *call;
                answers.push(Block::Ours(result(id.clone(), answer)));
                blocks.push(Block::Ours(Ours::ToolUse { id, name, input: Arguments::of(call) }));
            }
            _ => blocks.extend(block(said)),
        }
    }
    (blocks, answers)
}

fn result(tool_use_id: String, answer: Answer<'_>) -> Ours<'_> {
    let content = answer.pieces.into_iter().map(shown).collect();
    Ours::ToolResult { tool_use_id, content, is_error: answer.outcome.is_error() }
}

fn block(said: Said<'_>) -> Option<Block<'_>> {
    match said.piece {
        Piece::Reasoning(reasoning) => Some(Block::Ours(thinking(reasoning))),
        Piece::Opaque(value) => Whole::of(value).map(Block::Whole),
        // It is written with its answer.
        Piece::Call(_) => None,
        piece => Some(Block::Ours(shown(piece))),
    }
}

/// Text, a picture or a document; JSON as text.
fn shown(piece: Piece<'_>) -> Ours<'_> {
    match piece {
        Piece::Inline { media_type, data, name } => media(media_type, Source::Base64 { media_type, data }, name),
        Piece::Link { media_type, url, name } => media(media_type, Source::Url { url }, name),
        piece => Ours::Text { text: text_of(piece) },
    }
}

fn media<'a>(media_type: &str, source: Source<'a>, name: Option<&'a str>) -> Ours<'a> {
    if is_image(media_type) {
        return Ours::Image { source };
    }
    let title = name.filter(|name| !is_blank(name)).map(clean);
    Ours::Document { source, title }
}

fn thinking(reasoning: &Reasoning) -> Ours<'_> {
    match reasoning.redacted.as_deref().filter(|data| !data.is_empty()) {
        Some(data) => Ours::RedactedThinking { data },
        None => Ours::Thinking {
            thinking: reasoning.text.as_deref().unwrap_or_default(),
            signature: reasoning.signature.as_deref().unwrap_or_default(),
        },
    }
}
