//! Power cuts: every state that the disk may be in after one, at every moment of a set of small runs, on every file system
//! of the simulated disk's table (for sessions and failing calls on its last row, which holds the states of all others, unless
//! `SESLOG_DEEP` is set); and after another one in the recovery from it, and in the recovery from that.
//!
//! In each state the invariants are checked: what was acknowledged is there, in order; what is there is an unbroken beginning of
//! what was appended, batches whole; nothing else; a crash is never taken for damage; recovery changes nothing that was
//! there, names every byte that it steps over, and finds the same when it is itself cut off; and what is appended afterwards
//! survives the next cut.
//!
//! An ordinary run goes through some hundred thousand states, one or two more cuts deep. `SESLOG_DEEP=1 cargo test --test crash` goes
//! one cut deeper and combines more sectors, `SESLOG_DEEP=2` two: millions of states.
//!
//! `every_call` lets each call to the operating system fail instead, once with each error.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once")]

mod check;
#[path = "../common/even_clock.rs"]
mod even_clock;
mod every_call;
mod log_runs;
mod session_calls;
mod session_check;
mod session_runs;
mod zeroed_runs;

use std::io::Write as _;

use seslog::sim::Count;

/// So many cuts deeper than in an ordinary run.
pub fn deep() -> usize {
    std::env::var("SESLOG_DEEP").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Says how much was gone through, past the test's captured output.
pub fn say(what: &str, count: Count) {
    assert!(count.distinct > 20 && count.points > 20, "{what}: hardly anything was gone through: {count:?}");
    let bounded = match count.bounded {
        0 => String::new(),
        bounded => format!(", at {bounded} moments not in every combination"),
    };
    let Count { points, states, distinct, .. } = count;
    let _ = writeln!(
        std::io::stderr(),
        "{what}: {distinct} different states of {states}, after cuts at {points} moments{bounded}"
    );
}

/// Says how many runs with a fault there were.
pub fn say_faults(what: &str, runs: u64) {
    assert!(runs > 50, "{what}: hardly anything was tried: {runs}");
    let _ = writeln!(std::io::stderr(), "{what}: {runs} runs with a fault each");
}
