//! Resumes, openings after a kill, and look-ups: nothing grows with the session.

use std::path::Path;

use seslog::log::{Durability, RealFs};
use seslog::projection::{Options, View, project};
use seslog::session::{Compaction, Session, SessionReader};
use seslog::wire::{self, Provider, payload};

use crate::counting::peak_of;
use crate::made::{Contents, options, session, small_session, tell};
use crate::session::{Messages, SUMMARY, Size, Story, WINDOW};

/// What an opening may read beside the window: the header page, and read-ahead at both ends.
const AROUND: u64 = 256 << 10;

/// Bytes and calls that read of a resume to the state.
fn reads_of_resume(path: &Path) -> (u64, u64) {
    let session = Session::open(path, options()).unwrap();
    assert_eq!(session.with_state(|state| state.chain().len()).unwrap(), WINDOW + 2, "boundary, summary, window");
    let io = session.log().io();
    // A reader takes no lock and writes nothing; it reads no more.
    let reader = SessionReader::open(path, RealFs::shared()).unwrap();
    assert!(reader.log().io().bytes_read <= io.bytes_read, "{:?}", reader.log().io());
    (io.bytes_read, io.reads)
}

#[test]
fn a_resume_reads_the_window_whatever_the_size() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for count in [1_000, 10_000] {
        let path = session(dir.path(), count);
        let (contents, (bytes, calls)) = (Contents::of(&path), reads_of_resume(&path));
        assert!(bytes <= contents.window + AROUND, "{bytes} bytes for a window of {}", contents.window);
        // One that lies in the window is read over.
        let most = bytes.saturating_sub(contents.longest_index);
        all.push((bytes, most, calls));
    }
    let [(small, _, small_calls), (large, large_least, large_calls)] = all[..] else { panic!() };
    assert!(large_least <= small && small <= large + AROUND, "{small} bytes for 1k messages, {large} for 10k");
    assert!(large_calls <= small_calls + 4, "{small_calls} calls for 1k messages, {large_calls} for 10k");
}

#[test]
fn a_resume_to_a_ready_body_holds_at_most_twice_the_window_whatever_the_size() {
    /// Read-ahead, and what is held however small the window is.
    const FIXED: usize = 768 << 10;
    let dir = tempfile::tempdir().unwrap();
    for count in [1_000, 10_000] {
        let path = session(dir.path(), count);
        let window = Contents::of(&path).window as usize;
        let peak = peak_of(|| {
            let session = Session::open(&path, options()).unwrap();
            let view = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
            let bare = wire::Options::default();
            let body = payload(&view.messages, Provider::Anthropic, &bare);
            body.write_to(&mut std::io::sink()).unwrap();
        });
        assert!(peak <= 2 * window + FIXED, "{count} messages: {peak} bytes for a window of {window}");
    }
}

#[test]
fn an_opening_after_a_kill_reads_what_was_not_synced_and_no_more_than_2_mib_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    for count in [1_000, 10_000] {
        let path = session(dir.path(), count);
        let never_closed = tell(&dir.path().join(format!("{count}-open.seslog")), Story::of(Size::Messages(count)));
        for session in [Session::open(&path, options()).unwrap(), never_closed] {
            let (read, unsynced) = read_after_a_kill(session, dir.path());
            assert!(read <= unsynced + (2 << 20), "{count} messages: {read} bytes read, {unsynced} were not synced");
        }
    }
}

/// Compacts, appends and kills: bytes that the next opening reads, and those that were not synced.
fn read_after_a_kill(session: Session, dir: &Path) -> (u64, u64) {
    const APPENDED: usize = 150;
    session.sync().unwrap();
    let _ = session.compact(Compaction::new(SUMMARY), Durability::Os).unwrap();
    for message in Messages::new(5).take(APPENDED) {
        let _ = session.append(message, Durability::Os).unwrap();
    }
    // What the next process finds if this one is killed now.
    let killed = dir.join("killed.seslog");
    std::fs::copy(session.path(), &killed).unwrap();
    let unsynced = session.log().end() - session.log().durable_end();
    let next = Session::open(&killed, options()).unwrap();
    // The story ends inside a turn, so its open call may be kept.
    assert!(next.with_state(|state| state.chain().len()).unwrap() >= APPENDED + 2);
    (next.log().io().bytes_read, unsynced)
}

#[test]
fn an_id_among_100k_records_is_found_with_at_most_100_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = small_session(dir.path(), 100_000);
    let ids: Vec<_> = Contents::of(&path).events.iter().map(|event| event.id).collect();
    let session = Session::open(&path, options()).unwrap();
    let mut most = (0, 0);
    for n in 0..500 {
        let id = ids[n * 7_919 % ids.len()];
        let before = session.log().io();
        assert_eq!(session.event(id).unwrap().unwrap().id, id);
        let after = session.log().io();
        // The first one reads the heads of all INDEX frames.
        most = (most.0.max(after.reads - before.reads), most.1.max(after.bytes_read - before.bytes_read));
    }
    assert!(most.0 <= 100, "{} reads, {} bytes", most.0, most.1);
}
