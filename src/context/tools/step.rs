//! What a step of a run changes about its tools.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use serde::Deserialize;

use super::engine::ToolEngine;
use super::manifest::{Manifest, ManifestError};
use super::set::{ToolSet, WhyNot};
use super::source::ToolSource;
use crate::context::BoxError;

/// In the place of an identifier: all tools.
pub const ALL: &str = "*";

/// A tool is turned on in the middle of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activation {
    /// The manifest's identifier.
    pub id: String,
    /// What turned it on, where that is known.
    #[serde(default)]
    pub source: Option<ToolSource>,
}

/// What one step turns on and off; what it turns off is off, whatever turns it on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StepDelta {
    /// Turned on from this step on: the caller hands them in again, as accumulated, in the steps that follow.
    pub activate: Vec<Activation>,
    /// Turned off in this step, by identifier; [`ALL`]: no tools at all.
    pub deactivate: BTreeSet<String>,
}

/// Fetches manifests that are not in the catalogue, from a database or a market.
///
/// It is asked at each step again: what it has fetched is its own to remember.
pub trait ManifestLoader: Debug + Send + Sync {
    /// The manifest of this identifier; none if there is none.
    ///
    /// # Errors
    /// Whatever keeps it from being fetched. The call goes on without the tool, and the set says why.
    fn load(&self, identifier: &str) -> Result<Option<Manifest>, BoxError>;
}

impl Activation {
    /// Turns this tool on.
    #[must_use]
    pub fn new(id: impl Into<String>, source: ToolSource) -> Self {
        Self { id: id.into(), source: Some(source) }
    }
}

impl StepDelta {
    /// The run has to come to an end: the model gets no tools.
    #[must_use]
    pub fn force_finish() -> Self {
        Self { activate: Vec::new(), deactivate: [ALL.to_owned()].into() }
    }

    /// The same, with one more tool turned on.
    #[must_use]
    pub fn activate(mut self, id: impl Into<String>, source: ToolSource) -> Self {
        self.activate.push(Activation::new(id, source));
        self
    }

    /// The same, with one more tool turned off.
    #[must_use]
    pub fn deactivate(mut self, id: impl Into<String>) -> Self {
        self.deactivate.insert(id.into());
        self
    }

    fn turns_off(&self, id: &str) -> bool {
        self.deactivate.contains(ALL) || self.deactivate.contains(id)
    }
}

impl ToolEngine {
    /// The tools of one call: those of the run, what earlier steps turned on, and what this one turns on, less what it
    /// turns off. An activation counts as explicit in the rule of [`Enable`](super::Enable).
    ///
    /// Tools that join stand behind those that were there, so that a request begins as the one before it.
    pub fn step(
        &self,
        operation: &ToolSet,
        accumulated: &[Activation],
        delta: &StepDelta,
        loader: Option<&dyn ManifestLoader>,
    ) -> ToolSet {
        let mut set = ToolSet::empty(operation.model_calls_functions());
        if delta.deactivate.contains(ALL) {
            set.turn_all_off();
        }
        for tool in operation.enabled() {
            match delta.turns_off(&tool.manifest.identifier) {
                true => set.filter(&tool.manifest.identifier, WhyNot::Deactivated),
                false => set.enable(&tool.manifest, tool.source.clone()),
            }
        }
        let mut tried = BTreeSet::new();
        let mut now_filtered = Vec::new();
        for Activation { id, source } in accumulated.iter().chain(&delta.activate) {
            if set.is_enabled(id) {
                set.learn_source(id, source.as_ref());
            } else if tried.insert(id.as_str()) {
                match self.activated(&set, id, delta, loader) {
                    Ok(manifest) => set.enable(&manifest, source.clone()),
                    Err(why) => now_filtered.push((id.as_str(), why)),
                }
            }
        }
        for filtered in operation.filtered().iter().filter(|filtered| !tried.contains(filtered.id.as_str())) {
            set.filter(&filtered.id, filtered.why.clone());
        }
        now_filtered.into_iter().for_each(|(id, why)| set.filter(id, why));
        set
    }

    fn activated(
        &self,
        set: &ToolSet,
        id: &str,
        delta: &StepDelta,
        loader: Option<&dyn ManifestLoader>,
    ) -> Result<Arc<Manifest>, WhyNot> {
        if !set.model_calls_functions() {
            return Err(WhyNot::Incompatible);
        }
        if delta.turns_off(id) {
            return Err(WhyNot::Deactivated);
        }
        let verdict = self.enable.verdict(id, true);
        if !verdict.is_on {
            return Err(WhyNot::Disabled { by: verdict.by });
        }
        let invalid = |error: &ManifestError| WhyNot::Invalid { message: error.to_string() };
        if let Some(known) = self.catalogue.find(id).map_err(invalid)? {
            return Ok(known.clone());
        }
        let loader = loader.ok_or(WhyNot::NotFound)?;
        let loaded = loader.load(id).map_err(|error| WhyNot::LoadFailed { message: error.to_string() })?;
        let manifest = loaded.ok_or(WhyNot::NotFound)?;
        manifest.check().map_err(|error| invalid(&error))?;
        if manifest.identifier != id {
            let (asked, found) = (id.to_owned(), manifest.identifier);
            return Err(invalid(&ManifestError::OtherIdentifier { asked, found }));
        }
        Ok(Arc::new(manifest))
    }
}
