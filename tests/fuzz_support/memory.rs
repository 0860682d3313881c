//! A disk in memory behind the seam: files with what was written and what was synced, locks, kills and power cuts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, Fs, FsFile, LogOptions, Map};
use seslog::session::{Clock, SessionOptions};

use super::input::Input;

/// The session's file on the disk in memory.
pub const PATH: &str = "/s/0193a000-0000-7000-8000-000000000001.seslog";

/// Sectors are old or new after a power cut, never a mixture.
const SECTOR: usize = 512;

/// The disk. A clone is the same disk.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: Arc<Mutex<BTreeMap<PathBuf, Arc<Content>>>>,
    random: Arc<AtomicU64>,
    inodes: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct Content {
    inode: u64,
    bytes: Mutex<Bytes>,
    locked: AtomicBool,
    /// The process that had it open is gone: nothing more gets through.
    dead: AtomicBool,
}

#[derive(Debug, Default)]
struct Bytes {
    written: Vec<u8>,
    durable: Vec<u8>,
}

/// What a power cut finds: what a sync covered, and what was written in all.
#[derive(Debug)]
pub struct Cut {
    durable: Vec<u8>,
    written: Vec<u8>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// A disk with one file, [`PATH`].
    pub fn with(bytes: &[u8]) -> Self {
        let disk = Self::new();
        disk.put(Path::new(PATH), bytes);
        disk
    }

    pub fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(self.clone())
    }

    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        self.file(path).map(|content| held(&content.bytes).written.clone()).unwrap_or_default()
    }

    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let (written, durable) = (bytes.to_vec(), bytes.to_vec());
        let content =
            Content { inode: self.inode(), bytes: Mutex::new(Bytes { written, durable }), ..Content::default() };
        held(&self.files).insert(path.to_path_buf(), Arc::new(content));
    }

    /// Ends all that has the file open, without a word: from here on nothing of it reaches the disk.
    pub fn end(&self, path: &Path) -> Cut {
        let content = self.file(path).expect("the file is there");
        content.dead.store(true, Ordering::SeqCst);
        let bytes = held(&content.bytes);
        Cut { durable: bytes.durable.clone(), written: bytes.written.clone() }
    }

    fn file(&self, path: &Path) -> io::Result<Arc<Content>> {
        held(&self.files).get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn inode(&self) -> u64 {
        self.inodes.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Cut {
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

impl Fs for Memory {
    fn open(&self, path: &Path, _: Access) -> io::Result<Arc<dyn FsFile>> {
        Ok(Arc::new(Handle { content: self.file(path)?, has_lock: AtomicBool::new(false) }))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        let content = Arc::new(Content { inode: self.inode(), ..Content::default() });
        held(&self.files).insert(path.to_path_buf(), content.clone());
        Ok(Arc::new(Handle { content, has_lock: AtomicBool::new(false) }))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        let taken = held(&self.files).contains_key(to);
        if taken { Err(io::ErrorKind::AlreadyExists.into()) } else { self.replace(from, to) }
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut files = held(&self.files);
        let content = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_path_buf(), content);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        held(&self.files).remove(path).map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let name = |file: &PathBuf| Some(file.strip_prefix(path).ok()?.as_os_str().to_owned());
        let names: Vec<OsString> = held(&self.files).keys().filter_map(name).collect();
        Ok(names.into_iter().map(|name| DirEntry { name, is_dir: false }).collect())
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        Ok(Some(FileId { device: 1, inode: self.file(path)?.inode }))
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        for byte in buffer {
            let next = self.random.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            *byte = (next >> 56) as u8;
        }
        Ok(())
    }

    // Time stands still, so nothing happens but what was asked for.
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, _: Option<Duration>) {
        bell.wait(seen, None);
    }

    fn process_id(&self) -> u32 {
        1
    }
}

#[derive(Debug)]
struct Handle {
    content: Arc<Content>,
    has_lock: AtomicBool,
}

impl Handle {
    fn alive(&self) -> io::Result<MutexGuard<'_, Bytes>> {
        let bytes = held(&self.content.bytes);
        match self.content.dead.load(Ordering::SeqCst) {
            true => Err(io::Error::other("the process is gone")),
            false => Ok(bytes),
        }
    }
}

impl FsFile for Handle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = held(&self.content.bytes);
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.written.len());
        let len = buffer.len().min(bytes.written.len() - from);
        buffer[..len].copy_from_slice(&bytes.written[from..from + len]);
        Ok(len)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let mut content = self.alive()?;
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if content.written.len() < end {
            content.written.resize(end, 0);
        }
        content.written[start..end].copy_from_slice(bytes);
        Ok(bytes.len())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut content = self.alive()?;
        let Bytes { written, durable } = &mut *content;
        durable.clone_from(written);
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        Ok(held(&self.content.bytes).written.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.alive()?.written.resize(len as usize, 0);
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let taken = self.has_lock.load(Ordering::SeqCst) || !self.content.locked.swap(true, Ordering::SeqCst);
        self.has_lock.store(taken, Ordering::SeqCst);
        Ok(taken)
    }

    fn unlock(&self) -> io::Result<()> {
        if self.has_lock.swap(false, Ordering::SeqCst) {
            self.content.locked.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        Ok(Some(FileId { device: 1, inode: self.content.inode }))
    }

    fn map(&self, _: u64) -> io::Result<Option<Map>> {
        Ok(None)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

/// A clock that runs evenly and a randomness that counts, so that the same input does the same again.
#[derive(Debug, Default)]
struct Even(AtomicU64);

impl Clock for Even {
    fn now(&self) -> i64 {
        1_764_450_000_000_000 + self.0.fetch_add(700, Ordering::Relaxed) as i64
    }

    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Options of a session on this disk. An INDEX comes often.
pub fn options(disk: &Memory) -> SessionOptions {
    SessionOptions { fs: disk.fs(), clock: Arc::new(Even::default()), log: LogOptions::default().index_records(16) }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
