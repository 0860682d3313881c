//! Truncation by group, and what cards of several agents become for a model.

#[path = "../common/mod.rs"]
mod common;
mod cut;
mod flatten;
mod support;
mod tasks;
mod views;
