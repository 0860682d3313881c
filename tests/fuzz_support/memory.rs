//! The disk of the fuzz targets: the simulated one, with power cuts that an input decides.

use std::path::Path;
use std::sync::Arc;

use seslog::log::LogOptions;
use seslog::session::SessionOptions;
use seslog::sim::{Image, SECTOR, SimDisk};

use super::even_clock::EvenClock;
use super::input::Input;

/// The session's file on the disk in memory.
pub const PATH: &str = "/s/0193a000-0000-7000-8000-000000000001.seslog";

/// A disk with one file, [`PATH`].
pub fn disk_with(bytes: &[u8]) -> SimDisk {
    SimDisk::holding(&Image::with(Path::new(PATH), bytes))
}

/// What a power cut finds: what a sync covered, and what was written in all.
#[derive(Debug)]
pub struct Cut {
    durable: Vec<u8>,
    written: Vec<u8>,
}

impl Cut {
    /// Ends the process, without a word: from here on nothing of it reaches the disk.
    pub fn of(disk: &SimDisk, path: &Path) -> Self {
        disk.kill();
        Self { durable: disk.durable(path), written: disk.bytes(path) }
    }

    /// What the page cache held: a kill loses nothing that was written.
    pub fn after_kill(self) -> Vec<u8> {
        self.written
    }

    /// What the disk holds: any length from what was durable on, each sector behind it old, new, or zero.
    pub fn after_power_cut(self, input: &mut Input<'_>) -> Vec<u8> {
        let Self { durable, written } = self;
        let spare = written.len().saturating_sub(durable.len());
        let len = written.len().max(durable.len()) - input.below(spare + 1);
        let mut bytes = written[..len].to_vec();
        for start in (0..len).step_by(SECTOR) {
            let end = (start + SECTOR).min(len);
            let old: Vec<u8> = (start..end).map(|at| durable.get(at).copied().unwrap_or(0)).collect();
            if bytes[start..end] != old && input.one_in(3) {
                bytes[start..end].copy_from_slice(&old);
            }
        }
        bytes
    }
}

/// Options of a session on this disk. An INDEX comes often.
pub fn options(disk: &SimDisk) -> SessionOptions {
    SessionOptions {
        fs: disk.fs(),
        clock: Arc::new(EvenClock::default()),
        log: LogOptions::default().index_records(16),
    }
}
