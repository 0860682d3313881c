//! Seslog itself, through its public interface.

use std::path::{Path, PathBuf};

use seslog::event::{Event, Message, Uuid};
use seslog::log::{Durability, LogOptions};
use seslog::session::{Compaction, Session, SessionOptions};

use super::{Finder, Finds, Peer, Window, Writer};
use crate::Result;
use crate::session::SUMMARY;

/// A session of Seslog.
#[derive(Debug, Clone, Copy)]
pub struct Seslog(pub Durability);

/// A session whose large events are compressed by zstd, appended with `Os`.
#[derive(Debug, Clone, Copy)]
pub struct Compressed;

impl Peer for Compressed {
    fn name(&self) -> &'static str {
        "Seslog `Os`, compressed"
    }

    fn kind(&self) -> &'static str {
        "Seslog, compressed"
    }

    fn survives(&self) -> &'static str {
        Seslog(Durability::Os).survives()
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let options = SessionOptions { log: LogOptions::default().compress(true), ..SessionOptions::default() };
        let session = Session::create(&file(dir), options)?;
        Ok(Box::new(Appends { session, durability: Durability::Os }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        Seslog(Durability::Os).open(dir)
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        Seslog(Durability::Os).resume(dir)
    }
}

/// The session's file.
pub fn file(dir: &Path) -> PathBuf {
    dir.join("session.seslog")
}

impl Peer for Seslog {
    fn name(&self) -> &'static str {
        match self.0 {
            Durability::Os => "**Seslog `Os`**",
            Durability::Sync => "**Seslog `Sync`**",
            Durability::Group => "**Seslog `Group`**",
            _ => "**Seslog `Buffered`**",
        }
    }

    fn kind(&self) -> &'static str {
        "**Seslog**"
    }

    fn survives(&self) -> &'static str {
        match self.0 {
            Durability::Os => "survives a kill; power cuts after a second at most",
            Durability::Sync | Durability::Group => "survives a power cut",
            _ => "survives a kill after 50 ms, power cuts after a second at most",
        }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        Ok(Box::new(Appends { session: Session::create(&file(dir), SessionOptions::default())?, durability: self.0 }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        Ok(Box::new(Appends { session: Session::open(&file(dir), SessionOptions::default())?, durability: self.0 }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let session = Session::open(&file(dir), SessionOptions::default())?;
        let count = session.with_state(|state| state.chain().len())?.saturating_sub(2);
        Ok(Window { count, held: Box::new(session) })
    }
}

struct Appends {
    session: Session,
    durability: Durability,
}

impl Writer for Appends {
    fn append(&mut self, message: Message) -> Result<()> {
        drop(self.session.append(message, self.durability)?.receipt);
        Ok(())
    }

    fn compact(&mut self) -> Result<()> {
        drop(self.session.compact(Compaction::new(SUMMARY), self.durability)?.receipt);
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.session.close()?)
    }
}

impl Finds for Seslog {
    fn finder(&self, dir: &Path) -> Result<Box<dyn Finder>> {
        Ok(Box::new(Session::open(&file(dir), SessionOptions::default())?))
    }
}

impl Finder for Session {
    fn ids(&self) -> Result<Vec<Uuid>> {
        let frames = self.log().frames(0);
        let records = frames.filter(|frame| !frame.as_ref().is_ok_and(|frame| frame.frame_type().is_own()));
        records.map(|frame| Ok(frame?.id())).collect()
    }

    fn find(&self, id: Uuid) -> Result<Option<Event>> {
        Ok(self.event(id)?)
    }
}
