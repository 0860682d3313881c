//! The session floor.
