//! Any bytes as a log, read by the library and by a reader that was written from the format's text alone.

use std::path::Path;

use seslog::log::{
    Cause, DamageKind, Frame, FrameStatus, LogError, LogReader, LogView, LogWriter, OpenReport, SetAside, Survey,
    Verdict, survey,
};

use super::memory::{PATH, disk_with, options};
use super::reference::{self, Aside, Head, PAGE, Reference, Said, Word};
use super::reference_survey::{self, Status};
use super::seal::file_of;
use seslog::sim::SimDisk;

/// Both say the same of a file: whether it is a log, where it ends, what is durable, which frames count, what is set
/// aside and why, what is damaged, whether a writer may open it.
pub fn two_readers(data: &[u8]) {
    let Some(file) = file_of(data) else { return };
    compare(&file);
}

/// The same of a file as it is.
pub fn compare(file: &[u8]) {
    let disk = disk_with(file);
    let path = Path::new(PATH);
    let opened = LogReader::open(disk.fs(), path);
    let surveyed = survey(disk.fs(), path);
    let padded = reference::padded(file);
    let log = match reference::read(&padded) {
        Said::NotALog => {
            assert!(matches!(opened, Err(LogError::NotALog { .. })), "no log, and yet: {opened:?}");
            assert!(matches!(surveyed, Err(LogError::NotALog { .. })), "no log, and yet: {surveyed:?}");
            return;
        }
        Said::Newer { major, incompat } => {
            let is_newer = |error: &LogError| match error {
                LogError::NewerFormat { major: theirs, incompat: bits, .. } => (major, incompat) == (*theirs, *bits),
                _ => false,
            };
            assert!(opened.as_ref().err().is_some_and(is_newer), "version {major}, {incompat:#x}, and yet: {opened:?}");
            assert!(surveyed.as_ref().err().is_some_and(is_newer), "{major}, {incompat:#x}, and yet: {surveyed:?}");
            return;
        }
        Said::Log(log) => log,
    };
    compare_surveys(&log, &surveyed.expect("the reference finds a log to survey"));
    if !log.has_header {
        assert!(matches!(opened, Err(LogError::NotALog { .. })), "no header, and yet: {opened:?}");
        return;
    }
    let (reader, report) = opened.expect("the reference finds a log to open");
    compare_opens(&log, &reader, &report);
    compare_writers(&log, &disk);
}

fn compare_opens(log: &Reference<'_>, reader: &LogReader, report: &OpenReport) {
    let theirs = log.open();
    assert_eq!(word(report.verdict), theirs.verdict, "verdict of an open: {report:?}, reference {theirs:?}");
    assert_eq!((report.end, report.durable_end), (theirs.end as u64, theirs.durable_end), "ends: {report:?}");
    assert_eq!(report.clean_close, theirs.closed, "closed: {report:?}, reference {theirs:?}");
    if theirs.verdict != Word::Damaged {
        let ours: Vec<Aside> = report.set_aside.iter().map(aside).collect();
        assert_eq!(ours, theirs.asides, "set aside by an open");
    }
    let (frames, whole) = log.frames(theirs.end);
    let (ours, complete) = walk(reader);
    let ours: Vec<Head> = ours.iter().map(|frame| head(frame, frame.offset())).collect();
    assert_eq!(ours, frames, "frames from the start");
    assert_eq!(complete, whole, "whether the walk reaches the end");
}

/// All frames as far as they can be read, and whether that is to the end.
fn walk(log: &LogView) -> (Vec<Frame>, bool) {
    let mut found = Vec::new();
    for frame in log.frames(0) {
        match frame {
            Ok(frame) => found.push(frame),
            Err(LogError::Damaged { .. } | LogError::UnknownFrame { .. }) => return (found, false),
            Err(error) => panic!("a disk in memory does not fail: {error}"),
        }
    }
    (found, true)
}

fn compare_writers(log: &Reference<'_>, disk: &SimDisk) {
    let opened = LogWriter::open(disk.fs(), Path::new(PATH), options(disk).log);
    let theirs = log.open();
    match opened {
        Ok((writer, report)) => {
            assert_ne!(theirs.verdict, Word::Damaged, "a writer opens what is damaged: {report:?}");
            assert!(!log.read_only, "a writer opens what it must not write to");
            assert!(writer.end() >= theirs.end as u64);
        }
        // Besides what the verdict says: the state at the end may be hidden by damage before what an open looks at.
        Err(LogError::Damaged { .. } | LogError::NoFrame { .. }) => {}
        Err(LogError::ReadOnlyFormat { .. }) => assert!(log.read_only),
        Err(error) => panic!("{error}"),
    }
}

fn compare_surveys(log: &Reference<'_>, ours: &Survey) {
    let theirs = reference_survey::survey(log);
    let frames: Vec<(Head, Status)> = ours
        .frames
        .iter()
        .map(|frame| {
            let loaded = ours.load(frame).expect("a frame of the survey can be read again");
            (head(&loaded, frame.at), status(frame.status))
        })
        .collect();
    assert_eq!(frames, theirs.frames, "frames of a survey");
    let asides: Vec<Aside> = ours.set_aside.iter().map(aside).collect();
    assert_eq!(asides, theirs.asides, "set aside by a survey");
    let behind = ours.damage.iter().filter(|damage| damage.kind != DamageKind::Header);
    let damage: Vec<(usize, usize)> =
        behind.map(|damage| (damage.offset as usize, (damage.offset + damage.len) as usize)).collect();
    assert_eq!(damage, theirs.damage, "damage of a survey: {:?}", ours.damage);
    assert!(ours.damage.iter().all(|damage| damage.kind != DamageKind::Header || damage.offset < PAGE as u64));
    assert_eq!(word(ours.verdict), theirs.verdict, "verdict of a survey");
}

fn word(verdict: Verdict) -> Word {
    match verdict {
        Verdict::Clean => Word::Clean,
        Verdict::Recovered => Word::Recovered,
        Verdict::Damaged => Word::Damaged,
        other => panic!("a verdict that the reference does not know: {other:?}"),
    }
}

fn status(status: FrameStatus) -> Status {
    match status {
        FrameStatus::Accepted => Status::Accepted,
        FrameStatus::SetAside => Status::SetAside,
        FrameStatus::Incomplete => Status::Incomplete,
        FrameStatus::Orphan => Status::Orphan,
        FrameStatus::Displaced => Status::Displaced,
        FrameStatus::Doubtful => Status::Doubtful,
        other => panic!("a status that the reference does not know: {other:?}"),
    }
}

fn aside(range: &SetAside) -> Aside {
    let cause = match range.cause {
        Cause::None => 0,
        Cause::TornTail => 1,
        Cause::UnsyncedHole => 2,
        Cause::IncompleteBatch => 3,
        other => panic!("a cause that the reference does not know: {other:?}"),
    };
    let ids = range.ids.iter().map(|id| id.into_bytes()).collect();
    Aside { from: range.offset as usize, to: (range.offset + range.len) as usize, cause, ids }
}

/// A frame of the library's in the reference's words.
pub fn head(frame: &Frame, at: u64) -> Head {
    let head = frame.head();
    Head {
        at: at as usize,
        place: head.offset,
        hcrc: head.header_crc,
        payload_len: head.payload_len as usize,
        kind: head.frame_type.to_byte(),
        flags: head.flags,
        header_len: head.header_len as usize,
        hint: match head.hint {
            seslog::log::HintClass::Plain => 0,
            seslog::log::HintClass::Targets => 1,
            seslog::log::HintClass::ResultOf => 2,
            seslog::log::HintClass::Meta => 3,
            other => panic!("a hint class that the reference does not know: {other:?}"),
        },
        durable: head.durable_end(),
        chain: head.chain,
        id: head.id.into_bytes(),
        parent_off: head.parent_off,
        boundary_off: head.boundary_off,
    }
}
