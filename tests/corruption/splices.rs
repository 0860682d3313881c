//! Two logs and two ages of one log in one file, and tails that come back.

use seslog::event::{Event, Message};
use seslog::log::Durability;
use seslog::session::Session;

use crate::log_support::Disk;
use crate::made::{End, Log, ages, create, disk_with, options, path, rich};
use crate::oracle::{Case, Look};

fn events(log: &Log) -> Vec<Event> {
    log.events().cloned().collect()
}

/// The end of `tail` behind the beginning of `log`, at every frame of both and at every sector.
fn spliced(log: &Log, tail: &Log, what: &str) -> u32 {
    let ends = |log: &Log| log.frames.iter().map(|frame| frame.from() as usize).collect::<Vec<_>>();
    let sectors = (4096..log.bytes.len().min(tail.bytes.len())).step_by(512);
    let mut count = 0;
    for at in ends(log).into_iter().chain(ends(tail)).chain(sectors) {
        let at = at.min(log.bytes.len()).min(tail.bytes.len());
        let bytes = [&log.bytes[..at], &tail.bytes[at..]].concat();
        let mut case = Case::of(log, bytes, format!("{what}, spliced at {at}"));
        case.strangers = events(tail);
        let _ = case.check_genuine();
        count += 1;
    }
    count
}

#[test]
fn the_end_of_another_log_is_never_taken_for_this_ones() {
    let log = rich(End::Closed);
    // The same appends, with other ids, another tag and the same lengths.
    let other = ages_of_another();
    let mut count = 0;
    let frames = other.frames.iter().map(|frame| frame.from() as usize);
    for at in frames.chain((4096..log.bytes.len()).step_by(512)) {
        let at = at.min(log.bytes.len()).min(other.bytes.len());
        let bytes = [&log.bytes[..at], &other.bytes[at..]].concat();
        let _ = Case::of(&log, bytes, format!("another log from {at} on")).check(Look::All);
        count += 1;
    }
    println!("{count} splices");
}

fn ages_of_another() -> Log {
    // A file made before it on the same disk: every random number of the second one is another.
    let disk = Disk::new();
    create(&disk, &path().with_file_name("first.seslog"), 5).close().unwrap();
    let session = create(&disk, &path(), 7);
    for n in 0..30 {
        let _ = session.append(Message::user(format!("other {n}")), Durability::Sync).unwrap();
    }
    session.close().unwrap();
    Log::of(disk.bytes(&path()))
}

#[test]
fn of_two_ages_of_a_log_each_record_stays_what_it_was() {
    // One file goes on twice, each time with other records of the same lengths.
    let start = ages(End::Closed, 1).pop().unwrap();
    let went_on = |seed: u64, word: &str| {
        // Other random bits in the OPEN.
        let disk = disk_with(&start).seeded(seed);
        let session = Session::open(&path(), options(&disk, seed)).unwrap();
        for n in 0..6 {
            let _ = session.append(Message::user(format!("{word} {n}")), Durability::Sync).unwrap();
        }
        session.close().unwrap();
        Log::of(disk.bytes(&path()))
    };
    let (left, right) = (went_on(40, "left"), went_on(60, "rite"));
    let count = spliced(&left, &right, "left and right") + spliced(&right, &left, "right and left");
    println!("{count} splices");
}

#[test]
fn a_stale_tail_that_is_put_back_after_a_recovery_is_no_part_of_the_log() {
    let all = ages(End::Killed, 1);
    let (stale, now) = (all[1].clone(), Log::of(all.last().unwrap().clone()));
    let given_up = Log::of(stale.clone());
    let from = now.skips.values().copied().min().unwrap() as usize;
    let mut count = 0;
    for at in (from..stale.len()).step_by(8) {
        let mut bytes = now.bytes.clone();
        bytes[at..stale.len()].copy_from_slice(&stale[at..]);
        let mut case = Case::of(&now, bytes, format!("the stale tail from {at} on"));
        case.strangers = events(&given_up);
        let _ = case.check(Look::All);
        count += 1;
    }
    println!("{count} tails put back");
}
