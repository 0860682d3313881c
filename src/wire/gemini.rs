//! The body of Gemini's `generateContent`, as its REST interface takes it.
//!
//! - System messages at the beginning become `systemInstruction`, later ones user text between
//!   [`SYSTEM_NOTE_PREFIX`](super::SYSTEM_NOTE_PREFIX) and its suffix.
//! - Calls are paired with their responses by their order and name. So the responses stand in a content of their own
//!   directly behind the calls, in the order of the calls, and what the user says then in a content behind it. Ids go
//!   out on neither side: the interface wants them on both or on none, a call of an older model or of another provider
//!   has none that Gemini knows, and one made up here would say nothing that the order does not say.
//! - A `response` is `{"output": …}` or `{"error": …}`. JSON goes out as JSON, unless it has a key `$ref`, which the
//!   server takes as a link to a picture: then as text.
//! - A thought signature goes back on the part that it came on, to the model that made it. Thoughts without a signature
//!   are left out: they need not go back, and cost tokens. From version 3 on the server wants the first call of each
//!   step signed, in the current turn; where that signature is not there, the documented value that stands for one goes
//!   out. It goes out in all turns, so that a turn that is no longer the current one keeps its bytes, and also where no
//!   model is named, since version 2.5 does not look at signatures.
//! - Pictures (png, jpeg, webp, heic, heif; no gif) and PDF documents go out inline. Of addresses the server fetches
//!   only what lies in its own file store, and there for two days; a history is read for longer, so a note stands in
//!   the place of each address.
//! - Version 3 takes pictures inside a response. Any other model gets them in a user content behind the responses, with
//!   the name of their tool.
//! - The user has the last word ([`LAST_USER_TEXT`](super::LAST_USER_TEXT)), unless [`Options::last_user`] is off.

use std::borrow::Cow;

use serde::Serialize;

use super::conversation::{
    Answer, Arguments, AssistantTurn, Call, Conversation, Piece, Said, Turn, UserTurn, joined, text_of,
};
use super::media::{InResults, Links, MediaLimits, MediaRules};
use super::options::Options;
use super::picture::PDF;
use super::picture::is_base64;
use super::target::{Opaque, Target};
use super::text::{CleanJson, has_controls, json_text, value_has_controls};
use super::tools::{self, Declared};
use crate::event::{Part, Reasoning, Role, Value};
use crate::projection::{Owner, ProjectedMessage, code};

/// Stands for the signature of a call that has none.
const SKIP_SIGNATURE: &str = "skip_thought_signature_validator";
/// The output of a tool that gave back pictures or files only, where they stand beside it.
const BESIDE: &str = "(shown beside this text)";

/// What `generateContent` takes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Functions<'a>; 1]>,
}

#[derive(Debug, Serialize)]
struct SystemInstruction<'a> {
    parts: [OutPart<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    role: Side,
    parts: Vec<OutPart<'a>>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    User,
    Model,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum OutPart<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Inline {
        inline_data: Blob<'a>,
    },
    Call {
        function_call: FunctionCall<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<&'a str>,
    },
    Response {
        function_response: FunctionResponse<'a>,
    },
    Whole(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'a str,
    data: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    name: Cow<'a, str>,
    args: Arguments<'a>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    name: Cow<'a, str>,
    response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<OutPart<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Response<'a> {
    Output(Output<'a>),
    Error(Output<'a>),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Cow<'a, str>),
    Json(CleanJson<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Functions<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    /// Plain JSON Schema; `parameters` would take a part of OpenAPI only.
    parameters_json_schema: Cow<'a, Value>,
}

impl Body<'_> {
    pub(super) fn message_count(&self) -> usize {
        self.contents.len()
    }
}

/// What Gemini takes.
pub(super) fn target(options: &Options) -> Target<'_> {
    Target {
        owner: Some(Owner::Google),
        model: options.model.as_deref(),
        user_ends: options.last_user,
        ends_in_reasoning: true,
        is_complete,
        takes_opaque: |value, role| match code_execution(value) {
            Some(_) if role == Role::Assistant => Opaque::Alone,
            _ => Opaque::No("only code that the model ran and its outcome go back"),
        },
        media: MediaRules {
            image_types: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
            document_types: &[PDF],
            links: Links::None,
            in_results: InResults::Inline,
            limits: options.media.unwrap_or(LIMITS),
            ..MediaRules::default()
        },
        ..Target::default()
    }
}

/// The server's own limit is on the whole request: 20 MB, of which 2 MB are left for all that is no picture or file.
const LIMITS: MediaLimits = MediaLimits { images_max: 3_000, inline_bytes_max: 18_000_000, ..MediaLimits::NONE };

/// The version of this model; none if it is no Gemini that says its version.
fn version(model: &str) -> Option<u32> {
    let (_, rest) = model.split_once("gemini-")?;
    rest.split(['.', '-']).next()?.parse().ok()
}

/// Whether this can be a signature: base64 of one alphabet or the other. The server refuses a request with any other.
pub(super) fn is_signature(text: &str) -> bool {
    is_base64(&text.replace('-', "+").replace('_', "/"))
}

/// Whether a thought goes back: signed, and without control characters. It need not, so nothing is changed in it.
fn is_complete(_: &Part, reasoning: &Reasoning) -> bool {
    reasoning.signature.as_deref().is_some_and(is_signature) && !reasoning.text.as_deref().is_some_and(has_controls)
}

/// A half of what the model ran itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeExecution {
    Code,
    Result,
}

/// Which half of a code execution this part is, if it is a whole one, with nothing in it that the server does not know.
fn code_execution(part: &Value) -> Option<CodeExecution> {
    const BESIDE: [&str; 2] = ["thought", "thoughtSignature"];
    let fields = part.as_map()?;
    let (half, name, must, may) = match (part.get("executableCode"), part.get("codeExecutionResult")) {
        (Some(_), None) => (CodeExecution::Code, "executableCode", ["language", "code"].as_slice(), ["id"].as_slice()),
        (None, Some(_)) => {
            (CodeExecution::Result, "codeExecutionResult", ["outcome"].as_slice(), ["output", "id"].as_slice())
        }
        _ => return None,
    };
    let inner = part.get(name)?.as_map()?;
    let is_whole = fields.iter().all(|(field, _)| field == name || BESIDE.contains(&field.as_str()))
        && must.iter().all(|must| inner.iter().any(|(field, _)| field == must))
        && inner.iter().all(|(field, value)| {
            (must.contains(&field.as_str()) || may.contains(&field.as_str())) && value.as_text().is_some()
        })
        && part.get("thought").is_none_or(|flag| flag.as_bool().is_some())
        && part.get("thoughtSignature").is_none_or(|value| value.as_text().is_some_and(is_signature))
        && !value_has_controls(part);
    is_whole.then_some(half)
}

fn has_ref(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(has_ref),
        Value::Map(fields) => fields.iter().any(|(name, value)| name == "$ref" || has_ref(value)),
        _ => false,
    }
}

/// Writes a conversation for Gemini.
pub(super) fn body<'a>(conversation: &mut Conversation<'a>, target: &Target<'_>, options: &'a Options) -> Body<'a> {
    let turns = std::mem::take(&mut conversation.turns);
    let version = target.model.and_then(version);
    let contents = Vec::with_capacity(turns.len());
    let mut writer = Writer { target, version, conversation, contents };
    for turn in turns {
        match turn {
            Turn::User(turn) => writer.user(turn),
            Turn::Assistant(turn) => writer.assistant(turn),
            // The target takes none behind the beginning.
            Turn::System(_) => {}
        }
    }
    let contents = writer.contents;
    let system = conversation.system_prompt();
    let system_instruction = system.map(|prompt| SystemInstruction { parts: [text(Cow::Owned(prompt))] });
    let tools = tools::declared(&options.tools, usize::MAX, conversation);
    let function_declarations: Vec<Function<'_>> = tools.into_iter().map(function).collect();
    let tools = (!function_declarations.is_empty()).then_some([Functions { function_declarations }]);
    Body { system_instruction, contents, tools }
}

fn function(tool: Declared<'_>) -> Function<'_> {
    Function { name: tool.name, description: tool.description, parameters_json_schema: tool.schema }
}

fn text(text: Cow<'_, str>) -> OutPart<'_> {
    OutPart::Text { text, thought: None, thought_signature: None }
}

struct Writer<'w, 'a> {
    target: &'w Target<'w>,
    version: Option<u32>,
    conversation: &'w mut Conversation<'a>,
    contents: Vec<Content<'a>>,
}

impl<'a> Writer<'_, 'a> {
    fn user(&mut self, turn: UserTurn<'a>) {
        let said = turn.messages.into_iter().flat_map(|message| message.said);
        let parts = said.map(|said| part(said.piece)).collect();
        self.contents.push(Content { role: Side::User, parts });
    }

    fn assistant(&mut self, turn: AssistantTurn<'a>) {
        let whole = self.whole_executions(&turn);
        let mut parts = Vec::with_capacity(turn.said.len());
        let mut responses = Vec::new();
        let mut shown_behind = Vec::new();
        for (place, said) in turn.said.into_iter().enumerate() {
            match said {
                Said { piece: Piece::Call(call), part, source } => {
                    let thought_signature = self.signature_of(&call, part, source, responses.is_empty());
                    let Call { name, call, answer, .. } = *call;
                    let function_call = FunctionCall { name: name.clone(), args: Arguments::of(call) };
                    parts.push(OutPart::Call { function_call, thought_signature });
                    responses.push(self.response(name, answer, &mut shown_behind));
                }
                Said { piece: Piece::Opaque(value), source, .. } => {
                    parts.push(if whole.binary_search(&place).is_ok() {
                        OutPart::Whole(value)
                    } else {
                        self.half(source)
                    });
                }
                said => parts.push(part(said.piece)),
            }
        }
        self.contents.push(Content { role: Side::Model, parts });
        for parts in [responses, shown_behind] {
            if !parts.is_empty() {
                self.contents.push(Content { role: Side::User, parts });
            }
        }
    }

    /// The places of code with its result directly behind it, and of that result.
    fn whole_executions(&self, turn: &AssistantTurn<'a>) -> Vec<usize> {
        let half = |said: &Said<'a>| match &said.piece {
            Piece::Opaque(value) => code_execution(value),
            _ => None,
        };
        let pairs = turn.said.windows(2).enumerate();
        pairs
            .filter(|(_, pair)| {
                half(&pair[0]) == Some(CodeExecution::Code) && half(&pair[1]) == Some(CodeExecution::Result)
            })
            .flat_map(|(place, _)| [place, place + 1])
            .collect()
    }

    /// The note in the place of half a code execution.
    fn half(&mut self, source: Option<&'a ProjectedMessage>) -> OutPart<'a> {
        if let Some(source) = source {
            self.conversation.say(code::PART_LEFT_OUT, source, "of code that the model ran, the other half is missing");
        }
        text(Cow::Borrowed("[Code that was run is not shown: its other half is missing]"))
    }

    fn signature_of(
        &mut self,
        call: &Call<'a>,
        part: Option<&'a Part>,
        source: Option<&'a ProjectedMessage>,
        is_first: bool,
    ) -> Option<&'a str> {
        let is_own = part.zip(source).is_some_and(|(part, source)| self.target.owns(source, part));
        let own = call.call.thought_signature.as_deref().filter(|signature| is_own && is_signature(signature));
        let is_wanted = is_first && self.version.is_none_or(|version| version >= 3);
        if own.is_some() || !is_wanted {
            return own;
        }
        if let Some(source) = source {
            let reason = "the first call of a step must be signed, and no signature of this model's is recorded";
            self.conversation.say_of_call(code::CALL_SIGNATURE_PUT_IN, source, &call.call.id, reason);
        }
        Some(SKIP_SIGNATURE)
    }

    /// The response of a call. Pictures and files that can't stand in it go behind all responses.
    fn response(&mut self, name: Cow<'a, str>, answer: Answer<'a>, shown_behind: &mut Vec<OutPart<'a>>) -> OutPart<'a> {
        let is_error = answer.outcome.is_error();
        let mut pieces = answer.pieces;
        let mut parts = Vec::new();
        let output = match pieces.as_slice() {
            [Piece::Json(value)] if !has_ref(value) => Output::Json(CleanJson(value)),
            _ => {
                let media = pieces.extract_if(.., |piece| matches!(piece, Piece::Inline { .. }));
                let (inside, behind): (Vec<_>, Vec<_>) = media.partition(|piece| self.takes_inside(piece));
                parts = inside.into_iter().map(part).collect();
                if !behind.is_empty() {
                    if let Some(source) = answer.source {
                        let reason = "this model takes no such media inside a response";
                        self.conversation.say(code::MEDIA_MOVED, source, reason);
                    }
                    pieces.push(Piece::Text(Cow::Owned(format!("({} shown in the next message)", behind.len()))));
                    shown_behind.push(text(Cow::Owned(format!("Shown by the tool {name}:"))));
                    shown_behind.extend(behind.into_iter().map(part));
                } else if pieces.is_empty() {
                    pieces.push(Piece::Text(Cow::Borrowed(BESIDE)));
                }
                Output::Text(joined(pieces))
            }
        };
        let response = if is_error { Response::Error(output) } else { Response::Output(output) };
        OutPart::Response { function_response: FunctionResponse { name, response, parts } }
    }

    /// Whether this picture or file may stand inside a response.
    fn takes_inside(&self, piece: &Piece<'_>) -> bool {
        const INSIDE: [&str; 4] = ["image/png", "image/jpeg", "image/webp", PDF];
        self.version.is_some_and(|version| version >= 3)
            && matches!(piece, Piece::Inline { media_type, .. } if INSIDE.contains(media_type))
    }
}

/// A piece that is written the same way wherever it stands.
fn part<'a>(piece: Piece<'a>) -> OutPart<'a> {
    match piece {
        Piece::Inline { media_type, data, .. } => OutPart::Inline { inline_data: Blob { mime_type: media_type, data } },
        Piece::Reasoning(reasoning) => thought(reasoning),
        Piece::Json(value) => text(Cow::Owned(json_text(&CleanJson(value)))),
        piece => text(text_of(piece)),
    }
}

/// A thought with its signature; without a text a signature stands on an empty text of the answer.
fn thought(reasoning: &Reasoning) -> OutPart<'_> {
    let words = reasoning.text.as_deref().unwrap_or_default();
    let thought = (!words.is_empty()).then_some(true);
    OutPart::Text { text: Cow::Borrowed(words), thought, thought_signature: reasoning.signature.as_deref() }
}
