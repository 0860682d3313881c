//! The usual order, in one place.

use super::config::Config;
use super::inject::Inject;
use super::pipeline::Pipeline;
use super::slots::Slot;
use super::steps::truncate::Truncate;

/// Which step must stand behind which, and why; [`Pipeline::validate`] holds a changed list against it.
pub const MUST_FOLLOW: &[(&str, &str, &str)] = &[];

impl Pipeline {
    /// The usual order of all steps. A step whose configuration is not set does nothing, but is there to be found by its
    /// name.
    #[must_use]
    pub fn standard(config: &Config) -> Self {
        let mut list = Self::new();
        list.set_tools(config.tools.clone());
        list.push(Truncate::new(config.truncate));
        list.push(Inject::new("system_role", Slot::System, config.system_role.clone()));
        list
    }
}
