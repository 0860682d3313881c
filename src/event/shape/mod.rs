//! The fields of every object, each named once for writing and once for reading; both encodings share them.

mod body;
mod event;
mod kind;
mod message;
mod part;
mod recase;

pub(crate) use event::read_event;
pub(crate) use kind::read_kind;
pub(crate) use message::{KindFields, read_content, read_metadata_field, read_stop_reason, read_usage_field};
pub(crate) use recase::{MESSAGE_FIELDS, to_value};
