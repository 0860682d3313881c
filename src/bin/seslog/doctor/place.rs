//! The directory: who can reach it, what was left over in it, and whether locks and syncs hold there.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Check;
use crate::columns::size;
use crate::held::Locks;

/// With less than this left, in bytes, the next import may well fail.
const FREE_LEAST: u64 = 200_000_000;
/// A temporary file that was written to a moment ago may be somebody's.
const LEFT_OVER_AFTER: Duration = Duration::from_secs(10 * 60);
/// File systems on which other machines may write, so that a lock here need not hold there.
const SHARED: [&str; 12] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "virtiofs", "fuse.sshfs", "fuse.rclone"];

impl Check {
    /// Who can reach the directory, the cache and the files.
    pub(super) fn permissions(&mut self) {
        let cache = self.dir.join(".cache");
        let mut paths = vec![self.dir.clone(), cache.clone()];
        paths.extend(files_in(&cache));
        paths.extend(files_in(&self.dir).into_iter().filter(|path| is_ours(path)));
        for path in paths {
            self.permission(&path);
        }
    }

    #[cfg(unix)]
    fn permission(&mut self, path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        // A link's own mode means nothing, and what it leads to may be somebody else's.
        let Ok(about) = std::fs::symlink_metadata(path) else { return };
        let mode = about.permissions().mode() & 0o777;
        if about.is_symlink() || mode & 0o077 == 0 {
            return;
        }
        let wanted = if about.is_dir() { 0o700 } else { 0o600 };
        let what = format!("others can reach it (mode {mode:03o})");
        let next = format!("`seslog doctor --fix`, or `chmod {wanted:o}`, keeps it to its owner");
        let path = path.to_owned();
        let target = path.clone();
        self.mend("openToOthers", &path, what, next, move || {
            std::fs::set_permissions(target, std::fs::Permissions::from_mode(wanted))
        });
    }

    #[cfg(not(unix))]
    fn permission(&mut self, _: &Path) {}

    /// Temporary files of programs that were killed.
    pub(super) fn left_over(&mut self) {
        let locks = Locks::now();
        let paths = files_in(&self.dir).into_iter().chain(files_in(&self.dir.join(".cache")));
        for path in paths.filter(|path| is_temporary(path)) {
            let Ok(about) = std::fs::symlink_metadata(&path) else { continue };
            let age = about.modified().ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
            if !about.is_file() || age < LEFT_OVER_AFTER || locks.holder(&path, true).is_some() {
                continue;
            }
            let what = format!("a temporary file was left over ({}), and nobody holds it", size(about.len()));
            let next = "`seslog doctor --fix` removes it".to_owned();
            let target = path.clone();
            self.mend("leftOver", &path, what, next, move || std::fs::remove_file(target));
        }
    }

    pub(super) fn free_space(&mut self) -> Option<u64> {
        let free = fs2::available_space(&self.dir).ok()?;
        if free < FREE_LEAST {
            let what = format!("only {} are free", size(free));
            self.fault("littleSpace", &self.dir.clone(), what, "make room, or move the store (`--store`, SESLOG_HOME)");
        }
        Some(free)
    }

    /// The kind of file system, where the system tells it.
    pub(super) fn file_system(&mut self) -> Option<String> {
        let dir = self.dir.canonicalize().ok()?;
        let kind = kind_of(&dir, &std::fs::read_to_string("/proc/self/mounts").ok()?)?;
        if SHARED.contains(&kind.as_str()) {
            let what = format!("it lies on {kind}, where other machines may not see this one's locks");
            self.note("sharedFileSystem", &dir, what, Some("let one machine at a time write a session".to_owned()));
        }
        Some(kind)
    }

    /// Whether a lock keeps others out, and whether a file and the directory can be synced.
    pub(super) fn locks_and_syncs(&mut self) {
        let path = self.dir.join(format!(".doctor.{:016x}.tmp", u64::from(std::process::id())));
        let outcome = try_out(&path, &self.dir);
        // Also after a failure: it is ours.
        _ = std::fs::remove_file(&path);
        match outcome {
            Ok(true) => {}
            Ok(false) => {
                let next = "keep the store on another file system: two writers could damage a session here";
                self.fault("lockDoesNotHold", &self.dir.clone(), "a lock does not keep a second writer out", next);
            }
            Err((step, error)) => {
                let next = "look at who owns the directory, how it is mounted, and whether the disk is healthy";
                self.fault("cantWrite", &self.dir.clone(), format!("can't {step} a file there: {error}"), next);
            }
        }
    }
}

/// Whether the lock of a new file holds; or what could not be done.
fn try_out(path: &Path, dir: &Path) -> Result<bool, (&'static str, io::Error)> {
    let at = |step: &'static str| move |error: io::Error| (step, error);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(at("make"))?;
    file.write_all(b"seslog doctor").map_err(at("write"))?;
    fs2::FileExt::try_lock_exclusive(&file).map_err(at("lock"))?;
    let second = File::open(path).map_err(at("open"))?;
    let holds = fs2::FileExt::try_lock_exclusive(&second).is_err();
    file.sync_all().map_err(at("sync"))?;
    #[cfg(unix)]
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(at("sync the directory of"))?;
    #[cfg(not(unix))]
    let _ = dir;
    Ok(holds)
}

/// The kind of the file system that is mounted closest above a place, from the system's table.
fn kind_of(place: &Path, mounts: &str) -> Option<String> {
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        // Spaces and the like stand as octal numbers there.
        let point = fields.next()?.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
        Some((PathBuf::from(point), fields.next()?.to_owned()))
    };
    let above = mounts.lines().filter_map(mount).filter(|(point, _)| place.starts_with(point));
    // Of several at one place the last one counts.
    above.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind)
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| std::fs::symlink_metadata(path).is_ok_and(|about| !about.is_dir()));
    paths.sort();
    paths
}

fn is_ours(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == seslog::session::EXTENSION) || is_temporary(path)
}

/// A name as this program gives temporary files: `.NAME.` and sixteen digits, `.tmp`.
fn is_temporary(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let random =
        name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")).and_then(|rest| rest.rsplit_once('.'));
    random.is_some_and(|(_, random)| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_mount_tells_the_kind() {
        let mounts = "/dev/a / ext4 rw 0 0\nserver:/x /home/my\\040data nfs4 rw 0 0\ntmpfs /home tmpfs rw 0 0\n";
        assert_eq!(kind_of(Path::new("/home/my data/s"), mounts).as_deref(), Some("nfs4"));
        assert_eq!(kind_of(Path::new("/home/x"), mounts).as_deref(), Some("tmpfs"));
        assert_eq!(kind_of(Path::new("/var"), mounts).as_deref(), Some("ext4"));
        assert_eq!(kind_of(Path::new("/var"), "nonsense"), None);
    }

    #[test]
    fn only_names_of_our_own_are_temporary_files_of_ours() {
        let check = |name: &str, expected| assert_eq!(is_temporary(Path::new(name)), expected, "{name}");
        check("/s/.catalogue.0123456789abcdef.tmp", true);
        check("/s/.01920000-0000-7000-8000-000000000001.seslog.0123456789abcdef.tmp", true);
        for other in ["/s/.tmp", "/s/x.tmp", "/s/.x.0123.tmp", "/s/.x.0123456789abcdeg.tmp", "/s/notes.txt"] {
            check(other, false);
        }
    }
}
