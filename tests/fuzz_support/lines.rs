//! Any bytes as a file of lines that is imported.

use std::path::Path;

use seslog::event::to_json;
use seslog::interop::{claude_code, codex, import_events, pi, read_events};
use seslog::session::{Session, SessionReader};

use super::memory::{PATH, options};
use super::{look_at, same};
use seslog::sim::SimDisk;

/// Any bytes as neutral lines: no panic, the work grows with the input, and a second import writes nothing. What is
/// exported again goes into an empty session whole.
pub fn neutral_lines(data: &[u8]) {
    let import = |disk: &SimDisk, bytes: &[u8]| {
        let session = session(disk);
        let report = import_events(&session, "key", read_events(bytes)).expect("a disk in memory does not fail");
        session.close().expect("a disk in memory does not fail");
        report
    };
    let disk = SimDisk::new();
    let first = import(&disk, data);
    check(&disk);
    let again = import(&disk, data);
    assert_eq!(again.written, 0, "what is imported again is known: {again:?} after {first:?}");
    assert_eq!(again.known, first.written + first.known);

    let export: String = events(&disk).iter().map(|json| format!("{json}\n")).collect();
    let copy = SimDisk::new();
    let copied = import(&copy, export.as_bytes());
    assert!(copied.bad_lines.is_empty(), "an export is read whole: {copied:?}\n{export}");
    assert!(copied.refused.is_empty(), "an export is taken whole: {copied:?}\n{export}");
    assert_eq!(copied.known, 0, "each exported event is one of its own: {copied:?}\n{export}");
    check(&copy);
}

/// What each agent's reader is held to. A macro, since each has types of its own.
macro_rules! an_agents_lines {
    ($data:expr, $agent:ident, $options:expr) => {
        let (data, options): (&[u8], $agent::Options) = ($data, $options);
        let read = || $agent::read(data, &options).expect("bytes in memory are read");
        let imported = read();
        assert_eq!(imported.events.len(), imported.lines.len());
        let len = data.len() as u64;
        assert!(imported.cost.bytes <= 64 * len + (1 << 20), "{:?} for {len} bytes", imported.cost);
        assert!(imported.cost.steps <= 64 * len + (1 << 20), "{:?} for {len} bytes", imported.cost);

        let disk = SimDisk::new();
        let session = session(&disk);
        let (first, _) = imported.feed(&session, "key").expect("a disk in memory does not fail");
        session.close().expect("a disk in memory does not fail");
        check(&disk);
        let session = self::session(&disk);
        let (again, _) = read().feed(&session, "key").expect("a disk in memory does not fail");
        assert_eq!(again.written, 0, "what is imported again is known: {again:?} after {first:?}");
    };
}

/// Any bytes as a transcript of Claude Code; the first one chooses the options. No panic, the work grows with the
/// input, every event is stored or refused by name, and a second import writes nothing.
pub fn claude_lines(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let options = claude_code::Options { strict_parents: choice & 1 == 1, skip_bad_lines: choice & 2 == 2 };
    an_agents_lines!(data, claude_code, options);
}

/// The same of a rollout of Codex.
pub fn codex_lines(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let options = codex::Options { skip_bad_lines: choice & 1 == 1 };
    an_agents_lines!(data, codex, options);
}

/// The same of a session file of pi's.
pub fn pi_lines(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let options = pi::Options { strict_parents: choice & 1 == 1, skip_bad_lines: choice & 2 == 2 };
    an_agents_lines!(data, pi, options);
}

fn session(disk: &SimDisk) -> Session {
    let path = Path::new(PATH);
    let opened = match disk.bytes(path).is_empty() {
        true => Session::create(path, options(disk)),
        false => Session::open(path, options(disk)),
    };
    opened.expect("a log of our own opens")
}

fn events(disk: &SimDisk) -> Vec<String> {
    let reader = SessionReader::open(Path::new(PATH), disk.fs()).expect("a log of our own opens");
    let whole = reader.whole_state().expect("a log of our own reads");
    let ids = whole.entries().iter().map(|entry| entry.event.id);
    ids.map(|id| to_json(&reader.event(id).expect("it reads").expect("it is there"))).collect()
}

fn check(disk: &SimDisk) {
    let reader = SessionReader::open(Path::new(PATH), disk.fs()).expect("a log of our own opens");
    let whole = reader.whole_state().expect("a log of our own reads");
    look_at(&whole);
    look_at(reader.state());
    same(&whole.trimmed(), reader.state(), "the whole replay, cut at the boundary");
}
