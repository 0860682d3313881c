//! Truncation by group, and what cards of several agents become for a model.

#[path = "../common/mod.rs"]
mod common;
mod cut;
#[path = "../common/faults.rs"]
mod faults;
mod flatten;
mod random;
mod support;
mod tasks;
mod views;
#[path = "../wire_rules/mod.rs"]
mod wire_rules;
