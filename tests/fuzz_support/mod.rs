//! What the fuzz targets hold true, one function for each target, over any bytes. `fuzz/` runs them on what a fuzzer
//! makes up, `tests/fuzz_replay.rs` on the seeds and on what was found once.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each target takes what it needs")]

#[path = "../common/even_clock.rs"]
mod even_clock;
mod event_decode;
mod frame;
mod input;
mod lines;
mod memory;
mod mutate;
mod open_log;
mod operations;
#[path = "../common/random.rs"]
mod random;
mod reference;
mod reference_survey;
mod salvage;
mod seal;
mod two_readers;

pub use event_decode::event_decode;
pub use frame::frame;
pub use lines::{claude_lines, codex_lines, neutral_lines, pi_lines};
pub use memory::{PATH, disk_with};
pub use mutate::change_input;
pub use open_log::open_log;
pub use operations::operations;
pub use random::Random;
pub use salvage::salvage;
pub use seal::{Seal, frames_of, seal, seal_frame};
pub use two_readers::{compare, two_readers};

use seslog::projection::{Options, View, project};
use seslog::session::{Entry, State};

/// Every view of a state can be made, and so can the body that a provider is sent.
pub fn look_at(state: &State) {
    let model = project(state, View::Model, &Options::default());
    let _ = project(state, View::Transcript, &Options::default());
    let options = seslog::wire::Options::default();
    let payload = seslog::wire::payload(&model.messages, seslog::wire::Provider::AiSdk, &options);
    let json = payload.to_json();
    assert!(seslog::event::Value::parse_json(&json).is_ok(), "the payload is no JSON: {json}");
}

/// Whole states are compared; of two that differ the first difference is shown.
pub fn same(left: &State, right: &State, what: &str) {
    if left == right {
        return;
    }
    let show = |state: &State| state.entries().iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>();
    let (left_shown, right_shown) = (show(left), show(right));
    assert_eq!(left_shown.len(), right_shown.len(), "{what}: number of entries");
    for (left, right) in left_shown.iter().zip(&right_shown) {
        assert_eq!(left, right, "{what}: an entry");
    }
    let rest = |state: &State| {
        let ids = |entries: Vec<&Entry>| entries.iter().map(|entry| entry.event.id).collect::<Vec<_>>();
        let leaf = state.leaf().map(|entry| entry.event.id);
        (leaf, ids(state.chain()), state.is_complete(), state.meta().clone(), state.last_id())
    };
    assert_eq!(rest(left), rest(right), "{what}");
    panic!("{what}: the states differ in what is not shown");
}
