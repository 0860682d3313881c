//! The tools of a call: which of them the model is offered, under which names, and what its calls mean.
//!
//! ```text
//! manifests ──> Catalogue ──┐
//!      which are on: Enable ┴─> ToolEngine
//!                                 │ operation(asked ids)       once a run: merged, checked, each on or off with a reason
//!                                 v
//!                               ToolSet ── step(activations, delta, loader) ──> ToolSet of this call
//!                                                                                 │ tools()    declared to the model
//!                                                                                 │ enabled()  whose instructions it reads
//!                                                                                 v
//!                              a call's name ── Names::decode ──> identifier, api, type, or why not
//!                              its arguments ── repair ─────────> a value, and what was mended
//! ```
//!
//! Off is the rule: a tool that nothing turns on is not offered, and a name that was not offered in this call never
//! resolves, whatever a model guesses.
//!
//! ```
//! use seslog::context::tools::{Ask, Catalogue, Enable, Manifest, ToolEngine};
//!
//! let web: Manifest = serde_json::from_str(
//!     r#"{"identifier": "web", "apis": [{"name": "search", "parameters": {"type": "object"}}]}"#,
//! )?;
//! let rule = Enable { rules: [("web".to_owned(), true)].into(), ..Enable::default() };
//! let engine = ToolEngine::new(Catalogue::new([web]), rule);
//!
//! let set = engine.operation(&Ask::of(["web", "maps"]));
//! assert_eq!(set.tools()[0].name, "web____search");
//! assert_eq!(set.filtered()[0].id, "maps"); // there is no manifest of it
//!
//! let names = engine.names(&set, set.tools());
//! assert_eq!(names.decode("web____search")?.api, "search");
//! assert_eq!(names.decode("search")?.identifier, "web"); // the only one of that name
//! assert!(names.decode("maps____find").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalogue;
mod config;
mod enable;
mod engine;
mod manifest;
mod name;
mod repair;
mod repair_scan;
mod schema;
mod set;
mod source;
mod step;

pub use catalogue::Catalogue;
pub use config::ToolConfig;
pub use enable::{Enable, Level, PlatformFilter, Verdict};
pub use engine::{Ask, ToolEngine};
pub use manifest::{Api, Manifest, ManifestError};
pub(super) use name::api_part;
pub use name::{NameError, Names, SEPARATOR, Target, encode, prefixes};
pub use repair::{Arguments, NotRepaired, Repair, repair};
pub use set::{EnabledTool, Filtered, ToolSet, WhyNot};
pub use source::ToolSource;
pub use step::{ALL, Activation, ManifestLoader, StepDelta};
