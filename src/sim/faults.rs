//! What a call does instead of its work.

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Call {
    /// Opening a file.
    Open,
    /// Making a file.
    Create,
    /// Naming a finished file, in place of nothing or of another.
    Publish,
    /// Removing a name.
    Remove,
    /// Making a directory.
    CreateDir,
    /// Listing a directory.
    ListDir,
    /// Asking which file a path or a handle means.
    Identity,
    /// Asking for a file's stamp.
    Stamp,
    /// Giving a directory a new stamp.
    TouchDir,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Syncing a file.
    Sync,
    /// Syncing a directory.
    SyncDir,
    /// Asking for the size.
    Size,
    /// Setting the size.
    SetLen,
    /// Taking or giving up the lock.
    Lock,
    /// Getting random bytes.
    Random,
}

/// What a call does instead of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Fails with this error number and does nothing. A sync that fails so leaves the data in doubt and calls it clean.
    Errno(i32),
    /// A sync fails with this error number, nothing of it is on the disk, and the system forgets the data.
    Dropped(i32),
    /// Writes or reads only so many bytes, and says so.
    Short(usize),
    /// Opens the file; then a copy of it takes its name.
    Swap,
}

/// The faults that are to come, and the calls that were.
#[derive(Debug, Default)]
pub(super) struct Plan {
    by_kind: Vec<(Call, u64, Fault)>,
    by_count: Vec<(u64, Fault)>,
    counts: std::collections::BTreeMap<Call, u64>,
    total: u64,
}

impl Plan {
    pub(super) fn fail(&mut self, call: Call, nth: u64, fault: Fault) {
        let at = self.count(call) + nth;
        self.by_kind.push((call, at, fault));
    }

    pub(super) fn fail_any(&mut self, nth: u64, fault: Fault) {
        self.by_count.push((self.total + nth, fault));
    }

    pub(super) fn heal(&mut self) {
        self.by_kind.clear();
        self.by_count.clear();
    }

    pub(super) fn count(&self, call: Call) -> u64 {
        self.counts.get(&call).copied().unwrap_or(0)
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Counts a call, and gives the fault that it meets.
    pub(super) fn enter(&mut self, call: Call) -> Option<Fault> {
        let count = self.counts.entry(call).or_default();
        let (nth, any) = (*count, self.total);
        *count += 1;
        self.total += 1;
        if let Some(index) = self.by_count.iter().position(|(at, _)| *at == any) {
            return Some(self.by_count.remove(index).1);
        }
        let index = self.by_kind.iter().position(|(kind, at, _)| *kind == call && *at == nth)?;
        Some(self.by_kind.remove(index).2)
    }
}
