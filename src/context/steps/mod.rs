//! The steps of the standard pipeline, one family a file.

pub mod cards;
pub mod cleanup;
pub mod compressed_group;
pub mod council_flatten;
pub mod group_flatten;
pub mod media;
pub mod orchestration_filter;
mod retell;
pub mod speaker;
mod speaker_parts;
pub mod supervisor_role;
pub mod task;
pub mod task_callback;
pub mod tasks_flatten;
pub mod tool_pairing;
pub mod truncate;
pub mod verify;
