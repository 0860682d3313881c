//! Sessions: open, append, fork, rewind, resume; the chain of parents and the fold of events into state.
//!
//! This floor knows no provider and no view.

mod beside;
mod branches;
mod catalogue;
mod clock;
mod commit;
mod compact;
mod draft;
mod entry;
mod error;
mod fold;
mod fork;
mod id_table;
mod import;
mod keeping;
mod listed;
mod listing;
mod outline;
mod pairing;
mod place;
mod publish;
mod reach;
mod reader;
mod record;
mod replay;
mod report;
mod salvage;
mod spread;
mod state;
mod store;
mod story;
mod surveyed;
mod trim;
mod walk;
mod writer;

pub use branches::BranchPoint;
pub use clock::{Clock, SystemClock};
pub use compact::{Compacted, Compaction};
pub use draft::NewEvent;
pub use entry::Entry;
pub use error::SessionError;
pub use fork::History;
pub use import::{Import, ImportedCompaction};
pub use listed::Listed;
pub use listing::{CatalogueFound, CatalogueKept, ListReport, Listing};
pub use pairing::{Approval, PairedCall, Pairing};
pub use place::{Parent, Repair, UnknownParent};
pub use reader::SessionReader;
pub use record::Recorded;
pub use report::{CallState, DamagedRange, MissingParent, OpenCall, Opened, Range, ResumeReport};
pub use salvage::SalvageReport;
pub use state::State;
pub use store::{EXTENSION, Store};
pub use story::Story;
pub use writer::{Appended, AppendedBatch, Session, SessionOptions};
