//! A disk over another one on which single calls do something odd: wait, panic, or give a lock that is taken.

use std::fmt::{self, Debug};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, Fs, FsFile, Map};

/// The calls that can be odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OddCall {
    Lock,
    Read,
    Write,
    Sync,
    Size,
    Named,
    Time,
    Random,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Go,
    /// It panics before it does anything.
    Panic,
    /// It does its work and panics then.
    PanicAfter,
    /// Of a lock: it is given.
    Grant,
}

type Hook = Arc<dyn Fn(OddCall) -> Act + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Odd {
    inner: Arc<dyn Fs>,
    hook: Hook,
}

struct OddFile {
    inner: Arc<dyn FsFile>,
    hook: Hook,
}

impl Odd {
    /// The hook is asked before each call, and may wait.
    pub(crate) fn over(inner: Arc<dyn Fs>, hook: impl Fn(OddCall) -> Act + Send + Sync + 'static) -> Arc<dyn Fs> {
        Arc::new(Self { inner, hook: Arc::new(hook) })
    }

    fn file(&self, inner: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(OddFile { inner, hook: self.hook.clone() })
    }
}

fn at<T>(hook: &Hook, call: OddCall, work: impl FnOnce() -> T) -> T {
    let act = hook(call);
    assert_ne!(act, Act::Panic, "{call:?} was to panic");
    let done = work();
    assert_ne!(act, Act::PanicAfter, "{call:?} was to panic after its work");
    done
}

impl Debug for Odd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Odd")
    }
}

impl Debug for OddFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("OddFile")
    }
}

impl Fs for Odd {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        self.inner.open(path, access).map(|file| self.file(file))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.inner.create(path).map(|file| self.file(file))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.publish(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.replace(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_dir(path)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.inner.list_dir(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        self.inner.identity(path)
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        at(&self.hook, OddCall::Random, || self.inner.random(buffer))
    }

    fn monotonic(&self) -> Duration {
        at(&self.hook, OddCall::Time, || self.inner.monotonic())
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        self.inner.wait(bell, seen, until);
    }

    fn process_id(&self) -> u32 {
        self.inner.process_id()
    }
}

impl FsFile for OddFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        at(&self.hook, OddCall::Read, || self.inner.read_at(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        at(&self.hook, OddCall::Write, || self.inner.write_at(bytes, offset))
    }

    fn sync_data(&self) -> io::Result<()> {
        at(&self.hook, OddCall::Sync, || self.inner.sync_data())
    }

    fn size(&self) -> io::Result<u64> {
        at(&self.hook, OddCall::Size, || self.inner.size())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        if (self.hook)(OddCall::Lock) == Act::Grant { Ok(true) } else { self.inner.try_lock() }
    }

    fn unlock(&self) -> io::Result<()> {
        self.inner.unlock()
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        self.inner.identity()
    }

    fn is_named(&self) -> io::Result<bool> {
        at(&self.hook, OddCall::Named, || self.inner.is_named())
    }

    fn map(&self, len: u64) -> io::Result<Option<Map>> {
        self.inner.map(len)
    }
}
