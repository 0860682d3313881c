//! A store on a simulated disk, and the list that knows no catalogue.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use seslog::event::{Message, SessionMeta, Uuid};
use seslog::log::Durability;
use seslog::session::{Listed, Session, SessionOptions, Store};
use seslog::sim::{Call, Image, SimDisk};

use crate::even_clock::EvenClock;

pub const DIR: &str = "/home/me/sessions";
pub const CATALOGUE: &str = "/home/me/sessions/.cache/catalogue";

/// A store at this place of this disk. Clocks of different seeds give different ids.
pub fn store_on(disk: &SimDisk, seed: u64) -> Store {
    let clock = Arc::new(EvenClock::since(seed * 1_000_000_000));
    Store::at(DIR, SessionOptions { fs: disk.fs(), clock, ..SessionOptions::default() })
}

/// The list of the same sessions without a catalogue.
pub fn truth(disk: &SimDisk) -> Vec<Listed> {
    truth_of(disk.image())
}

pub fn truth_of(mut image: Image) -> Vec<Listed> {
    image.files.retain(|path, _| !path.starts_with(Path::new(DIR).join(".cache")));
    store_on(&SimDisk::holding(&image), 999).list().unwrap()
}

/// A store of some closed sessions.
pub struct World {
    pub disk: SimDisk,
    pub store: Store,
    pub paths: Vec<PathBuf>,
}

impl World {
    /// One of so many sessions, a while after they were written.
    pub fn with(sessions: usize) -> Self {
        let disk = SimDisk::new();
        let store = store_on(&disk, 1);
        let mut world = Self { disk, store, paths: Vec::new() };
        (0..sessions).for_each(|number| world.add(number));
        world.later();
        world
    }

    /// The same, with a catalogue that a list has written.
    pub fn listed(sessions: usize) -> Self {
        let world = Self::with(sessions);
        drop(world.checked());
        world.later();
        // The first one has made the cache's directory.
        drop(world.checked());
        world
    }

    pub fn add(&mut self, number: usize) {
        let session = self.store.create().unwrap();
        let meta =
            SessionMeta { title: Some(format!("Session {number}")), tags: vec!["a".into()], ..SessionMeta::default() };
        drop(session.append(meta, Durability::Os).unwrap());
        drop(session.append(Message::user(format!("hello {number}")), Durability::Os).unwrap());
        self.paths.push(session.path().to_owned());
        session.close().unwrap();
    }

    /// All times that were seen are over.
    pub fn later(&self) {
        self.disk.advance(Duration::from_secs(10));
    }

    pub fn say(&self, path: &Path, text: &str) {
        let session = self.open(path);
        drop(session.append(Message::user(text), Durability::Os).unwrap());
        session.close().unwrap();
    }

    pub fn open(&self, path: &Path) -> Session {
        self.store.open(path.file_stem().unwrap().to_str().unwrap()).unwrap()
    }

    /// A list that must be true; what it found and did.
    pub fn checked(&self) -> seslog::session::ListReport {
        let listing = self.store.listing().unwrap();
        assert_eq!(listing.sessions, truth(&self.disk));
        listing.report
    }

    /// How often a file is opened meanwhile.
    pub fn opens<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.disk.calls(Call::Open);
        let result = work();
        (result, self.disk.calls(Call::Open) - before)
    }

    /// What the session's file holds after this was said, while the disk keeps the old one.
    pub fn said_elsewhere(&self, path: &Path, text: &str) -> Vec<u8> {
        let other = SimDisk::holding(&self.disk.image()).seeded(77);
        let session = store_on(&other, 50).open(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        drop(session.append(Message::user(text), Durability::Os).unwrap());
        session.close().unwrap();
        other.bytes(path)
    }
}

/// A file's path for a session of this number.
pub fn path_of(number: u128) -> PathBuf {
    Path::new(DIR).join(format!("{}.seslog", Uuid::from_u128(number)))
}
