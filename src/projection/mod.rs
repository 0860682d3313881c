//! The projection floor.
