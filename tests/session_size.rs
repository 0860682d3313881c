//! A rewind costs the windows that it leads over, not the file. What a resume costs is in `tests/speed`.

use seslog::event::Message;
use seslog::log::Durability;
use seslog::session::{Compaction, Session, SessionOptions};

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
