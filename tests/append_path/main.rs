//! What an append costs, counted: allocations, writes and flushes, whatever the session's length. Never times.

#[path = "../log_support/mod.rs"]
mod log_support;

mod allocations;
mod buffered;
mod counting_calls;
mod flushes;

/// No sync and no MARK but those that somebody asks for, however slow the machine is.
fn unhurried() -> seslog::session::SessionOptions {
    let log = seslog::log::LogOptions::default().window(std::time::Duration::from_secs(3_600));
    seslog::session::SessionOptions { log, ..seslog::session::SessionOptions::default() }
}
