//! The steps of the standard pipeline, one family a file.

pub mod cleanup;
pub mod media;
pub mod tool_pairing;
pub mod truncate;
