//! A new session file that has its name only once it is whole, so that a crash leaves no half session behind.

use std::io;
use std::path::{Path, PathBuf};

use super::error::SessionError;
use super::writer::{Session, SessionOptions};
use crate::event::Uuid;
use crate::log::{FileId, Fs, FsFile, LogError, ParentLink, parent_dir};

impl Session {
    /// Makes a session under another name, fills and closes it, and gives it its name. Nothing is left of one that
    /// could not be filled.
    pub(super) fn create_whole<T>(
        path: &Path,
        id: Uuid,
        parent: Option<ParentLink>,
        options: &SessionOptions,
        fill: impl FnOnce(&Self) -> Result<T, SessionError>,
    ) -> Result<T, SessionError> {
        let fs = &*options.fs;
        let made = beside(path, options, |unfinished| {
            let session = Self::create_as(unfinished, id, parent, options.clone())?;
            let filled = fill(&session)?;
            session.close()?;
            fs.publish(unfinished, path).map_err(|source| LogError::io(path, "name the finished", 0, source))?;
            Ok(filled)
        })?;
        fs.sync_dir(parent_dir(path)).map_err(|source| {
            // A name that a power cut may take away was not given.
            let _ = fs.remove(path);
            LogError::io(path, "name the finished", 0, source)
        })?;
        Ok(made)
    }
}

/// Makes a file under another name beside its place, and puts it there. Of one for which that fails nothing is left.
pub(super) fn beside<T>(
    path: &Path,
    options: &SessionOptions,
    make: impl FnOnce(&Path) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    // No earlier attempt has left one of this name behind.
    let unfinished = named(path, &format!("{UNFINISHED}{:016x}", options.clock.random()));
    make(&unfinished).inspect_err(|_| {
        // What is left is under no name that a list shows; if it can't be removed either, it does no harm.
        let _ = options.fs.remove(&unfinished);
    })
}

/// Gives a file that was made here, under any name, the owner and, if wanted, the mode of the one whose place it is to take; false if
/// this process may not. `made` is what it was when it was made: a name can be given to another file, whose owner nobody may change so.
pub(super) fn keep_owner(new: &dyn FsFile, made: Option<FileId>, old: &dyn FsFile, and_mode: bool) -> io::Result<bool> {
    let Some(owner) = old.owner()? else { return Ok(true) };
    if made.is_none() || new.identity()? != made {
        return Err(io::Error::other("another file stands under its name"));
    }
    new.set_owner(owner, and_mode)
}

/// Removes what earlier attempts to write this session have left beside it, when they were killed. Whoever calls this holds
/// the session's lock, so that none is at work.
pub(super) fn remove_unfinished(fs: &dyn Fs, path: &Path) -> Result<(), LogError> {
    let dir = parent_dir(path);
    let failed = |op| move |source| LogError::io(dir, op, 0, source);
    let name = named(Path::new(path.file_name().unwrap_or_default()), UNFINISHED);
    let Some(name) = name.to_str() else { return Ok(()) };
    let mut removed = false;
    for entry in fs.list_dir(dir).map_err(failed("list the directory"))? {
        // The log's own temporary names begin with a dot.
        let is_left = entry.name.to_str().is_some_and(|found| found.trim_start_matches('.').starts_with(name));
        if is_left && !entry.is_dir {
            fs.remove(&dir.join(&entry.name)).map_err(failed("remove an unfinished file from"))?;
            removed = true;
        }
    }
    if removed {
        fs.sync_dir(dir).map_err(failed("sync the directory"))?;
    }
    Ok(())
}

const UNFINISHED: &str = "-unfinished-";

fn named(path: &Path, with: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(with);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use crate::log::RealFs;

    use super::*;

    #[test]
    fn a_file_that_has_taken_the_name_of_a_new_one_gets_no_owner() {
        let dir = tempfile::tempdir().unwrap();
        let fs = RealFs::shared();
        let [old, new, other] = ["old", "new", "other"].map(|name| fs.create(&dir.path().join(name)).unwrap());
        let made = new.identity().unwrap();
        assert!(keep_owner(&*new, made, &*old, true).unwrap());
        assert!(keep_owner(&*other, made, &*old, true).is_err());
        assert!(keep_owner(&*new, None, &*old, true).is_err());
    }
}
