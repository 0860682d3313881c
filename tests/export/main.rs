//! Sessions written out: lossless lines that become the same session again, and pages that hostile text can't leave.

#[path = "../cli_support/mod.rs"]
mod cli_support;
#[path = "../common/history.rs"]
mod history;
#[expect(dead_code, unreachable_pub, reason = "other tests use the rest")]
#[path = "../common/picture.rs"]
mod picture;

mod browser;
mod command;
mod lines;
mod pages;
