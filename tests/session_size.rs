//! Resume costs the window, not the file.

use seslog::event::{Message, Uuid};
use seslog::log::{Durability, RealFs};
use seslog::session::{Compaction, NewEvent, Session, SessionOptions, SessionReader};

/// A session of `count` messages of about `len` bytes, compacted `behind` messages before its end, killed.
fn session(dir: &std::path::Path, count: usize, len: usize, behind: usize) -> (std::path::PathBuf, Vec<Uuid>) {
    let path = dir.join(format!("{count}.seslog"));
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let text = "x".repeat(len);
    let mut window = Vec::new();
    for n in 0..count {
        if n == count - behind {
            let _ = session.compact(Compaction::new("what came before"), Durability::Os).unwrap();
        }
        let message = if n % 2 == 0 { Message::user(&text) } else { Message::assistant(&text) };
        let appended = session.append(NewEvent::from(message), Durability::Os).unwrap();
        if n >= count - behind {
            window.push(appended.id);
        }
        drop(appended.receipt);
    }
    session.sync().unwrap();
    session.close().unwrap();
    (path, window)
}

fn bytes_to_resume(path: &std::path::Path, window: &[Uuid]) -> u64 {
    let session = Session::open(path, SessionOptions::default()).unwrap();
    let chain: Vec<_> = session.state().unwrap().chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(&chain[2..], window, "boundary, summary, then the window");
    session.log().io().bytes_read
}

#[test]
fn a_resume_reads_the_window_whatever_the_size() {
    const LEN: usize = 4300;
    const BEHIND: usize = 200;
    let dir = tempfile::tempdir().unwrap();
    // Header page, one read-ahead at each end, the boundary and its summary, and each message with its frame.
    let limit = 3 * 64 * 1024 + (BEHIND as u64) * (LEN as u64 + 512);
    let (path, window) = session(dir.path(), 2_400, LEN, BEHIND);
    let small = bytes_to_resume(&path, &window);
    assert!(small <= limit, "{small} bytes for 10 MB, at most {limit}");
    let (path, window) = session(dir.path(), 100_000, LEN, BEHIND);
    assert!(std::fs::metadata(&path).unwrap().len() > 430_000_000);
    let large = bytes_to_resume(&path, &window);
    assert!(large <= limit, "{large} bytes for 430 MB, at most {limit}");
    // The last INDEX frame may or may not lie in the window.
    assert!(large.abs_diff(small) <= 256 * 1024, "{small} bytes for 10 MB, {large} for 430 MB");
    // The same of a session that was killed: the reader that lists or resumes it takes no lock and writes nothing.
    let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    assert!(reader.log().io().bytes_read <= limit);
}

#[test]
fn a_rewind_over_a_compaction_reads_the_windows_since_then_not_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let text = "x".repeat(2_000);
    let mut windows = Vec::new();
    for _ in 0..60 {
        let append = |_| session.append(Message::user(&text), Durability::Os).unwrap().id;
        windows.push((0..100).map(append).collect::<Vec<_>>());
        let _ = session.compact(Compaction::new("so far"), Durability::Os).unwrap();
    }
    let (end, old) = (session.state().unwrap().leaf().unwrap().event.id, windows[58][50]);
    session.sync().unwrap();
    let before = session.log().io().bytes_read;
    for _ in 0..10 {
        let _ = session.rewind(Some(old), Durability::Os).unwrap();
        let _ = session.rewind(Some(end), Durability::Os).unwrap();
    }
    let read = session.log().io().bytes_read - before;
    // Each way reads two windows of about 220 KB, and the index for the ids; the file has 13 MB.
    assert!(read < 20 * 800_000, "{read} bytes for 20 rewinds");
    let _ = session.rewind(Some(old), Durability::Os).unwrap();
    let chain: Vec<_> = session.state().unwrap().chain().iter().map(|entry| entry.event.id).collect();
    assert_eq!(chain[2..], windows[58][..=50]);
}
