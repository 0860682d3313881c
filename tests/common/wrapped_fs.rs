//! A file system over another one, for a test that has a say in some of the calls that go through it.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::fmt::{self, Debug};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, FileStamp, Fs, FsFile, Map};

/// The calls that a test can have a say in. Each goes to the file system below unless the test does something else.
pub trait Calls: Send + Sync + 'static {
    fn read(&self, file: &dyn FsFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        file.read_at(buffer, offset)
    }

    fn write(&self, file: &dyn FsFile, bytes: &[u8], offset: u64) -> io::Result<usize> {
        file.write_at(bytes, offset)
    }

    fn sync(&self, file: &dyn FsFile) -> io::Result<()> {
        file.sync_data()
    }

    fn size(&self, file: &dyn FsFile) -> io::Result<u64> {
        file.size()
    }

    fn try_lock(&self, file: &dyn FsFile) -> io::Result<bool> {
        file.try_lock()
    }

    fn is_named(&self, file: &dyn FsFile) -> io::Result<bool> {
        file.is_named()
    }

    fn map(&self, file: &dyn FsFile, len: u64) -> io::Result<Option<Map>> {
        file.map(len)
    }

    fn will_read(&self, file: &dyn FsFile, offset: u64, len: u64) {
        file.will_read(offset, len);
    }

    fn random(&self, fs: &dyn Fs, buffer: &mut [u8]) -> io::Result<()> {
        fs.random(buffer)
    }

    fn monotonic(&self, fs: &dyn Fs) -> Duration {
        fs.monotonic()
    }
}

/// The file system; gives what its test has a say with.
#[derive(Clone)]
pub struct Wrapped<C> {
    below: Arc<dyn Fs>,
    calls: Arc<C>,
}

struct WrappedFile<C> {
    below: Arc<dyn FsFile>,
    calls: Arc<C>,
}

impl<C: Calls> Wrapped<C> {
    pub fn over(below: Arc<dyn Fs>, calls: C) -> Arc<Self> {
        Arc::new(Self { below, calls: Arc::new(calls) })
    }

    fn file(&self, below: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(WrappedFile { below, calls: self.calls.clone() })
    }
}

impl<C> Deref for Wrapped<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.calls
    }
}

impl<C> Debug for Wrapped<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Wrapped")
    }
}

impl<C> Debug for WrappedFile<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("WrappedFile")
    }
}

impl<C: Calls> Fs for Wrapped<C> {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        self.below.open(path, access).map(|file| self.file(file))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.below.create(path).map(|file| self.file(file))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.publish(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.below.replace(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.below.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.below.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.below.sync_dir(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.below.list_dir(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        self.below.identity(path)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        self.below.stamp(path)
    }

    fn touch_dir(&self, path: &Path) -> io::Result<()> {
        self.below.touch_dir(path)
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        self.calls.random(&*self.below, buffer)
    }

    fn monotonic(&self) -> Duration {
        self.calls.monotonic(&*self.below)
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        self.below.wait(bell, seen, until);
    }

    fn process_id(&self) -> u32 {
        self.below.process_id()
    }
}

impl<C: Calls> FsFile for WrappedFile<C> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.calls.read(&*self.below, buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.calls.write(&*self.below, bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.calls.sync(&*self.below)
    }

    fn size(&self) -> io::Result<u64> {
        self.calls.size(&*self.below)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.below.set_len(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.calls.try_lock(&*self.below)
    }

    fn unlock(&self) -> io::Result<()> {
        self.below.unlock()
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        self.below.identity()
    }

    fn is_named(&self) -> io::Result<bool> {
        self.calls.is_named(&*self.below)
    }

    fn map(&self, len: u64) -> io::Result<Option<Map>> {
        self.calls.map(&*self.below, len)
    }

    fn will_read(&self, offset: u64, len: u64) {
        self.calls.will_read(&*self.below, offset, len);
    }
}
