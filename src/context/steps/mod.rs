//! The steps of the standard pipeline, one family a file.

pub mod truncate;
