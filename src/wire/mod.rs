//! Wire: the model's messages as request bodies, one pure serializer per provider.
//!
//! A serializer never decides what the model sees; [`crate::projection`] did that. It writes what it was given in the
//! form that its provider takes: system texts where they may stand, results straight behind their calls, one message
//! where the provider wants one. What has no form there, or would make the provider refuse the whole request, is left
//! out, changed or merged by rule, and each time a diagnostic says so. Nobody's words are left out to make a body
//! valid.
//!
//! The same messages give the same bytes, and the messages of a longer history begin with those of a shorter one, so
//! that providers can keep what they have read. What depends on all of a request is the exception: the oldest pictures
//! give way to a limit, a call has an error until its result comes, and the end of a body (white space, Gemini's last
//! word) is made for the end.
//!
//! # From an answer back to the log
//!
//! Names of tools and ids of calls go out in a form that every provider takes, so a model may call a tool by another name
//! than the application knows it by. [`Payload::renamed`] gives the name back; what is recorded is the application's own.
//! The ids of the calls in an answer are recorded as the provider gave them.
//!
//! # Who made it
//!
//! Reasoning, signatures and item ids go back to the provider and model that made them, which is what the message's
//! [`provider`](crate::event::Message::provider) and [`model`](crate::event::Message::model) say: an application that
//! records neither sends no signed reasoning back. Where one of two models is not known, the provider alone decides. These names are known, in either case of letters; any other is a
//! provider that takes nothing back:
//!
//! | provider | names |
//! | --- | --- |
//! | Anthropic | `anthropic` |
//! | OpenAI | `openai`, `openai-responses`, `openai_responses`, `openai.responses` |
//! | Gemini | `google`, `gemini`, `google-generative-ai`, `google.generative-ai` |
//! | Amazon Bedrock | `bedrock`, `amazon-bedrock`, `amazon_bedrock`, `amazonbedrock` |
//!
//! # Example
//!
//! ```
//! use seslog::event::{Kind, Message, Part, Role, Value};
//! use seslog::log::Durability;
//! use seslog::projection::{self, ProjectedMessage, View, project};
//! use seslog::session::{SessionOptions, Store};
//! use seslog::wire::{Options, Provider, Tool, payload};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let session = Store::at(dir.path(), SessionOptions::default()).create()?;
//! let _ = session.append(Message::user("How long is notes.txt?"), Durability::Sync)?;
//! let view = session.with_state(|state| project(state, View::Model, &projection::Options::default()))?;
//!
//! // A system prompt that is not in the log stands in front, before and after any compaction.
//! let prompt = ProjectedMessage::made(View::Model, Role::System, Kind::SystemNote, vec![Part::text("Be brief.")]);
//! let mut messages = vec![prompt];
//! messages.extend(view.messages);
//!
//! let path = Value::from([("path", Value::from([("type", "string".into())]))]);
//! let schema = Value::from([("type", "object".into()), ("properties", path)]);
//! let mut options = Options::for_model("claude-opus-4-8");
//! options.tools = vec![Tool { name: "files.read".into(), description: None, schema }];
//! let body = payload(&messages, Provider::Anthropic, &options);
//!
//! // Fields that are no part of the history, such as `stream`, are the application's to add.
//! let mut request = serde_json::to_value(&body)?;
//! request["stream"] = true.into();
//! assert_eq!(request["system"], "Be brief.");
//! let called = request["tools"][0]["name"].as_str().unwrap_or_default(); // the model answers with a call of this
//! assert!(called.starts_with("files_read_"));
//! let name = body.renamed.tool(called);
//! assert_eq!(name, "files.read");
//! let call = Part::tool_call("toolu_1", name, Value::from([("path", "notes.txt".into())]));
//! let mut answer = Message::assistant_calls(vec![call]);
//! // Who made it: its reasoning and signatures go back to nobody else.
//! (answer.provider, answer.model) = (Some("anthropic".into()), Some("claude-opus-4-8".into()));
//! let _ = session.append(answer, Durability::Sync)?;
//! let _ = session.append(Message::tool_result("toolu_1", "12 lines", false), Durability::Sync)?;
//!
//! // The request to a model that sums the session up: its view, and behind it what is asked of it.
//! let view = session.with_state(|state| project(state, View::Compact, &projection::Options::default()))?;
//! let question = vec![Part::text("Sum this conversation up.")];
//! let mut messages = view.messages;
//! messages.push(ProjectedMessage::made(View::Compact, Role::User, Kind::UserInput, question));
//! let options = Options::for_model("gpt-5-mini");
//! let body = payload(&messages, Provider::OpenAiChat, &options);
//! println!("{}", body.to_json()); // its answer goes into a `Compaction`
//! # assert_eq!(body.message_count(), 4);
//! # assert!(body.to_json().ends_with(r#"{"role":"user","content":"Sum this conversation up."}]}"#));
//! # Ok(())
//! # }
//! ```
//!
//! What a system message becomes that stands behind the beginning, as one does that a compaction kept, is said at each
//! [`Provider`].

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

pub use crate::context::Tool;
pub use conversation::{FIRST_USER_TEXT, LAST_USER_TEXT, Renamed, SYSTEM_NOTE_PREFIX, SYSTEM_NOTE_SUFFIX};
pub use media::MediaLimits;
pub use openai_chat::{MOVED_FILE_NOTE, MOVED_MEDIA_PREFIX, MOVED_PICTURE_NOTE};
pub use options::Options;
pub use payload::{Payload, Provider, payload};
