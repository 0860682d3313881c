//! The vocabulary: events, messages, content parts and ids.
//!
//! Every record of a session is an [`Event`]: an id, a parent, an instant and a [`Body`]. Most bodies are
//! [`Message`]s; the others take messages back ([`Tombstone`]), complete them ([`Amend`]), shorten them for the
//! model ([`Prune`]), move the current leaf ([`Head`]), note that a tool was started ([`ToolStarted`]), describe
//! the session ([`SessionMeta`]) or belong to the application ([`Extension`]).
//!
//! This floor knows no file and no provider. It has two encodings of the same events: MessagePack with snake_case
//! names for the log ([`encode`], [`decode`]) and JSON with camelCase names for people and other programs.

mod base64;
mod blank;
mod body;
mod card;
mod compress;
mod constants;
mod date;
mod error;
mod id;
mod json;
mod kind;
mod make;
mod message;
pub(crate) mod names;
mod pack;
pub(crate) mod parse;
mod part;
mod patch;
mod raw;
pub(crate) mod read;
mod same;
pub(crate) mod shape;
mod stored;
mod texts;
mod value;
mod write;

pub(crate) use base64::{
    ALPHABET as BASE64_ALPHABET, decode as decode_base64, decode_start as decode_base64_start, encode as encode_base64,
};
pub(crate) use blank::{blank, blank_results};
pub use body::{Amend, Body, Event, Extension, Head, HungOn, Prune, SessionMeta, Tombstone, ToolStarted, Unknown};
pub use card::CardMessage;
pub use compress::Compressor;
pub use constants::{
    CANCELLED, DEPTH_MAX, INTERRUPTED, INTERRUPTED_FOR_TOOL_USE, MISSING_TOOL_RESULT, NO_CONTENT,
    NO_RESPONSE_REQUESTED, REDACTED, REJECTED, REMOVED, SUBAGENT_REJECTED, SYNTHETIC_TEXTS,
};
pub(crate) use constants::{FAILED, LOCAL_COMMAND};
pub use date::{MICROS_A_DAY, date_of};
pub use error::EventError;
pub use id::{IdMaker, Uuid, derive_id, foreign_id, parse_id};
pub use json::{InJson, to_json};
pub use kind::{
    AgentCouncil, Attachment, BashExecution, BranchSummary, Changed, Children, CompactBoundary, CompactSummary, Custom,
    HookPhase, Kept, Kind, Progress, SystemEvent, Task, TaskCallback, Tasks, ToolUseSummary, Trigger, Verify,
};
pub use message::{Message, Metadata, Role, Source, StopReason, Usage};
pub use parse::Lossy;
pub use part::{
    ApprovalRequest, ApprovalResponse, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolCall,
    ToolInput, ToolOutput, ToolResult,
};
pub use patch::{apply_patch, patch_between};
pub(crate) use same::holds_body;
pub use stored::{decode, encode, encode_into};
pub(crate) use texts::{Lost, Visitor, decode_value, event_of, value_of, walk_event};
pub use texts::{TextAt, texts_of};
pub use value::{Fields, Value};
