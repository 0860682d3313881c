//! When what on the simulated disk was changed last. Its clock stands still unless it is moved, so that changes between two
//! moves have the same time: as on a disk whose times are coarse.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::medium::{Inode, Op};

/// The times of files by their numbers, and of directories by their paths. What is not named was there from the beginning.
#[derive(Debug, Default)]
pub(super) struct Times {
    files: HashMap<Inode, (Duration, Duration)>,
    dirs: HashMap<PathBuf, Duration>,
}

impl Times {
    /// Writes down when this is done. `file_at` tells which file had a name before.
    pub(super) fn note(&mut self, op: &Op, now: Duration, file_at: impl Fn(&Path) -> Option<Inode>) {
        match op {
            Op::New(inode) | Op::Write(inode, ..) | Op::SetLen(inode, _) => self.wrote(*inode, now),
            Op::Name(renaming) => {
                for path in renaming.set.iter().map(|(path, _)| path).chain(&renaming.unset) {
                    self.named(path, now);
                    file_at(path).into_iter().for_each(|inode| self.files.entry(inode).or_default().1 = now);
                }
            }
            Op::Synced(_) | Op::SyncFailed(..) | Op::SyncedDir(_) | Op::Note(_) => {}
        }
    }

    /// The file's content has changed.
    pub(super) fn wrote(&mut self, inode: Inode, now: Duration) {
        self.files.insert(inode, (now, now));
    }

    /// Something in the directory of this path has changed its name.
    pub(super) fn named(&mut self, path: &Path, now: Duration) {
        if let Some(dir) = path.parent() {
            self.touched(dir, now);
        }
    }

    /// Somebody sets the time of the file's content.
    pub(super) fn set_modified(&mut self, inode: Inode, modified: Duration, now: Duration) {
        self.files.insert(inode, (modified, now));
    }

    /// Somebody sets the time of a directory.
    pub(super) fn touched(&mut self, dir: &Path, now: Duration) {
        self.dirs.insert(dir.to_path_buf(), now);
    }

    /// When the content and when anything was changed last, in nanoseconds; number 0 is a directory.
    pub(super) fn of(&self, path: &Path, inode: Inode) -> (i64, i64) {
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let both = match inode {
            0 => self.dirs.get(path).map(|time| (*time, *time)),
            _ => self.files.get(&inode).copied(),
        };
        both.map_or((0, 0), |(modified, changed)| (nanos(modified), nanos(changed)))
    }
}
