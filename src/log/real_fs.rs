//! The real operating system, behind [`Fs`].

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::beside::temporary_beside;
use super::fs::{Access, Bell, DirEntry, FileId, FileOwner, FileStamp, Fs, FsFile};
use super::map::{Map, fetch};

/// The real operating system.
#[derive(Debug, Clone, Copy)]
pub struct RealFs {
    start: Instant,
}

impl RealFs {
    /// The real operating system, to be shared by any number of logs.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// The same behind the trait, as the calls of this floor take it.
    #[must_use]
    pub fn shared() -> Arc<dyn Fs> {
        Arc::new(Self::new())
    }
}

impl Default for RealFs {
    fn default() -> Self {
        Self::new()
    }
}

impl Fs for RealFs {
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>> {
        let regular = |metadata: std::fs::Metadata| match metadata.is_file() {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        };
        // Looked at before it is opened too: to open a pipe may wait for ever, and a device may do something.
        regular(std::fs::metadata(path)?)?;
        let file = OpenOptions::new().read(true).write(access == Access::Write).open(path)?;
        regular(file.metadata()?)?;
        Ok(Arc::new(RealFile { file }))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Arc::new(RealFile { file: options.open(path)? }))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        // A second name never replaces a file, a rename does. The first name goes afterwards: a crash in between leaves a
        // complete log with a spare temporary name.
        match std::fs::hard_link(from, to) {
            Ok(()) => std::fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // A file system without hard links: the check and the rename are two steps, the best there is.
            Err(_) if !to.try_exists()? => std::fs::rename(from, to),
            Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // Only Unix can open a directory and sync it; elsewhere the file system's own order must do.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        std::fs::read_dir(path)?
            .map(|entry| {
                let entry = entry?;
                Ok(DirEntry { name: entry.file_name(), is_dir: entry.file_type()?.is_dir() })
            })
            .collect()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        Ok(identity_of(&std::fs::metadata(path)?))
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        Ok(stamp_of(&std::fs::metadata(path)?))
    }

    fn touch_dir(&self, path: &Path) -> io::Result<()> {
        let told = File::open(path).and_then(|dir| dir.set_modified(std::time::SystemTime::now()));
        told.or_else(|_| {
            // Only its owner may set the time. Whoever may write in it changes it by a name that comes and goes.
            let passing = temporary_beside(self, &path.join("written"))?;
            drop(self.create(&passing)?);
            self.remove(&passing)
        })
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        getrandom::fill(buffer).map_err(io::Error::other)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        bell.wait(seen, until.map(|until| until.saturating_sub(self.monotonic())));
    }

    fn process_id(&self) -> u32 {
        std::process::id()
    }
}

#[derive(Debug)]
struct RealFile {
    file: File,
}

impl FsFile for RealFile {
    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.file, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.file, bytes, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn size(&self) -> io::Result<u64> {
        // Asked before each write: where times are fine-grained, a `stat` in between makes every write dirty the inode.
        // The handle's position is used by nothing else, since all reading and writing names its place.
        (&self.file).seek(SeekFrom::End(0))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn try_lock(&self) -> io::Result<bool> {
        // By the trait's name: the standard library's own method of a similar name has other errors.
        match fs2::FileExt::try_lock_exclusive(&self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        fs2::FileExt::unlock(&self.file)
    }

    #[cfg(unix)]
    fn owner(&self) -> io::Result<Option<FileOwner>> {
        use std::os::unix::fs::MetadataExt;
        let found = self.file.metadata()?;
        Ok(Some(FileOwner { user: found.uid(), group: found.gid(), mode: found.mode() & 0o777 }))
    }

    // By the handle, not by a name, which somebody else may have given to another file meanwhile.
    #[cfg(unix)]
    fn set_owner(&self, owner: FileOwner, and_mode: bool) -> io::Result<bool> {
        use std::os::unix::fs::{PermissionsExt, fchown};
        if self.owner()?.is_some_and(|own| (own.user, own.group) != (owner.user, owner.group)) {
            match fchown(&self.file, Some(owner.user), Some(owner.group)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(false),
                done => done?,
            }
        }
        if and_mode {
            self.file.set_permissions(std::fs::Permissions::from_mode(owner.mode))?;
        }
        Ok(true)
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        Ok(identity_of(&self.file.metadata()?))
    }

    #[cfg(unix)]
    fn is_named(&self) -> io::Result<bool> {
        Ok(std::os::unix::fs::MetadataExt::nlink(&self.file.metadata()?) > 0)
    }

    fn map(&self, len: u64) -> io::Result<Option<Map>> {
        Map::new(&self.file, len).map(Some)
    }

    #[cfg(unix)]
    fn will_read(&self, offset: u64, len: u64) {
        fetch(&self.file, offset, len);
    }
}

#[cfg(unix)]
fn identity_of(metadata: &std::fs::Metadata) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    Some(FileId { device: metadata.dev(), inode: metadata.ino() })
}

/// Stable Rust cannot tell on this platform; a replaced file is then noticed by its size and tag only.
#[cfg(not(unix))]
fn identity_of(_: &std::fs::Metadata) -> Option<FileId> {
    None
}

/// None for times that no `i64` of nanoseconds holds.
#[cfg(unix)]
fn stamp_of(metadata: &std::fs::Metadata) -> Option<FileStamp> {
    use std::os::unix::fs::MetadataExt;
    let nanos = |seconds: i64, nanos: i64| seconds.checked_mul(1_000_000_000)?.checked_add(nanos);
    Some(FileStamp {
        size: metadata.len(),
        modified: nanos(metadata.mtime(), metadata.mtime_nsec())?,
        changed: nanos(metadata.ctime(), metadata.ctime_nsec())?,
        inode: Some(metadata.ino()),
    })
}

/// None for a directory too: nobody can give it a new one here.
#[cfg(not(unix))]
fn stamp_of(metadata: &std::fs::Metadata) -> Option<FileStamp> {
    if metadata.is_dir() {
        return None;
    }
    let nanos = |time: io::Result<std::time::SystemTime>| {
        i64::try_from(time.ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_nanos()).ok()
    };
    let (modified, changed) = (nanos(metadata.modified())?, nanos(metadata.created())?);
    Some(FileStamp { size: metadata.len(), modified, changed, inode: None })
}
