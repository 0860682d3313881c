//! The one writer's guard. It lies on the log's own inode, so that no side file can be removed under it. Readers need none.

use std::path::Path;
use std::sync::Arc;

use super::error::LogError;
use super::fs::{Access, Fs, FsFile};

/// Proof that this handle is the log's only writer. It ends with the last copy of the file handle.
#[derive(Debug)]
pub(crate) struct WriterLock {
    pub(crate) file: Arc<dyn FsFile>,
    process_id: u32,
}

impl WriterLock {
    /// Opens a log for writing and locks it at once or not at all.
    pub(crate) fn open(fs: &dyn Fs, path: &Path) -> Result<Self, LogError> {
        let file = fs.open(path, Access::Write).map_err(|source| LogError::io(path, "open", 0, source))?;
        Self::take(fs, path, file)
    }

    /// Locks an open file, then makes sure that the path still names it: it may have been replaced before the lock was there.
    pub(crate) fn take(fs: &dyn Fs, path: &Path, file: Arc<dyn FsFile>) -> Result<Self, LogError> {
        if !file.try_lock().map_err(|source| LogError::io(path, "lock", 0, source))? {
            return Err(LogError::Locked { path: path.to_path_buf() });
        }
        check_identity(fs, path, &*file)?;
        Ok(Self { file, process_id: fs.process_id() })
    }

    /// A forked child inherits handle and lock and can't be told apart by them; its process number tells.
    pub(crate) fn is_own_process(&self, fs: &dyn Fs) -> bool {
        self.process_id == fs.process_id()
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
