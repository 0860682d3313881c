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
