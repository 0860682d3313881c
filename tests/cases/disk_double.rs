//! The real disk, but writes and syncs fail when a case says so, and what is read can be counted.

use std::fmt::Debug;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, Fs, FsFile, Map, RealFs};

/// The real file system behind switches.
#[derive(Debug)]
pub struct DiskDouble {
    real: RealFs,
    switches: Arc<Switches>,
}

#[derive(Debug, Default)]
struct Switches {
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

impl DiskDouble {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { real: RealFs::new(), switches: Arc::default() })
    }

    /// One that maps nothing and so sees all that is read.
    pub fn counting() -> Arc<Self> {
        let switches = Switches { no_maps: true, ..Switches::default() };
        Arc::new(Self { real: RealFs::new(), switches: Arc::new(switches) })
    }

    pub fn fail_write(&self, room: Room, error: io::ErrorKind) {
        *self.switches.room.lock().unwrap() = Some((room, error));
    }

    pub fn fail_sync(&self, error: io::ErrorKind) {
        *self.switches.sync_fails.lock().unwrap() = Some(error);
    }

    pub fn clear_faults(&self) {
        *self.switches.room.lock().unwrap() = None;
        *self.switches.sync_fails.lock().unwrap() = None;
    }

    pub fn bytes_read(&self) -> u64 {
        self.switches.bytes_read.load(Ordering::Relaxed)
    }

    fn watch(&self, real: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(WatchedFile { real, switches: self.switches.clone() })
    }
}

impl Fs for DiskDouble {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        self.real.open(path, access).map(|file| self.watch(file))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.real.create(path).map(|file| self.watch(file))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.real.publish(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.real.replace(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.real.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.real.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.real.sync_dir(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.real.list_dir(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        self.real.identity(path)
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        self.real.random(buffer)
    }

    fn monotonic(&self) -> Duration {
        self.real.monotonic()
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        self.real.wait(bell, seen, until);
    }

    fn process_id(&self) -> u32 {
        self.real.process_id()
    }
}

#[derive(Debug)]
struct WatchedFile {
    real: Arc<dyn FsFile>,
    switches: Arc<Switches>,
}

impl FsFile for WatchedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.real.read_at(buffer, offset)?;
        self.switches.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut room = self.switches.room.lock().unwrap();
        let Some((left, error)) = *room else { return self.real.write_at(bytes, offset) };
        let left = match left {
            Room::Bytes(left) => left,
            Room::HalfOfTheNextWrite => bytes.len() / 2,
        };
        let written = match left.min(bytes.len()) {
            0 => return Err(error.into()),
            len => self.real.write_at(&bytes[..len], offset)?,
        };
        *room = Some((Room::Bytes(left - written), error));
        Ok(written)
    }

    fn sync_data(&self) -> io::Result<()> {
        match *self.switches.sync_fails.lock().unwrap() {
            Some(error) => Err(error.into()),
            None => self.real.sync_data(),
        }
    }

    fn size(&self) -> io::Result<u64> {
        self.real.size()
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.real.set_len(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.real.try_lock()
    }

    fn unlock(&self) -> io::Result<()> {
        self.real.unlock()
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        self.real.identity()
    }

    fn map(&self, len: u64) -> io::Result<Option<Map>> {
        if self.switches.no_maps { Ok(None) } else { self.real.map(len) }
    }
}
