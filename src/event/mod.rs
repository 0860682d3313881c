//! The event floor.
