//! The request of OpenAI's Chat Completions, which many servers of others take as well.
//!
//! - System messages stay where they are, under the role `system`: OpenAI reads it as `developer` where a model wants
//!   that, and other servers know no other.
//! - Messages of the user's and of the model's stay apart; this interface wants no alternation.
//! - Each call is answered at once by a message of role `tool`, in the order of the calls. Such a message holds text
//!   only: that a tool failed is said in it, and its pictures and documents go out in a message of the user's behind
//!   the results, with [`MOVED_PICTURE_NOTE`] or [`MOVED_FILE_NOTE`] in their place.
//! - The model's texts of one message are joined by a blank line, since few other servers take a list there.
//! - There is no reasoning here. For compatible servers that want theirs back as text there is
//!   [`Options::reasoning_content`].

use std::borrow::Cow;

use serde::Serialize;

use super::conversation::{
    Answer, Arguments, AssistantTurn, Call, Conversation, Outcome, Piece, Said, Turn, UserMessage, text_of,
};
use super::media::{InResults, Links, MediaLimits, MediaRules, is_image};
use super::options::Options;
use super::picture::PDF;
use super::target::Target;
use super::text::{AsJsonText, DataUrl, Joined, clean, is_blank};
use super::tools::{self, Declared};
use crate::event::{FAILED, Value};
use crate::projection::{ProjectedMessage, code};

/// The text in a tool's output in the place of a picture that stands in the user's message behind the results.
pub const MOVED_PICTURE_NOTE: &str = "[Picture: shown in the message after the results]";
/// The same in the place of a document.
pub const MOVED_FILE_NOTE: &str = "[File: shown in the message after the results]";
/// The text in front of the pictures and documents of one output, in the user's message behind the results; the id of
/// the call follows it, then the name of the tool in parentheses.
pub const MOVED_MEDIA_PREFIX: &str = "From the output of the tool call ";

/// A request of 50 MB is taken; the texts need room as well.
pub(super) const LIMITS: MediaLimits =
    MediaLimits { images_max: 500, inline_bytes_max: 45_000_000, ..MediaLimits::NONE };

/// Most tools of a request.
pub(super) const TOOLS_MAX: usize = 128;

/// The name of a document that was recorded without one.
pub(super) const DOCUMENT_NAME: &str = "document.pdf";

/// The body of a request.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolEntry<'a>>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// Null beside calls.
        content: Option<Joined<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Joined<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: String,
        content: Joined<'a>,
    },
}

/// One text goes out as a string, all else as a list of parts.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<OutPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OutPart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: File<'a> },
}

#[derive(Debug, Serialize)]
struct ImageUrl<'a> {
    url: Url<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Url<'a> {
    Link(&'a str),
    Data(DataUrl<'a>),
}

#[derive(Debug, Serialize)]
struct File<'a> {
    filename: Cow<'a, str>,
    file_data: DataUrl<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct ToolCall<'a> {
    id: String,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: AsJsonText<Arguments<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct ToolEntry<'a> {
    function: Declaration<'a>,
}

#[derive(Debug, Serialize)]
struct Declaration<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    parameters: Cow<'a, Value>,
}

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.messages.len()
    }
}

/// What Chat Completions takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    Target {
        model: options.model.as_deref(),
        later_system: true,
        user_begins: false,
        merges: false,
        plain_reasoning: options.reasoning_content,
        media: MediaRules {
            image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
            document_types: &[PDF],
            links: Links::Pictures,
            in_results: InResults::All,
            limits: options.media.unwrap_or(LIMITS),
            ..MediaRules::default()
        },
        ..Target::default()
    }
}

/// Writes a conversation for Chat Completions.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'a>, options: &'a Options) -> Body<'a> {
    let system = std::mem::take(&mut conversation.system);
    let turns = std::mem::take(&mut conversation.turns);
    let mut writer = Writer { conversation, messages: Vec::with_capacity(system.len() + turns.len()) };
    writer.messages.extend(system.into_iter().map(|content| Message::System { content }));
    for turn in turns {
        match turn {
            Turn::User(turn) => turn.messages.into_iter().for_each(|message| writer.user(message)),
            Turn::Assistant(turn) => writer.assistant(turn),
            Turn::System(said) => writer.messages.push(Message::System { content: text_of(said.piece) }),
        }
    }
    let messages = writer.messages;
    let tools = tools::declared(&options.tools, TOOLS_MAX, conversation);
    let tools = (!tools.is_empty()).then(|| tools.into_iter().map(tool_entry).collect());
    Body { model: target.model, messages, tools }
}

fn tool_entry(tool: Declared<'_>) -> ToolEntry<'_> {
    let Declared { name, description, schema } = tool;
    ToolEntry { function: Declaration { name, description, parameters: schema } }
}

struct Writer<'w, 'a> {
    conversation: &'w mut Conversation<'a>,
    messages: Vec<Message<'a>>,
}

impl<'a> Writer<'_, 'a> {
    fn user(&mut self, message: UserMessage<'a>) {
        let parts = message.said.into_iter().map(|said| part(said.piece)).collect();
        self.messages.push(Message::User { content: as_content(parts) });
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let mut texts = Vec::new();
        let mut thoughts = Vec::new();
        let mut tool_calls = Vec::new();
        let mut results = Vec::new();
        let mut moved = Vec::new();
        for Said { piece, .. } in turn.said {
            match piece {
                Piece::Reasoning(reasoning) => thoughts.extend(reasoning.text.as_deref().map(clean)),
                Piece::Call(call) => {
                    let Call { id, name, call, answer } = *call;
                    results.push(self.result(&id, &name, answer, &mut moved));
                    let function = Function { name, arguments: AsJsonText(Arguments::of(call)) };
                    tool_calls.push(ToolCall { id, function });
                }
                piece => texts.push(text_of(piece)),
            }
        }
        self.messages.push(Message::Assistant {
            content: paragraphs(texts),
            reasoning_content: paragraphs(thoughts),
            tool_calls,
        });
        self.messages.extend(results);
        if !moved.is_empty() {
            self.messages.push(Message::User { content: Content::Parts(moved) });
        }
    }

    /// The message that answers a call. Pictures and documents of the output are put aside, each leaves a note.
    fn result(&mut self, id: &str, name: &str, answer: Answer<'a>, moved: &mut Vec<OutPart<'a>>) -> Message<'a> {
        let mut texts = Vec::with_capacity(answer.pieces.len());
        if answer.outcome == Outcome::Failed {
            self.say(code::ERROR_FLAG_AS_TEXT, answer.source, "an output has no flag for an error here");
            texts.push(Cow::Borrowed(FAILED));
        }
        let mut media = Vec::new();
        for piece in answer.pieces {
            match piece {
                Piece::Inline { media_type, .. } | Piece::Link { media_type, .. } => {
                    let note = if is_image(media_type) { MOVED_PICTURE_NOTE } else { MOVED_FILE_NOTE };
                    texts.push(Cow::Borrowed(note));
                    media.push(part(piece));
                }
                piece => texts.push(text_of(piece)),
            }
        }
        if !media.is_empty() {
            self.say(code::MEDIA_MOVED, answer.source, "an output is text only here");
            moved.push(OutPart::Text { text: Cow::Owned(format!("{MOVED_MEDIA_PREFIX}{id} ({name}):")) });
            moved.append(&mut media);
        }
        Message::Tool { tool_call_id: id.to_owned(), content: Joined { texts, between: "\n" } }
    }

    fn say(&mut self, code: &'static str, source: Option<&ProjectedMessage>, reason: &str) {
        if let Some(source) = source {
            self.conversation.say(code, source, reason);
        }
    }
}

fn part(piece: Piece<'_>) -> OutPart<'_> {
    match piece {
        Piece::Inline { media_type, data, .. } if is_image(media_type) => {
            OutPart::ImageUrl { image_url: ImageUrl { url: Url::Data(DataUrl { media_type, data }) } }
        }
        Piece::Inline { media_type, data, name } => {
            let filename = name.filter(|name| !is_blank(name)).map_or(Cow::Borrowed(DOCUMENT_NAME), clean);
            OutPart::File { file: File { filename, file_data: DataUrl { media_type, data } } }
        }
        // The target takes addresses of pictures only.
        Piece::Link { url, .. } => OutPart::ImageUrl { image_url: ImageUrl { url: Url::Link(url) } },
        piece => OutPart::Text { text: text_of(piece) },
    }
}

fn as_content(mut parts: Vec<OutPart<'_>>) -> Content<'_> {
    match parts.as_mut_slice() {
        [OutPart::Text { text }] => Content::Text(std::mem::take(text)),
        _ => Content::Parts(parts),
    }
}

fn paragraphs(texts: Vec<Cow<'_, str>>) -> Option<Joined<'_>> {
    (!texts.is_empty()).then_some(Joined { texts, between: "\n\n" })
}
