//! The tools of one call, as an application configures them in one place.

use serde::Deserialize;

use super::catalogue::Catalogue;
use super::enable::Enable;
use super::engine::{Ask, ToolEngine};
use super::manifest::Manifest;
use super::set::ToolSet;
use super::step::{Activation, StepDelta};

/// The tools of one call: what is known, what is on, what is asked for, and what the steps until now changed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolConfig {
    /// All manifests that the application knows.
    pub manifests: Vec<Manifest>,
    /// Tools that every run asks for, by identifier.
    pub defaults: Vec<String>,
    /// Which are on.
    pub enable: Enable,
    /// What the run asks for.
    pub ask: Ask,
    /// What earlier steps turned on.
    pub accumulated: Vec<Activation>,
    /// What this step changes.
    pub step: StepDelta,
}

impl ToolConfig {
    /// The engine of these manifests.
    #[must_use]
    pub fn engine(&self) -> ToolEngine {
        ToolEngine::new(Catalogue::new(self.manifests.clone()), self.enable.clone())
            .with_defaults(self.defaults.clone())
    }

    /// The tools of the call. Nothing is loaded: the configuration holds all that is known.
    pub fn resolve(&self, engine: &ToolEngine) -> ToolSet {
        engine.step(&engine.operation(&self.ask), &self.accumulated, &self.step, None)
    }
}
