//! Power cuts and failing calls, at every moment of an erasure: there is one whole file under the name, and it holds the secret
//! wholly or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seslog::event::{Event, Message, Part, SessionMeta, Value};
use seslog::log::{Durability, LogOptions, survey};
use seslog::session::{Redaction, Session, SessionOptions, SessionReader, Store, Vacuum};
use seslog::sim::{Crashes, Fault, SimDisk, persistence};

use super::even_clock::EvenClock;
use super::world::{SECRET, holds, literal};

const DIR: &str = "/s";

fn path() -> PathBuf {
    PathBuf::from("/s/0193a000-0000-7000-8000-000000000001.seslog")
}

fn catalogue() -> PathBuf {
    PathBuf::from("/s/.cache/catalogue")
}

fn options(disk: &SimDisk) -> SessionOptions {
    SessionOptions {
        fs: disk.fs(),
        clock: Arc::new(EvenClock::since(1_000_000)),
        log: LogOptions::default().index_records(16),
    }
}

/// A closed session on a disk of which everything is durable, and a catalogue that knows its title.
fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.fs().create_dir(Path::new(DIR)).unwrap();
    let session = Session::create(&path(), options(&disk)).unwrap();
    let append = |message: Message| session.append(message, Durability::Os).unwrap().id;
    let first = append(Message::user(format!("the key is {SECRET}")));
    append(Message::assistant_calls(vec![Part::tool_call("c1", "run", Value::from([("key", SECRET.into())]))]));
    append(Message::tool_result("c1", "fine", false));
    let title = SessionMeta { title: Some(format!("about {SECRET}")), ..SessionMeta::default() };
    session.append(title, Durability::Os).unwrap().wait().unwrap();
    session.tombstone(&[first], None, Durability::Sync).unwrap().wait().unwrap();
    session.close().unwrap();
    disk.fs().create_dir(catalogue().parent().unwrap()).unwrap();
    disk.put(&catalogue(), format!("SLcat, a catalogue that tells of {SECRET}").as_bytes());
    SimDisk::holding(&disk.image())
}

fn events(disk: &SimDisk) -> Vec<Event> {
    SessionReader::open(&path(), disk.fs()).unwrap().events().collect::<Result<_, _>>().unwrap()
}

fn redact(disk: &SimDisk) -> Result<(), seslog::session::SessionError> {
    Session::redact(&path(), &literal(SECRET), &options(disk)).map(|report| assert!(report.rewritten))
}

fn vacuum(disk: &SimDisk) -> Result<(), seslog::session::SessionError> {
    Session::vacuum(&path(), Vacuum::new().tombstoned(true), &options(disk)).map(|report| assert!(report.rewritten))
}

type Erase = fn(&SimDisk) -> Result<(), seslog::session::SessionError>;

/// The session before and after.
fn both(erase: Erase) -> [Vec<Event>; 2] {
    let disk = disk();
    let before = events(&disk);
    erase(&disk).unwrap();
    let after = events(&disk);
    assert_ne!(before, after);
    [before, after]
}

/// Names beside the session that a killed attempt has left.
fn leftovers(disk: &SimDisk) -> usize {
    disk.fs().list_dir(Path::new(DIR)).unwrap().iter().filter(|entry| entry.name != ".cache").count() - 1
}

/// One whole file is there, the old or the new one; and another attempt cleans up and comes to the same end.
fn is_whole(disk: &SimDisk, erase: Erase, [before, after]: &[Vec<Event>; 2], is_done: bool) {
    let found = survey(disk.fs(), &path()).unwrap();
    assert!(found.damage.is_empty(), "{:?}", found.damage);
    let events_now = events(disk);
    assert!(events_now == *after || (!is_done && events_now == *before), "neither the old file nor the new one");
    let is_new = events_now == *after;
    let bytes = disk.bytes(&path());
    let listed = Store::at(DIR, options(disk)).resolve("0193a000").unwrap();
    assert_eq!(listed, path(), "one session, under one name");
    if is_new {
        assert!(!holds(&disk.bytes(&catalogue()), SECRET), "the catalogue tells what the session no longer says");
    }
    let again = erase_again(disk, erase, is_new);
    assert_eq!(events(disk), *after, "{again}");
    assert_eq!(leftovers(disk), 0);
    assert!(is_new || holds(&bytes, SECRET));
}

fn erase_again(disk: &SimDisk, erase: Erase, is_done: bool) -> &'static str {
    if !is_done {
        erase(disk).unwrap();
        return "done now";
    }
    let nothing = Session::redact(&path(), &Redaction::new().literal("nowhere").unwrap(), &options(disk)).unwrap();
    assert!(!nothing.rewritten);
    "nothing to do"
}

fn cuts(erase: Erase, name: &str) {
    let both = both(erase);
    for model in [persistence::EXT4_ORDERED, persistence::ANYTHING] {
        let disk = disk();
        disk.record();
        erase(&disk).unwrap();
        disk.note(1);
        let trace = disk.trace();
        let (mut old, mut new) = (0, 0);
        let count = Crashes::of(&trace, model).full_sectors(4).deviations(1).for_each(|crash| {
            let disk = SimDisk::holding(&crash.image);
            match events(&disk) == both[1] {
                true => new += 1,
                false => old += 1,
            }
            is_whole(&disk, erase, &both, !crash.notes.is_empty());
        });
        assert!(old > 5 && new > 1, "{name}: {old} with the old file, {new} with the new one");
        let distinct = count.distinct;
        let _ = writeln!(std::io::stderr(), "{name}, {}: {distinct} states ({old} old, {new} new)", model.name);
    }
}

#[test]
fn a_power_cut_at_any_moment_of_a_redaction_leaves_one_whole_file() {
    cuts(redact, "redact");
}

#[test]
fn a_power_cut_at_any_moment_of_a_vacuum_leaves_one_whole_file() {
    cuts(vacuum, "vacuum");
}

#[test]
fn any_call_that_fails_leaves_one_whole_file_and_nothing_beside_it() {
    let both = both(redact);
    let mut failed = 0;
    for fault in [Fault::Errno(5), Fault::Errno(28)] {
        for nth in 1.. {
            let disk = disk();
            let bytes = disk.bytes(&path());
            disk.fail_any(nth, fault);
            let done = redact(&disk);
            disk.heal();
            let now = events(&disk);
            if done.is_err() {
                failed += 1;
                let is_old = disk.bytes(&path()) == bytes;
                // Only where the directory could not be synced in the end the new one has the name.
                assert!(is_old || now == both[1], "{done:?}");
                if is_old {
                    assert_eq!(now, both[0]);
                }
            }
            is_whole(&disk, redact, &both, done.is_ok());
            if done.is_ok() && nth > disk.all_calls() {
                break;
            }
        }
    }
    assert!(failed > 40, "{failed} calls failed");
}

#[test]
fn what_a_killed_attempt_has_left_is_gone_with_the_next_one_and_in_no_list() {
    let disk = disk();
    let name = path().file_name().unwrap().to_str().unwrap().to_owned();
    for left in [format!("{name}-unfinished-0123456789abcdef"), format!(".{name}-unfinished-01.0123456789abcdef.tmp")] {
        disk.put(&Path::new(DIR).join(left), SECRET.as_bytes());
    }
    let stranger = Path::new("/s/0193a000-0000-7000-8000-000000000002.seslog-unfinished-01");
    disk.put(stranger, b"a fork that is being made");
    assert_eq!(leftovers(&disk), 3);
    let store = Store::at(DIR, options(&disk));
    assert_eq!(store.list().unwrap().len(), 1);
    redact(&disk).unwrap();
    assert_eq!(leftovers(&disk), 1);
    assert_eq!(disk.bytes(stranger), b"a fork that is being made");
}
