//! Power cuts: every state that the disk may be in after one, at every moment of a set of small runs, on every file system
//! of the simulated disk's table; and after another one in the recovery from it, and in the recovery from that.
//!
//! In each state the invariants are checked: what was acknowledged is there, in order; what is there is an unbroken beginning of
//! what was appended, batches whole; nothing else; a crash is never taken for damage; recovery changes nothing that was
//! there, names every byte that it steps over, and finds the same when it is itself cut off; and what is appended afterwards
//! survives the next cut.
//!
//! An ordinary run goes through some hundred thousand states. `SESLOG_DEEP=1 cargo test --release --test crash` goes
//! through millions: deeper nesting, and more sectors in every combination.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may end at once")]

mod check;
mod log_runs;
mod session_check;
mod session_runs;

use std::io::Write as _;

use seslog::sim::Count;

/// Whether the long run was asked for.
pub fn deep() -> bool {
    std::env::var_os("SESLOG_DEEP").is_some()
}

/// Says how much was gone through, past the test's captured output.
pub fn say(what: &str, count: Count) {
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
