//! raft-engine, the log of TiKV: one entry a message in the log of one Raft group. Of the log crates it is the one that runs in
//! production, and its files can be put on another file system.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use log::{Level, LevelFilter, Metadata, Record};
use protobuf::well_known_types::Any;
use raft_engine::env::{DefaultFileSystem, FileSystem};
use raft_engine::{Config, Engine, LogBatch, MessageExt, ReadableSize, RecoveryMode};

use crate::peer::{Disk, Peer, Reading, Result, Writer};
use crate::raft_fs::SimFiles;

/// The log of one Raft group.
#[derive(Debug)]
pub struct Raft {
    /// Whether each entry is synced.
    pub sync: bool,
    /// The size at which a new file begins, in bytes: the file is made longer by up to this much ahead.
    pub file_size: u64,
}

const GROUP: u64 = 1;

/// Whether it has written a warning to the program's log.
static WARNED: AtomicBool = AtomicBool::new(false);

struct Warnings;

impl log::Log for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn && metadata.target().starts_with("raft_engine")
    }

    fn log(&self, record: &Record<'_>) {
        WARNED.fetch_or(self.enabled(record.metadata()), Ordering::Relaxed);
    }

    fn flush(&self) {}
}

/// From now on a warning that it writes to the log counts as said. At most one reader at a time can be judged by it.
pub fn listen() {
    if log::set_logger(&Warnings).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

/// An entry: any message of protobuf's with a place for bytes does; its number is in the place of the type's name.
struct Entry;

impl MessageExt for Entry {
    type Entry = Any;

    fn index(entry: &Any) -> u64 {
        entry.type_url.parse().unwrap_or(0)
    }
}

impl Raft {
    fn config(&self, dir: &Path, recovery_mode: RecoveryMode) -> Config {
        Config {
            dir: dir.display().to_string(),
            recovery_mode,
            recovery_threads: 1,
            target_file_size: ReadableSize(self.file_size),
            ..Config::default()
        }
    }

    fn on<F: FileSystem>(&self, files: Arc<F>, dir: &Path) -> Result<Log<F>> {
        let config = self.config(dir, RecoveryMode::TolerateTailCorruption);
        let engine = Engine::open_with_file_system(config, files)?;
        let next = engine.last_index(GROUP).map_or(1, |last| last + 1);
        Ok(Log { engine, sync: self.sync, next })
    }
}

impl Peer for Raft {
    fn create(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        self.open(disk, dir)
    }

    fn open(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        Ok(match disk {
            Disk::Real => Box::new(self.on(Arc::new(DefaultFileSystem), dir)?),
            Disk::Sim(disk) => {
                let files = SimFiles::new(disk.clone(), dir)?;
                let names = files.names();
                Box::new(self.on(Arc::new(files), &names)?)
            }
        })
    }

    fn read(&self, disk: &Disk, dir: &Path) -> Result<Reading> {
        match disk {
            Disk::Real => {
                WARNED.store(false, Ordering::Relaxed);
                let mut reading = self.on(Arc::new(DefaultFileSystem), dir)?.reading()?;
                reading.told |= WARNED.load(Ordering::Relaxed);
                Ok(reading)
            }
            Disk::Sim(disk) => {
                let files = SimFiles::new(disk.clone(), dir)?;
                let names = files.names();
                self.on(Arc::new(files), &names)?.reading()
            }
        }
    }

    fn check(&self, dir: &Path) -> bool {
        Engine::consistency_check(dir).map_or(true, |found| !found.is_empty())
    }

    fn repair(&self, dir: &Path) -> Result<Vec<String>> {
        let config = self.config(dir, RecoveryMode::TolerateAnyCorruption);
        let engine = Engine::open(config)?;
        Ok(Log { engine, sync: false, next: 0 }.reading()?.texts)
    }
}

struct Log<F: FileSystem> {
    engine: Engine<F>,
    sync: bool,
    next: u64,
}

impl<F: FileSystem> Log<F> {
    fn reading(&self) -> Result<Reading> {
        let mut reading = Reading::default();
        let (Some(first), Some(last)) = (self.engine.first_index(GROUP), self.engine.last_index(GROUP)) else {
            return Ok(reading);
        };
        for index in first..=last {
            match self.engine.get_entry::<Entry>(GROUP, index) {
                Ok(Some(entry)) => match String::from_utf8(entry.value) {
                    Ok(text) => reading.texts.push(text),
                    Err(_) => reading.told = true,
                },
                Ok(None) | Err(_) => reading.told = true,
            }
        }
        Ok(reading)
    }
}

impl<F: FileSystem> Writer for Log<F> {
    fn append(&mut self, text: &str) -> Result<()> {
        let entry = Any { type_url: self.next.to_string(), value: text.into(), ..Any::default() };
        let mut batch = LogBatch::default();
        batch.add_entries::<Entry>(GROUP, &[entry])?;
        self.engine.write(&mut batch, self.sync)?;
        self.next += 1;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
