//! Tokens: how many a message, a window and its tools cost, and where the number comes from.
//!
//! A [`TokenCounter`] counts a text; [`Estimate`] is the default one. [`message_tokens`] says what a message costs, by what it comes from; [`message_costs`]
//! puts what a provider reported of its answers in the place of counting them; [`window_tokens`] sums up the window that
//! will be sent, or takes the provider's own number of it and counts only what has come since. [`usage_total`] is what
//! a whole session was charged for.
//!
//! [`needs_compaction`] says whether that is too much, and [`compaction_plan`] what to do then, for
//! [`Session::compact`](crate::session::Session::compact). [`CountTokens`] does the first at the end of a pipeline.
//!
//! What is counted is a little too low most of the time, and what is reported is right. So an [`Account`] holds both
//! apart: its raw total is shown, and its adjusted one decides.
//!
//! # Example
//!
//! ```
//! use seslog::context::tokens::{Estimate, Keep, Limits, compaction_plan, needs_compaction, prompt_tokens};
//! use seslog::context::{Config, Pipeline};
//! use seslog::event::{Message, Trigger};
//! use seslog::log::Durability;
//! use seslog::projection::{Options, View, project};
//! use seslog::session::{SessionOptions, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let session = Store::at(dir.path(), SessionOptions::default()).create()?;
//! for page in 1..=40 {
//!     let _ = session.append(Message::user(format!("Page {page}: {}", "the sea was calm. ".repeat(20))), Durability::Os)?;
//! }
//! let limits = Limits::new(8_000, 0.5, Limits::DRIFT)?;
//! let state = session.state()?;
//! let view = project(&state, View::Model, &Options::default());
//! let prompt = Pipeline::standard(&Config::default()).run(&view.messages)?;
//!
//! let verdict = needs_compaction(&prompt_tokens(&state, &prompt, &Estimate), &limits);
//! assert!(verdict.needed && verdict.adjusted > verdict.raw);
//! // That there is nothing to sum up is no failure: the session goes on as it is.
//! if verdict.needed && let Ok(mut plan) = compaction_plan(&view.messages, &Estimate, Keep::Tokens(1_000)) {
//!     plan.tokens_before = verdict.raw;
//!     // A model sums up the messages of `plan.summarize`.
//!     let _ = session.compact(plan.compaction("Forty pages about a calm sea.", Trigger::Auto), Durability::Sync)?;
//! }
//! let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
//! assert!(view.messages.len() < 20);
//! # Ok(())
//! # }
//! ```

mod account;
mod compaction;
mod counter;
mod estimate;
mod media;
mod sources;
mod step;
mod threshold;
#[cfg(feature = "tiktoken")]
mod tiktoken;
mod usage;
mod weights;

pub use account::{Account, Cost, Source, message_costs, prompt_tokens, window_tokens};
pub use compaction::{CompactionPlan, Keep, NothingToCompact, compaction_plan};
pub use counter::TokenCounter;
pub use estimate::Estimate;
pub use media::{PAGE_TOKENS, PICTURE_TOKENS_MAX, file_tokens, picture_tokens};
pub use sources::{BySource, message_tokens, tool_tokens};
pub use step::{CountTokens, Counted, NAME};
pub use threshold::{Limits, LimitsError, Verdict, needs_compaction};
#[cfg(feature = "tiktoken")]
pub use tiktoken::{Tiktoken, Vocabulary};
pub use usage::{Reported, usage_total, window_of_usage};
