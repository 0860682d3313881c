//! Seslog: an append-only, event-sourced session store for AI agents.

pub mod event;
pub mod log;
pub mod session;
pub mod projection;
pub mod wire;
pub mod interop;
