//! What a person is shown of a session: all that it says, once, and as the terminal, the page or the question wants it.

#![cfg(feature = "cli")]

#[path = "../cli_support/mod.rs"]
mod cli_support;

mod kinds;
mod pages;
mod slips;
mod times;
