//! What the account of tokens promises: of messages, of windows, of limits and of compactions.

#![allow(unreachable_pub, reason = "one test binary uses all of it")]

#[path = "../common/place.rs"]
mod place;
#[path = "../common/random.rs"]
mod random;

mod account;
mod estimate;
mod history;
mod limits;
mod plan;
mod reports;

use seslog::context::tokens::TokenCounter;
use seslog::projection::{Options, ProjectedMessage, View, project};
use seslog::session::Session;

/// Counts characters, so that what is counted can be read off a test.
#[derive(Debug)]
struct Chars;

impl TokenCounter for Chars {
    fn count(&self, text: &str) -> u64 {
        text.chars().count() as u64
    }

    fn name(&self) -> &str {
        "characters"
    }
}

/// What the model reads now.
fn view(session: &Session) -> Vec<ProjectedMessage> {
    session.with_state(|state| project(state, View::Model, &Options::default()).messages).unwrap()
}
