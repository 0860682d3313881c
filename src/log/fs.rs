//! The seam to the operating system: files, locks, time, waiting and randomness, and nothing else.
//!
//! [`RealFs`] is the real thing; tests put their own behind the same traits and let writes, syncs and time do what they
//! want. Only this file, `lock.rs` and the command line touch files.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::beside::temporary_beside;
use super::map::{Map, fetch};
use super::sync::{Condvar, Mutex, locked, wait};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For reading only.
    Read,
    /// For reading and writing; the file must exist.
    Write,
}

/// Which file a handle or a path means, whatever it is called: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode on it.
    pub inode: u64,
}

/// What the file system knows of a file or directory without opening it. Who has seen a stamp, and sees the same one later,
/// may take the content for the same, if the times in it were over when it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Length in bytes.
    pub size: u64,
    /// When the content was changed last, as nanoseconds since 1970 UTC. Anybody can set it back.
    pub modified: i64,
    /// When anything of it was changed last, the time above included, as nanoseconds since 1970 UTC: nobody can set it
    /// back. Where the platform does not tell: when it was made.
    pub changed: i64,
    /// The inode; none where the platform cannot tell.
    pub inode: Option<u64>,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The entry's name.
    pub name: std::ffi::OsString,
    /// Whether it is a directory.
    pub is_dir: bool,
}

/// Something that a thread can wait for: each ring counts up.
#[derive(Debug, Default)]
pub struct Bell {
    rings: Mutex<u64>,
    rung: Condvar,
}

impl Bell {
    /// How often it has rung.
    #[must_use]
    pub fn count(&self) -> u64 {
        *locked(&self.rings)
    }

    /// Wakes everybody who waits.
    pub fn ring(&self) {
        *locked(&self.rings) += 1;
        self.rung.notify_all();
    }

    /// Waits in real time until the count is no longer `seen`, or for at most `limit`. With a limit it may return early.
    pub fn wait(&self, seen: u64, limit: Option<Duration>) {
        let mut rings = locked(&self.rings);
        match limit {
            None => {
                while *rings == seen {
                    rings = wait(&self.rung, rings);
                }
            }
            Some(limit) if *rings == seen => drop(self.rung.wait_timeout(rings, limit)),
            Some(_) => {}
        }
    }
}

/// An open file. All calls take positions, none keeps one. Nothing is retried here.
pub trait FsFile: Debug + Send + Sync {
    /// Reads some bytes at a position; 0 means the end of the file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes some bytes at a position; may write fewer than given.
    ///
    /// # Errors
    /// Those of the operating system.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;
    /// Makes the file's bytes and its length durable.
    ///
    /// # Errors
    /// Those of the operating system; the caller must not try again.
    fn sync_data(&self) -> io::Result<()>;
    /// Length of the file in bytes.
    ///
    /// # Errors
    /// Those of the operating system.
    fn size(&self) -> io::Result<u64>;
    /// Sets the length of the file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Takes the writer's lock on the file itself; false if somebody else has it. It ends with the last copy of the handle.
    ///
    /// # Errors
    /// Those of the operating system.
    fn try_lock(&self) -> io::Result<bool>;
    /// Gives the writer's lock up, for all copies of the handle.
    ///
    /// # Errors
    /// Those of the operating system.
    fn unlock(&self) -> io::Result<()>;
    /// Which file this is; none where the platform cannot tell.
    ///
    /// # Errors
    /// Those of the operating system.
    fn identity(&self) -> io::Result<Option<FileId>>;
    /// Whether some path still names the file; true where the platform cannot tell.
    ///
    /// # Errors
    /// Those of the operating system.
    fn is_named(&self) -> io::Result<bool> {
        Ok(true)
    }
    /// A read-only map of the first `len` bytes; none where there are no maps.
    ///
    /// # Errors
    /// Those of the operating system.
    fn map(&self, len: u64) -> io::Result<Option<Map>>;
    /// Says that so many bytes from a place on are about to be read, so that a slow disk fetches them meanwhile.
    fn will_read(&self, _offset: u64, _len: u64) {}
}

/// The operating system as the log sees it.
pub trait Fs: Debug + Send + Sync {
    /// Opens a file that exists.
    ///
    /// # Errors
    /// Those of the operating system.
    fn open(&self, path: &Path, access: Access) -> io::Result<Arc<dyn FsFile>>;
    /// Makes a new file that only its owner can read; a file of that name is an error.
    ///
    /// # Errors
    /// Those of the operating system.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>>;
    /// Gives a file another name in the same directory. A file that has that name already is an error.
    ///
    /// # Errors
    /// Those of the operating system.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file another name in the same directory, in place of what had that name.
    ///
    /// # Errors
    /// Those of the operating system.
    fn replace(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a new file owner and mode of the one whose place it is to take, as far as this process may.
    ///
    /// # Errors
    /// Those of the operating system, but that it forbids it.
    fn keep_owner(&self, _new: &Path, _old: &Path) -> io::Result<()> {
        Ok(())
    }
    /// Removes a file.
    ///
    /// # Errors
    /// Those of the operating system.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes a directory that only its owner can enter, and those above it that are missing.
    ///
    /// # Errors
    /// Those of the operating system.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes names in a directory durable.
    ///
    /// # Errors
    /// Those of the operating system.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// What is in a directory, in no order.
    ///
    /// # Errors
    /// Those of the operating system.
    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>>;
    /// The path of a file itself, where this one is a link to it.
    ///
    /// # Errors
    /// Those of the operating system.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }
    /// Which file a path names; none where the platform cannot tell.
    ///
    /// # Errors
    /// Those of the operating system.
    fn identity(&self, path: &Path) -> io::Result<Option<FileId>>;
    /// The stamp of a file or directory, links followed; none where the platform has none that can be relied on.
    ///
    /// # Errors
    /// Those of the operating system.
    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        let _ = path;
        Ok(None)
    }
    /// Gives a directory a new stamp: a sign for those who keep what they have seen in it.
    ///
    /// # Errors
    /// Those of the operating system.
    fn touch_dir(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }
    /// Fills a buffer with bytes that nobody can foresee.
    ///
    /// # Errors
    /// Those of the operating system.
    fn random(&self, buffer: &mut [u8]) -> io::Result<()>;
    /// Time since some moment in the past; never goes back.
    fn monotonic(&self) -> Duration;
    /// Waits until the bell has rung since `seen`, or until the monotonic time `until`. May return early.
    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>);
    /// Number of this process.
    fn process_id(&self) -> u32;
}

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

    #[cfg(unix)]
    fn keep_owner(&self, new: &Path, old: &Path) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let (made, old) = (std::fs::metadata(new)?, std::fs::metadata(old)?);
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            match chown(new, Some(old.uid()), Some(old.gid())) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
                done => done?,
            }
        }
        // What the owner of the old file let others do they may do with the new one.
        std::fs::set_permissions(new, std::fs::Permissions::from_mode(old.mode() & 0o777))
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
