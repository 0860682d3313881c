//! What an append costs, counted: allocations, writes and flushes, whatever the session's length. Never times.

#[path = "../log_support/mod.rs"]
mod log_support;

mod allocations;
mod buffered;
mod counting_calls;
mod flushes;
