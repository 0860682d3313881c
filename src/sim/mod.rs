//! A simulated disk behind the log's seam (feature `sim`): for tests of this crate, and of programs that embed it.
//!
//! [`SimDisk`] is a [`log::Fs`](crate::log::Fs) in memory. Calls fail when they are told to, time stands still unless it
//! is moved, and a process can be killed at any moment. A run can be recorded; [`Crashes`] then goes through **every**
//! state that the disk may be in after a power cut at any moment of it: each sector that was not synced in each of its
//! versions, each size of the file, each set of names, as far as a [`Persistence`] allows.
//!
//! ```
//! use std::path::Path;
//! use seslog::event::Message;
//! use seslog::log::Durability;
//! use seslog::session::{Session, SessionOptions, SessionReader};
//! use seslog::sim::{Crashes, SimDisk, persistence};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let path = Path::new("/s.seslog");
//! let disk = SimDisk::new();
//! let session = Session::create(path, SessionOptions { fs: disk.fs(), ..SessionOptions::default() })?;
//! disk.record();
//! session.append(Message::user("hello"), Durability::Sync)?;
//! disk.note(1); // acknowledged
//! disk.kill();
//!
//! let count = Crashes::of(&disk.trace(), persistence::ANYTHING).for_each(|crash| {
//!     let disk = SimDisk::holding(&crash.image);
//!     let found = SessionReader::open(path, disk.fs()).expect("it opens");
//!     assert!(found.state().entries().len() >= crash.notes.len(), "what was acknowledged is there");
//! });
//! assert!(count.distinct > 3);
//! # Ok(())
//! # }
//! ```

mod blocks;
mod crash;
mod disk;
mod faults;
mod file;
mod machine;
mod medium;
pub mod persistence;
mod times;

pub use blocks::SECTOR;
pub use crash::{Count, Crash, Crashes, Trace};
pub use disk::SimDisk;
pub use faults::{Call, Fault};
pub use medium::Image;
pub use persistence::Persistence;
