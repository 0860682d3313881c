//! Tokens: how many a message, a window and its tools cost, and where the number comes from.
//!
//! A [`TokenCounter`] counts a text; [`Estimate`] is the default one. [`message_tokens`] says what a message costs, by what it comes from; [`message_costs`]
//! puts what a provider reported of its answers in the place of counting them; [`window_tokens`] sums up the window that
//! will be sent, or takes the provider's own number of it and counts only what has come since. [`usage_total`] is what
//! a whole session was charged for.
//!
//! [`needs_compaction`] says whether that is too much, and [`compaction_plan`] what to do then, for
//! [`Session::compact`](crate::session::Session::compact).
//!
//! What is counted is a little too low most of the time, and what is reported is right. So an [`Account`] holds both
//! apart: its raw total is shown, and its adjusted one decides.

mod account;
mod compaction;
mod counter;
mod estimate;
mod media;
mod sources;
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
pub use threshold::{Limits, LimitsError, Verdict, needs_compaction};
#[cfg(feature = "tiktoken")]
pub use tiktoken::{Tiktoken, Vocabulary};
pub use usage::{Reported, usage_total, window_of_usage};
