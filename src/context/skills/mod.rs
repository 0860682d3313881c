//! The skills of a call: which of them the model reads in full, and which it is told of.
//!
//! The shape is that of [`tools`](super::tools): an engine knows all skills and the rule by which they are on, a run has a
//! set, and each step makes the set of one call from it, from what earlier steps activated, and from what it changes
//! itself. A skill that is on is either active, and the model reads its text, or it is only listed.
//!
//! ```
//! use seslog::context::skills::{Skill, SkillActivation, SkillDelta, SkillEngine};
//! use seslog::context::tools::{Enable, ToolSource};
//!
//! let review = Skill { content: "Look for errors first.".into(), ..Skill::new("review", "Review") };
//! let rule = Enable { rules: [("review".to_owned(), true)].into(), ..Enable::default() };
//! let engine = SkillEngine::new([review], rule);
//!
//! let run = engine.operation::<&str>([]);
//! assert!(!run.skills()[0].is_active);
//!
//! let mention = SkillActivation::new("review", ToolSource::Mention).with_content("Only look at names.");
//! let call = engine.step(&run, &[], &SkillDelta { activate: vec![mention], ..SkillDelta::default() });
//! assert_eq!(call.skills()[0].text(), Some("Only look at names."));
//! ```

mod config;
mod engine;
mod set;
mod step;

pub use config::SkillConfig;
pub use engine::{SkillEngine, SkillError};
pub use set::{Skill, SkillSet, SkillState};
pub use step::{SkillActivation, SkillDelta};
