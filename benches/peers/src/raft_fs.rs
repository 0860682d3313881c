//! The simulated disk as a file system of raft-engine's. It lists and locks its directory past its own seam, so there is a
//! real one with an empty file for each name.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::seslog::log::{Access, Fs as _, FsFile};
use ::seslog::sim::SimDisk;
use raft_engine::env::{FileSystem, Handle, Permission, WriteExt};
use tempfile::TempDir;

use crate::peer::scratch;

pub struct SimFiles {
    disk: SimDisk,
    dir: PathBuf,
    names: TempDir,
}

impl SimFiles {
    pub fn new(disk: SimDisk, dir: &Path) -> io::Result<Self> {
        let names = scratch()?;
        for entry in disk.list_dir(dir)?.iter().filter(|entry| !entry.is_dir) {
            std::fs::write(names.path().join(&entry.name), "")?;
        }
        Ok(Self { disk, dir: dir.to_owned(), names })
    }

    /// The real directory.
    pub fn names(&self) -> PathBuf {
        self.names.path().to_owned()
    }

    fn there(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.join(path.as_ref().file_name().unwrap_or_default())
    }
}

impl FileSystem for SimFiles {
    type Handle = File;
    type Reader = Cursor;
    type Writer = Cursor;

    fn create<P: AsRef<Path>>(&self, path: P) -> io::Result<File> {
        std::fs::write(&path, "")?;
        let file = self.disk.create(&self.there(path))?;
        // It syncs the directory past this seam.
        self.disk.sync_dir(&self.dir)?;
        Ok(File(file))
    }

    fn open<P: AsRef<Path>>(&self, path: P, permission: Permission) -> io::Result<File> {
        let access = if permission == Permission::ReadOnly { Access::Read } else { Access::Write };
        Ok(File(self.disk.open(&self.there(path), access)?))
    }

    fn delete<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        std::fs::remove_file(&path)?;
        self.disk.remove(&self.there(path))
    }

    fn rename<P: AsRef<Path>>(&self, from: P, to: P) -> io::Result<()> {
        std::fs::rename(&from, &to)?;
        self.disk.replace(&self.there(from), &self.there(to))
    }

    fn new_reader(&self, handle: Arc<File>) -> io::Result<Cursor> {
        Ok(Cursor { file: Arc::clone(&handle.0), at: 0 })
    }

    fn new_writer(&self, handle: Arc<File>) -> io::Result<Cursor> {
        self.new_reader(handle)
    }
}

pub struct File(Arc<dyn FsFile>);

impl Handle for File {
    fn truncate(&self, len: usize) -> io::Result<()> {
        self.0.set_len(len as u64)
    }

    fn file_size(&self) -> io::Result<usize> {
        Ok(self.0.size()? as usize)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

pub struct Cursor {
    file: Arc<dyn FsFile>,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Write for Cursor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write_at(bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Cursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(by) => self.file.size()?.saturating_add_signed(by),
        };
        Ok(self.at)
    }
}

impl WriteExt for Cursor {
    fn truncate(&mut self, len: usize) -> io::Result<()> {
        self.at = len as u64;
        self.file.set_len(len as u64)
    }

    fn allocate(&mut self, offset: usize, len: usize) -> io::Result<()> {
        // As `fallocate` does without a flag: the file grows by zeros.
        let end = (offset + len) as u64;
        if end > self.file.size()? { self.file.set_len(end) } else { Ok(()) }
    }
}
