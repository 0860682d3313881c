//! A new session file that has its name only once it is whole, so that a crash leaves no half session behind.

use std::path::{Path, PathBuf};

use super::error::SessionError;
use super::writer::{Session, SessionOptions};
use crate::event::Uuid;
use crate::log::{LogError, ParentLink, parent_dir};

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
        let unfinished = unfinished(path, options.clock.random());
        let made = Self::create_as(&unfinished, id, parent, options.clone()).and_then(|session| {
            let filled = fill(&session)?;
            session.close()?;
            Ok(filled)
        });
        let failed = |source| LogError::io(path, "name the finished", 0, source);
        let named = made.and_then(|filled| {
            options.fs.publish(&unfinished, path).map_err(failed)?;
            options.fs.sync_dir(parent_dir(path)).map_err(|source| {
                // A name that a power cut may take away was not given.
                let _ = options.fs.remove(path);
                failed(source)
            })?;
            Ok(filled)
        });
        if named.is_err() {
            // What is left is under no name that a list shows; if it can't be removed either, it does no harm.
            let _ = options.fs.remove(&unfinished);
        }
        named
    }
}

/// Another name beside it, that no earlier attempt has left behind.
fn unfinished(path: &Path, random: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-unfinished-{random:016x}"));
    PathBuf::from(name)
}
