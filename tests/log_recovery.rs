//! What an open finds after a crash, and what it must never take for one.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

mod log_support;

use log_support::*;
use seslog::log::{
    Cause, DamageKind, Durability, IndexHint, LogError, LogOptions, LogWriter, NewLog, Place, Record, Verdict,
    WatermarkState, survey,
};

/// Three records, each synced, and the file as a kill leaves it. Gives the offsets and the bytes.
fn three_synced() -> (Vec<u64>, Vec<u8>) {
    let disk = Disk::new();
    let log = create(&disk);
    let offsets = (1..=3).map(|number| append(&log, number, 40 + number as usize, Durability::Sync)).collect();
    (offsets, kill(log, &disk))
}

/// Three records that only wait for the background.
fn three_unsynced() -> (Vec<u64>, Vec<u8>) {
    let disk = Disk::new();
    let log = create(&disk);
    let offsets = (1..=3).map(|number| append(&log, number, 40 + number as usize, Durability::Os)).collect();
    (offsets, kill(log, &disk))
}

#[test]
fn a_cut_at_any_byte_keeps_every_earlier_frame_and_names_what_is_set_aside() {
    let (offsets, bytes) = three_unsynced();
    let ends: Vec<u64> = offsets[1..].iter().copied().chain([bytes.len() as u64]).collect();
    for cut in 4096..=bytes.len() {
        let disk = disk_with(&bytes[..cut]);
        let whole = ends.iter().filter(|end| **end <= cut as u64).count();
        let (log, report) = reopen(&disk).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert_eq!(ids(&log), (1..=whole as u128).collect::<Vec<_>>(), "cut at {cut}");
        let frame_ends = [4096, offsets[0]].into_iter().chain(ends.iter().copied()); // the OPEN is a frame as well
        let end = frame_ends.filter(|end| *end <= cut as u64).max().unwrap();
        let garbage: u64 = report.set_aside.iter().map(|aside| aside.len).sum();
        let data_end = bytes[..cut]
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(4096, |last| (last as u64 + 1).max(4096))
            .next_multiple_of(8);
        assert_eq!(garbage, data_end - end, "cut at {cut}: every byte behind the end is named");
        let expected = if garbage == 0 { Verdict::Clean } else { Verdict::Recovered };
        assert_eq!(report.verdict, expected, "cut at {cut}");
        append(&log, 9, 10, Durability::Sync);
        log.close().unwrap();
        let (log, report) = reopen(&disk).unwrap();
        assert!(report.clean_close, "cut at {cut}");
        assert_eq!(ids(&log).len(), whole + 1, "cut at {cut}");
    }
}

#[test]
fn a_file_cut_below_what_the_watermark_names_is_reported_and_not_written() {
    let disk = Disk::new();
    let log = create(&disk);
    let cut = append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Sync);
    log.close().unwrap();
    let bytes = disk.bytes(&path());
    for len in [bytes.len() - 120, cut as usize + 8, cut as usize, 4096] {
        let disk = disk_with(&bytes[..len]);
        let Err(LogError::Damaged { report, .. }) = reopen(&disk) else { panic!("cut to {len}") };
        assert!(
            report.damage.iter().any(|damage| damage.kind == seslog::log::DamageKind::Missing),
            "cut to {len}: {report:?}"
        );
        assert_eq!(disk.bytes(&path()), bytes[..len]);
        assert_eq!(read(&disk).unwrap().1.verdict, Verdict::Damaged);
    }
}

#[test]
fn every_flipped_bit_is_detected() {
    let disk = Disk::new();
    let log = create(&disk);
    for number in 1..=3 {
        append(&log, number, 40, Durability::Sync);
    }
    log.close().unwrap();
    let good = disk.bytes(&path());
    let expected = survey(disk.fs(), &path()).unwrap();
    assert!(expected.damage.is_empty(), "{expected:?}");
    for byte in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[byte] ^= 1 << bit;
            let disk = disk_with(&bad);
            match survey(disk.fs(), &path()) {
                Err(LogError::NotALog { .. } | LogError::NewerFormat { .. }) => {}
                Err(error) => panic!("bit {bit} of byte {byte}: {error}"),
                Ok(found) => {
                    let noticed = !found.damage.is_empty()
                        || found.set_aside != expected.set_aside
                        || found.watermark == WatermarkState::Torn;
                    assert!(noticed, "bit {bit} of byte {byte}");
                }
            }
        }
    }
}

#[test]
fn a_zero_tail_of_any_length_is_no_damage_and_is_written_over() {
    let (_, bytes) = three_synced();
    for zeros in [1, 7, 8, 500, 5000, 100_000] {
        let mut longer = bytes.clone();
        longer.resize(bytes.len() + zeros, 0);
        let disk = disk_with(&longer);
        let (log, report) = reopen(&disk).unwrap();
        assert_eq!((report.verdict, report.zero_bytes), (Verdict::Clean, zeros as u64));
        append(&log, 4, 300, Durability::Sync);
        assert_eq!(ids(&log), [1, 2, 3, 4]);
        log.close().unwrap();
        assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2, 3, 4]);
    }
}

#[test]
fn a_clean_log_with_a_zero_tail_opens_clean_and_goes_on() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    disk.change(&path(), |bytes| bytes.resize(bytes.len() + 3000, 0));
    let (log, report) = reopen(&disk).unwrap();
    assert!(report.clean_close);
    append(&log, 2, 40, Durability::Sync);
    log.close().unwrap();
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
}

#[test]
fn a_hole_in_the_unsynced_window_is_stepped_over() {
    let (offsets, mut bytes) = three_unsynced();
    bytes[offsets[1] as usize..offsets[2] as usize].fill(0);
    let disk = disk_with(&bytes);
    let (log, report) = reopen(&disk).unwrap();
    assert_eq!(report.verdict, Verdict::Recovered);
    assert_eq!(report.set_aside.len(), 1);
    assert_eq!(report.set_aside[0].cause, Cause::UnsyncedHole);
    assert_eq!(report.set_aside[0].ids, [id(3)]);
    assert_eq!(ids(&log), [1]);
    append(&log, 4, 10, Durability::Sync);
    assert_eq!(ids(&log), [1, 4]);
    assert_eq!(
        disk.bytes(&path())[offsets[2] as usize..bytes.len()],
        bytes[offsets[2] as usize..],
        "still there for a look"
    );
}

#[test]
fn a_hole_in_what_was_durable_refuses_a_writer_and_gives_a_reader_what_lies_before() {
    // The records 1 to 4 are in one window that later frames call durable; 3 is lost to a bad block.
    let disk = Disk::new();
    let log = create(&disk);
    let offsets: Vec<u64> = (1..=4).map(|number| append(&log, number, 40, Durability::Os)).collect();
    log.sync().unwrap();
    append(&log, 5, 40, Durability::Os);
    let mut bytes = kill(log, &disk);
    let whole = bytes.clone();
    bytes[offsets[3] as usize..offsets[3] as usize + 112].fill(0);
    let disk = disk_with(&bytes);
    let Err(LogError::Damaged { report, .. }) = reopen(&disk) else { panic!("a writer was given") };
    assert_eq!(report.verdict, Verdict::Damaged);
    assert_eq!(disk.bytes(&path()), bytes, "nothing is cut");
    let (reader, report) = read(&disk).unwrap();
    assert_eq!(report.verdict, Verdict::Damaged);
    assert_eq!(ids(&reader), [1, 2, 3]);

    // The same block lost before anything vouched for it is no damage.
    let end = offsets[3] as usize + 112;
    let mut torn = whole[..end].to_vec();
    torn[offsets[3] as usize + 30..].fill(0);
    assert_eq!(ids(&reopen(&disk_with(&torn)).unwrap().0), [1, 2, 3]);
}

#[test]
fn damage_behind_the_reach_of_an_open_ends_a_walk_with_an_error() {
    let (offsets, mut bytes) = three_synced();
    bytes[offsets[0] as usize + 70] ^= 1;
    let disk = disk_with(&bytes);
    let (log, _) = reopen(&disk).unwrap();
    let walked: Vec<_> = log.frames(0).collect();
    assert!(matches!(walked.last(), Some(Err(LogError::Damaged { .. }))), "{walked:?}");
    assert!(matches!(log.frame(offsets[0]), Err(LogError::NoFrame { .. })));
    assert!(log.frame(offsets[1]).is_ok());
}

#[test]
fn a_batch_that_is_cut_anywhere_is_there_as_a_whole_or_not_at_all() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let start = log.end() as usize;
    let (two, three, four) = (payload(2, 30), payload(3, 50), payload(4, 10));
    log.append(&[event(2, &two), event(3, &three), event(4, &four)], leaf(2), Durability::Os).unwrap();
    let bytes = kill(log, &disk);
    for cut in start..=bytes.len() {
        for zeros in [0, 4096] {
            let mut file = bytes[..cut].to_vec();
            file.resize(cut + zeros, 0);
            let disk = disk_with(&file);
            let (log, report) = reopen(&disk).unwrap();
            let whole = cut == bytes.len();
            assert_eq!(ids(&log), if whole { vec![1, 2, 3, 4] } else { vec![1] }, "cut at {cut}");
            append(&log, 5, 20, Durability::Sync);
            kill(log, &disk);
            let (log, again) = reopen(&disk).unwrap();
            assert_eq!(
                ids(&log),
                if whole { vec![1, 2, 3, 4, 5] } else { vec![1, 5] },
                "cut at {cut}, {report:?} {again:?}"
            );
            let reader = read(&disk).unwrap().0;
            assert_eq!(ids(&reader), ids(&log));
        }
    }
}

#[test]
fn recovery_that_crashes_at_any_byte_finds_the_same_again() {
    let (offsets, mut bytes) = three_unsynced();
    bytes.truncate(offsets[2] as usize + 50);
    let disk = disk_with(&bytes);
    let (log, first) = reopen(&disk).unwrap();
    let recovered = kill(log, &disk);
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1);
    assert!(recovered[..bytes.len()] == bytes[..], "recovery alters nothing that was there but zeros at the end");
    for cut in bytes.len()..=recovered.len() {
        let disk = disk_with(&recovered[..cut]);
        let (log, again) = reopen(&disk).unwrap();
        assert_eq!(ids(&log), [1, 2], "cut at {cut}");
        assert_eq!(again.set_aside[0].offset, first.set_aside[0].offset, "cut at {cut}");
        append(&log, 7, 10, Durability::Sync);
        assert_eq!(ids(&log), [1, 2, 7], "cut at {cut}");
    }
}

#[test]
fn a_frame_quoted_in_a_payload_never_becomes_a_record() {
    let disk = Disk::new();
    let log = create(&disk);
    let first = append(&log, 1, 40, Durability::Sync) as usize;
    let quoted = disk.bytes(&path())[first..log.end() as usize].to_vec();
    // The whole log so far, quoted at every alignment, and its end torn off.
    let mut quote = Vec::new();
    for shift in 0..8 {
        quote.extend(std::iter::repeat_n(0, shift));
        quote.extend_from_slice(&disk.bytes(&path()));
        quote.extend_from_slice(&quoted);
    }
    log.append(&[event(2, &quote)], leaf(0), Durability::Os).unwrap();
    let bytes = kill(log, &disk);
    for cut in [bytes.len() - 1, bytes.len() - 9, bytes.len() - 64, bytes.len() / 2] {
        let disk = disk_with(&bytes[..cut]);
        let (log, report) = reopen(&disk).unwrap();
        assert_eq!(ids(&log), [1], "cut at {cut}");
        assert_eq!(report.set_aside[0].cause, Cause::TornTail, "a quoted frame is not a frame");
        assert_eq!(report.set_aside[0].ids, [id(2)]);
    }
}

#[test]
fn a_stale_frame_exactly_at_the_window_start_is_not_taken_back() {
    // Two openings write at the same place, the first of which was lost; its blocks come back behind the second's records.
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let clean = disk.bytes(&path());
    let (log, _) = reopen(&disk).unwrap();
    append(&log, 2, 40, Durability::Os);
    append(&log, 3, 40, Durability::Os);
    let lost = kill(log, &disk);

    let disk = disk_with(&clean);
    let (log, _) = reopen(&disk).unwrap();
    append(&log, 4, 40, Durability::Sync);
    let end = log.end() as usize;
    let mut bytes = kill(log, &disk);
    bytes.extend_from_slice(&lost[end..]);
    let disk = disk_with(&bytes);
    let (log, report) = reopen(&disk).unwrap();
    assert_eq!(ids(&log), [1, 4]);
    assert_eq!(report.set_aside[0].ids, [id(3)]);
    assert_eq!(report.verdict, Verdict::Recovered);
}

#[test]
fn the_unsynced_window_is_written_and_synced_again_before_anything_is_called_recovered() {
    let (_, bytes) = three_unsynced();
    let disk = disk_with(&bytes);
    let writes = disk.calls(Call::Write);
    let (log, report) = reopen(&disk).unwrap();
    assert!(!report.clean_close);
    assert!(disk.calls(Call::Write) - writes >= 4, "three records and an OPEN");
    assert_eq!(disk.calls(Call::Sync), 1);
    assert_eq!(log.durable_end(), log.end());
    assert_eq!(disk.durable(&path()), disk.bytes(&path()));
}

#[test]
fn a_sync_that_fails_in_recovery_refuses_the_writer_and_the_next_try_starts_the_same() {
    let (_, bytes) = three_unsynced();
    let disk = disk_with(&bytes);
    disk.fail(Call::Sync, 0, Fault::Errno(5));
    assert!(matches!(reopen(&disk), Err(LogError::Io { op: "sync", .. })));
    assert_eq!(disk.calls(Call::Sync), 1, "no second try in place");
    let (log, _) = reopen(&disk).unwrap();
    assert_eq!(ids(&log), [1, 2, 3]);
}

#[test]
fn after_a_clean_open_the_first_append_vouches_for_the_mark_again() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    log.close().unwrap();
    let closed = disk.bytes(&path()).len();
    let (log, _) = reopen(&disk).unwrap();
    let mark = log.tip().unwrap().unwrap().offset();
    assert_eq!(log.durable_end(), mark, "the MARK itself may not be durable");
    let offset = append(&log, 2, 40, Durability::Sync);
    assert!(offset > closed as u64, "an OPEN stands before it");
    assert_eq!(log.header(offset).unwrap().durable_end(), mark);
    assert_eq!(log.durable_end(), log.end());
}

#[test]
fn an_open_of_a_clean_log_reads_the_same_few_bytes_at_any_size() {
    let mut read_bytes = Vec::new();
    for count in [10, 2000] {
        let disk = Disk::new();
        let log = create(&disk);
        for number in 1..=count {
            append(&log, number, 500, Durability::Os);
        }
        log.close().unwrap();
        let (log, report) = reopen(&disk).unwrap();
        assert!(report.clean_close);
        assert!(log.note().is_ok());
        read_bytes.push(log.io().bytes_read);
    }
    assert!(read_bytes.iter().all(|bytes| *bytes < 32 << 10), "{read_bytes:?}");
}

#[test]
fn notes_come_back_from_a_mark_and_from_the_headers_behind_it() {
    let disk = Disk::new();
    let log = create(&disk);
    let seven = uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 1_700_000_000, 0));
    let first = append(&log, 1, 40, Durability::Sync);
    let meta = Record { index: IndexHint::Meta, ..event(2, b"meta") };
    let boundary = Record { frame_type: seslog::log::FrameType::Boundary, id: seven, ..event(3, b"boundary") };
    let head = Record {
        frame_type: seslog::log::FrameType::Head,
        parent: Place::At(first),
        boundary: Place::InBatch(1),
        ..event(4, b"")
    };
    let note = seslog::log::Note {
        meta: Place::InBatch(0),
        last_id: seven,
        head: Place::At(first),
        boundary: Place::InBatch(1),
    };
    let offsets = log.append(&[meta, boundary, head], note, Durability::Sync).unwrap().offsets;
    let expected = log.note().unwrap();
    assert_eq!(expected.head, Place::At(first));
    assert_eq!(expected.boundary, Place::At(offsets[1]));
    assert_eq!(expected.meta, Place::At(offsets[0]));
    let bytes = kill(log, &disk);
    let killed = disk_with(&bytes);
    assert_eq!(read(&killed).unwrap().0.note().unwrap(), expected, "from the headers");
    let (log, _) = reopen(&killed).unwrap();
    assert_eq!(log.note().unwrap(), expected, "from the OPEN");
    log.close().unwrap();
    let (log, _) = reopen(&killed).unwrap();
    assert_eq!(log.note().unwrap(), expected, "from the MARK");
    assert_eq!(log.record_count().unwrap(), 4);
}

#[test]
fn junk_of_any_kind_is_an_error_and_never_a_panic() {
    let mut junk: Vec<Vec<u8>> =
        vec![vec![], vec![0; 10], vec![0xFF; 5000], b"{\"a\":1}\n".repeat(1000), vec![0; 4096], vec![0; 70_000]];
    let (_, bytes) = three_synced();
    junk.push(bytes[..2000].to_vec());
    junk.push(bytes[..4095].to_vec());
    junk.push(bytes[4096..].to_vec());
    for bytes in junk {
        let disk = disk_with(&bytes);
        match reopen(&disk) {
            Err(LogError::NotALog { .. } | LogError::Damaged { .. }) => {}
            other => panic!("{} bytes: {:?}", bytes.len(), other.map(|opened| opened.1)),
        }
        let _ = read(&disk).map(|(reader, _)| reader.frames(0).count());
        assert_eq!(disk.bytes(&path()), bytes);
    }
}

#[test]
fn a_log_whose_state_cannot_be_read_is_damage_to_a_writer_and_stays_as_it_is() {
    // The window is whole, but in front of it, on the way back to the OPEN with the state, a durable frame is hit.
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Sync);
    append(&log, 3, 40, Durability::Sync);
    append(&log, 4, 40, Durability::Sync);
    let mut bytes = kill(log, &disk);
    let second = bytes.len() - 3 * 112;
    bytes[second + 40] ^= 1;
    let disk = disk_with(&bytes);
    let Err(LogError::Damaged { report, .. }) = reopen(&disk) else { panic!("a writer must be refused") };
    assert_eq!((report.verdict, report.damage.len()), (Verdict::Damaged, 1));
    assert_eq!((disk.bytes(&path()), disk.calls(Call::Write)), (bytes, 0));
    assert_eq!(read(&disk).unwrap().1.verdict, Verdict::Clean, "the open itself does not look there");
}

#[test]
fn the_last_record_is_found_behind_the_logs_own_frames_and_what_is_set_aside() {
    let disk = Disk::new();
    let log = create(&disk);
    assert!(log.last_record().unwrap().is_none());
    append(&log, 1, 40, Durability::Sync);
    append(&log, 2, 40, Durability::Os);
    let mut bytes = kill(log, &disk);
    bytes.truncate(bytes.len() - 20);
    let disk = disk_with(&bytes);
    let (log, _) = reopen(&disk).unwrap();
    log.close().unwrap();
    // Behind record 1: what is left of record 2, the OPEN that steps over it, the MARK of the close.
    let (reader, _) = read(&disk).unwrap();
    assert_eq!(reader.last_record().unwrap().map(|frame| frame.id()), Some(id(1)));
}

#[test]
fn headers_alone_tell_leaf_and_boundary_and_the_last_id_of_the_logs_own() {
    let disk = Disk::new();
    let log = create(&disk);
    let first = append(&log, 1, 40, Durability::Sync);
    let second = append(&log, 2, 40, Durability::Sync);
    let seen = |log: seslog::log::LogWriter| {
        kill(log, &disk);
        read(&disk).unwrap().0.note().unwrap()
    };
    let head = Record { frame_type: seslog::log::FrameType::Head, parent: Place::At(first), ..event(3, b"") };
    log.append(&[head], seslog::log::Note { head: Place::At(first), ..seslog::log::Note::default() }, Durability::Os)
        .unwrap();
    let note = seen(log);
    assert_eq!((note.head, note.boundary), (Place::At(first), Place::None));

    let (log, _) = reopen(&disk).unwrap();
    // Larger than any id of version 7, and none itself.
    let boundary =
        Record { frame_type: seslog::log::FrameType::Boundary, parent: Place::At(second), ..event(u128::MAX, b"") };
    let at = log
        .append(
            &[boundary],
            seslog::log::Note { head: Place::InBatch(0), ..seslog::log::Note::default() },
            Durability::Os,
        )
        .unwrap();
    let note = seen(log);
    assert_eq!((note.head, note.boundary), (Place::At(at.offsets[0]), Place::At(at.offsets[0])));
    assert_eq!(note.last_id, uuid::Uuid::nil());
}

#[test]
fn what_the_watermark_misses_is_named_from_the_end_of_the_data_to_where_it_was_durable() {
    let disk = Disk::new();
    let log = create(&disk);
    append(&log, 1, 40, Durability::Sync);
    let kept = log.end();
    append(&log, 2, 40, Durability::Sync);
    log.close().unwrap();
    let mut bytes = disk.bytes(&path());
    let durable = bytes.len() as u64;
    bytes.truncate(kept as usize);
    let (_, report) = read(&disk_with(&bytes)).unwrap();
    let [damage] = report.damage.as_slice() else { panic!("{report:?}") };
    assert_eq!((damage.kind, damage.offset, damage.len), (DamageKind::Missing, kept, durable - kept));
}

#[test]
fn a_batch_of_just_the_limit_is_written_and_read_again_and_one_byte_more_is_refused() {
    let disk = Disk::new();
    let new = NewLog::new(id(0x5e5), 1_700_000_000_000_000).max_record(4096);
    let log = LogWriter::create(disk.fs(), &path(), new, LogOptions::default()).unwrap();
    let half = payload(1, 2048);
    let more = payload(2, 2049);
    drop(log.append(&[event(1, &half), event(2, &half)], leaf(1), Durability::Sync).unwrap());
    let refused = log.append(&[event(3, &half), event(4, &more)], leaf(1), Durability::Sync);
    assert!(matches!(refused, Err(LogError::RecordTooLarge { len: 4097, max: 4096, .. })));
    log.close().unwrap();
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1, 2]);
}
