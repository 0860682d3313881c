//! The fields of every object, each named once for writing and once for reading; both encodings share them.

mod body;
mod event;
mod kind;
mod message;
mod message_patch;
mod metadata;
mod part;
mod recase;

pub(crate) use body::{read_extension, read_meta, read_tool_started};
pub(crate) use event::{BodyAlone, ENVELOPE, read_event};
pub(crate) use kind::{read_kind, read_trigger};
pub(crate) use message::{KindFields, read_content, read_message, read_stop_reason};
pub(crate) use message_patch::message_patch;
pub(crate) use metadata::{read_metadata_field, read_usage_field};
pub(crate) use recase::{MESSAGE_FIELDS, recase, to_value};
