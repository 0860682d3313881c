//! Kills of a writer of a bare log.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use seslog::log::{Durability, LogError, LogOptions, LogReader, LogWriter, NewLog, Note, Place, RealFs, Verdict};
use uuid::Uuid;

use super::child::{Writer, say};
use super::records::{InOrder, Said};
use super::{Random, follower, kills, seed};

/// So often one file is gone on with, each time from what the last kill left.
const KILLS_OF_ONE: u64 = 10;

/// The writer: opens, appends by several threads, closes or not, and begins again, until it is killed.
pub(crate) fn write(path: &Path, seed: u64) {
    let mut random = Random::new(seed, 1);
    let threads = 1 + random.below(4) as u8;
    // One durability for all its life, or any.
    let only = [Some(Durability::Sync), Some(Durability::Group), Some(Durability::Os), None][random.below(4) as usize];
    loop {
        let options = LogOptions::default()
            .window(Duration::from_millis(1 + random.below(20)))
            .window_bytes(4_096 << random.below(8))
            .index_records(16 + random.below(100));
        let log = match LogWriter::open(RealFs::shared(), path, options) {
            Ok((log, _)) => log,
            Err(LogError::NotFound { .. }) => {
                LogWriter::create(RealFs::shared(), path, NewLog::new(Uuid::from_u128(1), 0), options).unwrap()
            }
            Err(error) => panic!("{error}"),
        };
        let found = InOrder::of(&log);
        let appends = 1 + random.below(60);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (log, mut next) = (&log, found.last.get(&thread).copied().unwrap_or(0) + 1);
                let mut random = Random::new(seed, 100 + u64::from(thread) + next);
                scope.spawn(move || {
                    for _ in 0..appends {
                        let len = 1 + random.below(4).min(random.below(4)) as u8;
                        next = append(log, thread, next, len, only, &mut random);
                    }
                });
            }
        });
        if random.below(2) == 0 {
            log.close().unwrap();
        }
    }
}

/// Appends one batch and says so; gives the next number.
fn append(log: &LogWriter, thread: u8, first: u64, len: u8, only: Option<Durability>, random: &mut Random) -> u64 {
    let said = |index: u8| Said { thread, number: first + u64::from(index), index, len };
    let payloads: Vec<Vec<u8>> = (0..len).map(|index| said(index).payload()).collect();
    let batch: Vec<_> = (0..len).map(|index| said(index).record(&payloads[usize::from(index)])).collect();
    let note = Note { head: Place::InBatch(batch.len() - 1), ..Note::default() };
    let any = [Durability::Sync, Durability::Group, Durability::Os];
    let durability = only.unwrap_or(any[random.below(3) as usize]);
    let appended = log.append(&batch, note, durability).unwrap();
    // From here on it survives the process, in each durability.
    say(&format!("{thread} {first} {len} {}", appended.offsets[0]));
    if durability == Durability::Group || random.below(8) == 0 {
        appended.receipt.wait().unwrap();
    }
    first + u64::from(len)
}

#[test]
fn a_killed_writer_loses_nothing_that_was_acknowledged_and_leaves_whole_batches_in_order() {
    let (seed, kills) = (seed(), kills(56));
    let (mut acknowledged, mut recovered, mut looks, mut set_aside, mut unborn) = (0, 0, 0, 0, 0);
    for file in 0..kills.div_ceil(KILLS_OF_ONE) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.seslog");
        let (tick, ticks) = mpsc::channel();
        let watched = path.clone();
        let follower = std::thread::spawn(move || follower::follow(&watched, &ticks));
        // Offset to thread, first number and length of each batch that was acknowledged.
        let mut promised: BTreeMap<u64, (u8, u64, u8)> = BTreeMap::new();
        for kill in 0..KILLS_OF_ONE.min(kills - file * KILLS_OF_ONE) {
            let mut random = Random::new(seed, file * 1_000 + kill);
            // Without a line to wait for: while it starts, makes the file, or recovers.
            let lines = if random.below(6) == 0 { 0 } else { random.below(50).min(random.below(50)) };
            let moment = Duration::from_micros(random.below(if lines == 0 { 20_000 } else { 3_000 }));
            Writer::start("log", random.below(u64::MAX >> 11), &path).kill_after(lines, moment, |line| {
                let mut numbers = line.split(' ').map(|number| number.parse::<u64>().unwrap());
                let mut next = || numbers.next().unwrap();
                let (thread, first, len) = (next() as u8, next(), next() as u8);
                promised.insert(next(), (thread, first, len));
                let _ = tick.send(());
            });
            let _ = tick.send(());
            let what = format!("file {file}, kill {kill}");
            let (reader, report) = match LogReader::open(RealFs::shared(), &path) {
                Err(LogError::NotFound { .. }) if promised.is_empty() => {
                    unborn += 1;
                    continue;
                }
                opened => opened.unwrap(),
            };
            assert_ne!(report.verdict, Verdict::Damaged, "{what}: {report:?}");
            set_aside += report.set_aside.len();
            hold(&promised, &InOrder::of(&reader), &what);
            // Sometimes the next writer recovers, sometimes this process; both find the same.
            if random.below(3) == 0 {
                let (log, _) = LogWriter::open(RealFs::shared(), &path, LogOptions::default()).unwrap();
                hold(&promised, &InOrder::of(&log), &what);
            }
        }
        drop(tick);
        let seen = follower.join().unwrap();
        looks += seen.looks;
        let log = match LogWriter::open(RealFs::shared(), &path, LogOptions::default()) {
            Err(LogError::NotFound { .. }) if promised.is_empty() => continue,
            opened => opened.unwrap().0,
        };
        let found = InOrder::of(&log).places;
        assert_eq!(found[..seen.places.len()], seen.places, "file {file}: the reader saw what is not there any more");
        assert!(seen.durable_end <= log.end());
        acknowledged += promised.values().map(|(_, _, len)| u64::from(*len)).sum::<u64>();
        recovered += found.len() as u64;
    }
    assert!(0 < acknowledged && acknowledged <= recovered && looks > 0);
    println!(
        "{kills} kills of a log's writer: {acknowledged} records acknowledged, {recovered} recovered, \
         {set_aside} torn ends, {unborn} kills before there was a file; {looks} looks of a reader"
    );
}

/// Each acknowledged batch is whole in its place.
fn hold(promised: &BTreeMap<u64, (u8, u64, u8)>, found: &InOrder, what: &str) {
    let mut places = found.places.iter().peekable();
    for (offset, (thread, first, len)) in promised {
        while places.next_if(|(_, at)| at < offset).is_some() {}
        for index in 0..*len {
            let said = Said { thread: *thread, number: first + u64::from(index), index, len: *len };
            let there = places.next().map(|(said, _)| *said);
            assert_eq!(there, Some(said), "{what}: the batch at byte {offset} was acknowledged");
        }
    }
}
