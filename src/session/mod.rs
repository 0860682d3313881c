//! Sessions: open, append, fork, rewind, resume; the chain of parents and the fold of events into state.
//!
//! This floor knows no provider and no view.

mod fold;
mod pairing;
mod place;

pub use fold::{Entry, State};
pub use pairing::{Approval, PairedCall, Pairing};
pub use place::{Parent, Repair, UnknownParent};
