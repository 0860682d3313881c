//! Wire: the model's messages as request bodies, one pure serializer per provider.
//!
//! A serializer never decides what the model sees; [`crate::projection`] did that. It writes what it was given in the
//! form that its provider takes: system texts where they may stand, results straight behind their calls, one message
//! where the provider wants one. What has no form there, or would make the provider refuse the whole request, is left
//! out, changed or merged by rule, and each time a diagnostic says so. Nobody's words are left out to make a body
//! valid.
//!
//! The same messages give the same bytes, and a longer history begins with the body of a shorter one, so that
//! providers can keep what they have read.

mod ai_sdk;
mod anthropic;
mod anthropic_blocks;
mod bedrock;
mod call_id;
mod conversation;
mod gemini;
mod media;
mod openai_chat;
mod openai_items;
mod openai_responses;
mod openai_shapes;
mod options;
mod payload;
mod picture;
mod schema;
mod target;
mod text;
mod tidy;
mod tool_name;
mod tools;
mod turns;

pub use conversation::{FIRST_USER_TEXT, LAST_USER_TEXT, Renamed, SYSTEM_NOTE_PREFIX, SYSTEM_NOTE_SUFFIX};
pub use media::MediaLimits;
pub use openai_chat::{MOVED_FILE_NOTE, MOVED_MEDIA_PREFIX, MOVED_PICTURE_NOTE};
pub use options::Options;
pub use payload::{Payload, Provider, payload};
pub use tools::Tool;
