//! Who writes a session now: which files are locked, and by whom.

use std::fs::File;
use std::path::Path;

/// Who holds the lock of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The process of this number.
    Process(u32),
    /// Somebody whom the system does not name.
    Somebody,
}

/// The locks that are held now, as far as the system lists them: nothing is locked to find out, since that could get in the
/// way of a writer.
#[derive(Debug)]
pub(crate) struct Locks {
    /// None where the system has no such list.
    listed: Option<Vec<Lock>>,
}

#[derive(Debug)]
struct Lock {
    process: u32,
    device: (u64, u64),
    inode: u64,
}

impl Locks {
    pub(crate) fn now() -> Self {
        let text = std::fs::read_to_string("/proc/locks").ok();
        Self { listed: text.map(|text| text.lines().filter_map(Lock::of).collect()) }
    }

    /// Who writes to the session in this file, if anybody does. `asks_file`: where the list does not tell, the file itself may
    /// be asked, by a shared lock for a moment.
    pub(crate) fn holder(&self, path: &Path, asks_file: bool) -> Option<Holder> {
        if let Some(found) = self.listed_holder(path) {
            return Some(found);
        }
        // A process of another container is not in the list.
        let is_held = asks_file || self.listed.is_none();
        (is_held && is_locked(path)).then_some(Holder::Somebody)
    }

    fn listed_holder(&self, path: &Path) -> Option<Holder> {
        let locks = self.listed.as_ref().filter(|locks| !locks.is_empty())?;
        let (device, inode) = identity(path)?;
        let lock = locks.iter().filter(|lock| lock.inode == inode).max_by_key(|lock| lock.device == device)?;
        // Some file systems have one number here and another one there: then the file decides.
        let is_same = lock.device == device || is_locked(path);
        is_same.then_some(if lock.process > 0 { Holder::Process(lock.process) } else { Holder::Somebody })
    }
}

impl Lock {
    /// A line as `1: FLOCK  ADVISORY  WRITE 1234 08:02:130577 0 EOF`.
    fn of(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, place, ..] = fields[..] else { return None };
        let mut place = place.split(':');
        let mut hex = || u64::from_str_radix(place.next()?, 16).ok();
        let device = (hex()?, hex()?);
        Some(Self { process: process.parse().unwrap_or(0), device, inode: place.next()?.parse().ok()? })
    }
}

/// Whether somebody else holds the file's lock; not, where that can't be found out.
fn is_locked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match fs2::FileExt::try_lock_shared(&file) {
        Ok(()) => {
            _ = fs2::FileExt::unlock(&file);
            false
        }
        Err(error) => error.kind() == fs2::lock_contended_error().kind(),
    }
}

/// Device and inode of a file.
fn identity(path: &Path) -> Option<((u64, u64), u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let about = std::fs::metadata(path).ok()?;
        let device = about.dev();
        let major = (device >> 8) & 0xfff | (device >> 32) & !0xfff;
        let minor = device & 0xff | (device >> 12) & !0xff & 0xffff_ffff;
        Some(((major, minor), about.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_list_names_the_file_and_who_holds_it() {
        let lock = Lock::of("12: FLOCK  ADVISORY  WRITE 4021 fd:01:1183045 0 EOF").unwrap();
        assert_eq!((lock.process, lock.device, lock.inode), (4021, (0xfd, 1), 1_183_045));
        for other in ["1: POSIX  ADVISORY  WRITE 1 08:02:3 0 EOF", "", "1: FLOCK", "3: FLOCK ADVISORY WRITE 1 zz:1:2 0"]
        {
            assert!(Lock::of(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_file_is_held_while_it_is_locked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let file = File::create(&path).unwrap();
        assert_eq!(Locks::now().holder(&path, true), None);
        fs2::FileExt::lock_exclusive(&file).unwrap();
        let holder = Locks::now().holder(&path, true);
        assert!(holder == Some(Holder::Process(std::process::id())) || holder == Some(Holder::Somebody), "{holder:?}");
        drop(file);
        assert_eq!(Locks::now().holder(&path, true), None);
    }
}
