//! Power cuts: every state that the simulated disk may be in after a cut at any moment of a small run, and what each store
//! makes of it: opens it, reads it, goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use ::seslog::sim::{Count, Crash, Crashes, Image, Persistence, SimDisk};

use crate::message::text;
use crate::peer::{Disk, Peer, Reading, Result};

/// Messages that are surely on the disk before the run begins.
const BASE: usize = 2;
/// Lengths of those that are appended in it, in bytes.
const LENS: [usize; 3] = [200, 900, 400];

/// Counts over the states of one store.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    /// The states.
    pub count: Count,
    /// The reader gives an error and no message.
    pub refused: u64,
    /// A message is missing whose append had returned before the cut.
    pub lost: u64,
    /// One of those that were safe before the run is missing.
    pub base_lost: u64,
    /// A later message is there and an earlier one is not.
    pub holes: u64,
    /// Such a one, and the reader says nothing.
    pub silent_holes: u64,
    /// A message that nobody wrote, or twice, or out of order.
    pub wrong: u64,
    /// The next program can't open the session for writing.
    pub stuck: u64,
    /// It can; and what it appends, or what was there before, is then not read back.
    pub next_lost: u64,
    /// Times that the store's code has panicked; counted as refused or stuck.
    pub panics: u64,
}

/// Runs a store on the simulated disk and goes through every state.
///
/// # Errors
/// The store fails where there was no power cut.
pub fn run(peer: &dyn Peer, model: Persistence, full_sectors: usize, deviations: usize) -> Result<Row> {
    let dir = Path::new("/s");
    let texts: Vec<String> = (0..BASE)
        .map(|number| text(number, 300))
        .chain((BASE..).zip(LENS).map(|(number, len)| text(number, len)))
        .collect();

    let disk = SimDisk::new();
    let mut writer = peer.create(&Disk::Sim(disk.clone()), dir)?;
    for text in &texts[..BASE] {
        writer.append(text)?;
    }
    // The program is killed, and all of it reaches the disk.
    let disk = {
        let image = disk.image();
        drop(writer);
        SimDisk::holding(&image)
    };
    disk.record();
    let mut writer = peer.open(&Disk::Sim(disk.clone()), dir)?;
    for (count, text) in (BASE + 1..).zip(&texts[BASE..]) {
        writer.append(text)?;
        disk.note(count as u64);
    }
    writer.close()?;
    let whole = peer.read(&Disk::Sim(SimDisk::holding(&disk.image())), dir)?;
    if whole.texts != texts {
        return Err("without a power cut the messages are not read back".into());
    }

    let mut row = Row::default();
    let crashes = Crashes::of(&disk.trace(), model).full_sectors(full_sectors).deviations(deviations).for_each(
        |crash: &Crash<'_>| {
            let acknowledged = crash.notes.last().map_or(BASE, |note| *note as usize);
            row.judge(peer, dir, &texts, acknowledged, &crash.image);
        },
    );
    row.count = crashes;
    Ok(row)
}

impl Row {
    fn judge(&mut self, peer: &dyn Peer, dir: &Path, texts: &[String], acknowledged: usize, image: &Image) {
        let read =
            |image: &Image| catch_unwind(AssertUnwindSafe(|| peer.read(&Disk::Sim(SimDisk::holding(image)), dir)));
        let Reading { texts: found, told } = match read(image) {
            Ok(Ok(reading)) => reading,
            other => {
                self.refused += 1;
                self.panics += u64::from(other.is_err());
                return;
            }
        };
        let numbers: Vec<Option<usize>> =
            found.iter().map(|text| texts.iter().position(|known| known == text)).collect();
        let known: Vec<usize> = numbers.iter().flatten().copied().collect();
        let there = |number: usize| known.contains(&number);
        self.lost += u64::from(!(0..acknowledged).all(there));
        self.base_lost += u64::from(!(0..BASE).all(there));
        let hole = (1..texts.len()).any(|number| there(number) && !there(number - 1));
        self.holes += u64::from(hole);
        self.silent_holes += u64::from(hole && !told);
        self.wrong += u64::from(known.len() < found.len() || !known.is_sorted_by(|one, next| one < next));

        let disk = SimDisk::holding(image);
        let next = text(900, 200);
        let appended = catch_unwind(AssertUnwindSafe(|| -> Result<Image> {
            let mut writer = peer.open(&Disk::Sim(disk.clone()), dir)?;
            writer.append(&next)?;
            Ok(disk.image())
        }));
        let Ok(Ok(image)) = appended else {
            self.stuck += 1;
            self.panics += u64::from(appended.is_err());
            return;
        };
        let mut expected = found;
        expected.push(next);
        let again = read(&image);
        self.next_lost += u64::from(!matches!(again, Ok(Ok(reading)) if reading.texts == expected));
    }
}
