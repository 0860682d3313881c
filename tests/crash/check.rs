//! What must hold in every state after a power cut, on the floor of the log.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use seslog::log::{
    Appended, Durability, FrameType, IndexHint, LogError, LogOptions, LogReader, LogView, LogWriter, Note, OpenReport,
    Place, Record, Verdict, survey,
};
use seslog::sim::{Count, Crash, Crashes, Image, Persistence, SimDisk};
use uuid::Uuid;

pub fn path() -> PathBuf {
    PathBuf::from("/s/a.seslog")
}

/// An INDEX comes often.
pub fn options() -> LogOptions {
    LogOptions::default().index_records(16)
}

/// Notes in a recording. The number of batches fits in the lower half.
#[derive(Debug, Clone, Copy)]
pub enum Said {
    /// The log exists.
    Created,
    /// This batch is about to be appended.
    Appending(usize),
    /// So many batches are acknowledged as durable.
    Durable(usize),
    /// An opening has found so many of them; the others never were.
    Found(usize),
}

impl Said {
    pub fn note(self) -> u64 {
        let (kind, number) = match self {
            Self::Created => (0, 0),
            Self::Appending(batch) => (1, batch),
            Self::Durable(count) => (2, count),
            Self::Found(count) => (3, count),
        };
        (kind << 32) | number as u64
    }

    fn of(note: u64) -> Self {
        let number = note as u32 as usize;
        match note >> 32 {
            0 => Self::Created,
            1 => Self::Appending(number),
            2 => Self::Durable(number),
            _ => Self::Found(number),
        }
    }
}

/// What a run has promised up to a moment.
#[derive(Debug, Clone, Hash, PartialEq, Eq)]
pub struct Promise {
    pub created: bool,
    /// The numbers of the batches that may be there, in order.
    pub batches: Vec<usize>,
    /// So many of them must be.
    pub durable: usize,
}

impl Promise {
    pub fn of(notes: &[u64], start: &Self) -> Self {
        let mut promise = start.clone();
        for note in notes {
            match Said::of(*note) {
                Said::Created => promise.created = true,
                Said::Appending(batch) => promise.batches.push(batch),
                Said::Durable(count) => promise.durable = count,
                Said::Found(count) => promise.batches.truncate(count),
            }
        }
        promise
    }
}

/// A record's number tells its batch, its place there, and how many the batch has.
pub fn id(batch: usize, place: usize, count: usize) -> Uuid {
    Uuid::from_u128(((batch as u128) << 32) | ((place as u128) << 16) | count as u128)
}

fn parts(id: Uuid) -> (usize, usize, usize) {
    let number = id.as_u128();
    ((number >> 32) as usize, (number >> 16) as usize & 0xFFFF, number as usize & 0xFFFF)
}

/// Bytes that tell of which record they are.
pub fn payload(id: Uuid, len: usize) -> Vec<u8> {
    let seed = id.as_u128() as u64;
    (0..len as u64).map(|at| (seed.wrapping_mul(31) ^ (seed >> 32)).wrapping_add(at * 7) as u8).collect()
}

/// Appends a batch of records of these lengths.
pub fn append(log: &LogWriter, batch: usize, lens: &[usize], durability: Durability) -> Result<Appended, LogError> {
    let ids: Vec<Uuid> = (0..lens.len()).map(|place| id(batch, place, lens.len())).collect();
    let payloads: Vec<Vec<u8>> = ids.iter().zip(lens).map(|(id, len)| payload(*id, *len)).collect();
    let record = |(id, payload)| Record {
        frame_type: FrameType::Event,
        skippable: false,
        id,
        parent: Place::None,
        boundary: Place::None,
        payload,
        index: IndexHint::Plain,
    };
    let records: Vec<Record<'_>> = ids.iter().copied().zip(payloads.iter().map(Vec::as_slice)).map(record).collect();
    log.append(&records, Note { head: Place::InBatch(lens.len() - 1), ..Note::default() }, durability)
}

/// The batches that a log holds. Each is whole, in order, and byte for byte what was appended.
pub fn batches(log: &LogView) -> Vec<usize> {
    try_batches(log).expect("whole frames")
}

/// The same where a read may fail.
pub fn try_batches(log: &LogView) -> Result<Vec<usize>, LogError> {
    let mut found = Vec::new();
    let mut next = (0, 0);
    for frame in log.frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            continue;
        }
        let (batch, place, count) = parts(frame.id());
        assert_eq!(frame.payload(), payload(frame.id(), frame.payload().len()), "the bytes are those of the record");
        if place == 0 {
            assert_eq!(next, (0, 0), "the batch before is whole");
            found.push(batch);
        } else {
            assert_eq!((batch, place), (found[found.len() - 1], next.0), "no record of the batch is missing");
        }
        next = if place + 1 == count { (0, 0) } else { (place + 1, count) };
    }
    assert_eq!(next, (0, 0), "the last batch is whole");
    Ok(found)
}

/// Goes through states, and through those after cuts in the recovery from them.
pub struct Walk {
    pub model: Persistence,
    pub full_sectors: usize,
    /// Where there are more, in how many a state differs from "all old" or "all new".
    pub deviations: usize,
    pub stale: Arc<[u8]>,
    pub count: Count,
    seen: HashSet<u64>,
}

impl Walk {
    pub fn new(model: Persistence, full_sectors: usize) -> Self {
        Self { model, full_sectors, deviations: 2, stale: other_log(), count: Count::default(), seen: HashSet::new() }
    }

    /// All states of a run, `depth` more cuts in the recoveries among them.
    pub fn run(&mut self, disk: &SimDisk, start: &Promise, depth: usize) {
        self.run_since(disk, 0, start, depth);
    }

    /// Only those after so many operations.
    pub fn run_since(&mut self, disk: &SimDisk, first: usize, start: &Promise, depth: usize) {
        let trace = disk.trace();
        let stale = self.stale.clone();
        let crashes = Crashes::of(&trace, self.model).since(first).full_sectors(self.full_sectors);
        let crashes = crashes.deviations(self.deviations).stale(&stale);
        let count = crashes.for_each(|crash: &Crash<'_>| {
            let promise = Promise::of(crash.notes, start);
            let mut hasher = DefaultHasher::new();
            (&crash.image, &promise, depth).hash(&mut hasher);
            let hash = hasher.finish();
            if self.seen.insert(hash) {
                self.state(&crash.image, &promise, depth, hash);
            }
        });
        self.count += count;
    }

    fn state(&mut self, image: &Image, promise: &Promise, depth: usize, seed: u64) {
        let Some(before) = image.files.get(&path()) else {
            assert!(!promise.created, "the log was there");
            return;
        };
        let disk = SimDisk::holding(image).seeded(seed);
        let (reader, seen) = LogReader::open(disk.fs(), &path()).unwrap_or_else(|error| panic!("{error}: {promise:?}"));
        assert_ne!(seen.verdict, Verdict::Damaged, "a crash is no damage: {seen:?}, {promise:?}");
        let found = batches(&reader);
        assert!(promise.batches.starts_with(&found), "{found:?} is no beginning of {promise:?}");
        assert!(found.len() >= promise.durable, "{found:?}, and yet {promise:?}");
        all_is_named(&seen, before);

        disk.record();
        let (log, report) =
            LogWriter::open(disk.fs(), &path(), options()).unwrap_or_else(|error| panic!("{error}: {promise:?}"));
        assert_eq!(batches(&log), found, "the writer finds what the reader saw");
        assert_eq!(report.set_aside, seen.set_aside);
        assert!(
            report.clean_close || log.durable_end() == report.end,
            "what is called recovered is durable: {report:?}"
        );
        nothing_is_touched(&disk, before, &seen);
        let looked = survey(disk.fs(), &path()).unwrap();
        assert!(looked.damage.is_empty(), "{:?}", looked.damage);

        // What was found is durable from here on, and so must what is appended be.
        let next = 1 + promise.batches.iter().max().copied().unwrap_or(0);
        disk.note(Said::Appending(next).note());
        append(&log, next, &[40], Durability::Sync).unwrap();
        disk.note(Said::Durable(found.len() + 1).note());
        nothing_is_touched(&disk, before, &seen);
        disk.kill();
        drop(log);
        if depth > 0 {
            let durable = found.len();
            self.run(&disk, &Promise { created: true, batches: found, durable }, depth - 1);
        } else {
            let (log, report) = LogWriter::open(disk.fs(), &path(), options()).unwrap();
            assert_eq!(batches(&log), [found, vec![next]].concat(), "{report:?}");
            disk.kill();
        }
    }
}

/// Every byte behind the header is of an accepted frame, a zero at the end, or in a range that is set aside.
fn all_is_named(report: &OpenReport, file: &[u8]) {
    let data_end = file.len() as u64 - report.zero_bytes.min(file.len() as u64);
    let named = report.set_aside.last().map_or(report.end, |last| report.end.max(last.offset + last.len));
    assert!(named >= data_end, "bytes {named} to {data_end} are in no report: {report:?}");
}

/// What was durable, and what was set aside, is as it was.
fn nothing_is_touched(disk: &SimDisk, before: &[u8], report: &OpenReport) {
    let now = disk.bytes(&path());
    assert!(now.len() >= before.len(), "nothing is cut");
    let durable = report.durable_end as usize;
    assert!(
        now[4096.min(before.len())..durable] == before[4096.min(before.len())..durable],
        "durable bytes are as they were"
    );
    for aside in &report.set_aside {
        let range = aside.offset as usize..((aside.offset + aside.len) as usize).min(before.len());
        assert!(now[range.clone()] == before[range], "what is set aside is still there: {aside:?}");
    }
}

/// Another log of many records: the worst that a deleted file can have left.
fn other_log() -> Arc<[u8]> {
    let disk = SimDisk::new().seeded(0xBAD);
    let log = LogWriter::create(
        disk.fs(),
        &path(),
        seslog::log::NewLog::new(Uuid::from_u128(0xBAD), 1_700_000_000_000_000),
        options(),
    )
    .unwrap();
    (1..100).for_each(|batch| drop(append(&log, batch, &[40], Durability::Sync).unwrap()));
    log.close().unwrap();
    disk.bytes(&path()).into()
}
