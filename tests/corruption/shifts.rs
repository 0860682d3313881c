//! Bytes put in and taken out: whole frames that stand elsewhere now are displaced, and lose nothing.

use seslog::log::{FrameStatus, Verdict};

use crate::made::{End, Log, rich, survey_of};
use crate::oracle::{Case, Look};
use crate::random::Random;

/// Places at the start of each frame and inside its header, payload and trailer.
fn places(log: &Log) -> Vec<usize> {
    let inside = |frame: &crate::made::Known| {
        let (from, to) = (frame.from() as usize, frame.to() as usize);
        [from, from + 1, from + 40, from + 64, (from + to) / 2, to - 8, to - 3]
    };
    let mut places: Vec<usize> = log.frames.iter().flat_map(inside).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn bytes_put_in_anywhere_displace_what_lies_behind_and_cost_the_record_that_they_are_in() {
    let mut count = 0;
    for end in [End::Closed, End::Killed] {
        let log = rich(end);
        for at in places(&log) {
            for len in [1, 3, 8, 72, 512, 4096] {
                let mut random = Random::new(len as u64);
                let put_in = if len == 8 { vec![0; 8] } else { random.bytes(len) };
                let mut bytes = log.bytes.clone();
                bytes.splice(at..at, put_in);
                let splits = log.frames.iter().any(|frame| frame.from() < at as u64 && (at as u64) < frame.to());
                let hit = splits.then_some(at as u64 - 1..at as u64 + 1);
                let what = format!("{end:?}, {len} bytes put in at {at}");
                check(&log, bytes, hit, what);
                count += 1;
            }
        }
    }
    println!("{count} places");
}

#[test]
fn bytes_taken_out_anywhere_displace_what_lies_behind_and_cost_the_records_that_they_were_of() {
    let mut count = 0;
    for end in [End::Closed, End::Killed] {
        let log = rich(end);
        for at in places(&log) {
            for len in [1, 8, 72, 512].into_iter().filter(|len| at + len < log.bytes.len()) {
                let mut bytes = log.bytes.clone();
                bytes.drain(at..at + len);
                let what = format!("{end:?}, {len} bytes taken out at {at}");
                check(&log, bytes, Some(at as u64..(at + len) as u64), what);
                count += 1;
            }
        }
    }
    println!("{count} places");
}

/// A byte-order mark that an editor puts in front, lines that a transfer has changed: no frame is where it was.
#[test]
fn bytes_put_in_or_taken_out_in_the_page_cost_no_record_though_no_frame_is_at_its_place() {
    let places = [0, 1, 7, 50, 115, 116, 1000, 1024, 1030, 1040, 2000, 2048, 2100, 2164, 3000, 4080, 4095];
    let mut count = 0;
    for end in [End::Closed, End::Killed] {
        let log = rich(end);
        for at in places {
            for len in [1, 3, 8, 72, 513, 4096] {
                let mut bytes = log.bytes.clone();
                bytes.splice(at..at, Random::new(len as u64).bytes(len));
                check(&log, bytes, Some(at as u64..at as u64 + 1), format!("{end:?}, {len} bytes put in at {at}"));
                let to = (at + len).min(4096);
                let mut bytes = log.bytes.clone();
                bytes.drain(at..to);
                check(&log, bytes, Some(at as u64..to as u64), format!("{end:?}, {at} to {to} taken out"));
                count += 2;
            }
        }
    }
    println!("{count} places");
}

#[test]
fn a_small_log_that_has_moved_into_its_page_is_found_there() {
    let disk = crate::log_support::Disk::new();
    let log = crate::log_support::create(&disk);
    crate::log_support::append(&log, 1, 40, seslog::log::Durability::Sync);
    log.close().unwrap();
    let bytes = disk.bytes(&crate::log_support::path());
    for (from, to) in [(0, 4096), (1, 4096), (0, 2048), (116, 4096), (2048, 4000)] {
        let mut moved = bytes.clone();
        moved.drain(from..to);
        let found = survey_of(&moved).unwrap();
        let ids: Vec<u128> = found.frames.iter().map(|frame| frame.head.id.as_u128()).collect();
        assert!(ids.contains(&1), "{from} to {to} taken out: {found:?}");
        assert_eq!(found.verdict, Verdict::Damaged);
    }
}

fn check(log: &Log, bytes: Vec<u8>, hit: Option<std::ops::Range<u64>>, what: String) {
    let found = survey_of(&bytes).unwrap();
    let displaced = |frame: &&seslog::log::SurveyFrame| frame.status == FrameStatus::Displaced;
    if found.frames.iter().any(|frame| displaced(&frame)) {
        assert_eq!(found.verdict, Verdict::Damaged, "{what}");
    }
    for frame in found.frames.iter().filter(displaced) {
        assert_ne!(frame.at, frame.head.offset, "{what}");
        assert_eq!(found.load(frame).unwrap().id(), frame.head.id, "{what}");
    }
    let hit = hit.into_iter().collect();
    let case = Case { log, bytes, hit, moved: true, shuffled: false, strangers: Vec::new(), what };
    let _ = case.check(Look::All);
}
