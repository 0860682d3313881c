//! Projections: pure functions from the state of a session to what somebody looks at.
//!
//! [`project`] gives the messages of one [`View`] and, beside them, [`Diagnostics`] that say what was left out,
//! shortened or put in, each with a reason. The same state and options give the same messages, always.
//!
//! - **[`View::Model`]**: what the model is to read. It begins at the boundary that counts and depends on nothing
//!   that is counted from the end, so that a longer session begins with the same messages as a shorter one.
//! - **[`View::Compact`]**: the same for a model that is to sum it up, without pictures and files.
//! - **[`View::Transcript`]**: the whole story of the current chain, for a person.
//! - **[`View::Ui`]**: the transcript for a screen, in messages of one part each, with ids that no two of them share;
//!   what belongs to a call stands behind it.
//! - **[`View::Export`]**: the transcript for others, without the runtime's noise and what the caller's rules take out.
//! - **[`View::Debug`]**: every event of the file, each with what becomes of it in the other views, and why.
//!
//! [`explain`] says the same of one event, in a form for programs. [`Projector`] keeps a view up to date while its session
//! goes on.
//!
//! # Which state
//!
//! A view shows what its state holds, and an open session holds its window only: what the boundary that counts left out
//! is gone from memory once it is there. That is all that the model's views need. For a person and for others hand in
//! the whole story; else they see the window only, and transcript, ui and export say so
//! ([`code::STORY_BEGINS_AT_BOUNDARY`]):
//!
//! | view | of one session | with the part of the session that it was forked from |
//! | --- | --- | --- |
//! | model, compact | [`Session::with_state`](crate::session::Session::with_state), [`SessionReader::state`](crate::session::SessionReader::state) | the same; a fork takes its window along |
//! | transcript, ui, export, debug; [`explain`] | [`Session::whole_state`](crate::session::Session::whole_state), [`SessionReader::whole_state`](crate::session::SessionReader::whole_state) | [`Store::history`](crate::session::Store::history) |
//! | a transcript of any length | [`SessionReader::story`](crate::session::SessionReader::story) into [`TranscriptStream`] | [`Store::story`](crate::session::Store::story) into the same |
//!
//! [`State::is_complete`] tells which of the two a state is; [`State::at_leaf`] is the state on another branch.
//!
//! # Example
//!
//! ```
//! use seslog::event::{Message, Part, Value};
//! use seslog::log::Durability;
//! use seslog::projection::{Literals, Options, Projector, View, project};
//! use seslog::session::{Compaction, SessionOptions, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let session = Store::at(dir.path(), SessionOptions::default()).create()?;
//! let _ = session.append(Message::user("My key is s3cret. How long is notes.txt?"), Durability::Sync)?;
//! let call = Part::tool_call("call_1", "run", Value::from([("cmd", "wc -l notes.txt".into())]));
//! let _ = session.append(Message::assistant_calls(vec![Part::text("I look."), call]), Durability::Sync)?;
//!
//! // What the model reads, kept up to date.
//! let mut model = session.with_state(|state| Projector::new(state, View::Model, Options::default()))?;
//! let _ = session.append(Message::tool_result("call_1", "12 notes.txt", false), Durability::Sync)?;
//! let update = session.with_state(|state| model.update(state))?;
//! assert_eq!(update.first_changed, None); // all that a provider has read of it still holds
//! assert_eq!(model.messages().len(), 3);
//!
//! let _ = session.compact(Compaction::new("notes.txt has 12 lines."), Durability::Sync)?;
//! let update = session.with_state(|state| model.update(state))?;
//! assert_eq!(update.first_changed, Some(0));
//! assert_eq!(model.messages().len(), 1); // the summary
//!
//! // What others may have, of the whole story.
//! let mut options = Options::default();
//! options.export.rules.push(Literals::new(["s3cret"]));
//! let export = project(&session.whole_state()?, View::Export, &options);
//! assert_eq!(export.messages[0].content[0].as_text(), Some("My key is [redacted]. How long is notes.txt?"));
//! assert_eq!(export.messages.len(), 5); // with the boundary and its summary
//!
//! // What a screen shows: text and call are messages of their own.
//! let ui = project(&session.whole_state()?, View::Ui, &Options::default());
//! assert_eq!(ui.messages.len(), 6);
//! # Ok(())
//! # }
//! ```
//!
//! This floor decides *what* is seen. How a provider wants it written is the business of [`crate::wire`].

mod calls;
mod cards;
mod debug;
mod decide;
mod degrade;
mod diagnostics;
mod document;
mod explain;
mod export;
mod flatten;
mod message;
mod model;
mod model_build;
mod model_made;
mod model_order;
mod model_tail;
mod oddities;
mod options;
mod owner;
mod projector;
mod redact;
mod redactor;
mod results;
mod shared;
mod standing;
mod text;
mod transcript;
mod transcript_follow;
mod ui;
mod ui_ids;
mod usage;

pub(crate) use cards::lines as card_lines;
pub(crate) use decide::inside_card;
pub(crate) use degrade::{media_note, media_note_of};
pub use diagnostics::{Diagnostic, Diagnostics, code};
pub(crate) use document::to_json as json_of;
pub use explain::{Appearance, Explanation, InView, NoSuchEvent, Origin, Placed, Related, explain};
pub use export::{ExportOptions, Placeholders, Rules};
pub(crate) use flatten::parts as readable_parts;
pub use flatten::{
    BRANCH_SUMMARY_PREFIX, BRANCH_SUMMARY_SUFFIX, COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX, bash_as_text,
    said_in_fields,
};
pub use message::{Flags, ProjectedMessage};
pub use options::Options;
pub(crate) use options::holds_media_type;
pub(crate) use owner::{Owner, is_same_model};
pub use projector::{Projector, Update};
pub use redact::{Literals, REDACTED, Redact};
pub use redactor::Redactor;
pub use results::{CLEARED_RESULT, left_out_note};
pub use shared::Shared;
pub use text::{char_count, soft_cut};
pub(crate) use text::{is_blank, is_white_space};
pub use transcript::TranscriptStream;
pub(crate) use usage::{cached, input_holds_cached};

use serde::Serialize;

use crate::session::State;

/// For whom a session is projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum View {
    /// What the model reads.
    Model,
    /// What a model that sums the session up reads: the model's view with notes in the place of pictures and files.
    Compact,
    /// What a person reads.
    Transcript,
    /// What a screen shows: the transcript, one part a message, what belongs to a call behind it.
    Ui,
    /// What others may have: the transcript without the runtime's noise, redacted by the caller's rules.
    Export,
    /// What a developer looks at: every event, on every branch, with why each other view hides or changes it.
    Debug,
}

impl View {
    /// All views.
    pub const ALL: [Self; 6] = [Self::Transcript, Self::Model, Self::Compact, Self::Ui, Self::Export, Self::Debug];

    /// The view's name, as it stands in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Compact => "compact",
            Self::Transcript => "transcript",
            Self::Ui => "ui",
            Self::Export => "export",
            Self::Debug => "debug",
        }
    }

    /// Whether a model reads it, so that nothing in it is for a screen only.
    #[must_use]
    pub fn is_for_a_model(self) -> bool {
        match self {
            Self::Model | Self::Compact => true,
            Self::Transcript | Self::Ui | Self::Export | Self::Debug => false,
        }
    }
}

/// The messages of a view, in order, and what is to be said about them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[must_use]
pub struct Projection {
    /// The messages.
    pub messages: Vec<ProjectedMessage>,
    /// What was left out, shortened or put in.
    pub diagnostics: Diagnostics,
}

/// Projects the current chain of a session, as far as the state holds it: see [which state](self#which-state) a view
/// wants. The options are about the model's views and the export; the debug view tells what they do.
pub fn project(state: &State, view: View, options: &Options) -> Projection {
    match view {
        View::Model | View::Compact => model::project(state, view, options),
        View::Transcript => transcript::project(state),
        View::Debug => debug::project(state, options),
        View::Export => export::project(state, transcript::project(state), &options.export),
        View::Ui => ui::project(state, transcript::project(state)),
    }
}
