//! The simulated disk as a file system of SQLite's.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use ::seslog::log::{Access, Fs as _, FsFile};
use ::seslog::sim::SimDisk;
use sqlite_vfs::{DatabaseHandle, LockKind, OpenAccess, OpenKind, OpenOptions, Vfs, WalDisabled, register};

const VFS: &str = "simulated";

/// SQLite knows file systems by name and for ever; which disk is meant is the first part of a path.
static DISKS: LazyLock<Mutex<HashMap<u64, SimDisk>>> = LazyLock::new(|| {
    register(VFS, Simulated, false).expect("SQLite takes a file system of a new name");
    Mutex::default()
});

/// A disk that SQLite can reach, until this goes.
pub struct Mounted(u64);

impl Mounted {
    pub fn new(disk: SimDisk) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, disk);
        Self(number)
    }

    /// The path of a file on this disk, for SQLite.
    pub fn path(&self, path: &Path) -> String {
        format!("/{}{}", self.0, path.display())
    }

    /// The name of the file system, for SQLite.
    pub fn vfs(&self) -> &'static str {
        VFS
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        DISKS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

struct Simulated;

impl Simulated {
    fn find(path: &str) -> io::Result<(SimDisk, PathBuf)> {
        let (number, rest) = path.trim_start_matches('/').split_once('/').ok_or(io::ErrorKind::NotFound)?;
        let number = number.parse().map_err(|_| io::ErrorKind::NotFound)?;
        let disk = DISKS.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned();
        Ok((disk.ok_or(io::ErrorKind::NotFound)?, Path::new("/").join(rest)))
    }
}

impl Vfs for Simulated {
    type Handle = OpenFile;

    fn open(&self, path: &str, options: OpenOptions) -> io::Result<OpenFile> {
        let (disk, path) = Self::find(path)?;
        let made = disk.identity(&path).is_err();
        let file = match options.access {
            OpenAccess::Create | OpenAccess::CreateNew if made => disk.create(&path)?,
            OpenAccess::CreateNew => return Err(io::ErrorKind::AlreadyExists.into()),
            OpenAccess::Read => disk.open(&path, Access::Read)?,
            _ => disk.open(&path, Access::Write)?,
        };
        // SQLite's own file system for Unix syncs the directory with the first sync of a new journal or WAL.
        let new_name = (made && options.kind != OpenKind::MainDb).then_some((disk, path));
        Ok(OpenFile { file, new_name, lock: LockKind::None })
    }

    fn delete(&self, path: &str) -> io::Result<()> {
        let (disk, path) = Self::find(path)?;
        disk.remove(&path)
    }

    fn exists(&self, path: &str) -> io::Result<bool> {
        let (disk, path) = Self::find(path)?;
        Ok(disk.identity(&path).is_ok())
    }

    fn temporary_name(&self) -> String {
        String::from("/none/temporary")
    }

    fn random(&self, buffer: &mut [i8]) {
        buffer.iter_mut().zip(1..).for_each(|(byte, count)| *byte = count);
    }

    fn sleep(&self, duration: Duration) -> Duration {
        duration
    }
}

struct OpenFile {
    file: Arc<dyn FsFile>,
    new_name: Option<(SimDisk, PathBuf)>,
    lock: LockKind,
}

impl DatabaseHandle for OpenFile {
    type WalIndex = WalDisabled;

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn read_exact_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = self.file.read_at(buffer, offset)?;
        // SQLite expects zeros for what is behind the end.
        buffer[end..].fill(0);
        if end < buffer.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset).map(drop)
    }

    fn sync(&mut self, _: bool) -> io::Result<()> {
        self.file.sync_data()?;
        if let Some((disk, path)) = self.new_name.take() {
            disk.sync_dir(path.parent().unwrap_or(&path))?;
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn lock(&mut self, lock: LockKind) -> io::Result<bool> {
        self.lock = lock;
        Ok(true)
    }

    fn reserved(&mut self) -> io::Result<bool> {
        Ok(false)
    }

    fn current_lock(&self) -> io::Result<LockKind> {
        Ok(self.lock)
    }

    fn wal_index(&self, _: bool) -> io::Result<WalDisabled> {
        Ok(WalDisabled)
    }
}
