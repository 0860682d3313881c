//! The real file system, with every read noted.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, Fs, FsFile, Map, RealFs};

/// Reads as they reached the operating system: where, and how many bytes came.
type Reads = Arc<Mutex<Vec<(u64, u64)>>>;

#[derive(Debug, Default)]
pub struct Watched {
    real: RealFs,
    reads: Reads,
}

impl Watched {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// What was read since the last call.
    pub fn take(&self) -> Seen {
        Seen { reads: std::mem::take(&mut *self.reads.lock().unwrap()) }
    }
}

/// Some reads.
#[derive(Debug)]
pub struct Seen {
    pub reads: Vec<(u64, u64)>,
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

#[derive(Debug)]
struct WatchedFile {
    real: Arc<dyn FsFile>,
    reads: Reads,
}

impl FsFile for WatchedFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.real.read_at(buffer, offset)?;
        self.reads.lock().unwrap().push((offset, count as u64));
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.real.write_at(bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.real.sync_data()
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

    fn is_named(&self) -> io::Result<bool> {
        self.real.is_named()
    }

    fn map(&self, _: u64) -> io::Result<Option<Map>> {
        panic!("nothing is mapped unless it is asked for")
    }
}

impl Watched {
    fn watch(&self, real: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(WatchedFile { real, reads: self.reads.clone() })
    }
}

impl Fs for Watched {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        Ok(self.watch(self.real.open(path, access)?))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        Ok(self.watch(self.real.create(path)?))
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
