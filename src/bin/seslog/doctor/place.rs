//! The directory: who can reach it, what was left over in it, and whether locks and syncs hold there.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use seslog::session::{EXTENSION, Listed, Opened};

use super::Check;
use crate::columns::size;
use crate::cure::quoted;
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
        let mut paths = vec![self.dir.clone()];
        if is_own_dir(&cache) {
            paths.push(cache.clone());
            paths.extend(files_in(&cache).into_iter().filter(|path| is_of_the_cache(path)));
        }
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
        let (mode, is_shared) = (about.permissions().mode() & 0o777, about.permissions().mode() & 0o1000 != 0);
        if about.is_symlink() || mode & 0o077 == 0 {
            return;
        }
        // A directory that many write to, such as /tmp, and what others own, is not this program's to close.
        if is_shared || !is_owner(&about) {
            let what = format!("others can reach it (mode {mode:03o}), and it is not this user's alone");
            self.fault(
                "openToOthers",
                path,
                what,
                "keep the store in a directory of your own (`--store`, SESLOG_HOME)",
            );
            return;
        }
        let wanted = if about.is_dir() { 0o700 } else { 0o600 };
        let what = format!("others can reach it (mode {mode:03o})");
        let next = format!("`seslog doctor --fix{}`, or `chmod {wanted:o}`, keeps it to its owner", self.option);
        let path = path.to_owned();
        let target = path.clone();
        self.mend("openToOthers", &path, what, next, move || {
            std::fs::set_permissions(target, std::fs::Permissions::from_mode(wanted))
        });
    }

    #[cfg(not(unix))]
    fn permission(&mut self, _: &Path) {}

    /// Whether there is something of ours in the directory. Of any other one nothing is changed.
    pub(super) fn is_store(&mut self) -> bool {
        let cache = self.dir.join(".cache");
        let has_cache = is_own_dir(&cache) && files_in(&cache).iter().any(|path| is_of_the_cache(path));
        if has_cache || files_in(&self.dir).iter().any(|path| is_of_a_session(path)) {
            return true;
        }
        let next = Some("give the directory of the sessions (`--store`, SESLOG_HOME)".to_owned());
        self.note("noStore", &self.dir.clone(), "this is no store: no session is in it; nothing was changed", next);
        false
    }

    /// Temporary files of programs that were killed.
    pub(super) fn left_over(&mut self) {
        let locks = Locks::now();
        let cache = self.dir.join(".cache");
        let cached = if is_own_dir(&cache) { files_in(&cache) } else { Vec::new() };
        let paths = files_in(&self.dir).into_iter().chain(cached);
        for path in paths.filter(|path| is_temporary(path)) {
            let Ok(about) = std::fs::symlink_metadata(&path) else { continue };
            let age = about.modified().ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
            if !about.is_file() || locks.holder(&path, true).is_some() {
                continue;
            }
            if age < LEFT_OVER_AFTER {
                let what = format!("a temporary file, {} s old: a program may be at work", age.as_secs());
                let next = "if none is, look again ten minutes later: then `--fix` removes it".to_owned();
                self.note("temporary", &path, what, Some(next));
                continue;
            }
            let what = match is_unfinished(&path) {
                true => {
                    format!("an unfinished session file was left over ({}), and nobody holds it", size(about.len()))
                }
                false => format!("a temporary file was left over ({}), and nobody holds it", size(about.len())),
            };
            let next = format!("`seslog doctor --fix{}` removes it", self.option);
            let target = path.clone();
            self.mend("leftOver", &path, what, next, move || std::fs::remove_file(target));
        }
    }

    /// Copies of damaged files that a salvage has kept beside the sessions that it made of them. What is said of one hangs on what
    /// has become of its session.
    pub(super) fn kept_damaged(&mut self, sessions: &[Listed]) {
        for path in files_in(&self.dir) {
            let name = name_of(&path);
            let Some((id, nth)) = name.split_once(".seslog.damaged") else { continue };
            if id.parse::<seslog::event::Uuid>().is_err() || !(nth.is_empty() || nth.starts_with('-')) {
                continue;
            }
            let len = size(std::fs::symlink_metadata(&path).map_or(0, |about| about.len()));
            let (file, option) = (quoted(&path), &self.option);
            let own = self.dir.join(format!("{id}.{EXTENSION}"));
            let session = sessions.iter().find(|session| session.path.file_name() == own.file_name());
            let (what, next) = match session.map(|session| session.open == Opened::Damaged) {
                Some(false) => (
                    format!("a damaged file that was salvaged in its place ({len})"),
                    format!("once you miss nothing in the session, `rm {file}`"),
                ),
                Some(true) => (
                    format!(
                        "a copy ({len}) of a damaged file; the session is damaged still, or again: a salvage may have been cut short"
                    ),
                    format!(
                        "`seslog salvage {id} --in-place{option}` mends the session; once you miss nothing in it, `rm {file}`"
                    ),
                ),
                None => (
                    format!("a damaged file ({len}) of a session that is not in the store any more"),
                    format!(
                        "`seslog import {file}{option}` takes in what is whole in it; `rm {file}` if it is to be gone as the session is"
                    ),
                ),
            };
            self.note("keptDamaged", &path, what, Some(next));
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

pub(super) fn files_in(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| std::fs::symlink_metadata(path).is_ok_and(|about| !about.is_dir()));
    paths.sort();
    paths
}

fn is_ours(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == seslog::session::EXTENSION) || is_temporary(path)
}

/// A name as this program gives temporary files: `.NAME.` and sixteen digits, `.tmp`; or that of an unfinished session.
fn is_temporary(path: &Path) -> bool {
    let name = name_of(path);
    let random =
        name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".tmp")).and_then(|rest| rest.rsplit_once('.'));
    random.is_some_and(|(_, random)| is_random(random)) || is_unfinished(path)
}

/// A name as a session has that is being written whole, behind the name that it is to have: `NAME.seslog-unfinished-` and
/// sixteen digits.
fn is_unfinished(path: &Path) -> bool {
    name_of(path).rsplit_once(".seslog-unfinished-").is_some_and(|(_, random)| is_random(random))
}

/// The name of a session, of an unfinished one, or of a temporary file of one.
fn is_of_a_session(path: &Path) -> bool {
    let name = name_of(path);
    let (id, rest) = name.trim_start_matches('.').split_at_checked(36).unwrap_or_default();
    id.parse::<seslog::event::Uuid>().is_ok() && rest.starts_with(".seslog")
}

/// A name that the cache's files have.
fn is_of_the_cache(path: &Path) -> bool {
    const NAMES: [&str; 5] = ["catalogue", "search.db", "search.db-wal", "search.db-shm", "search.db-journal"];
    NAMES.contains(&name_of(path).as_str()) || is_temporary(path)
}

fn is_random(digits: &str) -> bool {
    digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A directory, and no link to one: what a link leads to may be somebody else's.
fn is_own_dir(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// Whether this user owns it. Where the system does not tell who that is, a change of what others own fails anyway.
#[cfg(unix)]
fn is_owner(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").map_or(true, |own| own.uid() == about.uid())
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
        check("/s/01920000-0000-7000-8000-000000000001.seslog-unfinished-0123456789abcdef", true);
        check("/s/.01920000-0000-7000-8000-000000000001.seslog.0123456789abcdef.tmp", true);
        for other in [
            "/s/.tmp",
            "/s/x.tmp",
            "/s/.x.0123.tmp",
            "/s/.x.0123456789abcdeg.tmp",
            "/s/notes.txt",
            "/s/x.seslog-unfinished-1",
        ] {
            check(other, false);
        }
    }
}
