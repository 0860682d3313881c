//! Whether a tool, or a skill, is on: four levels, and off where none of them decides.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What a platform knows of what runs on it, such as that a tool needs a desktop.
pub trait PlatformFilter: Debug + Send + Sync {
    /// Whether it is on; none: the platform does not care.
    fn is_on(&self, id: &str) -> Option<bool>;
}

/// The rule by which tools and skills are on or off. The default turns all off.
///
/// 1. What was activated explicitly is on, if that may bypass the rest.
/// 2. Else what the platform says.
/// 3. Else what the rules say.
/// 4. Else it is off.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Enable {
    /// What a person, the model or the runtime activates by name is on, whatever platform and rules say. Default false.
    pub explicit_may_bypass: bool,
    /// The platform; none: it does not care.
    #[serde(skip)]
    pub platform: Option<Arc<dyn PlatformFilter>>,
    /// On or off, by identifier.
    pub rules: BTreeMap<String, bool>,
}

/// What the rule says of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// It is on.
    pub is_on: bool,
    /// What decided.
    pub by: Level,
}

/// A level of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// It was activated explicitly.
    Explicit,
    /// The platform.
    Platform,
    /// The rules.
    Rules,
    /// Nothing: closed by default.
    Default,
}

impl Enable {
    /// Whether this one is on; `is_explicit`: it was activated by name, not merely asked for.
    #[must_use]
    pub fn verdict(&self, id: &str, is_explicit: bool) -> Verdict {
        if is_explicit && self.explicit_may_bypass {
            return Verdict { is_on: true, by: Level::Explicit };
        }
        if let Some(is_on) = self.platform.as_ref().and_then(|platform| platform.is_on(id)) {
            return Verdict { is_on, by: Level::Platform };
        }
        match self.rules.get(id) {
            Some(&is_on) => Verdict { is_on, by: Level::Rules },
            None => Verdict { is_on: false, by: Level::Default },
        }
    }
}
