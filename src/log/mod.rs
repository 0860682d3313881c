//! The log floor.
