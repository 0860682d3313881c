//! Damage on files that nobody has open: what each store still gives, and what it says.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::damage::{ALL, Damage, Damaged, Files, Session};
use crate::message::messages;
use crate::peer::{Disk, Peer, Reading, Result, scratch};

/// How the session's program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has closed the session.
    Closed,
    /// It was killed after the last append, and all its bytes are on the disk.
    Killed,
}

/// Counts of one kind of damage on one store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    /// Places at which it was done.
    pub places: u64,
    /// The reader gives an error and no message.
    pub refused: u64,
    /// The reader gives messages and says that something is wrong.
    pub told: u64,
    /// It says nothing, and messages are missing or wrong.
    pub silent: u64,
    /// It says nothing, and all messages are there and right.
    pub harmless: u64,
    /// A message that nobody wrote, or twice, or out of order; in any of the above.
    pub wrong: u64,
    /// Silent ones that the store's own check does not find either.
    pub unfound: u64,
    /// Messages that were not hit and that the reader does not give, at all places together.
    pub beside: u64,
    /// Those that the store's means of repair do not give either.
    pub beside_repaired: u64,
    /// Wrong messages after the repair.
    pub wrong_repaired: u64,
    /// Times that the store's code has panicked; counted as refused.
    pub panics: u64,
}

/// Makes a session of `count` messages and does every damage to it.
///
/// # Errors
/// The store fails on whole files.
pub fn run(peer: &dyn Peer, end: End, count: usize, places: usize) -> Result<Vec<(Damage, Row)>> {
    let texts = messages(count);
    let session = make(peer, end, &texts)?;
    let dir = scratch()?;
    let mut judge = Judge::new(peer, &texts, dir.path());
    let whole = judge.row(&Damaged { files: session.files.clone(), hit: Default::default() })?;
    if whole.harmless != 1 || whole.beside_repaired != 0 {
        return Err(format!("undamaged files are not read back whole: {whole:?}").into());
    }
    let mut rows = Vec::new();
    for (damage, _) in ALL {
        let mut row = Row::default();
        let mut failed = None;
        session.each(damage, places, |damaged| match judge.row(damaged) {
            Ok(one) => row += one,
            Err(error) => failed = Some(error),
        });
        if let Some(error) = failed {
            return Err(error);
        }
        rows.push((damage, row));
    }
    Ok(rows)
}

fn make(peer: &dyn Peer, end: End, texts: &[String]) -> Result<Session> {
    let dir = scratch()?;
    let mut writer = peer.create(&Disk::Real, dir.path())?;
    let mut older = Vec::new();
    for text in texts {
        writer.append(text)?;
        if end == End::Closed {
            writer.settle()?;
        }
        older.push(load(dir.path())?);
    }
    let files = match end {
        End::Closed => {
            writer.close()?;
            load(dir.path())?
        }
        End::Killed => load(dir.path())?,
    };
    Ok(Session { files, older })
}

fn load(dir: &Path) -> Result<Files> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = std::fs::read(entry.path())?;
        // The shared memory of SQLite is made anew, and a lock file holds nothing.
        if !name.ends_with("-shm") && !bytes.is_empty() {
            files.insert(name, bytes);
        }
    }
    Ok(files)
}

struct Judge<'a> {
    peer: &'a dyn Peer,
    numbers: BTreeMap<&'a str, usize>,
    dir: &'a Path,
}

impl<'a> Judge<'a> {
    fn new(peer: &'a dyn Peer, texts: &'a [String], dir: &'a Path) -> Self {
        let numbers = texts.iter().enumerate().map(|(number, text)| (text.as_str(), number)).collect();
        Self { peer, numbers, dir }
    }

    fn row(&mut self, damaged: &Damaged) -> Result<Row> {
        let mut row = Row { places: 1, ..Row::default() };
        let Reading { texts, told } = match self.on(damaged, || self.peer.read(&Disk::Real, self.dir))? {
            Ok(Ok(reading)) => {
                row.told = u64::from(reading.told);
                reading
            }
            other => {
                row.refused = 1;
                row.panics = u64::from(other.is_err());
                Reading { told: true, ..Reading::default() }
            }
        };
        let (given, wrong) = self.given(&texts);
        row.wrong = u64::from(wrong);
        if !told {
            let harm = wrong || given.len() < self.numbers.len();
            row.silent = u64::from(harm);
            row.harmless = u64::from(!harm);
            if harm {
                row.unfound = u64::from(matches!(self.on(damaged, || self.peer.check(self.dir))?, Ok(false)));
            }
        }
        row.beside = self.beside(&given, damaged);
        let repaired = match self.on(damaged, || self.peer.repair(self.dir))? {
            Ok(Ok(texts)) => texts,
            _ => Vec::new(),
        };
        let (given, wrong) = self.given(&repaired);
        row.beside_repaired = self.beside(&given, damaged);
        row.wrong_repaired = u64::from(wrong);
        Ok(row)
    }

    /// Puts the files there as they were damaged, whatever an earlier reader has made of them.
    fn on<T>(&self, damaged: &Damaged, look: impl FnOnce() -> T) -> Result<std::thread::Result<T>> {
        for entry in std::fs::read_dir(self.dir)? {
            std::fs::remove_file(entry?.path())?;
        }
        for (name, bytes) in &damaged.files {
            std::fs::write(self.dir.join(name), bytes)?;
        }
        Ok(catch_unwind(AssertUnwindSafe(look)))
    }

    /// The messages that are among these texts, and whether anything else is, or one out of order.
    fn given(&self, texts: &[String]) -> (Vec<usize>, bool) {
        let numbers: Vec<Option<usize>> = texts.iter().map(|text| self.numbers.get(text.as_str()).copied()).collect();
        let given: Vec<usize> = numbers.iter().flatten().copied().collect();
        let wrong = given.len() < texts.len() || !given.is_sorted_by(|one, next| one < next);
        (given, wrong)
    }

    fn beside(&self, given: &[usize], damaged: &Damaged) -> u64 {
        let missing = self.numbers.values().filter(|number| !given.contains(number) && !damaged.hit.contains(number));
        missing.count() as u64
    }
}

impl std::ops::AddAssign for Row {
    fn add_assign(&mut self, other: Self) {
        self.places += other.places;
        self.refused += other.refused;
        self.told += other.told;
        self.silent += other.silent;
        self.harmless += other.harmless;
        self.wrong += other.wrong;
        self.unfound += other.unfound;
        self.beside += other.beside;
        self.beside_repaired += other.beside_repaired;
        self.wrong_repaired += other.wrong_repaired;
        self.panics += other.panics;
    }
}
