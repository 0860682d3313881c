//! What a survey finds in files that are hit in every way: nothing whole goes unnamed, nothing that was given up comes back.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{Durability, FrameStatus, LogError, Survey, Verdict, survey};

fn log_of(count: u128) -> (Vec<u64>, Vec<u8>) {
    let disk = Disk::new();
    let log = create(&disk);
    let offsets = (1..=count).map(|number| append(&log, number, 40, Durability::Sync)).collect();
    log.close().unwrap();
    (offsets, disk.bytes(&path()))
}

fn survey_of(bytes: &[u8]) -> Survey {
    survey(disk_with(bytes).fs(), &path()).unwrap_or_else(|error| panic!("{error}"))
}

/// Records with this status, in the order of the file.
fn with(found: &Survey, status: FrameStatus) -> Vec<u128> {
    let records = found.frames.iter().filter(|frame| frame.status == status && !frame.head.frame_type.is_own());
    records.map(|frame| frame.head.id.as_u128()).collect()
}

#[test]
fn a_good_log_is_accepted_as_a_whole() {
    let (_, bytes) = log_of(10);
    let found = survey_of(&bytes);
    assert_eq!(found.verdict, Verdict::Clean);
    assert_eq!(with(&found, FrameStatus::Accepted), (1..=10).collect::<Vec<_>>());
    for frame in &found.frames {
        assert_eq!(found.load(frame).unwrap().head(), &frame.head);
    }
}

#[test]
fn one_bad_payload_header_or_trailer_loses_one_record_and_the_chain_holds() {
    let (offsets, good) = log_of(5);
    for at in [70, 20, 2, 107, 111] {
        let mut bytes = good.clone();
        bytes[offsets[2] as usize + at] ^= 1;
        let found = survey_of(&bytes);
        assert_eq!(found.damage.len(), 1);
        assert_eq!((found.damage[0].offset, found.damage[0].len), (offsets[2], 112), "byte {at}");
        assert_eq!(with(&found, FrameStatus::Accepted), [1, 2, 4, 5], "byte {at}");
    }
}

#[test]
fn a_hole_orphans_what_lies_behind_it() {
    let (offsets, mut bytes) = log_of(6);
    bytes[offsets[1] as usize..offsets[3] as usize].fill(0);
    let found = survey_of(&bytes);
    assert_eq!((found.damage[0].offset, found.damage[0].len), (offsets[1], 224));
    assert_eq!(with(&found, FrameStatus::Accepted), [1]);
    assert_eq!(with(&found, FrameStatus::Orphan), [4, 5, 6]);
}

#[test]
fn a_batch_with_a_lost_frame_does_not_count() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let texts: Vec<Vec<u8>> = (2..=5).map(|number| payload(number, 40)).collect();
    let batch: Vec<_> = (2..=5).zip(&texts).map(|(number, text)| event(number, text)).collect();
    let offsets = log.append(&batch, leaf(3), Durability::Sync).unwrap().offsets;
    append(&log, 6, 40, Durability::Sync);
    log.close().unwrap();
    let good = disk.bytes(&path());
    for lost in 0..4 {
        let mut bytes = good.clone();
        bytes[offsets[lost] as usize + 70] ^= 1;
        let found = survey_of(&bytes);
        assert_eq!(with(&found, FrameStatus::Accepted), [1, 6], "frame {lost}");
        let whole: Vec<u128> = (2..=5).filter(|number| *number != lost as u128 + 2).collect();
        assert_eq!(with(&found, FrameStatus::Incomplete), whole, "frame {lost}");
    }
}

#[test]
fn what_an_open_has_stepped_over_stays_out() {
    let disk = Disk::new();
    let log = create(&disk);
    let offsets: Vec<u64> = (1..=4).map(|number| append(&log, number, 40, Durability::Os)).collect();
    let mut bytes = kill(log, &disk);
    bytes[offsets[1] as usize..offsets[2] as usize].fill(0);
    disk.put(&path(), &bytes);
    let (log, _) = reopen(&disk).unwrap();
    append(&log, 5, 40, Durability::Sync);
    log.close().unwrap();
    let found = survey_of(&disk.bytes(&path()));
    assert_eq!(found.verdict, Verdict::Recovered);
    assert_eq!(with(&found, FrameStatus::Accepted), [1, 5]);
    assert_eq!(with(&found, FrameStatus::SetAside), [3, 4]);
    assert_eq!(found.set_aside[0].ids, [id(3), id(4)]);
}

#[test]
fn bytes_put_in_or_taken_out_displace_frames_and_lose_none() {
    let (offsets, good) = log_of(6);
    let at = offsets[2] as usize;
    for count in [1, 3, 8, 4096] {
        let mut bytes = good.clone();
        bytes.splice(at..at, std::iter::repeat_n(b'x', count));
        let found = survey_of(&bytes);
        assert_eq!(with(&found, FrameStatus::Accepted), [1, 2], "{count} in");
        assert_eq!(with(&found, FrameStatus::Displaced), [3, 4, 5, 6], "{count} in");
        assert_eq!(found.verdict, Verdict::Damaged);
        for frame in found.frames.iter().filter(|frame| frame.status == FrameStatus::Displaced) {
            assert_eq!(frame.at, frame.head.offset + count as u64);
            assert_eq!(found.load(frame).unwrap().id(), frame.head.id);
        }
        if count <= 8 {
            let mut bytes = good.clone();
            bytes.drain(at..at + count);
            let found = survey_of(&bytes);
            assert_eq!(with(&found, FrameStatus::Accepted), [1, 2], "{count} out");
            assert_eq!(with(&found, FrameStatus::Displaced), [4, 5, 6], "{count} out");
        }
    }
}

#[test]
fn a_log_without_any_header_still_gives_its_records() {
    let (_, mut bytes) = log_of(4);
    bytes[..4096].fill(0);
    let found = survey_of(&bytes);
    assert_eq!(found.header, None);
    assert_eq!(with(&found, FrameStatus::Accepted), [1, 2, 3, 4]);
    assert_eq!(found.verdict, Verdict::Damaged);
    assert!(matches!(survey(disk_with(&[7; 9000]).fs(), &path()), Err(LogError::NotALog { .. })));
}

/// Something that is done to the bytes of a file.
type Bend<'a> = &'a dyn Fn(&mut Vec<u8>);

#[test]
fn blocks_that_are_zeroed_doubled_swapped_or_filled_never_make_a_record_and_never_a_panic() {
    let (_, good) = log_of(60);
    let known: Vec<u128> = (1..=60).collect();
    for size in [512, 4096] {
        let blocks = good.len() / size;
        for block in 0..blocks {
            let range = block * size..(block + 1) * size;
            let other = (block * 7 + 3) % blocks * size;
            let kinds: [Bend<'_>; 5] = [
                &|bytes| bytes[range.clone()].fill(0),
                &|bytes| bytes[range.clone()].fill(0xFF),
                &|bytes| bytes.copy_within(other..other + size, range.start),
                &|bytes| range.clone().for_each(|at| bytes.swap(at, other + at - range.start)),
                &|bytes| {
                    range.clone().for_each(|at| bytes[at] = (at as u32).wrapping_mul(2_654_435_761).to_le_bytes()[3])
                },
            ];
            for (kind, bend) in kinds.iter().enumerate() {
                let mut bytes = good.clone();
                bend(&mut bytes);
                let what = format!("block {block} of {size}, kind {kind}");
                let disk = disk_with(&bytes);
                let found = match survey(disk.fs(), &path()) {
                    Ok(found) => found,
                    Err(LogError::NotALog { .. }) => continue,
                    Err(error) => panic!("{what}: {error}"),
                };
                let accepted = with(&found, FrameStatus::Accepted);
                assert!(
                    accepted.is_sorted() && accepted.iter().all(|number| known.contains(number)),
                    "{what}: {accepted:?}"
                );
                if let Ok((reader, _)) = read(&disk) {
                    let seen: Vec<u128> = reader
                        .frames(0)
                        .map_while(Result::ok)
                        .filter(|frame| !frame.frame_type().is_own())
                        .map(|frame| frame.id().as_u128())
                        .collect();
                    assert!(known.starts_with(&seen), "{what}: {seen:?}");
                }
                let _ = reopen(&disk);
            }
        }
    }
}

/// Each damaged place once made the survey look at everything behind it: 5,000 of them in 7 MB took half a minute.
#[test]
fn many_damaged_places_cost_no_look_at_the_rest_of_the_file_each() {
    let reads = |count: u128| {
        let disk = Disk::new();
        let log = create(&disk);
        let offsets: Vec<u64> = (1..=count).map(|number| append(&log, number, 4000, Durability::Os)).collect();
        log.close().unwrap();
        let mut bytes = disk.bytes(&path());
        for offset in offsets.iter().step_by(4) {
            bytes[*offset as usize + 70] ^= 1;
        }
        let disk = disk_with(&bytes);
        let found = survey(disk.fs(), &path()).unwrap();
        assert_eq!(found.damage.len(), count.div_ceil(4) as usize);
        assert_eq!(with(&found, FrameStatus::Accepted).len(), (count - count.div_ceil(4)) as usize);
        disk.calls(Call::Read)
    };
    let (few, many) = (reads(100), reads(400));
    assert!(many <= 6 * few, "{few} reads for 25 places, {many} for 100");
}

/// To try each place for each frame took ten milliseconds a frame: a log that was copied behind itself took minutes.
#[test]
fn a_log_that_stands_twice_in_its_file_is_surveyed_at_once_and_the_second_one_is_set_aside() {
    let (_, bytes) = log_of(2000);
    let end = bytes.len() as u64;
    let near = survey_of(&[bytes.as_slice(), bytes.as_slice()].concat());
    assert_eq!(with(&near, FrameStatus::Accepted).len(), 2000);
    assert_eq!(with(&near, FrameStatus::Displaced), [] as [u128; 0]);
    assert_eq!((near.set_aside[0].offset, near.set_aside[0].len), (end, end));
    let gap = vec![0x55; 1 << 20];
    let far = survey_of(&[bytes.as_slice(), &gap, bytes.as_slice()].concat());
    assert_eq!(with(&far, FrameStatus::Displaced), [] as [u128; 0]);
    assert_eq!(far.set_aside[0].len, (1 << 20) + end);
}
