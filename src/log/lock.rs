//! The one writer's guard. It lies on the log's own inode, so that no side file can be removed under it. Readers need none.

use std::path::Path;
use std::sync::Arc;

use super::error::LogError;
use super::fs::{Access, Fs, FsFile};

/// How often the lock is tried before it counts as another writer's. Far longer than anybody takes to ask for it.
const ATTEMPTS: u32 = 64;

/// Proof that this handle is the log's only writer. The lock is given up with it: copies of the file handle may live on, in
/// receipts, or for a moment in a program that is just being started.
#[derive(Debug)]
pub(crate) struct WriterLock {
    pub(crate) file: Arc<dyn FsFile>,
    fs: Arc<dyn Fs>,
    process_id: u32,
}

impl WriterLock {
    /// Opens a log for writing and locks it at once or not at all.
    pub(crate) fn open(fs: &Arc<dyn Fs>, path: &Path) -> Result<Self, LogError> {
        let file = fs.open(path, Access::Write).map_err(|source| LogError::io(path, "open", 0, source))?;
        Self::take(fs, path, file)
    }

    /// Locks an open file, then makes sure that the path still names it: it may have been replaced before the lock was there.
    pub(crate) fn take(fs: &Arc<dyn Fs>, path: &Path, file: Arc<dyn FsFile>) -> Result<Self, LogError> {
        let lock = || file.try_lock().map_err(|source| LogError::io(path, "lock", 0, source));
        // Who only asks whether somebody writes may hold it for the moment between two calls.
        let mut attempts = 0;
        while !lock()? {
            attempts += 1;
            if attempts == ATTEMPTS {
                return Err(LogError::Locked { path: path.to_path_buf() });
            }
            std::thread::yield_now();
        }
        let lock = Self { file, fs: fs.clone(), process_id: fs.process_id() };
        check_identity(&**fs, path, &*lock.file)?;
        Ok(lock)
    }

    /// A forked child inherits handle and lock and can't be told apart by them; its process number tells.
    pub(crate) fn is_own_process(&self) -> bool {
        self.process_id == self.fs.process_id()
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // A forked child must leave the parent its lock.
        if self.is_own_process() {
            let _ = self.file.unlock();
        }
    }
}

/// The path still names the open file.
pub(crate) fn check_identity(fs: &dyn Fs, path: &Path, file: &dyn FsFile) -> Result<(), LogError> {
    let open = file.identity().map_err(|source| LogError::io(path, "stat", 0, source))?;
    let named = fs.identity(path);
    match (open, named) {
        (Some(open), Ok(Some(named))) if open != named => Err(LogError::Replaced {
            path: path.to_path_buf(),
            expected: format!("inode {}", open.inode),
            found: format!("inode {}", named.inode),
        }),
        (_, Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Err(LogError::Replaced {
            path: path.to_path_buf(),
            expected: String::from("the file that was opened"),
            found: String::from("no file"),
        }),
        (_, Err(source)) => Err(LogError::io(path, "stat", 0, source)),
        _ => Ok(()),
    }
}
