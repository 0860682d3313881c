//! Where and how much is measured: the directory on a real disk, rounds and sizes, and the sessions that parts share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tempfile::TempDir;

use crate::Result;
use crate::limits::forget_all;
use crate::measure::digits;
use crate::peer::Peer;
use crate::session::{COMPACTED_EVERY, Size, Step, Story, small};

/// What the parts run in.
#[derive(Debug)]
pub struct Scene {
    /// Less of everything, for a look.
    pub quick: bool,
    dir: TempDir,
    /// What was made, by what it is.
    made: RefCell<BTreeMap<String, PathBuf>>,
    counter: RefCell<usize>,
    goals: RefCell<Vec<String>>,
}

/// What a figure is to be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// Not more.
    AtMost(f64),
    /// Not less.
    AtLeast(f64),
}

impl Scene {
    /// A directory in `TMPDIR`, which is to lie on a real disk; it is removed at the end.
    pub fn new(quick: bool) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("seslog-speed-").tempdir()?;
        Ok(Self { quick, dir, made: RefCell::default(), counter: RefCell::new(0), goals: RefCell::default() })
    }

    /// Rounds of a race, at least five in earnest.
    pub fn rounds(&self, many: usize) -> usize {
        if self.quick { 3 } else { many.max(5) }
    }

    /// The small and the large session that a resume is compared at.
    pub fn sizes(&self) -> [(&'static str, Size); 2] {
        match self.quick {
            true => [("1k messages", Size::Messages(1_000)), ("10k messages", Size::Messages(10_000))],
            false => [("10 MB", Size::Bytes(10_000_000)), ("1 GB", Size::Bytes(1_000_000_000))],
        }
    }

    /// An empty directory.
    pub fn empty(&self) -> Result<PathBuf> {
        *self.counter.borrow_mut() += 1;
        let dir = self.dir.path().join(self.counter.borrow().to_string());
        std::fs::create_dir(&dir)?;
        Ok(dir)
    }

    /// The session of this size in this store, closed and on the disk; it is made once.
    pub fn session(&self, peer: &dyn Peer, size: Size) -> Result<PathBuf> {
        self.make(peer, &format!("{size:?}"), &mut Story::of(size))
    }

    /// A session of a compaction and two messages.
    pub fn tiny(&self, peer: &dyn Peer) -> Result<PathBuf> {
        let say = |n| Step::Say(small(n));
        self.make(peer, "tiny", &mut [Step::Compact, say(0), say(1)].into_iter())
    }

    /// A session of so many small messages, compacted again and again.
    pub fn small(&self, peer: &dyn Peer, count: usize) -> Result<PathBuf> {
        let compacts = |n: usize| n > 0 && n.is_multiple_of(COMPACTED_EVERY);
        let steps =
            (0..count).flat_map(|n| compacts(n).then_some(Step::Compact).into_iter().chain([Step::Say(small(n))]));
        self.make(peer, &format!("small {count}"), &mut steps.into_iter())
    }

    fn make(&self, peer: &dyn Peer, what: &str, steps: &mut dyn Iterator<Item = Step>) -> Result<PathBuf> {
        let what = format!("{what} {}", peer.kind());
        if let Some(dir) = self.made.borrow().get(&what) {
            return Ok(dir.clone());
        }
        let start = Instant::now();
        let dir = self.empty()?;
        let mut writer = peer.create(&dir)?;
        writer.fill(steps)?;
        writer.close()?;
        forget_all(&dir)?;
        eprintln!("made {what}: {:.1} s, {} bytes", start.elapsed().as_secs_f64(), bytes_of(&dir)?);
        self.made.borrow_mut().insert(what, dir.clone());
        Ok(dir)
    }

    /// Holds a figure (least, median, most of its rounds) against its goal, for the last table.
    pub fn goal(&self, what: impl Into<String>, goal: Goal, figure: [f64; 3]) {
        let (wanted, met) = match goal {
            Goal::AtMost(wanted) => (format!("≤ {}", digits(wanted)), figure[1] <= wanted),
            Goal::AtLeast(wanted) => (format!("≥ {}", digits(wanted)), figure[1] >= wanted),
        };
        let [least, median, most] = figure.map(digits);
        let range = if least == most { String::new() } else { format!(" ({least} to {most})") };
        let row = format!("| {} | {wanted} | {median}{range} | {} |", what.into(), if met { "yes" } else { "**no**" });
        self.goals.borrow_mut().push(row);
    }

    /// Prints all goals.
    pub fn print_goals(&self) {
        println!("### All goals\n\n| what | goal | median (least to most) | met |\n| --- | --: | --: | --- |");
        self.goals.borrow().iter().for_each(|row| println!("{row}"));
    }

    /// Removes the sessions of this size, for room.
    pub fn drop_sessions(&self, size: Size) -> Result<()> {
        let prefix = format!("{size:?} ");
        let mut made = self.made.borrow_mut();
        for (_, dir) in made.extract_if(.., |what, _| what.starts_with(&prefix)) {
            std::fs::remove_dir_all(dir)?;
        }
        Ok(())
    }

    /// Prints what it is measured on.
    pub fn describe(&self) {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let model = read("/proc/cpuinfo");
        let model = model.lines().find_map(|line| line.strip_prefix("model name\t: ")).unwrap_or("unknown processor");
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let kernel = read("/proc/sys/kernel/osrelease");
        let memory = read("/proc/meminfo");
        let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB"));
        let memory = memory.and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / f64::from(1 << 20);
        // Up to the first dash: what comes behind it names the machine.
        let kernel = kernel.trim().split('-').next().unwrap_or_default();
        println!(
            "Measured on {cores} cores ({model}), {memory:.0} GiB of memory, Linux {kernel}, {}.\n",
            file_system(self.dir.path())
        );
    }
}

/// Bytes of all files in a directory.
pub fn bytes_of(dir: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        bytes += if entry.path().is_dir() { bytes_of(&entry.path())? } else { allocated(&entry.path())? };
    }
    Ok(bytes)
}

/// Bytes that a file has on the disk: a file may be longer than what was ever written into it.
fn allocated(path: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = std::fs::metadata(path)?;
    Ok(meta.len().min(meta.blocks() * 512))
}

/// The file system that a directory lies on, as far as `/proc/mounts` tells.
fn file_system(dir: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let fields = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((fields.next()?, fields.next()?))
    });
    let mount = fields.filter(|(point, _)| dir.starts_with(point)).max_by_key(|(point, _)| point.len());
    mount.map_or_else(|| "unknown file system".to_owned(), |(_, kind)| format!("{kind} on a block device"))
}
