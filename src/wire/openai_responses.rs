//! The request of OpenAI's Responses.
//!
//! - System messages at the beginning become `instructions`, joined by a blank line. Later ones stay in place under
//!   the role `system`, the name that they were recorded with; OpenAI reads it as `developer` where a model wants that.
//! - Nothing is stored: `store` is false, and reasoning comes and goes encrypted (a model that does not
//!   reason is not asked for it). It goes back directly before what it
//!   led to, and with it the ids of those items ([`Options::item_ids`]); what has no id that goes back is written in
//!   the short form.
//! - Each call is answered behind the items of its turn, in the order of the calls. There is no flag for a failed tool,
//!   so the output says it.
//! - A call that OpenAI recorded with raw text for its input goes back as such (`custom_tool_call`).
//! - Of OpenAI's own items those go back whole that need nothing else, or stand with what answers them.

use std::borrow::Cow;

use serde::Serialize;

use super::conversation::{
    Answer, Arguments, AssistantTurn, Call, Conversation, Outcome, Piece, Said, Turn, UserMessage, text_of,
};
use super::media::{InResults, Links, MediaRules, is_image};
use super::openai_chat::{DOCUMENT_NAME, LIMITS, TOOLS_MAX};
use super::openai_items::{Items, REASONING_ID, is_of_kind};
use super::openai_shapes::{OpaqueItem, Own, part_of};
use super::options::Options;
use super::picture::PDF;
use super::target::{Opaque, Target};
use super::text::{AsJsonText, DataUrl, Joined, clean, is_blank};
use super::tools::{self, Declared};
use crate::event::{FAILED, Part, Reasoning, Role, ToolCall, ToolInput, Value};
use crate::projection::{Owner, code};

/// What a request asks for besides the answer.
const INCLUDE: &[&str] = &["reasoning.encrypted_content"];

/// How a model that does not reason is named at the beginning; it refuses a request that asks for its reasoning.
const NOT_REASONING: [&str; 3] = ["gpt-3", "gpt-4", "chatgpt-"];

/// The type that a part keeps of a call whose input is raw text.
const CUSTOM_CALL: &str = "custom_tool_call";

/// The field in which a part keeps whether a message is said on the way or is the answer.
const PHASE: &str = "phase";
const PHASES: [&str; 2] = ["commentary", "final_answer"];

/// The body of a request.
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolEntry<'a>>>,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message(Message<'a>),
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: String,
        name: Cow<'a, str>,
        arguments: AsJsonText<Arguments<'a>>,
    },
    FunctionCallOutput {
        call_id: String,
        output: Output<'a>,
    },
    CustomToolCall {
        call_id: String,
        name: Cow<'a, str>,
        input: Cow<'a, str>,
    },
    CustomToolCallOutput {
        call_id: String,
        output: Output<'a>,
    },
    Reasoning {
        id: &'a str,
        summary: Vec<Summary<'a>>,
        encrypted_content: Option<&'a str>,
    },
    #[serde(untagged)]
    Opaque(OpaqueItem<'a>),
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    role: &'static str,
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
}

/// One text goes out as a string, all else as a list of parts.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Input(Vec<InputPart<'a>>),
    Output(Vec<OutputText<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Joined<'a>),
    Parts(Vec<InputPart<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type")]
enum InputPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: Cow<'a, str> },
    #[serde(rename = "input_image")]
    Image { image_url: Url<'a>, detail: &'static str },
    #[serde(rename = "input_file")]
    File(InputFile<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Url<'a> {
    Link(&'a str),
    Data(DataUrl<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum InputFile<'a> {
    Link { file_url: &'a str },
    Data { filename: Cow<'a, str>, file_data: DataUrl<'a> },
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "output_text")]
struct OutputText<'a> {
    text: Cow<'a, str>,
    annotations: [(); 0],
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "summary_text")]
struct Summary<'a> {
    text: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
struct ToolEntry<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    parameters: Cow<'a, Value>,
    /// Without a word it would be true here, and a schema that names an optional field would be refused.
    strict: bool,
}

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.input.len()
    }
}

/// What Responses takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    Target {
        owner: Some(Owner::OpenAi),
        model: options.model.as_deref(),
        later_system: true,
        user_begins: false,
        merges: false,
        // Whether it is encrypted is seen once its parts are together.
        is_complete: |part: &Part, _: &Reasoning| {
            part.item_id.as_deref().is_some_and(|id| is_of_kind(id, REASONING_ID))
        },
        takes_opaque,
        takes_raw_input: |part, call| raw_input(part, call).is_some(),
        media: MediaRules {
            image_types: &["image/jpeg", "image/png", "image/gif", "image/webp"],
            document_types: &[PDF],
            links: Links::Web,
            in_results: InResults::All,
            limits: options.media.unwrap_or(LIMITS),
            ..MediaRules::default()
        },
        ..Target::default()
    }
}

/// What answers an item comes from a person or a tool, in a later turn; [`Items`] looks at such pairs.
fn takes_opaque(item: &Value, role: Role) -> Opaque<'_> {
    match part_of(item) {
        Some(Own::Answers { .. }) => Opaque::Alone,
        Some(Own::Alone | Own::Asks { .. }) if role == Role::Assistant => Opaque::Alone,
        _ => Opaque::No("no item of this kind, or with such fields, is taken back"),
    }
}

/// Writes a conversation for Responses.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'a>, options: &'a Options) -> Body<'a> {
    let instructions = conversation.system_prompt();
    let items = Items::new(conversation, options.item_ids);
    let turns = std::mem::take(&mut conversation.turns);
    let mut writer = Writer { target, conversation, items, input: Vec::with_capacity(turns.len()) };
    for turn in turns {
        match turn {
            Turn::User(turn) => turn.messages.into_iter().for_each(|message| writer.user(message)),
            Turn::Assistant(turn) => writer.assistant(turn),
            Turn::System(said) => writer.say("system", Content::Text(text_of(said.piece))),
        }
    }
    let input = writer.input;
    let tools = tools::declared(&options.tools, TOOLS_MAX, conversation);
    let tools = (!tools.is_empty()).then(|| tools.into_iter().map(tool_entry).collect());
    let include = if target.model.is_none_or(may_reason) { INCLUDE } else { &[] };
    Body { model: target.model, instructions, input, tools, store: false, include }
}

fn tool_entry(tool: Declared<'_>) -> ToolEntry<'_> {
    ToolEntry { name: tool.name, description: tool.description, parameters: tool.schema, strict: false }
}

fn may_reason(model: &str) -> bool {
    let is_chat = model.starts_with("gpt-5") && model.contains("-chat");
    !is_chat && !NOT_REASONING.iter().any(|start| model.starts_with(start))
}

struct Writer<'w, 'a> {
    target: &'w Target<'w>,
    conversation: &'w mut Conversation<'a>,
    items: Items<'a>,
    input: Vec<Item<'a>>,
}

impl<'a> Writer<'_, 'a> {
    fn say(&mut self, role: &'static str, content: Content<'a>) {
        self.input.push(Item::Message(Message { id: None, role, content, status: None, phase: None }));
    }

    fn user(&mut self, message: UserMessage<'a>) {
        let mut parts = Vec::with_capacity(message.said.len());
        for Said { piece, source, .. } in message.said {
            match piece {
                Piece::Opaque(answer) => match (self.items.refuses_answer(answer), source) {
                    (None, _) => self.input.push(Item::Opaque(OpaqueItem { item: answer, with_id: false })),
                    (Some((code, reason)), Some(source)) => self.conversation.say(code, source, reason),
                    (Some(_), None) => {}
                },
                piece => parts.push(part(piece)),
            }
        }
        match parts.as_mut_slice() {
            [] => {}
            [InputPart::Text { text }] => {
                let text = std::mem::take(text);
                self.say("user", Content::Text(text));
            }
            _ => self.say("user", Content::Input(parts)),
        }
    }

    fn assistant(&mut self, mut turn: AssistantTurn<'a>) {
        let ids = self.items.settle(&mut turn, self.target, self.conversation);
        let mut outputs = Vec::new();
        for (Said { piece, part, source }, id) in turn.said.into_iter().zip(ids) {
            match piece {
                Piece::Reasoning(reasoning) => self.reasoning(id.unwrap_or_default(), reasoning),
                Piece::Opaque(item) => {
                    self.input.push(Item::Opaque(OpaqueItem { item, with_id: id.is_some() }));
                }
                Piece::Call(call) => {
                    let Call { id: call_id, name, call, answer } = *call;
                    let output = self.output(answer);
                    let owned = part.filter(|part| source.is_some_and(|source| self.target.owns(source, part)));
                    if let Some(input) = owned.and_then(|part| raw_input(part, call)) {
                        outputs.push(Item::CustomToolCallOutput { call_id: call_id.clone(), output });
                        self.input.push(Item::CustomToolCall { call_id, name, input: clean(input) });
                        continue;
                    }
                    outputs.push(Item::FunctionCallOutput { call_id: call_id.clone(), output });
                    let arguments = AsJsonText(Arguments::of(call));
                    self.input.push(Item::FunctionCall { id, call_id, name, arguments });
                }
                piece => {
                    let owned = part.filter(|part| source.is_some_and(|source| self.target.owns(source, part)));
                    self.text(id, text_of(piece), owned.and_then(phase_of));
                }
            }
        }
        self.input.extend(outputs);
    }

    /// Reasoning; what was recorded of one item in several parts is one item again.
    fn reasoning(&mut self, id: &'a str, reasoning: &'a Reasoning) {
        let text = reasoning.text.as_deref().filter(|text| !is_blank(text));
        let part = text.map(|text| Summary { text: clean(text) });
        let encrypted = reasoning.encrypted.as_deref().filter(|text| !text.is_empty());
        if let Some(Item::Reasoning { id: last, summary, encrypted_content }) = self.input.last_mut()
            && *last == id
        {
            summary.extend(part);
            *encrypted_content = encrypted.or(*encrypted_content);
            return;
        }
        self.input.push(Item::Reasoning { id, summary: part.into_iter().collect(), encrypted_content: encrypted });
    }

    /// A text of the model's; what was recorded of one message in several parts is one message again.
    fn text(&mut self, id: Option<&'a str>, text: Cow<'a, str>, phase: Option<&'a str>) {
        if id.is_none() {
            let content = Content::Text(text);
            let message = Message { id: None, role: "assistant", content, status: None, phase };
            return self.input.push(Item::Message(message));
        }
        let text = OutputText { text, annotations: [] };
        if let Some(Item::Message(Message { id: last, content: Content::Output(texts), .. })) = self.input.last_mut()
            && *last == id
        {
            return texts.push(text);
        }
        let content = Content::Output(vec![text]);
        let message = Message { id, role: "assistant", content, status: Some("completed"), phase };
        self.input.push(Item::Message(message));
    }

    fn output(&mut self, answer: Answer<'a>) -> Output<'a> {
        let mut pieces = answer.pieces;
        if answer.outcome == Outcome::Failed {
            if let Some(source) = answer.source {
                self.conversation.say(code::ERROR_FLAG_AS_TEXT, source, "an output has no flag for an error here");
            }
            pieces.insert(0, Piece::Text(Cow::Borrowed(FAILED)));
        }
        if pieces.iter().any(|piece| matches!(piece, Piece::Inline { .. } | Piece::Link { .. })) {
            return Output::Parts(pieces.into_iter().map(part).collect());
        }
        Output::Text(Joined { texts: pieces.into_iter().map(text_of).collect(), between: "\n" })
    }
}

/// The input of a call that OpenAI recorded as one of raw text, where no schema says what it holds.
fn raw_input<'a>(part: &Part, call: &'a ToolCall) -> Option<&'a str> {
    let is_custom = part.extra.iter().any(|(name, kind)| name == "type" && kind.as_text() == Some(CUSTOM_CALL));
    match &call.input {
        ToolInput::Text(input) if is_custom => Some(input),
        _ => None,
    }
}

fn phase_of(part: &Part) -> Option<&str> {
    let (_, phase) = part.extra.iter().find(|(name, _)| name == PHASE)?;
    phase.as_text().filter(|phase| PHASES.contains(phase))
}

fn part(piece: Piece<'_>) -> InputPart<'_> {
    let image = |image_url| InputPart::Image { image_url, detail: "auto" };
    match piece {
        Piece::Inline { media_type, data, .. } if is_image(media_type) => {
            image(Url::Data(DataUrl { media_type, data }))
        }
        Piece::Inline { media_type, data, name } => {
            let filename = name.filter(|name| !is_blank(name)).map_or(Cow::Borrowed(DOCUMENT_NAME), clean);
            InputPart::File(InputFile::Data { filename, file_data: DataUrl { media_type, data } })
        }
        Piece::Link { media_type, url, .. } if is_image(media_type) => image(Url::Link(url)),
        Piece::Link { url, .. } => InputPart::File(InputFile::Link { file_url: url }),
        piece => InputPart::Text { text: text_of(piece) },
    }
}
