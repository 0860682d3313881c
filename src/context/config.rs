//! What an application configures of its prompts.

use serde::Deserialize;

use super::steps::truncate::TruncateConfig;
use super::tool::Tool;

/// What an application configures of its prompts, with one field for each step of [`Pipeline::standard`]; a step whose
/// field is not set does nothing. Begin with the default and set what differs, or read it from JSON, where the names are
/// camelCase and a name that is not known is an error.
///
/// [`Pipeline::standard`]: super::Pipeline::standard
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Config {
    /// How much of the history is kept.
    pub truncate: TruncateConfig,
    /// Who the model is and what it is to do: the first text of the system slot.
    pub system_role: Option<String>,
    /// Tools that are offered as they are.
    pub tools: Vec<Tool>,
}
