//! What a caller may choose about a log.

use std::time::Duration;

use uuid::Uuid;

use super::format as f;
use super::header::ParentLink;

/// What an append survives once it has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Power cuts: it is on the disk before the call returns.
    Sync,
    /// The end of the process at once; power cuts as soon as the receipt resolves. One sync serves all that wait.
    Group,
    /// The end of the process at once; power cuts after the background sync, which begins a second later at most.
    Os,
    /// Nothing at once: it is in this process's memory only, and whatever ends the process without a close loses it: a kill, an
    /// abort, `std::process::exit`. The background thread writes it after 50 ms, or after a sync that it is busy with; at once
    /// where 256 KiB have come together, while the caller goes on. It is written before the call returns where more than 1 MiB
    /// would be held, and where anything is appended in another way; and at a sync and at the close. From then on it is as with
    /// [`Durability::Os`]. The receipt can be waited for like any other.
    ///
    /// Order is kept: what is lost is an unbroken end of what was appended, and nothing that comes later is written, or
    /// durable, before it. This process reads it at once, through the writer's own view; other readers see it once it is written.
    Buffered,
}

/// How a log is read and written. The defaults are right for sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct LogOptions {
    pub(crate) window_bytes: u64,
    pub(crate) window: Duration,
    pub(crate) index_records: u64,
    pub(crate) index_bytes: u64,
    pub(crate) mapped: bool,
    pub(crate) compress: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            window_bytes: f::WINDOW_BYTES,
            window: Duration::from_millis(f::WINDOW_MS),
            index_records: f::INDEX_RECORDS,
            index_bytes: f::INDEX_BYTES,
            mapped: false,
            compress: false,
        }
    }
}

impl LogOptions {
    /// Bytes that may wait for a sync before the background starts one; default 8 MiB, at least 4 KiB, at most 256 MiB.
    /// An append that would double the window waits for that sync.
    pub fn window_bytes(mut self, bytes: u64) -> Self {
        self.window_bytes = bytes.clamp(4 << 10, 256 << 20);
        self
    }

    /// How long bytes may wait for a sync, and how long a log is idle before it gets its MARK; default 1 s, at least 1 ms.
    pub fn window(mut self, window: Duration) -> Self {
        self.window = window.max(Duration::from_millis(1));
        self
    }

    /// Records between two INDEX frames; default 1,024, at least 16.
    pub fn index_records(mut self, records: u64) -> Self {
        self.index_records = records.max(16);
        self
    }

    /// Bytes between two INDEX frames, whichever comes first; default 4 MiB, at least 64 KiB.
    pub fn index_bytes(mut self, bytes: u64) -> Self {
        self.index_bytes = bytes.max(64 << 10);
        self
    }

    /// Whether single frames in durable bytes are read through a memory map; default false.
    ///
    /// The map spares a copy of what is read, at most half of the time of a look-up (`cargo bench --bench resume`); a resume
    /// gains next to nothing. The price: a program that cuts the file, against all rules, can end this process with SIGBUS
    /// when it touches a [`Frame`](super::Frame) that it holds. The length is compared before each read, and a
    /// file that is too short is [`LogError::Replaced`](super::LogError::Replaced); between that and the last use of the
    /// frame nothing can guard. Without the map a cut file is an error, or the bytes that were read before.
    pub fn mapped(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    /// Whether a new session's large events are compressed (zstd); default false. It is written in the session's header, so it
    /// holds for all who write to the session later, whatever they ask for, and only builds with the feature `zstd` can
    /// read what was compressed. PERFORMANCE.md says what it saves and costs.
    #[cfg(feature = "zstd")]
    pub fn compress(mut self, compress: bool) -> Self {
        self.compress = compress;
        self
    }
}

/// What a new log starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct NewLog {
    pub(crate) log_id: Uuid,
    pub(crate) parent: Option<ParentLink>,
    pub(crate) created_at: i64,
    pub(crate) max_record: u32,
    pub(crate) compressed: bool,
}

impl NewLog {
    /// A log with this id, made at this time (µs since 1970 UTC; information only).
    pub fn new(log_id: Uuid, created_at: i64) -> Self {
        Self { log_id, parent: None, created_at, max_record: f::RECORD_LEN_DEFAULT, compressed: false }
    }

    /// The log goes on where another one was forked.
    pub fn parent(mut self, parent: Option<ParentLink>) -> Self {
        self.parent = parent;
        self
    }

    /// Payloads may be compressed: readers that don't know of that refuse the log.
    pub fn compressed(mut self, compressed: bool) -> Self {
        self.compressed = compressed;
        self
    }

    /// Limit for the payloads of one append in bytes; default 64 MiB, from 4 KiB to 256 MiB.
    pub fn max_record(mut self, bytes: u32) -> Self {
        self.max_record = bytes.clamp(f::RECORD_LEN_FLOOR, f::RECORD_LEN_CAP);
        self
    }
}
