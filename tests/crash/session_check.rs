//! What must hold in every state after a power cut, on the floor of the session.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seslog::event::Message;
use seslog::log::{Durability, LogOptions, survey};
use seslog::projection::{Options, View, project};
use seslog::session::{Opened, Session, SessionOptions, SessionReader, State};
use seslog::sim::{Count, Crash, Crashes, Image, Persistence, SimDisk};

use crate::even_clock::EvenClock;

pub fn path() -> PathBuf {
    PathBuf::from("/s/0193a000-0000-7000-8000-000000000001.seslog")
}

/// Options of a session on this disk. `since`: µs since the clock's start.
pub fn options(disk: &SimDisk, since: u64) -> SessionOptions {
    SessionOptions {
        fs: disk.fs(),
        clock: Arc::new(EvenClock::since(since)),
        log: LogOptions::default().index_records(16),
    }
}

/// What a run has promised at its end; a note is the number of steps that are acknowledged as durable.
#[derive(Debug, Clone)]
pub struct Promise {
    /// The state after so many steps, from the first that may be found on.
    pub states: Vec<State>,
    /// The file exists once there is a note.
    pub created: bool,
}

impl Promise {
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for state in &self.states {
            state.last_id().hash(&mut hasher);
            state.entries().len().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Goes through states, and through those after cuts in the recovery from them.
pub struct Walk {
    pub model: Persistence,
    pub full_sectors: usize,
    pub count: Count,
    seen: HashSet<u64>,
}

impl Walk {
    pub fn new(model: Persistence, full_sectors: usize) -> Self {
        Self { model, full_sectors, count: Count::default(), seen: HashSet::new() }
    }

    /// All states of a run, `depth` more cuts in the recoveries among them.
    pub fn run(&mut self, disk: &SimDisk, promise: &Promise, depth: usize) {
        let (trace, key) = (disk.trace(), promise.key());
        let count = Crashes::of(&trace, self.model).full_sectors(self.full_sectors).for_each(|crash: &Crash<'_>| {
            let durable = crash.notes.last().copied();
            let mut hasher = DefaultHasher::new();
            (&crash.image, key, durable, depth).hash(&mut hasher);
            let hash = hasher.finish();
            if self.seen.insert(hash) {
                self.state(&crash.image, promise, durable, depth, hash);
            }
        });
        self.count += count;
    }

    fn state(&mut self, image: &Image, promise: &Promise, durable: Option<u64>, depth: usize, seed: u64) {
        if !image.files.contains_key(&path()) {
            assert!(!promise.created && durable.is_none(), "the session was there");
            return;
        }
        let disk = SimDisk::holding(image).seeded(seed);
        let reader = SessionReader::open(&path(), disk.fs()).unwrap();
        assert_ne!(reader.report().open, Opened::Damaged, "a crash is no damage: {:?}", reader.report());
        let whole = reader.whole_state().unwrap();
        let steps = promise.states.iter().position(|state| *state == whole).expect("a state that the run has had");
        assert!(steps as u64 >= durable.unwrap_or(0), "{steps} steps are there, {durable:?} were acknowledged");

        disk.record();
        let since = 10_000_000 * (depth as u64 + 1);
        let session = Session::open(&path(), options(&disk, since)).unwrap();
        assert_eq!(session.whole_state().unwrap(), whole, "the writer finds what the reader saw");
        let (trimmed, view) = (session.state().unwrap(), Options::default());
        let seen = project(&trimmed, View::Model, &view).messages;
        assert_eq!(seen, project(&whole, View::Model, &view).messages, "the window is the whole one's");
        session.append(Message::user("one more"), Durability::Sync).unwrap().wait().unwrap();
        disk.note(1);
        let more = session.whole_state().unwrap();
        assert_eq!(more.entries().len(), whole.entries().len() + 1);
        disk.kill();
        drop(session);
        let looked = survey(disk.fs(), &path()).unwrap();
        assert!(looked.damage.is_empty(), "{:?}", looked.damage);
        if depth > 0 {
            self.run(&disk, &Promise { states: vec![whole, more], created: true }, depth - 1);
        }
    }
}

/// Every other session file of a state that has its final name is whole.
pub fn others_are_whole(image: &Image, except: &Path) {
    let disk = SimDisk::holding(image);
    for path in image.files.keys().filter(|path| path.extension().is_some_and(|e| e == "seslog") && **path != except) {
        let reader = SessionReader::open(path, disk.fs()).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        assert_eq!(reader.report().open, Opened::Clean, "{path:?}");
        let found = survey(disk.fs(), path).unwrap();
        assert!(found.damage.is_empty() && found.set_aside.is_empty(), "{path:?}: {found:?}");
    }
}
