//! Who may write a store's catalogue. A list keeps what it has seen only in the place of the catalogue that it found: where
//! something was erased meanwhile, that is there no more.
//!
//! The lock lies on the catalogue's own file, and each change of it is a new file under the name. Whoever has one open knows
//! that its number (inode) is given to no other as long: an open file is the generation that the list belongs to. An erasure
//! puts a mark in the place of the catalogue, locked, before the content goes, and takes it away afterwards. A list that finds
//! the mark keeps nothing, also where the erasure was killed. (Where the platform can't tell files apart, the lock is all
//! there is.)

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::cache_dir::{
    CACHE_DIR, CATALOGUE, catalogue_path, is_cache, is_catalogue, is_ours, own_cache, read_to_end, write_all,
};
use super::catalogue::ERASING;
use crate::log::{Access, Bell, Fs, FsFile, LogError, WriterLock, temporary_beside};

/// How long an erasure waits for the lock. A list holds it for one renaming, an erasure for a renaming and two syncs.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOKS_EVERY: Duration = Duration::from_millis(2);

/// The catalogue that a list goes by.
#[derive(Debug)]
pub(super) struct Pin {
    file: Arc<dyn FsFile>,
    /// The list has made it, and it holds nothing.
    is_new: bool,
}

impl Pin {
    /// Opens the catalogue that is there.
    pub(super) fn open(fs: &dyn Fs, dir: &Path) -> io::Result<Self> {
        own_cache(fs, dir)?;
        Ok(Self { file: open(fs, &catalogue_path(dir))?, is_new: false })
    }

    /// Makes an empty one, before any session is looked at; none if somebody else was as quick.
    pub(super) fn make(fs: &dyn Fs, dir: &Path) -> io::Result<Option<Self>> {
        match own_cache(fs, dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => fs.create_dir(&dir.join(CACHE_DIR))?,
            other => drop(other?),
        }
        match fs.create(&catalogue_path(dir)) {
            Ok(file) => Ok(Some(Self { file, is_new: true })),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All its bytes.
    pub(super) fn read(&self) -> io::Result<Vec<u8>> {
        read_to_end(&*self.file)
    }

    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// Locks it, if it is still the store's catalogue and nobody else is about to change that.
    pub(super) fn lock(&self, fs: &Arc<dyn Fs>, dir: &Path) -> io::Result<Option<WriterLock>> {
        lock(fs, &catalogue_path(dir), &self.file)
    }
}

fn open(fs: &dyn Fs, path: &Path) -> io::Result<Arc<dyn FsFile>> {
    match fs.open(path, Access::Write) {
        // It is only locked by this handle, which most file systems let a reader do.
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            fs.open(path, Access::Read)
        }
        other => other,
    }
}

fn lock(fs: &Arc<dyn Fs>, path: &Path, file: &Arc<dyn FsFile>) -> io::Result<Option<WriterLock>> {
    match WriterLock::take(fs, path, file.clone()) {
        Ok(lock) => Ok(Some(lock)),
        Err(LogError::Locked { .. } | LogError::Replaced { .. }) => Ok(None),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Locks the catalogue that is there, once nobody else does; none if there is none that a list could write over.
pub(super) fn wait_for(fs: &Arc<dyn Fs>, dir: &Path) -> io::Result<Option<WriterLock>> {
    let path = catalogue_path(dir);
    retried(fs, || match open(&**fs, &path) {
        Ok(file) if !is_catalogue(&*file)? => Ok(Some(None)),
        Ok(file) => Ok(lock(fs, &path, &file)?.map(Some)),
        Err(error) if is_no_file(&error) => Ok(Some(None)),
        Err(error) => Err(error),
    })
}

/// Tries until there is something, or patience is at its end.
fn retried<T>(fs: &Arc<dyn Fs>, mut attempt: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
    let until = fs.monotonic() + PATIENCE;
    loop {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
        let now = fs.monotonic();
        if now >= until {
            let why = "another program keeps the catalogue's lock; try again once it has ended";
            return Err(io::Error::new(ErrorKind::TimedOut, why));
        }
        fs.wait(&Arc::<Bell>::default(), 0, Some(now + LOOKS_EVERY));
    }
}

/// Puts a file with these bytes in the place of the catalogue, locked before it has the name. The lock of the one that is
/// there must be held.
pub(super) fn put(fs: &Arc<dyn Fs>, path: &Path, bytes: &[u8]) -> io::Result<WriterLock> {
    make_and(fs, path, bytes, |temporary| fs.replace(temporary, path))
}

fn make_and(
    fs: &Arc<dyn Fs>,
    path: &Path,
    bytes: &[u8],
    name: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<WriterLock> {
    let mut temporary = temporary_beside(&**fs, path)?;
    let file = match fs.create(&temporary) {
        // A killed program has left one of this name; that two in a row are taken is no chance.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            temporary = temporary_beside(&**fs, path)?;
            fs.create(&temporary).map_err(io::Error::other)?
        }
        other => other?,
    };
    // Synced, as it is small or seldom: what a power cut leaves under the name is whole and known for what it is.
    let written = write_all(&*file, bytes).and_then(|()| file.sync_data());
    let named = written.and_then(|()| {
        let lock = WriterLock::take(fs, &temporary, file).map_err(io::Error::other)?;
        name(&temporary).map(|()| lock)
    });
    named.inspect_err(|_| drop(fs.remove(&temporary)))
}

/// Something is being erased in a directory of sessions: as long as this lives, and by what it leaves undone when it is
/// killed, no list keeps what it has seen in it.
#[derive(Debug)]
pub(super) struct Erasing {
    fs: Arc<dyn Fs>,
    dir: PathBuf,
    /// The lock of the mark, if there is one: a cache that is not there gets none, nor one that can't be written.
    mark: Option<WriterLock>,
}

impl Erasing {
    /// Takes away what a list and a search keep of the sessions in this directory: they read them again. What others keep in its
    /// `.cache` stays. Durable.
    ///
    /// # Errors
    /// [`LogError::Io`] if the cache is a link, is locked for long, or can't be removed.
    pub(super) fn begin(fs: &Arc<dyn Fs>, dir: &Path) -> Result<Self, LogError> {
        let mut erasing = Self { fs: fs.clone(), dir: dir.to_owned(), mark: None };
        let Some(cache) = Self::cache(fs, dir)? else { return Ok(erasing) };
        erasing.mark = mark(fs, dir).map_err(|source| LogError::io(&cache, "lock the catalogue in", 0, source))?;
        erasing.forget(erasing.mark.is_some())?;
        Ok(erasing)
    }

    /// The cache's directory, if there is one: what an erasure will come to in the end.
    ///
    /// # Errors
    /// [`LogError::Io`] if it is a link.
    pub(super) fn cache(fs: &Arc<dyn Fs>, dir: &Path) -> Result<Option<PathBuf>, LogError> {
        match own_cache(&**fs, dir) {
            Ok(cache) => Ok(Some(cache)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LogError::io(&dir.join(CACHE_DIR), "list the directory", 0, source)),
        }
    }

    /// Takes away what was kept meanwhile, and the mark.
    ///
    /// # Errors
    /// As for [`Erasing::begin`].
    pub(super) fn end(mut self) -> Result<(), LogError> {
        let Some(cache) = Self::cache(&self.fs, &self.dir)? else { return Ok(()) };
        // Without a mark a list may have made a catalogue.
        let mark = self.mark.take();
        let held = match mark {
            Some(mark) => Ok(Some(mark)),
            None => wait_for(&self.fs, &self.dir),
        };
        let _held = held.map_err(|source| LogError::io(&cache, "lock the catalogue in", 0, source))?;
        self.forget(false)
    }

    fn forget(&self, has_mark: bool) -> Result<(), LogError> {
        let (fs, cache) = (&*self.fs, self.dir.join(CACHE_DIR));
        let entries = match fs.list_dir(&cache) {
            // It has gone, and all that was in it.
            Err(error) if is_no_file(&error) => return Ok(()),
            other => other.map_err(|source| LogError::io(&cache, "list the directory", 0, source))?,
        };
        let mut removed = has_mark;
        let files = entries.into_iter().filter(|entry| !entry.is_dir).filter_map(|entry| entry.name.into_string().ok());
        let mut found = Vec::new();
        for name in files.filter(|name| is_cache(name) && !(has_mark && name == CATALOGUE)) {
            match is_ours(fs, &cache, &name) {
                Ok(true) => found.push(cache.join(name)),
                Ok(false) => {}
                // Another one was as quick, or it is no file of ours.
                Err(error) if is_no_file(&error) => {}
                Err(source) => return Err(LogError::io(&cache.join(name), "read the cache", 0, source)),
            }
        }
        for path in found {
            match fs.remove(&path) {
                Ok(()) => removed = true,
                // Another one was as quick.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(LogError::io(&path, "remove the cache", 0, source)),
            }
        }
        if removed {
            fs.sync_dir(&cache).map_err(|source| LogError::io(&cache, "sync the directory", 0, source))?;
        }
        Ok(())
    }
}

impl Drop for Erasing {
    fn drop(&mut self) {
        // Nothing was erased after all. The mark would do no harm either.
        if self.mark.as_ref().is_some_and(WriterLock::is_own_process) {
            let _ = self.fs.remove(&catalogue_path(&self.dir));
        }
    }
}

/// Puts the mark in the place of the catalogue, or of none. None where it can't be written: then the catalogue is only removed,
/// and what is made meanwhile is, in the end.
fn mark(fs: &Arc<dyn Fs>, dir: &Path) -> io::Result<Option<WriterLock>> {
    let path = catalogue_path(dir);
    retried(fs, || {
        let (held, marked) = match open(&**fs, &path) {
            // Somebody else's, who keeps it.
            Ok(file) if !is_catalogue(&*file)? => return Ok(Some(None)),
            Ok(file) => match lock(fs, &path, &file)? {
                Some(held) => (Some(held), put(fs, &path, &ERASING)),
                None => return Ok(None),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {
                (None, make_and(fs, &path, &ERASING, |temporary| fs.publish(temporary, &path)))
            }
            // No file that a list could write over.
            Err(error) if is_no_file(&error) => return Ok(Some(None)),
            Err(error) => return Err(error),
        };
        match marked {
            Ok(mark) => Ok(Some(Some(mark))),
            Err(error) if error.kind() == ErrorKind::NotFound && is_gone(&**fs, dir) => Ok(Some(None)),
            Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => Ok(None),
            Err(_) => {
                if held.is_some() {
                    fs.remove(&path)?;
                }
                Ok(Some(None))
            }
        }
    })
}

/// There is nothing that a list could write over.
fn is_no_file(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput)
}

/// The cache's directory has been removed, or was never there and the file system could not tell.
fn is_gone(fs: &dyn Fs, dir: &Path) -> bool {
    fs.list_dir(&dir.join(CACHE_DIR)).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
