//! Floor 0: bytes. One log is one file with one writer and any number of readers.
//!
//! A record goes into a frame, a frame says by its checksums, its place and its chain that it belongs here, and by a distance
//! what had been durable when it was written. So whoever opens the file knows, from its end and without help, what is whole,
//! what was never finished, and what is damaged: an unfinished end is stepped over by an OPEN frame, damage is reported and
//! never touched, and nothing in the file is ever cut. `format-spec/FORMAT.md` is the text that counts.
//!
//! [`LogWriter`] appends batches, [`LogReader`] follows without a lock, both read through [`LogView`], and [`survey`] looks at
//! everything that is in a file, damaged or not. All that touches the operating system goes through [`Fs`].
//!
//! This floor does not know what a message is. It sees ids, offsets, and which ids a record has to be found by.

mod ahead;
mod appender;
mod backwards;
mod batch;
mod beside;
mod checked;
mod checksum;
mod company;
mod counters;
mod cursor;
mod damage;
mod displaced;
mod durability;
mod encode;
mod error;
mod flusher;
pub mod format;
mod frame;
#[cfg(test)]
mod frame_bounded;
#[cfg(test)]
mod frame_flips;
mod fs;
mod halves;
mod header;
mod held;
mod id_hash;
mod index;
mod kind;
mod load;
mod lock;
#[cfg(all(test, loom))]
mod loom_models;
mod lost;
mod many;
mod map;
mod opening;
mod options;
mod piece;
mod progress;
mod quiet;
mod reader;
mod real_fs;
mod receipt;
mod recent;
mod recovery;
mod report;
mod scan;
mod source;
mod state;
mod survey;
mod survey_frame;
mod sync;
mod table;
mod tail;
mod view;
mod writer;

pub use backwards::HeadsBack;
pub use batch::{Batch, Record};
pub(crate) use beside::{parent_dir, temporary_beside};
pub(crate) use checksum::crc32;
pub use counters::IoCount;
pub use damage::{Damage, DamageKind};
pub use error::LogError;
pub use frame::{Frame, FrameHead};
pub use fs::{Access, Bell, DirEntry, FileId, FileOwner, FileStamp, Fs, FsFile};
pub use header::{LogInfo, ParentLink};
pub(crate) use held::{HeldLog, read_info};
pub(crate) use id_hash::IdHash;
pub use index::Found;
pub use kind::{FrameType, HintClass, IndexHint};
pub(crate) use lock::WriterLock;
pub use lost::LostRecords;
pub use map::Map;
pub use options::{Durability, LogOptions, NewLog};
pub use reader::LogReader;
pub use real_fs::RealFs;
pub use receipt::Receipt;
pub use report::{Cause, OpenReport, SetAside, Verdict, WatermarkState};
pub use state::{Note, Place};
pub use survey::{Survey, survey, survey_with};
pub use survey_frame::{FrameStatus, SurveyFrame};
pub use view::{Frames, LogView};
pub use writer::{Appended, LogWriter};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. What it guards is kept consistent by each holder at every step, so a panic elsewhere does not spoil it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
