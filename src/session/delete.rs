//! A session is deleted: its file, what earlier attempts left beside it, and what caches tell of it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache_lock::Erasing;
use super::error::SessionError;
use super::publish::remove_unfinished;
use super::writer::{Session, SessionOptions};
use crate::log::{Access, Fs, LogError, WriterLock, parent_dir};

/// What was deleted, and what is still there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Deleted {
    /// The file.
    pub path: PathBuf,
    /// Length of the file, in bytes.
    pub bytes: u64,
    /// The file still has another name (a hard link) and all that it held.
    pub file_named: bool,
    /// Why a cache of the store may still tell of it.
    pub cache_left: Option<String>,
}

impl Session {
    /// Deletes a session for good: what a list and a search keep of the sessions in its directory (they read them again), unfinished
    /// files of it that a killed program left, and the file. The session's lock is held meanwhile. The file need not be whole,
    /// nor a log. Once this returns it is durable; a crash before that leaves the file or takes it away.
    ///
    /// Forks that go back into it lack their beginning afterwards; this does not look for them.
    ///
    /// # Errors
    /// In each case the file is still there, but where the last one says otherwise. [`SessionError::Refused`]: it is a link.
    /// [`SessionError::Log`]: no such file, none that is regular, locked by a writer, replaced by another one at this moment
    /// (try again), or a cache, an unfinished file or the file can't be removed. If the directory can't be synced in the end, the
    /// file is gone, and a power cut may bring it back.
    pub fn delete(path: &Path, options: &SessionOptions) -> Result<Deleted, SessionError> {
        let fs = &options.fs;
        let failed = |op: &'static str| move |source| LogError::io(path, op, 0, source);
        let dir = parent_dir(path);
        let target = fs.canonical(path).map_err(failed("find"))?;
        let itself = fs.canonical(dir).map_err(failed("find"))?.join(path.file_name().unwrap_or_default());
        if target != itself {
            let (path, target) = (path.display(), target.display());
            let why = format!("`{path}` is a link and holds nothing itself; delete `{target}`, then remove the link");
            return Err(SessionError::Refused { what: "delete", why });
        }
        let lock = hold(fs, path)?;
        let bytes = lock.file.size().map_err(failed("measure"))?;
        // First, so that nothing tells of what is gone, whenever this is cut short.
        let erasing = Erasing::begin(fs, dir)?;
        remove_unfinished(&**fs, path)?;
        fs.remove(path).map_err(failed("remove"))?;
        fs.sync_dir(dir).map_err(|source| LogError::io(dir, "sync the directory", 0, source))?;
        let file_named = lock.file.identity().is_ok_and(|id| id.is_some()) && lock.file.is_named().unwrap_or(false);
        // A search that was made meanwhile has seen the file.
        let cache_left = erasing.end().err().map(|error| error.to_string());
        Ok(Deleted { path: path.to_owned(), bytes, file_named, cache_left })
    }
}

/// Locks the file that has this name now, whatever is in it.
fn hold(fs: &Arc<dyn Fs>, path: &Path) -> Result<WriterLock, LogError> {
    let opened = match fs.open(path, Access::Write) {
        // A file may be removed by who may not write to it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => fs.open(path, Access::Read),
        other => other,
    };
    WriterLock::take(fs, path, opened.map_err(|source| LogError::io(path, "open", 0, source))?)
}
