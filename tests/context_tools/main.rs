//! The tools and skills of a call: what is on and why not, names and what they mean, steps of a run, mended arguments.

#[path = "../common/mod.rs"]
mod common;

mod disabled;
mod engine;
mod manifest;
mod names;
mod repair;
mod skills;
mod step;
mod support;
mod texts;
mod whole;
