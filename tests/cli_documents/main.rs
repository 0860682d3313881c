//! What every command gives: its JSON against the schema and the page, its text against what it was, its exit codes.

#![cfg(all(feature = "cli", feature = "search"))]

mod cases;
#[path = "../cli_support/mod.rs"]
mod cli_support;
mod documents;
mod exits;
mod fixture;
mod page;
mod settled;
mod snapshots;
