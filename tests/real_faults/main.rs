//! Real disks that are full, real limits and file systems that are read-only. What the errno tests say of single calls,
//! these say of the operating system.
//!
//! The disks are small ones in memory, mounted in a namespace of its own that ends with the test's process: nothing is left
//! on the machine. Where nobody may do so, a line says what was left out.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

/// Says a line past the test's captured output.
macro_rules! say {
    ($($said:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($said)*);
    }};
}
pub(crate) use say;

mod full;
#[cfg(feature = "cli")]
mod limit;
mod read_only;
mod small_disk;

#[cfg(feature = "cli")]
#[path = "../cli_support/mod.rs"]
mod cli_support;
