//! What can be wrong with a pipeline, and what a failed step says.

use std::error::Error;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::stats::Stats;
use crate::projection::soft_cut;

/// Why a step failed, of any type.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Most characters of a cause in the error's own text; the cause itself is whole.
const SUMMARY_CHARS_MAX: usize = 300;

/// Most causes of causes that are written out.
const CAUSES_MAX: usize = 32;

/// A step failed.
///
/// In JSON: `step`, `message`, `causes` (the texts of the cause, of its cause, and so on, whole), and `stats`.
#[derive(Debug, thiserror::Error)]
#[error("step `{step}` failed: {}", summary(cause.as_ref()))]
pub struct PipelineError {
    /// The step's name.
    pub step: String,
    /// What it said.
    #[source]
    pub cause: BoxError,
    /// The steps until then, the failed one too.
    pub stats: Stats,
}

/// Something that is wrong with a pipeline's list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no step: the messages would go out as they came.
    #[error("the pipeline has no steps")]
    Empty,
    /// A step without a name can be neither found nor timed.
    #[error("the step at place {index} has no name")]
    Unnamed {
        /// Its place, from 0.
        index: usize,
    },
    /// Two steps have one name, so that their times and their places can't be told apart.
    #[error("{count} steps have the name `{name}`; each needs one of its own")]
    Duplicate {
        /// The name.
        name: String,
        /// How many have it.
        count: usize,
    },
    /// A step stands before one that it must follow.
    #[error("step `{step}` stands before `{must_follow}`, which it must follow: {reason}")]
    OutOfOrder {
        /// The step.
        step: &'static str,
        /// The one that must stand before it.
        must_follow: &'static str,
        /// Why.
        reason: &'static str,
    },
}

fn summary(cause: &(dyn Error + Send + Sync)) -> String {
    let text = cause.to_string();
    match soft_cut(&text, SUMMARY_CHARS_MAX) {
        Some((head, left_out)) => format!("{head}... ({left_out} more characters)"),
        None => text,
    }
}

impl Serialize for PipelineError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut causes = Vec::new();
        let mut next: Option<&dyn Error> = Some(self.cause.as_ref());
        while let Some(cause) = next.filter(|_| causes.len() < CAUSES_MAX) {
            causes.push(cause.to_string());
            next = cause.source();
        }
        let mut error = serializer.serialize_struct("PipelineError", 4)?;
        error.serialize_field("step", &self.step)?;
        error.serialize_field("message", &self.to_string())?;
        error.serialize_field("causes", &causes)?;
        error.serialize_field("stats", &self.stats)?;
        error.end()
    }
}
