//! Counts what a reading costs, so that a test can hold it to the size of the file.

use super::found::Cost;

/// How much was looked at, all passes together.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Work {
    bytes_read: u64,
    steps: u64,
}

impl Work {
    pub(super) fn cost(&self) -> Cost {
        Cost { bytes: self.bytes_read, steps: self.steps }
    }

    pub(super) fn bytes(&mut self, count: usize) {
        self.bytes_read += count as u64;
    }

    pub(super) fn step(&mut self) {
        self.steps += 1;
    }
}
