//! Amazon Bedrock's Converse.
//!
//! - The body is the whole request, its `modelId` too (the service reads that from the address).
//! - Roles alternate and the user begins; system messages at the beginning become `system`, later ones user text between
//!   [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and its suffix.
//! - The answers of a turn's calls begin the user message behind it, in the order of the calls.
//! - Tools that the history calls are declared even if nobody declares them, since Bedrock refuses calls without.
//! - Reasoning goes back byte for byte, in place, to the model that made it at Bedrock, and only with its signature or
//!   its redacted data.
//! - Pictures (png, jpeg, gif, webp) and PDF documents go out inline; 20 pictures and 5 documents a message, of more the
//!   first become notes. A document has a name of its own in the request, and a text beside it.
//! - If the body ends with the model's text, white space at its end is cut off.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;

use super::conversation::{Answer, Arguments, AssistantTurn, Call, Conversation, Piece, Said, Turn, UserTurn, text_of};
use super::media::{InResults, Links, MediaLimits, MediaRules, is_image};
use super::options::Options;
use super::picture::PDF;
use super::picture::is_base64;
use super::target::{Target, is_signed};
use super::text::clean;
use super::tools::{self, Declared};
use crate::event::{Part, Reasoning, Value};
use crate::projection::{Diagnostic, Owner, ProjectedMessage, code, media_note_of};

/// A request to converse.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
}

#[derive(Debug, Serialize)]
struct SystemBlock {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
enum Message<'a> {
    User(Vec<Block<'a>>),
    Assistant(Vec<Block<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Block<'a> {
    Text(Cow<'a, str>),
    Image {
        format: &'a str,
        source: Source<'a>,
    },
    Document {
        format: &'static str,
        name: String,
        source: Source<'a>,
    },
    ToolUse {
        tool_use_id: String,
        name: Cow<'a, str>,
        input: Arguments<'a>,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
    },
    ReasoningContent(Thought<'a>),
}

#[derive(Debug, Serialize)]
struct Source<'a> {
    /// As base64 text.
    bytes: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Thought<'a> {
    ReasoningText { text: &'a str, signature: &'a str },
    RedactedContent(&'a str),
}

#[derive(Debug, Serialize)]
struct ToolConfig<'a> {
    tools: Vec<Tool<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Tool<'a> {
    ToolSpec {
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<Cow<'a, str>>,
        input_schema: Schema<'a>,
    },
}

#[derive(Debug, Serialize)]
struct Schema<'a> {
    json: Cow<'a, Value>,
}

/// What Bedrock takes of pictures, and the models of Anthropic's there.
const PICTURES: MediaLimits = MediaLimits {
    image_side_max: 8_000,
    many_images_above: 20,
    many_image_side_max: 2_000,
    images_max: 100,
    image_bytes_max: 3_750_000,
    inline_bytes_max: 18_000_000,
};

const DOCUMENT_BYTES_MAX: u64 = 4_500_000;
const IMAGES_MAX_IN_A_MESSAGE: usize = 20;
const DOCUMENTS_MAX_IN_A_MESSAGE: usize = 5;

/// Stands beside documents that came without a word.
const DOCUMENT_TEXT: &str = "(a document)";
/// The name of a document whose own has no legal character.
const UNNAMED: &str = "document";
/// Longest name of a document, in bytes; the service takes 200.
const NAME_LEN_MAX: usize = 100;

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.messages.len()
    }
}

/// What Bedrock takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    Target {
        owner: Some(Owner::Bedrock),
        model: options.model.as_deref(),
        is_complete,
        media: MediaRules {
            image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
            document_types: &[PDF],
            links: Links::None,
            in_results: InResults::OfSuccess,
            limits: options.media.unwrap_or(PICTURES),
            document_bytes_max: DOCUMENT_BYTES_MAX,
            documents_max: usize::MAX,
        },
        ..Target::default()
    }
}

/// Whether reasoning has all that Bedrock wants back. The service reads redacted data as bytes.
pub(super) fn is_complete(_: &Part, reasoning: &Reasoning) -> bool {
    match reasoning.redacted.as_deref().filter(|data| !data.is_empty()) {
        Some(data) => is_base64(data),
        None => is_signed(reasoning),
    }
}

/// Writes a conversation for Bedrock.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'a>, options: &'a Options) -> Body<'a> {
    conversation.trim_the_last_text();
    let tool_config = tool_config(conversation, options);
    let turns = std::mem::take(&mut conversation.turns);
    let system = conversation.system_prompt().map(|text| SystemBlock { text });
    let mut writer = Writer { conversation, messages: Vec::new(), names: HashSet::new() };
    writer.write(turns);
    Body { model_id: target.model, system: system.into_iter().collect(), messages: writer.messages, tool_config }
}

/// The declared tools, and those that the history calls.
fn tool_config<'a>(conversation: &mut Conversation<'a>, options: &'a Options) -> Option<ToolConfig<'a>> {
    let mut declared = tools::declared(&options.tools, usize::MAX, conversation);
    let mut names: HashSet<String> = declared.iter().map(|tool| tool.name.clone().into_owned()).collect();
    let mut put_in = Vec::new();
    for turn in &conversation.turns {
        let Turn::Assistant(turn) = turn else { continue };
        for said in &turn.said {
            let Piece::Call(call) = &said.piece else { continue };
            if names.insert(call.name.clone().into_owned()) {
                let ids = said.source.map(|source| source.source_message_ids.clone()).unwrap_or_default();
                let reason = format!("the history calls {}, so it is declared, with no arguments", call.name);
                put_in.push(Diagnostic::new(code::TOOL_PUT_IN, ids, reason).about_call(&call.call.id));
                declared.push(Declared {
                    name: call.name.clone(),
                    description: None,
                    schema: Cow::Owned(Value::from([
                        ("type", "object".into()),
                        ("properties", Value::Map(Vec::new())),
                    ])),
                });
            }
        }
    }
    conversation.diagnostics.append(&mut put_in);
    let spec = |tool: Declared<'a>| Tool::ToolSpec {
        name: tool.name,
        description: tool.description,
        input_schema: Schema { json: tool.schema },
    };
    let tools: Vec<Tool<'a>> = declared.into_iter().map(spec).collect();
    (!tools.is_empty()).then_some(ToolConfig { tools })
}

struct Writer<'c, 'a> {
    conversation: &'c mut Conversation<'a>,
    messages: Vec<Message<'a>>,
    /// Names of documents so far.
    names: HashSet<String>,
}

/// Something of a user's message, and the message that it comes from.
type Shown<'a> = (Piece<'a>, Option<&'a ProjectedMessage>);

impl<'a> Writer<'_, 'a> {
    fn write(&mut self, turns: Vec<Turn<'a>>) {
        let mut answers = Vec::new();
        for turn in turns {
            match turn {
                Turn::Assistant(turn) => {
                    self.user(std::mem::take(&mut answers), UserTurn::default());
                    answers = self.assistant(turn);
                }
                Turn::User(turn) => self.user(std::mem::take(&mut answers), turn),
                // The target takes no system text behind the beginning, so there is none.
                Turn::System(_) => {}
            }
        }
        self.user(answers, UserTurn::default());
    }

    /// Writes a turn of the model's and hands back the answers to its calls.
    fn assistant(&mut self, turn: AssistantTurn<'a>) -> Vec<(String, Answer<'a>)> {
        let mut blocks = Vec::with_capacity(turn.said.len());
        let mut answers = Vec::new();
        for said in turn.said {
            match said.piece {
                Piece::Call(call) => {
                    let Call { id, name, call, answer } = *call;
                    blocks.push(Block::ToolUse { tool_use_id: id.clone(), name, input: Arguments::of(call) });
                    answers.push((id, answer));
                }
                Piece::Reasoning(reasoning) => blocks.push(Block::ReasoningContent(thought(reasoning))),
                piece => blocks.push(Block::Text(text_of(piece))),
            }
        }
        self.messages.push(Message::Assistant(blocks));
        answers
    }

    fn user(&mut self, answers: Vec<(String, Answer<'a>)>, turn: UserTurn<'a>) {
        let mut blocks = Vec::new();
        let said: Vec<Said<'a>> = turn.messages.into_iter().flat_map(|message| message.said).collect();
        let all = answers.iter().flat_map(|(_, answer)| &answer.pieces).chain(said.iter().map(|said| &said.piece));
        let mut surplus = Surplus::of(all);
        for (tool_use_id, answer) in answers {
            let source = answer.source;
            let content = answer.pieces.into_iter().map(|piece| self.shown((piece, source), &mut surplus)).collect();
            let status = answer.outcome.is_error().then_some("error");
            blocks.push(Block::ToolResult { tool_use_id, content, status });
        }
        let mut needs_text = false;
        let mut has_text = false;
        for said in said {
            let block = self.shown((said.piece, said.source), &mut surplus);
            needs_text |= matches!(block, Block::Document { .. });
            has_text |= matches!(block, Block::Text(_));
            blocks.push(block);
        }
        if needs_text && !has_text {
            blocks.push(Block::Text(Cow::Borrowed(DOCUMENT_TEXT)));
        }
        if !blocks.is_empty() {
            self.messages.push(Message::User(blocks));
        }
    }

    /// Text, a picture or a document; JSON as text.
    fn shown(&mut self, (piece, source): Shown<'a>, surplus: &mut Surplus) -> Block<'a> {
        let (media_type, data, name) = match piece {
            Piece::Inline { media_type, data, name } => (media_type, data, name),
            piece => return Block::Text(text_of(piece)),
        };
        if surplus.takes(media_type) {
            let reason = "there are more of them in one message than the provider takes";
            if let Some(source) = source {
                self.conversation.say(code::MEDIA_DEGRADED, source, reason);
            }
            return Block::Text(Cow::Owned(clean(&media_note_of(media_type, name, None, reason)).into_owned()));
        }
        let source = Source { bytes: data };
        match media_type.strip_prefix("image/") {
            Some(format) => Block::Image { format, source },
            None => Block::Document { format: "pdf", name: self.document_name(name), source },
        }
    }

    /// A legal name that no other document of the request has.
    fn document_name(&mut self, name: Option<&str>) -> String {
        let legal = legal_name(name.unwrap_or_default());
        let mut own = legal.clone();
        let mut turn = 1_u32;
        while !self.names.insert(own.clone()) {
            turn += 1;
            own = format!("{legal}-{turn}");
        }
        own
    }
}

/// How many pictures and documents of a message, from its beginning, are too many.
struct Surplus {
    images: usize,
    documents: usize,
}

impl Surplus {
    fn of<'p, 'a: 'p>(pieces: impl Iterator<Item = &'p Piece<'a>>) -> Self {
        let (mut images, mut documents) = (0_usize, 0_usize);
        for piece in pieces {
            let Piece::Inline { media_type, .. } = piece else { continue };
            *if is_image(media_type) { &mut images } else { &mut documents } += 1;
        }
        Self {
            images: images.saturating_sub(IMAGES_MAX_IN_A_MESSAGE),
            documents: documents.saturating_sub(DOCUMENTS_MAX_IN_A_MESSAGE),
        }
    }

    /// Whether the next one of this type is among them.
    fn takes(&mut self, media_type: &str) -> bool {
        let left = if is_image(media_type) { &mut self.images } else { &mut self.documents };
        let is_surplus = *left > 0;
        *left -= usize::from(is_surplus);
        is_surplus
    }
}

/// Letters, digits, hyphens, round and square brackets, and single spaces between them; the ending goes.
fn legal_name(name: &str) -> String {
    let stem = name.strip_suffix(".pdf").unwrap_or(name);
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "-()[]".contains(c);
    let words = stem.split_whitespace();
    let words = words.map(|word| word.chars().map(|c| if is_legal(c) { c } else { '-' }).collect::<String>());
    let mut legal = words.collect::<Vec<_>>().join(" ");
    legal.truncate(NAME_LEN_MAX);
    let legal = legal.trim_end();
    match legal.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        true => legal.to_owned(),
        false => UNNAMED.to_owned(),
    }
}

fn thought(reasoning: &Reasoning) -> Thought<'_> {
    match reasoning.redacted.as_deref().filter(|data| !data.is_empty()) {
        Some(data) => Thought::RedactedContent(data),
        None => Thought::ReasoningText {
            text: reasoning.text.as_deref().unwrap_or_default(),
            signature: reasoning.signature.as_deref().unwrap_or_default(),
        },
    }
}
