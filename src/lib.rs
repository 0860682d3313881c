//! An append-only, event-sourced session store for AI agents.
//!
//! An agent appends what happens (messages, tool calls and results, tombstones, compactions); after a crash, a kill or a
//! power cut it opens the same file and goes on exactly where it was. Everything that a person or a model looks at is a
//! projection, rebuilt by replaying the log from the latest compact boundary.
//!
//! ```
//! use seslog::event::Message;
//! use seslog::log::Durability;
//! use seslog::projection::{Options, View, project};
//! use seslog::session::{Compaction, SessionOptions, Store};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let sessions = dir.path().join("sessions");
//! let store = Store::at(sessions, SessionOptions::default());
//! let session = store.create()?;
//! let plan = session.append(Message::user("Plan the garden"), Durability::Sync)?.id;
//! let answer = session.append(Message::assistant("Beds or lawn?"), Durability::Sync)?.id;
//! session.compact(Compaction::new("A garden is planned.").keep(vec![answer]), Durability::Sync)?.receipt.wait()?;
//!
//! let name = session.id().to_string();
//! session.close()?;
//! let session = store.open(&name)?;
//! let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
//! assert_eq!(view.messages.len(), 2); // the summary and what was kept
//!
//! session.rewind(Some(plan), Durability::Sync)?.wait()?; // to before the compaction; can be undone
//! let view = session.with_state(|state| project(state, View::Model, &Options::default()))?;
//! assert_eq!(view.messages[0].source_message_ids, [plan]);
//! # Ok(())
//! # }
//! ```
//!
//! # The few types to know
//!
//! - [`Store`](session::Store): a directory of sessions. [`Session`](session::Session): one, open for writing;
//!   [`SessionReader`](session::SessionReader): open for reading, beside any writer.
//! - [`Message`](event::Message) and its [`Part`](event::Part)s: what is appended.
//! - [`Durability`](log::Durability) and [`Receipt`](log::Receipt): what an append survives, and when.
//! - [`State`](session::State): the fold of a session's events. [`project`](projection::project) makes a view of it,
//!   a [`Pipeline`](context::Pipeline) puts what the application adds around it, and [`wire`] makes the result into the
//!   body of a provider's request.
//! - [`ResumeReport`](session::ResumeReport): what a resume found.
//!
//! # What is not here
//!
//! No runtime, no network, no model client, no search index, no clean-up: nothing is ever deleted by itself.
//!
//! # Features
//!
//! - `cli` (on by default): the command line `seslog`; `search` (on by default): its full-text search. A library user leaves both
//!   out with `default-features = false`.
//! - `zstd`: sessions whose large events are compressed, to make them and to read them; `cli` has it.
//! - `markdown`: pages show the Markdown of messages as what it means; `cli` has it.
//! - `tiktoken`: exact token counts for OpenAI's models; everybody else has an estimate.
//! - `sim`: a simulated disk that goes through every state that a power cut may leave, for tests.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod log;

pub mod event;

pub mod session;

pub mod projection;

pub mod context;

pub mod wire;

pub mod interop;

#[cfg(feature = "sim")]
pub mod sim;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../EMBEDDING.md")]
struct EmbeddingPage;

#[cfg(doctest)]
#[doc = include_str!("../CONTEXT.md")]
struct ContextPage;
