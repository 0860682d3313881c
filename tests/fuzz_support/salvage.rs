//! Any bytes as a damaged session that is salvaged.

use std::collections::HashSet;
use std::path::Path;

use seslog::event::{Body, Event, HungOn, Kind, Message, Uuid, decode};
use seslog::log::{Durability, FrameStatus, FrameType, Fs, Verdict, survey};
use seslog::session::{Compaction, Opened, SalvageReport, Session};

use super::input::Input;
use super::memory::{PATH, disk_with, options};
use super::mutate::change;
use super::operations::session_made_by;
use super::random::Random;
use super::seal::{Seal, file_of, seal};
use super::{look_at, same};
use seslog::sim::SimDisk;

const TARGET: &str = "/s/new.seslog";
const AGAIN: &str = "/s/again.seslog";

/// What is made of a damaged session opens clean and resumes, holds exactly the events that are whole in it and can be
/// read, in their order and as they were but for what they hang on; it takes appends and verifies clean. The damaged
/// file is not touched, and a salvage that fails leaves nothing behind.
pub fn salvage(data: &[u8]) {
    let Some(file) = damaged(data) else { return };
    let disk = disk_with(&file);
    let (source, target) = (Path::new(PATH), Path::new(TARGET));
    let result = Session::salvage(source, target, &options(&disk));
    assert!(disk.bytes(source) == file, "the damaged file is only read");
    let names = disk.list_dir(Path::new("/s")).expect("a disk in memory does not fail").len();
    let Ok(report) = result else {
        assert_eq!(names, 1, "nothing is left of a salvage that failed");
        return;
    };
    assert_eq!(names, 2, "the damaged file and the new one");
    let expected = expected(&disk, &report);
    assert_eq!(report.kept, expected.len() as u64);

    let session = Session::open(target, options(&disk)).expect("what was salvaged opens");
    assert_eq!(session.report().open, Opened::Clean);
    let found = events(&session);
    assert_eq!(ids(&found), ids(&expected), "exactly what is whole, in its order: {report:?}");
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(plain(found), plain(expected), "as it was");
    }
    let there: HashSet<Uuid> = found.iter().map(|event| event.id).collect();
    assert!(report.hung_anew.iter().all(|child| child.hung_on.is_none_or(|parent| there.contains(&parent))));
    let state = session.state().expect("it reads");
    same(&session.whole_state().expect("it reads").trimmed(), &state, "the whole replay of a salvaged session");
    look_at(&state);

    // It goes on.
    let more = session.append(Message::user("one more"), Durability::Sync).expect("it takes an append").id;
    let compacted = session.compact(Compaction::new("so far"), Durability::Sync).expect("it takes a compaction");
    session.close().expect("a disk in memory does not fail");
    let verified = survey(disk.fs(), target).expect("a log of our own");
    assert_eq!(verified.verdict, Verdict::Clean, "{:?}, {:?}", verified.damage, verified.set_aside);
    let session = Session::open(target, options(&disk)).expect("it was closed cleanly");
    let mut all = ids(&found);
    all.extend([more, compacted.boundary, compacted.summary]);
    assert_eq!(ids(&events(&session)), all);
    look_at(&session.state().expect("it reads"));
    session.close().expect("a disk in memory does not fail");

    // Nothing is lost of what is whole.
    let again = Session::salvage(target, Path::new(AGAIN), &options(&disk)).expect("a log of our own");
    assert_eq!((again.kept, again.lost.len(), again.hung_anew.len()), (all.len() as u64, 0, 0), "{again:?}");
    assert!(again.unreadable.is_empty() && again.heads_left_out.is_empty(), "{again:?}");
}

/// The damaged session of an input: as [`file_of`] says, or, with bit 3 of the first byte, a history made of the bytes
/// and one to four changes of its file.
fn damaged(data: &[u8]) -> Option<Vec<u8>> {
    let (mode, rest) = data.split_first()?;
    if mode & 8 == 0 {
        return file_of(data);
    }
    let mut input = Input::new(rest);
    let steps = 1 + input.below(12);
    let seed = (0..4).fold(0, |seed, _| seed << 8 | u64::from(input.byte()));
    let mut random = Random(seed);
    let mut file = session_made_by(&mut input, steps);
    for _ in 0..1 + random.below(4) {
        if random.below(3) > 0 {
            file = change(&file, 4096, &mut random);
        } else if file.len() > 4096 {
            let at = 4096 + random.below(file.len() - 4096);
            file[at] ^= 1 << random.below(8);
        }
    }
    match mode & 3 {
        1 => seal(&mut file, Seal::Sums),
        2 => seal(&mut file, Seal::Chained),
        3 => seal(&mut file, Seal::Scattered),
        _ => {}
    }
    Some(file)
}

/// The events of the whole frames that count, each once, without the heads that lead nowhere.
fn expected(disk: &SimDisk, report: &SalvageReport) -> Vec<Event> {
    let found = survey(disk.fs(), Path::new(PATH)).expect("it was salvaged");
    let (mut events, mut seen): (Vec<Event>, HashSet<Uuid>) = (Vec::new(), HashSet::new());
    for frame in &found.frames {
        let counts = matches!(
            frame.status,
            FrameStatus::Accepted | FrameStatus::Orphan | FrameStatus::Displaced | FrameStatus::Doubtful
        );
        let is_event = matches!(
            frame.head.frame_type,
            FrameType::Event | FrameType::Boundary | FrameType::Change | FrameType::Head
        );
        if !counts || !is_event {
            continue;
        }
        match decode(found.load(frame).expect("it is there").payload()) {
            Ok(event) if seen.insert(event.id) => events.push(event),
            Ok(_) => {}
            Err(_) => assert!(report.unreadable.contains(&frame.at), "what can't be read is named"),
        }
    }
    let left_out = |event: &Event| match &event.body {
        Body::Head(head) => head.leaf.is_some_and(|leaf| report.heads_left_out.contains(&leaf)),
        _ => false,
    };
    events.retain(|event| !left_out(event));
    events
}

fn events(session: &Session) -> Vec<Event> {
    let whole = session.whole_state().expect("it reads");
    let ids: Vec<Uuid> = whole.entries().iter().map(|entry| entry.event.id).collect();
    ids.into_iter().map(|id| session.event(id).expect("it reads").expect("it is there")).collect()
}

fn ids(events: &[Event]) -> Vec<Uuid> {
    events.iter().map(|event| event.id).collect()
}

/// An event without what a salvage may change: what it hangs on, and the places of others.
fn plain(event: &Event) -> Event {
    let mut event = event.clone();
    event.hung_on = HungOn::Named;
    event.original_parent = None;
    match &mut event.body {
        Body::Head(head) => head.leaf = None,
        Body::Message(message) => {
            if let Kind::CompactBoundary(boundary) = &mut message.kind {
                boundary.keep.clear();
                boundary.carried.clear();
                boundary.meta_offset = 0;
            }
        }
        _ => {}
    }
    event
}
