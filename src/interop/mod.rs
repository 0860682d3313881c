//! The interop floor.
