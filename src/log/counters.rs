//! What a log reads, writes and syncs, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// How much a log has read, written and synced: for tests and tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IoCount {
    /// Bytes read, by pread or through the map.
    pub bytes_read: u64,
    /// Calls that read.
    pub reads: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Calls that synced.
    pub syncs: u64,
}

/// The count, kept by all threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    bytes_read: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
    bytes_written: AtomicU64,
    syncs: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wrote(&self, bytes: u64) {
        self.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn synced(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> IoCount {
        IoCount {
            bytes_read: self.bytes_read.load(Ordering::Relaxed),
            reads: self.reads.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            bytes_written: self.bytes_written.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}
