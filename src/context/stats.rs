//! How long each step took, and what it did to the number of messages.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// What a run did, step by step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// The steps that ran, in order; the last one too where it failed or stopped the run.
    pub steps: Vec<StepStats>,
}

/// What one step did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepStats {
    /// Its name.
    pub name: String,
    /// How long it took; in JSON in µs.
    #[serde(rename = "micros", serialize_with = "micros")]
    pub time: Duration,
    /// The messages before it.
    pub messages_before: usize,
    /// The messages behind it.
    pub messages_after: usize,
}

impl Stats {
    /// The step of this name, if it ran.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&StepStats> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// How long all steps took.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.steps.iter().map(|step| step.time).sum()
    }
}

fn micros<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
}
