//! Runs the cases of `tests/data/cases` as they are written, against the store on a real disk.
//!
//! A case says what is given (events, damage, steps) and what must hold after it. [`run`] makes the session through
//! the public API ([`build`], [`draft`]), kills and damages it ([`disk`]), does the steps ([`steps`]), which may need another
//! process ([`other`]) or a disk that fails ([`disk_double`]), and then checks each key of what is expected
//! ([`expect`] and what it calls). What can't be checked yet stands in [`not_yet`], with the reason; a key that is neither
//! checked nor named there fails its case.

#![allow(unreachable_pub, reason = "one test binary uses all of it")]

mod bodies;
mod build;
mod case;
mod compare;
mod disk;
mod disk_double;
mod draft;
mod expect;
mod look;
mod names;
mod not_yet;
mod other;
mod round_trip;
mod said;
mod steps;
mod store;
mod tokens;
mod world;

pub use case::{Case, case_files};
pub use not_yet::NOT_YET;
pub use other::serve;

/// Runs the case of this name.
pub fn run(name: &str) {
    let case = Case::load(name);
    if other::lacks_command(&case) {
        return eprintln!("{name} needs the command line, which is not built");
    }
    if other::needs_umask(&case) {
        return other::run_under_umask(&case);
    }
    let mut world = world::World::new(case);
    world.build();
    world.do_steps();
    expect::check(&mut world);
}

/// The keys of all cases that the harness would check or leave out, for what watches over the table.
pub fn left_out(name: &str) -> Vec<String> {
    expect::left_out(&Case::load(name))
}
