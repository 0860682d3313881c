//! Sessions that leave: written as files of other agents, which their formats' rules take, and read in again.

#[path = "../cli_support/mod.rs"]
mod cli_support;
#[path = "../common/history.rs"]
mod history;
#[expect(unreachable_pub, reason = "other tests use it as a module of their own")]
#[path = "../common/wrapped_fs.rs"]
mod wrapped_fs;

mod appended;
mod check;
mod claude_program;
mod comes_back;
mod command;
mod cross;
mod facts;
mod found;
mod kept_whole;
mod names;
mod own;
mod programs;
mod random;
mod readers;
mod refusals;
mod rollouts;
mod shown;
mod world;
