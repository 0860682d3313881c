//! Random histories with power cuts, kills and failing syncs between them, against a plain list: what was acknowledged is
//! there, what is there is a prefix of what was appended, and an open never calls a crash damage.
//!
//! A power cut leaves of each sector that was not synced the old or the new bytes, or zeros where there were none, and any length
//! of the file in between. The seeds are fixed and named in each failure.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{Durability, LogError, LogOptions, LogWriter, Verdict, survey};

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % sides
    }
}

/// What a power cut may leave of a file.
fn after_power_cut(dice: &mut Dice, seen: &[u8], durable: &[u8]) -> Vec<u8> {
    let len = match dice.roll(4) {
        0 => durable.len(),
        1 => seen.len(),
        2 => seen.len() + dice.roll(9000) as usize,
        _ => durable.len() + dice.roll((seen.len() - durable.len()) as u64 + 1) as usize,
    };
    let mut image = vec![0; len];
    let style = dice.roll(4);
    for start in (0..len).step_by(SECTOR) {
        let end = (start + SECTOR).min(len);
        let new = match style {
            0 => false,
            1 => true,
            _ => dice.roll(2) == 0,
        };
        let from = if new { seen } else { durable };
        let known = from.get(start..end.min(from.len())).unwrap_or_default();
        image[start..start + known.len()].copy_from_slice(known);
        if !new {
            // Beyond the durable end of the file a sector that was not written reads as zeros.
            image[(start + known.len()).min(end)..end].fill(0);
        }
    }
    image
}

struct Model {
    /// Everything that is or may be in the log, batch by batch.
    batches: Vec<Vec<u128>>,
    /// So many batches are acknowledged as durable.
    acknowledged: usize,
    next: u128,
}

impl Model {
    /// Compares what an open has found; from now on that is the truth, and durable.
    fn settle(&mut self, found: &[u128], what: &str) {
        let mut whole = 0;
        let mut rest = found;
        while let Some(batch) = self.batches.get(whole).filter(|batch| rest.starts_with(batch)) {
            rest = &rest[batch.len()..];
            whole += 1;
        }
        assert!(rest.is_empty(), "{what}: {found:?} is no run of whole batches from the start of {:?}", self.batches);
        assert!(
            whole >= self.acknowledged,
            "{what}: {} batches were acknowledged, {whole} are there",
            self.acknowledged
        );
        self.batches.truncate(whole);
        self.acknowledged = whole;
    }
}

fn append_some(dice: &mut Dice, log: &LogWriter, model: &mut Model) -> Result<(), LogError> {
    let count = 1 + dice.roll(3) as usize;
    let numbers: Vec<u128> = (0..count as u128).map(|index| model.next + index).collect();
    model.next += count as u128;
    let payloads: Vec<Vec<u8>> = numbers.iter().map(|number| payload(*number, dice.roll(900) as usize)).collect();
    let records: Vec<_> = numbers.iter().zip(&payloads).map(|(number, payload)| event(*number, payload)).collect();
    model.batches.push(numbers);
    let durability = if dice.roll(3) == 0 { Durability::Sync } else { Durability::Os };
    log.append(&records, leaf(count - 1), durability)?;
    if durability == Durability::Sync {
        model.acknowledged = model.batches.len();
    }
    Ok(())
}

fn options() -> LogOptions {
    LogOptions::default().index_records(16)
}

fn run(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut disk = Disk::new();
    let mut log = create_with(&disk, options());
    let mut model = Model { batches: Vec::new(), acknowledged: 0, next: 1 };
    for round in 0..6 {
        let mut alive = true;
        for _ in 0..dice.roll(12) {
            let outcome = match dice.roll(12) {
                0 => log.sync().map(|()| model.acknowledged = model.batches.len()),
                1 => {
                    disk.fail(Call::Sync, 0, Fault::Errno(5));
                    append_some(&mut dice, &log, &mut model)
                }
                2 => {
                    disk.fail(Call::Write, 0, Fault::Short(dice.roll(700) as usize + 1));
                    disk.fail(Call::Write, 1, Fault::Errno(28));
                    append_some(&mut dice, &log, &mut model)
                }
                3 => {
                    disk.heal();
                    log.close().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
                    model.acknowledged = model.batches.len();
                    log = LogWriter::open(disk.fs(), &path(), options())
                        .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
                        .0;
                    Ok(())
                }
                _ => append_some(&mut dice, &log, &mut model),
            };
            if outcome.is_err() {
                alive = false;
                break;
            }
        }
        disk.heal();
        let what = format!("seed {seed}, round {round}, alive {alive}");
        let (seen, durable) = (disk.bytes(&path()), disk.durable(&path()));
        if dice.roll(3) > 0 {
            // The power goes, perhaps again in the middle of the recovery.
            disk.fork();
            drop(log);
            bury(&disk);
            disk = disk_with(&after_power_cut(&mut dice, &seen, &durable));
            if dice.roll(3) == 0 {
                let call = if dice.roll(2) == 0 { Call::Write } else { Call::Sync };
                disk.fail(call, dice.roll(3), Fault::Errno(5));
                if let Ok((log, _)) = LogWriter::open(disk.fs(), &path(), options()) {
                    disk.fork();
                    drop(log);
                }
                disk.heal();
                disk = disk_with(&after_power_cut(&mut dice, &disk.bytes(&path()), &disk.durable(&path())));
            }
        } else {
            // The process dies, the machine goes on: what a failed sync has dropped stays dropped. A new file for a new lock.
            disk.fork();
            drop(log);
            disk.move_to_new_inode(&path());
            bury(&disk);
        }
        let before = disk.bytes(&path());
        let (reader, report) = read(&disk).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_ne!(report.verdict, Verdict::Damaged, "{what}: {report:?}");
        let visible = ids(&reader);
        let (reopened, report) =
            LogWriter::open(disk.fs(), &path(), options()).unwrap_or_else(|error| panic!("{what}: {error}"));
        log = reopened;
        assert_eq!(ids(&log), visible, "{what}: the writer finds what the reader saw");
        model.settle(&visible, &what);
        for aside in &report.set_aside {
            let range = aside.offset as usize..(aside.offset + aside.len) as usize;
            let there = before.len().min(range.end);
            assert!(
                disk.bytes(&path())[range.start..there] == before[range.start..there],
                "{what}: set aside and still there"
            );
        }
        let found = survey(disk.fs(), &path()).unwrap();
        assert!(found.damage.is_empty(), "{what}: {:?}", found.damage);
        for number in model.batches.iter().flatten().step_by(5) {
            assert!(log.find(id(*number)).unwrap().is_some(), "{what}: record {number}");
        }
    }
}

#[test]
fn no_crash_loses_an_acknowledged_record_or_is_taken_for_damage() {
    let count = std::env::var("SESLOG_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    for seed in 1..=count {
        run(seed);
    }
}
