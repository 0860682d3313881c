//! The catalogue of a store is only a cache: a list tells what the sessions hold, whatever the catalogue says.
#![allow(unreachable_pub, dead_code, reason = "helpers are shared by several tests")]

#[path = "../common/even_clock.rs"]
mod even_clock;
#[path = "../common/random.rs"]
mod random;

mod counts;
mod damage;
mod histories;
mod hooked;
mod meanwhile;
mod newest;
mod real;
mod stale;
mod world;
