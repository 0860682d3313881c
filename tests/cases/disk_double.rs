//! The real disk, but writes and syncs fail when a case says so, and what is read can be counted.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use seslog::log::{FsFile, Map, RealFs};

use crate::wrapped_fs::{Calls, Wrapped};

/// The real file system behind switches.
pub type DiskDouble = Wrapped<Switches>;

#[derive(Debug, Default)]
pub struct Switches {
    room: Mutex<Option<(Room, io::ErrorKind)>>,
    sync_fails: Mutex<Option<io::ErrorKind>>,
    bytes_read: AtomicU64,
    /// Nothing is mapped, so that every byte read is counted.
    no_maps: bool,
}

/// How much may still be written before writes fail.
#[derive(Debug, Clone, Copy)]
pub enum Room {
    Bytes(usize),
    HalfOfTheNextWrite,
}

pub fn disk_double() -> Arc<DiskDouble> {
    Wrapped::over(RealFs::shared(), Switches::default())
}

/// One that maps nothing and so sees all that is read.
pub fn counting_disk() -> Arc<DiskDouble> {
    Wrapped::over(RealFs::shared(), Switches { no_maps: true, ..Switches::default() })
}

impl Switches {
    pub fn fail_write(&self, room: Room, error: io::ErrorKind) {
        *self.room.lock().unwrap() = Some((room, error));
    }

    pub fn fail_sync(&self, error: io::ErrorKind) {
        *self.sync_fails.lock().unwrap() = Some(error);
    }

    pub fn clear_faults(&self) {
        *self.room.lock().unwrap() = None;
        *self.sync_fails.lock().unwrap() = None;
    }

    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }
}

impl Calls for Switches {
    fn read(&self, file: &dyn FsFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = file.read_at(buffer, offset)?;
        self.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn write(&self, file: &dyn FsFile, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut room = self.room.lock().unwrap();
        let Some((left, error)) = *room else { return file.write_at(bytes, offset) };
        let left = match left {
            Room::Bytes(left) => left,
            Room::HalfOfTheNextWrite => bytes.len() / 2,
        };
        let written = match left.min(bytes.len()) {
            0 => return Err(error.into()),
            len => file.write_at(&bytes[..len], offset)?,
        };
        *room = Some((Room::Bytes(left - written), error));
        Ok(written)
    }

    fn sync(&self, file: &dyn FsFile) -> io::Result<()> {
        match *self.sync_fails.lock().unwrap() {
            Some(error) => Err(error.into()),
            None => file.sync_data(),
        }
    }

    fn map(&self, file: &dyn FsFile, len: u64) -> io::Result<Option<Map>> {
        if self.no_maps { Ok(None) } else { file.map(len) }
    }
}
