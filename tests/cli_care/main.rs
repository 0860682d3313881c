//! What the command line does where something is wrong, or could go wrong: damage, doubles, deletions, slips.

#![cfg(feature = "cli")]

#[path = "../cli_support/mod.rs"]
mod cli_support;

mod counts;
mod doctor;
#[cfg(feature = "search")]
mod filters;
mod late;
mod leaf;
mod lost;
mod mend;
mod no_threads;
mod others;
mod slips;
