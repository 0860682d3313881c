//! A set of tools: what is on, and why the rest is not.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::enable::Level;
use super::manifest::Manifest;
use super::name;
use super::source::ToolSource;
use crate::context::Tool;

/// The tools of a run or of one call. It never changes once it is made.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ToolSet {
    enabled: Vec<EnabledTool>,
    places: BTreeMap<String, usize>,
    filtered: Vec<Filtered>,
    filtered_places: BTreeMap<String, usize>,
    tools: Vec<Tool>,
    calls_no_functions: bool,
    all_off: bool,
}

/// A manifest whose tools are offered.
#[derive(Debug, Clone, PartialEq)]
pub struct EnabledTool {
    /// The manifest.
    pub manifest: Arc<Manifest>,
    /// Where it comes from, where that is known. What was known first stays.
    pub source: Option<ToolSource>,
}

/// A tool that was asked for and is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Filtered {
    /// What was asked for.
    pub id: String,
    /// Why it is not offered.
    #[serde(flatten)]
    pub why: WhyNot,
}

/// Why a tool is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WhyNot {
    /// There is no manifest of that identifier.
    NotFound,
    /// The rule says so.
    Disabled {
        /// What decided.
        by: Level,
    },
    /// The model calls no functions at all.
    Incompatible,
    /// Its manifest is wrong.
    Invalid {
        /// What is wrong with it.
        message: String,
    },
    /// Its manifest could not be loaded.
    LoadFailed {
        /// What the loader said.
        message: String,
    },
    /// This step turned it off.
    Deactivated,
}

impl EnabledTool {
    /// The names that its APIs are called by, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let Manifest { identifier, kind, apis, .. } = &*self.manifest;
        apis.iter().map(|api| name::encode(identifier, &api.name, kind.as_deref()))
    }
}

impl ToolSet {
    pub(super) fn empty(model_calls_functions: bool) -> Self {
        Self { calls_no_functions: !model_calls_functions, ..Self::default() }
    }

    /// The tools as they are declared to the model: one for each API, in order.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The manifests whose tools are offered, in order.
    #[must_use]
    pub fn enabled(&self) -> &[EnabledTool] {
        &self.enabled
    }

    /// The manifest of this identifier, if its tools are offered.
    #[must_use]
    pub fn get(&self, identifier: &str) -> Option<&EnabledTool> {
        self.enabled.get(*self.places.get(identifier)?)
    }

    /// What was asked for and is not offered, each once, with its reason.
    #[must_use]
    pub fn filtered(&self) -> &[Filtered] {
        &self.filtered
    }

    /// Whether the model calls functions; if not, no step can turn a tool on.
    #[must_use]
    pub fn model_calls_functions(&self) -> bool {
        !self.calls_no_functions
    }

    /// Why the call has no tools at all, not even those that an application declares itself; none: it may have some.
    #[must_use]
    pub fn why_none(&self) -> Option<WhyNot> {
        match (self.calls_no_functions, self.all_off) {
            (true, _) => Some(WhyNot::Incompatible),
            (false, true) => Some(WhyNot::Deactivated),
            (false, false) => None,
        }
    }

    /// Says that a step turned off all tools.
    pub(super) fn turn_all_off(&mut self) {
        self.all_off = true;
    }

    pub(super) fn is_enabled(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    pub(super) fn is_filtered(&self, id: &str) -> bool {
        self.filtered_places.contains_key(id)
    }

    /// Turns one on that is not on yet; its own source counts before that of who turns it on.
    pub(super) fn enable(&mut self, manifest: &Arc<Manifest>, source: Option<ToolSource>) {
        let source = manifest.source.clone().or(source);
        self.places.insert(manifest.identifier.clone(), self.enabled.len());
        self.tools.extend(manifest.apis.iter().map(|api| Tool {
            name: name::encode(&manifest.identifier, &api.name, manifest.kind.as_deref()),
            description: api.description.clone(),
            schema: api.schema(),
        }));
        self.enabled.push(EnabledTool { manifest: manifest.clone(), source });
    }

    /// Says where one that is on comes from, unless that is known.
    pub(super) fn learn_source(&mut self, id: &str, source: Option<&ToolSource>) {
        if let Some(tool) = self.places.get(id).and_then(|place| self.enabled.get_mut(*place)) {
            tool.source = tool.source.take().or_else(|| source.cloned());
        }
    }

    /// Says why one is not on; what is said last counts.
    pub(super) fn filter(&mut self, id: &str, why: WhyNot) {
        match self.filtered_places.get(id) {
            Some(place) => self.filtered[*place].why = why,
            None => {
                self.filtered_places.insert(id.to_owned(), self.filtered.len());
                self.filtered.push(Filtered { id: id.to_owned(), why });
            }
        }
    }
}
