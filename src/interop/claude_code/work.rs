//! Counts what a reading costs, so that a test can hold it to the size of the file.

/// How much was looked at, all passes together.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Work {
    pub(super) bytes_read: u64,
    pub(super) steps: u64,
}

impl Work {
    pub(super) fn bytes(&mut self, count: usize) {
        self.bytes_read += count as u64;
    }

    pub(super) fn step(&mut self) {
        self.steps += 1;
    }
}
