//! The real file system, with every read noted.

use std::io;
use std::sync::{Arc, Mutex};

use seslog::log::{FsFile, Map, RealFs};

use crate::wrapped_fs::{Calls, Wrapped};

pub type Watched = Wrapped<Reads>;

/// Reads as they reached the operating system: where, and how many bytes came; and what it was told would be read.
#[derive(Debug, Default)]
pub struct Reads(Mutex<Seen>);

/// A file system that is watched.
pub fn watched() -> Arc<Watched> {
    Wrapped::over(RealFs::shared(), Reads::default())
}

impl Reads {
    /// What was read since the last call.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Calls for Reads {
    fn read(&self, file: &dyn FsFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = file.read_at(buffer, offset)?;
        let mut seen = self.0.lock().unwrap();
        if !seen.told.iter().any(|&(from, len)| from <= offset && offset + count as u64 <= from + len) {
            seen.untold.push((offset, count as u64));
        }
        seen.reads.push((offset, count as u64));
        Ok(count)
    }

    fn will_read(&self, file: &dyn FsFile, offset: u64, len: u64) {
        self.0.lock().unwrap().told.push((offset, len));
        file.will_read(offset, len);
    }

    fn map(&self, _: &dyn FsFile, _: u64) -> io::Result<Option<Map>> {
        panic!("nothing is mapped unless it is asked for")
    }
}

/// Some reads.
#[derive(Debug, Default)]
pub struct Seen {
    pub reads: Vec<(u64, u64)>,
    /// What was said to be read, before it was.
    pub told: Vec<(u64, u64)>,
    /// Reads in nothing of that.
    pub untold: Vec<(u64, u64)>,
}

impl Seen {
    pub fn calls(&self) -> usize {
        self.reads.len()
    }

    pub fn bytes(&self) -> u64 {
        self.reads.iter().map(|(_, len)| len).sum()
    }

    /// Bytes that were read again.
    pub fn bytes_again(&self) -> u64 {
        let mut sorted = self.reads.clone();
        sorted.sort_unstable();
        let (mut again, mut end) = (0, 0);
        for (offset, len) in sorted {
            again += end.min(offset + len) - end.min(offset);
            end = end.max(offset + len);
        }
        again
    }
}
