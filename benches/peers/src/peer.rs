//! What every store is asked to do: one trait, and the disk that it does it on.

use std::error::Error;
use std::io;
use std::path::Path;

use ::seslog::sim::SimDisk;
use tempfile::TempDir;

/// What a store's calls give; what is wrong in a store's own words.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A directory in memory where there is one: nothing that is counted here depends on a real disk.
///
/// # Errors
/// Those of the operating system.
pub fn scratch() -> io::Result<TempDir> {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new())
}

/// Where a store keeps its files.
#[derive(Clone)]
pub enum Disk {
    /// In a real directory, through the store's own way to files.
    Real,
    /// On the simulated disk.
    Sim(SimDisk),
}

/// A store of messages, one session in one directory that exists.
pub trait Peer: Sync {
    /// Makes a new session and opens it for writing.
    ///
    /// # Errors
    /// The store's own.
    fn create(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>>;
    /// Opens a session for writing; whatever the store does after a crash is done here.
    ///
    /// # Errors
    /// The store's own.
    fn open(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>>;
    /// What the store's ordinary reader makes of the session.
    ///
    /// # Errors
    /// The reader gives not a single message.
    fn read(&self, disk: &Disk, dir: &Path) -> Result<Reading>;
    /// Whether the store's own check of a whole session in a real directory finds anything wrong.
    fn check(&self, dir: &Path) -> bool;
    /// What the store's means for a damaged session get out of it, in a real directory.
    ///
    /// # Errors
    /// They can't begin.
    fn repair(&self, dir: &Path) -> Result<Vec<String>>;
}

/// A session open for writing.
pub trait Writer {
    /// Appends a message; when it returns, the message is as durable as this store makes it.
    ///
    /// # Errors
    /// The store's own.
    fn append(&mut self, text: &str) -> Result<()>;
    /// Moves everything to where it is after a close.
    ///
    /// # Errors
    /// The store's own.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
    /// Closes the session.
    ///
    /// # Errors
    /// The store's own.
    fn close(self: Box<Self>) -> Result<()>;
}

/// What a reader has seen.
#[derive(Debug, Default)]
pub struct Reading {
    /// The messages' texts, in order.
    pub texts: Vec<String>,
    /// Whether the reader says in any way that something is wrong.
    pub told: bool,
}
