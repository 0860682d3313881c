//! A tool as it is declared to a model.

use serde::Deserialize;

use super::raw;
use crate::event::Value;

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name, any text; it goes out as one that every provider takes.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(deserialize_with = "raw::value")]
    pub schema: Value,
}
