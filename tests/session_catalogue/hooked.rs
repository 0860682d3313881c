//! A simulated disk on which something else happens right before a chosen call, and on which a process dies at a chosen one.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use seslog::log::{Access, Bell, DirEntry, FileId, FileStamp, Fs, FsFile, Map};
use seslog::sim::SimDisk;

type Hook = Box<dyn FnOnce() + Send>;

/// What one process sees of a disk. Whoever waits on it waits for nobody: time goes on at once.
pub struct Hooked {
    disk: SimDisk,
    fs: Arc<dyn Fs>,
    calls: AtomicU64,
    at: u64,
    hook: Mutex<Option<Hook>>,
    dies_at: u64,
    busy: AtomicU64,
    watch: Option<Box<dyn Fn() -> Option<String> + Send + Sync>>,
    seen: Mutex<Option<String>>,
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hooked")
    }
}

impl Hooked {
    pub fn of(disk: &SimDisk) -> Self {
        let (disk, fs) = (disk.clone(), disk.fs());
        let (at, dies_at) = (u64::MAX, u64::MAX);
        Self {
            disk,
            fs,
            calls: AtomicU64::new(0),
            at,
            hook: Mutex::new(None),
            dies_at,
            busy: AtomicU64::new(0),
            watch: None,
            seen: Mutex::new(None),
        }
    }

    /// Right before the call of this number (from 0) this happens.
    pub fn before(self, call: u64, hook: impl FnOnce() + Send + 'static) -> Self {
        Self { at: call, hook: Mutex::new(Some(Box::new(hook))), ..self }
    }

    /// The process is dead from this call on: none does anything any more.
    pub fn dying_at(self, call: u64) -> Self {
        Self { dies_at: call, ..self }
    }

    /// So often somebody has the lock that is asked for.
    pub fn busy(self, times: u64) -> Self {
        Self { busy: AtomicU64::new(times), ..self }
    }

    /// This is asked before each call.
    pub fn watched(self, watch: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Self { watch: Some(Box::new(watch)), ..self }
    }

    /// What the watch has said first.
    pub fn seen(&self) -> Option<String> {
        self.seen.lock().unwrap().clone()
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn enter(&self) -> io::Result<()> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        if number >= self.dies_at {
            return Err(io::Error::other("the process is gone"));
        }
        if let Some(seen) = self.watch.as_ref().and_then(|watch| watch()) {
            self.seen.lock().unwrap().get_or_insert(format!("{seen}, before call {number}"));
        }
        if number == self.at
            && let Some(hook) = self.hook.lock().unwrap().take()
        {
            hook();
        }
        Ok(())
    }
}

/// The seam, as one process has it.
#[derive(Debug, Clone)]
pub struct Seam(pub Arc<Hooked>);

impl Seam {
    pub fn of(hooked: Hooked) -> Arc<dyn Fs> {
        Arc::new(Self(Arc::new(hooked)))
    }

    fn wrapped(&self, file: Arc<dyn FsFile>) -> Arc<dyn FsFile> {
        Arc::new(File { hooked: self.0.clone(), file })
    }

    fn to(&self) -> io::Result<&Arc<dyn Fs>> {
        self.0.enter().map(|()| &self.0.fs)
    }
}

impl Fs for Seam {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        self.to()?.open(path, access).map(|file| self.wrapped(file))
    }
    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.to()?.create(path).map(|file| self.wrapped(file))
    }
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.to()?.publish(from, to)
    }
    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.to()?.replace(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        self.to()?.remove(path)
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.to()?.create_dir(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.to()?.sync_dir(path)
    }
    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        self.to()?.list_dir(path)
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let exists = self.0.disk.image().files.keys().any(|file| file.starts_with(path));
        let dirs = &self.0.disk.image().dirs;
        let found = if exists || dirs.contains(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) };
        self.to()?.canonical(path).and_then(|path| found.map(|()| path))
    }
    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        self.to()?.identity(path)
    }
    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        self.to()?.stamp(path)
    }
    fn touch_dir(&self, path: &Path) -> io::Result<()> {
        self.to()?.touch_dir(path)
    }
    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        self.to()?.random(buffer)
    }
    fn monotonic(&self) -> Duration {
        self.0.fs.monotonic()
    }
    fn wait(&self, _: &Arc<Bell>, _: u64, until: Option<Duration>) {
        let until = until.unwrap_or_default();
        self.0.disk.advance(until.saturating_sub(self.monotonic()).max(Duration::from_secs(1)));
    }
    fn process_id(&self) -> u32 {
        self.0.fs.process_id()
    }
}

#[derive(Debug)]
struct File {
    hooked: Arc<Hooked>,
    file: Arc<dyn FsFile>,
}

impl File {
    fn to(&self) -> io::Result<&Arc<dyn FsFile>> {
        self.hooked.enter().map(|()| &self.file)
    }
}

impl FsFile for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.to()?.read_at(buffer, offset)
    }
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.to()?.write_at(bytes, offset)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.to()?.sync_data()
    }
    fn size(&self) -> io::Result<u64> {
        self.to()?.size()
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.to()?.set_len(len)
    }
    fn try_lock(&self) -> io::Result<bool> {
        let is_busy = |left: u64| left.checked_sub(1);
        if self.hooked.busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_busy).is_ok() {
            return Ok(false);
        }
        self.to()?.try_lock()
    }
    fn unlock(&self) -> io::Result<()> {
        self.to()?.unlock()
    }
    fn identity(&self) -> io::Result<Option<FileId>> {
        self.to()?.identity()
    }
    fn is_named(&self) -> io::Result<bool> {
        self.to()?.is_named()
    }
    fn map(&self, len: u64) -> io::Result<Option<Map>> {
        self.to()?.map(len)
    }
}
