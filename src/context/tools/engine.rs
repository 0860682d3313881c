//! From the ids that a run asks for to its tools.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;

use super::catalogue::Catalogue;
use super::enable::Enable;
use super::manifest::Manifest;
use super::name::Names;
use super::set::{ToolSet, WhyNot};
use crate::context::Tool;

/// Which tools there are, which of them are always asked for, and which are on.
#[derive(Debug, Clone, Default)]
pub struct ToolEngine {
    pub(super) catalogue: Catalogue,
    pub(super) enable: Enable,
    defaults: Vec<String>,
}

/// What a run asks for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Ask {
    /// The tools that it wants, by identifier.
    pub ids: Vec<String>,
    /// Those of them that were activated by name, so that they may bypass the rule.
    pub explicit: BTreeSet<String>,
    /// Only what is asked for, without the defaults.
    pub skip_defaults: bool,
    /// Defaults that are left out, unless they are asked for.
    pub exclude_defaults: BTreeSet<String>,
    /// Whether the model can call functions. Default true; if not, it gets no tools and nothing else is looked at.
    pub model_calls_functions: bool,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            explicit: BTreeSet::new(),
            skip_defaults: false,
            exclude_defaults: BTreeSet::new(),
            model_calls_functions: true,
        }
    }
}

impl Ask {
    /// Asks for these tools.
    #[must_use]
    pub fn of<I: Into<String>>(ids: impl IntoIterator<Item = I>) -> Self {
        Self { ids: ids.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

impl ToolEngine {
    /// An engine over these manifests, with this rule and no defaults.
    #[must_use]
    pub fn new(catalogue: Catalogue, enable: Enable) -> Self {
        Self { catalogue, enable, defaults: Vec::new() }
    }

    /// The same with tools that every run asks for, behind its own, unless it says otherwise.
    #[must_use]
    pub fn with_defaults<I: Into<String>>(mut self, ids: impl IntoIterator<Item = I>) -> Self {
        self.defaults = ids.into_iter().map(Into::into).collect();
        self
    }

    /// The manifests that it knows.
    #[must_use]
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// The tools of a run: what it asks for and the defaults, each once, in that order; each on, or filtered with a reason.
    pub fn operation(&self, ask: &Ask) -> ToolSet {
        let mut set = ToolSet::empty(ask.model_calls_functions);
        let defaults = self.defaults.iter().filter(|id| !ask.skip_defaults && !ask.exclude_defaults.contains(*id));
        for id in ask.ids.iter().chain(defaults) {
            if set.is_enabled(id) || set.is_filtered(id) {
                continue;
            }
            match self.look_up(ask, id) {
                Ok(manifest) => set.enable(manifest, None),
                Err(why) => set.filter(id, why),
            }
        }
        set
    }

    fn look_up(&self, ask: &Ask, id: &str) -> Result<&Arc<Manifest>, WhyNot> {
        if !ask.model_calls_functions {
            return Err(WhyNot::Incompatible);
        }
        let found = self.catalogue.find(id).map_err(|error| WhyNot::Invalid { message: error.to_string() })?;
        let manifest = found.ok_or(WhyNot::NotFound)?;
        match self.enable.verdict(id, ask.explicit.contains(id)) {
            verdict if verdict.is_on => Ok(manifest),
            verdict => Err(WhyNot::Disabled { by: verdict.by }),
        }
    }

    /// What the model may activate: known, not offered in this set, and on once it is activated.
    pub fn activatable<'e>(&'e self, set: &'e ToolSet) -> impl Iterator<Item = &'e Arc<Manifest>> {
        let may = |id: &str| set.model_calls_functions() && !set.is_enabled(id) && self.enable.verdict(id, true).is_on;
        self.catalogue.iter().filter(move |manifest| may(&manifest.identifier))
    }

    /// What the names of a model's calls mean, where these tools were offered to it: the set's, or all of a
    /// [`Prompt`](crate::context::Prompt).
    #[must_use]
    pub fn names(&self, set: &ToolSet, offered: &[Tool]) -> Names {
        let on = set.enabled().iter().map(|tool| &*tool.manifest);
        let names = Names::new(on, offered.iter().map(|tool| tool.name.as_str()));
        names.with_known(self.catalogue.iter().map(|manifest| &**manifest))
    }
}
