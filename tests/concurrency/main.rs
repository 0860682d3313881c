//! Several at once: writers, threads, programs and clocks that meet, and what each of them is told.
//!
//! Some tests start this very binary once more as another process; see `child.rs`. What the models of the receipt protocol
//! show for all orders of threads (`src/log/loom_models.rs`), `group.rs` shows for whole logs.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

/// Says a line past the test's captured output.
macro_rules! say {
    ($($said:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($said)*);
    }};
}
pub(crate) use say;

#[path = "../log_support/mod.rs"]
mod log_support;

mod broken_lock;
mod child;
mod clocks;
mod cut_files;
mod ends;
mod group;
mod odd_disk;
mod on_its_way;
mod panics;
#[path = "../common/wrapped_fs.rs"]
#[allow(unreachable_pub, reason = "other tests share it")]
mod wrapped_fs;
mod writers;
