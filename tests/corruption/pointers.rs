//! Pointers and INDEX frames that are wrong under a right checksum. They are hints: nothing is lost or taken for another by
//! them, nothing runs in a circle, and a salvage makes them right.

use seslog::event::Message;
use seslog::log::{Durability, FrameType, LogReader, Verdict};
use seslog::session::{Compaction, Session, SessionReader};

use crate::log_support::{Disk, crc32, reseal_chain};
use crate::made::{Log, create, disk_with, options, path, survey_of, target};

/// One opening, two compactions, forty records, two INDEX frames.
fn plain() -> Log {
    let disk = Disk::new();
    let session = create(&disk, &path(), 1);
    for n in 0..40 {
        let said = session.append(Message::user(format!("m{n}")), Durability::Sync).unwrap().id;
        if n % 15 == 9 {
            let _ = session.compact(Compaction::new("so far").keep(vec![said]), Durability::Sync).unwrap();
        }
    }
    session.close().unwrap();
    Log::of(disk.bytes(&path()))
}

/// Places that a pointer in the frame at `at` must not name, or not mean.
fn wrong_places(log: &Log, at: u64) -> Vec<(&'static str, u64)> {
    let frames: Vec<u64> = log.frames.iter().map(|frame| frame.from()).collect();
    let last = *frames.last().unwrap();
    let middle = frames[frames.len() / 2];
    vec![
        ("itself", at),
        ("the frame behind", *frames.iter().find(|from| **from > at).unwrap_or(&at)),
        ("the last frame", last),
        ("the middle of a frame", middle + 24),
        ("no multiple of 8", middle + 3),
        ("the header page", 16),
        ("the slot", 1024),
        ("the end", log.bytes.len() as u64),
        ("far beyond the end", u64::MAX - 7),
        ("the first frame", 4096),
        ("another record", frames[3]),
    ]
}

/// The file with eight bytes at a place, and all checksums behind made right again.
fn bent(log: &Log, frame: u64, at: u64, value: u64) -> Vec<u8> {
    let mut bytes = log.bytes.clone();
    bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
    reseal_index_head(&mut bytes, frame as usize);
    reseal_chain(&mut bytes, frame as usize);
    bytes
}

/// Makes the checksum of an INDEX head right again.
fn reseal_index_head(bytes: &mut [u8], frame: usize) {
    if bytes[frame + 12] == 18 {
        let head = frame + 64;
        let sum = crc32(&[&(head as u64).to_le_bytes(), &bytes[head..head + 136]]);
        bytes[head + 136..head + 140].copy_from_slice(&sum.to_le_bytes());
    }
}

/// All records can be read, found by id and salvaged, and a writer goes on.
fn nothing_is_lost(log: &Log, bytes: &[u8], what: &str) {
    let disk = disk_with(bytes);
    let found = survey_of(bytes).unwrap();
    assert_eq!(found.verdict, Verdict::Clean, "{what}: {:?}", found.damage);
    let (reader, _) = LogReader::open(disk.fs(), &path()).unwrap();
    for known in log.accepted().filter(|frame| frame.is_record()) {
        let place = reader.find(known.head.id).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(place.map(|place| place.offset), Some(known.from()), "{what}");
        let _ = reader.targets_of(known.head.id).unwrap();
    }
    let good = disk_with(&log.bytes);
    let good = SessionReader::open(&path(), good.fs()).unwrap();
    let session = SessionReader::open(&path(), disk.fs()).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(session.whole_state().unwrap(), good.whole_state().unwrap(), "{what}");
    assert_eq!(
        session.state().leaf().map(|leaf| leaf.event.id),
        good.state().leaf().map(|leaf| leaf.event.id),
        "{what}"
    );
    let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!((report.kept, report.hung_anew.len()), (log.events().count() as u64, 0), "{what}");
    let salvaged = SessionReader::open(&target(), disk.fs()).unwrap();
    let ids = |session: &SessionReader| {
        session.whole_state().unwrap().chain().iter().map(|entry| entry.event.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&salvaged), ids(&good), "{what}");
    // A writer goes on.
    let session = Session::open(&path(), options(&disk, 11)).unwrap_or_else(|error| panic!("{what}: {error}"));
    let more = session.append(Message::user("more"), Durability::Sync).unwrap().id;
    session.close().unwrap();
    let after = survey_of(&disk.bytes(&path())).unwrap();
    assert_eq!((after.verdict, after.damage.len()), (Verdict::Clean, 0), "{what}");
    let session = SessionReader::open(&path(), disk.fs()).unwrap();
    assert_eq!(session.whole_state().unwrap().leaf().map(|leaf| leaf.event.id), Some(more), "{what}");
}

#[test]
fn wrong_parents_and_boundaries_in_headers_lose_nothing() {
    let log = plain();
    let mut count = 0;
    for frame in &log.frames {
        for (field, at) in [("parent", 48), ("boundary", 56)] {
            for (place, value) in wrong_places(&log, frame.from()) {
                let what = format!("{field} of {:?} at {}: {place}", frame.head.frame_type, frame.from());
                nothing_is_lost(&log, &bent(&log, frame.from(), frame.from() + at, value), &what);
                count += 1;
            }
        }
    }
    println!("{count} wrong pointers");
}

#[test]
fn a_cycle_of_parents_ends() {
    let log = plain();
    let records: Vec<u64> = log.accepted().filter(|frame| frame.is_record()).map(|frame| frame.from()).collect();
    for (one, two) in [(3, 4), (5, 20), (0, 41)] {
        let mut bytes = bent(&log, records[one], records[one] + 48, records[two]);
        bytes[records[two] as usize + 48..records[two] as usize + 56].copy_from_slice(&records[one].to_le_bytes());
        reseal_chain(&mut bytes, records[two] as usize);
        nothing_is_lost(&log, &bytes, &format!("{one} and {two}"));
        // The same where the one that both hang on is gone.
        for lost in [one, two] {
            let mut bytes = bytes.clone();
            bytes[records[lost] as usize + 80] ^= 1;
            let disk = disk_with(&bytes);
            let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap();
            assert!(report.kept >= records.len() as u64 - 2, "{report:?}");
        }
    }
}

#[test]
fn a_wrong_index_costs_time_only() {
    let log = plain();
    let mut count = 0;
    for index in log.frames.iter().filter(|frame| frame.head.frame_type == FrameType::Index) {
        let head = index.from() + 64;
        // State block, level, latest of each level, counts, covers_to, counts of rows and blocks, first and last id.
        for at in (0..136).step_by(8) {
            for (place, value) in wrong_places(&log, index.from()).into_iter().chain([("all ones", u64::MAX), ("0", 0)])
            {
                let what = format!("INDEX at {}, field at {at}: {place}", index.from());
                index_is_survived(&log, &bent(&log, index.from(), head + at, value), &what);
                count += 1;
            }
        }
        // The pages: every row's offset wrong, under the page's own wrong checksum.
        for at in (head..index.to() - 8).step_by(16) {
            let mut bytes = log.bytes.clone();
            bytes[at as usize] ^= 0x10;
            reseal_chain(&mut bytes, index.from() as usize);
            index_is_survived(&log, &bytes, &format!("INDEX at {}, byte {at}", index.from()));
            count += 1;
        }
    }
    println!("{count} wrong indexes");
}

/// Every record is found, or said not to be there only where the INDEX leaves it out.
fn index_is_survived(log: &Log, bytes: &[u8], what: &str) {
    let disk = disk_with(bytes);
    let found = survey_of(bytes).unwrap();
    assert_eq!(found.verdict, Verdict::Clean, "{what}: {:?}", found.damage);
    let (reader, _) = LogReader::open(disk.fs(), &path()).unwrap();
    for known in log.accepted().filter(|frame| frame.is_record()) {
        let place = reader.find(known.head.id).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(place.is_none_or(|place| place.offset == known.from()), "{what}: {place:?}");
    }
    let session = SessionReader::open(&path(), disk.fs()).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(session.whole_state().unwrap().entries().len(), log.events().count(), "{what}");
    let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(report.kept, log.events().count() as u64, "{what}");
    let (salvaged, _) = LogReader::open(disk.fs(), &target()).unwrap();
    for known in log.accepted().filter(|frame| frame.is_record()) {
        assert!(salvaged.find(known.head.id).unwrap().is_some(), "{what}: a new INDEX is right");
    }
}
