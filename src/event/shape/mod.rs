//! The fields of every object, each named once for writing and once for reading; both encodings share them.

mod body;
mod event;
mod kind;
mod message;
mod part;
mod recase;

pub(crate) use body::{read_extension, read_meta, read_tool_started};
pub(crate) use event::{BodyAlone, ENVELOPE, read_event};
pub(crate) use kind::{read_kind, read_trigger};
pub(crate) use message::{
    KindFields, read_content, read_message, read_metadata_field, read_stop_reason, read_usage_field,
};
pub(crate) use recase::{MESSAGE_FIELDS, message_patch, recase, to_value};
