//! A small disk for one task: this binary, started once more inside a namespace with its own mount, for the one test
//! [`inside`], which does nothing without its variables.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TASK: &str = "SESLOG_REAL_TASK";
const DIR: &str = "SESLOG_REAL_DIR";
/// Ways to a mount of one's own: as nobody, and as root.
const WAYS: [&[&str]; 2] = [&["--user", "--map-root-user", "--mount"], &["--mount"]];
const MOUNT: &str = "mount -t tmpfs -o size=\"$1\"k,mode=755 none \"$2\" && shift 2 && exec \"$@\"";

/// Runs a program with a disk of so many KiB at `dir`; none where the system lets nobody do so.
fn run(way: &[&str], kib: u32, dir: &Path, program: &[&str], task: &str) -> Option<Output> {
    Command::new("unshare")
        .args(way)
        .args(["sh", "-c", MOUNT, "sh", &kib.to_string()])
        .arg(dir)
        .args(program)
        .env(TASK, task)
        .env(DIR, dir)
        .env("RUST_BACKTRACE", "0")
        .output()
        .ok()
}

/// Does a task on a disk of so many KiB.
pub(crate) fn on_disk_of(kib: u32, task: &str) {
    let dir = tempfile::tempdir().unwrap();
    let way = WAYS.iter().find(|way| run(way, 64, dir.path(), &["true"], "").is_some_and(|ran| ran.status.success()));
    let Some(way) = way else {
        crate::say!("left out, since nobody may mount a file system here: {task}");
        return;
    };
    let this = std::env::current_exe().unwrap();
    let program = [this.to_str().unwrap(), "small_disk::inside", "--exact", "--nocapture"];
    let ran = run(way, kib, dir.path(), &program, task).unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{task}: {}\n{said}", ran.status);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "the disk was mounted for the task alone");
    said.lines().filter_map(|line| line.strip_prefix("@ ")).for_each(|line| println!("{line}"));
}

/// Says something to who reads the test's output.
pub(crate) fn say(what: &str) {
    println!("\n@ {what}");
}

#[test]
fn inside() {
    let (Ok(task), Some(dir)) = (std::env::var(TASK), std::env::var_os(DIR)) else { return };
    let dir = Path::new(&dir);
    match task.as_str() {
        "append" => super::full::append(dir),
        "close" => super::full::close(dir),
        "create" => super::full::create(dir),
        "fork and salvage" => super::full::fork_and_salvage(dir),
        "import" => super::full::import(dir),
        "read-only" => super::read_only::remounted(dir),
        "read-only by another path" => super::read_only::bound(dir),
        _ => panic!("no such task: {task}"),
    }
}

/// What a file takes at least.
const PAGE: u64 = 4_096;

/// Takes all of the disk's space but so many pages; gives it back when dropped.
pub(crate) struct Ballast(PathBuf);

impl Ballast {
    pub(crate) fn leaving(pages: u64, path: PathBuf) -> Self {
        let mut file = File::create(&path).unwrap();
        let mut len = 0;
        while file.write_all(&[0xA5; PAGE as usize]).is_ok() {
            len += PAGE;
        }
        file.set_len(len - pages * PAGE).unwrap();
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

/// The names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Remounts, or mounts once more.
pub(crate) fn mount(args: &[&str], dirs: &[&Path]) {
    assert!(Command::new("mount").args(args).args(dirs).status().unwrap().success());
}
