//! Flags, types, lengths and versions that nobody knows, under right checksums; and files that are no logs.

use seslog::event::Message;
use seslog::log::{
    DamageKind, Durability, FrameStatus, FrameType, LogError, LogReader, LogWriter, RealFs, Verdict, survey,
};
use seslog::session::{Session, SessionError, SessionOptions, SessionReader};

use crate::log_support::{Disk, reseal_chain, reseal_header};
use crate::made::{Log, create, disk_with, options, path, survey_of, target};

/// One opening and six messages.
fn plain() -> Log {
    let disk = Disk::new();
    let session = create(&disk, &path(), 1);
    for n in 0..6 {
        let _ = session.append(Message::user(format!("m{n}")), Durability::Sync).unwrap();
    }
    session.close().unwrap();
    Log::of(disk.bytes(&path()))
}

/// The third message's frame.
fn third(log: &Log) -> usize {
    log.accepted().filter(|frame| frame.is_record()).nth(2).unwrap().from() as usize
}

/// The file with this byte of a frame, and all checksums behind made right again.
fn with(log: &Log, frame: usize, at: usize, value: u8) -> Vec<u8> {
    let mut bytes = log.bytes.clone();
    bytes[frame + at] = value;
    reseal_chain(&mut bytes, frame);
    bytes
}

/// That frame is lost, no other, and the damage is where it stands.
fn one_is_lost(log: &Log, bytes: &[u8], frame: usize, what: &str) {
    let found = survey_of(bytes).unwrap();
    let places: Vec<(u64, DamageKind)> = found.damage.iter().map(|damage| (damage.offset, damage.kind)).collect();
    assert_eq!(places, [(frame as u64, DamageKind::Frame)], "{what}");
    let counts = found.frames.iter().filter(|frame| frame.status == FrameStatus::Accepted).count();
    assert_eq!(counts, log.frames.len() - 1, "{what}");
    let disk = disk_with(bytes);
    let (reader, _) = LogReader::open(disk.fs(), &path()).unwrap();
    let seen = reader.frames(0).map_while(Result::ok).count();
    assert_eq!(seen, log.frames.iter().position(|known| known.from() == frame as u64).unwrap(), "{what}");
    let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap();
    assert_eq!((report.kept, report.lost.len(), report.lost_records), (5, 1, Some(1)), "{what}");
}

#[test]
fn a_frame_with_an_unknown_flag_hint_or_length_is_no_frame() {
    let log = plain();
    let frame = third(&log);
    for flag in [2, 8, 16, 32, 64] {
        let bytes = with(&log, frame, 13, log.bytes[frame + 13] | flag);
        one_is_lost(&log, &bytes, frame, &format!("flag {flag}"));
    }
    for hint in [4, 7, 128, 255] {
        one_is_lost(&log, &with(&log, frame, 15, hint), frame, &format!("hint class {hint}"));
    }
    for frame_type in [0, 255] {
        one_is_lost(&log, &with(&log, frame, 12, frame_type), frame, &format!("type {frame_type}"));
    }
    // Lengths can't be resealed in place: the frame's end would be elsewhere.
    for words in [0, 1, 7, 9, 255] {
        let mut bytes = log.bytes.clone();
        bytes[frame + 14] = words;
        one_is_lost(&log, &bytes, frame, &format!("a header of {words} words"));
    }
    for len in [0, 1, u32::MAX, 64 << 20, (64 << 20) + 1, 1 << 31] {
        let mut bytes = log.bytes.clone();
        bytes[frame + 8..frame + 12].copy_from_slice(&len.to_le_bytes());
        one_is_lost(&log, &bytes, frame, &format!("a payload of {len} bytes"));
    }
}

#[test]
fn an_unknown_type_is_skipped_if_it_may_be_and_else_refused_by_name() {
    let log = plain();
    let frame = third(&log);
    for frame_type in [5, 15, 19, 200, 254] {
        for skippable in [true, false] {
            let what = format!("type {frame_type}, may be skipped: {skippable}");
            let mut bytes = with(&log, frame, 12, frame_type);
            if skippable {
                bytes[frame + 13] |= 128;
                reseal_chain(&mut bytes, frame);
            }
            let disk = disk_with(&bytes);
            let found = survey_of(&bytes).unwrap();
            assert_eq!((found.verdict, found.damage.len()), (Verdict::Clean, 0), "{what}");
            let session = SessionReader::open(&path(), disk.fs());
            let writer = Session::open(&path(), options(&disk, 5)).map(drop);
            let salvaged = Session::salvage(&path(), &target(), &options(&disk, 9));
            if skippable {
                assert_eq!(session.unwrap().state().entries().len(), 5, "{what}");
                assert!(writer.is_ok(), "{what}");
                let report = salvaged.unwrap();
                assert_eq!((report.kept, report.unreadable), (5, vec![frame as u64]), "{what}");
            } else {
                let is_named = |error: &SessionError| {
                    let SessionError::Log(LogError::UnknownFrame { offset, frame_type: found, .. }) = error else {
                        return false;
                    };
                    (*offset, *found) == (frame as u64, frame_type)
                };
                assert!(session.as_ref().is_err_and(is_named), "{what}: {session:?}");
                assert!(writer.as_ref().is_err_and(is_named), "{what}: {writer:?}");
                assert!(salvaged.as_ref().is_err_and(is_named), "{what}: {salvaged:?}");
                let left = disk.fs().list_dir(path().parent().unwrap()).unwrap();
                assert_eq!(left.len(), 1, "{what}: nothing is left of a salvage that failed");
            }
        }
    }
}

#[test]
fn an_unknown_event_is_kept_if_it_may_be_skipped_and_else_refused_by_name() {
    let log = plain();
    let frame = third(&log);
    let mut bytes = log.bytes.clone();
    let at = bytes[frame..].windows(7).position(|word| word == b"message").unwrap() + frame;
    bytes[at..at + 7].copy_from_slice(b"massage");
    reseal_chain(&mut bytes, frame);
    let disk = disk_with(&bytes);
    let is_named = |error: &SessionError| matches!(error, SessionError::UnknownEvent { offset, found, .. } if *offset == frame as u64 && found.contains("massage"));
    assert!(SessionReader::open(&path(), disk.fs()).is_err_and(|error| is_named(&error)));
    assert!(Session::open(&path(), options(&disk, 5)).is_err_and(|error| is_named(&error)));
    assert!(Session::salvage(&path(), &target(), &options(&disk, 9)).is_err_and(|error| is_named(&error)));
    assert_eq!(disk.bytes(&path()), bytes);
    bytes[frame + 13] |= 128;
    reseal_chain(&mut bytes, frame);
    let disk = disk_with(&bytes);
    assert_eq!(SessionReader::open(&path(), disk.fs()).unwrap().state().entries().len(), 6);
    let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap();
    assert_eq!((report.kept, report.unreadable), (6, vec![]));
    let salvaged = SessionReader::open(&target(), disk.fs()).unwrap();
    assert_eq!(salvaged.state().entries().len(), 6);
}

#[test]
fn the_logs_own_frames_never_stand_in_a_batch() {
    let log = plain();
    for own in log.frames.iter().filter(|frame| !frame.is_record()) {
        let at = own.from() as usize;
        let bytes = with(&log, at, 13, log.bytes[at + 13] | 1);
        let what = format!("{:?} at {at} with the batch flag", own.head.frame_type);
        let found = survey_of(&bytes).unwrap();
        assert_eq!(found.verdict, Verdict::Damaged, "{what}");
        let records = found.frames.iter().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own());
        assert_eq!(records.count(), 6, "{what}");
        let disk = disk_with(&bytes);
        let refused = Session::open(&path(), options(&disk, 5));
        assert!(matches!(refused, Err(SessionError::Log(LogError::Damaged { .. }))), "{what}");
        let report = Session::salvage(&path(), &target(), &options(&disk, 9)).unwrap();
        assert_eq!(report.kept, 6, "{what}");
    }
    // A record that says that its batch goes on, before the log's own frame.
    let last = log.frames.iter().rfind(|frame| frame.is_record()).unwrap().from() as usize;
    let found = survey_of(&with(&log, last, 13, log.bytes[last + 13] | 1)).unwrap();
    assert_eq!(found.verdict, Verdict::Damaged);
    assert!(found.frames.iter().any(|frame| frame.status == FrameStatus::Incomplete));
    assert!(found.frames.iter().any(|frame| frame.head.frame_type == FrameType::Mark && frame.status.counts()));
}

/// Both copies of the header with these bytes, their checksums and the chain behind them made right again.
fn header(log: &Log, at: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = log.bytes.clone();
    for copy in [0, 2048] {
        bytes[copy + at..copy + at + value.len()].copy_from_slice(value);
        reseal_header(&mut bytes, copy);
    }
    let sum: [u8; 4] = bytes[112..116].try_into().unwrap();
    bytes[4096 + 24..4096 + 28].copy_from_slice(&sum);
    reseal_chain(&mut bytes, 4096);
    bytes
}

#[test]
fn a_record_above_the_logs_limit_is_no_frame() {
    let disk = Disk::new();
    let session = create(&disk, &path(), 1);
    for n in 0..6 {
        let text = if n == 2 { "x".repeat(5000) } else { format!("m{n}") };
        let _ = session.append(Message::user(text), Durability::Sync).unwrap();
    }
    session.close().unwrap();
    let log = Log::of(disk.bytes(&path()));
    one_is_lost(&log, &header(&log, 88, &4096_u32.to_le_bytes()), third(&log), "5,000 bytes where 4,096 are allowed");
    assert_eq!(survey_of(&header(&log, 88, &8192_u32.to_le_bytes())).unwrap().verdict, Verdict::Clean);
}

#[test]
fn a_header_out_of_bounds_is_none_and_a_newer_one_is_refused_by_name() {
    let log = plain();
    let refused = |bytes: &[u8], what: &str| {
        let disk = disk_with(bytes);
        let error = SessionReader::open(&path(), disk.fs()).err().map(|error| format!("{error:?}"));
        assert!(Session::open(&path(), options(&disk, 5)).is_err(), "{what}");
        assert_eq!(disk.bytes(&path()), bytes, "{what}");
        error.unwrap_or_default()
    };
    for (what, at, value) in [
        ("magic", 0, vec![0x8A]),
        ("max_record of 4,095", 88, 4095_u32.to_le_bytes().to_vec()),
        ("max_record above the cap", 88, ((256_u32 << 20) + 1).to_le_bytes().to_vec()),
        ("no tag", 92, vec![0; 4]),
        ("checksum 2", 96, vec![2]),
        ("a byte that must be zero", 100, vec![1]),
    ] {
        assert!(refused(&header(&log, at, &value), what).contains("NotALog"), "{what}");
        // One copy alone: the other one counts, and the page is damaged.
        let mut bytes = log.bytes.clone();
        bytes[at..at + value.len()].copy_from_slice(&value);
        reseal_header(&mut bytes, 0);
        let found = survey_of(&bytes).unwrap();
        assert_eq!((found.verdict, found.damage[0].kind), (Verdict::Damaged, DamageKind::Header), "{what}");
        assert_eq!(found.frames.len(), log.frames.len(), "{what}");
    }
    for len in [0_u32, 115, 1025, u32::MAX] {
        let mut bytes = log.bytes.clone();
        for copy in [0, 2048] {
            bytes[copy + 12..copy + 16].copy_from_slice(&len.to_le_bytes());
        }
        assert!(refused(&bytes, "header_len").contains("NotALog"), "{len}");
    }
    for (what, at, value) in
        [("major", 8, vec![2_u8]), ("incompat", 32, vec![2]), ("the last incompat bit", 39, vec![128])]
    {
        let bytes = header(&log, at, &value);
        assert!(refused(&bytes, what).contains("NewerFormat"), "{what}");
        let disk = disk_with(&bytes);
        assert!(matches!(survey(disk.fs(), &path()), Err(LogError::NewerFormat { .. })), "{what}");
    }
    let bytes = header(&log, 24, &[1]);
    let disk = disk_with(&bytes);
    assert_eq!(SessionReader::open(&path(), disk.fs()).unwrap().state().entries().len(), 6);
    let writer = LogWriter::open(disk.fs(), &path(), options(&disk, 1).log).map(drop);
    assert!(matches!(writer, Err(LogError::ReadOnlyFormat { .. })), "{writer:?}");
}

#[test]
fn a_later_minor_version_may_use_the_rest_of_the_page_and_this_one_may_not() {
    let log = plain();
    for (what, at) in [("minor", 10), ("compat", 16)] {
        let mut bytes = header(&log, at, &[1]);
        bytes[3000..3100].fill(0xAB);
        let found = survey_of(&bytes).unwrap();
        assert_eq!((found.verdict, found.damage.len()), (Verdict::Clean, 0), "{what}");
        let disk = disk_with(&bytes);
        let session = Session::open(&path(), options(&disk, 5)).unwrap();
        let _ = session.append(Message::user("more"), Durability::Sync).unwrap();
        session.close().unwrap();
        assert_eq!(disk.bytes(&path())[3000..3100], [0xAB; 100], "{what}: they stay");
    }
    let mut bytes = log.bytes.clone();
    bytes[3000] = 1;
    let found = survey_of(&bytes).unwrap();
    assert_eq!(
        found.damage.iter().map(|damage| (damage.offset, damage.kind)).collect::<Vec<_>>(),
        [(3000, DamageKind::Header)]
    );
}

#[test]
#[cfg(unix)]
fn what_is_no_log_is_told_at_once_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("text"), "hello\n".repeat(2000)).unwrap();
    std::fs::write(at("zeros"), vec![0; 100_000]).unwrap();
    std::fs::write(at("ones"), vec![0xFF; 100_000]).unwrap();
    let mut random = crate::random::Random::new(3);
    std::fs::write(at("junk"), random.bytes(100_000)).unwrap();
    // Nothing but markers of frames.
    std::fs::write(at("markers"), [0xC1, b'S', b'L', b'F', 0, 0, 0, 0].repeat(20_000)).unwrap();
    std::fs::create_dir(at("directory")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink(at("loop"), at("loop")).unwrap();
    std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
    let log = plain();
    std::fs::write(at("log"), &log.bytes).unwrap();
    std::os::unix::fs::symlink(at("log"), at("link")).unwrap();
    for (name, expected) in [
        ("empty", "NotALog"),
        ("text", "NotALog"),
        ("zeros", "NotALog"),
        ("ones", "NotALog"),
        ("junk", "NotALog"),
        ("markers", "NotALog"),
        ("directory", "not a regular file"),
        ("pipe", "not a regular file"),
        ("loop", "Io"),
        ("dangling", "NotFound"),
        ("missing", "NotFound"),
    ] {
        let content = || if name == "pipe" { None } else { std::fs::read(at(name)).ok() };
        let before = content();
        let fs = RealFs::shared;
        let said = [
            survey(fs(), &at(name)).map(drop).map_err(|error| format!("{error:?}")),
            LogReader::open(fs(), &at(name)).map(drop).map_err(|error| format!("{error:?}")),
            Session::open(&at(name), SessionOptions::default()).map(drop).map_err(|error| format!("{error:?}")),
            Session::salvage(&at(name), &at("new"), &SessionOptions::default()).map(drop).map_err(|e| format!("{e:?}")),
        ];
        for said in said {
            assert!(said.as_ref().is_err_and(|error| error.contains(expected)), "{name}: {said:?}");
        }
        assert_eq!(before, content(), "{name}");
        assert!(!at("new").exists(), "{name}");
    }
    assert_eq!(survey(RealFs::shared(), &at("link")).unwrap().verdict, Verdict::Clean);
}
