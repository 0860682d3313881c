//! The wire floor.
