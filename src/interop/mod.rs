//! Other agents' session files and neutral JSON lines, to events and back.
//!
//! A reader turns a file into [`Incoming`] records, whose ids are any strings; one shared feed gives them ids of
//! ours, finds what is known already, repairs what is broken and writes the rest into a session. This floor knows
//! nothing of the store's own files.

mod incoming;

pub use incoming::{Incoming, IncomingBody, IncomingParent};
