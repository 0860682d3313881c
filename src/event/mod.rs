//! The vocabulary: events, messages, content parts and ids.
//!
//! Every record of a session is an [`Event`]: an id, a parent, an instant and a [`Body`]. Most bodies are
//! [`Message`]s; the others take messages back ([`Tombstone`]), complete them ([`Amend`]), shorten them for the
//! model ([`Prune`]), move the current leaf ([`Head`]), note that a tool was started ([`ToolStarted`]), describe
//! the session ([`SessionMeta`]) or belong to the application ([`Extension`]).
//!
//! This floor knows no file and no provider. It has two encodings of the same events: MessagePack with snake_case
//! names for the log ([`encode`], [`decode`]) and JSON with camelCase names for people and other programs.

mod body;
mod id;
mod kind;
mod message;
mod part;
mod value;

pub use body::{Amend, Body, Event, Extension, Head, HungOn, Prune, SessionMeta, Tombstone, ToolStarted, Unknown};
pub use id::{IdMaker, Uuid, derive_id, foreign_id};
pub use kind::{
    AgentCouncil, Attachment, BashExecution, BranchSummary, Changed, Children, CompactBoundary, CompactSummary, Custom,
    HookPhase, Kept, Kind, Progress, SystemEvent, Task, TaskCallback, Tasks, ToolUseSummary, Trigger, Verify,
};
pub use message::{Message, Metadata, Role, Source, StopReason, Usage};
pub use part::{
    ApprovalRequest, ApprovalResponse, Media, MediaSource, Opaque, Part, PartBody, Reasoning, Text, ToolCall,
    ToolInput, ToolOutput, ToolResult,
};
pub use value::{Fields, Value};
