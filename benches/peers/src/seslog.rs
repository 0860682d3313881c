//! Seslog, through its public interface of sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::seslog::event::{Body, Message};
use ::seslog::log::{Durability, Fs, RealFs, Verdict, survey};
use ::seslog::session::{Clock, Opened, Session, SessionOptions, SessionReader, State};

use crate::peer::{Disk, Peer, Reading, Result, Writer};

/// A session of Seslog.
#[derive(Debug)]
pub struct Seslog {
    /// That of each append.
    pub durability: Durability,
}

impl Peer for Seslog {
    fn create(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let session = Session::create(&path(dir), options(disk, 0))?;
        Ok(Box::new(Open { session, durability: self.durability }))
    }

    fn open(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let session = Session::open(&path(dir), options(disk, 1_000_000_000))?;
        Ok(Box::new(Open { session, durability: self.durability }))
    }

    fn read(&self, disk: &Disk, dir: &Path) -> Result<Reading> {
        let reader = SessionReader::open(&path(dir), fs(disk))?;
        let told = reader.report().open != Opened::Clean;
        Ok(match reader.whole_state() {
            Ok(state) => Reading { texts: texts(&state), told },
            // What can be shown of a damaged session is the state that the reader has opened with.
            Err(_) => Reading { texts: texts(reader.state()), told: true },
        })
    }

    fn check(&self, dir: &Path) -> bool {
        survey(RealFs::shared(), &path(dir)).map_or(true, |found| found.verdict != Verdict::Clean)
    }

    fn repair(&self, dir: &Path) -> Result<Vec<String>> {
        let target = dir.join("salvaged.seslog");
        let _ = Session::salvage(&path(dir), &target, &options(&Disk::Real, 2_000_000_000))?;
        let salvaged = SessionReader::open(&target, RealFs::shared())?;
        Ok(texts(&salvaged.whole_state()?))
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("0193a000-0000-7000-8000-000000000001.seslog")
}

fn fs(disk: &Disk) -> Arc<dyn Fs> {
    match disk {
        Disk::Real => RealFs::shared(),
        Disk::Sim(disk) => disk.fs(),
    }
}

fn options(disk: &Disk, since: u64) -> SessionOptions {
    SessionOptions { fs: fs(disk), clock: Arc::new(Even(AtomicU64::new(since))), ..SessionOptions::default() }
}

fn texts(state: &State) -> Vec<String> {
    let text = |body: &Body| if let Body::Message(message) = body { Some(message.joined_text()) } else { None };
    state.entries().iter().filter_map(|entry| text(&entry.event.body)).collect()
}

/// A clock that runs evenly and a randomness that counts, so that a run is always the same.
#[derive(Debug)]
struct Even(AtomicU64);

impl Clock for Even {
    fn now(&self) -> i64 {
        1_764_450_000_000_000 + self.0.fetch_add(1000, Ordering::Relaxed) as i64
    }

    fn random(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

struct Open {
    session: Session,
    durability: Durability,
}

impl Writer for Open {
    fn append(&mut self, text: &str) -> Result<()> {
        let appended = self.session.append(Message::user(text), self.durability)?;
        if self.durability != Durability::Os {
            appended.wait()?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.session.close()?)
    }
}
