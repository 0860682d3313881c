//! Projections: pure functions from the state of a session to what somebody looks at.
//!
//! [`project`] gives the messages of one [`View`] and, beside them, [`Diagnostics`] that say what was left out,
//! shortened or put in, each with a reason. The same state and options give the same messages, always.
//!
//! - **[`View::Model`]**: what the model is to read. It begins at the boundary that counts and depends on nothing
//!   that is counted from the end, so that a longer session begins with the same messages as a shorter one.
//! - **[`View::Transcript`]**: the whole story of the current chain, for a person.
//!
//! This floor decides *what* is seen. How a provider wants it written is the business of [`crate::wire`].

mod cards;
mod decide;
mod diagnostics;
mod document;
mod flatten;
mod message;
mod model;
mod options;
mod owner;
mod results;
mod shared;
mod spine;
mod text;
mod transcript;

pub use diagnostics::{Diagnostic, Diagnostics, code};
pub use flatten::{
    BRANCH_SUMMARY_PREFIX, BRANCH_SUMMARY_SUFFIX, COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX, bash_as_text,
};
pub use message::{Flags, ProjectedMessage};
pub use options::Options;
pub(crate) use owner::{Owner, is_same_model};
pub use results::{CLEARED_RESULT, left_out_note};
pub use shared::Shared;
pub use text::{char_count, soft_cut};

use serde::Serialize;

use crate::session::State;

/// For whom a session is projected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum View {
    /// What the model reads.
    Model,
    /// What a person reads.
    Transcript,
}

impl View {
    /// Whether a model reads it, so that nothing in it is for a screen only.
    #[must_use]
    pub fn is_for_a_model(self) -> bool {
        match self {
            Self::Model => true,
            Self::Transcript => false,
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

/// Projects the current chain of a session.
pub fn project(state: &State, view: View, options: &Options) -> Projection {
    match view {
        View::Model => model::project(state, options),
        View::Transcript => transcript::project(state),
    }
}
