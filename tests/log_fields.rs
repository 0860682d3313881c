//! Each field of the format by what would go wrong without its check. All other checksums are right in each case.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{Cause, Durability, LogError, Verdict, WatermarkState};

/// Two synced records and a third that only waits for the background; the third one's offset, and the file.
fn base() -> (usize, Vec<u8>) {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Sync);
    let third = append(&log, 3, 43, Durability::Os) as usize;
    (third, kill(log, &disk))
}

/// Bends the third record and seals it again if `sealed`: it must not come back, the others must, and nothing is damage.
fn refused(what: &str, sealed: bool, bend: impl FnOnce(&mut [u8], usize)) {
    let (third, mut bytes) = base();
    bend(&mut bytes, third);
    if sealed {
        reseal(&mut bytes, third);
    }
    let (log, report) = reopen(&disk_with(&bytes)).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(ids(&log), [1, 2], "{what}");
    assert_eq!(report.verdict, Verdict::Recovered, "{what}");
}

#[test]
fn the_unbent_record_and_a_resealed_one_are_accepted() {
    let (third, mut bytes) = base();
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2, 3]);
    reseal(&mut bytes, third);
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2, 3]);
}

#[test]
fn magic() {
    refused("another marker", true, |bytes, at| bytes[at] = 0xC2);
}

#[test]
fn header_checksum_over_the_header() {
    refused("another parent", false, |bytes, at| bytes[at + 48] ^= 8);
}

#[test]
fn header_checksum_over_the_place() {
    // The second record's block is doubled at the third's place, with a chain that fits there.
    let (third, mut bytes) = base();
    let second = third - 112;
    let chain = bytes[third + 24..third + 28].to_vec();
    bytes.truncate(third);
    let mut moved = bytes[second..third].to_vec();
    moved[24..28].copy_from_slice(&chain);
    bytes.extend_from_slice(&moved);
    // Sealed for its old place.
    let sum = crc32(&[&(second as u64).to_le_bytes(), &bytes[third + 8..third + 64]]).to_le_bytes();
    bytes[third + 4..third + 8].copy_from_slice(&sum);
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&sum);
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2]);
    reseal(&mut bytes, third);
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2, 2], "only the place was wrong");
}

#[test]
fn payload_length_over_the_limit() {
    // A header that promises 128 MiB where 64 are allowed: refused before anything is allocated, whatever the file's length.
    let (third, mut bytes) = base();
    bytes[third + 8..third + 12].copy_from_slice(&(128_u32 << 20).to_le_bytes());
    let sum = crc32(&[&(third as u64).to_le_bytes(), &bytes[third + 8..third + 64]]);
    bytes[third + 4..third + 8].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2]);
    for len in [44_u32, u32::MAX, 64 << 20] {
        refused("a length that does not fit", false, |bytes, at| {
            bytes[at + 8..at + 12].copy_from_slice(&len.to_le_bytes())
        });
    }
}

#[test]
fn frame_type() {
    refused("type 0", true, |bytes, at| bytes[at + 12] = 0);
    refused("type 255", true, |bytes, at| bytes[at + 12] = 255);
    refused("an OPEN that steps over something else", true, |bytes, at| bytes[at + 12] = 16);
}

#[test]
fn a_type_of_a_later_version_is_kept_and_read_only_if_it_may_be_skipped() {
    for skippable in [false, true] {
        let (third, mut bytes) = base();
        bytes[third + 12] = 77;
        bytes[third + 13] |= if skippable { 0x80 } else { 0 };
        reseal(&mut bytes, third);
        let (log, report) = reopen(&disk_with(&bytes)).unwrap();
        assert_eq!(report.verdict, Verdict::Clean);
        let walked: Vec<_> = log.frames(0).collect();
        let refused = walked.iter().any(|frame| matches!(frame, Err(LogError::UnknownFrame { frame_type: 77, .. })));
        assert_eq!(refused, !skippable);
    }
}

#[test]
fn flags() {
    for bit in [1, 3, 4, 5, 6] {
        refused("an unknown flag", true, |bytes, at| bytes[at + 13] |= 1 << bit);
    }
    refused("a batch without an end", true, |bytes, at| bytes[at + 13] |= 1);
}

#[test]
fn header_length() {
    refused("too short", true, |bytes, at| bytes[at + 14] = 7);
    refused("zero", false, |bytes, at| bytes[at + 14] = 0);
    refused("beyond the file", false, |bytes, at| bytes[at + 14] = 255);
    // A longer header of a later version is read by its first 64 bytes.
    let (third, bytes) = base();
    let mut longer = bytes[..third + 64].to_vec();
    longer[third + 14] = 10;
    longer.extend_from_slice(&[9; 16]);
    longer.extend_from_slice(&bytes[third + 64..]);
    reseal(&mut longer, third);
    let (log, _) = reopen(&disk_with(&longer)).unwrap();
    assert_eq!(ids(&log), [1, 2, 3]);
    assert_eq!(log.frame(third as u64).unwrap().payload(), payload(3, 43));
}

#[test]
fn hint_class_and_its_list() {
    refused("an unknown class", true, |bytes, at| bytes[at + 15] = 4);
    refused("a list that is longer than the payload", true, |bytes, at| {
        bytes[at + 15] = 1;
        bytes[at + 64..at + 68].copy_from_slice(&3_u32.to_le_bytes());
    });
    refused("a list of which the length overflows", true, |bytes, at| {
        bytes[at + 15] = 2;
        bytes[at + 64..at + 68].copy_from_slice(&u32::MAX.to_le_bytes());
    });
}

#[test]
fn file_tag() {
    refused("a block of another log", true, |bytes, at| bytes[at + 16] ^= 1);
}

#[test]
fn unsynced_distance() {
    refused("a durable end in the header page", true, |bytes, at| {
        let words = (at as u32 - 4096) / 8 + 1;
        bytes[at + 20..at + 24].copy_from_slice(&words.to_le_bytes());
    });
    // A durable end where no frame ends is damage: nobody could have synced that.
    let (third, mut bytes) = base();
    bytes[third + 20..third + 24].copy_from_slice(&2_u32.to_le_bytes());
    reseal(&mut bytes, third);
    assert!(matches!(reopen(&disk_with(&bytes)), Err(LogError::Damaged { .. })));
}

#[test]
fn what_any_later_frame_calls_durable_is_no_tail() {
    // The last record knows of an older durable end than the one before it; the first is hit, and the second vouches for it.
    let (third, mut bytes) = base();
    bytes[third + 20..third + 24].copy_from_slice(&(2 * 112 / 8_u32).to_le_bytes());
    reseal(&mut bytes, third);
    assert_eq!(ids(&reopen(&disk_with(&bytes)).unwrap().0), [1, 2, 3]);
    bytes[third - 2 * 112 + 70] ^= 1;
    assert!(matches!(reopen(&disk_with(&bytes)), Err(LogError::Damaged { .. })));
}

#[test]
fn the_cause_of_what_is_set_aside_is_found_and_written_down() {
    for (cause, bend) in [
        (Cause::IncompleteBatch, (|bytes, at| bytes[at + 13] |= 1) as fn(&mut [u8], usize)),
        (Cause::UnsyncedHole, |bytes, at| bytes[at + 24] ^= 1),
        (Cause::TornTail, |bytes, at| bytes[at + 12] = 0),
    ] {
        let (third, mut bytes) = base();
        bend(&mut bytes, third);
        reseal(&mut bytes, third);
        let disk = disk_with(&bytes);
        let (log, report) = reopen(&disk).unwrap();
        assert_eq!(report.set_aside[0].cause, cause);
        kill(log, &disk);
        assert_eq!(read(&disk).unwrap().1.set_aside[0].cause, cause, "as the OPEN says");
    }
}

#[test]
fn chain() {
    refused("a stale frame of the same place", true, |bytes, at| bytes[at + 24] ^= 1);
}

#[test]
fn payload_checksum() {
    refused("a bit of the payload", false, |bytes, at| bytes[at + 70] ^= 1);
    refused("a bit of the padding", false, |bytes, at| bytes[at + 64 + 44] ^= 1);
    refused("the checksum itself", false, |bytes, at| bytes[at + 28] ^= 1);
}

#[test]
fn padding() {
    refused("padding that is not zero", true, |bytes, at| bytes[at + 64 + 43] = 1);
}

#[test]
fn trailer() {
    refused("its length", false, |bytes, at| bytes[at + 64 + 48] ^= 8);
    refused("its checksum", false, |bytes, at| bytes[at + 64 + 52] ^= 1);
}

#[test]
fn a_frame_torn_before_zeros_is_not_completed_by_them() {
    let (third, bytes) = base();
    for cut in third + 1..bytes.len() {
        let mut torn = bytes.clone();
        torn[cut..].fill(0);
        if torn == bytes {
            continue;
        }
        let (log, _) = reopen(&disk_with(&torn)).unwrap();
        assert_eq!(ids(&log), [1, 2], "zeros from {cut}");
    }
}

#[test]
fn the_random_id_of_an_open_keeps_a_lost_opening_out() {
    // Two openings of one clean log write the same records; only their OPENs differ, and so do all chains behind them.
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let mut tails = Vec::new();
    for _ in 0..2 {
        let (log, _) = reopen(&disk).unwrap();
        append(&log, 2, 40, Durability::Os);
        append(&log, 3, 40, Durability::Os);
        let bytes = disk.bytes(&path());
        drop(log);
        tails.push(bytes.clone());
        let closed = bytes.len() - 128 - 2 * 112;
        disk.put(&path(), &bytes[..closed]);
    }
    let (first, second) = (&tails[0], &tails[1]);
    assert_eq!(first.len(), second.len());
    let third = first.len() - 112;
    let mut mixed = second[..third].to_vec();
    mixed.extend_from_slice(&first[third..]);
    let (log, _) = reopen(&disk_with(&mixed)).unwrap();
    assert_eq!(ids(&log), [1, 2], "the third record of the lost opening does not fit behind the second's");
}

#[test]
fn one_bad_header_copy_is_damage_and_the_other_one_is_read() {
    let (_, good) = base();
    for start in [0, 2048] {
        for field in [0, 8, 10, 12, 16, 24, 32, 40, 56, 72, 88, 92, 96, 97, 104, 112] {
            let mut bytes = good.clone();
            bytes[start + field] ^= 0x40;
            let disk = disk_with(&bytes);
            assert!(matches!(reopen(&disk), Err(LogError::Damaged { .. })), "copy at {start}, field at {field}");
            let (reader, report) = read(&disk).unwrap();
            assert_eq!((report.verdict, ids(&reader)), (Verdict::Damaged, vec![1, 2, 3]));
        }
    }
    for unused in [116, 1000, 1023, 1040, 2047, 2048 + 116, 4095] {
        let mut bytes = good.clone();
        bytes[unused] = 1;
        assert!(matches!(reopen(&disk_with(&bytes)), Err(LogError::Damaged { .. })), "unused byte {unused}");
    }
}

/// Bends both header copies and seals them; the chain of the frames is made right as well.
fn with_header(bend: impl Fn(&mut [u8])) -> Disk {
    let (_, mut bytes) = base();
    for start in [0, 2048] {
        bend(&mut bytes[start..start + 116]);
        reseal_header(&mut bytes, start);
    }
    let sum: [u8; 4] = bytes[112..116].try_into().unwrap();
    bytes[4096 + 24..4096 + 28].copy_from_slice(&sum);
    reseal_chain(&mut bytes, 4096);
    disk_with(&bytes)
}

#[test]
fn versions_and_features() {
    let disk = with_header(|header| header[8] = 2);
    assert!(matches!(reopen(&disk), Err(LogError::NewerFormat { major: 2, .. })));
    assert!(matches!(read(&disk), Err(LogError::NewerFormat { major: 2, .. })));

    let disk = with_header(|header| header[32 + 5] = 4);
    let Err(LogError::NewerFormat { incompat, .. }) = read(&disk) else { panic!("unknown feature") };
    assert_eq!(incompat, 4 << 40, "the error names the feature");

    let disk = with_header(|header| header[24] = 2);
    assert!(matches!(reopen(&disk), Err(LogError::ReadOnlyFormat { ro_compat: 2, .. })));
    assert_eq!(ids(&read(&disk).unwrap().0), [1, 2, 3]);

    let later = with_header(|header| {
        header[10] = 9; // minor
        header[16] = 0xFF; // compat
    });
    let (log, report) = reopen(&later).unwrap();
    assert_eq!((report.verdict, ids(&log)), (Verdict::Clean, vec![1, 2, 3]));
}

#[test]
fn header_fields_out_of_range() {
    let bad = |what: &str, bend: &dyn Fn(&mut [u8])| {
        assert!(matches!(reopen(&with_header(bend)), Err(LogError::NotALog { .. })), "{what}");
    };
    bad("record limit over the cap", &|header| header[91] = 0x7F);
    bad("record limit zero", &|header| header[88..92].fill(0));
    bad("tag zero", &|header| header[92..96].fill(0));
    bad("another checksum", &|header| header[96] = 2);
    bad("reserved bytes", &|header| header[97] = 1);
    bad("a header that reaches into the slot", &|header| header[12..16].copy_from_slice(&100_u32.to_le_bytes()));
}

#[test]
fn a_watermark_that_is_torn_or_of_another_log_is_ignored() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let good = disk.bytes(&path());
    let (_, report) = reopen(&disk_with(&good)).unwrap();
    assert_eq!(report.watermark, WatermarkState::At(good.len() as u64));
    for at in [1024, 1032, 1036] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let (log, report) = reopen(&disk_with(&bytes)).unwrap();
        assert_eq!((report.watermark, report.verdict, ids(&log)), (WatermarkState::Torn, Verdict::Clean, vec![1]));
    }
    let mut bytes = good;
    bytes[1024..1032].copy_from_slice(&u64::MAX.to_le_bytes());
    bytes[1032] ^= 1;
    let sum = crc32(&[&bytes[1024..1036]]);
    bytes[1036..1040].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(reopen(&disk_with(&bytes)).unwrap().1.watermark, WatermarkState::Torn, "of another log");
}

#[test]
fn what_the_watermark_vouches_for_is_no_tail() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let mut bytes = disk.bytes(&path());
    let mark = bytes.len() - 112;
    bytes[mark + 70] ^= 1;
    assert!(matches!(reopen(&disk_with(&bytes)), Err(LogError::Damaged { .. })));
    bytes[1024..1040].fill(0);
    assert_eq!(reopen(&disk_with(&bytes)).unwrap().1.verdict, Verdict::Recovered, "without it, it looks torn");
}

#[test]
fn a_block_of_another_log_at_the_same_place_does_not_pass() {
    // Two logs of the same session, made the same way; the tail of one gets into the other.
    let (third, ours) = base();
    let disk = Disk::new();
    drop(disk.fs().random(&mut [0; 64]));
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Sync);
    assert_eq!(append(&log, 3, 43, Durability::Os) as usize, third);
    let theirs = kill(log, &disk);
    let mut spliced = ours.clone();
    spliced[third..].copy_from_slice(&theirs[third..]);
    let (log, report) = reopen(&disk_with(&spliced)).unwrap();
    assert_eq!(ids(&log), [1, 2]);
    assert!(report.set_aside[0].ids.is_empty(), "not even its header counts");

    // Further in front it is damage, as what follows had been written behind durable frames.
    let mut spliced = ours;
    spliced[third - 112..third].copy_from_slice(&theirs[third - 112..third]);
    assert!(matches!(reopen(&disk_with(&spliced)), Err(LogError::Damaged { .. })));
}
