//! The turns of a conversation, in the order that every provider takes: what all serializers share.
//!
//! System texts at the beginning are set apart. Then each turn is the user's or the model's, and a model's turn holds
//! its calls with their answers, so that a serializer can't part them. Texts are clean and never blank, pictures and
//! files are ones that the provider takes, or notes.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::event::{Part, Reasoning, ToolCall, ToolInput, Value};
use crate::projection::{Diagnostic, ProjectedMessage};

use super::text::{CleanJson, json_text};

/// Stands before the text of a system message that came after the beginning and goes out as the user's.
pub const SYSTEM_NOTE_PREFIX: &str = "<system-note>\n";
/// Stands behind the text of such a message.
pub const SYSTEM_NOTE_SUFFIX: &str = "\n</system-note>";
/// The user's text in front of a history that begins with the model: providers want the user to begin.
pub const FIRST_USER_TEXT: &str = "(the conversation begins with the assistant)";
/// The user's text behind a history that ends with the model, where the provider wants the user to have the last word.
pub const LAST_USER_TEXT: &str = "(continue)";
/// The output of a tool that gave back nothing, as text.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// The field that holds arguments which are JSON but no object.
const INPUT_VALUE: &str = "value";
/// The field that holds arguments which are no JSON.
const INPUT_TEXT: &str = "text";

/// A conversation, ready to be written in a provider's form.
#[derive(Debug, Default)]
pub(super) struct Conversation<'a> {
    /// System texts from before the first turn.
    pub(super) system: Vec<Cow<'a, str>>,
    pub(super) turns: Vec<Turn<'a>>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Calls and tools that go out under another name.
    pub(super) renamed: Renamed,
}

/// What goes out under another name than it was recorded with, so that an answer can be read back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renamed {
    /// Ids of calls: as sent, and as recorded.
    pub calls: Vec<(String, String)>,
    /// Names of tools: as sent, and as recorded or declared. A model calls a tool by the first of the two.
    pub tools: Vec<(String, String)>,
    /// The names in the list of tools.
    sent_tools: HashSet<String>,
}

impl Renamed {
    pub(super) fn add_tool(&mut self, sent: &str, original: &str) {
        if sent != original && self.sent_tools.insert(sent.to_owned()) {
            self.tools.push((sent.to_owned(), original.to_owned()));
        }
    }

    /// The recorded or declared name of the tool that a model calls by this name.
    #[must_use]
    pub fn tool<'n>(&'n self, sent: &'n str) -> &'n str {
        self.tools.iter().find(|(name, _)| name == sent).map_or(sent, |(_, original)| original)
    }
}

/// What one side says in one go.
#[derive(Debug)]
pub(super) enum Turn<'a> {
    User(UserTurn<'a>),
    Assistant(AssistantTurn<'a>),
    /// A system text behind the beginning, where the provider takes one.
    System(Said<'a>),
}

/// Messages of the user's in a row. None is without content.
#[derive(Debug, Default)]
pub(super) struct UserTurn<'a> {
    pub(super) messages: Vec<UserMessage<'a>>,
    /// All are attachments, which may stand between blocks of one message of the model's.
    pub(super) only_attachments: bool,
}

/// One message of the user's.
#[derive(Debug)]
pub(super) struct UserMessage<'a> {
    pub(super) said: Vec<Said<'a>>,
}

/// What the model says in one go; never without content.
#[derive(Debug)]
pub(super) struct AssistantTurn<'a> {
    pub(super) said: Vec<Said<'a>>,
    pub(super) message_id: Option<&'a str>,
    /// Places in `said` before which something that the model made was left out; the end is one too.
    pub(super) gaps: Vec<usize>,
}

/// A piece of a message, and where it comes from.
#[derive(Debug)]
pub(super) struct Said<'a> {
    pub(super) piece: Piece<'a>,
    /// The part that it was made from.
    pub(super) part: Option<&'a Part>,
    /// The message that holds the part; none: nobody said it.
    pub(super) source: Option<&'a ProjectedMessage>,
}

/// Something that can be written.
#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Text, clean and not blank.
    Text(Cow<'a, str>),
    /// A JSON value, in a tool's output.
    Json(&'a Value),
    /// A picture or file, inline as base64 text.
    Inline { media_type: &'a str, data: Cow<'a, str>, name: Option<&'a str> },
    /// A picture or file by its address on the web.
    Link { media_type: &'a str, url: &'a str, name: Option<&'a str> },
    /// Reasoning that goes back to its maker, byte for byte.
    Reasoning(&'a Reasoning),
    /// A part of the provider's own, kept whole.
    Opaque(&'a Value),
    /// A call, with its answer.
    Call(Box<Call<'a>>),
}

/// A call and its answer.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// The id that it goes out with.
    pub(super) id: String,
    /// The name of the tool that it goes out with.
    pub(super) name: Cow<'a, str>,
    pub(super) call: &'a ToolCall,
    pub(super) answer: Answer<'a>,
}

/// What answers a call.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) outcome: Outcome<'a>,
    /// Texts, JSON, pictures and files; at least one.
    pub(super) pieces: Vec<Piece<'a>>,
    /// The message that holds the result; none: nobody gave one.
    pub(super) source: Option<&'a ProjectedMessage>,
}

/// How a call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    /// Nothing came; the piece is a text that says so.
    Missing,
    /// A person refused it, perhaps for this reason; the piece is a text that says so.
    Denied(Option<&'a str>),
    /// The tool did its work.
    Done,
    /// The tool failed.
    Failed,
}

impl Outcome<'_> {
    /// Whether the call did not do its work.
    pub(super) fn is_error(self) -> bool {
        self != Self::Done
    }
}

/// The arguments of a call, always an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments<'a> {
    Empty,
    Object(&'a Value),
    /// JSON that is no object, in a field `value`.
    Value(&'a Value),
    /// Raw text, in a field `text`.
    Text(&'a str),
}

impl<'a> Arguments<'a> {
    /// The arguments of this call.
    pub(super) fn of(call: &'a ToolCall) -> Self {
        match &call.input {
            ToolInput::None | ToolInput::Json(Value::Null) => Self::Empty,
            ToolInput::Json(object @ Value::Map(_)) => Self::Object(object),
            ToolInput::Json(other) => Self::Value(other),
            ToolInput::Text(text) => Self::Text(text),
        }
    }

    /// Whether they had to be put into an object.
    pub(super) fn is_wrapped(self) -> bool {
        matches!(self, Self::Value(_) | Self::Text(_))
    }
}

impl serde::Serialize for Arguments<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.collect_map::<&str, &str, _>([]),
            Self::Object(value) => CleanJson(value).serialize(serializer),
            Self::Value(value) => serializer.collect_map([(INPUT_VALUE, CleanJson(value))]),
            Self::Text(text) => serializer.collect_map([(INPUT_TEXT, super::text::clean(text))]),
        }
    }
}

impl<'a> Conversation<'a> {
    pub(super) fn say(&mut self, code: &'static str, source: &ProjectedMessage, reason: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(code, source.source_message_ids.iter().copied(), reason));
    }

    pub(super) fn say_of_call(&mut self, code: &'static str, source: &ProjectedMessage, call: &str, reason: &str) {
        let item = Diagnostic::new(code, source.source_message_ids.iter().copied(), reason);
        self.diagnostics.push(item.about_call(call));
    }

    /// The system prompt, as one text.
    pub(super) fn system_prompt(&self) -> Option<String> {
        (!self.system.is_empty()).then(|| self.system.join("\n\n"))
    }
}

impl<'a> UserTurn<'a> {
    /// All that the user says in this turn.
    pub(super) fn said(&self) -> impl Iterator<Item = &Said<'a>> {
        self.messages.iter().flat_map(|message| &message.said)
    }
}

impl<'a> AssistantTurn<'a> {
    /// Puts what was said next behind it.
    pub(super) fn append(&mut self, said: Vec<Said<'a>>, gaps: &[usize]) {
        let len = self.said.len();
        self.gaps.extend(gaps.iter().map(|gap| len + gap));
        self.said.extend(said);
    }

    /// Keeps the pieces of which this is true; each is handed in with its place.
    pub(super) fn retain(&mut self, mut stays: impl FnMut(usize, &Said<'a>) -> bool) {
        let mut places = Vec::with_capacity(self.said.len() + 1);
        let mut gaps = Vec::new();
        let mut place = 0;
        let mut kept = 0;
        self.said.retain(|said| {
            places.push(kept);
            let stays = stays(place, said);
            if !stays {
                gaps.push(kept);
            }
            place += 1;
            kept += usize::from(stays);
            stays
        });
        places.push(kept);
        gaps.extend(self.gaps.iter().filter_map(|gap| places.get(*gap)));
        gaps.sort_unstable();
        self.gaps = gaps;
    }

    /// Takes the last piece off.
    pub(super) fn cut(&mut self) -> Option<Said<'a>> {
        let said = self.said.pop();
        let len = self.said.len();
        self.gaps.truncate(self.gaps.partition_point(|gap| *gap < len));
        self.gaps.push(len);
        said
    }

    /// Its calls, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.said.iter().filter_map(|said| match &said.piece {
            Piece::Call(call) => Some(&**call),
            _ => None,
        })
    }

    /// Whether it ends in reasoning.
    pub(super) fn ends_in_reasoning(&self) -> bool {
        matches!(self.said.last(), Some(Said { piece: Piece::Reasoning(_), .. }))
    }
}

/// The text of a piece of an output; of any but a text its JSON.
pub(super) fn text_of(piece: Piece<'_>) -> Cow<'_, str> {
    match piece {
        Piece::Text(text) => text,
        Piece::Json(value) | Piece::Opaque(value) => Cow::Owned(json_text(&CleanJson(value))),
        Piece::Link { url, .. } => Cow::Borrowed(url),
        // An output holds no other; nothing is made up for it.
        Piece::Inline { .. } | Piece::Reasoning(_) | Piece::Call(_) => Cow::Borrowed(NO_OUTPUT),
    }
}

/// The texts of an output as one, a line break between two.
pub(super) fn joined<'a>(mut pieces: Vec<Piece<'a>>) -> Cow<'a, str> {
    match pieces.len() {
        1 => pieces.pop().map(text_of).unwrap_or_default(),
        _ => Cow::Owned(pieces.into_iter().map(text_of).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_piece_is_taken_out_there_is_a_gap_and_the_others_stay_where_they_were() {
        let said = |text: &'static str| Said { piece: Piece::Text(Cow::Borrowed(text)), part: None, source: None };
        let pieces = || ["a", "b", "c", "d"].map(said).into();
        let mut turn = AssistantTurn { said: pieces(), message_id: None, gaps: vec![1, 4] };
        turn.retain(|place, _| place != 2);
        assert_eq!((turn.said.len(), turn.gaps.as_slice()), (3, [1, 2, 3].as_slice()));
        let mut turn = AssistantTurn { said: pieces(), message_id: None, gaps: vec![3] };
        turn.retain(|place, _| place > 1);
        assert_eq!((turn.said.len(), turn.gaps.as_slice()), (2, [0, 0, 1].as_slice()));
    }
}
