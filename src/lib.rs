//! Seslog: an append-only, event-sourced session store for AI agents.

pub mod event;
pub mod interop;
pub mod log;
pub mod projection;
pub mod session;
pub mod wire;
