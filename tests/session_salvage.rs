//! Salvage: everything whole of a damaged session goes on in a new file; the damaged one is not touched.

#[allow(unreachable_pub, reason = "other tests have it in a library of theirs")]
#[path = "common/even_clock.rs"]
mod even_clock;
#[path = "common/place.rs"]
mod place;

use std::io::Write as _;
use std::path::Path;

use place::{Place, append_under, assistant, calls, chain, result, user};
use seslog::event::{Message, Uuid};
use seslog::log::{Durability, LogOptions, RealFs, survey};
use seslog::session::{Compaction, Opened, Redaction, SalvageReport, Session, SessionError, SessionOptions};
use seslog::sim::{Call, Crashes, Fault, SimDisk, persistence};

/// Zeroes the frame of this event.
fn zero(place: &Place, event: Uuid) {
    zero_in(&place.path(), event);
}

fn zero_in(path: &Path, event: Uuid) {
    let found = survey(RealFs::shared(), path).unwrap();
    let frame = found.frames.iter().find(|frame| frame.head.id == event).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    bytes[frame.at as usize..(frame.at + frame.head.total_len()) as usize].fill(0);
    std::fs::write(path, bytes).unwrap();
}

fn salvage(place: &Place) -> (SalvageReport, Session) {
    let target = place.dir.path().join("new.seslog");
    let before = std::fs::read(place.path()).unwrap();
    let report = Session::salvage(&place.path(), &target, &SessionOptions::default()).unwrap();
    assert_eq!(std::fs::read(place.path()).unwrap(), before, "the source is only read");
    let session = Session::open(&target, SessionOptions::default()).unwrap();
    assert_eq!(session.report().open, Opened::Clean);
    (report, session)
}

#[test]
fn the_child_of_a_lost_event_hangs_on_what_was_before_it_and_the_session_goes_on() {
    let place = Place::new();
    let session = place.create();
    let id = session.id();
    let before: Vec<Uuid> = (0..5).map(|n| user(&session, &format!("before {n}"))).collect();
    let lost = assistant(&session, "lost");
    let after = user(&session, "after");
    session.close().unwrap();
    zero(&place, lost);
    assert!(Session::open(&place.path(), SessionOptions::default()).is_err());
    let (report, session) = salvage(&place);
    assert_eq!((report.kept, report.lost.len()), (6, 1));
    assert_eq!(report.hung_anew[0].event, after);
    assert_eq!(report.hung_anew[0].hung_on, before.last().copied());
    assert_eq!(session.id(), id);
    assert_eq!(chain(&session), [before, vec![after]].concat());
    let more = user(&session, "more");
    session.close().unwrap();
    let target = place.dir.path().join("new.seslog");
    let session = Session::open(&target, SessionOptions::default()).unwrap();
    assert_eq!(chain(&session).last(), Some(&more));
    assert!(survey(RealFs::shared(), &target).unwrap().damage.is_empty());
}

#[test]
fn a_compaction_whose_kept_message_is_lost_keeps_the_others() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let call = calls(&session, &["a"]);
    let answer = result(&session, "a", "x");
    let done = session.compact(Compaction::new("so far").keep(vec![one, call, answer]), Durability::Os).unwrap();
    let end = user(&session, "end");
    session.close().unwrap();
    zero(&place, one);
    let (report, session) = salvage(&place);
    assert_eq!(report.missing_kept, [one]);
    assert_eq!(chain(&session), [done.boundary, done.summary, call, answer, end]);
}

#[test]
fn half_a_compaction_is_left_out_and_what_hung_on_it_goes_on() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    // Each durable by itself: of what shares a sync with half a batch nobody can tell whether it was a part of it.
    let done = session.compact(Compaction::new("so far"), Durability::Sync).unwrap();
    let end = session.append(Message::user("end"), Durability::Sync).unwrap().id;
    session.close().unwrap();
    zero(&place, done.summary);
    let (report, session) = salvage(&place);
    assert_eq!(report.incomplete, [done.boundary]);
    assert_eq!(chain(&session), [one, end]);
}

/// Boundary, summary and what follows share a sync, and the summary's header is gone: what follows may be of the batch.
#[test]
fn what_may_be_of_half_a_batch_is_kept_and_named() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let done = session.compact(Compaction::new("so far"), Durability::Os).unwrap();
    let end = user(&session, "end");
    session.close().unwrap();
    zero(&place, done.summary);
    let (report, session) = salvage(&place);
    assert_eq!((&report.incomplete[..], &report.doubtful[..]), (&[done.boundary][..], &[end][..]));
    assert_eq!(report.lost_records, Some(1));
    assert_eq!(chain(&session), [one, end]);
}

/// The leaf at its place was another one than its parent: its payload, which is whole, tells.
#[test]
fn a_lost_message_whose_payload_is_whole_still_tells_its_parent() {
    for bit_only in [true, false] {
        let place = Place::new();
        let session = place.create();
        let one = user(&session, "one");
        let other = user(&session, "other");
        let lost = append_under(&session, one, Message::assistant("lost"));
        let after = user(&session, "after");
        session.close().unwrap();
        let found = survey(RealFs::shared(), &place.path()).unwrap();
        let at = found.frames.iter().find(|frame| frame.head.id == lost).unwrap().at as usize;
        if bit_only {
            let mut bytes = std::fs::read(place.path()).unwrap();
            bytes[at + 40] ^= 4;
            std::fs::write(place.path(), bytes).unwrap();
        } else {
            zero(&place, lost);
        }
        let (report, _) = salvage(&place);
        // Where nothing is left of it, it is the leaf at its place.
        let expected = if bit_only { one } else { other };
        assert_eq!((report.hung_anew[0].event, report.hung_anew[0].hung_on), (after, Some(expected)));
    }
}

#[test]
fn lost_events_are_counted_and_those_that_an_index_names_are_named() {
    let place = Place::new();
    let options = || SessionOptions { log: LogOptions::default().index_records(16), ..SessionOptions::default() };
    let session = Session::create(&place.path(), options()).unwrap();
    let said: Vec<Uuid> = (0..20).map(|n| user(&session, &format!("m{n}"))).collect();
    session.close().unwrap();
    for lost in [said[3], said[4], said[18]] {
        zero(&place, lost);
    }
    let (report, _) = salvage(&place);
    assert_eq!(report.lost_records, Some(3));
    assert_eq!(report.lost_events, said[3..5], "the INDEX stands behind them and before the third");
}

#[test]
fn a_fork_stays_linked_to_its_parent() {
    let place = Place::new();
    let store = place.store();
    let session = store.create().unwrap();
    user(&session, "one");
    let at = user(&session, "two");
    let name = session.id().to_string();
    session.close().unwrap();
    let fork = store.fork(&name, at).unwrap();
    let lost = assistant(&fork, "lost");
    user(&fork, "three");
    let (path, parent) = (fork.path().to_owned(), fork.info().parent);
    assert!(parent.is_some());
    fork.close().unwrap();
    zero_in(&path, lost);
    let target = place.dir.path().join("new.seslog");
    let report = Session::salvage(&path, &target, &SessionOptions::default()).unwrap();
    assert_eq!(report.hung_anew.len(), 1);
    assert_eq!(Session::open(&target, SessionOptions::default()).unwrap().info().parent, parent);
}

#[test]
fn a_rewind_to_a_lost_message_goes_to_what_was_before_it() {
    let place = Place::new();
    let session = place.create();
    let one = user(&session, "one");
    let lost = assistant(&session, "lost");
    user(&session, "left");
    let _ = session.rewind(Some(lost), Durability::Os).unwrap();
    session.close().unwrap();
    zero(&place, lost);
    let (report, session) = salvage(&place);
    // Its header is gone too, so nothing tells its parent: what was the leaf at its place stands for it.
    assert_eq!((&report.heads_left_out, report.heads_moved.len()), (&Vec::new(), 1));
    assert_eq!((report.heads_moved[0].named.clone(), report.heads_moved[0].hung_on), (lost.to_string(), Some(one)));
    assert_eq!(chain(&session), [one]);
}

#[test]
fn a_target_that_is_there_is_not_touched_and_nothing_is_left_of_a_failed_salvage() {
    let place = Place::new();
    let session = place.create();
    user(&session, "one");
    session.close().unwrap();
    let target = place.dir.path().join("new.seslog");
    std::fs::write(&target, "mine").unwrap();
    let refused = Session::salvage(&place.path(), &target, &SessionOptions::default());
    assert!(matches!(refused, Err(SessionError::Log(seslog::log::LogError::Exists { .. }))));
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    let missing =
        Session::salvage(&place.dir.path().join("no"), &place.dir.path().join("x.seslog"), &SessionOptions::default());
    assert!(missing.is_err());
    assert_eq!(std::fs::read_dir(place.dir.path()).unwrap().count(), 2);
}

/// A damaged session on a simulated disk, all of it durable.
fn damaged_disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.fs().create_dir(Path::new("/s")).unwrap();
    let session = Session::create(Path::new(SIM), sim_options(&disk)).unwrap();
    let lost = user(&session, "what will be lost");
    for n in 0..6 {
        user(&session, &format!("number {n}"));
    }
    session.close().unwrap();
    let found = survey(disk.fs(), Path::new(SIM)).unwrap();
    let frame = found.frames.iter().find(|frame| frame.head.id == lost).unwrap();
    let mut bytes = disk.bytes(Path::new(SIM));
    bytes[frame.at as usize..(frame.at + frame.head.total_len()) as usize].fill(0x55);
    disk.put(Path::new(SIM), &bytes);
    SimDisk::holding(&disk.image())
}

const SIM: &str = "/s/0193a000-0000-7000-8000-000000000001.seslog";

fn sim_options(disk: &SimDisk) -> SessionOptions {
    let clock = std::sync::Arc::new(even_clock::EvenClock::since(1_000_000));
    SessionOptions { fs: disk.fs(), clock, log: LogOptions::default() }
}

/// Whether the session was mended. It is there under its name, whole or as it was, and what was damaged is not gone.
fn is_mended(disk: &SimDisk, damaged: &[u8]) -> bool {
    let bytes = disk.bytes(Path::new(SIM));
    if bytes == damaged {
        return false;
    }
    let found = survey(disk.fs(), Path::new(SIM)).unwrap();
    assert!(found.damage.is_empty(), "{:?}", found.damage);
    let events = seslog::session::SessionReader::open(Path::new(SIM), disk.fs()).unwrap().events().count();
    assert_eq!(events, 6);
    assert!(disk.bytes(Path::new(&format!("{SIM}.damaged"))) == damaged, "the damaged file is kept, byte for byte");
    true
}

#[test]
fn a_power_cut_at_any_moment_of_a_mending_leaves_the_damaged_file_or_the_mended_one_and_its_copy() {
    for model in [persistence::EXT4_ORDERED, persistence::ANYTHING] {
        let disk = damaged_disk();
        let damaged = disk.bytes(Path::new(SIM));
        disk.record();
        let report = Session::salvage_in_place(Path::new(SIM), &sim_options(&disk)).unwrap();
        assert_eq!((report.kept, report.lost.len()), (6, 1));
        disk.note(1);
        let (mut old, mut new) = (0, 0);
        let count = Crashes::of(&disk.trace(), model).full_sectors(4).deviations(1).for_each(|crash| {
            let disk = SimDisk::holding(&crash.image);
            let mended = is_mended(&disk, &damaged);
            assert!(mended || crash.notes.is_empty(), "it was told to be durable");
            *(if mended { &mut new } else { &mut old }) += 1;
        });
        assert!(old > 5 && new > 1, "{old} with the old file, {new} with the new one");
        let (distinct, mut stderr) = (count.distinct, std::io::stderr());
        let _ = writeln!(stderr, "mending, {}: {distinct} states ({old} old, {new} new)", model.name);
    }
}

/// On a disk that was nearly full it said "no space" instead of that nothing is damaged, and a large session was copied and
/// synced only to be thrown away.
#[test]
fn a_whole_session_is_told_to_be_whole_without_a_write() {
    let disk = damaged_disk();
    let _ = Session::salvage_in_place(Path::new(SIM), &sim_options(&disk)).unwrap();
    let written = |disk: &SimDisk| [Call::Write, Call::Create, Call::Sync].map(|call| disk.calls(call));
    let before = written(&disk);
    let refused = Session::salvage_in_place(Path::new(SIM), &sim_options(&disk));
    assert!(matches!(refused, Err(SessionError::Refused { what: "mend", .. })), "{refused:?}");
    assert_eq!(written(&disk), before);
}

/// Mended by another user than its owner, as by root, it was that user's, and the owner could not open it any more.
#[test]
#[cfg(unix)]
fn a_mended_session_has_the_owner_and_the_mode_that_the_damaged_one_had() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let place = Place::new();
    let session = place.create();
    let lost = user(&session, "one");
    user(&session, "two");
    session.close().unwrap();
    zero(&place, lost);
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
    // Only root may give a file away.
    let _ = std::os::unix::fs::chown(place.path(), Some(1234), Some(1234));
    let before = std::fs::metadata(place.path()).unwrap();
    let about = |path: &Path| {
        let found = std::fs::metadata(path).unwrap();
        (found.uid(), found.gid(), found.mode() & 0o777)
    };
    let report = Session::salvage_in_place(&place.path(), &SessionOptions::default()).unwrap();
    for path in [place.path(), report.backup.unwrap()] {
        assert_eq!(about(&path), (before.uid(), before.gid(), 0o640), "{}", path.display());
    }
    let redaction = Redaction::new().literal("two").unwrap();
    drop(Session::redact(&place.path(), &redaction, &SessionOptions::default()).unwrap());
    // What is erased is to be seen by few: the new file is its owner's alone.
    assert_eq!(about(&place.path()), (before.uid(), before.gid(), 0o600));
}

#[test]
fn any_call_that_fails_leaves_the_damaged_session_or_the_mended_one() {
    for errno in [5, 28] {
        let mut failed = 0;
        for nth in 1.. {
            let disk = damaged_disk();
            let damaged = disk.bytes(Path::new(SIM));
            disk.fail_any(nth, Fault::Errno(errno));
            let outcome = Session::salvage_in_place(Path::new(SIM), &sim_options(&disk));
            disk.heal();
            let mended = is_mended(&disk, &damaged);
            match outcome {
                Ok(_) => assert!(mended),
                Err(_) => failed += 1,
            }
            if nth > disk.all_calls() {
                break;
            }
        }
        assert!(failed > 10, "{failed} calls were let fail");
    }
}
