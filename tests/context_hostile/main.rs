//! Hostile texts, sizes, orders and sessions against prompt assembly: what it promises holds all the same.

#![allow(unreachable_pub, reason = "one test binary uses all of it")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/counting.rs"]
mod counting;
#[path = "../common/faults.rs"]
mod faults;
#[path = "../common/place.rs"]
mod place;
#[path = "../common/random.rs"]
mod random;
#[path = "../wire_rules/mod.rs"]
mod wire_rules;

mod compaction;
mod names;
mod order;
mod pairs;
mod sizes;
mod support;
mod watched;
mod words_of_others;
