//! Prompt assembly: the model's view of a session and an application's configuration, made into what is sent.
//!
//! A [`Pipeline`] is an ordered list of [`Processor`]s over a [`Context`]. Each has a name and one method; the order is
//! the order of the list and nothing else. [`Pipeline::standard`] writes the usual order in one place, with a reason at
//! each step; a caller puts steps of their own before or after a named one, replaces, removes or moves them.
//!
//! This floor knows no provider's JSON and no file. [`crate::projection`] decided which messages the model may read;
//! here they are cut to length, flattened, and joined with what the application adds; [`crate::wire`] writes the result
//! as a provider wants it.
//!
//! `CONTEXT.md`, beside the crate's `README.md`, has the whole order with its reasons, the [slots] drawn, all of the
//! [configuration](Config), tools and [tokens], six recipes for steps of your own, and a comparison with other engines.
//!
//! # Example
//!
//! ```
//! use seslog::context::{Config, Pipeline};
//! use seslog::event::Message;
//! use seslog::log::Durability;
//! use seslog::projection::{self, View, project};
//! use seslog::session::{SessionOptions, Store};
//! use seslog::wire::{self, Provider, payload};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let session = Store::at(dir.path(), SessionOptions::default()).create()?;
//! let _ = session.append(Message::user("How long is notes.txt?"), Durability::Sync)?;
//! let view = session.with_state(|state| project(state, View::Model, &projection::Options::default()))?;
//!
//! let mut config = Config::default();
//! config.system_role = Some("You help with files.".into());
//! let prompt = Pipeline::standard(&config).run(&view.messages)?;
//!
//! let mut options = wire::Options::for_model("claude-opus-4-8");
//! options.tools = prompt.tools;
//! let body = payload(&prompt.messages, Provider::Anthropic, &options);
//! assert!(body.to_json().contains(r#""system":"You help with files.""#));
//! # Ok(())
//! # }
//! ```

mod agent;
mod config;
mod error;
mod groups;
mod inject;
mod metadata;
mod order;
mod pipeline;
mod processor;
mod raw;
pub mod skills;
pub mod slots;
mod standard;
mod stats;
pub mod steps;
mod tag;
pub mod tokens;
mod tool;
pub mod tools;
mod topics;
mod words;

pub use agent::agent_of;
pub use config::Config;
pub use error::{BoxError, PipelineError, Problem};
pub use groups::{COMPARE_TAG, groups, is_head};
pub use inject::{Inject, SideBySide, Source};
pub use metadata::{Entry, Metadata};
pub use order::{MUST_FOLLOW, MustFollow, SYSTEM_ROLE};
pub use pipeline::{NoSuchStep, Pipeline, Prompt};
pub use processor::{Context, Processor, Stopped, code};
pub use stats::{Stats, StepStats};
pub use tag::{attribute, tagged};
pub use tool::Tool;
pub use topics::{StoreTopics, TopicMessage, TopicReference, TopicSource, topic_references};
