//! The seam to the operating system: files, locks, time, waiting and randomness, and nothing else.
//!
//! [`RealFs`] is the real thing; tests put their own behind the same traits and let writes, syncs and time do what they
//! want. Only this file, `lock.rs` and the command line touch files.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::map::Map;
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

/// Who owns a file, and what its mode lets others do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOwner {
    /// The user's number.
    pub user: u32,
    /// The group's number.
    pub group: u32,
    /// The permissions, as Unix has them.
    pub mode: u32,
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
    /// Who owns the file, and its mode; none where the platform has no such owners.
    ///
    /// # Errors
    /// Those of the operating system.
    fn owner(&self) -> io::Result<Option<FileOwner>> {
        Ok(None)
    }
    /// Gives the file this owner and, if wanted, the mode; false if this process may not, and then nothing is changed.
    ///
    /// # Errors
    /// Those of the operating system, but that it forbids it.
    fn set_owner(&self, _owner: FileOwner, _and_mode: bool) -> io::Result<bool> {
        Ok(true)
    }
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
