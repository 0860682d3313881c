//! Erasing for good: what was asked to go is in no byte of the new file, everything else is as it was, and at every moment
//! there is one whole file under the session's name.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once")]

mod around;
mod cuts;
#[path = "../common/even_clock.rs"]
mod even_clock;
#[path = "../event_support/mod.rs"]
mod event_support;
mod every_field;
mod histories;
#[path = "../common/history.rs"]
mod history;
mod imports;
mod world;
