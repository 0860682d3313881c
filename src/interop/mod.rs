//! Other agents' session files and neutral JSON lines, to events and back.
//!
//! A reader turns a file into [`Incoming`] records, whose ids are any strings; one shared feed gives them ids of
//! ours, finds what is known already, repairs what is broken and writes the rest into a session. This floor knows
//! nothing of the store's own files.

pub mod claude_code;
pub mod codex;
mod events;
mod export;
mod feed;
mod feed_leaf;
mod feed_report;
mod fields;
mod forest;
mod found;
mod incoming;
mod leaving;
mod leaving_calls;
mod leaving_line;
mod leaving_names;
mod leaving_refusals;
mod leaving_source;
mod leaving_told;
mod leaving_usage;
mod limits;
mod lines;
mod objects;
pub mod page;
pub mod pi;
mod said_here;
mod same;
mod time;
mod told;
mod trees;
mod visible;
mod work;

pub use events::{LINE_LEN_MAX, LineError, NeutralReader, SessionHead, read_events};
pub use export::{ExportError, write_events, write_events_with};
pub use feed::{Feed, import_events};
pub use feed_report::{BadLine, ImportReport, LeafKept, Missing, Refused, Renamed, Repaired};
pub use found::{Cost, FaultyLine, ToolCalls, Warning};
pub use incoming::{Incoming, IncomingBody, IncomingParent, IncomingPlace};
pub use leaving::{WriteReport, write_as};
pub use leaving_told::{Agent, Difference};
pub use time::rfc3339_seconds;
pub use told::{input_text, part_text};
pub use visible::{Layout, is_dangerous, visible};
