//! A resume reads the header page, the tail, and the window: each once, in few calls, at any size.

use seslog::session::{Session, SessionReader};

use crate::disk::{Seen, watched};
use crate::{on, write};

const WINDOW: usize = 200;
/// Header page and tail, of which the window's last bytes are read again.
const BESIDE: u64 = (4 + 16) << 10;
/// The smallest piece of a run.
const PIECE_MIN: u64 = 64 << 10;

fn check(seen: &Seen, window: u64, what: &str) {
    assert!(seen.bytes() <= window + BESIDE + 4096, "{what}: {} bytes for a window of {window}", seen.bytes());
    assert!(seen.bytes_again() <= 24 << 10, "{what}: {} bytes twice", seen.bytes_again());
    // Header page, tail and the frames that end the log; for each of three large frames its trailer, and what it cuts short.
    let calls = 4 + window.div_ceil(PIECE_MIN) as usize + 2 * 3;
    assert!(seen.calls() <= calls, "{what}: {} calls, at most {calls}: {:?}", seen.calls(), seen.reads);
}

#[test]
fn a_resume_reads_its_window_once_in_large_pieces_whatever_the_size_of_the_session() {
    let dir = tempfile::tempdir().unwrap();
    for count in [400, 4_000] {
        let path = dir.path().join(format!("{count}.seslog"));
        write(&path, count, WINDOW);
        let disk = watched();
        let session = Session::open(&path, on(disk.clone())).unwrap();
        let window = session.with_state(|state| session.log().end() - state.boundary().unwrap().offset).unwrap();
        check(&disk.take(), window, "a writer");
        drop(session);
        let _ = SessionReader::open(&path, disk.clone()).unwrap();
        check(&disk.take(), window, "a reader");
    }
}

#[test]
fn a_small_session_resumes_in_six_calls() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 4, 4);
    let disk = watched();
    let _ = SessionReader::open(&path, disk.clone()).unwrap();
    let seen = disk.take();
    assert!(seen.calls() <= 6, "{:?}", seen.reads);
}

#[test]
fn a_resume_says_what_it_will_read_so_that_a_cold_disk_fetches_while_it_decodes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 4_000, WINDOW);
    let disk = watched();
    let session = Session::open(&path, on(disk.clone())).unwrap();
    let (end, boundary) = session.with_state(|state| (session.log().end(), state.boundary().unwrap().offset)).unwrap();
    let seen = disk.take();
    // The header page is read meanwhile.
    assert_eq!(seen.untold, [(0, 4096)], "{seen:?}");
    assert_eq!(seen.told, [(end - (16 << 10), 16 << 10), (boundary, end - boundary)]);
}

#[test]
fn a_session_that_was_never_compacted_is_not_fetched_whole_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    write(&path, 6_000, 0);
    let disk = watched();
    drop(Session::open(&path, on(disk.clone())).unwrap());
    let told = disk.take().told;
    assert!(told.iter().all(|(_, len)| *len <= 8 << 20), "{told:?}");
}
