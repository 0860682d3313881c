//! A session's transcript as a page for people: Markdown, or HTML in one file.
//!
//! A page takes the messages of the transcript or the export view one by one, so that a story of any length can be
//! written, and holds nothing of them but their ids. Text of a session can't become markup of the page, or act in it.

mod branches;
mod escaped;
mod html;
mod markdown;
#[cfg(feature = "markdown")]
mod rendered;
mod rules;

use std::io;

pub use branches::Branches;
pub use html::Html;
pub use markdown::Markdown;

use rules::Rules;

use super::time::rfc3339_seconds;
use crate::event::{Kind, MediaSource, Part, PartBody, ToolOutput};
use crate::projection::ProjectedMessage;

/// What stands at the top of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageHead {
    /// The session's title, or what else it is to be called.
    pub title: String,
    /// What is known of the session, each a name and a value.
    pub facts: Vec<(String, String)>,
}

impl PageHead {
    /// A page of this title.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), facts: Vec::new() }
    }

    /// With one more fact.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((name.into(), value.into()));
        self
    }
}

/// A page that is being written.
///
/// All methods fail with what the output says, and with nothing else.
pub trait Page {
    /// The next message.
    ///
    /// # Errors
    /// What the output says.
    fn message(&mut self, message: &ProjectedMessage) -> io::Result<()>;

    /// Another branch that left at the message above; its own messages follow, up to [`Page::end_branch`]. It is named by
    /// the first words of `said`, which may be a text of any length, or empty.
    ///
    /// # Errors
    /// What the output says.
    fn begin_branch(&mut self, said: &str) -> io::Result<()>;

    /// Ends what [`Page::begin_branch`] began.
    ///
    /// # Errors
    /// What the output says.
    fn end_branch(&mut self) -> io::Result<()>;

    /// Something about the session that is no message of it.
    ///
    /// # Errors
    /// What the output says.
    fn note(&mut self, text: &str) -> io::Result<()>;

    /// Ends the page and hands it on to the output.
    ///
    /// # Errors
    /// What the output says.
    fn finish(&mut self) -> io::Result<()>;
}

/// The first words of a text, in one line: a name for what has none.
#[must_use]
pub fn first_words(text: &str) -> String {
    const CHARS_MAX: usize = 72;
    let mut name = String::new();
    let mut left = CHARS_MAX;
    for word in text.split_whitespace() {
        let space = usize::from(!name.is_empty());
        // A row of letters without an end is no word.
        let len = word.chars().take(CHARS_MAX + 1).count();
        if len + space > left {
            if name.is_empty() {
                name.extend(word.chars().take(left));
            }
            name.push('…');
            break;
        }
        if space > 0 {
            name.push(' ');
        }
        name.push_str(word);
        left -= len + space;
    }
    name
}

fn branch_name(said: &str) -> String {
    match first_words(said) {
        words if words.is_empty() => "another branch from here".to_owned(),
        words => format!("another branch from here: {words}"),
    }
}

/// What a message is, beside who says it: its kind, when, and what views do with it.
fn about(message: &ProjectedMessage) -> Vec<String> {
    let flags = &message.metadata;
    let words = [
        (flags.hidden_from_model, "not for the model"),
        (flags.truncated, "cut"),
        (flags.compacted, "cleared for the model"),
        (flags.synthetic, "put in by the runtime"),
    ];
    let mut about = vec![message.semantic_type().replace('_', " ")];
    about.extend(message.model.clone());
    about.extend(words.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    about
}

fn is_boundary(message: &ProjectedMessage) -> bool {
    matches!(&*message.kind, Kind::CompactBoundary(_))
}

fn time_of(message: &ProjectedMessage) -> String {
    rfc3339_seconds(message.at)
}

/// What a result says, and the parts of it that are pictures and the like.
fn output_of(output: &ToolOutput) -> (String, &[Part]) {
    match output {
        ToolOutput::Text(text) => (text.clone(), &[]),
        ToolOutput::Parts(parts) => (String::new(), parts),
    }
}

/// The type and the base64 text of a picture that a page may hold: one of the types that can do nothing but be looked at.
fn picture(part: &Part) -> Option<(&'static str, &str)> {
    const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    let PartBody::Image(media) = &part.body else { return None };
    let MediaSource::Data(data) = &media.source else { return None };
    let media_type = TYPES.into_iter().find(|known| media.media_type == *known)?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    data.bytes().all(is_base64).then_some((media_type, data))
}
